package reading

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

const (
	// rareReports is how many reports with the wanted values are read to name their
	// groups, where the facets do not say it: fewer are all there are.
	rareReports = 500
	// knownGroups is how many groups the facets name at once. An organization with more
	// groups of a value asks the facets for each page.
	knownGroups = 20_000
	// checkedGroups is how many groups, last seen first, are asked whether one of their
	// checkedReports newest reports has the wanted values, where there are more.
	checkedGroups  = 100
	checkedReports = 50
)

// carrying are the groups that have a report which carries attributes.
type carrying struct {
	ids    []int64 // groups that are shown
	values []int64 // the groups, too, of which the facets show one of these; nil: none
	// newest are the attributes that one of a group's newest reports must carry to be
	// among them, too; nil: none.
	newest []condition.Attribute
	exact  bool // false: there may be more
}

// condition limits groups g to those that carry.
func (a *carrying) condition(organizationID int64, c *condition.List) string {
	either := []string{"g.id = any(" + c.Arg(pq.Array(a.ids)) + ")"}
	if a.values != nil {
		either = append(either, "g.id in (select coalesce(h.root_id, h.id) from crash_group_facets f join crash_groups h on h.id = f.group_id"+
			" where f.hashes && "+c.Arg(pq.Array(a.values))+")")
	}
	if a.newest != nil {
		either = append(either, "exists (select from crash_groups h where (h.id = g.id or h.root_id = g.id)"+
			mayCarry(c, organizationID, a.newest)+" and "+newestCarry(c, "h.id", a.newest)+")")
	}
	return "(" + strings.Join(either, " or ") + ")"
}

// mayCarry are the conditions that the facets of groups h leave: each attribute has the
// value, or values that are not among them.
func mayCarry(c *condition.List, organizationID int64, filters []condition.Attribute) string {
	var all strings.Builder
	for _, f := range filters {
		key, values := crash.FacetHashes(organizationID, f)
		all.WriteString(" and (h.facets_at is null or exists (select from crash_group_facets f where f.group_id = h.id and" +
			" (f.key = " + c.Arg(key) + " and (f.many or f.hashes && " + c.Arg(pq.Array(values)) + ") or f.key = 0)))")
	}
	return all.String()
}

// newestCarry requires one of the newest reports of a group to carry the attributes.
func newestCarry(c *condition.List, group string, filters []condition.Attribute) string {
	n := &condition.List{Args: c.Args}
	n.Attributes("n.attributes", filters)
	c.Args = n.Args
	return "exists (select from crash_group_keys k cross join lateral (select attributes from crashes where key_id = k.id" +
		" order by occurred_at desc, id desc limit " + c.Arg(checkedReports) + ") n where k.group_id = " + group + n.And() + ")"
}

// findCarrying finds the groups with a report that carries all of the attributes. One
// attribute of few values is found in the facets. Otherwise, attributes that few reports
// carry name their groups themselves. What is left are values that hundreds of reports
// have, of an attribute of many values or several at once: then the facets name
// candidates, and the newest reports of each confirm it.
func findCarrying(ctx context.Context, q storage.Querier, organization int64, filters []condition.Attribute) (*carrying, error) {
	if len(filters) == 1 {
		return findOne(ctx, q, organization, filters)
	}
	ids, all, err := rareCarriers(ctx, q, organization, filters)
	if err != nil || all {
		return &carrying{ids: ids, exact: true}, err
	}
	return &carrying{ids: ids, newest: filters}, nil
}

func findOne(ctx context.Context, q storage.Querier, organization int64, filters []condition.Attribute) (*carrying, error) {
	key, values := crash.FacetHashes(organization, filters[0])
	found := &carrying{exact: true}
	// The hash of a value names its attribute and organization, too.
	err := q.SelectContext(ctx, &found.ids, `select coalesce(h.root_id, h.id)
		from crash_group_facets f join crash_groups h on h.id = f.group_id
		where f.hashes && $1 limit $2`, pq.Array(values), knownGroups+1)
	if err != nil {
		return nil, storage.Wrap(err, "groups of a value")
	}
	if len(found.ids) <= rareReports {
		ids, all, err := rareCarriers(ctx, q, organization, filters)
		found.ids = append(found.ids, ids...)
		if err != nil || all {
			return found, err
		}
	}
	open, err := openGroups(ctx, q, organization, key, values)
	switch {
	case err != nil:
		return nil, err
	case len(found.ids) > knownGroups:
		return &carrying{values: values, exact: len(open) == 0}, nil
	case len(open) == 0:
		return found, nil
	}
	return found, confirm(ctx, q, filters, open, found)
}

