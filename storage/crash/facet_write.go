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
)

// facetState is what a transaction found of a group's facets.
type facetState struct {
	group int64
	since time.Time
	many  []int64
}

// facetRow is a row of crash_group_facets.
type facetRow struct {
	GroupID int64         `db:"group_id"`
	Key     int64         `db:"key"`
	Many    bool          `db:"many"`
	Hashes  pq.Int64Array `db:"hashes"`
	changed bool
}

type facetKey struct{ group, key int64 }

// add adds a value, as far as there is room.
func (r *facetRow) add(hash int64) {
	switch {
	case slices.Contains(r.Hashes, hash):
	case len(r.Hashes) < maxFacetValues:
		r.Hashes, r.changed = append(r.Hashes, hash), true
	case !r.Many:
		r.Many, r.changed = true, true
	}
}

// Facets prepares what Record writes to find the groups of the crashes by their
// attributes: work that needs no transaction. Record does it where it was not done.
func Facets(organization int64, crashes []Crash) {
	for i := range crashes {
		if c := &crashes[i]; c.Group != nil && c.facets == nil {
			c.facets = facetsOf(organization, c.Attributes)
		}
	}
}

// writeFacets adds the values of the crashes to the facets of their groups. The roots
// of the groups are locked. Groups without facets get them by BuildFacets.
func writeFacets(ctx context.Context, tx *storage.Tx, known *facetMemory, keys map[projectKey]keyRow, crashes []Crash) error {
	states := map[int64]*facetState{}
	fresh := map[int64][]facet{}
	for i := range crashes {
		c := &crashes[i]
		c.found = nil
		if c.Group == nil {
			continue
		}
		k := keys[projectKey{c.ProjectID, c.Group.Key}]
		if k.FacetsAt == nil {
			continue
		}
		if states[k.GroupID] == nil {
			states[k.GroupID] = &facetState{group: k.GroupID, since: *k.FacetsAt}
		}
		c.found = states[k.GroupID]
		if more := known.unknown(k.GroupID, *k.FacetsAt, c.facets); len(more) > 0 {
			fresh[k.GroupID] = append(fresh[k.GroupID], more...)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	rows, held, err := readFacets(ctx, tx, fresh)
	if err != nil {
		return err
	}
	for group, facets := range fresh {
		for _, f := range facets {
			at := facetKey{group, f.key}
			if rows[at] == nil && held[group] >= maxFacetKeys {
				at.key = otherKeys
			}
			r := rows[at]
			if r == nil {
				r = &facetRow{GroupID: group, Key: at.key, Many: at.key == otherKeys, changed: true}
				rows[at] = r
				held[group]++
			}
			if at.key != otherKeys {
				r.add(f.value)
			}
		}
	}
	for at, r := range rows {
		if !r.changed && r.Many && len(r.Hashes) >= maxFacetValues {
			states[at.group].many = append(states[at.group].many, at.key)
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(rows)), func(r *facetRow) bool { return r.changed }) {
		return nil
	}
	// The store remembers what was committed. Were the database to lose it, nobody would
	// write it again.
	if err := tx.CommitNow(ctx); err != nil {
		return err
	}
	return storeFacets(ctx, tx, rows)
}

// selectFacets reads the rows that there are of those that are wanted, and how many a group has
// with the row of its other attributes, which is always wanted.
const selectFacets = `
select w.group_id, w.key, f.group_id is not null as found, coalesce(f.many, false) as many, f.hashes,
	case when w.key = $3 then (select count(*) from crash_group_facets c where c.group_id = w.group_id) else 0 end as held
from unnest($1::bigint[], $2::bigint[]) as w(group_id, key)
left join crash_group_facets f on f.group_id = w.group_id and f.key = w.key`

// readFacets reads the rows of attributes of groups, and those of the other attributes, and how
// many rows each group has.
func readFacets(ctx context.Context, tx *storage.Tx, facets map[int64][]facet) (rows map[facetKey]*facetRow, held map[int64]int,
	err error) {
	rows, held = map[facetKey]*facetRow{}, map[int64]int{}
	seen := map[facetKey]bool{}
	var groups, keys []int64
	want := func(at facetKey) {
		if !seen[at] {
			seen[at] = true
			groups, keys = append(groups, at.group), append(keys, at.key)
		}
	}
	for group, list := range facets {
		want(facetKey{group, otherKeys})
		for _, f := range list {
			want(facetKey{group, f.key})
		}
	}
	var found []struct {
		facetRow
		Found bool `db:"found"`
		Held  int  `db:"held"`
	}
	if err := tx.SelectContext(ctx, &found, selectFacets, pq.Array(groups), pq.Array(keys), otherKeys); err != nil {
		return nil, nil, storage.Wrap(err, "read crash group facets")
	}
	for i := range found {
		f := &found[i]
		held[f.GroupID] += f.Held
		if f.Found {
			rows[facetKey{f.GroupID, f.Key}] = &f.facetRow
		}
	}
	return rows, held, nil
}

// storeFacets writes the rows that changed.
func storeFacets(ctx context.Context, tx *storage.Tx, rows map[facetKey]*facetRow) error {
	var changed []*facetRow
	for _, r := range rows {
		if r.changed {
			changed = append(changed, r)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.SortFunc(changed, func(a, b *facetRow) int {
		return cmp.Or(cmp.Compare(a.GroupID, b.GroupID), cmp.Compare(a.Key, b.Key))
	})
	var groups, keys []int64
	var many []bool
	var hashes []string
	for _, r := range changed {
		groups, keys, many = append(groups, r.GroupID), append(keys, r.Key), append(many, r.Many)
		hashes = append(hashes, array.Bigints(r.Hashes))
	}
	_, err := tx.ExecContext(ctx, `
		insert into crash_group_facets (group_id, key, many, hashes)
		select group_id, key, many, hashes::bigint[] from unnest($1::bigint[], $2::bigint[], $3::bool[], $4::text[])
			as new(group_id, key, many, hashes)
		on conflict (group_id, key) do update set many = excluded.many, hashes = excluded.hashes`,
		pq.Array(groups), pq.Array(keys), pq.Array(many), pq.Array(hashes))
	return storage.Wrap(err, "write crash group facets")
}

// Committed remembers what Record wrote, once its transaction was committed, so that
// the next crashes of the same values need not look for it.
func (s *Store) Committed(crashes []Crash) {
	for i := range crashes {
		if c := &crashes[i]; c.found != nil {
			s.facets.add(c.found.group, c.found.since, c.facets, c.found.many)
			c.found.many = nil // once is enough
		}
	}
}
