package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// A task that is retried meanwhile leaves a gap in its page; the pages behind it are read all
// the same.
func TestRewriteGivenUpPassesARetry(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), t.Context()
	var ids []uuid.UUID
	for i := range 5 {
		id := f.insert(t, ledger.NewTask{OrganizationID: f.one})
		state := []ledger.State{ledger.Dead, ledger.Cancelled}[i%2]
		_, err := f.db.ExecContext(ctx, `update tasks set state = $2, finished_at = now() where id = $1`, id, state)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	type outcome struct {
		replaced int
		err      error
	}
	ended := make(chan outcome, 1)
	require.NoError(t, f.db.InTx(ctx, func(retry *storage.Tx) error {
		if _, err := retry.ExecContext(ctx, `update tasks set state = 'queued', finished_at = null where id = $1`, ids[0]); err != nil {
			return err
		}
		go func() {
			var o outcome
			o.err = f.db.InTx(ctx, func(tx *storage.Tx) (err error) {
				o.replaced, err = ledger.RewriteGivenUpBy(ctx, tx, f.one, "k", 2, func([]byte) (any, error) { return map[string]int{"n": 0}, nil })
				return err
			})
			ended <- o
		}()
		require.Eventually(t, func() bool {
			var waits bool
			err := f.db.GetContext(ctx, &waits, `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`)
			return err == nil && waits
		}, 20*time.Second, 20*time.Millisecond, "the pages wait for the retry")
		return nil
	}))
	o := <-ended
	require.NoError(t, o.err)
	require.Equal(t, 4, o.replaced)
	require.JSONEq(t, `{"n":1}`, string(f.get(t, ids[0]).Payload))
	for _, id := range ids[1:] {
		require.JSONEq(t, `{"n":0}`, string(f.get(t, id).Payload))
	}
}
