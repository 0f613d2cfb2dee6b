package crash

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// maxValues bounds the distinct versions, and the distinct hosts, that a group
// remembers: a fleet of a million phones must not make a million rows. What
// comes after is counted in the group and not by value.
const maxValues = 200

// tally is what one transaction adds to one group.
type tally struct {
	group       int64
	count       int64
	first, last time.Time
	received    time.Time // latest; decides whether a resolved group re-opens
	days        map[string]int64
	values      map[valueKey]*valueTally
}

type valueKey struct{ kind, value string }

type valueTally struct {
	count       int64
	first, last time.Time
}

// count adds the crashes to their groups.
func count(ctx context.Context, tx *storage.Tx, keys map[projectKey]keyRow, crashes []Crash) error {
	tallies := tallyUp(keys, crashes)
	if len(tallies) == 0 {
		return nil
	}
	if err := countGroups(ctx, tx, tallies); err != nil {
		return err
	}
	if err := countDays(ctx, tx, tallies); err != nil {
		return err
	}
	return countValues(ctx, tx, tallies)
}

// tallyUp sums the crashes by group, ordered by group id.
func tallyUp(keys map[projectKey]keyRow, crashes []Crash) []*tally {
	byGroup := map[int64]*tally{}
	for i := range crashes {
		c := &crashes[i]
		if c.Group == nil {
			continue
		}
		id := keys[projectKey{c.ProjectID, c.Group.Key}].GroupID
		t := byGroup[id]
		if t == nil {
			t = &tally{group: id, first: c.OccurredAt, last: c.OccurredAt, received: c.ReceivedAt,
				days: map[string]int64{}, values: map[valueKey]*valueTally{}}
			byGroup[id] = t
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

func (t *tally) add(c *Crash) {
	n := int64(c.Duplicates)
	t.count += n
	t.first, t.last = earlier(t.first, c.OccurredAt), later(t.last, c.OccurredAt)
	t.received = later(t.received, c.ReceivedAt)
	t.days[c.OccurredAt.UTC().Format(time.DateOnly)] += n
	for _, k := range []valueKey{{"version", c.Version}, {"host", c.Host}} {
		if k.value == "" {
			continue
		}
		v := t.values[k]
		if v == nil {
			v = &valueTally{first: c.OccurredAt, last: c.OccurredAt}
			t.values[k] = v
		}
		v.count += n
		v.first, v.last = earlier(v.first, c.OccurredAt), later(v.last, c.OccurredAt)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// A resolved group that is seen in a report received after it was resolved is
// open again: a regression. Reports that waited in a queue meanwhile are none.
const addToGroups = `
update crash_groups g set
	count = g.count + new.count,
	first_seen = least(g.first_seen, new.first),
	last_seen = greatest(g.last_seen, new.last),
	state = case when g.state = 'resolved' and new.received > g.resolved_at then 'open' else g.state end,
	reopened_at = case when g.state = 'resolved' and new.received > g.resolved_at then now() else g.reopened_at end,
	regressions = g.regressions + case when g.state = 'resolved' and new.received > g.resolved_at then 1 else 0 end
from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[])
	as new(id, count, first, last, received)
where g.id = new.id`

func countGroups(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, counts []int64
	var first, last, received []string
	for _, t := range tallies {
		ids, counts = append(ids, t.group), append(counts, t.count)
		first, last = append(first, timeText(t.first)), append(last, timeText(t.last))
		received = append(received, timeText(t.received))
	}
	// An update takes its locks in the order of its plan; this takes them in
	// the order of the ids.
	_, err := tx.ExecContext(ctx, `select 1 from crash_groups where id = any($1) order by id for update`, pq.Array(ids))
	if err != nil {
		return storage.Wrap(err, "lock crash groups")
	}
	_, err = tx.ExecContext(ctx, addToGroups, pq.Array(ids), pq.Array(counts), pq.Array(first),
		pq.Array(last), pq.Array(received))
	return storage.Wrap(err, "count crash groups")
}

func countDays(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, counts []int64
	var days []string
	for _, t := range tallies {
		for day, n := range t.days {
			ids, days, counts = append(ids, t.group), append(days, day), append(counts, n)
		}
	}
	_, err := tx.ExecContext(ctx, `
		insert into crash_group_days as d (group_id, day, count)
		select * from unnest($1::bigint[], $2::date[], $3::bigint[])
		on conflict (group_id, day) do update set count = d.count + excluded.count`,
		pq.Array(ids), pq.Array(days), pq.Array(counts))
	return storage.Wrap(err, "count crash days")
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
			first, last = append(first, timeText(v.first)), append(last, timeText(v.last))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, addToValues, pq.Array(ids), pq.Array(kinds), pq.Array(values),
		pq.Array(counts), pq.Array(first), pq.Array(last), maxValues)
	return storage.Wrap(err, "count versions and hosts")
}
