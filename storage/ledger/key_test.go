package ledger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

func (f fixture) claimOf(t *testing.T, id uuid.UUID, limit int) *ledger.Task {
	t.Helper()
	rows, err := f.Claim(context.Background(), ledger.ClaimRequest{ID: id, Kind: "k", Worker: "w", KeyLimit: limit})
	require.NoError(t, err)
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

// due tells which of the tasks could be claimed now.
func (f fixture) due(t *testing.T, ids []uuid.UUID) (due []uuid.UUID) {
	t.Helper()
	for _, id := range ids {
		var now bool
		require.NoError(t, f.db.Get(&now, `select state = 'queued' and run_at <= now() from tasks where id = $1`, id))
		if now {
			due = append(due, id)
		}
	}
	return due
}

func TestKeyLimitHoldsForClaimsAtOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	var ids []uuid.UUID
	for range 8 {
		ids = append(ids, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}))
	}
	other := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "other"})
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if _, err := f.Claim(context.Background(), ledger.ClaimRequest{ID: id, Kind: "k", Worker: "w", KeyLimit: 3}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var running int
	require.NoError(t, f.db.Get(&running, `select count(*) from tasks where state = 'running'`))
	require.Equal(t, 3, running)
	require.Empty(t, f.due(t, ids), "the rest is put off")
	require.NotNil(t, f.claimOf(t, other, 3), "another key has room")
}

// Each way in which a task ends makes the one due that waits longest for its key,
// and no other.
func TestEndOfATaskWakesOneOfItsKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	ends := map[string]func(f fixture, token ledger.Token) error{
		"finish": func(f fixture, token ledger.Token) error {
			return f.db.InTx(ctx, func(tx *storage.Tx) error { return ledger.Finish(ctx, tx, []ledger.Token{token}, nil) })
		},
		"fail": func(f fixture, token ledger.Token) error {
			states, err := f.Fail(ctx, []ledger.Token{token}, "broken", false, time.Hour)
			require.Equal(t, []ledger.State{ledger.Queued}, states)
			return err
		},
		"dead": func(f fixture, token ledger.Token) error {
			_, err := f.Fail(ctx, []ledger.Token{token}, "broken", true, 0)
			return err
		},
		"release": func(f fixture, token ledger.Token) error {
			states, err := f.Release(ctx, []ledger.Token{token}, time.Hour)
			require.Equal(t, []ledger.State{ledger.Queued}, states)
			return err
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			running := f.claimOf(t, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}), 1)
			require.NotNil(t, running)
			first := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"})
			second := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"})
			stranger := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "other", Delay: 3 * time.Second})
			failed := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key", Delay: 2 * time.Second})
			later := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key", Delay: time.Hour})
			_, err := f.db.Exec(`update tasks set error = 'backing off' where id = $1`, failed)
			require.NoError(t, err)
			all := []uuid.UUID{running.ID, first, second, stranger, failed, later}
			require.Nil(t, f.claimOf(t, first, 1))
			require.Nil(t, f.claimOf(t, second, 1))
			require.Empty(t, f.due(t, all))

			require.NoError(t, end(f, running.Token()))
			require.Equal(t, []uuid.UUID{first}, f.due(t, all))
			next := f.claimOf(t, first, 1)
			require.NotNil(t, next)
			require.Nil(t, f.claimOf(t, second, 1), "the key is full again")
			require.NoError(t, end(f, next.Token()))
			require.Equal(t, []uuid.UUID{second}, f.due(t, all))
		})
	}
}

// What was not the worker's any more frees nothing.
func TestStaleEndWakesNobody(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	running := f.claimOf(t, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}), 1)
	waiting := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"})
	require.Nil(t, f.claimOf(t, waiting, 1))
	stale := ledger.Token{ID: running.ID, Attempt: running.Attempt + 1}
	err := f.db.InTx(ctx, func(tx *storage.Tx) error { return ledger.Finish(ctx, tx, []ledger.Token{stale}, nil) })
	require.ErrorIs(t, err, storage.ErrStale)
	_, err = f.Fail(ctx, []ledger.Token{stale}, "broken", false, 0)
	require.NoError(t, err)
	require.Empty(t, f.due(t, []uuid.UUID{waiting}))
}

func TestCancelAll(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	queued, running := f.insert(t, ledger.NewTask{OrganizationID: f.one}), f.insert(t, ledger.NewTask{OrganizationID: f.one})
	ended, foreign := f.insert(t, ledger.NewTask{OrganizationID: f.one}), f.insert(t, ledger.NewTask{OrganizationID: f.two})
	require.NotNil(t, f.claim(t, running))
	token := f.claim(t, ended).Token()
	require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error { return ledger.Finish(ctx, tx, []ledger.Token{token}, nil) }))
	ids := []uuid.UUID{queued, running, ended, foreign, uuid.New()}
	n, err := ledger.CancelAll(ctx, f.db, ledger.Scope{OrganizationID: f.one}, ids)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, ledger.Cancelled, f.get(t, queued).State)
	require.NotNil(t, f.get(t, queued).FinishedAt)
	require.Equal(t, ledger.Running, f.get(t, running).State)
	require.True(t, f.get(t, running).CancelRequested)
	require.Equal(t, ledger.Succeeded, f.get(t, ended).State)
	require.Equal(t, ledger.Queued, f.get(t, foreign).State)
	n, err = ledger.CancelAll(ctx, f.db, ledger.Scope{}, nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

// The more tasks wait for a full key, the longer is each put off, and all of them
// are within reach of the end of a running one; those that were snoozed are not.
func TestPauseGrowsWithTheQueue(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	running := f.claimOf(t, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}), 2)
	snoozed := f.claimOf(t, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}), 2)
	waiting := f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"})
	refused := func() { require.Nil(t, f.claimOf(t, waiting, 2)) }
	f.requirePutOff(t, waiting, 5*time.Second, refused)
	many := func(n int) {
		_, err := f.db.Exec(`insert into tasks (id, kind, queue, payload, request_id, max_attempts, concurrency_key)
			select gen_random_uuid(), 'k', 'q', '{}', '', 1, 'key' from generate_series(1, $1::int)`, n)
		require.NoError(t, err)
	}
	many(2000)
	f.requirePutOff(t, waiting, 25*time.Second, refused)
	many(8000)
	f.requirePutOff(t, waiting, 60*time.Second, refused)

	_, err := f.Release(ctx, []ledger.Token{snoozed.Token()}, 10*time.Second)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{waiting}, f.due(t, []uuid.UUID{waiting, snoozed.ID}))
	require.Nil(t, f.claimOf(t, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}), 1), "the key is full")
	require.NotNil(t, f.claimOf(t, waiting, 2))
	require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error { return ledger.Finish(ctx, tx, []ledger.Token{running.Token()}, nil) }))
	require.Empty(t, f.due(t, []uuid.UUID{snoozed.ID}), "its pause is not cut short")
	require.Equal(t, "put off", *f.get(t, snoozed.ID).Error)
}
