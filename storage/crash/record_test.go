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
	"github.com/slipway-qa/slipway/storage/crash"
)

func TestRecordCounts(t *testing.T) {
	t.Parallel()
	r := open(t)
	day := 24 * time.Hour
	r.Record(
		r.Made(func(c *crash.Crash) { c.Version, c.Host = "1.0", "a" }),
		r.Made(func(c *crash.Crash) { c.OccurredAt, c.Duplicates, c.Version = crashtest.Epoch.Add(-day), 5, "1.1" }),
		r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("other") }))
	r.Record(r.Made(func(c *crash.Crash) { c.OccurredAt, c.Version = crashtest.Epoch.Add(time.Hour), "1.0" }))

	g := r.Group("k")
	require.EqualValues(t, 7, g.Count)
	require.True(t, g.FirstSeen.Equal(crashtest.Epoch.Add(-day)))
	require.True(t, g.LastSeen.Equal(crashtest.Epoch.Add(time.Hour)))
	require.Equal(t, "title k", g.Title)
	require.Equal(t, "app", g.ProjectName)
	var counts []string
	require.NoError(t, r.DB.SelectContext(t.Context(), &counts,
		`select day || ' ' || count from crash_group_days where group_id = $1 order by day`, g.ID))
	require.Equal(t, []string{"2026-02-28 5", "2026-03-01 2"}, counts)
	require.Equal(t, 2, g.Versions.Total)
	require.Equal(t, "1.1", g.Versions.Values[0].Value)
	require.EqualValues(t, 5, g.Versions.Values[0].Count)
	require.EqualValues(t, 2, g.Versions.Values[1].Count)
	require.Equal(t, []string{"a"}, []string{g.Hosts.Values[0].Value})
	require.False(t, g.Hosts.Truncated)
	require.EqualValues(t, 1, r.Group("other").Count)
}

func TestRecentDaysAreShown(t *testing.T) {
	t.Parallel()
	r := open(t)
	now := time.Now().UTC()
	for _, ago := range []int{0, 1, 89, 90, 200} {
		r.Record(r.Made(func(c *crash.Crash) { c.OccurredAt = now.AddDate(0, 0, -ago) }))
	}
	days := r.Group("k").Days
	require.Len(t, days, 3)
	require.Equal(t, now.Format(time.DateOnly), days[2].Day.Format(time.DateOnly))
}

func TestStatesAndRegression(t *testing.T) {
	t.Parallel()
	r := open(t)
	now := time.Now()
	seen := func(received time.Time) {
		r.Record(r.Made(func(c *crash.Crash) { c.OccurredAt, c.ReceivedAt = received, received }))
	}
	set := func(state crash.GroupState) {
		id := r.Group("k").ID
		r.Must(func(_ context.Context, tx *storage.Tx) error {
			_, err := crash.ChangeGroup(t.Context(), tx, crashtest.Writer(r.Org.ID), id, crash.GroupChange{State: &state})
			return err
		})
	}
	seen(now)
	set(crash.Resolved)
	require.NotNil(t, r.Group("k").ResolvedAt)
	seen(now.Add(-time.Hour))
	require.Equal(t, crash.Resolved, r.Group("k").State, "received before it was resolved")
	seen(now.Add(time.Hour))
	g := r.Group("k")
	require.Equal(t, crash.Open, g.State)
	require.Equal(t, 1, g.Regressions)
	require.NotNil(t, g.ReopenedAt)

	set(crash.Ignored)
	seen(now.Add(2 * time.Hour))
	g = r.Group("k")
	require.Equal(t, crash.Ignored, g.State)
	require.Equal(t, 1, g.Regressions)
	require.Nil(t, g.ResolvedAt)

	err := r.DB.InTx(t.Context(), func(tx *storage.Tx) error {
		_, err := crash.ChangeGroup(t.Context(), tx, crashtest.Writer(r.Rival.ID), g.ID, crash.GroupChange{State: fixture.Ptr(crash.Open)})
		return err
	})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	r := open(t)
	for part := range 3 {
		var crashes []crash.Crash
		for i := range 100 {
			crashes = append(crashes, r.Made(func(c *crash.Crash) { c.Host = fmt.Sprintf("host-%03d", 100*part+i) }))
		}
		r.Record(crashes...)
	}
	r.Record(r.Made(func(c *crash.Crash) { c.Host = "host-000" }), r.Made(func(c *crash.Crash) { c.Host = "host-299" }))
	g := r.Group("k")
	require.EqualValues(t, 302, g.Count)
	require.Equal(t, 200, g.Hosts.Total)
	require.Len(t, g.Hosts.Values, 200)
	require.True(t, g.Hosts.Truncated)
	require.Equal(t, "host-000", g.Hosts.Values[0].Value, "known values are still counted")
	require.EqualValues(t, 2, g.Hosts.Values[0].Count)
}

// One group for each key and every occurrence counted, whoever comes first.
func TestConcurrentRecordOfNewKeys(t *testing.T) {
	t.Parallel()
	r := open(t)
	const writers, rounds = 8, 5
	var wait sync.WaitGroup
	for n := range writers {
		wait.Go(func() {
			for round := range rounds {
				var crashes []crash.Crash
				for i := range 6 {
					// Every writer names the keys in another order.
					key := fmt.Sprintf("k%d-%d", round, (i+n)%6)
					crashes = append(crashes, r.Made(func(c *crash.Crash) {
						c.Group, c.Host, c.Version = crashtest.Grouping(key), fmt.Sprint("h", n), "1"
					}))
				}
				err := r.DB.InTx(crashtest.Bounded(t), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, r.Org.ID, crashes)
				})
				if err != nil {
					t.Errorf("record: %v", err)
				}
			}
		})
	}
	wait.Wait()
	require.EqualValues(t, rounds*6, r.Count(`select count(*) from crash_groups`))
	require.EqualValues(t, rounds*6, r.Count(`select count(*) from crash_group_keys`))
	require.EqualValues(t, writers, r.Count(`select min(count) from crash_groups`))
	require.EqualValues(t, writers, r.Count(`select max(count) from crash_groups`))
	require.EqualValues(t, writers, r.Count(`select max(count) from crash_group_values where kind = 'version'`))
	require.EqualValues(t, rounds*6*writers, r.Count(`select count(*) from crashes where key_id is not null`))
}
