package ledger

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// RecentWindow is how far Recent looks back.
	RecentWindow = time.Hour
	// mostRecent bounds the tasks that Recent reads: enough for percentiles, read in some ten
	// milliseconds. A busy installation ends them in less than the window.
	mostRecent = 10_000
	// mostRunning bounds what RunningNow reads; it is above the slots of twenty workers.
	mostRunning = 500
)

// Recent is how tasks went that ended within RecentWindow, or the newest ten thousand of them.
type Recent struct {
	Tasks int64      // that were looked at
	Since *time.Time // when the oldest of them ended, where there are more than were looked at
	Rows  []Ended
}

// Ended is how the tasks of one kind, or of a whole queue, went. Seconds are those of the last
// attempt; tasks that were cancelled have none.
type Ended struct {
	Queue    string   `db:"queue"`
	Kind     string   `db:"kind"` // "": the queue
	Count    int64    `db:"count"`
	Died     int64    `db:"died"`
	Failed   int64    `db:"failed"` // attempts of theirs that failed
	Measured int64    `db:"measured"`
	Waited   Quantile `db:"waited"`
	Ran      Quantile `db:"ran"`
}

// Quantile has the seconds that half, 95 and 99 of a hundred tasks stayed below.
type Quantile struct {
	P50 float64 `db:"p50"`
	P95 float64 `db:"p95"`
	P99 float64 `db:"p99"`
}

// recent reads tasks_finished from the newest end.
const recent = `
with newest as materialized (
	select kind, queue, state, finished_at, failures,
		case when state <> 'cancelled' then greatest(extract(epoch from started_at - run_at), 0)::float8 end as waited,
		case when state <> 'cancelled' then extract(epoch from finished_at - started_at)::float8 end as ran
	from tasks where finished_at > now() - make_interval(secs => $1) order by finished_at desc limit $2
)
select queue, coalesce(kind, '') as kind, count(*) as count, count(*) filter (where state = 'dead') as died,
	coalesce(sum(` + failuresToCount + `), 0) as failed, count(ran) as measured,
	coalesce(percentile_cont(0.5) within group (order by waited), 0) as "waited.p50",
	coalesce(percentile_cont(0.95) within group (order by waited), 0) as "waited.p95",
	coalesce(percentile_cont(0.99) within group (order by waited), 0) as "waited.p99",
	coalesce(percentile_cont(0.5) within group (order by ran), 0) as "ran.p50",
	coalesce(percentile_cont(0.95) within group (order by ran), 0) as "ran.p95",
	coalesce(percentile_cont(0.99) within group (order by ran), 0) as "ran.p99",
	(select count(*) from newest) as seen, (select min(finished_at) from newest) as since
from newest group by grouping sets ((queue, kind), (queue)) order by queue, kind`

// Recent returns how the tasks of all organizations went that ended lately, by queue and kind.
func (s *Store) Recent(ctx context.Context) (*Recent, error) {
	var rows []struct {
		Ended
		Seen  int64     `db:"seen"`
		Since time.Time `db:"since"`
	}
	if err := s.db.SelectContext(ctx, &rows, recent, RecentWindow.Seconds(), mostRecent); err != nil {
		return nil, storage.Wrap(err, "read the tasks that ended lately")
	}
	r := &Recent{Rows: make([]Ended, len(rows))}
	for i := range rows {
		r.Rows[i] = rows[i].Ended
		r.Tasks = rows[i].Seen
		if rows[i].Seen == mostRecent {
			r.Since = &rows[i].Since
		}
	}
	return r, nil
}

// Claimed is a task that a worker runs.
type Claimed struct {
	ID              uuid.UUID `db:"id"`
	Kind            string    `db:"kind"`
	Queue           string    `db:"queue"`
	OrganizationID  *int64    `db:"organization_id"`
	Attempt         int       `db:"attempt"`
	Worker          string    `db:"worker"`
	StartedAt       time.Time `db:"started_at"`
	HeartbeatAt     time.Time `db:"heartbeat_at"`
	CancelRequested bool      `db:"cancel_requested"`
}

// RunningNow returns what the workers run, those with the oldest heartbeats first and at most
// five hundred.
func (s *Store) RunningNow(ctx context.Context) ([]Claimed, error) {
	var rows []Claimed
	err := s.db.SelectContext(ctx, &rows, `
		select id, kind, queue, organization_id, attempt, coalesce(worker, '') as worker, coalesce(started_at, created_at) as started_at,
			coalesce(heartbeat_at, created_at) as heartbeat_at, cancel_requested
		from tasks where state = 'running' order by tasks.heartbeat_at limit $1`, mostRunning)
	return rows, storage.Wrap(err, "read what workers run")
}
