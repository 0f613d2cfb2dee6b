package schedule

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// claimColumns are the columns of a claimedSchedule. A schedule without settings has
// no cron and nobody to run for.
const claimColumns = `s.id, s.organization_id, s.team_id, s.name, coalesce(s.cron, '') as cron,
	coalesce(s.timezone, '') as timezone,
	coalesce(s.running_user_uuid, '00000000-0000-0000-0000-000000000000') as running_user_uuid,
	s.start_at, s.end_at, s.max_runs, s.tunnel, s.build_name, s.environment, s.state, s.run_count, s.failures,
	s.last_run_at, s.last_error, s.last_firing_id, s.next_run_at`

// Whoever deletes a team or an organization locks its row and then waits for the
// schedules. So these rows are locked first here too: then a deletion waits before it
// has locked anything, or its schedules are left to it.
const (
	claimDue = `
select ` + claimColumns + `
from test_schedules s join teams t on t.id = s.team_id join organizations o on o.id = s.organization_id
where s.next_run_at <= $1 and s.id <> all($3::uuid[])
order by s.next_run_at limit $2
for key share of t, o skip locked
for no key update of s skip locked`

	// claimNow waits for the locks.
	claimNow = `
select ` + claimColumns + `, now() as now
from test_schedules s join teams t on t.id = s.team_id join organizations o on o.id = s.organization_id
where s.id = $1 and s.organization_id = $2
for key share of t, o
for no key update of s`
)

// claimedSchedule is a schedule whose row is locked in order to fire it: the row, what
// decides whether it can start, and what was decided.
type claimedSchedule struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID int64      `db:"organization_id"`
	TeamID         int64      `db:"team_id"`
	Name           string     `db:"name"`
	Cron           string     `db:"cron"`
	Timezone       string     `db:"timezone"`
	RunningUser    uuid.UUID  `db:"running_user_uuid"`
	StartAt        *time.Time `db:"start_at"`
	EndAt          *time.Time `db:"end_at"`
	MaxRuns        *int       `db:"max_runs"`
	Tunnel         string     `db:"tunnel"`
	BuildName      string     `db:"build_name"`
	Environment    string     `db:"environment"`
	State          State      `db:"state"`
	RunCount       int        `db:"run_count"`
	Failures       int        `db:"failures"`
	LastRunAt      *time.Time `db:"last_run_at"`
	LastError      string     `db:"last_error"`
	LastFiring     *uuid.UUID `db:"last_firing_id"`
	NextRunAt      *time.Time `db:"next_run_at"`

	// Read after the row was locked.
	suites           []suiteToFire // in the order of the schedule; they are locked
	suiteLocked      bool          // another transaction has locked a suite
	noUser, noTunnel bool          // what the settings name does not exist
	noEnvironment    bool          // likewise
	openRun          *uuid.UUID    // a suite run of the newest firing that has not ended
	skipped          *skippedRecord

	// Decided.
	firing    *Firing       // of this time; nil: nothing is recorded
	missed    *Firing       // of the times before it; nil: none
	coalesced *time.Time    // this time is added to the skipped record instead
	starting  []suiteToFire // by firing
	endReason string        // of a schedule that ends now, for the audit log
}

// suiteToFire is a suite of a schedule; its row is locked.
type suiteToFire struct {
	ID     uuid.UUID `db:"id"`
	TeamID int64     `db:"team_id"`
	Name   string    `db:"name"`
	// Environment is the suite's own, for schedules that name none.
	Environment string `db:"default_environment"`
	Runnable    int    // cases that can run
}

// skippedRecord is the newest firing of a schedule, where that is a skipped time: the
// next one may be coalesced with it.
type skippedRecord struct {
	ID     uuid.UUID
	Reason string
}

// claimFacts is read after the row was locked: only who has locked a schedule changes its
// suites or its newest firing.
const claimFacts = `
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
	s.environment <> '' and not exists (
		select from test_environments e where e.organization_id = s.organization_id and e.name = s.environment
	) as no_environment,
	(select r.id from suite_runs r where r.firing_id = s.last_firing_id and r.state in ('QUEUED', 'RUNNING') limit 1) as open_run,
	case when l.outcome = 'SKIPPED' and l.trigger = 'CRON' then l.id end as skipped_id,
	coalesce(l.reason, '') as skipped_reason
from test_schedules s left join lateral (
	select id, outcome, trigger, reason from test_schedule_firings where schedule_id = s.id
	order by fire_at desc, id desc limit 1
) l on true
where s.id = any($1::uuid[])`

// readClaimed locks the suites of claimed schedules and reads what decides whether
// they can start. With skipLocked, suites that another transaction has locked are not
// waited for, and suiteLocked is set on their schedules.
func readClaimed(ctx context.Context, tx *storage.Tx, list []*claimedSchedule, skipLocked bool) error {
	ids := make([]uuid.UUID, len(list))
	byID := make(map[uuid.UUID]*claimedSchedule, len(list))
	for i, s := range list {
		ids[i], byID[s.ID] = s.ID, s
	}
	suites, err := suitesToFire(ctx, tx, ids, skipLocked)
	if err != nil {
		return err
	}
	var facts []struct {
		ID            uuid.UUID      `db:"id"`
		Suites        pq.StringArray `db:"suites"`
		NoUser        bool           `db:"no_user"`
		NoTunnel      bool           `db:"no_tunnel"`
		NoEnvironment bool           `db:"no_environment"`
		OpenRun       *uuid.UUID     `db:"open_run"`
		SkippedID     *uuid.UUID     `db:"skipped_id"`
		SkippedReason string         `db:"skipped_reason"`
	}
	if err := tx.SelectContext(ctx, &facts, claimFacts, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "read what schedules need")
	}
	for i := range facts {
		s := byID[facts[i].ID]
		s.noUser, s.noTunnel, s.openRun = facts[i].NoUser, facts[i].NoTunnel, facts[i].OpenRun
		s.noEnvironment = facts[i].NoEnvironment
		for _, id := range facts[i].Suites {
			suite, ok := suites[id]
			if ok {
				s.suites = append(s.suites, suite)
			}
			s.suiteLocked = s.suiteLocked || !ok && skipLocked // else it was deleted while it was waited for
		}
		if facts[i].SkippedID != nil {
			s.skipped = &skippedRecord{ID: *facts[i].SkippedID, Reason: facts[i].SkippedReason}
		}
	}
	return nil
}

// lockSuitesToFire keeps the suites from being deleted until their runs can be seen and
// cancelled. All are locked in the order of their ids, whichever schedules they are of, as by
// everybody else.
const lockSuitesToFire = `
select id, team_id, name, default_environment from test_suites
where id in (select suite_id from test_schedule_suites where schedule_id = any($1::uuid[]))
order by id for no key update`

var countRunnable = `
select s.id, count(*) as runnable from test_suites s cross join lateral (` + suiteplan.MembersOf("s") + `) x
join test_cases c on c.id = x.id
where s.id = any($1::uuid[]) and c.runnable group by s.id`

// suitesToFire locks the suites of schedules and returns them by their ids.
func suitesToFire(ctx context.Context, tx *storage.Tx, schedules []uuid.UUID, skipLocked bool) (map[string]suiteToFire, error) {
	var rows []suiteToFire
	statement := lockSuitesToFire
	if skipLocked {
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
	suites := make(map[string]suiteToFire, len(rows))
	for _, s := range rows {
		s.Runnable = counts[s.ID]
		suites[s.ID.String()] = s
	}
	return suites, nil
}
