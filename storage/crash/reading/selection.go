package reading

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Selection are all groups that a filter selects. What its searching conditions name is found
// once; the others are asked each time.
type Selection struct {
	filter GroupFilter
	found  matches
}

// Select finds what the searching conditions of a filter name. *storage.InvalidError: attributes
// of which not all groups can be named, see findCarrying.
func Select(ctx context.Context, q storage.Querier, f GroupFilter) (*Selection, error) {
	found, err := f.find(ctx, q)
	if err != nil {
		return nil, err
	}
	if found.carrying != nil && !found.carrying.exact {
		return nil, storage.Invalid("attribute."+f.Attributes[0].Key,
			"is in too many reports to find all groups: narrow the filter, by another attribute that few of these reports have")
	}
	return &Selection{filter: f, found: found}, nil
}

// Count counts the groups.
func (s *Selection) Count(ctx context.Context, q storage.Querier) (storage.Total, error) {
	return s.filter.count(ctx, q, s.found)
}

// After returns groups behind one, in the order of their ids.
func (s *Selection) After(ctx context.Context, q storage.Querier, id int64, limit int) ([]int64, error) {
	query, args := s.after(id, limit)
	var ids []int64
	err := q.SelectContext(ctx, &ids, query, args...)
	return ids, storage.Wrap(err, "crash groups to change")
}

func (s *Selection) after(id int64, limit int) (query string, args []any) {
	c := s.filter.conditions(s.found)
	c.Add("g.id > " + c.Arg(id))
	query = `select g.id from crash_groups g` + c.Where() + ` order by g.id limit ` + c.Arg(limit)
	return query, c.Args
}

// Among returns those of groups that the filter still selects.
func (s *Selection) Among(ctx context.Context, q storage.Querier, groups []int64) ([]int64, error) {
	c := s.filter.conditions(s.found)
	c.Add("g.id = any(" + c.Arg(pq.Array(groups)) + ")")
	var ids []int64
	err := q.SelectContext(ctx, &ids, `select g.id from crash_groups g`+c.Where(), c.Args...)
	return ids, storage.Wrap(err, "crash groups that still match")
}
