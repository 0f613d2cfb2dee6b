package testcase

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/quarantine"
)

// quarantineView is a time in which a case does not fail its suites.
type quarantineView struct {
	Reason string `json:"reason"`
	Since  string `json:"since"`
	Until  string `json:"until"`
}

func viewQuarantine(q *authoring.Quarantine) *quarantineView {
	if q == nil {
		return nil
	}
	return &quarantineView{Reason: q.Reason, Since: answer.Stamp(q.Since), Until: answer.Stamp(q.Until)}
}

// proposalView says why a case may belong into quarantine.
type proposalView struct {
	Reason string `json:"reason"`
	Since  string `json:"since"`
}

func viewProposal(p *quarantine.Proposal) *proposalView {
	if p == nil {
		return nil
	}
	return &proposalView{Reason: p.Reason, Since: answer.Stamp(p.Since)}
}

// quarantineBody is what a request says of a quarantine.
type quarantineBody struct {
	Reason *string `json:"reason"`
	Until  *string `json:"until"`
}

// Quarantine serves POST /testcases/{id}/quarantine with the case. Members: reason, until. A case
// that is in quarantine keeps its beginning.
func (h Cases) Quarantine(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	var in quarantineBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	if in.Reason == nil {
		return problem.Member("reason", "is required")
	}
	if in.Until == nil {
		return problem.Member("until", "is required")
	}
	until, err := time.Parse(time.RFC3339, *in.Until)
	if err != nil {
		return problem.Member("until", "must be a time of RFC 3339, such as 2026-12-31T18:00:00Z")
	}
	return h.edit(c, http.StatusOK, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Case, error) {
		if err := quarantine.Put(ctx, tx, w, id, *in.Reason, until); err != nil {
			return nil, err
		}
		return authoring.CaseByID(ctx, tx, w.OrganizationID, id)
	})
}

// EndQuarantine serves DELETE /testcases/{id}/quarantine; 409 when the case is in none.
func (h Cases) EndQuarantine(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return quarantine.End(ctx, tx, w, id)
	})
	if err != nil {
		return problem.Conflict(err, "the test case is in no quarantine")
	}
	return respond.Empty(c, http.StatusNoContent)
}
