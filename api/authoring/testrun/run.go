// Package testrun serves the runs of test cases and of test suites.
//
// A run is started in four steps: read the caller and the request, resolve targets and tunnel,
// write run, jobs and tasks in one transaction, deliver the tasks. A key of idempotency that was
// seen answers with the run that it started. A run is repeated with what it was given, but for the
// values of variables, which are deleted when a run ends.
//
// A run is read as JSON or, for CI, as JUnit XML, at once or when it has ended (?wait=). Files are
// redirects to signed links. A caller with scopes starts tests only on the site that they were
// written at.
package testrun

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks"
)

// reader reads and shows runs: what the handlers of runs of cases and of suites share.
type reader struct{ *handler.Base }

// Runs are the handlers of the runs of test cases.
type Runs struct{ reader }

// NewRuns returns the handlers of the runs of test cases.
func NewRuns(r *handler.Base) Runs { return Runs{reader{r}} }

// Start serves POST /testcases/{id}/run: the latest revision is run. Members:
// buildName, targets, scTunnelName, testUrl, variables, buildId, environment, retries, rows.
func (h Runs) Start(c *gin.Context) error { return h.startRevision(c, "") }

// StartOf serves POST /testcases/{id}/run/{revision}.
func (h Runs) StartOf(c *gin.Context) error {
	revisionID, err := request.HexParam(c, "revisionId")
	if err != nil {
		return err
	}
	return h.startRevision(c, revisionID)
}

// startRevision runs a revision of the case that the path names; "" is the latest.
func (h Runs) startRevision(c *gin.Context, revisionID string) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	var in runBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	w, key := auth.Writer(c), c.GetHeader(route.IdempotencyKey)
	started, err := h.seen(c.Request.Context(), w.OrganizationID, id, key)
	if err != nil {
		return err
	}
	if started == nil {
		if started, err = h.startNew(c.Request.Context(), w, id, revisionID, key, &in); err != nil {
			return err
		}
	}
	return h.showRun(c, started)
}

// startNew resolves what is to run and starts it.
func (h Runs) startNew(ctx context.Context, w account.Writer, id, revisionID, key string, in *runBody) (*run.Run, error) {
	n := run.NewRun{Key: key}
	var err error
	if n.Case, err = authoring.CaseByID(ctx, h.DB, w.OrganizationID, id); err != nil {
		return nil, err
	}
	if n.Revision, err = authoring.RevisionByID(ctx, h.DB, id, revisionID); err != nil {
		return nil, problem.Coded(err, problem.Revision)
	}
	if len(n.Revision.Steps) == 0 {
		return nil, problem.Refused(http.StatusBadRequest, problem.CodeCaseEmpty, "the test case has no steps")
	}
	env, err := h.EnvironmentFor(ctx, w.OrganizationID, "environment", request.Or(in.Environment, ""), n.Case.TeamID)
	if err != nil {
		return nil, err
	}
	build, resolved, err := resolve(ctx, handler.Targeting{Base: h.Base, Organization: w.OrganizationID}, in, n.Case, env)
	if err != nil {
		return nil, err
	}
	n.BuildName, n.Targets, n.Tunnel = build, resolved.Targets, resolved.Tunnel
	if n.Rows, err = in.rows(); err != nil {
		return nil, err
	}
	recorded := func() ([]string, error) { return []string{recordedAt(&n)}, nil }
	given, values, err := h.inputs(ctx, givenInputs{in.TestURL, in.Variables, in.BuildID, in.Retries, in.Trace}, recorded)
	if err != nil {
		return nil, err
	}
	n.Inputs = given
	if err := n.Enter(h.SealKeys, env, values); err != nil {
		return nil, err
	}
	return h.write(ctx, w, n)
}

// recordedAt is where a test was written: the case's own address, else what its first step opens.
func recordedAt(n *run.NewRun) string {
	if address := n.Case.Settings.TestURL; address != "" {
		return address
	}
	return n.Revision.Steps[0].Tool.Args.URL
}

// firstRows jobs of a run of data rows stand among what people wait for, as in a suite; the
// others go behind.
const firstRows = 5

// write stores the run with the tasks of its jobs. When another request has used the
// key at the same time it returns that one's run.
func (h Runs) write(ctx context.Context, w account.Writer, n run.NewRun) (started *run.Run, err error) {
	err = h.Count(ctx, w.OrganizationID, func(tx *storage.Tx) (runs int, err error) {
		if started, err = run.Start(ctx, tx, w, n); err != nil {
			return 0, err
		}
		var list []*ledger.NewTask
		for i := range started.Jobs {
			task := tasks.NewTestJob(w.OrganizationID, respond.RequestID(ctx), started.Jobs[i].ID)
			if started.Targets > 0 && i >= firstRows {
				task.Priority = ledger.Mass
			}
			list = append(list, task)
		}
		if started.Unfinished() {
			list = append(list, tasks.NewRunRows(w.OrganizationID, respond.RequestID(ctx), started.ID))
		}
		return 1, h.Queue.Insert(ctx, tx, list...)
	})
	if errors.Is(err, idempotency.ErrSeen) {
		if started, err = h.seen(ctx, w.OrganizationID, n.Case.ID, n.Key); started == nil && err == nil {
			err = storage.ErrConflict // it was forgotten since
		}
		return started, err
	}
	return started, err
}

// seen reads the run that a request with the key has started; nil when there is
// none.
func (h Runs) seen(ctx context.Context, organization int64, id, key string) (*run.Run, error) {
	return seenBy(ctx, h.reader, organization, run.RunOperation(id), key, problem.CaseRun, func(seen uuid.UUID) (*run.Run, error) {
		return h.wholeRun(ctx, h.DB, organization, id, seen)
	})
}

// seenBy reads what a request with the key has started; nil when there is none. One that is gone is
// an error with the code of its kind.
func seenBy[R any](ctx context.Context, h reader, organization int64, operation, key string, of problem.Resource,
	read func(id uuid.UUID) (*R, error)) (*R, error) {
	seen, err := h.seenKey(ctx, organization, operation, key)
	if err != nil || seen == uuid.Nil {
		return nil, err
	}
	started, err := read(seen)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problem.Coded(err, of)
	}
	return started, err
}

// seenKey reads the id of what a request with the key has started; uuid.Nil when
// there is none.
func (h reader) seenKey(ctx context.Context, organization int64, operation, key string) (uuid.UUID, error) {
	if key == "" {
		return uuid.Nil, nil
	}
	id, err := run.SeenKey(ctx, h.DB, organization, operation, key)
	if errors.Is(err, storage.ErrNotFound) {
		return uuid.Nil, nil
	}
	return id, err
}
