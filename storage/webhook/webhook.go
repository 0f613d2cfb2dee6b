// Package webhook stores webhooks, the events that they want, and the deliveries of
// these with what came back.
//
// Emit is how an event begins, in the transaction of its cause: it writes the event
// with a delivery for each webhook that wants it, and a task webhook:deliver for each
// of these webhooks. One such task of a webhook is open at a time. It sends what is
// due (Load, Record), and Continue ends it: what is pending still gets a next task,
// at the time when the first of it is due. Emit makes that time earlier.
//
// A transaction that ends a task locks the webhook's row first, and one that adds a
// delivery shares that lock by the foreign key. So no delivery is without a task: the
// one that comes first is seen by the other.
//
// A failed delivery is tried again for 24 hours, each time later. A webhook whose
// address gives no answer, or only failures, is put off as a whole (retry_at), and
// then tried with a single delivery. One that failed for five days, or whose address
// answered 410, is suspended: its deliveries fail, and it gets no events.
//
// Secrets are stored as package seal encrypts them. Errors are those of package
// storage; ErrNoAccess is for an admin of teams who changes what is not theirs alone.
package webhook

import (
	"errors"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Action is what a webhook can want to hear of.
type Action string

// The actions. Test is that of a test delivery, which no webhook needs to want.
const (
	Upload     Action = "upload"
	Download   Action = "download"
	Crash      Action = "crash"
	CrashGroup Action = "crash-group"
	CrashRule  Action = "crash-rule"
	Feedback   Action = "feedback"
	NewUDID    Action = "new-udid"
	Run        Action = "run"
	Schedule   Action = "schedule"
	Gate       Action = "gate"
	Test       Action = "test"
)

// Actions are those that a webhook can want.
func Actions() []Action {
	return []Action{Upload, Download, Crash, CrashGroup, CrashRule, Feedback, NewUDID, Run, Schedule, Gate}
}

// Status of a webhook.
type Status string

// The states of a webhook.
const (
	Active    Status = "active"
	Suspended Status = "suspended"
)

// The kind of the tasks that deliver, as package tasks has it, and its queues: Slow
// is for webhooks whose last attempt failed.
const (
	TaskKind     = "webhook:deliver"
	Queue        = "webhook"
	SlowQueue    = "webhook-slow"
	TaskAttempts = 20
)

// Lifetime is how long a delivery is tried.
const Lifetime = 24 * time.Hour

// ErrNoAccess means that the webhook hears of apps that the writer's teams do not have.
var ErrNoAccess = errors.New("a team admin manages webhooks that are limited to apps of the team")

// Webhook is a stored webhook.
type Webhook struct {
	ID              int64          `db:"id"`
	OrganizationID  int64          `db:"organization_id"`
	Name            string         `db:"name"`
	URL             string         `db:"url"`
	Actions         pq.StringArray `db:"actions"`
	ProjectIDs      pq.Int64Array  `db:"project_ids"`
	Status          Status         `db:"status"`
	SuspendedAt     *time.Time     `db:"suspended_at"`
	SuspendedReason string         `db:"suspended_reason"`
	Secret          []byte         `db:"secret"`        // sealed
	FormerSecret    []byte         `db:"former_secret"` // sealed; nil: none
	FormerUntil     *time.Time     `db:"former_until"`
	Version         int            `db:"version"`
	Failures        int            `db:"failures"`
	FailingSince    *time.Time     `db:"failing_since"`
	RetryAt         *time.Time     `db:"retry_at"`
	LastSuccessAt   *time.Time     `db:"last_success_at"`
	Skipped         int64          `db:"skipped"`
	SkippedAt       *time.Time     `db:"skipped_at"`
	CreatedAt       time.Time      `db:"created_at"`
	UpdatedAt       time.Time      `db:"updated_at"`
}

const columns = `id, organization_id, name, url, actions, project_ids, status, suspended_at, suspended_reason, secret,
	former_secret, former_until, version, failures, failing_since, retry_at, last_success_at, skipped, skipped_at,
	created_at, updated_at`

// wants reports whether the webhook is to hear of an event. An event of no app is for
// webhooks of all apps; a new device belongs to a person and passes every limit.
func (w *Webhook) wants(e *Event) bool {
	if !slices.Contains(w.Actions, string(e.Action)) {
		return false
	}
	return len(w.ProjectIDs) == 0 || e.Action == NewUDID || slices.Contains(w.ProjectIDs, e.ProjectID)
}

// ParseAction returns the action of a name; false when there is none.
func ParseAction(name string) (Action, bool) {
	a := Action(name)
	return a, slices.Contains(Actions(), a)
}

func unknownAction(name string) error {
	known := ""
	for i, a := range Actions() {
		if i > 0 {
			known += ", "
		}
		known += string(a)
	}
	return storage.Invalid("actions", "%q is no action; there are %s", storage.Cut(name, 40), known)
}
