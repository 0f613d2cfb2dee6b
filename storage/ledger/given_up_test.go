package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// zeroed replaces payloads of a kind by one that is known again.
func zeroed(kind string, open bool) ledger.Rewrite {
	return ledger.Rewrite{Kind: kind, Open: open, Payload: func(payload []byte) (any, error) {
		if string(payload) == `{"n": 0}` {
			return nil, nil
		}
		return map[string]int{"n": 0}, nil
	}}
}

// Tasks that wait are reached where they are asked for, of the organization and the kinds
// alone. One that runs refuses it all.
func TestRewriteReachesWaiting(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), t.Context()
	insert := func(organization int64, kind string, state ledger.State) uuid.UUID {
		id := f.insert(t, ledger.NewTask{OrganizationID: organization, Kind: kind})
		_, err := f.db.ExecContext(ctx,
			`update tasks set state = $2, finished_at = case when $2 in ('dead', 'cancelled') then now() end where id = $1`, id, state)
		require.NoError(t, err)
		return id
	}
	var reached, left []uuid.UUID
	for range 2 { // in pages of three
		reached = append(reached, insert(f.one, "a", ledger.Dead), insert(f.one, "a", ledger.Cancelled), insert(f.one, "a", ledger.Queued),
			insert(f.one, "b", ledger.Dead))
		left = append(left, insert(f.two, "a", ledger.Queued), insert(f.two, "b", ledger.Dead), insert(f.one, "b", ledger.Queued),
			insert(f.one, "b", ledger.Running), insert(f.one, "c", ledger.Queued), insert(f.one, "a", ledger.Succeeded))
	}
	rewrite := func() (n int, err error) {
		err = f.db.InTx(ctx, func(tx *storage.Tx) (err error) {
			n, err = ledger.RewriteGivenUpBy(ctx, tx, f.one, 3, zeroed("a", true), zeroed("b", false))
			return err
		})
		return n, err
	}
	running := insert(f.one, "a", ledger.Running)
	_, err := rewrite()
	require.ErrorIs(t, err, storage.ErrConflict)
	for _, id := range reached {
		require.JSONEq(t, `{"n":1}`, string(f.get(t, id).Payload), "nothing was changed")
	}
	_, err = f.db.ExecContext(ctx, `update tasks set state = 'succeeded', finished_at = now() where id = $1`, running)
	require.NoError(t, err)
	n, err := rewrite()
	require.NoError(t, err)
	require.Equal(t, len(reached), n)
	for _, id := range reached {
		require.JSONEq(t, `{"n":0}`, string(f.get(t, id).Payload))
	}
	for _, id := range left {
		require.JSONEq(t, `{"n":1}`, string(f.get(t, id).Payload))
	}
	_, err = f.db.ExecContext(ctx, `update tasks set state = 'running', payload = '{"n": 0}' where id = $1`, running)
	require.NoError(t, err)
	n, err = rewrite()
	require.NoError(t, err, "the payload of what runs has nothing to replace")
	require.Zero(t, n)
}

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
				o.replaced, err = ledger.RewriteGivenUpBy(ctx, tx, f.one, 2, zeroed("k", false))
				return err
			})
			ended <- o
		}()
		require.Eventually(t, func() bool {
			var waits bool
			err := f.db.GetContext(ctx, &waits,
				`select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`)
			return err == nil && waits
		}, time.Minute, 20*time.Millisecond, "the pages wait for the retry")
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
