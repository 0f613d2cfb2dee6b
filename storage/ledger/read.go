package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// cleanText makes a text fit for PostgreSQL: no NUL, valid UTF-8.
func cleanText(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// Scope limits reads and changes to one organization's tasks; the zero value,
// for operators, is every task.
type Scope struct{ OrganizationID int64 }

// Filter selects tasks of a list.
type Filter struct {
	Scope
	Kinds    []string  // nil: all
	States   []State   // nil: all
	From, To time.Time // creation time; From inclusive, To exclusive
	Limit    int
	Offset   int
}

func (f Filter) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, arg any) {
		args = append(args, arg)
		conds = append(conds, fmt.Sprintf(cond, len(args)))
	}
	if f.OrganizationID != 0 {
		add("organization_id = $%d", f.OrganizationID)
	}
	if len(f.Kinds) > 0 {
		add("kind = any($%d)", pq.Array(f.Kinds))
	}
	if len(f.States) > 0 {
		add("state = any($%d)", pq.Array(f.States))
	}
	if !f.From.IsZero() {
		add("created_at >= $%d", f.From)
	}
	if !f.To.IsZero() {
		add("created_at < $%d", f.To)
	}
	if len(conds) == 0 {
		return "", nil
	}
	return " where " + strings.Join(conds, " and "), args
}

// List returns a page of tasks, newest first, and the number of all that match.
func (s *Store) List(ctx context.Context, f Filter) ([]Task, int, error) {
	where, args := f.where()
	var total int
	if err := s.db.GetContext(ctx, &total, `select count(*) from tasks`+where, args...); err != nil {
		return nil, 0, storage.Wrap(err, "count tasks")
	}
	args = append(args, f.Limit, f.Offset)
	query := fmt.Sprintf(`select %s from tasks%s order by id desc limit $%d offset $%d`,
		columns, where, len(args)-1, len(args))
	tasks := []Task{}
	err := s.db.SelectContext(ctx, &tasks, query, args...)
	return tasks, total, storage.Wrap(err, "list tasks")
}

// Get reads one task; ErrNotFound also when it is outside the scope.
func (s *Store) Get(ctx context.Context, scope Scope, id uuid.UUID) (*Task, error) {
	var t Task
	err := s.db.GetContext(ctx, &t, `select `+columns+` from tasks
		where id = $1 and ($2::bigint = 0 or organization_id = $2)`, id, scope.OrganizationID)
	if err != nil {
		return nil, storage.Wrap(err, "task "+id.String())
	}
	return &t, nil
}

// Ended returns those of the tasks that have ended or are not there any more: what
// requests wait for.
func (s *Store) Ended(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	states, err := s.StatesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	var ended []uuid.UUID
	for _, id := range ids {
		if state, ok := states[id]; !ok || state.Terminal() {
			ended = append(ended, id)
		}
	}
	return ended, nil
}

// StatesOf reads the states of many tasks at once.
func (s *Store) StatesOf(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]State, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	var rows []struct {
		ID    uuid.UUID `db:"id"`
		State State     `db:"state"`
	}
	err := s.db.SelectContext(ctx, &rows, `select id, state from tasks where id = any($1::uuid[])`, pq.Array(texts))
	if err != nil {
		return nil, storage.Wrap(err, "read task states")
	}
	states := make(map[uuid.UUID]State, len(rows))
	for _, r := range rows {
		states[r.ID] = r.State
	}
	return states, nil
}

// Retry makes a dead or cancelled task due again, with as many attempts as its
// kind returns a new one. ErrConflict when it is in another state, or when an open
// task has taken its dedupe key.
func Retry(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID, attempts int) (*Task, error) {
	var t Task
	err := q.GetContext(ctx, &t, `
		update tasks set state = 'queued', run_at = now(), delivered_at = null, finished_at = null,
			cancel_requested = false, max_attempts = attempt + $3
		where id = $1 and ($2::bigint = 0 or organization_id = $2) and state in ('dead', 'cancelled')
		returning `+columns, id, scope.OrganizationID, attempts)
	if err != nil {
		return nil, missingOrConflict(ctx, q, scope, id, storage.Wrap(err, "retry task"))
	}
	return &t, nil
}

// Cancel ends a queued task at once and asks a running one to stop, which its
// worker learns with the next heartbeat. ErrConflict when the task has ended.
func Cancel(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID) (*Task, error) {
	var t Task
	err := q.GetContext(ctx, &t, `
		update tasks set
			state = case when state = 'queued' then 'cancelled' else state end,
			finished_at = case when state = 'queued' then now() end,
			delivered_at = null,
			cancel_requested = state = 'running'
		where id = $1 and ($2::bigint = 0 or organization_id = $2) and state in ('queued', 'running')
		returning `+columns, id, scope.OrganizationID)
	if err != nil {
		return nil, missingOrConflict(ctx, q, scope, id, storage.Wrap(err, "cancel task"))
	}
	return &t, nil
}

// missingOrConflict tells a task that is not there from one in a state that
// does not allow the change.
func missingOrConflict(ctx context.Context, q storage.Querier, scope Scope, id uuid.UUID, err error) error {
	if !isNotFound(err) {
		return err
	}
	var state State
	if e := q.GetContext(ctx, &state, `select state from tasks
		where id = $1 and ($2::bigint = 0 or organization_id = $2)`, id, scope.OrganizationID); e != nil {
		return storage.Wrap(e, "task "+id.String())
	}
	return fmt.Errorf("task is %s: %w", state, storage.ErrConflict)
}
