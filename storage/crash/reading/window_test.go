package reading_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// counted lists the groups of a window with their counts in it.
func (r *room) counted(w reading.Window, sort reading.GroupSort) string {
	r.T.Helper()
	groups, total, err := reading.Groups(r.T.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Window: w, Sort: sort, Limit: 100})
	require.NoError(r.T, err)
	require.Equal(r.T, len(groups), total.Rows)
	var out []string
	for _, g := range groups {
		out = append(out, fmt.Sprintf("%s:%d", strings.TrimPrefix(g.Title, "title "), g.WindowCount))
	}
	return strings.Join(out, " ")
}

func TestWindowsCountWhatWasSeenInThem(t *testing.T) {
	t.Parallel()
	r := open(t)
	day := func(n, hour int) time.Time { return time.Date(2026, 3, n, hour, 0, 0, 0, time.UTC) }
	at := func(key string, when time.Time, n int) {
		r.Record(r.Made(func(c *crash.Crash) { c.Group, c.OccurredAt, c.Duplicates = crashtest.Grouping(key), when, n }))
	}
	at("a", day(1, 6), 1)
	at("a", day(3, 5), 2)
	at("a", day(3, 20), 3)
	at("a", day(9, 0), 100)
	at("b", day(3, 7), 50)
	at("gap", day(1, 0), 500) // seen before and after, and not in between
	at("gap", day(9, 0), 500)
	at("part", day(3, 12), 10)
	for _, c := range []struct {
		name     string
		from, to time.Time
		want     string // by count
	}{
		{"whole days", day(3, 0), day(4, 0), "b:50 part:10 a:5"},
		{"cut at both ends", day(2, 12), day(3, 6), "a:2"},
		{"inside of a day", day(3, 6), day(3, 13), "b:50 part:10"},
		{"to the microsecond", day(3, 20), day(3, 20).Add(time.Microsecond), "a:3"},
		{"days and both ends", day(1, 6), day(9, 0).Add(time.Microsecond), "gap:500 a:106 b:50 part:10"},
		{"from only", day(3, 6), time.Time{}, "gap:500 a:103 b:50 part:10"},
		{"to only", time.Time{}, day(3, 0), "gap:500 a:1"},
		{"nothing", day(5, 0), day(6, 0), ""},
		{"inside of a day without any", day(5, 3), day(5, 4), ""},
	} {
		require.Equal(t, c.want, r.counted(reading.Window{From: c.from, To: c.to}, reading.SortCount), c.name)
	}
	require.Equal(t, "a:5 part:10 b:50", r.counted(reading.Window{From: day(3, 0), To: day(4, 0)}, reading.SortLastSeen))

	// A part belongs to the group that is shown.
	part, root := r.Group("part").ID, r.Group("a").ID
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := crash.Merge(ctx, tx, crashtest.Writer(r.Org.ID), part, root)
		return err
	})
	require.Equal(t, "b:50 a:15", r.counted(reading.Window{From: day(3, 0), To: day(4, 0)}, reading.SortCount))
	require.Equal(t, "b:50 a:10", r.counted(reading.Window{From: day(3, 6), To: day(3, 13)}, reading.SortCount))
	g := r.Group("a")
	require.NoError(t, g.Within(t.Context(), r.DB, reading.Window{From: day(3, 6), To: day(9, 0)}))
	require.EqualValues(t, 116, g.Count)
	require.EqualValues(t, 13, g.WindowCount)
	require.Len(t, g.Days, 1)
	require.EqualValues(t, 15, g.Days[0].Count)
}

func TestSearchFindsAllMessages(t *testing.T) {
	t.Parallel()
	r := open(t)
	say := func(key, message string) crash.Crash {
		return r.Made(func(c *crash.Crash) { c.Group, c.Message = crashtest.Grouping(key), message })
	}
	r.Record(say("a", "cannot open Größe.txt\nsecond line"), say("a", "disk 100% full_"), say("b", "disk is fine"), say("c", ""))
	var many []crash.Crash
	for i := range 600 {
		many = append(many, say("many", fmt.Sprintf("unique message %04d", i)))
	}
	r.Record(many...)
	r.Record(say("many", "unique message 0001"))
	found := func(text string) string {
		names, _ := r.Titles(reading.GroupFilter{Search: text, Sort: reading.SortFirstSeen})
		list := strings.Split(names, ",")
		slices.Sort(list)
		return strings.Join(list, ",")
	}
	require.Equal(t, "a", found("OPEN größe"))
	require.Empty(t, found("second line"), "the first line only")
	require.Equal(t, "a,b", found("disk"))
	require.Equal(t, "a", found("100% full_"))
	require.Empty(t, found("100_ full"))
	require.Equal(t, "many", found("message 0001"))
	require.Empty(t, found("message 0599"), "beyond the bound")
	require.Equal(t, "many", found("y"), "in the title")
	require.Equal(t, "c", found("class c"))
	_, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Rival.ID, Search: "disk", Limit: 9})
	require.NoError(t, err)
	require.Zero(t, total.Rows)

	g := r.Group("many")
	require.Equal(t, 500, g.Messages.Total)
	require.True(t, g.Messages.Truncated)
	require.Len(t, g.Messages.Values, 10)
	require.Equal(t, "unique message 0001", g.Messages.Values[0].Value)
	require.EqualValues(t, 2, g.Messages.Values[0].Count)
	require.Empty(t, g.Hosts.Values)

	// A part is found under the group that is shown.
	a, c := r.Group("a").ID, r.Group("c").ID
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := crash.Merge(ctx, tx, crashtest.Writer(r.Org.ID), a, c)
		return err
	})
	require.Equal(t, "c", found("größe"))
}

