package schedule

import (
	"context"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// firingSuite is a suite of a schedule; its row is locked.
type firingSuite struct {
	ID       uuid.UUID `db:"id"`
	TeamID   int64     `db:"team_id"`
	Name     string    `db:"name"`
	Runnable int       // cases that can run
}

// The lock keeps the suites from being deleted until their runs can be seen and
// cancelled. All are locked in the order of their ids, whichever schedules they
// are of, as by everybody else.
const lockSuitesToFire = `
select id, team_id, name from test_suites
where id in (select suite_id from test_schedule_suites where schedule_id = any($1::uuid[]))
order by id for no key update`

const countRunnable = `
select suite_id as id, count(*) as runnable from test_cases
where suite_id = any($1::uuid[]) and runnable group by suite_id`

// Nobody but who holds a schedule's row changes its suites or its newest fire, so
// this is read after the row was locked.
const firingFacts = `
select s.id,
	array(select l.suite_id::text from test_schedule_suites l where l.schedule_id = s.id order by l.position) as suites,
	not exists (
		select from users u join memberships m on m.user_id = u.id
		where u.uuid = s.running_user_uuid and m.organization_id = s.organization_id
			and m.blocked_at is null and m.role <> 'tester'
	) as no_user,
	s.tunnel <> '' and not exists (
		select from tunnels n where n.organization_id = s.organization_id and n.name = s.tunnel
	) as no_tunnel,
	(select r.id from suite_runs r where r.fire_id = s.last_fire_id and r.state in ('QUEUED', 'RUNNING') limit 1) as open,
	case when l.outcome = 'SKIPPED' and l.trigger = 'CRON' then l.id end as skipped_id,
	coalesce(l.reason, '') as skipped_reason
from test_schedules s left join lateral (
	select id, outcome, trigger, reason from test_schedule_fires where schedule_id = s.id order by fire_at desc limit 1
) l on true
where s.id = any($1::uuid[])`

// skipped is a record of a skipped time, which the next one may join.
type skipped struct {
	ID     uuid.UUID
	Reason string
}

// readFirings locks the suites of schedules, whose rows are locked, and reads what
// decides whether they can start. Without patience, suites that somebody else holds
// are not waited for, and their schedules are marked as held.
func readFirings(ctx context.Context, tx *storage.Tx, list []*firing, impatient bool) error {
	ids := make([]uuid.UUID, len(list))
	at := make(map[uuid.UUID]*firing, len(list))
	for i, f := range list {
		ids[i], at[f.ID] = f.ID, f
	}
	suites, err := suitesToFire(ctx, tx, ids, impatient)
	if err != nil {
		return err
	}
	var facts []struct {
		ID            uuid.UUID      `db:"id"`
		Suites        pq.StringArray `db:"suites"`
		NoUser        bool           `db:"no_user"`
		NoTunnel      bool           `db:"no_tunnel"`
		Open          *uuid.UUID     `db:"open"`
		SkippedID     *uuid.UUID     `db:"skipped_id"`
		SkippedReason string         `db:"skipped_reason"`
	}
	if err := tx.SelectContext(ctx, &facts, firingFacts, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "read what schedules need")
	}
	for i := range facts {
		f := at[facts[i].ID]
		f.noUser, f.noTunnel, f.open = facts[i].NoUser, facts[i].NoTunnel, facts[i].Open
		for _, id := range facts[i].Suites {
			s, ok := suites[id]
			if ok {
				f.suites = append(f.suites, s)
			}
			f.held = f.held || !ok && impatient // else it was deleted while it was waited for
		}
		if facts[i].SkippedID != nil {
			f.skipped = &skipped{ID: *facts[i].SkippedID, Reason: facts[i].SkippedReason}
		}
	}
	return nil
}

