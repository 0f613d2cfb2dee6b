package authoring_test

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	api "github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// router serves the room's routes to callers of the context.
func (w *world) router(cfg handler.Config) *gin.Engine {
	h, err := api.New(cfg)
	require.NoError(w.t, err)
	return routetest.Engine(routetest.ByContext, h.Routes()...)
}

// newRun writes a run of a case with one job and its ledger task, and gives the
// id of both.
func (w *world) newRun(caseID string) uuid.UUID {
	w.t.Helper()
	run, job := uuid.New(), uuid.New()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `
			insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name)
			values ($1, $2, $3, $4, $5, $6, 'case', 'build')`, run, w.ours.ID, w.one.ID, caseID, noCase, w.member.UserUUID)
		require.NoError(w.t, err)
		_, err = tx.ExecContext(ctx, `
			insert into test_jobs (id, organization_id, run_id, position, target)
			values ($1, $2, $3, 0, '{"capabilities":{},"isRdc":false}')`, job, w.ours.ID, run)
		require.NoError(w.t, err)
		_, err = ledger.Insert(ctx, tx, tasks.NewTestJob(w.ours.ID, "", job))
		return err
	})
	return job
}

func (w *world) taskState(id uuid.UUID) (state string) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &state, `select state from tasks where id = $1`, id))
	return state
}

func (w *world) jobStatus(id uuid.UUID) (status string) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &status, `select state from test_jobs where id = $1`, id))
	return status
}

// created moves the creation of a row, so that lists have an order to test.
func (w *world) created(table, id, at string) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update `+table+` set created_at = $2 where id::text = $1`, id, at)
	require.NoError(w.t, err)
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}
