package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// A heartbeat between the parts of a claim, or in the commit of one, does not take the tasks
// that ended for lost.
func TestPartsOfAClaim(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	store := ledger.New(db)
	for range 4 {
		_, err := ledger.Insert(t.Context(), db, tasks.NewCrashProcess(0, uuid.New(), 1))
		require.NoError(t, err)
	}
	claimed, err := store.Claim(t.Context(), ledger.ClaimRequest{Kind: tasks.CrashProcess.Name, Worker: "w", Batch: 10, MaxWeight: 100})
	require.NoError(t, err)
	require.Len(t, claimed, 4)
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	all := newHeartbeats(store, time.Second, slog.New(slog.DiscardHandler))
	c := NewClaim(db, claimed)
	c.heartbeats, c.stop = all, stop
	all.add(c.tokens, stop)
	states := func() (n int) {
		require.NoError(t, db.GetContext(t.Context(), &n, `select count(*) from tasks where state = 'succeeded'`))
		return n
	}

	require.NoError(t, c.FinishPart(ctx, 1, func(*storage.Tx) error { all.once(ctx); return nil }))
	all.once(ctx)
	require.NoError(t, ctx.Err())
	require.Equal(t, 1, states())
	require.Len(t, c.Tasks, 3)
	require.Len(t, all.tasks, 3)

	broken := errors.New("broken")
	require.ErrorIs(t, c.FinishPart(ctx, 1, func(*storage.Tx) error { return broken }), broken)
	require.Equal(t, 1, states(), "nothing of a part that failed stays")
	require.Len(t, c.tokens, 3)
	require.Len(t, all.tasks, 3, "and its heartbeats go on")
	all.once(ctx)
	require.NoError(t, ctx.Err())

	// One of the others is lost: the part without it is finished, the next one is not.
	_, err = db.ExecContext(t.Context(), `update tasks set attempt = attempt + 1 where id = $1`, c.tokens[2].ID)
	require.NoError(t, err)
	require.NoError(t, c.FinishPart(ctx, 2, func(*storage.Tx) error { return nil }))
	require.False(t, c.done)
	require.ErrorIs(t, c.FinishPart(ctx, 1, func(*storage.Tx) error { return nil }), storage.ErrStale)
	require.Equal(t, 3, states())
	all.once(ctx)
	require.ErrorIs(t, context.Cause(ctx), errLost)
}

// A heartbeat that the end of the worker cuts off is no failure of the database: a warning
// about one that is away must not come from a program that only stops.
func TestHeartbeatOfAWorkerThatStops(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	var lines bytes.Buffer
	all := newHeartbeats(ledger.New(db), time.Second, slog.New(slog.NewTextHandler(&lines, nil)))
	all.add([]ledger.Token{{ID: uuid.New(), Attempt: 1}}, func(error) {})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	all.once(stopped)
	require.Empty(t, lines.String())

	require.NoError(t, db.Close())
	all.once(t.Context())
	require.Contains(t, lines.String(), "heartbeat failed")
}
