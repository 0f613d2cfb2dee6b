package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// stack is a key over a whole stack.
func stack(name string) []byte { return bytes.Repeat([]byte(name[:1]), 16) }

func byStack(names ...string) crash.SplitBy {
	var by crash.SplitBy
	for _, n := range names {
		by.Stacks = append(by.Stacks, stack(n))
	}
	return by
}

func byAttribute(key, value string) crash.SplitBy {
	return crash.SplitBy{Attribute: &condition.Attribute{Key: key, Value: value}}
}

// split plans and applies, and returns the new group and its key.
func (r *room) split(org, group int64, by crash.SplitBy) (id, key int64, err error) {
	plan, err := crash.PlanSplit(r.T.Context(), r.DB, org, group, by)
	if err != nil {
		return 0, 0, err
	}
	err = r.DB.InTx(r.T.Context(), func(tx *storage.Tx) error {
		id, _, err = plan.Split(r.T.Context(), tx, crashtest.Writer(org), func(target int64) *ledger.NewTask {
			key = target
			return &ledger.NewTask{Kind: "crash:split", Queue: "bulk", OrganizationID: org, MaxAttempts: 1,
				Payload: map[string]any{"target_key_id": target}}
		})
		return err
	})
	return id, key, err
}

// moveAll does the steps of the task, each of them twice.
func (r *room) moveAll(key int64) (moved int) {
	r.T.Helper()
	var cursor crash.SplitCursor
	for {
		ids, next, more, err := crash.SplitMatches(r.T.Context(), r.DB, r.Org.ID, key, cursor)
		require.NoError(r.T, err)
		if !more {
			return moved
		}
		for again := range 2 {
			err = r.DB.InTx(r.T.Context(), func(tx *storage.Tx) error {
				n, err := crash.MoveSplit(r.T.Context(), tx, r.Org.ID, key, ids)
				moved += n
				if again > 0 {
					require.Zero(r.T, n, "a step that was done does nothing")
				}
				return err
			})
			require.NoError(r.T, err)
		}
		doc, err := json.Marshal(next)
		require.NoError(r.T, err)
		cursor = crash.SplitCursor{}
		require.NoError(r.T, json.Unmarshal(doc, &cursor))
	}
}

// reported is a crash of a key with a stack, some hours after the epoch.
func (r *room) reported(key, stackName string, hours int, attributes string) crash.Crash {
	return r.Made(func(c *crash.Crash) {
		c.Group, c.StackKey, c.Attributes = crashtest.Grouping(key), stack(stackName), attributes
		c.OccurredAt, c.Host, c.Version = crashtest.Epoch.Add(time.Duration(hours)*time.Hour), "h"+stackName, "1"
		c.Message = "message " + stackName
	})
}

func TestSplitByStack(t *testing.T) {
	t.Parallel()
	r := open(t)
	var crashes []crash.Crash
	for i := range 450 {
		crashes = append(crashes, r.reported("k", []string{"x", "y", "z"}[i%3], i, "{}"))
	}
	crashes = append(crashes, r.Made(func(c *crash.Crash) { c.Host = "hx" })) // from before there were stacks
	r.Record(crashes...)
	from := r.Group("k").ID
	to, key, err := r.split(r.Org.ID, from, byStack("x", "z", "x"))
	require.NoError(t, err)
	require.EqualValues(t, 200, r.number(to), "the request moves the first step")
	require.Equal(t, 100, r.moveAll(key))
	require.Zero(t, r.moveAll(key))
	require.Equal(t, "k 300 300 300 0s 449h0m0s", r.shown(to))
	require.Equal(t, "k 151 151 151 0s 448h0m0s", r.shown(from))
	g, err := reading.GroupByID(t.Context(), r.DB, r.Org.ID, to)
	require.NoError(t, err)
	require.Equal(t, 2, g.Hosts.Total)
	require.EqualValues(t, 300, g.Versions.Values[0].Count)
	require.Zero(t, g.Algorithm)

	// What comes later goes there at once, and to a rule of the new group.
	later, _, err := r.split(r.Org.ID, to, byStack("z"))
	require.NoError(t, err)
	r.Record(r.reported("k", "x", 500, "{}"), r.reported("k", "y", 501, "{}"), r.reported("k", "z", 502, "{}"), r.Made(nil))
	require.EqualValues(t, 153, r.Group("k").Count)
	g, err = reading.GroupByID(t.Context(), r.DB, r.Org.ID, later)
	require.NoError(t, err)
	require.True(t, g.LastSeen.Equal(crashtest.Epoch.Add(502*time.Hour)))
	require.EqualValues(t, 1, r.Count(`select count(*) from crashes c join crash_group_keys k on k.id = c.key_id
		where k.group_id = $1 and c.occurred_at > $2`, later, crashtest.Epoch.Add(500*time.Hour)))
	r.checkCounts()

	// Back as a part, and the rules stay.
	_, _, err = r.merge(t.Context(), r.Org.ID, to, from)
	require.NoError(t, err)
	r.Record(r.reported("k", "x", 600, "{}"))
	require.EqualValues(t, 1, r.Count(`select count(*) from crashes c join crash_group_keys k on k.id = c.key_id
		where k.group_id = $1 and c.occurred_at = $2`, to, crashtest.Epoch.Add(600*time.Hour)))
	r.checkCounts()
	require.NoError(t, r.unmerge(to))
	r.checkCounts()
}

