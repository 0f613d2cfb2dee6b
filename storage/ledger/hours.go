package ledger

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// hoursLag is how long after its end a task is counted: an end has the time at which its
	// transaction began, and what commits later than this is never counted. Those take
	// seconds; ten minutes are for one that waits for locks.
	hoursLag = 10 * time.Minute
	// hoursStep bounds the tasks that one transaction counts: some tenths of a second.
	hoursStep = 20_000
	// hoursKept is how long the sums are kept; nobody asks for more than a week.
	hoursKept = 8 * 24 * time.Hour
)

const lockHours = `select until from task_hours_until for update`

// hoursEnd finds the end of a step, which lies behind its beginning, however many tasks ended
// at that instant.
const hoursEnd = `
select least(now() - make_interval(secs => $2),
		case when step.at is not null then greatest(step.at, $1::timestamptz + interval '1 microsecond') end) as until,
	coalesce(step.at < now() - make_interval(secs => $2), false) as more
from (select (select finished_at from tasks where finished_at >= $1 order by finished_at offset $3 limit 1) as at) step`

// countHours reads tasks_finished. The bucket is what bucketSeconds reads.
const countHours = `
with part as materialized (
	select date_trunc('hour', finished_at, 'UTC') as hour, queue, kind, state, ` + failuresToCount + ` as failed,
		case when state <> 'cancelled' then extract(epoch from started_at - run_at)::float8 * 1000 end as waited,
		case when state <> 'cancelled' then extract(epoch from finished_at - started_at)::float8 * 1000 end as ran
	from tasks where finished_at >= $1 and finished_at < $2
), counted as (
	select hour, queue, kind, 'ended' as measure, 0 as bucket, count(*) as count from part group by 1, 2, 3
	union all
	select hour, queue, kind, 'died', 0, count(*) from part where state = 'dead' group by 1, 2, 3
	union all
	select hour, queue, kind, 'failed', 0, sum(failed) from part where failed > 0 group by 1, 2, 3
	union all
	select p.hour, p.queue, p.kind, m.measure,
		case when m.ms < 1 then 0 else least(floor(4 * ln(m.ms) / ln(2::float8))::int + 1, 160) end, count(*)
	from part p cross join lateral (values ('waited', p.waited), ('ran', p.ran)) as m(measure, ms)
	where p.waited is not null and p.ran is not null group by 1, 2, 3, 4, 5
), moved as (
	update task_hours_until set until = $2
)
insert into task_hours as h (hour, queue, kind, measure, bucket, count)
select hour, queue, kind, measure, bucket, count from counted
on conflict (hour, queue, kind, measure, bucket) do update set count = h.count + excluded.count`

const forgetHours = `delete from task_hours where hour < now() - make_interval(secs => $1)`

// CountEnded adds tasks that ended to the sums of their hours, each once, the oldest first
// and at most some ten thousand, and reports whether there are more. Prune must not come
// before it.
func (s *Store) CountEnded(ctx context.Context) (more bool, err error) {
	return s.countEnded(ctx, hoursStep)
}

func (s *Store) countEnded(ctx context.Context, step int) (more bool, err error) {
	err = s.db.InTx(ctx, func(tx *storage.Tx) error {
		var from time.Time
		if err := tx.GetContext(ctx, &from, lockHours); err != nil {
			return err
		}
		var to struct {
			Until time.Time `db:"until"`
			More  bool      `db:"more"`
		}
		if err := tx.GetContext(ctx, &to, hoursEnd, from, hoursLag.Seconds(), step); err != nil {
			return err
		}
		if !to.Until.After(from) {
			return nil
		}
		if _, err := tx.ExecContext(ctx, countHours, from, to.Until); err != nil {
			return err
		}
		more = to.More
		_, err := tx.ExecContext(ctx, forgetHours, hoursKept.Seconds())
		return err
	})
	return more, storage.Wrap(err, "count ended tasks by the hour")
}

// History is how many tasks ended hour by hour.
type History struct {
	Since time.Time // the beginning of its first hour
	Until time.Time // what ended later is not counted yet
	Hours []Hour    // without gaps
}

// Hour counts the tasks that ended in an hour.
type Hour struct {
	At    time.Time `db:"hour"`
	Ended int64     `db:"ended"`
	Died  int64     `db:"died"`
}

const sinceHour = `date_trunc('hour', now() - make_interval(secs => $1), 'UTC')`

