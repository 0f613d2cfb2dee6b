package authoring

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// healings are the handlers of what runs have healed.
type healings struct{ *room }

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
		FirstSeenDate: stamp(h.FirstSeen), LastSeenDate: stamp(h.LastSeen)}
	if h.Decider != nil {
		view.Decision = &decisionView{UserID: *h.Decider, Date: stampOnce(h.DecidedAt), RevisionID: h.AcceptedRevisionID}
	}
	return view
}

// list serves GET /testcases/{id}/healings, the one seen last first. Parameters: state
// (OPEN, ACCEPTED, REFUSED), kind (healing, drift), skip, limit.
func (h healings) list(c *gin.Context) error {
	q := queryOf(c)
	f := authoring.HealingFilter{State: authoring.HealingState(q.values.Get("state")), Kind: q.values.Get("kind"), Page: q.page()}
	if f.State != "" && !slices.Contains(authoring.HealingStates, f.State) {
		q.wrong(&storage.InvalidError{Field: "state", Msg: "must be OPEN, ACCEPTED or REFUSED"})
	}
	if f.Kind != "" && !slices.Contains(authoring.HealingKinds, f.Kind) {
		q.wrong(&storage.InvalidError{Field: "kind", Msg: "must be healing or drift"})
	}
	if q.err != nil {
		return q.err
	}
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	f.CaseID = row.ID
	rows, total, err := authoring.Healings(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewHealing))
}

// get serves GET /testcases/{id}/healings/{healing}.
func (h healings) get(c *gin.Context) error {
	row, id, err := h.named(c)
	if err != nil {
		return err
	}
	healing, err := authoring.HealingByID(c.Request.Context(), h.cfg.DB, row.ID, id)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, viewHealing(healing))
}

// named reads the case of the path, and the id of the healing.
func (h healings) named(c *gin.Context) (*authoring.Case, uuid.UUID, error) {
	id, err := uuidParam(c, "healingId")
	if err != nil {
		return nil, id, err
	}
	row, err := h.caseOf(c)
	return row, id, problem(err, testCase)
}

// decide serves POST /testcases/{id}/healings/{healing}. Member: action. accept gives
// the step the selector that found its element, or the fingerprint of what was found, by
// a new revision; refuse keeps runs from healing the step so again.
func (h healings) decide(c *gin.Context) error {
	row, id, err := h.named(c)
	if err != nil {
		return err
	}
	var in struct {
		Action string `json:"action"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	do := map[string]func(context.Context, *storage.Tx, account.Writer, string, uuid.UUID) (*authoring.Healing, error){
		"accept": authoring.AcceptHealing, "refuse": authoring.RefuseHealing}[in.Action]
	if do == nil {
		return member("action", "must be accept or refuse")
	}
	var healing *authoring.Healing
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		healing, err = do(ctx, tx, w, row.ID, id)
		return err
	})
	if err != nil {
		return err
	}
	if healing.State == authoring.HealingAccepted {
		if err := h.warnOfGroup(c, row, healing); err != nil {
			return err
		}
	}
	return data(c, http.StatusOK, viewHealing(healing))
}
