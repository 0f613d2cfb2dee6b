package crash

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
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
	for group, values := range lost {
		if err := dropValues(ctx, tx, organization, group, values); err != nil {
			return err
		}
	}
	return nil
}

func dropValues(ctx context.Context, tx *storage.Tx, organization, group int64, lost map[facet]bool) error {
	var list []facet
	for f := range lost {
		list = append(list, f)
	}
	rows, _, err := readFacets(ctx, tx, map[int64][]facet{group: list})
	if err != nil || len(rows) == 0 {
		return err // the group is gone, too
	}
	for f := range lost {
		if r := rows[facetKey{group, f.key}]; r == nil || !slices.Contains(r.Hashes, f.value) {
			delete(lost, f)
		}
	}
	all, err := findKept(ctx, tx, organization, group, lost)
	if err != nil || len(lost) == 0 {
		return err
	}
	for f := range lost {
		r := rows[facetKey{group, f.key}]
		r.Hashes = slices.DeleteFunc(r.Hashes, func(hash int64) bool { return hash == f.value })
		r.Many, r.changed = r.Many || !all, true
	}
	if err := storeFacets(ctx, tx, rows); err != nil {
		return err
	}
	// What workers remember of the group is void from here on.
	_, err = tx.ExecContext(ctx, `update crash_groups set facets_stale = facets_stale or $2,
		facets_at = greatest(clock_timestamp(), facets_at + interval '1 microsecond') where id = $1`, group, !all)
	return storage.Wrap(err, "drop crash group facets")
}

// findKept takes the values out of lost that the newest reports of a group have, and
// reports whether these were all of the group's.
func findKept(ctx context.Context, tx *storage.Tx, organization, group int64, lost map[facet]bool) (all bool, err error) {
	seen := 0
	for _, limit := range []int{10, newestKept} {
		if len(lost) == 0 {
			return true, nil
		}
		var kept []string
		err := tx.SelectContext(ctx, &kept, `select c.attributes from crash_group_keys k
			cross join lateral (select attributes, occurred_at, id from crashes where key_id = k.id
				order by occurred_at desc, id desc limit $2) c
			where k.group_id = $1 order by c.occurred_at desc, c.id desc limit $2`, group, limit)
		if err != nil {
			return false, storage.Wrap(err, "attributes of a crash group")
		}
		for _, attributes := range kept[min(seen, len(kept)):] {
			for _, f := range facetsOf(organization, attributes) {
				delete(lost, f)
			}
		}
		if len(kept) < limit {
			return true, nil
		}
		seen = len(kept)
	}
	return false, nil
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
	if err := share(ctx, tx, projects...); err != nil {
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
