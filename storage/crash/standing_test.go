package crash_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// change changes the group of a key.
func (r *room) change(key string, c crash.GroupChange) error {
	id := r.Group(key).ID
	return r.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := crash.ChangeGroup(ctx, tx, crashtest.Writer(r.Org.ID), id, c)
		return err
	})
}

func (r *room) mustChange(key string, c crash.GroupChange) *reading.Group {
	r.T.Helper()
	require.NoError(r.T, r.change(key, c))
	return r.Group(key)
}

// seen records a crash of a key: when it happened, when it arrived, in which version.
func (r *room) seen(key string, occurred, received time.Time, version string) *reading.Group {
	r.T.Helper()
	r.Record(r.Made(func(c *crash.Crash) {
		c.Group, c.OccurredAt, c.ReceivedAt, c.Version = crashtest.Grouping(key), occurred, received, version
	}))
	return r.Group(key)
}

func resolved() crash.GroupChange { return crash.GroupChange{State: fixture.Ptr(crash.Resolved)} }
func ignored() crash.GroupChange  { return crash.GroupChange{State: fixture.Ptr(crash.Ignored)} }

// What reopens a resolved group: when the crash happened and arrived, relative to the
// second of the resolve, and its version.
func TestRegressions(t *testing.T) {
	t.Parallel()
	r := open(t)
	const before, after = -time.Hour, time.Hour
	for n, c := range []struct {
		in                 string // "": no version; "next": the next after 2.1
		occurred, received time.Duration
		version            string
		want               bool
	}{
		{"", after, after, "", true},
		{"", 0, after, "", true}, // the second of the resolve
		{"", -time.Second, after, "", false},
		{"", before, after, "", false}, // waited on a phone
		{"", after, before, "", false}, // waited in a queue
		{"", before, before, "", false},
		{"", after, after, "1.0", true},
		{"2.1", after, after, "2.0", false},
		{"2.1", after, after, "2.1-rc.1", false},
		{"2.1", after, after, "2.1", true},
		{"2.1", after, after, "2.1.0", true},
		{"2.1", after, after, "2.10", true},
		{"2.1", before, after, "2.2", false},
		{"2.1", after, before, "2.2", false},
		{"2.1", after, after, "", true},
		{"2.1", after, after, "nightly", true}, // cannot be compared
		{"next", after, after, "2.0.9", false},
		{"next", after, after, "2.1", false},
		{"next", after, after, "2.1.1", true},
		{"next", before, after, "2.1.1", false},
		{"next", after, after, "", true},
		{"4f9d0c2", after, after, "4f9d0c2", true},
		{"4f9d0c2", after, after, "0a1b2c3", false}, // a hash that was seen before
		{"4f9d0c2", after, after, "ffffff1", true},  // one that was not
	} {
		name := fmt.Sprintf("%d %+v", n, c)
		r.Project = r.Org.CrashProject(name)
		key := fmt.Sprint("k", n)
		now := time.Now()
		r.seen(key, now.Add(-48*time.Hour), now.Add(-48*time.Hour), "1.9")
		r.seen("other"+key, now.Add(-47*time.Hour), now.Add(-47*time.Hour), "2.1")
		r.seen("other"+key, now.Add(-49*time.Hour), now.Add(-49*time.Hour), "2.0")
		r.seen("other"+key, now.Add(-49*time.Hour), now.Add(-49*time.Hour), "0a1b2c3")
		change := resolved()
		if change.InNext = c.in == "next"; !change.InNext {
			change.InVersion = c.in
		}
		g := r.mustChange(key, change)
		if change.InNext {
			require.Equal(t, "2.1", g.ResolvedIn, "the newest version of the project")
		}
		second := g.ResolvedAt.Truncate(time.Second)
		g = r.seen(key, second.Add(c.occurred), second.Add(c.received), c.version)
		if !c.want {
			require.Equal(t, crash.Resolved, g.State, name)
			require.Zero(t, g.Regressions, name)
			continue
		}
		require.Equal(t, crash.Open, g.State, name)
		require.Equal(t, 1, g.Regressions, name)
		require.Equal(t, c.version, g.RegressedIn, name)
		require.NotNil(t, g.ReopenedAt, name)
		g = r.seen(key, second.Add(2*after), second.Add(2*after), "9")
		require.Equal(t, 1, g.Regressions, name+": an open group has none")
	}
}

// Of the reports of a claim the first that is a regression names the version.
func TestFirstRegressionIsNamed(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil))
	change := resolved()
	change.InVersion = "2.0"
	at := *r.mustChange("k", change).ResolvedAt
	var crashes []crash.Crash
	for n, version := range []string{"2.4", "2.3", "2.2", "1.9", "2.5"} {
		crashes = append(crashes, r.Made(func(c *crash.Crash) {
			c.Version, c.OccurredAt, c.ReceivedAt = version, at.Add(time.Duration(10-n)*time.Minute), at.Add(time.Hour)
		}))
	}
	crashes[4].OccurredAt = at.Add(-time.Hour)
	r.Record(crashes...)
	require.Equal(t, "2.2", r.Group("k").RegressedIn)
}

