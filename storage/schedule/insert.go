package schedule

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// newFirings are rows of test_schedule_firings to insert, by column.
type newFirings struct {
	ids, schedules, triggers, outcomes, reasons, users, ats []string
	organizations, missed                                   []int64
	until                                                   []*string
	created                                                 map[uuid.UUID]time.Time // those that were inserted
}

// add adds a firing of a schedule; nil adds nothing.
func (n *newFirings) add(s *claimedSchedule, f *Firing) {
	if f == nil {
		return
	}
	n.ids, n.schedules = append(n.ids, f.ID.String()), append(n.schedules, s.ID.String())
	n.organizations, n.users = append(n.organizations, s.OrganizationID), append(n.users, f.User.String())
	n.ats, n.triggers = append(n.ats, *instant(&f.At)), append(n.triggers, string(f.Trigger))
	n.outcomes, n.reasons = append(n.outcomes, string(f.Outcome)), append(n.reasons, f.Reason)
	n.missed, n.until = append(n.missed, int64(f.Missed)), append(n.until, instant(f.MissedUntil))
}

// insertFirings leaves out a record of the clock that is there already: it was fired before,
// by a clock that was set back since. Runs by hand are never in conflict.
const insertFirings = `
insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid)
select id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::int[],
	$9::timestamptz[], $10::uuid[])
	as n(id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid)
on conflict (schedule_id, fire_at) where trigger <> 'MANUAL' do nothing
returning id, created_at`

func (n *newFirings) insert(ctx context.Context, tx *storage.Tx) error {
	if len(n.ids) == 0 {
		return nil
	}
	var rows []struct {
		ID        uuid.UUID `db:"id"`
		CreatedAt time.Time `db:"created_at"`
	}
	err := tx.SelectContext(ctx, &rows, insertFirings, pq.Array(n.ids), pq.Array(n.organizations), pq.Array(n.schedules), pq.Array(n.ats),
		pq.Array(n.triggers), pq.Array(n.outcomes), pq.Array(n.reasons), pq.Array(n.missed), pq.Array(n.until), pq.Array(n.users))
	if err != nil {
		return storage.Wrap(err, "record firings of schedules")
	}
	n.created = make(map[uuid.UUID]time.Time, len(rows))
	for _, row := range rows {
		n.created[row.ID] = row.CreatedAt
	}
	return nil
}

// inserted returns the firing when its record was inserted, else nil.
func (n *newFirings) inserted(f *Firing) *Firing {
	if f == nil {
		return nil
	}
	at, ok := n.created[f.ID]
	if !ok {
		return nil
	}
	f.CreatedAt = at
	return f
}

const coalesceSkippedRows = `
update test_schedule_firings f set missed = least(greatest(f.missed, 1) + 1, $3), missed_until = n.at
from unnest($1::uuid[], $2::timestamptz[]) as n(id, at)
where f.id = any($1::uuid[]) and f.id = n.id`

// coalesceSkipped adds skipped times to the records of those before them.
func coalesceSkipped(ctx context.Context, tx *storage.Tx, list []*claimedSchedule) error {
	var ids []string
	var ats []*string
	for _, s := range list {
		if s.coalesced != nil {
			ids, ats = append(ids, s.skipped.ID.String()), append(ats, instant(s.coalesced))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, coalesceSkippedRows, pq.Array(ids), pq.Array(ats), MaxMissed)
	return storage.Wrap(err, "record skipped times of schedules")
}

// newSuiteRuns are rows of suite_runs to insert, by column.
type newSuiteRuns struct {
	ids, suites, names, users, builds, firings, tunnels []string
	environments                                        []string
	organizations, teams, counts                        []int64
}

// add adds a run for each suite that a firing starts.
func (n *newSuiteRuns) add(s *claimedSchedule) (started []StartedRun) {
	for _, suite := range s.starting {
		run := StartedRun{ID: storage.NewID(), OrganizationID: s.OrganizationID}
		started = append(started, run)
		build := s.BuildName
		if build == "" {
			build = strings.TrimSpace(storage.Cut(suite.Name, authoring.MaxBuildName))
		}
		n.ids, n.suites, n.names = append(n.ids, run.ID.String()), append(n.suites, suite.ID.String()), append(n.names, suite.Name)
		n.organizations, n.teams = append(n.organizations, s.OrganizationID), append(n.teams, suite.TeamID)
		n.users, n.builds = append(n.users, s.RunningUser.String()), append(n.builds, build)
		n.firings, n.tunnels = append(n.firings, s.firing.ID.String()), append(n.tunnels, s.Tunnel)
		n.environments = append(n.environments, cmp.Or(s.Environment, suite.Environment))
		n.counts = append(n.counts, int64(suite.Runnable))
	}
	return started
}

const insertSuiteRuns = `
insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, firing_id, tunnel, request_id,
	environment, max_duration, set_up, tear_down, group_ids, login)
select n.id, n.organization_id, n.team_id, n.suite_id, n.suite_name, n.user_uuid, n.build_name, n.run_count, n.firing_id, n.tunnel, $11,
	n.environment, s.max_duration, s.set_up, s.tear_down, (select array_agg(u.group_id) from step_group_uses u
	where u.suite_id = s.id), s.login
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::uuid[], $7::text[], $8::int[], $9::uuid[], $10::text[],
	$12::text[])
	as n(id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, firing_id, tunnel, environment)
join test_suites s on s.id = n.suite_id`

const countSuiteRuns = `
update test_suites s set run_count = s.run_count + n.runs
from (select suite_id, count(*) as runs from unnest($1::uuid[]) as run(suite_id) group by suite_id) n
where s.id = any($1::uuid[]) and s.id = n.suite_id`

// insert writes the runs and counts them at their suites.
func (n *newSuiteRuns) insert(ctx context.Context, tx *storage.Tx, requestID string) error {
	if len(n.ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertSuiteRuns, pq.Array(n.ids), pq.Array(n.organizations), pq.Array(n.teams), pq.Array(n.suites),
		pq.Array(n.names), pq.Array(n.users), pq.Array(n.builds), pq.Array(n.counts), pq.Array(n.firings), pq.Array(n.tunnels),
		storage.WithoutNUL(requestID), pq.Array(n.environments))
	if err != nil {
		return storage.Wrap(err, "create suite runs of schedules")
	}
	_, err = tx.ExecContext(ctx, countSuiteRuns, pq.Array(n.suites))
	return storage.Wrap(err, "count suite runs of schedules")
}

// instant formats a time for an array of the database; nil for null.
func instant(at *time.Time) *string {
	if at == nil {
		return nil
	}
	text := at.UTC().Format(time.RFC3339Nano)
	return &text
}
