package crash_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Many who count the same day at once wait for nobody, and its rows are put together: of 600
// statements none does so once in a hundred thousand runs.
func TestProjectDaysArePutTogether(t *testing.T) {
	t.Parallel()
	r := open(t)
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for range 150 {
				one := r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping(string(rune('a' + n))) })
				err := r.DB.InTx(t.Context(), func(tx *storage.Tx) error {
					return crash.Record(t.Context(), tx, r.Org.ID, []crash.Crash{one})
				})
				if err != nil {
					t.Errorf("record: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 600, r.Count(`select sum(count) from crash_project_days`))
	rows := r.Count(`select count(*) from crash_project_days`)
	require.Less(t, rows, 600)

	// Retention makes one row of a day that is over.
	step := func(do func(context.Context, *storage.Tx, time.Time, int) (int64, error), now time.Time) (n int64) {
		r.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			n, err = do(ctx, tx, now, 1000)
			return err
		})
		return n
	}
	require.Zero(t, step(crash.JoinProjectDays, crashtest.Epoch), "the day is not over")
	// Four that never met have one row already.
	require.EqualValues(t, min(1, rows-1), step(crash.JoinProjectDays, crashtest.Epoch.AddDate(0, 0, 1)))
	require.EqualValues(t, 1, r.Count(`select count(*) from crash_project_days`))
	require.EqualValues(t, 600, r.Count(`select sum(count) from crash_project_days`))
	require.Zero(t, step(crash.JoinProjectDays, crashtest.Epoch.AddDate(0, 0, 1)))
	require.Zero(t, step(crash.ExpireProjectDays, crashtest.Epoch.AddDate(0, 0, 20)))
	r.DaysAgree()
	require.EqualValues(t, 1, step(crash.ExpireProjectDays, crashtest.Epoch.AddDate(0, 0, 21)))
	r.Exec(`delete from crash_group_days`) // the last checks of the fixture compare them
	r.Exec(`delete from crash_group_version_days`)
	r.Exec(`delete from crash_project_days`)
}
