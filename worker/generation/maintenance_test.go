package generation

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// periodic claims a new task of a maintenance kind.
func (w *world) periodic(kind tasks.Kind) *worker.Claim {
	w.t.Helper()
	task := tasks.NewMaintenance(kind)
	_, err := ledger.Insert(w.t.Context(), w.db, task)
	require.NoError(w.t, err)
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: task.ID, Kind: kind.Name, Worker: "test"})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	return worker.NewClaim(w.db, claimed)
}

func TestMaintenanceEndsWhatLostItsTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dead, cancelled, missing, going := w.newGeneration("x"), w.newGeneration("x"), w.newGeneration("x"), w.newGeneration("x")
	clock := time.Now()
	m := NewMaintenance(w.db)
	m.now = func() time.Time { return clock }
	pending, err := m.Pending(t.Context())
	require.NoError(t, err)
	require.False(t, pending)
	w.exec(`update tasks set state = 'dead' where id = $1`, dead)
	w.exec(`update tasks set state = 'cancelled' where id = $1`, cancelled)
	w.exec(`delete from tasks where id = $1`, missing)
	pending, err = m.Pending(t.Context())
	require.NoError(t, err)
	require.False(t, pending, "looked for once in a while")
	clock = clock.Add(lostEvery)
	pending, err = m.Pending(t.Context())
	require.NoError(t, err)
	require.True(t, pending)
	claim := w.periodic(tasks.GenerationMaintenance)
	require.NoError(t, m.Handle(t.Context(), claim))
	require.JSONEq(t, `{"overdue":0,"lost":2}`, string(*w.task(claim.Tasks[0].ID).Result))
	require.Equal(t, CodeWorkerLost, w.code(dead))
	require.Equal(t, CodeCancelled, w.code(cancelled))
	w.exec(`update test_generations set accepted_at = now() - interval '2 minutes'`)
	require.NoError(t, m.Handle(t.Context(), w.periodic(tasks.GenerationMaintenance)))
	require.Equal(t, CodeWorkerLost, w.code(missing))
	g, _ := w.read(going)
	require.Equal(t, store.Queued, g.State)
}

// Failed generations go with their files when they are old; screenshots of a case stay
// with it.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, err := NewRetention(w.db, w.objects, 24*time.Hour, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, err = NewRetention(w.db, w.objects, 0, nil)
	require.Error(t, err)
	completed := w.newGeneration("x")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(completed)))
	w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
		result, err := clicks(ctx, j)
		result.Code = CodeStepFailed
		return result, err
	})
	failed := w.newGeneration("x")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(failed)))
	open := w.newGeneration("x")
	require.Len(t, w.stored(), 2)
	g, c := w.read(completed)

	require.NoError(t, r.Handle(t.Context(), w.periodic(tasks.GenerationRetention)))
	require.Len(t, w.stored(), 2)
	w.exec(`update test_generations set accepted_at = now() - interval '2 days'`)
	claim := w.periodic(tasks.GenerationRetention)
	require.NoError(t, r.Handle(t.Context(), claim))
	require.JSONEq(t, `{"generations":2,"files":0,"spending":0}`, string(*w.task(claim.Tasks[0].ID).Result))
	require.Equal(t, []string{c.Files[0].Key}, w.stored())
	_, err = store.FileByID(t.Context(), w.db, w.writer.OrganizationID, c.Files[0].ID)
	require.NoError(t, err)
	_, err = store.ByID(t.Context(), w.db, w.writer.OrganizationID, failed)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _ = w.read(open)

	w.must(func(ctx context.Context, tx *storage.Tx) error {
		return authoring.DeleteCase(ctx, tx, w.writer, g.CaseID)
	})
	require.NoError(t, r.Handle(t.Context(), w.periodic(tasks.GenerationRetention)))
	require.Empty(t, w.stored())
	require.Zero(t, w.number(`select count(*) from generation_files`))
}

// A screenshot stays for as long as a revision shows it.
func TestScreenshotsOfRevisions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newGeneration("x")
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(id)))
	g, captured := w.read(id)
	c, err := authoring.CaseByID(t.Context(), w.db, w.writer.OrganizationID, g.CaseID)
	require.NoError(t, err)
	refine := func(keep bool) {
		w.handler.Author = writes(func(ctx context.Context, j Job) (Result, error) {
			result := Result{Steps: []step.Step{clickOn(uuid.NewString())}}
			if keep {
				result.Steps = append(result.Steps, j.Base.Steps[len(j.Base.Steps)-1])
			}
			return result, nil
		})
		next := w.newGeneration("x", func(n *store.New) { n.Refines = c })
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(next)))
		got, _ := w.read(next)
		require.Equal(t, store.Completed, got.State)
	}
	w.exec(`update test_revisions set number = $1`, authoring.MaxRevisions) // as if there had been so many
	refine(true)
	require.Equal(t, []string{captured.Files[0].Key}, w.stored(), "the latest revision shows it")
	require.Equal(t, 1, w.number(`select count(*) from generation_files`))
	refine(false)
	require.Len(t, w.stored(), 1, "the revision before it does")
	w.exec(`update test_revisions set number = $1 where number > $2`, 3*authoring.MaxRevisions, authoring.MaxRevisions+1)
	refine(false)
	require.Empty(t, w.stored())
	require.Zero(t, w.number(`select count(*) from generation_files`))
}

func TestSpending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limits := store.SpendingLimits{Day: 100, Organization: 60}
	one, other := w.writer.OrganizationID, w.other.OrganizationID
	first, err := store.Reserve(t.Context(), w.db, limits, one, 50, 7)
	require.NoError(t, err)
	var over *store.OverBudgetError
	_, err = store.Reserve(t.Context(), w.db, limits, one, 11, 1)
	require.ErrorAs(t, err, &over)
	require.True(t, over.Organization)
	_, err = store.Reserve(t.Context(), w.db, limits, other, 51, 1)
	require.ErrorAs(t, err, &over)
	require.False(t, over.Organization)
	require.NoError(t, first.Settle(t.Context(), w.db, 20, 3))
	_, err = store.Reserve(t.Context(), w.db, limits, one, 40, 1)
	require.NoError(t, err)
	_, err = store.Reserve(t.Context(), w.db, limits, other, 40, 1)
	require.NoError(t, err)
	sums := map[int64][3]int64{}
	var rows []struct {
		Organization int64 `db:"organization_id"`
		MicroUSD     int64 `db:"micro_usd"`
		Tokens       int64 `db:"tokens"`
		Calls        int64 `db:"calls"`
	}
	require.NoError(t, w.db.SelectContext(t.Context(), &rows, `select organization_id, micro_usd, tokens, calls from model_spending`))
	for _, r := range rows {
		sums[r.Organization] = [3]int64{r.MicroUSD, r.Tokens, r.Calls}
	}
	require.Equal(t, map[int64][3]int64{0: {100, 5, 3}, one: {60, 4, 2}, other: {40, 1, 1}}, sums)
	_, err = store.Reserve(t.Context(), w.db, store.SpendingLimits{}, one, 1_000_000, 1)
	require.NoError(t, err, "no bound")
	w.exec(`update model_spending set day = day - 500`)
	n, err := store.ForgetSpending(t.Context(), w.db, time.Now().Add(-keepSpending))
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
}
