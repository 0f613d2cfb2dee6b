package task

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// view is a task in an answer. The payload stays inside: the subject
// says what its ids mean.
type view struct {
	ID             uuid.UUID        `json:"id"`
	Type           string           `json:"type"`
	State          ledger.State     `json:"state"`
	Queue          string           `json:"queue"`
	OrganizationID *int64           `json:"organization_id"`
	Attempt        int              `json:"attempt"`
	MaxAttempts    int              `json:"max_attempts"`
	RunAt          time.Time        `json:"run_at"`
	CreatedAt      time.Time        `json:"created_at"`
	StartedAt      *time.Time       `json:"started_at"`
	FinishedAt     *time.Time       `json:"finished_at"`
	Losses         int              `json:"losses"`
	Priority       string           `json:"priority"`
	Subject        *subject         `json:"subject"`
	Error          *string          `json:"error"`
	Failures       []failure        `json:"failures"`
	Result         *json.RawMessage `json:"result"`
	RequestID      string           `json:"request_id"`
}

// subject is what a task is about.
type subject struct {
	Type string  `json:"type"`
	ID   *string `json:"id"`   // null where the type says it all
	Name *string `json:"name"` // null when it is gone
	Path *string `json:"path"` // null where no request reads it
}

// failure is an attempt that failed. The worker is for operators.
type failure struct {
	Attempt   int        `json:"attempt"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   time.Time  `json:"ended_at"`
	Worker    *string    `json:"worker"`
	Error     string     `json:"error"`
	Lost      bool       `json:"lost"`
}

// priorities are the names of the ranks.
func priorities() map[ledger.Priority]string {
	return map[ledger.Priority]string{ledger.Waited: "waited", ledger.Mass: "mass", ledger.Scheduled: "scheduled"}
}

// viewOf shows a task to those of a scope: what went wrong inside is for
// operators, whose scope is every organization.
func viewOf(t *ledger.Task, s ledger.Scope, about *ledger.Subject) (view, error) {
	operator := s == (ledger.Scope{})
	public := t.PublicError()
	if operator {
		public = t.Error
	}
	failed, err := t.FailedAttempts()
	if err != nil {
		return view{}, err
	}
	failures := make([]failure, len(failed))
	for i, f := range failed {
		failures[i] = failure{Attempt: f.Attempt, StartedAt: utc(f.StartedAt), EndedAt: f.EndedAt.UTC(), Lost: f.Lost, Error: f.PublicError()}
		if operator {
			failures[i].Error, failures[i].Worker = f.Error, f.Worker
		}
	}
	v := view{ID: t.ID, Type: t.Kind, State: t.State, Queue: t.Queue, OrganizationID: t.OrganizationID,
		Attempt: t.Attempt, MaxAttempts: t.MaxAttempts, RunAt: t.RunAt.UTC(), CreatedAt: t.CreatedAt.UTC(),
		StartedAt: utc(t.StartedAt), FinishedAt: utc(t.FinishedAt), Error: public, Result: t.Result,
		RequestID: t.RequestID, Losses: t.Losses, Priority: priorities()[ledger.Priority(t.Priority)], Failures: failures}
	if about != nil {
		v.Subject = &subject{Type: about.Type, ID: given(about.ID), Name: given(about.Name), Path: given(about.Path)}
	}
	return v, nil
}

// given is nil for "".
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// views shows tasks with what they are about.
func (h *Handlers) views(ctx context.Context, list []ledger.Task, s ledger.Scope) ([]view, error) {
	subjects, err := h.store.Subjects(ctx, list)
	if err != nil {
		return nil, err
	}
	shown := make([]view, len(list))
	for i := range list {
		var about *ledger.Subject
		if of, ok := subjects[list[i].ID]; ok {
			about = &of
		}
		if shown[i], err = viewOf(&list[i], s, about); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// respond writes one task.
func (h *Handlers) respond(c *gin.Context, t *ledger.Task, s ledger.Scope) error {
	shown, err := h.views(c.Request.Context(), []ledger.Task{*t}, s)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, oneAnswer{shown[0]})
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
