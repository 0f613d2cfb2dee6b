package authoring

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/tasks"
)

// generations are the handlers of tests that are written from a sentence.
type generations struct{ *room }

// start serves POST /testcases/generate. Members: name, testSuiteId, teamId, tags,
// runSettings (target, testUrl, scTunnelName), promptSettings (intent, maxSteps),
// timeout.
func (h generations) start(c *gin.Context) error {
	var in generateBody
	if err := read(c, &in); err != nil {
		return err
	}
	return h.once(c, "", func(ctx context.Context, organization int64) (generation.New, error) {
		warnOfBuildName(c, in.RunSettings, "")
		return h.readNew(ctx, organization, &in)
	})
}

// refine serves POST /testcases/{id}/generate: a further sentence makes a new revision.
// Members: runSettings (target), promptSettings (intent, maxSteps), timeout.
func (h generations) refine(c *gin.Context) error {
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	var in refineBody
	if err := read(c, &in); err != nil {
		return err
	}
	return h.once(c, row.ID, func(ctx context.Context, organization int64) (generation.New, error) {
		return h.readRefinement(ctx, organization, &in, row)
	})
}

// once starts what is read, unless a request with its key has started one already, and
// writes where its status is.
func (h generations) once(c *gin.Context, caseID string, readNew func(context.Context, int64) (generation.New, error)) error {
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
			return inBody(err, codeSuiteNotFound)
		}
	}
	prefix := basePath
	if strings.HasPrefix(c.Request.URL.Path, aliasPath) {
		prefix = aliasPath
	}
	c.Header("Location", h.cfg.PublicURL+prefix+"/testcases/generate/"+id.String())
	return data(c, http.StatusAccepted, gin.H{"taskId": id})
}

// seen reads the id of the generation that a request with the key has started;
// uuid.Nil when there is none.
func (h generations) seen(ctx context.Context, organization int64, caseID, key string) (uuid.UUID, error) {
	if key == "" {
		return uuid.Nil, nil
	}
	id, err := generation.SeenKey(ctx, h.cfg.DB, organization, caseID, key)
	if errors.Is(err, storage.ErrNotFound) {
		return uuid.Nil, nil
	}
	return id, err
}

// write stores the generation with its task. When another request has used the key at
// the same time it returns that one's generation.
func (h generations) write(ctx context.Context, w account.Writer, caseID string, n generation.New) (id uuid.UUID, err error) {
	err = h.count(ctx, w.OrganizationID, func(tx *storage.Tx) (runs int, err error) {
		if id, err = generation.Start(ctx, tx, w, n); err != nil {
			return 0, err
		}
		return 1, h.cfg.Queue.Insert(ctx, tx, tasks.NewTestGenerate(w.OrganizationID, respond.RequestID(ctx), id))
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

// get serves GET /testcases/generate/{taskId}. Parameters: wait (seconds: the answer
// comes when the generation has ended or the time is over), detail (1: also steps and
// reasoning so far).
func (h generations) get(c *gin.Context) error {
	id, err := uuidParam(c, "taskId")
	if err != nil {
		return err
	}
	most, err := wait.For(c)
	if err != nil {
		return invalidQuery(err)
	}
	q := queryOf(c)
	detailed := q.on("detail")
	if q.err != nil {
		return q.err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	g, err := h.current(ctx, organization, id)
	if err != nil {
		return err
	}
	if most > 0 && !g.State.Terminal() {
		if err := h.cfg.Generations.Wait(ctx, organization, id, most); err != nil {
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
func (h generations) current(ctx context.Context, organization int64, id uuid.UUID) (*generation.Generation, error) {
	g, err := generation.ByID(ctx, h.cfg.DB, organization, id)
	if err != nil || !g.Late {
		return g, err
	}
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		ended, err := generation.EndLate(ctx, tx, id)
		if err != nil {
			return err
		}
		return stop(ctx, tx, organization, ended)
	})
	if err != nil {
		return nil, err
	}
	return generation.ByID(ctx, h.cfg.DB, organization, id)
}

// list serves GET /testcases/generate, newest first. Parameters: status, skip, limit.
func (h generations) list(c *gin.Context) error {
	q := queryOf(c)
	f := generation.Filter{OrganizationID: auth.Organization(c), Page: q.page(),
		State: oneOf(q, "status", generation.Queued, generation.InProgress, generation.Completed, generation.Failed)}
	if q.err != nil {
		return q.err
	}
	rows, total, err := generation.List(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewListed))
}

// cancel serves DELETE /testcases/generate/{taskId}; 409 when the generation has ended.
func (h generations) cancel(c *gin.Context) error {
	id, err := uuidParam(c, "taskId")
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := generation.Cancel(ctx, tx, w, id); err != nil {
			return err
		}
		return stop(ctx, tx, w.OrganizationID, []uuid.UUID{id})
	})
	if errors.Is(err, storage.ErrConflict) {
		return refused(http.StatusConflict, codeGenerationEnded, "the generation has ended")
	}
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// tags serves GET /testcases/tags: the tags of the organization's cases, in
// alphabetical order. Parameters: search (part of a tag), skip, limit.
func (h cases) tags(c *gin.Context) error {
	q := queryOf(c)
	search, page := q.search(), q.page()
	if q.err != nil {
		return q.err
	}
	rows, total, err := authoring.Tags(c.Request.Context(), h.cfg.DB, auth.Organization(c), search, page)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, func(t *authoring.Tag) tagView { return tagView{Name: t.Name, TestCaseCount: t.Cases} }))
}

// tagView is a tag with the number of cases that have it.
type tagView struct {
	Name          string `json:"name"`
	TestCaseCount int    `json:"testCaseCount"`
}