// checkCounts compares all counts with the crashes themselves.
func (r *room) checkCounts() {
	r.T.Helper()
	const homes = ` from crashes c join crash_group_keys k on k.id = c.key_id join crash_groups h on h.id = k.group_id `
	for what, query := range map[string]string{
		"count": `select count(*) from crash_groups g where g.root_id is null and g.count <>
			(select coalesce(sum(c.duplicates), 0)` + homes + `where coalesce(h.root_id, h.id) = g.id)`,
		"seen": `select count(*) from crash_groups g where g.root_id is null and g.count > 0 and (g.first_seen, g.last_seen) <>
			(select min(c.occurred_at), max(c.occurred_at)` + homes + `where coalesce(h.root_id, h.id) = g.id)`,
		"days": `select count(*) from (
			(select k.group_id, (c.occurred_at at time zone 'UTC')::date, sum(c.duplicates)::bigint` + homes + `group by 1, 2
				except select group_id, day, count from crash_group_days)
			union all (select group_id, day, count from crash_group_days except
				select k.group_id, (c.occurred_at at time zone 'UTC')::date, sum(c.duplicates)::bigint` + homes + `group by 1, 2)) d`,
		"messages": `select count(*) from (
			(select k.group_id, c.message, sum(c.duplicates)::bigint` + homes + `where c.message <> '' group by 1, 2
				except select group_id, message, count from crash_group_messages)
			union all (select group_id, message, count from crash_group_messages except
				select k.group_id, c.message, sum(c.duplicates)::bigint` + homes + `where c.message <> '' group by 1, 2)) d`,
		"values": `select count(*) from (
			(select k.group_id, c.version, sum(c.duplicates)::bigint` + homes + `where c.version <> '' group by 1, 2
				except select group_id, value, count from crash_group_values where kind = 'version')
			union all (select group_id, value, count from crash_group_values where kind = 'version' except
				select k.group_id, c.version, sum(c.duplicates)::bigint` + homes + `where c.version <> '' group by 1, 2)) d`,
	} {
		require.Zero(r.T, r.Count(query), what)
	}
}

func TestSplitByAttribute(t *testing.T) {
	t.Parallel()
	r := open(t)
	forms := []string{`"42"`, `42`, `42.0`, `"42.0"`, `true`, `"true"`, `null`, `"x"`}
	for _, want := range []string{"42", "true", "x"} {
		var crashes []crash.Crash
		for i, form := range forms {
			crashes = append(crashes, r.reported("k"+want, "x", i, `{"device.model":`+form+`,"other":"42"}`))
		}
		r.Record(crashes...)
		from := r.Group("k" + want).ID
		id, _, err := r.split(r.Org.ID, from, byAttribute("device.model", want))
		require.NoError(t, err)
		moved, stay := r.number(id), r.number(from)
		require.Equal(t, map[string]int64{"42": 3, "true": 2, "x": 1}[want], moved)
		require.Equal(t, int64(len(forms))-moved, stay)
		// The rule and the search agree about each form.
		for i := range crashes {
			crashes[i].ID, crashes[i].UUID = r.Made(nil).ID, uuid.New()
		}
		r.Record(crashes...)
		require.Equal(t, 2*moved, r.number(id))
		require.Equal(t, 2*stay, r.number(from))
		found, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 9,
			Attributes: []condition.Attribute{{Key: "device.model", Value: want}}, Search: "title k" + want})
		require.NoError(t, err)
		require.Len(t, found, 1, "the list finds the new group by the attribute, and no other")
		require.Equal(t, id, found[0].ID)
	}
	r.checkCounts()
}

