package schedule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/storage"
)

const (
	// baselineRows are the firings of one transaction of the baseline.
	baselineRows = 250
	// As many open transactions as the product has ticks at once.
	baselineConns = 4
	baselineEach  = 10 * baselineRows // schedules of a connection
)

// baselineTables makes tables like those of the product, with their indexes and checks,
// without what refers to other tables.
const baselineTables = `
create table baseline_schedules (like test_schedules including all);
create table baseline_firings (like test_schedule_firings including all);
create table baseline_suite_runs (like suite_runs including all);
create table baseline_tasks (like tasks including all)`

const baselineSchedules = `
insert into baseline_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at, creator_uuid,
	modifier_uuid)
select id, 1, 1, 'Schedule', '0 * * * * *', 'UTC', id, 'ENABLED', now(), id, id from unnest($1::uuid[]) id`

var baselineFiring = []string{`
update baseline_schedules s set next_run_at = s.next_run_at + interval '1 minute', run_count = s.run_count + 1,
	last_run_at = now(), last_firing_id = f.fire
from unnest($1::uuid[], $2::uuid[]) f(schedule, fire) where s.id = f.schedule`, `
insert into baseline_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid)
select f.fire, 1, f.schedule, clock_timestamp(), 'CRON', 'STARTED', f.schedule from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`, `
insert into baseline_suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, firing_id)
select f.fire, 1, 1, f.schedule, 'Suite', f.schedule, 'Suite', 1, f.fire from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`, `
insert into baseline_tasks (id, kind, queue, organization_id, payload, max_attempts)
select f.fire, 'suite:run', 'critical', 1, jsonb_build_object('suite_run_id', f.fire), 20
from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`}

// measureBaseline returns the firings a second that the database can store when
// nothing but their rows is written.
func (f *Fleet) measureBaseline(ctx context.Context, duration time.Duration) (float64, error) {
	if _, err := f.DB.ExecContext(ctx, baselineTables); err != nil {
		return 0, err
	}
	schedules := newIDs(baselineConns * baselineEach)
	if _, err := f.DB.ExecContext(ctx, baselineSchedules, Array(schedules)); err != nil {
		return 0, err
	}
	defer progress.Waits(ctx, "the baseline of "+duration.String())()
	start := time.Now()
	counts, errs := make([]int, baselineConns), make([]error, baselineConns)
	var done sync.WaitGroup
	for c := range baselineConns {
		done.Go(func() {
			counts[c], errs[c] = f.writeFirings(ctx, schedules[c*baselineEach:][:baselineEach], start.Add(duration))
		})
	}
	done.Wait()
	took := time.Since(start)
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	if _, err := f.DB.ExecContext(ctx, `drop table baseline_schedules, baseline_firings, baseline_suite_runs, baseline_tasks`); err != nil {
		return 0, err
	}
	return float64(total) / took.Seconds(), process.Sleep(ctx, min(duration, 2*time.Second)) // the database writes its changes to disk
}

// writeFirings writes rows for some schedules, again and again.
func (f *Fleet) writeFirings(ctx context.Context, schedules []string, until time.Time) (n int, err error) {
	for i := 0; n == 0 || time.Now().Before(until); i = (i + baselineRows) % len(schedules) {
		part, firings := Array(schedules[i:i+baselineRows]), Array(newIDs(baselineRows))
		err := f.DB.InTx(ctx, func(tx *storage.Tx) error {
			for _, statement := range baselineFiring {
				if _, err := tx.ExecContext(ctx, statement, part, firings); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("baseline: %w", err)
		}
		n += baselineRows
	}
	return n, nil
}

func newIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7()).String()
	}
	return ids
}

// Array writes a PostgreSQL array of ids.
func Array(ids []string) string { return "{" + strings.Join(ids, ",") + "}" }
