package reading

import (
	"cmp"
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

const (
	// MaxCounted is how many reports, the newest, the values of attributes are counted over
	// at most: enough for shares, and read in a moment. It is how many where none is asked for.
	MaxCounted = 10_000
	// countedForKeys is how many when all values of all attributes are counted.
	countedForKeys = 1000
	// shownKeys and shownAttributeValues bound what is shown of them, the most frequent
	// first.
	shownKeys            = 200
	shownAttributeValues = 100
)

// AttributeKey is an attribute that reports have.
type AttributeKey struct {
	Key     string `db:"key"`
	Values  int    `db:"distinct_values"` // distinct
	Reports int    `db:"reports"`         // that have it
}

// AttributeValue is a value of an attribute, with the occurrences that have it.
type AttributeValue struct {
	Value     string    `db:"value"` // a number or boolean as it is written
	Count     int64     `db:"count"`
	FirstSeen time.Time `db:"first_seen"`
	LastSeen  time.Time `db:"last_seen"`
}

// Counted says what attributes were counted over.
type Counted struct {
	Reports     int   `db:"reports"`     // the newest that match
	Occurrences int64 `db:"occurrences"` // that these stand for
	Complete    bool  // these are all
	Distinct    int   `db:"distinct_values"` // of the attribute that was asked for
}

// AttributesFilter selects the reports whose attributes are counted.
type AttributesFilter struct {
	OrganizationID int64
	GroupID        int64   // as crash.ResolveGroup returns it; 0: of all groups and without one
	Projects       []int64 // without a group
	Window         Window  // of the occurrence in a group, of the arrival without one
	// Most is how many reports, the newest, are counted; 0: as many as there is time for.
	Most int
}

// reports is a statement that selects id of the newest reports that match; "" when none
// can.
func (f *AttributesFilter) reports(ctx context.Context, q storage.Querier, c *condition.List, most int) (string, error) {
	if f.GroupID == 0 {
		l := ListFilter{OrganizationID: f.OrganizationID, Projects: f.Projects, From: f.Window.From, To: f.Window.To}
		*c = *l.conditions()
		return "select c.id from crashes c" + c.Where() + " order by c.received_at desc, c.id desc limit " + c.Arg(most+1), nil
	}
	keys, err := groupKeys(ctx, q, f.OrganizationID, f.GroupID)
	if err != nil || len(keys) == 0 {
		return "", err
	}
	c.Span("c.occurred_at", f.Window.From, f.Window.To)
	return crashesOf(c, keys) + " limit " + c.Arg(most+1), nil
}

// sampleOf begins a statement with the newest reports: sample, one too many where there
// are more.
func sampleOf(c *condition.List, reports, columns string, most int) string {
	return `with newest as materialized (` + reports + `),
	sample as materialized (select ` + columns + ` from crashes c where c.id in (select id from newest limit ` + c.Arg(most) + `)) `
}

// AttributeKeys returns the attributes of the newest reports, the most frequent first.
func AttributeKeys(ctx context.Context, q storage.Querier, f AttributesFilter) ([]AttributeKey, Counted, error) {
	c := &condition.List{}
	keys, counted := []AttributeKey{}, Counted{Complete: true}
	most := cmp.Or(f.Most, countedForKeys)
	reports, err := f.reports(ctx, q, c, most)
	if err != nil || reports == "" {
		return keys, counted, err
	}
	var rows []struct {
		AttributeKey
		Total       int   `db:"total"`
		Occurrences int64 `db:"occurrences"`
		Found       int   `db:"found"`
	}
	err = q.SelectContext(ctx, &rows, sampleOf(c, reports, "c.attributes, c.duplicates", most)+`
		select t.*, coalesce(k.key, '') as key, coalesce(k.distinct_values, 0) as distinct_values, coalesce(k.reports, 0) as reports
		from (select (select count(*) from sample) as total, (select count(*) from newest) as found,
			(select coalesce(sum(duplicates), 0)::bigint from sample) as occurrences) t
		left join lateral (
			select key, count(*) as distinct_values, sum(n)::int as reports
			from (select e.key, e.value, count(*) as n from sample s, jsonb_each_text(s.attributes) e group by 1, 2) v
			group by key order by reports desc, key limit `+c.Arg(shownKeys)+`) k on true
		order by k.reports desc nulls last, k.key`, c.Args...)
	for _, r := range rows {
		counted = Counted{Reports: r.Total, Occurrences: r.Occurrences, Complete: r.Found <= most}
		if r.Reports > 0 {
			keys = append(keys, r.AttributeKey)
		}
	}
	return keys, counted, storage.Wrap(err, "attributes of crashes")
}

// AttributeValues returns the values of an attribute in the newest reports, the most
// frequent first.
func AttributeValues(ctx context.Context, q storage.Querier, f AttributesFilter, key string) ([]AttributeValue, Counted, error) {
	c := &condition.List{}
	values, counted := []AttributeValue{}, Counted{Complete: true}
	most := cmp.Or(f.Most, MaxCounted)
	reports, err := f.reports(ctx, q, c, most)
	if err != nil || reports == "" {
		return values, counted, err
	}
	var rows []struct {
		Value     *string    `db:"value"`
		Count     *int64     `db:"count"`
		FirstSeen *time.Time `db:"first_seen"`
		LastSeen  *time.Time `db:"last_seen"`
		Found     int        `db:"found"`
		Counted
	}
	err = q.SelectContext(ctx, &rows, sampleOf(c, reports, "c.attributes ->> "+c.Arg(condition.IndexedKey(key))+
		" as value, c.duplicates, c.occurred_at", most)+`,
		valued as materialized (
			select value, sum(duplicates)::bigint as count, min(occurred_at) as first_seen, max(occurred_at) as last_seen
			from sample where value is not null group by value
		)
		select t.*, v.* from (select (select count(*) from sample) as reports, (select count(*) from newest) as found,
			(select coalesce(sum(duplicates), 0)::bigint from sample) as occurrences, (select count(*) from valued) as distinct_values) t
		left join lateral (select * from valued order by count desc, value limit `+c.Arg(shownAttributeValues)+`) v on true
		order by v.count desc nulls last, v.value`, c.Args...)
	for _, r := range rows {
		counted = r.Counted
		counted.Complete = r.Found <= most
		if r.Value != nil {
			values = append(values, AttributeValue{Value: *r.Value, Count: *r.Count, FirstSeen: *r.FirstSeen, LastSeen: *r.LastSeen})
		}
	}
	return values, counted, storage.Wrap(err, "values of an attribute")
}
