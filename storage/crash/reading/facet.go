package reading

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// GroupValue is a value by which groups can be selected, with the number of groups that
// have it.
type GroupValue struct {
	Facet  string `db:"facet"` // state, version, classifier or assignee
	Value  string `db:"value"` // as the filter takes it
	Label  string `db:"label"`
	Groups int    `db:"groups"`
}

// GroupFacets are the most frequent values among the newest groups of a filter.
type GroupFacets struct {
	Values []GroupValue // by the facet, the most frequent first
	// Counted is how many groups were looked at, Complete that these are all.
	Counted  int
	Complete bool
}

const (
	// facetGroups is how many groups, those seen last, are looked at: with the versions of
	// each, a page should not wait for more.
	facetGroups = 100
	// facetValues is how many values of each kind are named.
	facetValues = 10
)

// FacetsOfGroups counts by the values of the groups of a filter.
func FacetsOfGroups(ctx context.Context, q storage.Querier, f GroupFilter) (*GroupFacets, error) {
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, err
	}
	return f.facets(ctx, q, found)
}

// facets counts by the values of the groups that were found.
func (f *GroupFilter) facets(ctx context.Context, q storage.Querier, found matches) (*GroupFacets, error) {
	c := f.conditions(found)
	where := c.Where()
	most, values := c.Arg(facetGroups), c.Arg(facetValues)
	var rows []GroupValue
	err := q.SelectContext(ctx, &rows, `
		with newest as materialized (
			select g.id, g.classifier, g.assignee_id, g.last_seen, `+crash.ShownState+` as state from crash_groups g`+where+`
			order by g.last_seen desc, g.id desc limit `+most+` + 1
		), counted as materialized (select * from newest order by last_seen desc, id desc limit `+most+`),
		member as materialized (
			select id as root, id from counted union all
			select p.root_id, p.id from crash_groups p where p.root_id in (select id from counted)
		)
		select * from (
			(select 'state' as facet, state as value, state as label, count(*) as groups from counted group by state)
			union all (select 'version', v.value, v.value, count(*) from (
				select m.root, v.value from member m join crash_group_values v on v.group_id = m.id and v.kind = 'version' group by 1, 2
				) v group by v.value order by 4 desc, 2 limit `+values+`)
			union all (select 'classifier', classifier, classifier, count(*) from counted where classifier <> ''
				group by classifier order by 4 desc, 2 limit `+values+`)
			union all (select 'assignee', coalesce(a.assignee_id::text, 'none'),
				coalesce((select coalesce(nullif(u.name, ''), u.email) from users u where u.id = a.assignee_id), ''), a.n from (
					select assignee_id, count(*) as n from counted group by assignee_id order by 2 desc, 1 limit `+values+`) a)
			union all (select 'counted', '', '', count(*) from newest)
		) f order by facet, groups desc, value`, c.Args...)
	if err != nil {
		return nil, storage.Wrap(err, "values of crash groups")
	}
	facets := &GroupFacets{}
	for _, r := range rows {
		if r.Facet == "counted" {
			facets.Counted, facets.Complete = min(r.Groups, facetGroups), r.Groups <= facetGroups && (found.carrying == nil || found.carrying.exact)
			continue
		}
		facets.Values = append(facets.Values, r)
	}
	return facets, nil
}
