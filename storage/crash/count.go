package crash

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/distinct"
	"github.com/slipway-qa/slipway/storage/crash/span"
)

// MaxValues bounds the distinct versions, and the distinct hosts, that a group
// remembers: a fleet of a million phones must not make a million rows. What
// comes after is counted in the group and not by value.
const MaxValues = 200

// tally is what one transaction adds to one group: to its own days and values, and
// to the count and times of root, the group that is shown in its place.
type tally struct {
	group, root int64
	count       int64
	seen        span.Span
	severity    int64    // the worst
	crashes     []*Crash // they decide whether a resolved or ignored group is open again
	days        map[string]int64
	hours       map[string]int64
	versionDays map[versionDay]int64
	users       distinct.Sample
	// The builds that were uploaded first and last; 0: none is known.
	firstBuild, lastBuild int64

	values   map[valueKey]*valueTally
	messages map[string]*valueTally
}

// versionDay is a version of a group on a day.
type versionDay struct{ version, day string }

type valueKey struct{ kind, value string }

type valueTally struct {
	count int64
	seen  span.Span
}

// count adds the crashes to their groups.
func count(ctx context.Context, tx *storage.Tx, organization int64, keys map[projectKey]keyRow, crashes []Crash) error {
	tallies := tallyUp(keys, crashes)
	if len(tallies) == 0 {
		return nil
	}
	if err := countGroups(ctx, tx, roots(tallies), tallies); err != nil {
		return err
	}
	if err := countValues(ctx, tx, tallies); err != nil {
		return err
	}
	if err := countDays(ctx, tx, tallies); err != nil {
		return err
	}
	return countMessages(ctx, tx, organization, tallies)
}

// tallyUp sums the crashes by group, ordered by group id.
func tallyUp(keys map[projectKey]keyRow, crashes []Crash) []*tally {
	byGroup := map[int64]*tally{}
	for i := range crashes {
		c := &crashes[i]
		if c.Group == nil {
			continue
		}
		k := keys[projectKey{c.ProjectID, c.Group.Key}]
		t := byGroup[k.GroupID]
		if t == nil {
			t = newTally(k.GroupID, k.RootID, c)
			byGroup[k.GroupID] = t
		}
		t.add(c)
	}
	all := make([]*tally, 0, len(byGroup))
	for _, t := range byGroup {
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b *tally) int { return cmp.Compare(a.group, b.group) })
	return all
}

func newTally(group, root int64, first *Crash) *tally {
	return &tally{group: group, root: root, seen: span.At(first.OccurredAt),
		days: map[string]int64{}, hours: map[string]int64{}, versionDays: map[versionDay]int64{},
		values: map[valueKey]*valueTally{}, messages: map[string]*valueTally{}}
}

// roots sums tallies by the groups that are shown, ordered by their ids; days and
// values are not summed.
func roots(tallies []*tally) []*tally {
	byRoot := map[int64]*tally{}
	for _, t := range tallies {
		r := byRoot[t.root]
		if r == nil {
			byRoot[t.root] = &tally{group: t.root, root: t.root, count: t.count, seen: t.seen,
				severity: t.severity, crashes: t.crashes}
			continue
		}
		r.count, r.severity = r.count+t.count, max(r.severity, t.severity)
		r.seen = r.seen.Join(t.seen)
		r.crashes = append(r.crashes, t.crashes...)
	}
	return slices.SortedFunc(maps.Values(byRoot), func(a, b *tally) int { return cmp.Compare(a.group, b.group) })
}

func (t *tally) add(c *Crash) {
	n := int64(c.Duplicates)
	t.count, t.severity = t.count+n, max(t.severity, c.Severity.Rank())
	t.seen = t.seen.With(c.OccurredAt)
	t.crashes = append(t.crashes, c)
	day := array.Day(c.OccurredAt)
	t.days[day] += n
	t.versionDays[versionDay{c.Version, day}] += n
	if c.ReceivedAt.Sub(c.OccurredAt) < HoursKept {
		t.hours[array.Time(c.OccurredAt.Truncate(time.Hour))] += n
	}
	if c.Affected != "" {
		t.users.Add(distinct.Hash(c.Affected))
	}
	if c.build != 0 && (t.firstBuild == 0 || c.build < t.firstBuild) {
		t.firstBuild = c.build
	}
	t.lastBuild = max(t.lastBuild, c.build)
	for _, k := range []valueKey{{"version", c.Version}, {"host", c.Host}} {
		if k.value == "" {
			continue
		}
		addTo(t.values, k, c.OccurredAt, n)
	}
	if line := messageLine(c.Message); line != "" {
		addTo(t.messages, line, c.OccurredAt, n)
	}
}

