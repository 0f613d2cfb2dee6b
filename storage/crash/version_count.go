package crash

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// maxVersions bounds the versions that a crash project remembers: what a client calls a
// version may be the number of a build, of which there are thousands.
const maxVersions = 5000

type projectVersion struct {
	project int64
	version string
}

// countVersions adds the crashes to the versions of their projects. All who write
// versions do it in one order, after the groups.
func countVersions(ctx context.Context, tx *storage.Tx, crashes []Crash) error {
	tallies := map[projectVersion]*valueTally{}
	for i := range crashes {
		c := &crashes[i]
		if c.Version == "" || c.State == Failed {
			continue
		}
		v := tallies[projectVersion{c.ProjectID, c.Version}]
		if v == nil {
			v = &valueTally{first: c.OccurredAt, last: c.OccurredAt}
			tallies[projectVersion{c.ProjectID, c.Version}] = v
		}
		v.count += int64(c.Duplicates)
		v.first, v.last = earlier(v.first, c.OccurredAt), later(v.last, c.OccurredAt)
	}
	return addVersions(ctx, tx, tallies)
}

// addToVersions takes versions in the order of bytes, whatever the collation of the database.
const addToVersions = `
with new as (
	select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::timestamptz[], $5::timestamptz[])
		as n(crash_project_id, version, count, first, last)
), held as (
	select p.id as crash_project_id, (select count(*) from crash_versions v where v.crash_project_id = p.id) as n
	from (select distinct crash_project_id as id from new) p
)
insert into crash_versions as v (crash_project_id, version, first_seen, last_seen, crashes)
select n.crash_project_id, n.version, n.first, n.last, n.count
from new n join held h using (crash_project_id)
left join crash_versions had using (crash_project_id, version)
where had.version is not null or h.n < $6
order by n.crash_project_id, n.version collate "C"
on conflict (crash_project_id, version) do update set crashes = v.crashes + excluded.crashes,
	first_seen = least(v.first_seen, excluded.first_seen),
	last_seen = greatest(v.last_seen, excluded.last_seen)`

func addVersions(ctx context.Context, tx *storage.Tx, tallies map[projectVersion]*valueTally) error {
	if len(tallies) == 0 {
		return nil
	}
	var projects, counts []int64
	var versions, first, last []string
	for k, v := range tallies {
		projects, versions, counts = append(projects, k.project), append(versions, k.version), append(counts, v.count)
		first, last = append(first, TimeText(v.first)), append(last, TimeText(v.last))
	}
	_, err := tx.ExecContext(ctx, addToVersions, pq.Array(projects), pq.Array(versions), pq.Array(counts),
		pq.Array(first), pq.Array(last), maxVersions)
	return storage.Wrap(err, "count versions of crash projects")
}

// uncountVersions subtracts deleted crashes from the versions of their projects; a
// version that was seen stays known.
func uncountVersions(ctx context.Context, tx *storage.Tx, gone []deletedCrash) error {
	counts := map[projectVersion]int64{}
	for i := range gone {
		if g := &gone[i]; g.Version != "" {
			counts[projectVersion{g.ProjectID, g.Version}] += int64(g.Duplicates)
		}
	}
	if len(counts) == 0 {
		return nil
	}
	order := make([]projectVersion, 0, len(counts))
	for k := range counts {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b projectVersion) int {
		return cmp.Or(cmp.Compare(a.project, b.project), bytes.Compare([]byte(a.version), []byte(b.version)))
	})
	var projects, crashes []int64
	var versions []string
	for _, k := range order {
		projects, versions, crashes = append(projects, k.project), append(versions, k.version), append(crashes, counts[k])
	}
	// The insert of known rows takes the locks in the order of the arrays, which an
	// update would not.
	_, err := tx.ExecContext(ctx, `
		insert into crash_versions as v (crash_project_id, version, first_seen, last_seen, crashes)
		select had.crash_project_id, had.version, had.first_seen, had.last_seen, -n.count
		from unnest($1::bigint[], $2::text[], $3::bigint[]) with ordinality as n(crash_project_id, version, count, place)
		join crash_versions had using (crash_project_id, version) order by n.place
		on conflict (crash_project_id, version) do update set crashes = greatest(v.crashes + excluded.crashes, 0)`,
		pq.Array(projects), pq.Array(versions), pq.Array(crashes))
	return storage.Wrap(err, "uncount versions of crash projects")
}
