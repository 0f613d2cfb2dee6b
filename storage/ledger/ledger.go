// Package ledger keeps the tasks of Slipway: one row in PostgreSQL for each
// piece of asynchronous work, from the transaction that asks for it to its end.
//
// The row is the truth. Redis holds deliveries, which point at rows and can be made
// again: the relay marks due rows as delivered and hands them to asynq, a worker
// that receives a delivery claims the row. A claim raises attempt, and attempt is
// the fencing token: whatever a worker writes is written in one transaction with
// Finish, which refuses a token that is no longer the row's (ErrStale). So a task
// takes effect in the database exactly once, and outside it at least once.
//
// A worker keeps the heartbeat of its rows going; Rescue returns rows whose
// heartbeat expired. Rows that fail are due again after their kind's backoff until
// max_attempts, then dead: kept, readable, and retried by hand.
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
	Delivery        int              `db:"delivery"`
	DeliveredAt     *time.Time       `db:"delivered_at"`
	Attempt         int              `db:"attempt"`
	MaxAttempts     int              `db:"max_attempts"`
	Worker          *string          `db:"worker"`
	HeartbeatAt     *time.Time       `db:"heartbeat_at"`
	CancelRequested bool             `db:"cancel_requested"`
	Error           *string          `db:"error"`
	Result          *json.RawMessage `db:"result"`
	CreatedAt       time.Time        `db:"created_at"`
	StartedAt       *time.Time       `db:"started_at"`
	FinishedAt      *time.Time       `db:"finished_at"`
}

const columns = `id, kind, queue, organization_id, payload, weight, concurrency_key,
	dedupe_key, request_id, state, run_at, delivery, delivered_at, attempt, max_attempts,
	worker, heartbeat_at, cancel_requested, error, result, created_at, started_at, finished_at`

// Internal stands before an error that is for operators only.
const Internal = "internal: "

// PublicError is the error of the last attempt as members may read it.
func (t *Task) PublicError() *string {
	if t.Error == nil || !strings.HasPrefix(*t.Error, Internal) {
		return t.Error
	}
	public := "internal error; the log has more under the task's id"
	return &public
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
