package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// NewTask is a task to insert. Package tasks makes them, one constructor for
// each kind.
type NewTask struct {
	ID             uuid.UUID // zero: a new version 7 id
	Kind           string
	Queue          string
	OrganizationID int64 // 0: maintenance of the installation
	Payload        any   // JSON, ids only
	Weight         int   // 0 counts as 1
	ConcurrencyKey string
	DedupeKey      string
	RequestID      string
	MaxAttempts    int
	Delay          time.Duration // from the database's now
	Priority       Priority
	// Delivered is the inserter's own note that it hands a delivery to Redis right
	// after the commit. The row does not have it.
	Delivered bool
}

// insertTask is the statement, its parameters numbered from first on; it inserts
// nothing where the condition does not hold.
func insertTask(first int, condition string) string {
	p := func(n int, kind string) string { return "$" + strconv.Itoa(first+n) + "::" + kind }
	var values []string
	for n, kind := range []string{"uuid", "text", "text", "bigint", "jsonb", "int", "text", "text", "text", "int", "smallint"} {
		values = append(values, p(n, kind))
	}
	return `
insert into tasks (id, kind, queue, organization_id, payload, weight, concurrency_key, dedupe_key,
	request_id, max_attempts, priority, run_at)
select ` + strings.Join(values, ", ") + `, now() + make_interval(secs => ` + p(11, "float8") + `)
where ` + condition + `
on conflict do nothing`
}

// complete sets the id of a task that has none, and returns the task's payload as
// JSON.
func (t *NewTask) complete() (payload string, err error) {
	if t.ID == uuid.Nil {
		if t.ID, err = uuid.NewV7(); err != nil {
			return "", fmt.Errorf("task id: %w", err)
		}
	}
	doc, err := json.Marshal(t.Payload)
	if err != nil {
		return "", fmt.Errorf("payload of %s: %w", t.Kind, err)
	}
	return string(doc), nil
}

// Statement returns the insert of a task as SQL, with its parameters numbered from
// first on, and their values: for a caller who writes the task and rows of its own
// in one statement. The condition is SQL; nothing is inserted where it is false.
func Statement(t *NewTask, first int, condition string) (string, []any, error) {
	payload, err := t.complete()
	if err != nil {
		return "", nil, err
	}
	return insertTask(first, condition), []any{t.ID, t.Kind, t.Queue, null(t.OrganizationID), payload,
		max(t.Weight, 1), null(t.ConcurrencyKey), null(t.DedupeKey), t.RequestID, t.MaxAttempts,
		int64(t.Priority), t.Delay.Seconds()}, nil
}

// Insert writes a task in the caller's transaction and sets its id. The result
// is false when an open task with the same kind and dedupe key exists.
func Insert(ctx context.Context, q storage.Querier, t *NewTask) (bool, error) {
	statement, args, err := Statement(t, 1, "true")
	if err != nil {
		return false, err
	}
	res, err := q.ExecContext(ctx, statement, args...)
	if err != nil {
		return false, storage.Wrap(err, "insert task "+t.Kind)
	}
	n, err := res.RowsAffected()
	return n == 1, storage.Wrap(err, "insert task "+t.Kind)
}

// null turns a zero value into SQL null.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
