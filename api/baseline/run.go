package baseline

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
)

// acceptRun serves POST /testcases/{id}/runs/{runId}/baselines/accept: all pictures of the run
// that are no baselines yet.
func (h *Handlers) acceptRun(c *gin.Context) error {
	if err := body.ReadNone(c); err != nil {
		return err
	}
	_, got, err := h.runOf(c)
	if err != nil {
		return err
	}
	list, err := baseline.OfRun(c.Request.Context(), h.cfg.DB, auth.Organization(c), got.ID)
	if err != nil {
		return err
	}
	return h.acceptSeen(c, list)
}

// acceptSuiteRun serves POST /testsuites/{id}/runs/{runId}/baselines/accept: those of all its
// cases.
func (h *Handlers) acceptSuiteRun(c *gin.Context) error {
	if err := body.ReadNone(c); err != nil {
		return err
	}
	id, err := h.suiteRunOf(c)
	if err != nil {
		return err
	}
	list, err := baseline.OfSuiteRun(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return h.acceptSeen(c, list)
}

// acceptSeen accepts pictures. What is above the bound of one request stays, and the answer
// says so.
func (h *Handlers) acceptSeen(c *gin.Context, seen []baseline.Seen) error {
	more := len(seen) > baseline.MaxOfRun
	seen = seen[:min(len(seen), baseline.MaxOfRun)]
	var list []baseline.Baseline
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		list, err = baseline.AcceptSeen(ctx, tx, w, seen)
		return err
	})
	if err != nil {
		return err
	}
	return data(c, gin.H{"items": h.views(list), "total": len(list), "more": more})
}