func (r *room) number(group int64) int64 {
	r.T.Helper()
	g, err := reading.GroupByID(r.T.Context(), r.DB, r.Org.ID, group)
	require.NoError(r.T, err)
	return g.Count
}

func TestSplitRefusals(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.reported("k", "x", 0, `{"a":"1"}`), r.reported("k", "y", 1, `{"a":"1"}`), r.reported("other", "z", 1, `{"b":"1"}`))
	id := r.Group("k").ID
	for name, by := range map[string]crash.SplitBy{
		"body": {}, "stacks: no report": byStack("z"), "no report of the group has b = 1": byAttribute("b", "1"),
		"stacks[0]":   {Stacks: [][]byte{[]byte("short")}},
		"every":       byStack("x", "y"),
		"would stay":  byAttribute("a", "1"),
		"attribute: ": byAttribute("", "1"),
		"the stack 7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a": byStack("x", "z"),
	} {
		_, _, err := r.split(r.Org.ID, id, by)
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Contains(t, err.Error(), name)
	}
	_, _, err := r.split(r.Rival.ID, id, byStack("x"))
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Zero(t, r.Count(`select count(*) from crash_group_splits`))
	require.Zero(t, r.Count(`select count(*) from audit_events where action = 'crash_group.split'`))

	// A plan that is old by the time it is applied.
	plan, err := crash.PlanSplit(t.Context(), r.DB, r.Org.ID, id, byStack("x"))
	require.NoError(t, err)
	_, _, err = r.merge(t.Context(), r.Org.ID, id, r.Group("other").ID)
	require.NoError(t, err)
	err = r.DB.InTx(t.Context(), func(tx *storage.Tx) error {
		_, _, err := plan.Split(t.Context(), tx, crashtest.Writer(r.Org.ID), nil)
		return err
	})
	require.ErrorIs(t, err, storage.ErrConflict)

	// Twice, and the bound of rules.
	root := r.Group("other").ID
	var names []string
	var crashes []crash.Crash
	for i := range 60 {
		names = append(names, string(rune('A'+i)))
		crashes = append(crashes, r.reported("k", names[i], i, "{}"))
	}
	r.Record(crashes...)
	_, _, err = r.split(r.Org.ID, root, byStack(names[:49]...))
	require.NoError(t, err)
	require.EqualValues(t, 98, r.Count(`select count(*) from crash_group_splits`), "each part has the rules")
	_, _, err = r.split(r.Org.ID, root, byStack(names[49:51]...))
	require.ErrorContains(t, err, "at most 50 rules")
	_, _, err = r.split(r.Org.ID, root, byStack(names[49]))
	require.NoError(t, err)
}

// Reports come in while groups are split, merged and moved: each is counted once.
func TestSplitWhileRecording(t *testing.T) {
	t.Parallel()
	r := open(t)
	names := []string{"a", "b", "c", "d"}
	for _, n := range names {
		r.Record(r.reported("k", n, 0, "{}"), r.reported("m", n, 0, "{}"))
	}
	stop := make(chan struct{})
	var wait sync.WaitGroup
	for n := range 3 {
		wait.Go(func() {
			for round := 0; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				var crashes []crash.Crash
				for i := range 8 {
					crashes = append(crashes, r.reported([]string{"k", "m"}[(i+n)%2], names[(i+round)%4], round%50, "{}"))
				}
				if err := r.DB.InTx(crashtest.Bounded(t), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, r.Org.ID, crashes)
				}); err != nil {
					t.Errorf("record: %v", err)
					return
				}
			}
		})
	}
	k, m := r.Group("k").ID, r.Group("m").ID
	for i, name := range names[:3] {
		id, key, err := r.split(r.Org.ID, k, byStack(name))
		require.NoError(t, err)
		r.moveAll(key)
		if i == 1 {
			_, _, err = r.merge(t.Context(), r.Org.ID, id, m)
			require.NoError(t, err)
		}
	}
	close(stop)
	wait.Wait()
	r.checkCounts()
	require.EqualValues(t, 1, r.Count(`select count(distinct c.stack_key) from crashes c join crash_group_keys k on k.id = c.key_id
		where k.group_id = $1`, k), "the stacks that were split off are all gone")
}

