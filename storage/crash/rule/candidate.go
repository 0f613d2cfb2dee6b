package rule

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

// Rules are evaluated after the reports of batches were recorded, in a transaction of its own. A
// group is new, or regressed, by the batches whose transaction made it or opened it again: the row
// of their task has the time of that transaction.

const (
	// matchedReports is how many reports of a group are looked at among those that arrived.
	matchedReports = 20
	// maxRows bounds them in sum: one of each group is looked at before a second of any, and
	// those of new groups before others, which are looked at again with their next reports.
	maxRows = 20_000
	// countedReports bounds the reports that are read to count those of some time.
	countedReports = maxReports + 1
)

// Batches are batches that were recorded, each with the time of its transaction.
type Batches struct {
	IDs   []uuid.UUID
	Times []time.Time
}

// Candidate is a group to which reports came, for which rules may fire.
type Candidate struct {
	Group      int64            `db:"group_id"`
	ProjectID  int64            `db:"crash_project_id"`
	Project    string           `db:"project"`
	App        int64            `db:"app"`
	Title      string           `db:"title"`
	Culprit    string           `db:"culprit"`
	Classifier string           `db:"classifier"`
	State      crash.GroupState `db:"state"` // as it is shown
	Count      int64            `db:"count"`
	Users      int64            `db:"users"`
	New        bool             `db:"is_new"`
	Regressed  bool             `db:"regressed"`
	FirstSeen  time.Time        `db:"first_seen"`
	ReopenedAt *time.Time       `db:"reopened_at"`
	Now        time.Time        `db:"now"`

	reports []candidateReport
}

type candidateReport struct {
	ID    uuid.UUID `db:"id"`
	Build int64     `db:"build"`
	facts
}

// pickedAttributes are those of $3 that a report c has, as texts.
const pickedAttributes = `case when cardinality($3::text[]) > 0 then (
		select jsonb_object_agg(k, c.attributes ->> k) from unnest($3::text[]) as k where c.attributes ->> k is not null) end as picked`

const candidates = `
with arrived as (
	select g.id as group_id, c.id, row_number() over (partition by g.id order by c.id) as turn,
		bool_or(g.created_at = w.at) over (partition by g.id) as is_new,
		coalesce(bool_or(g.reopened_at = w.at) over (partition by g.id), false) as regressed
	from unnest($2::uuid[], $4::uuid[], $5::timestamptz[]) as w(first, last, at)
	cross join lateral (
		select c.id, c.key_id from crashes c where c.id between w.first and w.last and c.organization_id = $1 offset 0) c
	join crash_group_keys k on k.id = c.key_id
	join crash_groups own on own.id = k.group_id
	join crash_groups g on g.id = coalesce(own.root_id, own.id)
)
select a.group_id, g.crash_project_id, p.name as project, coalesce(p.project_id, 0) as app, g.title, g.culprit, g.classifier,
	` + crash.ShownState + ` as state, g.count, g.users, a.is_new, a.regressed, g.first_seen, g.reopened_at, now() as now,
	c.id, coalesce(c.build_id, 0) as build, c.version, c.severity, ` + pickedAttributes + `
from arrived a join crash_groups g on g.id = a.group_id join crash_projects p on p.id = g.crash_project_id join crashes c on c.id = a.id
where a.turn <= $6 order by a.turn, not (a.is_new or a.regressed), a.group_id limit $7`

// Enabled are the rules of an organization that may fire.
func Enabled(ctx context.Context, q storage.Querier, organization int64) ([]Rule, error) {
	var list []Rule
	err := q.SelectContext(ctx, &list, `select `+columns+
		` from crash_rules r where r.organization_id = $1 and r.enabled order by r.id`, organization)
	return list, storage.Wrap(err, "rules of crash groups")
}

// Any reports whether an organization has rules that may fire.
func Any(ctx context.Context, q storage.Querier, organization int64) (bool, error) {
	var there bool
	err := q.GetContext(ctx, &there, `select `+received.Ruled("$1"), organization)
	return there, storage.Wrap(err, "look for crash rules")
}

// Candidates reads the groups to which the reports of batches came that are open.
func Candidates(ctx context.Context, q storage.Querier, organization int64, rules []Rule, batches Batches) ([]*Candidate, error) {
	var first, last, times []string
	for i, id := range batches.IDs {
		first, last = append(first, id.String()), append(last, received.EntryID(id, received.MaxBatch-1).String())
		times = append(times, array.Time(batches.Times[i]))
	}
	var rows []struct {
		Candidate
		candidateReport
	}
	err := q.SelectContext(ctx, &rows, candidates, organization, pq.Array(first), pq.Array(keysOf(rules)), pq.Array(last),
		pq.Array(times), matchedReports, maxRows)
	if err != nil {
		return nil, storage.Wrap(err, "crash groups of rules")
	}
	var list []*Candidate
	by := map[int64]*Candidate{}
	for i := range rows {
		row := &rows[i]
		if row.State != crash.Open {
			continue
		}
		if by[row.Group] == nil {
			by[row.Group] = &row.Candidate
			list = append(list, &row.Candidate)
		}
		by[row.Group].reports = append(by[row.Group].reports, row.candidateReport)
	}
	return list, nil
}