const history = `
select u.until, hour.at as hour, coalesce(sum(h.count) filter (where h.measure = 'ended'), 0)::bigint as ended,
	coalesce(sum(h.count) filter (where h.measure = 'died'), 0)::bigint as died
from task_hours_until u cross join generate_series(` + sinceHour + `, now(), interval '1 hour') as hour(at)
left join task_hours h on h.hour = hour.at and h.hour >= ` + sinceHour + ` and h.measure in ('ended', 'died')
group by 1, 2 order by 2`

// History returns how many tasks of all organizations ended in each hour that a time reaches
// back into, the present one among them.
func (s *Store) History(ctx context.Context, reach time.Duration) (*History, error) {
	var rows []struct {
		Hour
		Until time.Time `db:"until"`
	}
	if err := s.db.SelectContext(ctx, &rows, history, reach.Seconds()); err != nil {
		return nil, storage.Wrap(err, "read how tasks ended by the hour")
	}
	h := &History{}
	for i, r := range rows {
		if i == 0 {
			h.Since, h.Until = r.At.UTC(), r.Until.UTC()
		}
		r.Hour.At = r.At.UTC()
		h.Hours = append(h.Hours, r.Hour)
	}
	return h, nil
}

const past = `
select queue, kind, measure, bucket, sum(count)::bigint as count from task_hours
where hour >= ` + sinceHour + ` group by 1, 2, 3, 4 order by 1, 2, 3, 4`

// Past returns how the tasks of all organizations went that ended in the hours of a History,
// by queue and kind. Its quantiles are estimates, of sums by the length: they are at most a
// tenth off.
func (s *Store) Past(ctx context.Context, reach time.Duration) ([]Ended, error) {
	var rows []struct {
		Queue   string `db:"queue"`
		Kind    string `db:"kind"`
		Measure string `db:"measure"`
		Bucket  int    `db:"bucket"`
		Count   int64  `db:"count"`
	}
	if err := s.db.SelectContext(ctx, &rows, past, reach.Seconds()); err != nil {
		return nil, storage.Wrap(err, "read how tasks ended lately")
	}
	by := map[[2]string]*sums{}
	for _, r := range rows {
		for _, kind := range []string{"", r.Kind} {
			key := [2]string{r.Queue, kind}
			if by[key] == nil {
				by[key] = newSums(r.Queue, kind)
			}
			by[key].add(r.Measure, r.Bucket, r.Count)
		}
	}
	list := make([]Ended, 0, len(by))
	for _, s := range by {
		list = append(list, s.ended())
	}
	slices.SortFunc(list, func(a, b Ended) int { return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Kind, b.Kind)) })
	return list, nil
}

// sums are those of a kind, or of a queue.
type sums struct {
	of          Ended
	waited, ran map[int]int64 // tasks by bucket
}

func newSums(queue, kind string) *sums {
	return &sums{Ended{Queue: queue, Kind: kind}, map[int]int64{}, map[int]int64{}}
}

func (s *sums) add(measure string, bucket int, n int64) {
	switch measure {
	case "ended":
		s.of.Count += n
	case "died":
		s.of.Died += n
	case "failed":
		s.of.Failed += n
	case "waited":
		s.waited[bucket] += n
	case "ran":
		s.ran[bucket] += n
		s.of.Measured += n
	}
}

func (s *sums) ended() Ended {
	s.of.Waited, s.of.Ran = quantile(s.waited), quantile(s.ran)
	return s.of
}

// quantile estimates the quantiles of times that were counted by bucket.
func quantile(counts map[int]int64) Quantile {
	buckets, n := make([]int, 0, len(counts)), int64(0)
	for b, count := range counts {
		buckets = append(buckets, b)
		n += count
	}
	slices.Sort(buckets)
	at := func(share float64) float64 {
		rank, upto := int64(math.Ceil(share*float64(n))), int64(0)
		for _, b := range buckets {
			if upto += counts[b]; upto >= rank {
				return bucketSeconds(b)
			}
		}
		return 0
	}
	return Quantile{at(0.5), at(0.95), at(0.99)}
}

// bucketSeconds is the middle of a bucket. Its bounds are a fifth apart, so that no time in
// it is more than a tenth off; those below a millisecond count as none.
func bucketSeconds(bucket int) float64 {
	if bucket == 0 {
		return 0
	}
	return math.Exp2((float64(bucket)-0.5)/4) / 1000
}
