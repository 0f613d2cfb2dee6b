package testcase

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// Healings are the handlers of what runs have healed.
type Healings struct{ *handler.Base }

// healingView is a selector that found the element of a step whose own selector found
// nothing, or for a drift the element that was found in place of the step's. decision is null while it is open.
type healingView struct {
	ID            uuid.UUID              `json:"id"`
	Kind          string                 `json:"kind"`
	TestCaseID    string                 `json:"testCaseId"`
	StepID        string                 `json:"stepId"`
	State         authoring.HealingState `json:"state"`
	From          step.Selector          `json:"from"`
	To            step.Selector          `json:"to"`
	Applied       bool                   `json:"applied"`
	Score         float64                `json:"score"`
	Reason        string                 `json:"reason"`
	RevisionID    string                 `json:"revisionId"`
	LastRunID     uuid.UUID              `json:"lastRunId"`
	Count         int                    `json:"count"`
	FirstSeenDate string                 `json:"firstSeenDate"`
	LastSeenDate  string                 `json:"lastSeenDate"`
	Decision      *decisionView          `json:"decision"`
}

// decisionView is who accepted or refused a healing. revisionId is "" unless it was
// accepted.
type decisionView struct {
	UserID     uuid.UUID `json:"userId"`
	Date       string    `json:"date"`
	RevisionID string    `json:"revisionId"`
}

func viewHealing(h *authoring.Healing) healingView {
	view := healingView{ID: h.ID, Kind: h.Kind, TestCaseID: h.CaseID, StepID: h.StepID, State: h.State, From: h.From,
		To: h.To, Applied: h.Applied,
		Score: h.Score, Reason: h.Reason, RevisionID: h.RevisionID, LastRunID: h.RunID, Count: h.Seen,
		FirstSeenDate: answer.Stamp(h.FirstSeen), LastSeenDate: answer.Stamp(h.LastSeen)}
	if h.Decider != nil {
		view.Decision = &decisionView{UserID: *h.Decider, Date: answer.StampOnce(h.DecidedAt), RevisionID: h.AcceptedRevisionID}
	}
	return view
}

// List serves GET /testcases/{id}/healings, the one seen last first. Parameters: state
// (OPEN, ACCEPTED, REFUSED), kind (healing, drift), skip, limit.
func (h Healings) List(c *gin.Context) error {
	q := request.QueryOf(c)
	f := authoring.HealingFilter{State: authoring.HealingState(q.Values.Get("state")), Kind: q.Values.Get("kind"), Page: q.Page()}
	if f.State != "" && !slices.Contains(authoring.HealingStates, f.State) {
		q.Wrong(&storage.InvalidError{Field: "state", Msg: "must be OPEN, ACCEPTED or REFUSED"})
	}
	if f.Kind != "" && !slices.Contains(authoring.HealingKinds, f.Kind) {
		q.Wrong(&storage.InvalidError{Field: "kind", Msg: "must be healing or drift"})
	}
	if q.Err != nil {
		return q.Err
	}
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	f.CaseID = row.ID
	rows, total, err := authoring.Healings(c.Request.Context(), h.DB, f)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, viewHealing))
}

// Get serves GET /testcases/{id}/healings/{healing}.
func (h Healings) Get(c *gin.Context) error {
	row, id, err := h.named(c)
	if err != nil {
		return err
	}
	healing, err := authoring.HealingByID(c.Request.Context(), h.DB, row.ID, id)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, viewHealing(healing))
}

// named reads the case of the path, and the id of the healing.
func (h Healings) named(c *gin.Context) (*authoring.Case, uuid.UUID, error) {
	id, err := request.UUIDParam(c, "healingId")
	if err != nil {
		return nil, id, err
	}
	row, err := h.CaseOf(c)
	return row, id, problem.Coded(err, problem.TestCase)
}

// Decide serves POST /testcases/{id}/healings/{healing}. Member: action. accept gives
// the step the selector that found its element, or the fingerprint of what was found, by
// a new revision; refuse keeps runs from healing the step so again.
func (h Healings) Decide(c *gin.Context) error {
	row, id, err := h.named(c)
	if err != nil {
		return err
	}
	var in struct {
		Action string `json:"action"`
	}
	if err := h.Read(c, &in); err != nil {
		return err
	}
	do := map[string]func(context.Context, *storage.Tx, account.Writer, string, uuid.UUID) (*authoring.Healing, error){
		"accept": authoring.AcceptHealing, "refuse": authoring.RefuseHealing}[in.Action]
	if do == nil {
		return problem.Member("action", "must be accept or refuse")
	}
	healing, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Healing, error) {
		return do(ctx, tx, w, row.ID, id)
	})
	if err != nil {
		return err
	}
	if healing.State == authoring.HealingAccepted {
		if err := h.warnOfGroup(c, row, healing); err != nil {
			return err
		}
	}
	return answer.Data(c, http.StatusOK, viewHealing(healing))
}