func TestNextVersionOfAProjectWithoutVersions(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil))
	change := resolved()
	change.InNext = true
	g := r.mustChange("k", change)
	require.Empty(t, g.ResolvedIn)
	after := g.ResolvedAt.Add(time.Minute)
	require.Equal(t, crash.Open, r.seen("k", after, after, "1.0").State)
}

// Only the group that is shown decides: a part has its keys, not its state.
func TestPartsHaveNoState(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("part") }))
	part, root := r.Group("part").ID, r.Group("k").ID
	r.mustChange("part", resolved())
	_, _, err := r.merge(t.Context(), r.Org.ID, part, root)
	require.NoError(t, err)
	later := time.Now().Add(time.Hour)
	g := r.seen("part", later, later, "3")
	require.Equal(t, root, g.ID)
	require.Zero(t, g.Regressions)

	require.NoError(t, r.Do(func(ctx context.Context, tx *storage.Tx) error {
		id, err := crash.ChangeGroup(ctx, tx, crashtest.Writer(r.Org.ID), part, resolved())
		require.Equal(t, root, id, "the id of a part is the group")
		return err
	}))
	g = r.seen("part", later, later, "3")
	require.Equal(t, 1, g.Regressions, "a report of a part reopens the group")
	require.Equal(t, "3", g.RegressedIn)
	require.NoError(t, r.unmerge(part))
	var state string
	require.NoError(t, r.DB.GetContext(t.Context(), &state, `select state from crash_groups where id = $1`, part))
	require.Equal(t, "resolved", state, "the part's own state was not touched")
}

func TestIgnoredUntil(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil))
	later := time.Now().Add(time.Hour)
	report := func(duplicates int, received time.Time, version string) *reading.Group {
		r.Record(r.Made(func(c *crash.Crash) {
			c.Duplicates, c.OccurredAt, c.ReceivedAt, c.Version = duplicates, crashtest.Epoch, received, version
		}))
		return r.Group("k")
	}
	// A number of further occurrences, whenever they happened.
	change := ignored()
	change.UntilCount = fixture.Ptr(int64(10))
	r.mustChange("k", change)
	report(50, time.Now().Add(-time.Hour), "9")
	g := report(4, later, "9")
	require.Equal(t, crash.Ignored, g.State)
	require.EqualValues(t, 6, *g.IgnoredCount)
	g = report(6, later, "9")
	require.Equal(t, crash.Open, g.State)
	require.Equal(t, crash.EndedByCount, g.IgnoreEnded)
	require.NotNil(t, g.IgnoreEndedAt)
	require.Nil(t, g.IgnoredCount)
	require.Zero(t, g.Regressions, "no regression")
	require.Nil(t, g.ReopenedAt)

	// A version.
	change = ignored()
	change.UntilVersion, change.UntilCount = "2.1", fixture.Ptr(int64(1000))
	g = r.mustChange("k", change)
	require.Empty(t, g.IgnoreEnded, "it is ignored again")
	require.Equal(t, crash.Ignored, report(1, later, "2.0.9").State)
	require.Equal(t, crash.Ignored, report(1, later, "").State)
	require.Equal(t, crash.Ignored, report(1, later, "main").State)
	g = report(1, later, "2.2")
	require.Equal(t, crash.EndedByVersion, g.IgnoreEnded)
	require.Empty(t, g.IgnoredVersion)

	// A date, without a report and with one.
	change = ignored()
	change.Until = fixture.Ptr(later)
	require.Equal(t, crash.Ignored, r.mustChange("k", change).State)
	r.Exec(`update crash_groups set ignored_until = now() - interval '1 minute'`)
	for _, read := range []func() *reading.Group{
		func() *reading.Group { return r.Group("k") },
		func() *reading.Group {
			list, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID,
				States: []crash.GroupState{crash.Open}, Limit: 5})
			require.NoError(t, err)
			require.Equal(t, 1, total.Rows)
			return &list[0]
		},
		func() *reading.Group { return report(1, later, "2.2") },
	} {
		g = read()
		require.Equal(t, crash.Open, g.State)
		require.Equal(t, crash.EndedByDate, g.IgnoreEnded)
		require.True(t, g.IgnoreEndedAt.Before(time.Now()))
		require.Nil(t, g.IgnoredUntil)
	}
	_, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID,
		States: []crash.GroupState{crash.Ignored}, Limit: 5})
	require.NoError(t, err)
	require.Zero(t, total.Rows)

	// Without a condition it stays ignored.
	r.mustChange("k", ignored())
	require.Equal(t, crash.Ignored, report(1000, later, "99").State)
}