// suitesToFire locks the suites of schedules and gives them by their ids.
func suitesToFire(ctx context.Context, tx *storage.Tx, schedules []uuid.UUID, impatient bool) (map[string]firingSuite, error) {
	var rows []firingSuite
	statement := lockSuitesToFire
	if impatient {
		statement += " skip locked"
	}
	if err := tx.SelectContext(ctx, &rows, statement, storage.UUIDs(schedules)); err != nil {
		return nil, storage.Wrap(err, "lock the suites of schedules")
	}
	ids := make([]uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	var runnable []struct {
		ID       uuid.UUID `db:"id"`
		Runnable int       `db:"runnable"`
	}
	if err := tx.SelectContext(ctx, &runnable, countRunnable, storage.UUIDs(ids)); err != nil {
		return nil, storage.Wrap(err, "count cases to run")
	}
	counts := make(map[uuid.UUID]int, len(runnable))
	for _, r := range runnable {
		counts[r.ID] = r.Runnable
	}
	suites := make(map[string]firingSuite, len(rows))
	for _, s := range rows {
		s.Runnable = counts[s.ID]
		suites[s.ID.String()] = s
	}
	return suites, nil
}

// newFires are rows of test_schedule_fires to insert, by column.
type newFires struct {
	ids, schedules, triggers, outcomes, reasons, users, ats []string
	organizations, missed                                   []int64
	until                                                   []*string
	created                                                 map[uuid.UUID]time.Time // those that were written
}

// add takes up a fire, if there is one.
func (n *newFires) add(f *firing, fire *Fire) {
	if fire == nil {
		return
	}
	n.ids, n.schedules = append(n.ids, fire.ID.String()), append(n.schedules, f.ID.String())
	n.organizations, n.users = append(n.organizations, f.OrganizationID), append(n.users, fire.User.String())
	n.ats, n.triggers = append(n.ats, *instant(&fire.At)), append(n.triggers, string(fire.Trigger))
	n.outcomes, n.reasons = append(n.outcomes, string(fire.Outcome)), append(n.reasons, fire.Reason)
	n.missed, n.until = append(n.missed, int64(fire.Missed)), append(n.until, instant(fire.MissedUntil))
}

// A record that is in the way says that the time was fired before, by a clock that
// was set back since.
const insertFires = `
insert into test_schedule_fires (id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid)
select id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::int[],
	$9::timestamptz[], $10::uuid[])
	as n(id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid)
on conflict (schedule_id, fire_at) do nothing
returning id, created_at`

func (n *newFires) insert(ctx context.Context, tx *storage.Tx) error {
	if len(n.ids) == 0 {
		return nil
	}
	var rows []struct {
		ID        uuid.UUID `db:"id"`
		CreatedAt time.Time `db:"created_at"`
	}
	err := tx.SelectContext(ctx, &rows, insertFires, pq.Array(n.ids), pq.Array(n.organizations), pq.Array(n.schedules), pq.Array(n.ats),
		pq.Array(n.triggers), pq.Array(n.outcomes), pq.Array(n.reasons), pq.Array(n.missed), pq.Array(n.until), pq.Array(n.users))
	if err != nil {
		return storage.Wrap(err, "record fires of schedules")
	}
	n.created = make(map[uuid.UUID]time.Time, len(rows))
	for _, row := range rows {
		n.created[row.ID] = row.CreatedAt
	}
	return nil
}

const joinSkippedRows = `
update test_schedule_fires f set missed = least(greatest(f.missed, 1) + 1, $3), missed_until = n.at
from unnest($1::uuid[], $2::timestamptz[]) as n(id, at)
where f.id = any($1::uuid[]) and f.id = n.id`

// joinSkipped adds times to the records that stand for the skipped ones before them.
func joinSkipped(ctx context.Context, tx *storage.Tx, list []*firing) error {
	var ids []string
	var ats []*string
	for _, f := range list {
		if f.joins != nil {
			ids, ats = append(ids, f.skipped.ID.String()), append(ats, instant(f.joins))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, joinSkippedRows, pq.Array(ids), pq.Array(ats), MaxMissed)
	return storage.Wrap(err, "record skipped fires")
}

// written gives the fire when its record was written, else nil.
func (n *newFires) written(fire *Fire) *Fire {
	if fire == nil {
		return nil
	}
	at, ok := n.created[fire.ID]
	if !ok {
		return nil
	}
	fire.CreatedAt = at
	return fire
}

// newSuiteRuns are rows of suite_runs to insert, by column.
type newSuiteRuns struct {
	ids, suites, names, users, builds, fires, tunnels []string
	organizations, teams, counts                      []int64
}

// add takes up the runs of the suites that a fire starts.
func (n *newSuiteRuns) add(f *firing) (started []StartedRun) {
	for _, s := range f.starts {
		run := StartedRun{ID: storage.NewID(), OrganizationID: f.OrganizationID}
		started = append(started, run)
		build := f.BuildName
		if build == "" {
			build = strings.TrimSpace(storage.Cut(s.Name, authoring.MaxBuildName))
		}
		n.ids, n.suites, n.names = append(n.ids, run.ID.String()), append(n.suites, s.ID.String()), append(n.names, s.Name)
		n.organizations, n.teams = append(n.organizations, f.OrganizationID), append(n.teams, s.TeamID)
		n.users, n.builds = append(n.users, f.RunningUser.String()), append(n.builds, build)
		n.fires, n.tunnels = append(n.fires, f.fired.ID.String()), append(n.tunnels, f.Tunnel)
		n.counts = append(n.counts, int64(s.Runnable))
	}
	return started
}

const insertFiredRuns = `
insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fire_id, tunnel, request_id)
select id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fire_id, tunnel, $11
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::int[], $9::uuid[], $10::text[])
	as n(id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fire_id, tunnel)`

const countFiredRuns = `
update test_suites s set run_count = s.run_count + n.runs
from (select suite_id, count(*) as runs from unnest($1::uuid[]) as run(suite_id) group by suite_id) n
where s.id = any($1::uuid[]) and s.id = n.suite_id`

// insert writes the runs and counts them at their suites.
func (n *newSuiteRuns) insert(ctx context.Context, tx *storage.Tx, requestID string) error {
	if len(n.ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertFiredRuns, pq.Array(n.ids), pq.Array(n.organizations), pq.Array(n.teams), pq.Array(n.suites),
		pq.Array(n.names), pq.Array(n.users), pq.Array(n.builds), pq.Array(n.counts), pq.Array(n.fires), pq.Array(n.tunnels),
		storage.WithoutNUL(requestID))
	if err != nil {
		return storage.Wrap(err, "create suite runs of schedules")
	}
	_, err = tx.ExecContext(ctx, countFiredRuns, pq.Array(n.suites))
	return storage.Wrap(err, "count suite runs of schedules")
}
