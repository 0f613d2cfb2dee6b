package crash_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

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
				one := r.made(func(c *crash.Crash) { c.Group = grouping(string(rune('a' + n))) })
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
	require.Less(t, r.Count(`select count(*) from crash_project_days`), 600)
}