// addToGroups adds to the groups that are shown: only these have a count. Users below 0 stay
// as they are. A part has the severity of its own reports, which it is shown with when it is
// taken out again.
const addToGroups = `
with reached as (` + storeReach + `), parts as (
	update crash_groups p set severity = own.severity
	from unnest($12::bigint[], $13::smallint[]) as own(id, severity) where p.id = own.id and p.severity < own.severity
)
update crash_groups g set
	count = g.count + new.count,
	first_seen = least(g.first_seen, new.first),
	last_seen = greatest(g.last_seen, new.last),
	severity = greatest(g.severity, new.severity),
	users = case when new.users < 0 then g.users else new.users end
from unnest($6::bigint[], $7::bigint[], $8::timestamptz[], $9::timestamptz[], $10::bigint[], $11::smallint[])
	as new(id, count, first, last, users, severity)
where g.id = new.id`

// countGroups counts for the groups that are shown, and whom each of the groups of own reached.
func countGroups(ctx context.Context, tx *storage.Tx, tallies, own []*tally) error {
	var ids, counts, users, severities []int64
	var first, last []string
	for _, t := range tallies {
		ids, counts, severities = append(ids, t.group), append(counts, t.count), append(severities, t.severity)
		first, last = append(first, array.Time(t.seen.First)), append(last, array.Time(t.seen.Last))
	}
	locked, err := lockStandings(ctx, tx, ids)
	if err != nil {
		return err
	}
	reached, usersOf, err := reachOf(ctx, tx, own)
	if err != nil {
		return err
	}
	for _, id := range ids {
		n, named := usersOf[id]
		if !named {
			n = -1
		}
		users = append(users, n)
	}
	var parts, severitiesOfParts []int64
	for _, t := range own {
		if t.group != t.root {
			parts, severitiesOfParts = append(parts, t.group), append(severitiesOfParts, t.severity)
		}
	}
	_, err = tx.ExecContext(ctx, addToGroups, append(reachColumns(reached),
		pq.Array(ids), pq.Array(counts), pq.Array(first), pq.Array(last), pq.Array(users), pq.Array(severities),
		pq.Array(parts), pq.Array(severitiesOfParts))...)
	if err != nil {
		return storage.Wrap(err, "count crash groups")
	}
	return transitGroups(ctx, tx, locked, tallies, usersOf)
}

const addToValues = `
with new as (
	select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::timestamptz[])
		as n(group_id, kind, value, count, first, last)
), held as (
	select v.group_id, v.kind, count(*) as n from crash_group_values v
	where v.group_id in (select group_id from new) group by 1, 2
), ranked as (
	select new.*, v.value is not null as known,
		row_number() over (partition by new.group_id, new.kind, v.value is null order by new.value) as turn
	from new left join crash_group_values v using (group_id, kind, value)
)
insert into crash_group_values as v (group_id, kind, value, count, first_seen, last_seen)
select r.group_id, r.kind, r.value, r.count, r.first, r.last
from ranked r left join held using (group_id, kind)
where r.known or coalesce(held.n, 0) + r.turn <= $7
on conflict (group_id, kind, value) do update set count = v.count + excluded.count,
	first_seen = least(v.first_seen, excluded.first_seen),
	last_seen = greatest(v.last_seen, excluded.last_seen)`

func countValues(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, counts []int64
	var kinds, values, first, last []string
	for _, t := range tallies {
		for k, v := range t.values {
			ids, kinds, values = append(ids, t.group), append(kinds, k.kind), append(values, k.value)
			counts = append(counts, v.count)
			first, last = append(first, array.Time(v.seen.First)), append(last, array.Time(v.seen.Last))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, addToValues, pq.Array(ids), pq.Array(kinds), pq.Array(values),
		pq.Array(counts), pq.Array(first), pq.Array(last), MaxValues)
	return storage.Wrap(err, "count versions and hosts")
}
