package crash

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/appversion"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// What people decided about a group ends by reports. A resolved group is open again, a
// regression, by a report
//
//   - of a crash that happened after the group was resolved, in a report that arrived
//     after it: what waited in a queue, on a phone or here, is none;
//   - whose version is not older than the one that it was resolved in, or is newer than
//     all that there were when it was resolved for the next version.
//
// An ignored group is open again at a date, or by the report that brings the number or
// the version that people set. Only the group that is shown decides, not its parts.

// ShownState is the state of g as it is shown: a date that has passed ends the ignoring
// without a report.
const ShownState = `case when g.state = 'ignored' and g.ignored_until <= now() then 'open' else g.state end`

// standing is the state of a group and what ends it.
type standing struct {
	ID             int64      `db:"id"`
	ProjectID      int64      `db:"crash_project_id"`
	State          GroupState `db:"state"` // as stored
	ResolvedAt     *time.Time `db:"resolved_at"`
	ResolvedIn     string     `db:"resolved_in"`
	ResolvedNext   bool       `db:"resolved_next"`
	IgnoredAt      *time.Time `db:"ignored_at"`
	IgnoredUntil   *time.Time `db:"ignored_until"`
	IgnoredCount   *int64     `db:"ignored_until_count"` // further occurrences that are left
	IgnoredVersion string     `db:"ignored_until_version"`
	IgnoredUsers   *int64     `db:"ignored_until_users"` // the number of users that it waits for
	Users          int64      `db:"users"`
	Now            time.Time  `db:"now"`
}

const standingColumns = `g.id, g.crash_project_id, g.state, g.resolved_at, g.resolved_in, g.resolved_next, g.ignored_at,
	g.ignored_until, g.ignored_until_count, g.ignored_until_version, g.ignored_until_users, g.users, now() as now`

// lockStandings locks groups in the order of their ids, which an update would take in
// the order of its plan, and returns those of them that are not open: nearly always none.
func lockStandings(ctx context.Context, tx *storage.Tx, groups []int64) ([]standing, error) {
	var rows []standing
	err := tx.SelectContext(ctx, &rows, `
		with locked as materialized (
			select `+standingColumns+` from crash_groups g where g.id = any($1) order by g.id for update
		) select * from locked where state <> 'open' order by id`, pq.Array(groups))
	return rows, storage.Wrap(err, "lock crash groups")
}

// IgnoreEnd is the condition that ended the ignoring of a group.
type IgnoreEnd string

// The conditions.
const (
	EndedByCount   IgnoreEnd = "count"
	EndedByDate    IgnoreEnd = "date"
	EndedByVersion IgnoreEnd = "version"
	EndedByUsers   IgnoreEnd = "users"
)

// transition is what reports do to a standing.
type transition struct {
	group     int64
	state     GroupState
	regressed bool
	version   string    // that the regression happened in
	ended     IgnoreEnd // "": the group was not ignored, or still is
	left      int64     // occurrences until the ignoring ends; 0: not counted
}

// firstSeen is when versions of projects were first seen, of those that have no order.
type firstSeen map[usage.Version]time.Time

// after returns what reports of its crashes do to a group; false: nothing.
func (s *standing) after(crashes []*Crash, seen firstSeen) (transition, bool) {
	switch s.State {
	case Resolved:
		return s.regression(crashes, seen)
	case Ignored:
		return s.unignored(crashes)
	}
	return transition{}, false
}

// regression finds the first crash after the group was resolved.
func (s *standing) regression(crashes []*Crash, seen firstSeen) (transition, bool) {
	if s.ResolvedAt == nil {
		return transition{}, false
	}
	// The time of a crash has whole seconds.
	from := s.ResolvedAt.Truncate(time.Second)
	older := map[string]bool{}
	var first *Crash
	for _, c := range crashes {
		if c.OccurredAt.Before(from) || !c.ReceivedAt.After(*s.ResolvedAt) || first != nil && !c.OccurredAt.Before(first.OccurredAt) {
			continue
		}
		was, known := older[c.Version]
		if !known {
			was = s.predates(c.Version, seen)
			older[c.Version] = was
		}
		if !was {
			first = c
		}
	}
	if first == nil {
		return transition{}, false
	}
	return transition{group: s.ID, state: Open, regressed: true, version: first.Version}, true
}

// predates reports whether a version is older than those in which a crash is a
// regression. No version, or one that cannot be compared, is not. Of two versions that
// are both no numbers, hashes say, the one that was seen first is older.
func (s *standing) predates(version string, seen firstSeen) bool {
	switch {
	case version == "" || s.ResolvedIn == "":
		return false
	case version == s.ResolvedIn:
		return s.ResolvedNext
	case appversion.Ordered(version, s.ResolvedIn):
		n := appversion.Compare(version, s.ResolvedIn)
		return n < 0 || n == 0 && s.ResolvedNext
	case numbered(version) || numbered(s.ResolvedIn):
		return false
	}
	first, known := seen[usage.Version{Project: s.ProjectID, Name: version}]
	if !known {
		return false
	}
	if s.ResolvedNext {
		return !first.After(*s.ResolvedAt)
	}
	fixed, known := seen[usage.Version{Project: s.ProjectID, Name: s.ResolvedIn}]
	if !known {
		fixed = *s.ResolvedAt
	}
	return first.Before(fixed)
}

