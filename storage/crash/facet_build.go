package crash

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// facetReports bounds the reports of a group that are read to build its facets again;
// values that none of them has are taken as gone, and the facets say that some may be
// missing. A group that never had facets is read whole.
const facetReports = 20_000

// UnbuiltFacets returns groups whose facets are to be built: those from before there
// were facets, and those that lost reports and were built before a time.
func UnbuiltFacets(ctx context.Context, q storage.Querier, before time.Time, limit int) ([]int64, error) {
	var ids []int64
	err := q.SelectContext(ctx, &ids, `
		(select id from crash_groups where facets_at is null limit $2)
		union all
		(select id from crash_groups where facets_stale and facets_at < $1 order by facets_at limit $2)
		limit $2`, before, limit)
	return ids, storage.Wrap(err, "find crash groups without facets")
}

// BuildFacets builds the facets of a group from its reports, and for a group from before
// there were facets also what else is searched. A group that is gone has nothing to
// build. Locks as Merge: the project, alone, so that no report is counted meanwhile;
// then the group.
func BuildFacets(ctx context.Context, tx *storage.Tx, group int64) error {
	var g struct {
		OrganizationID int64      `db:"organization_id"`
		ProjectID      int64      `db:"crash_project_id"`
		FacetsAt       *time.Time `db:"facets_at"`
	}
	const read = `select organization_id, crash_project_id, facets_at from crash_groups where id = $1`
	err := storage.Wrap(tx.GetContext(ctx, &g, read, group), "crash group")
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := projectlock.Take(ctx, tx, g.ProjectID); err != nil {
		return err
	}
	if err := lockGroups(ctx, tx, []int64{group}); err != nil {
		return err
	}
	err = storage.Wrap(tx.GetContext(ctx, &g, read, group), "crash group") // again, under the lock
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if g.FacetsAt == nil {
		if err := buildTexts(ctx, tx, group); err != nil {
			return err
		}
	}
	rows, err := facetsOfReports(ctx, tx, g.OrganizationID, group, g.FacetsAt == nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from crash_group_facets where group_id = $1`, group); err != nil {
		return storage.Wrap(err, "delete crash group facets")
	}
	if err := storeFacets(ctx, tx, rows); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `update crash_groups set facets_stale = false,
		facets_at = greatest(clock_timestamp(), facets_at + interval '1 microsecond') where id = $1`, group)
	return storage.Wrap(err, "build crash group facets")
}

// selectFacetValues has the most frequent values first.
const selectFacetValues = `
with c as materialized (
	select c.attributes from crash_group_keys k join crashes c on c.key_id = k.id
	where k.group_id = $1 order by c.occurred_at desc, c.id desc limit $2
)
select key, value, reports from (
	select key, value, row_number() over (partition by key order by n desc, value) as place,
		(select count(*) from c) as reports
	from (select e.key, e.value::text as value, count(*) as n from c, jsonb_each(c.attributes) e group by 1, 2) counted
) ranked where place <= $3
order by key, place`

// facetsOfReports reads the values of a group's reports, of all of them if whole.
func facetsOfReports(ctx context.Context, tx *storage.Tx, organization, group int64, whole bool) (map[facetKey]*facetRow, error) {
	var limit *int
	if !whole {
		most := facetReports
		limit = &most
	}
	var values []struct {
		Key     string `db:"key"`
		Value   string `db:"value"`
		Reports int    `db:"reports"`
	}
	if err := tx.SelectContext(ctx, &values, selectFacetValues, group, limit, maxFacetValues+1); err != nil {
		return nil, storage.Wrap(err, "values of a crash group")
	}
	rows := map[facetKey]*facetRow{}
	for _, v := range values {
		kind, text := scalarOf(v.Value)
		f := facetOf(organization, v.Key, kind, text)
		at := facetKey{group, f.key}
		if rows[at] == nil && len(rows) >= maxFacetKeys {
			at.key = otherKeys
			rows[at] = &facetRow{GroupID: group, Key: otherKeys, Many: true, changed: true}
			continue
		}
		if rows[at] == nil {
			rows[at] = &facetRow{GroupID: group, Key: f.key, changed: true}
		}
		rows[at].add(f.value)
	}
	if whole || len(values) == 0 || values[0].Reports < facetReports {
		return rows, nil
	}
	return rows, keepMissing(ctx, tx, group, rows)
}

// keepMissing marks the attributes that had values, or lacked some, which the reports
// that were read do not show.
func keepMissing(ctx context.Context, tx *storage.Tx, group int64, rows map[facetKey]*facetRow) error {
	var before []facetRow
	err := tx.SelectContext(ctx, &before, `select group_id, key, many, hashes from crash_group_facets where group_id = $1`, group)
	if err != nil {
		return storage.Wrap(err, "read crash group facets")
	}
	for i := range before {
		b := &before[i]
		r := rows[facetKey{group, b.Key}]
		if r == nil {
			r = &facetRow{GroupID: group, Key: b.Key, changed: true}
			rows[facetKey{group, b.Key}] = r
		}
		there := map[int64]bool{}
		for _, hash := range r.Hashes {
			there[hash] = true
		}
		r.Many = r.Many || b.Many
		for _, hash := range b.Hashes {
			r.Many = r.Many || !there[hash]
		}
	}
	return nil
}

// buildTexts makes what is searched of a group from before there was a search: the title
// and the messages of all its reports, those that were counted since included.
func buildTexts(ctx context.Context, tx *storage.Tx, group int64) error {
	_, err := tx.ExecContext(ctx, `
		insert into crash_group_titles (group_id, organization_id, text)
		select id, organization_id, concat_ws(E'\n', title, culprit, classifier) from crash_groups where id = $1
		on conflict do nothing`, group)
	if err != nil {
		return storage.Wrap(err, "title of a crash group")
	}
	var seen []struct {
		Organization int64     `db:"organization_id"`
		Message      string    `db:"message"`
		Count        int64     `db:"count"`
		First        time.Time `db:"first_seen"`
		Last         time.Time `db:"last_seen"`
	}
	err = tx.SelectContext(ctx, &seen, `
		select c.organization_id, c.message, sum(c.duplicates)::bigint as count,
			min(c.occurred_at) as first_seen, max(c.occurred_at) as last_seen
		from crash_group_keys k join crashes c on c.key_id = k.id
		where k.group_id = $1 and c.message <> '' group by 1, 2 order by 3 desc limit $2`, group, MaxMessages)
	if err != nil || len(seen) == 0 {
		return storage.Wrap(err, "messages of a crash group")
	}
	t := &tally{group: group, messages: map[string]*valueTally{}}
	for _, m := range seen {
		if line := messageLine(m.Message); line != "" {
			addTo(t.messages, line, m.First, m.Count)
			addTo(t.messages, line, m.Last, 0)
		}
	}
	if _, err := tx.ExecContext(ctx, `delete from crash_group_messages where group_id = $1`, group); err != nil {
		return storage.Wrap(err, "delete the messages of a crash group")
	}
	return countMessages(ctx, tx, seen[0].Organization, []*tally{t})
}
