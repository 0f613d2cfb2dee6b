package crash_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Functions are written in the order of the groups, so that two writers wait for each other
// and neither for ever: while the first group is locked, none behind it is.
func TestFunctionsLockInOrder(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("b") }))
	low, high := r.Group("k").ID, r.Group("b").ID
	low, high = min(low, high), max(low, high)
	_, err := r.DB.ExecContext(t.Context(), `update crash_group_titles set functions = false where group_id = $1`, high)
	require.NoError(t, err)
	// The row of the first group comes last in the table.
	_, err = r.DB.ExecContext(t.Context(), `update crash_group_titles set functions = false where group_id = $1`, low)
	require.NoError(t, err)

	written := make(chan error, 1)
	r.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `select 1 from crash_group_titles where group_id = $1 for update`, low); err != nil {
			return err
		}
		go func() {
			written <- r.DB.InTx(t.Context(), func(other *storage.Tx) error {
				return crash.WriteFunctions(t.Context(), other, []int64{high, low}, []string{"g", "f"})
			})
		}()
		require.Eventually(t, func() bool {
			return r.Count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
				and query like '%update crash_group_titles t set functions%'`) == 1
		}, time.Minute, 10*time.Millisecond)
		var free []int64
		err := tx.SelectContext(ctx, &free, `select group_id from crash_group_titles where group_id = $1 for update skip locked`, high)
		require.Equal(t, []int64{high}, free)
		return err
	})
	require.NoError(t, <-written)
	require.EqualValues(t, 2, r.Count(`select count(*) from crash_group_titles where functions`))
}
