package ledger

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Priority orders the tasks of one organization in a queue. A task of a lower rank (a
// higher number) counts as if it had become due some minutes later: it goes behind those
// that somebody waits for, and no stream of these holds it up for ever.
type Priority int16

// The priorities.
const (
	// Waited is for what a person or a CI job waits for.
	Waited Priority = iota
	// Mass is for the rest of a large piece of work, behind its first tasks.
	Mass
	// Scheduled is for what a schedule has started.
	Scheduled
)

// claimFirst calls a function, which keeps its plan: see the migration that makes it.
const claimFirst = `select ` + columns + ` from claim_first_task($1, $2, $3, $4)`

// ClaimFirst claims the task of an organization (0: the installation) that is next in a
// queue: of those that are due the oldest of the first priority. It knows neither batches
// nor concurrency keys: a task of one of the kinds in except is left. No rows is no error.
func (s *Store) ClaimFirst(ctx context.Context, queue string, organizationID int64, worker string, except []string) ([]Task, error) {
	var rows []Task
	err := s.db.SelectContext(ctx, &rows, claimFirst, queue, organizationID, worker, pq.Array(except))
	return rows, storage.Wrap(err, "claim the next task")
}

// Head is a task that is next in its queue.
type Head struct {
	ID   uuid.UUID `db:"id"`
	Kind string    `db:"kind"`
}

// firstOf reads the first tasks of an organization of each priority that are due, the next one
// first, as claim_first_task has them. The seconds are what a priority comes later than
// Waited.
const firstOf = `
select due.id, due.kind from (values (0::smallint, 0), (1::smallint, 120), (2::smallint, 900)) as p(priority, late)
cross join lateral (
	select id, kind, run_at from tasks
	where queue = $1 and coalesce(organization_id, 0) = $2 and state = 'queued'
		and priority = p.priority and run_at <= now()
	order by run_at limit 1
) due
order by due.run_at + make_interval(secs => p.late) limit 1`

// First returns the next task, locked or not; ErrNotFound without one.
func (s *Store) First(ctx context.Context, queue string, organizationID int64) (Head, error) {
	var h Head
	err := s.db.GetContext(ctx, &h, firstOf, queue, organizationID)
	return h, storage.Wrap(err, "find the next task")
}

// Due is an organization that has something to do in a queue, or has something running.
type Due struct {
	OrganizationID int64 `db:"org"` // 0: the installation
	Waits          bool  `db:"waits"`
	Running        int   `db:"running"` // claims of other workers
}

// waitingOrganizations finds the organizations by jumping through tasks_turn: the cost follows
// their number, not the length of the backlog. Tasks of one claim began at the same time.
const waitingOrganizations = `
with recursive queued (org) as (
	(select coalesce(organization_id, 0) from tasks
	 where queue = $1 and state = 'queued'
	 order by coalesce(organization_id, 0) limit 1)
	union all
	select (select coalesce(organization_id, 0) from tasks
		where queue = $1 and state = 'queued' and coalesce(organization_id, 0) > queued.org
		order by coalesce(organization_id, 0) limit 1)
	from queued where queued.org is not null
), waiting as (
	select org from queued where org is not null and exists (
		select 1 from (values (0::smallint), (1::smallint), (2::smallint)) as p(priority) where exists (
			select 1 from tasks where queue = $1 and coalesce(organization_id, 0) = queued.org
				and state = 'queued' and priority = p.priority and run_at <= now()))
), running as (
	select coalesce(organization_id, 0) as org, count(distinct (worker, started_at)) as n
	from tasks where state = 'running' and queue = $1 and worker <> $2 group by 1
)
select coalesce(waiting.org, running.org) as org, waiting.org is not null as waits, coalesce(running.n, 0) as running
from waiting full join running on running.org = waiting.org`

// Waiting returns the organizations that have due tasks in a queue, and what others than
// the worker run of it.
func (s *Store) Waiting(ctx context.Context, queue, worker string) ([]Due, error) {
	var list []Due
	err := s.db.SelectContext(ctx, &list, waitingOrganizations, queue, worker)
	return list, storage.Wrap(err, "find waiting organizations")
}

// Backlog is the number of due tasks of a queue.
type Backlog struct {
	Queue string `db:"queue"`
	Due   int    `db:"due"`
}

const backlogs = `
select q.queue, (select count(*) from (
	select from tasks where queue = q.queue and state = 'queued'
		and run_at at time zone 'UTC' <= now() at time zone 'UTC' limit q.most
) due) as due
from unnest($1::text[], $2::int[]) as q(queue, most)`

// Backlogs counts the due tasks of queues, each up to its bound. Queues without any are
// left out.
func (s *Store) Backlogs(ctx context.Context, most map[string]int) ([]Backlog, error) {
	queues, bounds := make([]string, 0, len(most)), make([]int64, 0, len(most))
	for queue, n := range most {
		queues, bounds = append(queues, queue), append(bounds, int64(n))
	}
	var list []Backlog
	err := s.db.SelectContext(ctx, &list, `select * from (`+backlogs+`) counted where due > 0 order by queue`,
		pq.Array(queues), pq.Array(bounds))
	return list, storage.Wrap(err, "count due tasks")
}

// DueTask is a task that waits for a worker.
type DueTask struct {
	ID             uuid.UUID `db:"id"`
	Kind           string    `db:"kind"`
	OrganizationID int64     `db:"org"` // 0: the installation
}

const dueTasks = `
select id, kind, coalesce(organization_id, 0) as org from tasks
where queue = $1 and state = 'queued' and run_at at time zone 'UTC' <= now() at time zone 'UTC'
order by run_at at time zone 'UTC' limit $2`

// DueTasks returns the tasks of a queue that are due, the one due longest first, and no more
// than most.
func (s *Store) DueTasks(ctx context.Context, queue string, most int) ([]DueTask, error) {
	var list []DueTask
	err := s.db.SelectContext(ctx, &list, dueTasks, queue, most)
	return list, storage.Wrap(err, "read due tasks")
}