// keysOf are the attributes that rules look at.
func keysOf(rules []Rule) []string {
	keys := []string{}
	for i := range rules {
		keys = append(keys, rules[i].keys()...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Match is the firing of the rule for the group with a report that came and fulfils the conditions of
// the rule but those of places; nil: it does not look at the group now, or there is none. Whether
// enough came is for Count.
func (r *Rule) Match(c *Candidate) *Firing {
	switch {
	case r.ProjectID != nil && *r.ProjectID != c.ProjectID:
		return nil
	case r.Trigger == WhenNew && !c.New, r.Trigger == WhenRegressed && !c.Regressed:
		return nil
	case r.Trigger.counts() && c.Count <= int64(r.Above): // fewer users than reports
		return nil
	}
	at := slices.IndexFunc(c.reports, func(f candidateReport) bool { return r.holds(&f.facts) })
	if at < 0 && r.Trigger.counts() && len(c.reports) >= matchedReports {
		at = 0 // others came, which are counted
	}
	if at < 0 {
		return nil
	}
	return &Firing{Rule: r, Group: c, report: &c.reports[at]}
}

// lastFirings are the firings of rules for groups.
const lastFirings = `select rule_id, group_id, fired_at from crash_rule_firings where rule_id = any($1) and group_id = any($2)`

// Pair is a rule and a group for which it may fire.
type Pair struct{ Rule, Group int64 }

// LastFirings reads when rules fired for groups last.
func LastFirings(ctx context.Context, q storage.Querier, rules []Rule, groups []*Candidate) (map[Pair]time.Time, error) {
	var ids, of []int64
	for i := range rules {
		ids = append(ids, rules[i].ID)
	}
	for _, c := range groups {
		of = append(of, c.Group)
	}
	var rows []struct {
		Rule  int64     `db:"rule_id"`
		Group int64     `db:"group_id"`
		At    time.Time `db:"fired_at"`
	}
	if err := q.SelectContext(ctx, &rows, lastFirings, pq.Array(ids), pq.Array(of)); err != nil {
		return nil, storage.Wrap(err, "firings of crash rules")
	}
	fired := make(map[Pair]time.Time, len(rows))
	for _, r := range rows {
		fired[Pair{r.Rule, r.Group}] = r.At
	}
	return fired, nil
}

// MayFire reports whether a rule that fired for a group at a time may fire for it again: the group
// was resolved since, or the rule's time has passed. recordFirings asks the same.
func (r *Rule) MayFire(c *Candidate, last time.Time) bool {
	if c.ReopenedAt != nil && c.ReopenedAt.After(last) {
		return true
	}
	return r.RepeatHours > 0 && c.Now.Sub(last) >= time.Duration(r.RepeatHours)*time.Hour
}

// countReports reads the newest reports of each key of a group in some time, in the order of the index
// crashes_key: as a plain join, all crashes of the database could be read.
const countReports = `
select c.duplicates, c.version, c.severity, ` + pickedAttributes + `,
	case when $4 then (select jsonb_object_agg(k, c.attributes ->> k) from unnest($5::text[]) as k
	where c.attributes ->> k is not null) end as named
from (select m.id from crash_groups m where m.id = $1 or m.root_id = $1 offset 0) m join crash_group_keys k on k.group_id = m.id
cross join lateral (
	select c.duplicates, c.version, c.severity, c.attributes from crashes c
	where c.key_id = k.id and c.occurred_at > now() - make_interval(mins => $2) order by c.occurred_at desc limit $6) c
limit $6`

// Count counts what the rule counts of a group, up to what fires it: the users, or the
// reports, that fulfil its conditions but those of places.
func (r *Rule) Count(ctx context.Context, q storage.Querier, group int64) (int, error) {
	rows, err := q.QueryxContext(ctx, countReports, group, r.Minutes, pq.Array(keysOf([]Rule{*r})), r.Trigger == WhenUsers,
		pq.Array(crash.AffectedKeys()), countedReports)
	if err != nil {
		return 0, storage.Wrap(err, "count reports for a rule")
	}
	defer func() { _ = rows.Close() }()
	count, users := 0, map[string]bool{}
	for rows.Next() && count <= r.Above {
		var row struct {
			Duplicates int    `db:"duplicates"`
			Named      []byte `db:"named"`
			facts
		}
		if err := rows.StructScan(&row); err != nil {
			return 0, storage.Wrap(err, "count reports for a rule")
		}
		if !r.holds(&row.facts) {
			continue
		}
		if r.Trigger == WhenReports {
			count += row.Duplicates
			continue
		}
		if user := crash.AffectedUserOf(string(row.Named)); user != "" {
			users[user] = true
			count = len(users)
		}
	}
	return count, storage.Wrap(rows.Err(), "count reports for a rule")
}
