package crash

import (
	"cmp"
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
)

// uncount subtracts deleted crashes from their groups; it is the inverse of count. The
// groups are locked.
func uncount(ctx context.Context, tx *storage.Tx, keys map[int64]keyRow, gone []deletedCrash) error {
	tallies := tallyGone(keys, gone)
	if len(tallies) == 0 {
		return nil
	}
	shown := roots(tallies)
	var groups []int64
	for _, t := range shown {
		groups = append(groups, t.group)
	}
	if err := uncountValues(ctx, tx, tallies); err != nil {
		return err
	}
	if err := uncountMessages(ctx, tx, tallies); err != nil {
		return err
	}
	if err := uncountDays(ctx, tx, tallies); err != nil {
		return err
	}
	if err := uncountGroups(ctx, tx, shown); err != nil {
		return err
	}
	// The second condition is a last check: deleting a key would take its crashes along.
	_, err := tx.ExecContext(ctx, `
		delete from crash_groups g where g.id = any($1) and g.count <= 0
			and not exists (`+crashesOfGroup+`) and not exists (`+splitsOfGroup+`)`,
		pq.Array(groups))
	return storage.Wrap(err, "delete empty crash groups")
}

func tallyGone(keys map[int64]keyRow, gone []deletedCrash) []*tally {
	byGroup := map[int64]*tally{}
	var all []*tally
	for i := range gone {
		g := &gone[i]
		if g.KeyID == nil {
			continue
		}
		k := keys[*g.KeyID]
		c := &Crash{OccurredAt: g.OccurredAt, ReceivedAt: g.ReceivedAt, Duplicates: g.Duplicates,
			Version: g.Version, Host: g.Host, Message: g.Message, Severity: g.Severity, Affected: AffectedUserOf(g.Attributes)}
		if g.BuildID != nil {
			c.build = *g.BuildID
		}
		t := byGroup[k.GroupID]
		if t == nil {
			t = newTally(k.GroupID, k.RootID, c)
			byGroup[k.GroupID] = t
			all = append(all, t)
		}
		t.add(c)
	}
	slices.SortFunc(all, func(a, b *tally) int { return cmp.Compare(a.group, b.group) })
	return all
}

// takeFromGroups takes deleted crashes from the counts. A group whose first or last occurrence
// is gone is seen in the crashes that are left; where none are left, only history, its times
// stay.
const takeFromGroups = `
update crash_groups g set
	count = g.count - gone.count,
	severity = case when gone.severity >= g.severity then (` + worstOfMembers + `) else g.severity end,
	first_seen = case when gone.first <= g.first_seen then coalesce((
		select min(a.at) from crash_group_keys k cross join lateral (
			select occurred_at as at from crashes where key_id = k.id order by occurred_at limit 1) a
		where k.group_id in (` + MembersOfGroup + `)), g.first_seen) else g.first_seen end,
	last_seen = case when gone.last >= g.last_seen then coalesce((
		select max(a.at) from crash_group_keys k cross join lateral (
			select occurred_at as at from crashes where key_id = k.id order by occurred_at desc limit 1) a
		where k.group_id in (` + MembersOfGroup + `)), g.last_seen) else g.last_seen end
from unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::timestamptz[], $5::smallint[]) as gone(id, count, first, last, severity)
where g.id = gone.id`

func uncountGroups(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, counts, severities []int64
	var first, last []string
	for _, t := range tallies {
		ids, counts, severities = append(ids, t.group), append(counts, t.count), append(severities, t.severity)
		first, last = append(first, array.Time(t.seen.First)), append(last, array.Time(t.seen.Last))
	}
	_, err := tx.ExecContext(ctx, takeFromGroups, pq.Array(ids), pq.Array(counts), pq.Array(first), pq.Array(last), pq.Array(severities))
	return storage.Wrap(err, "uncount crash groups")
}

// takeFromValues leaves out occurrences before a value was first seen: they came while the
// bound was reached and were never counted by value.
const takeFromValues = `
update crash_group_values v set count = v.count - gone.count
from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[]) as gone(group_id, kind, value, count, last)
where v.group_id = gone.group_id and v.kind = gone.kind and v.value = gone.value and gone.last >= v.first_seen`

func uncountValues(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	var ids, counts []int64
	var kinds, values, last []string
	for _, t := range tallies {
		for k, v := range t.values {
			ids, kinds, values = append(ids, t.group), append(kinds, k.kind), append(values, k.value)
			counts, last = append(counts, v.count), append(last, array.Time(v.seen.Last))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, takeFromValues, pq.Array(ids), pq.Array(kinds), pq.Array(values),
		pq.Array(counts), pq.Array(last))
	if err != nil {
		return storage.Wrap(err, "uncount versions and hosts")
	}
	_, err = tx.ExecContext(ctx, `delete from crash_group_values where group_id = any($1) and count <= 0`, pq.Array(ids))
	return storage.Wrap(err, "delete empty versions and hosts")
}
