package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Delivery is what Redis carries for a task: a pointer to the row, and the number
// of this delivery, which makes the id of the delivery unique.
type Delivery struct {
	ID             uuid.UUID `db:"id"`
	Kind           string    `db:"kind"`
	Queue          string    `db:"queue"`
	OrganizationID *int64    `db:"organization_id"`
	Number         int       `db:"delivery"`
	RequestID      string    `db:"request_id"`
}

// The organizations that have due rows are found by jumping through the index,
// so the cost follows their number and not the length of the backlog. Each may
// have an equal quota of the queue's slots outstanding, and the deliveries are handed
// out in turn: nobody's backlog is in front of everybody else's first task.
const takeDue = `
with recursive waiting (org) as (
	(select coalesce(organization_id, 0) from tasks
	 where queue = $1 and state = 'queued' and delivered_at is null
	 order by coalesce(organization_id, 0) limit 1)
	union all
	select (select coalesce(organization_id, 0) from tasks
		where queue = $1 and state = 'queued' and delivered_at is null
			and coalesce(organization_id, 0) > waiting.org
		order by coalesce(organization_id, 0) limit 1)
	from waiting where waiting.org is not null
), ready (org) as (
	select org from waiting where org is not null and exists (
		select 1 from tasks where queue = $1 and coalesce(organization_id, 0) = waiting.org
			and state = 'queued' and delivered_at is null and run_at <= now())
), outstanding as (
	select coalesce(organization_id, 0) as org, count(*) as n from tasks
	where queue = $1 and state = 'queued' and delivered_at is not null group by 1
), room as (
	select $2 - coalesce((select sum(n) from outstanding), 0) as free,
		greatest($2 / greatest((select count(*) from ready), 1), 1) as quota
), picked as (
	select due.id, row_number() over (partition by w.org order by due.run_at, due.id) as position
	from ready w
	cross join room
	left join outstanding on outstanding.org = w.org
	cross join lateral (
		select id, run_at from tasks
		where queue = $1 and coalesce(organization_id, 0) = w.org
			and state = 'queued' and delivered_at is null and run_at <= now()
		order by run_at
		limit greatest(least(room.quota - coalesce(outstanding.n, 0), $3), 0)
		for update skip locked
	) due
), chosen as (
	select id, position from picked order by position, id
	limit (select greatest(least(free, $3), 0) from room)
), marked as (
	update tasks t set delivered_at = now(), delivery = t.delivery + 1
	from chosen where t.id = chosen.id
	returning t.id, t.kind, t.queue, t.organization_id, t.delivery, t.request_id, chosen.position
)
select id, kind, queue, organization_id, delivery, request_id from marked order by position, id`

// TakeDue marks due tasks of a queue as delivered and returns them, at most batch,
// and never more than keep outstanding deliveries in the queue. The caller enqueues
// them; what it cannot enqueue it passes to Withdraw.
func (s *Store) TakeDue(ctx context.Context, queue string, keep, batch int) ([]Delivery, error) {
	var deliveries []Delivery
	err := s.db.SelectContext(ctx, &deliveries, takeDue, queue, keep, batch)
	return deliveries, storage.Wrap(err, "take due tasks")
}

// Withdraw makes deliveries that did not reach Redis due again.
func (s *Store) Withdraw(ctx context.Context, deliveries []Delivery) error {
	ids, numbers := make([]string, len(deliveries)), make([]int64, len(deliveries))
	for i, d := range deliveries {
		ids[i], numbers[i] = d.ID.String(), int64(d.Number)
	}
	_, err := s.db.ExecContext(ctx, `
		with locked as (
			select t.id from tasks t
			join unnest($1::uuid[], $2::int[]) as lost(id, delivery)
				on t.id = lost.id and t.delivery = lost.delivery
			where t.state = 'queued' order by t.id for update of t
		)
		update tasks t set delivered_at = null from locked where t.id = locked.id`,
		pq.Array(ids), pq.Array(numbers))
	return storage.Wrap(err, "withdraw deliveries")
}

// Outstanding returns deliveries older than age that no worker has claimed, oldest
// first: the sweep asks Redis whether it still has them.
func (s *Store) Outstanding(ctx context.Context, queue string, age time.Duration, limit int) ([]Delivery, error) {
	var deliveries []Delivery
	err := s.db.SelectContext(ctx, &deliveries, `
		select id, kind, queue, organization_id, delivery, request_id from tasks
		where queue = $1 and state = 'queued' and delivered_at < now() - make_interval(secs => $2)
		order by delivered_at limit $3`, queue, age.Seconds(), limit)
	return deliveries, storage.Wrap(err, "read outstanding deliveries")
}

// OutstandingQueues returns those of the queues that have such a delivery.
func (s *Store) OutstandingQueues(ctx context.Context, queues []string, age time.Duration) ([]string, error) {
	var outstanding []string
	err := s.db.SelectContext(ctx, &outstanding, `
		select q from unnest($1::text[]) as q where exists (
			select 1 from tasks where queue = q and state = 'queued'
				and delivered_at < now() - make_interval(secs => $2))`, pq.Array(queues), age.Seconds())
	return outstanding, storage.Wrap(err, "find queues with outstanding deliveries")
}

// Epoch returns the installation's epoch, made at the first call.
func (s *Store) Epoch(ctx context.Context) (string, error) {
	_, err := s.db.ExecContext(ctx,
		`insert into dispatch_epoch (epoch) values ($1) on conflict do nothing`, uuid.NewString())
	if err != nil {
		return "", storage.Wrap(err, "make the epoch")
	}
	var epoch string
	err = s.db.GetContext(ctx, &epoch, `select epoch from dispatch_epoch`)
	return epoch, storage.Wrap(err, "read the epoch")
}

// WithdrawAll makes every outstanding delivery due again, because Redis lost its
// memory, and returns their number.
func (s *Store) WithdrawAll(ctx context.Context) (int64, error) {
	res, err := s.db.ExecContext(ctx,
		`with locked as (select id from tasks where state = 'queued' and delivered_at is not null order by id for update)
		update tasks t set delivered_at = null from locked where t.id = locked.id`)
	if err != nil {
		return 0, storage.Wrap(err, "withdraw all deliveries")
	}
	n, err := res.RowsAffected()
	return n, storage.Wrap(err, "withdraw all deliveries")
}

// DueQueues returns those of the queues that have a due task without a delivery.
func (s *Store) DueQueues(ctx context.Context, queues []string) ([]string, error) {
	var due []string
	err := s.db.SelectContext(ctx, &due, `
		select q from unnest($1::text[]) as q where exists (
			select 1 from tasks where queue = q and state = 'queued'
				and delivered_at is null and run_at <= now())`, pq.Array(queues))
	return due, storage.Wrap(err, "find due queues")
}
