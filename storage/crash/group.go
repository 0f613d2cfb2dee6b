package crash

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// GroupState is what people decided about a group.
type GroupState string

// The states of a group. A resolved group that is seen again is open again; an
// ignored one stays ignored.
const (
	Open     GroupState = "open"
	Resolved GroupState = "resolved"
	Ignored  GroupState = "ignored"
)

// Validate refuses an unknown state.
func (s GroupState) Validate() error {
	if s != Open && s != Resolved && s != Ignored {
		return &storage.InvalidError{Field: "state", Msg: "must be open, resolved or ignored"}
	}
	return nil
}

// Group is a group with what lists show of it.
type Group struct {
	ID             int64      `db:"id"`
	OrganizationID int64      `db:"organization_id"`
	ProjectID      int64      `db:"crash_project_id"`
	ProjectName    string     `db:"project_name"`
	Fingerprint    []byte     `db:"fingerprint"`
	Algorithm      int        `db:"algorithm"` // 0: given by the client
	Title          string     `db:"title"`
	Culprit        string     `db:"culprit"`
	Classifier     string     `db:"classifier"`
	State          GroupState `db:"state"`
	Count          int64      `db:"count"`
	FirstSeen      time.Time  `db:"first_seen"`
	LastSeen       time.Time  `db:"last_seen"`
	ResolvedAt     *time.Time `db:"resolved_at"`
	ReopenedAt     *time.Time `db:"reopened_at"`
	Regressions    int        `db:"regressions"`

	Versions Affected
	Hosts    Affected
	Days     []Day // of GroupByID only: newest last, at most dayHistory
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
	g.algorithm, g.title, g.culprit, g.classifier, g.state, g.count, g.first_seen, g.last_seen,
	g.resolved_at, g.reopened_at, g.regressions`

const groupByID = `select ` + groupColumns + `
from crash_groups g join crash_projects p on p.id = g.crash_project_id
where g.organization_id = $1
	and g.id = coalesce((select m.group_id from crash_group_merges m where m.old_id = $2), $2)`

// GroupByID reads a group with all its versions, hosts and days. The id of a
// group that was merged away leads to the group that has its reports now.
func GroupByID(ctx context.Context, q storage.Querier, organization, id int64) (*Group, error) {
	var g Group
	if err := q.GetContext(ctx, &g, groupByID, organization, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("crash group %d", id))
	}
	list := []Group{g}
	if err := readValues(ctx, q, list, maxValues); err != nil {
		return nil, err
	}
	g = list[0]
	g.Days = []Day{}
	err := q.SelectContext(ctx, &g.Days, `
		select day, count from crash_group_days
		where group_id = $1 and day > current_date - $2::int order by day`, g.ID, dayHistory)
	if err != nil {
		return nil, storage.Wrap(err, "days of a crash group")
	}
	return &g, nil
}

// ResolveGroup returns the id of a group, which differs from the one requested when
// that was merged away.
func ResolveGroup(ctx context.Context, q storage.Querier, organization, id int64) (int64, error) {
	p, err := placeOf(ctx, q, organization, id)
	return p.ID, err
}

const selectValues = `
select group_id, kind, value, count, first_seen, last_seen, total from (
	select v.*, row_number() over w as place, count(*) over (partition by group_id, kind) as total
	from crash_group_values v where group_id = any($1)
	window w as (partition by group_id, kind order by count desc, value)
) ranked where place <= $2
order by group_id, kind, place`

// readValues fills in the versions and hosts, up to most of each.
func readValues(ctx context.Context, q storage.Querier, groups []Group, most int) error {
	ids := make([]int64, len(groups))
	at := make(map[int64]*Group, len(groups))
	for i := range groups {
		g := &groups[i]
		ids[i], at[g.ID] = g.ID, g
		g.Versions.Values, g.Hosts.Values = []Value{}, []Value{}
	}
	var rows []struct {
		GroupID int64  `db:"group_id"`
		Kind    string `db:"kind"`
		Total   int    `db:"total"`
		Value
	}
	if err := q.SelectContext(ctx, &rows, selectValues, pq.Array(ids), most); err != nil {
		return storage.Wrap(err, "versions and hosts of crash groups")
	}
	for _, r := range rows {
		a := &at[r.GroupID].Versions
		if r.Kind == "host" {
			a = &at[r.GroupID].Hosts
		}
		a.Total, a.Truncated = r.Total, r.Total >= maxValues
		a.Values = append(a.Values, r.Value)
	}
	return nil
}

// SetGroupState changes the state of a group, with its audit row, and returns the
// group's id, which differs from the one requested when that was merged away.
func SetGroupState(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, state GroupState) (int64, error) {
	if err := state.Validate(); err != nil {
		return 0, err
	}
	var g struct {
		ID    int64      `db:"id"`
		State GroupState `db:"state"`
	}
	err := tx.GetContext(ctx, &g, `
		select id, state from crash_groups
		where organization_id = $1
			and id = coalesce((select m.group_id from crash_group_merges m where m.old_id = $2), $2)
		for no key update`, w.OrganizationID, id)
	if err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("crash group %d", id))
	}
	// Resolving again counts from now: what was reported until now is known.
	_, err = tx.ExecContext(ctx, `update crash_groups set state = $2,
		resolved_at = case when $2 = 'resolved' then now() end where id = $1`, g.ID, string(state))
	if err != nil {
		return 0, storage.Wrap(err, "change the state of a crash group")
	}
	return g.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupUpdated,
		Actor: w.Actor, Subject: groupSubject(g.ID), Detail: map[string]any{"state": state, "former_state": g.State}})
}

// groupSubject is how the audit log names a group.
func groupSubject(id int64) string { return "crash group " + strconv.FormatInt(id, 10) }