// openGroup is a group of which the facets do not say whether it has a value.
type openGroup struct {
	ID    int64 `db:"id"`
	Shown int64 `db:"shown"`
}

// openGroups returns the groups without the value of which not all values are known,
// last seen first, one too many where there are more than checkedGroups.
func openGroups(ctx context.Context, q storage.Querier, organization, key int64, values []int64) ([]openGroup, error) {
	var groups []openGroup
	err := q.SelectContext(ctx, &groups, `
		with o as materialized (
			select f.group_id as id from crash_group_facets f where f.many and f.key = $2 and not f.hashes && $3
			union all
			select f.group_id from crash_group_facets f where f.many and f.key = 0
				and not exists (select from crash_group_facets k where k.group_id = f.group_id and k.key = $2)
			union all
			select id from crash_groups where organization_id = $1 and facets_at is null
		)
		select h.id, g.id as shown from o join crash_groups h on h.id = o.id join crash_groups g on g.id = coalesce(h.root_id, h.id)
		where g.organization_id = $1 order by g.last_seen desc, h.id limit $4`,
		organization, key, pq.Array(values), checkedGroups+1)
	return groups, storage.Wrap(err, "groups with many values")
}

// rareCarriers returns the groups of the reports that carry the attributes; all is false
// when there are too many reports.
func rareCarriers(ctx context.Context, q storage.Querier, organization int64, filters []condition.Attribute) (ids []int64,
	all bool, err error) {
	c := &condition.List{}
	c.Add("c.organization_id = " + c.Arg(organization))
	c.Attributes("c.attributes", filters)
	var rows []struct {
		GroupID *int64 `db:"group_id"`
		Reports int    `db:"reports"`
	}
	err = q.SelectContext(ctx, &rows, `
		with m as materialized (select c.key_id from crashes c`+c.Where()+` limit `+c.Arg(rareReports+1)+`),
		k as (select key_id, count(*) as n from m group by key_id)
		select coalesce(h.root_id, h.id) as group_id, sum(k.n)::int as reports
		from k left join crash_group_keys g on g.id = k.key_id left join crash_groups h on h.id = g.group_id
		group by 1`, c.Args...)
	if err != nil {
		return nil, false, storage.Wrap(err, "groups of reports with attributes")
	}
	reports := 0
	for _, r := range rows {
		reports += r.Reports
		if r.GroupID != nil {
			ids = append(ids, *r.GroupID)
		}
	}
	return ids, reports <= rareReports, nil
}

// confirm adds those of the open groups to found whose newest reports carry the
// attributes.
func confirm(ctx context.Context, q storage.Querier, filters []condition.Attribute, open []openGroup, found *carrying) error {
	found.exact = len(open) <= checkedGroups
	known := make(map[int64]bool, len(found.ids))
	for _, id := range found.ids {
		known[id] = true
	}
	var ids []int64
	shown := map[int64]int64{}
	for _, g := range open[:min(len(open), checkedGroups)] {
		if !known[g.Shown] {
			ids, shown[g.ID] = append(ids, g.ID), g.Shown
		}
	}
	if len(ids) == 0 {
		return nil
	}
	c := &condition.List{}
	groups := c.Arg(pq.Array(ids))
	carries := newestCarry(c, "w.id", filters)
	var rows []struct {
		ID      int64 `db:"id"`
		Carries bool  `db:"carries"`
		Older   bool  `db:"older"` // there are reports that were not read
	}
	err := q.SelectContext(ctx, &rows, `
		select w.id, `+carries+` as carries, exists (select from crash_group_keys k cross join lateral (
			select from crashes where key_id = k.id order by occurred_at desc, id desc limit 1 offset `+c.Arg(checkedReports)+`) c
			where k.group_id = w.id) as older
		from unnest(`+groups+`::bigint[]) as w(id)`, c.Args...)
	for _, r := range rows {
		switch {
		case r.Carries:
			found.ids = append(found.ids, shown[r.ID])
		case r.Older:
			found.exact = false
		}
	}
	return storage.Wrap(err, "groups that may carry an attribute")
}