// A group from which others were split stays while they do; a purge of all leaves none.
func TestSplitGroupsEnd(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.reported("k", "x", 0, "{}"), r.reported("k", "y", 1, "{}"))
	from := r.Group("k").ID
	to, _, err := r.split(r.Org.ID, from, byStack("x"))
	require.NoError(t, err)
	remove := func(group int64) {
		t.Helper()
		var ids []uuid.UUID
		require.NoError(t, r.DB.SelectContext(t.Context(), &ids, `select c.id from crashes c join crash_group_keys k on k.id = c.key_id
			where k.group_id = $1 order by c.id`, group))
		plan, _, err := r.Store.PlanRemoval(t.Context(), r.Org.ID, ids)
		require.NoError(t, err)
		r.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := r.Store.Remove(ctx, tx, plan)
			return err
		})
	}
	remove(from)
	require.EqualValues(t, 0, r.number(from))
	old := time.Now()
	ids, err := crash.OldGroups(t.Context(), r.DB, old, 0, 10)
	require.NoError(t, err)
	require.NotContains(t, ids, from)
	r.Record(r.reported("k", "x", 5, "{}"))
	require.EqualValues(t, 2, r.number(to), "the rule is still there")
	remove(to)
	require.Zero(t, r.Count(`select count(*) from crash_group_splits`))
	ids, err = crash.OldGroups(t.Context(), r.DB, old, 0, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{from}, ids)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := crash.ExpireGroups(ctx, tx, old, ids)
		return err
	})
	require.Zero(t, r.Count(`select count(*) from crash_groups`))
}

func TestForgetSplits(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.reported("k", "x", 0, `{"id":7}`), r.reported("k", "x", 0, `{"id":8}`), r.reported("k", "x", 0, `{"id":9}`))
	for _, v := range []string{"7", "8"} {
		_, _, err := r.split(r.Org.ID, r.Group("k").ID, byAttribute("id", v))
		require.NoError(t, err)
	}
	forget := func(org int64, value string) {
		r.Must(func(ctx context.Context, tx *storage.Tx) error {
			return crash.ForgetSplits(ctx, tx, org, 0, condition.Attribute{Key: "id", Value: value})
		})
	}
	forget(r.Rival.ID, "7")
	forget(r.Org.ID, "7.0")
	var left []string
	require.NoError(t, r.DB.SelectContext(t.Context(), &left, `select value from crash_group_splits`))
	require.Equal(t, []string{"8"}, left)
}

func TestGroupStacks(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.reported("k", "x", 0, "{}"), r.reported("k", "x", 5, "{}"), r.reported("k", "y", 3, "{}"), r.Made(nil))
	r.Record(r.reported("b", "y", 9, "{}"), r.reported("b", "y", 8, "{}"))
	_, _, err := r.merge(t.Context(), r.Org.ID, r.Group("b").ID, r.Group("k").ID)
	require.NoError(t, err)
	s, err := r.Store.GroupStacks(t.Context(), r.Org.ID, r.Group("k").ID)
	require.NoError(t, err)
	var got []string
	for _, one := range s.Stacks {
		got = append(got, fmt.Sprintf("%.1s %d %s %s", one.Key, one.Count, one.FirstSeen.Sub(crashtest.Epoch), one.LastSeen.Sub(crashtest.Epoch)))
	}
	require.Equal(t, []string{"y 3 3h0m0s 9h0m0s", "x 2 0s 5h0m0s", " 1 0s 0s"}, got)
	require.EqualValues(t, 6, s.Reports)
	require.EqualValues(t, 3, s.Distinct)
	require.False(t, s.Sampled)
	for range 21 {
		var crashes []crash.Crash
		for range 250 {
			crashes = append(crashes, r.reported("k", "z", 10, "{}"))
		}
		r.Record(crashes...)
	}
	s, err = r.Store.GroupStacks(t.Context(), r.Org.ID, r.Group("k").ID)
	require.NoError(t, err)
	require.True(t, s.Sampled)
	require.EqualValues(t, 5000, s.Reports)
	require.EqualValues(t, 1, s.Distinct)
}
