// Package reading reads what lists and pages show of crashes: groups and their crashes, one
// crash, values of attributes, trends, similar groups, histories and versions.
//
// It writes nothing; package storage/crash has what is recorded and decided. A list is counted
// up to a bound and reaches a bounded number of rows, and each order of it has an index, but for
// counts within a window of time. What a search or an attribute of a filter of groups names is
// found first, once for the count and the page, where that is not too much to name (Selection,
// for a change of many). A group that was merged away is found by its id, and what is counted of
// a group that is shown includes its parts.
//
// Where an attribute has too many values to name all groups of one, the newest reports of some
// groups are looked at, and the list says that it may lack others.
package reading

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// Group is a group with what lists show of it.
type Group struct {
	ID             int64            `db:"id"`
	OrganizationID int64            `db:"organization_id"`
	ProjectID      int64            `db:"crash_project_id"`
	ProjectName    string           `db:"project_name"`
	Fingerprint    []byte           `db:"fingerprint"`
	Algorithm      int              `db:"algorithm"` // 0: given by the client
	Title          string           `db:"title"`
	Culprit        string           `db:"culprit"`
	Classifier     string           `db:"classifier"`
	Severity       crash.Severity   `db:"severity"` // of its worst report
	State          crash.GroupState `db:"state"`
	Count          int64            `db:"count"`
	FirstSeen      time.Time        `db:"first_seen"`
	LastSeen       time.Time        `db:"last_seen"`
	ResolvedAt     *time.Time       `db:"resolved_at"`
	// ResolvedIn is the version that it was resolved in, or with ResolvedNext the newest
	// that there was before the one that it will be resolved in; "": any.
	ResolvedIn   string     `db:"resolved_in"`
	ResolvedNext bool       `db:"resolved_next"`
	ReopenedAt   *time.Time `db:"reopened_at"`
	RegressedIn  string     `db:"regressed_in"` // version of the last regression
	Regressions  int        `db:"regressions"`

	// What ends the ignoring of an ignored group; all empty: nothing.
	IgnoredAt      *time.Time      `db:"ignored_at"`
	IgnoredUntil   *time.Time      `db:"ignored_until"`
	IgnoredCount   *int64          `db:"ignored_until_count"` // further occurrences that are left
	IgnoredUsers   *int64          `db:"ignored_users_left"`  // further users that are left
	IgnoredVersion string          `db:"ignored_until_version"`
	IgnoreEnded    crash.IgnoreEnd `db:"ignore_ended"` // what ended it last
	IgnoreEndedAt  *time.Time      `db:"ignore_ended_at"`

	AssigneeID    *int64  `db:"assignee_id"`
	AssigneeEmail *string `db:"assignee_email"`
	AssigneeName  *string `db:"assignee_name"`
	IssueURL      string  `db:"issue_url"`

	// Users are those that the reports name, of all time; where UsersPartial since UsersSince
	// only, nil: from before users were counted, and the reports are not read yet.
	Users        int64      `db:"users"`
	UsersSince   *time.Time `db:"users_since"`
	UsersPartial bool       `db:"users_partial"`

	// WindowCount is the count in the window of a list, or of a group that is read for one.
	WindowCount int64
	Versions    Affected
	Hosts       Affected
	// Recent counts each of the last RecentDays days, today last; of lists only.
	Recent []int64
	// Of GroupByID only. Messages are the most frequent ones, days are newest last, at
	// most dayHistory.
	Messages       Affected
	Days           []Day
	Parts          []crash.Part
	PartsTruncated bool // there are more
	Comments       int  // also those of the parts
	// SplitInto and SplitFrom are the groups to which crashes went when symbols arrived, and
	// from which they came.
	SplitInto, SplitFrom []crash.Successor
	// FirstBuild and LastBuild are those uploaded first and last of which there was a report;
	// nil: none is known, or it is gone.
	FirstBuild, LastBuild *AffectedBuild

	// Newest is the newest crash, of lists too; nil: none is left.
	Newest *crash.Newest
}

// Affected are the distinct versions or hosts of a group, the most frequent
// first.
type Affected struct {
	Total     int // distinct values, at most the bound
	Values    []Value
	Truncated bool // the bound is reached: more may have been seen
}

// Value is one version or host.
type Value struct {
	Value     string    `db:"value"`
	Count     int64     `db:"count"`
	FirstSeen time.Time `db:"first_seen"`
	LastSeen  time.Time `db:"last_seen"`
	Figures             // of a version
}

// Day counts a group's occurrences on one day (UTC).
type Day struct {
	Day   time.Time `db:"day"`
	Count int64     `db:"count"`
}

const (
	// dayHistory is how many days, today included, a group shows.
	dayHistory = 90
	// listValues is how many versions and hosts the list shows of each group.
	listValues = 10
)

const groupColumns = `g.id, g.organization_id, g.crash_project_id, p.name as project_name, g.fingerprint,
	g.algorithm, g.title, g.culprit, g.classifier, g.severity, ` + crash.ShownState + ` as state, g.count, g.first_seen, g.last_seen,
	g.resolved_at, g.resolved_in, g.resolved_next, g.reopened_at, g.regressed_in, g.regressions,
	g.users, nullif(g.users_since, g.created_at) as users_since, coalesce(g.users_since, now()) <> g.created_at as users_partial,
	g.ignored_at, g.ignored_until, g.ignored_until_count,
	case when g.ignored_until_users is not null then greatest(g.ignored_until_users - g.users, 0) end as ignored_users_left,
	g.ignored_until_version, g.ignore_ended, g.ignore_ended_at,
	g.assignee_id, (select u.email from users u where u.id = g.assignee_id) as assignee_email,
	(select u.name from users u where u.id = g.assignee_id) as assignee_name, g.issue_url`

