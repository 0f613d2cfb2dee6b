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
	Kinds  []string // nil: all
	States []State  // nil: all
	Queues []string // nil: all
	// DueBefore selects the queued tasks that were due before it; zero: any. It is served by
	// the indexes by which workers claim, so Queues must be named with it.
	DueBefore time.Time
	From, To  time.Time // creation time; From inclusive, To exclusive
	RequestID string    // "": any
	// Error is a part of the error of the last attempt that failed, in any case of its
	// letters; "": any. It is searched as members read it, unless Inside.
	Error  string
	Inside bool
	Limit  int
	Offset int
}

func (f Filter) where() (string, []any) {
	var conds []string
	var args []any
	add := func(cond string, arg any) {
		args = append(args, arg)
		conds = append(conds, strings.ReplaceAll(cond, "$N", fmt.Sprintf("$%d", len(args))))
	}
	if f.OrganizationID != 0 {
		add("t.organization_id = $N", f.OrganizationID)
	}
	if len(f.Kinds) > 0 {
		add("t.kind = any($N)", pq.Array(f.Kinds))
	}
	if len(f.States) > 0 {
		add("t.state = any($N)", pq.Array(f.States))
	}
	if len(f.Queues) > 0 {
		add("t.queue = any($N)", pq.Array(f.Queues))
	}
	if !f.DueBefore.IsZero() {
		f.due(add)
	}
	if !f.From.IsZero() {
		add("t.created_at >= $N", f.From)
	}
	if !f.To.IsZero() {
		add("t.created_at < $N", f.To)
	}
	if f.RequestID != "" {
		add("t.request_id = $N and t.request_id <> ''", f.RequestID)
	}
	if f.Error != "" {
		shown := "t.error"
		if !f.Inside {
			shown = "case when starts_with(t.error, '" + Internal + "') then '" + strings.ReplaceAll(HiddenError, "'", "''") + "' else t.error end"
		}
		add("t.error is not null and position(lower($N) in lower("+shown+")) > 0", f.Error)
	}
	if len(conds) == 0 {
		return "", nil
	}
	return " where " + strings.Join(conds, " and "), args
}

// Lateness is how long a task that is due may wait before it is late: a worker that is
// there takes one within seconds.
const Lateness = time.Minute

// due adds the conditions of DueBefore, in the form of the index tasks_turn for one
// organization and in that of tasks_due for all.
func (f Filter) due(add func(cond string, arg any)) {
	if f.OrganizationID == 0 {
		add("t.state = 'queued' and t.run_at at time zone 'UTC' < $N::timestamptz at time zone 'UTC'", f.DueBefore)
		return
	}
	add("t.state = 'queued' and t.run_at < $N", f.DueBefore)
	add("coalesce(t.organization_id, 0) = $N", f.OrganizationID)
	add("t.priority = any($N)", pq.Array([]int64{int64(Waited), int64(Mass), int64(Scheduled)}))
}

// List returns a page of tasks, newest first, and how many match, which is counted up to
// storage.CountReach.
func (s *Store) List(ctx context.Context, f Filter) ([]Task, storage.Total, error) {
	where, args := f.where()
	total, err := storage.CountUpTo(ctx, s.db, storage.CountReach, `select from tasks t`+where, args...)
	if err != nil {
		return nil, total, storage.Wrap(err, "count tasks")
	}
	if total.Exact && total.Rows <= f.Offset {
		return []Task{}, total, nil
	}
	// Where few match, they are read as they were counted and sorted: PostgreSQL takes them
	// for spread evenly, and would read all tasks from the newest on until it has a page of
	// those that are not there. Where many match, that is the quickest. The page is cut from
	// their ids: of some filters an index has these without the tasks.
	ids := `select t.id from tasks t` + where
	if total.Exact {
		ids += " offset 0"
	}
	query := fmt.Sprintf(`select %s from tasks t where t.id in (select id from (%s) found order by id desc limit %d offset %d)
		order by t.id desc`,
		columns, ids, f.Limit+1, f.Offset)
	tasks := []Task{}
	if err := s.db.SelectContext(ctx, &tasks, query, args...); err != nil {
		return nil, total, storage.Wrap(err, "list tasks")
	}
	if len(tasks) > f.Limit {
		tasks, total.Next = tasks[:f.Limit], true
	}
	return tasks, total, nil
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
