package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }

// Stat counts the tasks of one kind, queue and state.
type Stat struct {
	Kind  string `db:"kind"`
	Queue string `db:"queue"`
	State State  `db:"state"`
	Count int64  `db:"count"`
	// OldestSeconds is the age of the oldest: since it was due (queued) or
	// started (running); 0 for terminal states and tasks that are not due.
	OldestSeconds float64 `db:"oldest"`
}

// Open counts what has not ended, and what died: the states whose number stays
// small by nature. Ended tasks are counted by the processes that ended them.
func (s *Store) Open(ctx context.Context) ([]Stat, error) {
	var stats []Stat
	// One branch a state, so that each reads its own partial index.
	err := s.db.SelectContext(ctx, &stats, `
		select kind, queue, 'queued' as state, count(*) as count,
			coalesce(extract(epoch from now() - least(min(run_at), now())), 0) as oldest
		from tasks where state = 'queued' group by kind, queue
		union all
		select kind, queue, 'running', count(*), coalesce(extract(epoch from now() - min(started_at)), 0)
		from tasks where state = 'running' group by kind, queue
		union all
		select kind, queue, 'dead', count(*), 0
		from tasks where state = 'dead' group by kind, queue`)
	return stats, storage.Wrap(err, "count open tasks")
}

// Owed counts the tasks of an organization that have not ended, and those that died.
type Owed struct {
	OrganizationID int64 `db:"organization_id"`
	Open           int64 `db:"open"`
	Dead           int64 `db:"dead"`
}

// owed reads in each branch the partial index of its state, as in Open, for the lists of all
// tasks of an organization are long.
const owed = `
select organization_id, sum(open)::bigint as open, sum(dead)::bigint as dead from (
	select organization_id, count(*) as open, 0 as dead from tasks where state = 'queued' and organization_id = any($1) group by 1
	union all
	select organization_id, count(*), 0 from tasks where state = 'running' and organization_id = any($1) group by 1
	union all
	select organization_id, 0, count(*) from tasks where state = 'dead' and organization_id = any($1) group by 1
) s group by organization_id`

// OwedBy counts for each of the organizations; those without such tasks are left out.
func (s *Store) OwedBy(ctx context.Context, organizations []int64) (map[int64]Owed, error) {
	var rows []Owed
	if err := s.db.SelectContext(ctx, &rows, owed, pq.Array(organizations)); err != nil {
		return nil, storage.Wrap(err, "count open tasks of organizations")
	}
	by := make(map[int64]Owed, len(rows))
	for _, r := range rows {
		by[r.OrganizationID] = r
	}
	return by, nil
}

// Lag is the age of the oldest due task of the queues, by queue.
func (s *Store) Lag(ctx context.Context) (map[string]time.Duration, error) {
	var rows []struct {
		Queue   string  `db:"queue"`
		Seconds float64 `db:"seconds"`
	}
	err := s.db.SelectContext(ctx, &rows, `
		select queue, extract(epoch from now() - min(run_at)) as seconds
		from tasks where state = 'queued' and run_at <= now() group by queue`)
	if err != nil {
		return nil, storage.Wrap(err, "read queue lag")
	}
	lag := make(map[string]time.Duration, len(rows))
	for _, r := range rows {
		lag[r.Queue] = time.Duration(r.Seconds * float64(time.Second))
	}
	return lag, nil
}

// Keep says how long ended tasks stay readable.
type Keep struct {
	Succeeded time.Duration
	// ByKind overrides Succeeded.
	ByKind map[string]time.Duration
	// Other is for dead and cancelled tasks: their work was not done, and a
	// retry must find them.
	Other time.Duration
}

// shortest is the age below which no task of any kind may be deleted.
func (k Keep) shortest() time.Duration {
	age := min(k.Succeeded, k.Other)
	for _, d := range k.ByKind {
		age = min(age, d)
	}
	return age
}

// Cursor is a place in the order in which tasks ended; the zero value is the
// beginning.
type Cursor struct {
	FinishedAt time.Time
	ID         uuid.UUID
}

// prune reads tasks_finished once from the oldest end, past rows that other kinds keep longer.
// A row that was retried meanwhile has no end and stays.
const prune = `
with seen as (
	select id, kind, state, finished_at from tasks
	where finished_at >= $1 and (finished_at, id) > ($1, $2)
		and finished_at < now() - make_interval(secs => $3)
	order by finished_at, id limit $4
), gone as (
	delete from tasks t
	using seen s left join unnest($5::text[], $6::float8[]) as k(kind, keep) on k.kind = s.kind
	where t.id = s.id and t.finished_at = s.finished_at and t.finished_at < now() - make_interval(secs =>
		case when s.state = 'succeeded' then coalesce(k.keep, $7) else $8 end)
	returning 1
), last as (
	select id, finished_at from seen order by finished_at desc, id desc limit 1
)
select last.finished_at, last.id, (select count(*) from seen) as seen, (select count(*) from gone) as gone
from last`

// Prune looks at up to limit ended tasks after the cursor and deletes those that
// are older than they are kept. It returns the number deleted, where it stopped,
// and whether there is more.
func (s *Store) Prune(ctx context.Context, keep Keep, after Cursor, limit int) (deleted int64, next Cursor, more bool, err error) {
	kinds, ages := make([]string, 0, len(keep.ByKind)), make([]float64, 0, len(keep.ByKind))
	for kind, age := range keep.ByKind {
		kinds, ages = append(kinds, kind), append(ages, age.Seconds())
	}
	var row struct {
		FinishedAt time.Time `db:"finished_at"`
		ID         uuid.UUID `db:"id"`
		Seen       int       `db:"seen"`
		Gone       int64     `db:"gone"`
	}
	err = s.db.GetContext(ctx, &row, prune, after.FinishedAt, after.ID, keep.shortest().Seconds(), limit,
		pq.Array(kinds), pq.Array(ages), keep.Succeeded.Seconds(), keep.Other.Seconds())
	if err = storage.Wrap(err, "prune tasks"); isNotFound(err) {
		return 0, after, false, nil
	}
	if err != nil {
		return 0, after, false, err
	}
	return row.Gone, Cursor{row.FinishedAt, row.ID}, row.Seen == limit, nil
}
