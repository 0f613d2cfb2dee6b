package authoring_test

import (
	"context"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	api "github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// router serves the handlers under the actions that the route list gives them.
func (w *world) router(cfg api.Config) *gin.Engine {
	h, err := api.New(cfg)
	require.NoError(w.t, err)
	g := gin.New()
	g.ContextWithFallback = true
	for _, r := range []struct {
		method, path string
		action       auth.Action
		handle       gin.HandlerFunc
	}{
		{"GET", "/testcases", auth.ReadTests, h.Cases},
		{"GET", "/testcases/:id", auth.ReadTests, h.Case},
		{"DELETE", "/testcases/:id", auth.ChangeTests, h.DeleteCase},
		{"POST", "/testcases/:id/run", auth.RunTests, h.RunCase},
		{"POST", "/testcases/:id/run/:revisionId", auth.RunTests, h.RunRevision},
		{"POST", "/testcases/:id/rename", auth.ChangeTests, h.RenameCase},
		{"POST", "/testcases", auth.ChangeTests, h.CreateCase},
		{"GET", "/testcases/:id/runs", auth.ReadTests, h.Runs},
		{"GET", "/testcases/:id/runs/:runId", auth.ReadTests, h.Run},
		{"POST", "/testcases/:id/runs/:runId/cancel", auth.RunTests, h.CancelRun},
		{"GET", "/testcases/:id/code", auth.ReadTests, h.Code},
		{"GET", "/testcases/:id/code/targets", auth.ReadTests, h.CodeTargets},
		{"GET", "/files/:id", auth.ReadTests, h.File},
		{"GET", "/testsuites", auth.ReadTests, h.Suites},
		{"POST", "/testsuites", auth.ChangeTests, h.CreateSuite},
		{"GET", "/testsuites/:id", auth.ReadTests, h.Suite},
		{"POST", "/testsuites/:id", auth.ChangeTests, h.UpdateSuite},
		{"DELETE", "/testsuites/:id", auth.ChangeTests, h.DeleteSuite},
		{"POST", "/testsuites/:id/run", auth.RunTests, h.RunSuite},
		{"GET", "/testsuites/:id/runs", auth.ReadTests, h.SuiteRuns},
		{"GET", "/testsuites/:id/runs/:runId", auth.ReadTests, h.SuiteRun},
		{"POST", "/testsuites/:id/runs/:runId/cancel", auth.RunTests, h.CancelSuiteRun},
		{"GET", "/test-schedules", auth.ReadTests, h.Schedules},
		{"POST", "/test-schedules", auth.ChangeTests, h.CreateSchedule},
		{"GET", "/test-schedules/:id", auth.ReadTests, h.Schedule},
		{"POST", "/test-schedules/:id", auth.ChangeTests, h.UpdateSchedule},
		{"DELETE", "/test-schedules/:id", auth.ChangeTests, h.DeleteSchedule},
		{"POST", "/test-schedules/:id/enable", auth.ChangeTests, h.EnableSchedule},
		{"POST", "/test-schedules/:id/disable", auth.ChangeTests, h.DisableSchedule},
		{"POST", "/test-schedules/:id/run", auth.RunTests, h.RunSchedule},
		{"GET", "/test-schedules/:id/runs", auth.ReadTests, h.ScheduleRuns},
		{"GET", "/variables", auth.ReadTests, h.Variables},
		{"POST", "/variables", auth.ChangeVariables, h.CreateVariable},
		{"GET", "/variables/:id", auth.ReadTests, h.Variable},
		{"PATCH", "/variables/:id", auth.ChangeVariables, h.UpdateVariable},
		{"DELETE", "/variables/:id", auth.ChangeVariables, h.DeleteVariable},
		{"GET", "/tunnels", auth.ReadTests, h.Tunnels},
		{"POST", "/tunnels", auth.ManageTunnels, h.CreateTunnel},
		{"GET", "/tunnels/:name", auth.ReadTests, h.Tunnel},
		{"DELETE", "/tunnels/:name", auth.ManageTunnels, h.DeleteTunnel},
	} {
		rule, ok := auth.Table()[r.action]
		require.True(w.t, ok)
		g.Handle(r.method, prefix+r.path, func(c *gin.Context) {
			ctx := c.Request.Context()
			if err := rule.Allow(auth.CallerOf(ctx)); err != nil {
				respond.Authoring(c, err)
				return
			}
			c.Request = c.Request.WithContext(auth.WithCaller(ctx, auth.CallerOf(ctx), r.action))
			r.handle(c)
		})
	}
	return g
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
