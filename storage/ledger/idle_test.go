package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

func put(t *testing.T, db *storage.DB, kind string) uuid.UUID {
	t.Helper()
	task := &ledger.NewTask{Kind: kind, Queue: "bulk", Payload: struct{}{}, MaxAttempts: 3}
	_, err := ledger.Insert(t.Context(), db, task)
	require.NoError(t, err)
	return task.ID
}

func take(t *testing.T, s *ledger.Store, id uuid.UUID) ledger.Token {
	t.Helper()
	rows, err := s.Claim(t.Context(), ledger.ClaimRequest{ID: id, Worker: "w"})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	return rows[0].Token()
}

func TestLockTokenAndProgress(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	s := ledger.New(db)
	id := put(t, db, "k")
	token := take(t, s, id)
	require.NoError(t, db.InTx(t.Context(), func(tx *storage.Tx) error {
		if err := ledger.LockToken(t.Context(), tx, []ledger.Token{token}); err != nil {
			return err
		}
		// Nobody rescues a row that is locked.
		rescued, err := s.Rescue(t.Context(), -time.Hour)
		require.NoError(t, err)
		require.Empty(t, rescued)
		return ledger.Progress(t.Context(), tx, token, map[string]int{"deleted": 2})
	}))
	got, err := s.Get(t.Context(), ledger.Scope{}, id)
	require.NoError(t, err)
	require.JSONEq(t, `{"deleted":2}`, string(*got.Result))

	_, err = s.Rescue(t.Context(), -time.Hour)
	require.NoError(t, err)
	again := take(t, s, id)
	require.NotEqual(t, token, again)
	err = db.InTx(t.Context(), func(tx *storage.Tx) error { return ledger.LockToken(t.Context(), tx, []ledger.Token{token}) })
	require.ErrorIs(t, err, storage.ErrStale)
	require.ErrorIs(t, ledger.Progress(t.Context(), db, token, 1), storage.ErrStale)
}

func TestLockIdle(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	s := ledger.New(db)
	queued, running := put(t, db, "k"), put(t, db, "k")
	take(t, s, running)
	require.NoError(t, db.InTx(t.Context(), func(tx *storage.Tx) error {
		locked, err := ledger.LockIdle(t.Context(), tx, []uuid.UUID{queued, running, uuid.New()})
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{queued}, locked)
		other, err := ledger.LockIdle(t.Context(), db, []uuid.UUID{queued})
		require.NoError(t, err)
		require.Empty(t, other, "locked by this transaction")
		return nil
	}))
}

func TestPruneHonoursKinds(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	s := ledger.New(db)
	keep := ledger.Keep{Succeeded: 7 * 24 * time.Hour, Other: 90 * 24 * time.Hour,
		ByKind: map[string]time.Duration{"short": time.Hour, "long": 30 * 24 * time.Hour}}
	type row struct {
		kind, state string
		hours       int
		goes        bool
	}
	rows := []row{
		{"short", "succeeded", 2, true}, {"short", "succeeded", 0, false}, {"short", "dead", 200, false},
		{"other", "succeeded", 2, false}, {"other", "succeeded", 24*7 + 1, true}, {"other", "cancelled", 24 * 8, false},
		{"other", "dead", 24*90 + 1, true}, {"other", "cancelled", 24*90 + 1, true},
		{"long", "succeeded", 24 * 8, false}, {"long", "succeeded", 24*30 + 1, true}, {"short", "queued", -1, false},
	}
	want := map[uuid.UUID]bool{}
	gone := 0
	for _, r := range rows {
		id := put(t, db, r.kind)
		if r.state != "queued" {
			_, err := db.ExecContext(t.Context(), `update tasks set state = $2,
				finished_at = now() - make_interval(hours => $3) where id = $1`, id, r.state, r.hours)
			require.NoError(t, err)
		}
		if !r.goes {
			want[id] = true
		} else {
			gone++
		}
	}
	// Two rows that ended at the same instant must not be skipped at a page's end.
	for _, step := range []int{1, 3} {
		var deleted int64
		var at ledger.Cursor
		for more := true; more; {
			n, next, again, err := s.Prune(t.Context(), keep, at, step)
			require.NoError(t, err)
			deleted, at, more = deleted+n, next, again
		}
		if step == 1 {
			require.EqualValues(t, gone, deleted)
		} else {
			require.Zero(t, deleted)
		}
	}
	var left []uuid.UUID
	require.NoError(t, db.SelectContext(t.Context(), &left, `select id from tasks`))
	require.Len(t, left, len(want))
	for _, id := range left {
		require.True(t, want[id], fmt.Sprint(id))
	}
}
