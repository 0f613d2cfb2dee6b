package crash

import (
	"context"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
)

// HoursKept is how long the occurrences of a group are known by hour.
const HoursKept = 14 * 24 * time.Hour

// addToTrend adds to the days, hours and versions of groups. A version that the group does not
// remember, since it has too many, counts as none.
const addToTrend = `
with hours as (
	insert into crash_group_hours as h (group_id, hour, count)
	select * from unnest($4::bigint[], $5::timestamptz[], $6::bigint[])
	on conflict (group_id, hour) do update set count = h.count + excluded.count
), versions as (
	insert into crash_group_version_days as d (group_id, version, day, count)
	select n.group_id, coalesce(v.value, ''), n.day, sum(n.count)
	from unnest($7::bigint[], $8::text[], $9::date[], $10::bigint[]) as n(group_id, version, day, count)
	left join crash_group_values v on v.group_id = n.group_id and v.kind = 'version' and v.value = n.version
	group by 1, 2, 3
	on conflict (group_id, day, version) do update set count = d.count + excluded.count
)
insert into crash_group_days as d (group_id, day, count)
select * from unnest($1::bigint[], $2::date[], $3::bigint[])
on conflict (group_id, day) do update set count = d.count + excluded.count`

// takeFromTrend is the inverse of addToTrend.
const takeFromTrend = `
with hours as (
	update crash_group_hours h set count = h.count - gone.count
	from unnest($4::bigint[], $5::timestamptz[], $6::bigint[]) as gone(group_id, hour, count)
	where h.group_id = gone.group_id and h.hour = gone.hour
), versions as (
	update crash_group_version_days d set count = d.count - gone.count
	from (
		select n.group_id, coalesce(v.version, '') as version, n.day, sum(n.count) as count
		from unnest($7::bigint[], $8::text[], $9::date[], $10::bigint[]) as n(group_id, version, day, count)
		left join crash_group_version_days v on v.group_id = n.group_id and v.version = n.version and v.day = n.day
		group by 1, 2, 3
	) gone
	where d.group_id = gone.group_id and d.version = gone.version and d.day = gone.day
)
update crash_group_days d set count = d.count - gone.count
from unnest($1::bigint[], $2::date[], $3::bigint[]) as gone(group_id, day, count)
where d.group_id = gone.group_id and d.day = gone.day`

// dropEmptyTrend deletes what takeFromTrend has emptied.
const dropEmptyTrend = `
with hours as (delete from crash_group_hours where group_id = any($1) and count <= 0),
	versions as (delete from crash_group_version_days where group_id = any($1) and count <= 0)
delete from crash_group_days where group_id = any($1) and count <= 0`

// trendColumns are the groups, and the arguments of the statements above.
func trendColumns(tallies []*tally) (groups any, arguments []any) {
	var ids, counts, hourIDs, hourCounts, versionIDs, versionCounts, all []int64
	var days, hours, versions, versionDays []string
	for _, t := range tallies {
		all = append(all, t.group)
		for day, n := range t.days {
			ids, days, counts = append(ids, t.group), append(days, day), append(counts, n)
		}
		for hour, n := range t.hours {
			hourIDs, hours, hourCounts = append(hourIDs, t.group), append(hours, hour), append(hourCounts, n)
		}
		for v, n := range t.versionDays {
			versionIDs, versions = append(versionIDs, t.group), append(versions, v.version)
			versionDays, versionCounts = append(versionDays, v.day), append(versionCounts, n)
		}
	}
	return pq.Array(all), []any{pq.Array(ids), pq.Array(days), pq.Array(counts), pq.Array(hourIDs), pq.Array(hours), pq.Array(hourCounts),
		pq.Array(versionIDs), pq.Array(versions), pq.Array(versionDays), pq.Array(versionCounts)}
}

// countDays comes after countValues, which knows the versions.
func countDays(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	_, arguments := trendColumns(tallies)
	_, err := tx.ExecContext(ctx, addToTrend, arguments...)
	return storage.Wrap(err, "count crash days")
}

func uncountDays(ctx context.Context, tx *storage.Tx, tallies []*tally) error {
	groups, arguments := trendColumns(tallies)
	if _, err := tx.ExecContext(ctx, takeFromTrend, arguments...); err != nil {
		return storage.Wrap(err, "uncount crash days")
	}
	_, err := tx.ExecContext(ctx, dropEmptyTrend, groups)
	return storage.Wrap(err, "delete empty crash days")
}

// ExpireTrend deletes up to limit hours of groups that are older than HoursKept, and as many
// days of their versions before a time, and returns the larger of the two numbers.
func ExpireTrend(ctx context.Context, tx *storage.Tx, now, before time.Time, limit int) (int64, error) {
	var most int64
	for _, old := range []struct {
		query string
		end   string
	}{
		{`delete from crash_group_hours where (group_id, hour) in (
			select group_id, hour from crash_group_hours where hour < $1::timestamptz
			order by hour limit $2 for update skip locked)`, array.Time(now.Add(-HoursKept))},
		{`delete from crash_group_version_days where (group_id, day, version) in (
			select group_id, day, version from crash_group_version_days where day < $1::date
			order by day limit $2 for update skip locked)`, array.Day(before)},
	} {
		res, err := tx.ExecContext(ctx, old.query, old.end, limit)
		if err != nil {
			return 0, storage.Wrap(err, "delete the old trend of crash groups")
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, storage.Wrap(err, "delete the old trend of crash groups")
		}
		most = max(most, n)
	}
	return most, nil
}