const groupByID = `select ` + groupColumns + `, ` + affectedBuilds + ` as builds
from crash_groups g join crash_projects p on p.id = g.crash_project_id
where g.organization_id = $1
	and g.id = (` + crash.ShownGroup + `)`

// GroupByID reads a group with all its versions, hosts and days. The id of a
// group that was merged away leads to the group that has its reports now.
func GroupByID(ctx context.Context, q storage.Querier, organization, id int64) (*Group, error) {
	var read struct {
		Group
		Builds []byte `db:"builds"`
	}
	if err := q.GetContext(ctx, &read, groupByID, organization, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("crash group %d", id))
	}
	list := []Group{read.Group}
	if err := readValues(ctx, q, list, crash.MaxValues, Omitted{}); err != nil {
		return nil, err
	}
	g := list[0]
	var err error
	if g.FirstBuild, g.LastBuild, err = affectedBuildsOf(read.Builds); err != nil {
		return nil, err
	}
	if g.Messages, err = readMessages(ctx, q, g.ID); err != nil {
		return nil, err
	}
	g.Days = []Day{}
	err = q.SelectContext(ctx, &g.Days, `
		select d.day, sum(d.count)::bigint as count
		from crash_groups g join crash_group_days d on d.group_id = g.id
		where (g.id = $1 or g.root_id = $1) and d.day > current_date - $2::int group by d.day order by d.day`, g.ID, dayHistory)
	if err != nil {
		return nil, storage.Wrap(err, "days of a crash group")
	}
	if g.Parts, g.PartsTruncated, err = crash.Parts(ctx, q, organization, g.ID); err != nil {
		return nil, err
	}
	if g.SplitInto, g.SplitFrom, err = crash.Successors(ctx, q, g.ID); err != nil {
		return nil, err
	}
	g.Comments, err = crash.CountComments(ctx, q, g.ID)
	return &g, err
}

// dateEnded shows that a date has ended the ignoring, where no report came since.
func (g *Group) dateEnded() {
	if g.State == crash.Open && g.IgnoredUntil != nil {
		g.IgnoreEnded, g.IgnoreEndedAt = crash.EndedByDate, g.IgnoredUntil
		g.IgnoredAt, g.IgnoredUntil, g.IgnoredCount, g.IgnoredVersion = nil, nil, nil, ""
		g.IgnoredUsers = nil
	}
}

// selectValues picks the most frequent of each kind group by group: of hundreds of values, a
// list shows ten.
const selectValues = `
select w.root as group_id, k.kind, v.value, v.count, v.first_seen, v.last_seen, v.total
from unnest($1::bigint[]) as w(root) cross join unnest($3::text[]) as k(kind)
cross join lateral (
	select a.value, sum(a.count)::bigint as count, min(a.first_seen) as first_seen, max(a.last_seen) as last_seen,
		count(*) over () as total
	from (
		select value, count, first_seen, last_seen from crash_group_values where group_id = w.root and kind = k.kind
		union all
		select o.value, o.count, o.first_seen, o.last_seen from crash_groups p join crash_group_values o on o.group_id = p.id
		where p.root_id = w.root and o.kind = k.kind
	) a group by a.value order by sum(a.count) desc, a.value limit $2
) v
order by w.root, k.kind, v.count desc, v.value`

// readValues completes groups that were read: the versions, with their sessions and
// users, and the hosts, up to most of each, and the newest crash.
func readValues(ctx context.Context, q storage.Querier, groups []Group, most int, without Omitted) error {
	ids := make([]int64, len(groups))
	at := make(map[int64]*Group, len(groups))
	for i := range groups {
		g := &groups[i]
		g.dateEnded()
		ids[i], at[g.ID] = g.ID, g
		g.Versions.Values, g.Hosts.Values = []Value{}, []Value{}
	}
	var rows []struct {
		GroupID int64  `db:"group_id"`
		Kind    string `db:"kind"`
		Total   int    `db:"total"`
		Value
	}
	kinds := []string{"version", "host"}
	if without.Hosts {
		kinds = kinds[:1]
	}
	if err := q.SelectContext(ctx, &rows, selectValues, pq.Array(ids), most, pq.Array(kinds)); err != nil {
		return storage.Wrap(err, "versions and hosts of crash groups")
	}
	for _, r := range rows {
		a := &at[r.GroupID].Versions
		if r.Kind == "host" {
			a = &at[r.GroupID].Hosts
		}
		a.Total, a.Truncated = min(r.Total, crash.MaxValues), r.Total >= crash.MaxValues
		a.Values = append(a.Values, r.Value)
	}
	if !without.Newest {
		newest, err := crash.NewestOfGroups(ctx, q, ids)
		if err != nil {
			return err
		}
		for id, n := range newest {
			at[id].Newest = &n
		}
	}
	return readFigures(ctx, q, groups)
}