func TestChangesAreChecked(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil))
	past, long := time.Now().Add(-time.Minute), make([]byte, 256)
	for i := range long {
		long[i] = '1'
	}
	for member, change := range map[string]func(c *crash.GroupChange){
		"state":           func(c *crash.GroupChange) { c.State = fixture.Ptr(crash.GroupState("gone")) },
		"in_version":      func(c *crash.GroupChange) { c.State, c.InVersion = fixture.Ptr(crash.Open), "1" },
		"in_next_version": func(c *crash.GroupChange) { *c = resolved(); c.InVersion, c.InNext = "1", true },
		"until":           func(c *crash.GroupChange) { *c = ignored(); c.Until = &past },
		"until_count":     func(c *crash.GroupChange) { *c = ignored(); c.UntilCount = fixture.Ptr(int64(0)) },
		"until_version":   func(c *crash.GroupChange) { *c = ignored(); c.UntilVersion = string(long) },
		"issue_url":       func(c *crash.GroupChange) { c.IssueURL = fixture.Ptr("javascript:alert(1)") },
		"assignee":        func(c *crash.GroupChange) { c.Assignee = fixture.Ptr(r.Rival.Member.ID) },
	} {
		var c crash.GroupChange
		change(&c)
		require.Equal(t, member, fixture.InvalidField(t, r.change("k", c)))
	}
	for _, link := range []string{"https://", "http:///x", "https://u:p@example.com/1", "https://example.com/a b",
		"example.com", "https://e.com/\"x"} {
		require.Equal(t, "issue_url", fixture.InvalidField(t, r.change("k", crash.GroupChange{IssueURL: &link})), link)
	}
	require.Zero(t, r.Audited(account.CrashGroupUpdated), "nothing was changed")
}

func TestAssigneeAndIssue(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("free") }))
	user := r.Org.Member.ID
	g := r.mustChange("k", crash.GroupChange{Assignee: &user, IssueURL: fixture.Ptr("https://issues.example.com/7")})
	require.Equal(t, user, *g.AssigneeID)
	require.NotEmpty(t, *g.AssigneeEmail)
	require.Equal(t, "https://issues.example.com/7", g.IssueURL)
	require.Equal(t, crash.Open, g.State)
	for _, c := range []struct {
		assignees []int64
		want      int
	}{{[]int64{user}, 1}, {[]int64{0}, 1}, {[]int64{user, 0}, 2}, {[]int64{user + 1000}, 0}} {
		_, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Assignees: c.assignees, Limit: 5})
		require.NoError(t, err)
		require.Equal(t, c.want, total.Rows, c)
	}
	g = r.mustChange("k", resolved())
	require.Equal(t, user, *g.AssigneeID, "a change leaves the rest as it is")
	g = r.mustChange("k", crash.GroupChange{Assignee: fixture.Ptr(int64(0)), IssueURL: fixture.Ptr("")})
	require.Nil(t, g.AssigneeID)
	require.Empty(t, g.IssueURL)

	r.Exec(`update memberships set blocked_at = now() where user_id = $1`, user)
	require.Equal(t, "assignee", fixture.InvalidField(t, r.change("k", crash.GroupChange{Assignee: &user})))
	r.Exec(`update memberships set blocked_at = null, role = 'tester' where user_id = $1`, user)
	require.Equal(t, "assignee", fixture.InvalidField(t, r.change("k", crash.GroupChange{Assignee: &user})))
}

// Changes, merges and reports at once: every change is whole, nothing deadlocks.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("part") }))
	root, part := r.Group("k").ID, r.Group("part").ID
	ctx := crashtest.Bounded(t)
	var wait sync.WaitGroup
	start := make(chan struct{})
	for n := range 12 {
		wait.Go(func() {
			<-start
			err := r.DB.InTx(ctx, func(tx *storage.Tx) error {
				var err error
				switch n % 4 {
				case 0:
					c := resolved()
					c.InVersion = "2"
					_, err = crash.ChangeGroup(ctx, tx, crashtest.Writer(r.Org.ID), part, c)
				case 1:
					c := ignored()
					c.UntilVersion = "3"
					_, err = crash.ChangeGroup(ctx, tx, crashtest.Writer(r.Org.ID), part, c)
				case 2:
					_, _, err = crash.Merge(ctx, tx, crashtest.Writer(r.Org.ID), part, root)
				case 3:
					c := r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("part") })
					err = crash.Record(ctx, tx, r.Org.ID, []crash.Crash{c})
				}
				return err
			})
			if err != nil {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	close(start)
	wait.Wait()
	g := r.Group("k")
	require.EqualValues(t, 5, g.Count)
	require.Equal(t, g.State == crash.Resolved, g.ResolvedIn == "2" && g.ResolvedAt != nil)
	require.Equal(t, g.State == crash.Ignored, g.IgnoredVersion == "3" && g.IgnoredAt != nil)
	require.Len(t, g.Parts, 1)
	require.EqualValues(t, 4, g.Parts[0].Count)
	require.Equal(t, 6, r.Audited(account.CrashGroupUpdated))
	require.Equal(t, 1, r.Audited(account.CrashGroupMerged))
}
