// Package generation serves the generation of tests: a sentence that becomes a case, or a new
// revision of one.
//
// All that is known before a browser opens is checked when a generation starts: target, tunnel,
// app and address. The answer is 202 with the address of the status; the deadline counts from
// there. Whoever reads a generation whose time is over ends it, as where no worker runs, so that
// nobody waits longer than was asked for. A failed one shows what it captured.
package generation

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/tasks"
)

// Generations are the handlers of tests that are written from a sentence.
type Generations struct{ *handler.Base }

// Start serves POST /testcases/generate. Members: name, testSuiteId, teamId, tags,
// runSettings (target, testUrl, scTunnelName), promptSettings (intent, maxSteps),
// timeout.
func (h Generations) Start(c *gin.Context) error {
	var in generateBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	return h.once(c, "", func(ctx context.Context, organization int64) (generation.New, error) {
		settings.WarnOfBuildName(c, in.RunSettings, "")
		return h.readNew(ctx, organization, &in)
	})
}

// Refine serves POST /testcases/{id}/generate: a further sentence makes a new revision.
// Members: runSettings (target), promptSettings (intent, maxSteps), timeout.
func (h Generations) Refine(c *gin.Context) error {
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	var in refineBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	return h.once(c, row.ID, func(ctx context.Context, organization int64) (generation.New, error) {
		return h.readRefinement(ctx, organization, &in, row)
	})
}

// once starts what is read, unless a request with its key has started one already, and
// writes where its status is.
func (h Generations) once(c *gin.Context, caseID string, readNew func(context.Context, int64) (generation.New, error)) error {
	ctx, w, key := c.Request.Context(), auth.Writer(c), c.GetHeader(route.IdempotencyKey)
	id, err := h.seen(ctx, w.OrganizationID, caseID, key)
	if err != nil {
		return err
	}
	if id == uuid.Nil {
		n, err := readNew(ctx, w.OrganizationID)
		if err != nil {
			return err
		}
		n.Key = key
		if id, err = h.write(ctx, w, caseID, n); err != nil {
			return problem.InBody(err, problem.CodeSuiteNotFound)
		}
	}
	prefix := answer.BasePath
	if strings.HasPrefix(c.Request.URL.Path, answer.AliasPath) {
		prefix = answer.AliasPath
	}
	c.Header("Location", h.PublicURL+prefix+"/testcases/generate/"+id.String())
	return answer.Data(c, http.StatusAccepted, gin.H{"taskId": id})
}

// seen reads the id of the generation that a request with the key has started;
// uuid.Nil when there is none.
func (h Generations) seen(ctx context.Context, organization int64, caseID, key string) (uuid.UUID, error) {
	if key == "" {
		return uuid.Nil, nil
	}
	id, err := generation.SeenKey(ctx, h.DB, organization, caseID, key)
	if errors.Is(err, storage.ErrNotFound) {
		return uuid.Nil, nil
	}
	return id, err
}

// write stores the generation with its task. When another request has used the key at
// the same time it returns that one's generation.
func (h Generations) write(ctx context.Context, w account.Writer, caseID string, n generation.New) (id uuid.UUID, err error) {
	err = h.Count(ctx, w.OrganizationID, func(tx *storage.Tx) (runs int, err error) {
		if id, err = generation.Start(ctx, tx, w, n); err != nil {
			return 0, err
		}
		return 1, h.Queue.Insert(ctx, tx, tasks.NewTestGenerate(w.OrganizationID, respond.RequestID(ctx), id))
	})
	if !errors.Is(err, idempotency.ErrSeen) {
		return id, err
	}
	if id, err = h.seen(ctx, w.OrganizationID, caseID, n.Key); err != nil {
		return id, err
	}
	if id == uuid.Nil {
		return id, storage.ErrConflict // it was forgotten since
	}
	return id, nil
}

// Get serves GET /testcases/generate/{taskId}. Parameters: wait (seconds: the answer
// comes when the generation has ended or the time is over), detail (1: also steps and
// reasoning so far).
func (h Generations) Get(c *gin.Context) error {
	id, err := request.UUIDParam(c, "taskId")
	if err != nil {
		return err
	}
	most, err := wait.For(c)
	if err != nil {
		return problem.InvalidQuery(err)
	}
	q := request.QueryOf(c)
	detailed := q.On("detail")
	if q.Err != nil {
		return q.Err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	g, err := h.current(ctx, organization, id)
	if err != nil {
		return err
	}
	if most > 0 && !g.State.Terminal() {
		if err := h.Generations.Wait(ctx, organization, id, most); err != nil {
			return err
		}
		if g, err = h.current(ctx, organization, id); err != nil {
			return err
		}
	}
	return h.show(c, g, detailed)
}

// current reads a generation. One that has not ended though its time is over, as where
// no worker runs, is ended first: nobody waits for it longer than was asked for.
func (h Generations) current(ctx context.Context, organization int64, id uuid.UUID) (*generation.Generation, error) {
	g, err := generation.ByID(ctx, h.DB, organization, id)
	if err != nil || !g.Late {
		return g, err
	}
	err = h.DB.InTx(ctx, func(tx *storage.Tx) error {
		ended, err := generation.EndLate(ctx, tx, id)
		if err != nil {
			return err
		}
		return handler.Stop(ctx, tx, organization, ended)
	})
	if err != nil {
		return nil, err
	}
	return generation.ByID(ctx, h.DB, organization, id)
}

// List serves GET /testcases/generate, newest first. Parameters: status, skip, limit.
func (h Generations) List(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) generation.Filter {
		return generation.Filter{OrganizationID: auth.Organization(c), Page: q.Page(),
			State: request.OneOf(q, "status", generation.Queued, generation.InProgress, generation.Completed, generation.Failed)}
	}, generation.List, viewListed)
}

// Cancel serves DELETE /testcases/generate/{taskId}; 409 when the generation has ended.
func (h Generations) Cancel(c *gin.Context) error {
	id, err := request.UUIDParam(c, "taskId")
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := generation.Cancel(ctx, tx, w, id); err != nil {
			return err
		}
		return handler.Stop(ctx, tx, w.OrganizationID, []uuid.UUID{id})
	})
	if errors.Is(err, storage.ErrConflict) {
		return problem.Refused(http.StatusConflict, problem.CodeGenerationEnded, "the generation has ended")
	}
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
