// Package ledger keeps the tasks of Slipway: one row in PostgreSQL for each
// piece of asynchronous work, from the transaction that asks for it to its end.
//
// The row is the truth. Redis holds deliveries, each the permission to work on one task
// of a queue: the relay sees to it that as many wait there as tasks are due, up to a
// bound. A worker that receives one chooses the organization whose turn it is, and
// claims its first task. A claim raises attempt, and attempt is
// the fencing token: whatever a worker writes is written in one transaction with
// Finish, which refuses a token that is no longer the row's (ErrStale). So a task
// takes effect in the database exactly once, and outside it at least once.
//
// A worker keeps the heartbeat of its rows going; Rescue returns rows whose
// heartbeat expired. Rows that fail are due again after their kind's backoff until
// max_attempts, then dead: kept, readable, and retried by hand. Losses of a worker are
// counted apart, up to MaxLosses.
//
// Times are the database's: the clocks of workers and schedulers do not matter.
package ledger

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// State of a task. Succeeded, Dead and Cancelled are terminal.
type State string

// The states, as they stand in the database and in answers.
const (
	Queued    State = "queued"
	Running   State = "running"
	Succeeded State = "succeeded"
	Dead      State = "dead"
	Cancelled State = "cancelled"
)

// Terminal reports whether the state is an end.
func (s State) Terminal() bool { return s == Succeeded || s == Dead || s == Cancelled }

// States are all states, for validation and metrics.
func States() []State { return []State{Queued, Running, Succeeded, Dead, Cancelled} }

// Task is one row.
type Task struct {
	ID              uuid.UUID        `db:"id"`
	Kind            string           `db:"kind"`
	Queue           string           `db:"queue"`
	OrganizationID  *int64           `db:"organization_id"` // nil: maintenance of the installation
	Payload         json.RawMessage  `db:"payload"`
	Weight          int              `db:"weight"`
	ConcurrencyKey  *string          `db:"concurrency_key"`
	DedupeKey       *string          `db:"dedupe_key"`
	RequestID       string           `db:"request_id"`
	State           State            `db:"state"`
	RunAt           time.Time        `db:"run_at"`
	Priority        int              `db:"priority"`
	Attempt         int              `db:"attempt"`
	MaxAttempts     int              `db:"max_attempts"`
	Losses          int              `db:"losses"` // claims whose worker was lost
	Worker          *string          `db:"worker"`
	HeartbeatAt     *time.Time       `db:"heartbeat_at"`
	CancelRequested bool             `db:"cancel_requested"`
	Error           *string          `db:"error"`
	Failures        *json.RawMessage `db:"failures"` // see Failed
	Result          *json.RawMessage `db:"result"`
	CreatedAt       time.Time        `db:"created_at"`
	StartedAt       *time.Time       `db:"started_at"`
	FinishedAt      *time.Time       `db:"finished_at"`
}

const columns = `id, kind, queue, organization_id, payload, weight, concurrency_key,
	dedupe_key, request_id, state, priority, run_at, attempt, max_attempts, losses,
	worker, heartbeat_at, cancel_requested, error, failures, result, created_at, started_at, finished_at`

// Internal stands before an error that is for operators only.
const Internal = "internal: "

// PublicError is the error of the last attempt as members may read it.
func (t *Task) PublicError() *string {
	if t.Error == nil {
		return nil
	}
	public := publicError(*t.Error)
	return &public
}

// HiddenError is what members read in place of an internal error.
const HiddenError = "internal error; the log has more under the task's id"

func publicError(text string) string {
	if strings.HasPrefix(text, Internal) {
		return HiddenError
	}
	return text
}

// Token returns the claim's fencing token.
func (t *Task) Token() Token { return Token{ID: t.ID, Attempt: t.Attempt} }

// Token identifies one claim of one task.
type Token struct {
	ID      uuid.UUID
	Attempt int
}

// Store reads and writes tasks outside of a caller's transaction.
type Store struct{ db *storage.DB }

// New returns a store on the database.
func New(db *storage.DB) *Store { return &Store{db} }

// DB returns the database that the store works on.
func (s *Store) DB() *storage.DB { return s.db }
