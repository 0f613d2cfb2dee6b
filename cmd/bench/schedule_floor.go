package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// floorRows are the fires of one transaction of the floor.
	floorRows = 250
	// As many transactions as ticks may be open.
	floorConns = 4
	floorEach  = 10 * floorRows // schedules of a connection
)

// Tables like those of the product, with their indexes and checks, without what
// refers to other tables.
const floorTables = `
create table floor_schedules (like test_schedules including all);
create table floor_fires (like test_schedule_fires including all);
create table floor_suite_runs (like suite_runs including all);
create table floor_tasks (like tasks including all)`

const floorSchedules = `
insert into floor_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at, creator_uuid, modifier_uuid)
select id, 1, 1, 'Schedule', '0 * * * * *', 'UTC', id, 'ENABLED', now(), id, id from unnest($1::uuid[]) id`

var floorFire = []string{`
update floor_schedules s set next_run_at = s.next_run_at + interval '1 minute', run_count = s.run_count + 1,
	last_run_at = now(), last_fire_id = f.fire
from unnest($1::uuid[], $2::uuid[]) f(schedule, fire) where s.id = f.schedule`, `
insert into floor_fires (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid)
select f.fire, 1, f.schedule, clock_timestamp(), 'CRON', 'STARTED', f.schedule from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`, `
insert into floor_suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fire_id)
select f.fire, 1, 1, f.schedule, 'Suite', f.schedule, 'Suite', 1, f.fire from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`, `
insert into floor_tasks (id, kind, queue, organization_id, payload, max_attempts)
select f.fire, 'suite:run', 'critical', 1, jsonb_build_object('suite_run_id', f.fire), 20 from unnest($1::uuid[], $2::uuid[]) f(schedule, fire)`}

// measureFloor gives the fires a second that the database takes when somebody
// only writes their rows.
func (f *fleet) measureFloor(ctx context.Context, duration time.Duration) (float64, error) {
	if _, err := f.db.ExecContext(ctx, floorTables); err != nil {
		return 0, err
	}
	schedules := newIDs(floorConns * floorEach)
	if _, err := f.db.ExecContext(ctx, floorSchedules, array(schedules)); err != nil {
		return 0, err
	}
	start := time.Now()
	counts, errs := make([]int, floorConns), make([]error, floorConns)
	var done sync.WaitGroup
	for c := range floorConns {
		done.Go(func() {
			counts[c], errs[c] = f.writeFires(ctx, schedules[c*floorEach:][:floorEach], start.Add(duration))
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
	if _, err := f.db.ExecContext(ctx, `drop table floor_schedules, floor_fires, floor_suite_runs, floor_tasks`); err != nil {
		return 0, err
	}
	return float64(total) / took.Seconds(), rest(ctx, min(duration, 2*time.Second)) // the database writes out what was left
}

// writeFires writes rows for some schedules, again and again.
func (f *fleet) writeFires(ctx context.Context, schedules []string, until time.Time) (n int, err error) {
	for i := 0; n == 0 || time.Now().Before(until); i = (i + floorRows) % len(schedules) {
		part, fires := array(schedules[i:i+floorRows]), array(newIDs(floorRows))
		err := f.db.InTx(ctx, func(tx *storage.Tx) error {
			for _, statement := range floorFire {
				if _, err := tx.ExecContext(ctx, statement, part, fires); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("floor: %w", err)
		}
		n += floorRows
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

// array writes a PostgreSQL array of ids.
func array(ids []string) string { return "{" + strings.Join(ids, ",") + "}" }