// A removal takes messages along.
func TestMessagesForgetRemovedReports(t *testing.T) {
	t.Parallel()
	r := open(t)
	var ids []uuid.UUID
	for _, message := range []string{"of ann", "of bob", "of bob"} {
		id := uuid.New()
		receipts, _ := r.Accept(r.Incoming(id, crashtest.Document(id, message)))
		r.Record(r.Made(func(c *crash.Crash) { c.ID, c.UUID, c.Message = receipts[0].ID, id, message }))
		ids = append(ids, receipts[0].ID)
	}
	plan, _, err := r.Store.PlanRemoval(t.Context(), r.Org.ID, ids[:2])
	require.NoError(t, err)
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		_, err := r.Store.Remove(t.Context(), tx, plan)
		return err
	})
	messages := r.Group("k").Messages
	require.Equal(t, 1, messages.Total)
	require.Equal(t, "of bob", messages.Values[0].Value)
	require.EqualValues(t, 1, messages.Values[0].Count)
}

func TestListsStopCounting(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("second") }))
	group := r.Group("k").ID
	key := r.ID(`select id from crash_group_keys where group_id = $1`, group)
	_, err := r.DB.ExecContext(t.Context(), `
		insert into crashes (id, organization_id, crash_project_id, key_id, uuid, state, format, occurred_at, received_at,
			lang, agent, classifier, message, version, host, attributes)
		select gen_random_uuid(), $1, $2, $3, gen_random_uuid(), 'processed', 'json', now() - n * interval '1 s', now(),
			'', '', '', '', '1', '', '{}' from generate_series(1, 10010) n`, r.Org.ID, r.Project, key)
	require.NoError(t, err)
	page := func(limit, offset int) (storage.Total, int) {
		rows, total, err := reading.Crashes(t.Context(), r.DB, reading.CrashFilter{OrganizationID: r.Org.ID, GroupID: group,
			Limit: limit, Offset: offset})
		require.NoError(t, err)
		all, of, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: r.Org.ID, Limit: limit, Offset: offset})
		require.NoError(t, err)
		require.Equal(t, total.Exact, of.Exact)
		require.GreaterOrEqual(t, len(all), len(rows))
		return total, len(rows)
	}
	for _, c := range []struct {
		offset, rows int
		next         bool
	}{{0, 100, true}, {9950, 100 - 39, false}, {9900, 100, true}, {10011, 0, false}, {20000, 0, false}, {reading.ListReach, 0, false}} {
		total, rows := page(100, c.offset)
		require.Equal(t, storage.Total{Rows: storage.CountReach, Next: c.next}, total, c.offset)
		require.Equal(t, c.rows, rows, c.offset)
	}
	// With parts, in the order of all.
	second := r.Group("second").ID
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := crash.Merge(ctx, tx, crashtest.Writer(r.Org.ID), second, group)
		return err
	})
	total, rows := page(100, 9950)
	require.False(t, total.Exact)
	require.Equal(t, 62, rows)
}

func TestAttributesOfCrashes(t *testing.T) {
	t.Parallel()
	r := open(t)
	with := func(key, attributes string, duplicates int) crash.Crash {
		return r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.Duplicates = crashtest.Grouping(key), attributes, duplicates
			c.OccurredAt = crashtest.Epoch.Add(time.Duration(duplicates) * time.Hour)
		})
	}
	r.Record(with("a", `{"os":"Linux","n":1,"none":null}`, 1), with("a", `{"os":"Darwin","n":2}`, 7),
		with("a", `{"os":"Linux"}`, 2), with("b", `{"os":"Linux"}`, 1))
	f := reading.AttributesFilter{OrganizationID: r.Org.ID, GroupID: r.Group("a").ID}
	keys, counted, err := reading.AttributeKeys(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Equal(t, []reading.AttributeKey{{Key: "os", Values: 2, Reports: 3}, {Key: "n", Values: 2, Reports: 2},
		{Key: "none", Values: 1, Reports: 1}}, keys)
	require.Equal(t, reading.Counted{Reports: 3, Occurrences: 10, Complete: true}, counted)
	values, counted, err := reading.AttributeValues(t.Context(), r.DB, f, "os")
	require.NoError(t, err)
	require.Equal(t, reading.Counted{Reports: 3, Occurrences: 10, Complete: true, Distinct: 2}, counted)
	require.Len(t, values, 2)
	require.Equal(t, "Darwin", values[0].Value)
	require.EqualValues(t, 7, values[0].Count)
	require.Equal(t, "Linux", values[1].Value)
	require.EqualValues(t, 3, values[1].Count)
	require.True(t, values[1].FirstSeen.Equal(crashtest.Epoch.Add(time.Hour)))
	require.True(t, values[1].LastSeen.Equal(crashtest.Epoch.Add(2*time.Hour)))

	f.Window = reading.Window{From: crashtest.Epoch.Add(5 * time.Hour)}
	_, counted, err = reading.AttributeValues(t.Context(), r.DB, f, "missing")
	require.NoError(t, err)
	require.Equal(t, reading.Counted{Reports: 1, Occurrences: 7, Complete: true}, counted)
	f.OrganizationID = r.Rival.ID
	keys, _, err = reading.AttributeKeys(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Empty(t, keys)
	values, counted, err = reading.AttributeValues(t.Context(), r.DB, reading.AttributesFilter{OrganizationID: r.Org.ID,
		Projects: []int64{r.Project}}, "os")
	require.NoError(t, err)
	require.Equal(t, 4, counted.Reports)
	require.Len(t, values, 2)
}
