package crash

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// newestKept is how many of a group's reports decide which values stay when others are
// removed. A value that none of them has is dropped, and the row says that values may
// be missing until the facets are built again.
const newestKept = 200

// dropFacets takes the values of deleted crashes out of the facets of their groups,
// unless reports that are left have them. The groups are locked, their projects alone.
func dropFacets(ctx context.Context, tx *storage.Tx, organization int64, keys map[int64]keyRow, gone []deletedCrash) error {
	lost := map[int64]map[facet]bool{}
	for i := range gone {
		g := &gone[i]
		if g.KeyID == nil || keys[*g.KeyID].FacetsAt == nil {
			continue
		}
		group := keys[*g.KeyID].GroupID
		if lost[group] == nil {
			lost[group] = map[facet]bool{}
		}
		for _, f := range facetsOf(organization, g.Attributes) {
			lost[group][f] = true
		}
	}
	if len(lost) == 0 {
		return nil
	}
	rows, err := heldFacets(ctx, tx, lost)
	if err != nil {
		return err
	}
	all, err := findKept(ctx, tx, organization, lost)
	if err != nil {
		return err
	}
	var groups []int64
	var stale []bool
	for _, group := range slices.Sorted(mapKeys(lost)) {
		for f := range lost[group] {
			r := rows[facetKey{group, f.key}]
			r.Hashes = slices.DeleteFunc(r.Hashes, func(hash int64) bool { return hash == f.value })
			r.Many, r.changed = r.Many || !all[group], true
		}
		groups, stale = append(groups, group), append(stale, !all[group])
	}
	if len(groups) == 0 {
		return nil
	}
	if err := storeFacets(ctx, tx, rows); err != nil {
		return err
	}
	// What workers remember of the groups is void from here on.
	_, err = tx.ExecContext(ctx, `update crash_groups g set facets_stale = g.facets_stale or n.stale,
		facets_at = greatest(clock_timestamp(), g.facets_at + interval '1 microsecond')
		from unnest($1::bigint[], $2::bool[]) as n(id, stale) where g.id = n.id`, pq.Array(groups), pq.Array(stale))
	return storage.Wrap(err, "drop crash group facets")
}

// heldFacets reads the facets of values, and leaves in lost those that are in them: nothing of a
// group that is gone, too.
func heldFacets(ctx context.Context, tx *storage.Tx, lost map[int64]map[facet]bool) (map[facetKey]*facetRow, error) {
	want := make(map[int64][]facet, len(lost))
	for group, values := range lost {
		want[group] = slices.Collect(mapKeys(values))
	}
	rows, _, err := readFacets(ctx, tx, want)
	if err != nil {
		return nil, err
	}
	for group, values := range lost {
		for f := range values {
			if r := rows[facetKey{group, f.key}]; r == nil || !slices.Contains(r.Hashes, f.value) {
				delete(values, f)
			}
		}
		if len(values) == 0 {
			delete(lost, group)
		}
	}
	return rows, nil
}

// newestFirst is how many reports of each group are looked at for all groups at once; most values
// are in these.
const newestFirst = 10

// selectNewest reads the attributes of the newest reports of groups.
const selectNewest = `
select w.group_id, c.attributes from unnest($1::bigint[]) as w(group_id) cross join lateral (
	select c.* from crash_group_keys k cross join lateral (select attributes, occurred_at, id from crashes where key_id = k.id
		order by occurred_at desc, id desc limit $2) c
	where k.group_id = w.group_id order by c.occurred_at desc, c.id desc limit $2) c
order by w.group_id, c.occurred_at desc, c.id desc`

// findKept takes the values out of lost that the newest reports of their groups have, groups with
// them that have no other, and says of which groups these reports were all.
func findKept(ctx context.Context, tx *storage.Tx, organization int64, lost map[int64]map[facet]bool) (map[int64]bool, error) {
	all := map[int64]bool{}
	if len(lost) == 0 {
		return all, nil
	}
	look := func(limit, seen int, groups ...int64) error {
		var rows []struct {
			GroupID    int64  `db:"group_id"`
			Attributes string `db:"attributes"`
		}
		if err := tx.SelectContext(ctx, &rows, selectNewest, pq.Array(groups), limit); err != nil {
			return storage.Wrap(err, "attributes of crash groups")
		}
		read := map[int64]int{}
		for _, row := range rows {
			if read[row.GroupID]++; read[row.GroupID] <= seen {
				continue
			}
			for _, f := range facetsOf(organization, row.Attributes) {
				delete(lost[row.GroupID], f)
			}
		}
		for _, group := range groups {
			all[group] = read[group] < limit
			if len(lost[group]) == 0 {
				delete(lost, group)
			}
		}
		return nil
	}
	if err := look(newestFirst, 0, slices.Sorted(mapKeys(lost))...); err != nil {
		return nil, err
	}
	// One by one: attributes of so many reports of all groups would be much.
	for _, group := range slices.Sorted(mapKeys(lost)) {
		if all[group] {
			continue
		}
		if err := look(newestKept, newestFirst, group); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// staleFacets marks the groups of the crashes up to an id, which are to go with age. It
// shares their projects first: those that move or remove reports lock several groups, too,
// parts among them.
func staleFacets(ctx context.Context, tx *storage.Tx, last uuid.UUID) error {
	const old = `select k.group_id from crash_group_keys k where k.id in (select key_id from crashes where id <= $1)`
	var projects []int64
	err := tx.SelectContext(ctx, &projects, `select distinct crash_project_id from crash_groups where id in (`+old+`)`, last)
	if err != nil || len(projects) == 0 {
		return storage.Wrap(err, "projects of old crashes")
	}
	if err := projectlock.Share(ctx, tx, projects...); err != nil {
		return err
	}
	var groups []int64
	err = tx.SelectContext(ctx, &groups, `select g.id from crash_groups g where g.id in (`+old+`)
		and g.facets_at is not null and not g.facets_stale order by g.id for no key update`, last)
	if err != nil || len(groups) == 0 {
		return storage.Wrap(err, "groups of old crashes")
	}
	_, err = tx.ExecContext(ctx, `update crash_groups set facets_stale = true where id = any($1)`, pq.Array(groups))
	return storage.Wrap(err, "mark crash group facets")
}