func numbered(version string) bool { return appversion.Ordered(version, version) }

// unignored counts what arrived since the group is ignored.
func (s *standing) unignored(crashes []*Crash) (transition, bool) {
	t := transition{group: s.ID, state: Open}
	if s.IgnoredUntil != nil && !s.IgnoredUntil.After(s.Now) {
		t.ended = EndedByDate
		return t, true
	}
	var count int64
	looked := map[string]bool{}
	for _, c := range crashes {
		if s.IgnoredAt != nil && !c.ReceivedAt.After(*s.IgnoredAt) {
			continue
		}
		count += int64(c.Duplicates)
		if t.ended == "" && !looked[c.Version] && s.reaches(c.Version) {
			t.ended = EndedByVersion
		}
		looked[c.Version] = true
	}
	if t.ended == "" && count > 0 && s.IgnoredUsers != nil && s.Users >= *s.IgnoredUsers {
		t.ended = EndedByUsers
	}
	switch {
	case t.ended != "":
		return t, true
	case s.IgnoredCount == nil || count == 0:
		return t, false
	case count >= *s.IgnoredCount:
		t.ended = EndedByCount
		return t, true
	}
	t.state, t.left = Ignored, *s.IgnoredCount-count
	return t, true
}

// reaches reports whether a version is the one until which the group is ignored, or a
// later one.
func (s *standing) reaches(version string) bool {
	switch {
	case version == "" || s.IgnoredVersion == "":
		return false
	case version == s.IgnoredVersion:
		return true
	}
	return appversion.Ordered(version, s.IgnoredVersion) && appversion.Compare(version, s.IgnoredVersion) >= 0
}

// transitGroups applies what the reports of tallies do to groups, which are locked and have
// other numbers of users by now. Nearly always that is nothing, and costs no statement.
func transitGroups(ctx context.Context, tx *storage.Tx, rows []standing, tallies []*tally, users map[int64]int64) error {
	if len(rows) == 0 {
		return nil
	}
	crashes := make(map[int64][]*Crash, len(tallies))
	for _, t := range tallies {
		crashes[t.group] = t.crashes
	}
	seen, err := unorderedVersions(ctx, tx, rows, crashes)
	if err != nil {
		return err
	}
	var changes []transition
	for i := range rows {
		if n, known := users[rows[i].ID]; known {
			rows[i].Users = n
		}
		if t, ok := rows[i].after(crashes[rows[i].ID], seen); ok {
			changes = append(changes, t)
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return applyTransitions(ctx, tx, changes)
}

// transit changes groups. What reports did stands in the history of the group; those that an
// ignored group still waits for do not.
const transit = `
with transited as (update crash_groups g set
	state = new.state,
	reopened_at = case when new.regressed then now() else g.reopened_at end,
	regressions = g.regressions + case when new.regressed then 1 else 0 end,
	regressed_in = case when new.regressed then new.version else g.regressed_in end,
	ignored_until_count = nullif(new.remaining, 0),
	ignored_at = case when new.ended = '' then g.ignored_at end,
	ignored_until = case when new.ended = '' then g.ignored_until end,
	ignored_until_version = case when new.ended = '' then g.ignored_until_version else '' end,
	ignored_until_users = case when new.ended = '' then g.ignored_until_users end,
	ignore_ended = new.ended,
	ignore_ended_at = case new.ended when '' then null when 'date' then g.ignored_until else now() end
from unnest($1::bigint[], $2::text[], $3::boolean[], $4::text[], $5::text[], $6::bigint[])
	as new(id, state, regressed, version, ended, remaining)
where g.id = new.id returning g.id, new.state, new.regressed, new.version, new.ended)
insert into crash_group_changes (group_id, state, detail)
select id, state, case when regressed then jsonb_build_object('regressed_in', version) else jsonb_build_object('ignore_ended', ended) end
from transited where regressed or ended <> '' order by id`

func applyTransitions(ctx context.Context, tx *storage.Tx, changes []transition) error {
	var ids, left []int64
	var states, versions, ended []string
	var regressed []bool
	for _, t := range changes {
		ids, left = append(ids, t.group), append(left, t.left)
		states, versions, ended = append(states, string(t.state)), append(versions, t.version), append(ended, string(t.ended))
		regressed = append(regressed, t.regressed)
	}
	_, err := tx.ExecContext(ctx, transit, pq.Array(ids), pq.Array(states), pq.Array(regressed), pq.Array(versions),
		pq.Array(ended), pq.Array(left))
	return storage.Wrap(err, "change the states of crash groups")
}

// unorderedVersions reads when versions that have no order were first seen: those of
// the crashes of groups that were resolved in one that has none.
func unorderedVersions(ctx context.Context, tx *storage.Tx, rows []standing, crashes map[int64][]*Crash) (firstSeen, error) {
	want := map[usage.Version]bool{}
	for i := range rows {
		s := &rows[i]
		if s.State != Resolved || s.ResolvedIn == "" || numbered(s.ResolvedIn) {
			continue
		}
		want[usage.Version{Project: s.ProjectID, Name: s.ResolvedIn}] = true
		for _, c := range crashes[s.ID] {
			want[usage.Version{Project: s.ProjectID, Name: c.Version}] = true
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	return usage.FirstSeen(ctx, tx, slices.Collect(maps.Keys(want)))
}
