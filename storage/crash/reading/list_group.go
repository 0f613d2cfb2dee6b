package reading

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// CrashFilter selects a page of a group's crashes, newest first.
type CrashFilter struct {
	OrganizationID int64
	GroupID        int64 // as crash.ResolveGroup returns it
	Versions       []string
	Attributes     []condition.Attribute
	Window         Window // of the occurrence
	Limit, Offset  int
}

// mergedKeys is how many keys of a group are read in the order of time at once: one
// branch of the statement each. The crashes of more are sorted.
const mergedKeys = 50

// groupKeys are the keys of a group that is shown, and of its parts.
func groupKeys(ctx context.Context, q storage.Querier, organization, group int64) ([]int64, error) {
	var keys []int64
	err := q.SelectContext(ctx, &keys, `select k.id from crash_group_keys k join crash_groups g on g.id = k.group_id
		where g.organization_id = $1 and (g.id = $2 or g.root_id = $2) order by k.id`, organization, group)
	return keys, storage.Wrap(err, "keys of a crash group")
}

// crashesOf is a statement that selects id and time of the crashes of keys, newest
// first, which the index crashes_key_page yields without a sort and without the table.
func crashesOf(c *condition.List, keys []int64) string {
	const order = " order by c.occurred_at desc, c.id desc"
	columns := "select c.id, c.occurred_at from crashes c where "
	rest := c.And()
	if len(keys) > mergedKeys {
		return columns + "c.key_id = any(" + c.Arg(pq.Array(keys)) + ")" + rest + order
	}
	if len(keys) == 1 {
		return columns + "c.key_id = " + c.Arg(keys[0]) + rest + order
	}
	branches := make([]string, len(keys))
	for i, key := range keys {
		branches[i] = "(" + columns + "c.key_id = " + c.Arg(key) + rest + order + ")"
	}
	return "select c.id, c.occurred_at from (" + strings.Join(branches, " union all ") + ") c" + order
}

func (f *CrashFilter) conditions() *condition.List {
	c := &condition.List{}
	if len(f.Versions) > 0 {
		c.Add("c.version = any(" + c.Arg(pq.Array(f.Versions)) + ")")
	}
	c.Attributes("c.attributes", f.Attributes)
	c.Span("c.occurred_at", f.Window.From, f.Window.To)
	return c
}

// Crashes returns a page of crashes and how many match. Pages end at ListReach.
func Crashes(ctx context.Context, q storage.Querier, f CrashFilter) ([]Row, storage.Total, error) {
	keys, err := groupKeys(ctx, q, f.OrganizationID, f.GroupID)
	if err != nil {
		return nil, storage.Total{}, err
	}
	rows := []Row{}
	if len(keys) == 0 {
		return rows, storage.Total{Exact: true}, nil
	}
	c := f.conditions()
	total, err := condition.Count(ctx, q, c, `select from crashes c where c.key_id = any(`+c.Arg(pq.Array(keys))+`)`+c.And(),
		storage.CountReach)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "count crashes")
	}
	limit := min(f.Limit, ListReach-f.Offset)
	if limit <= 0 || total.Exact && f.Offset >= total.Rows {
		return rows, total, nil
	}
	c = f.conditions()
	page := crashesOf(c, keys)
	page += " limit " + c.Arg(limit+1) + " offset " + c.Arg(f.Offset)
	// The page is cut before anything else is read.
	err = q.SelectContext(ctx, &rows, `with page as materialized (`+page+`)
		select `+rowColumns+` from page join crashes c on c.id = page.id`+rowSources+`
		order by c.occurred_at desc, c.id desc`, c.Args...)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "list crashes")
	}
	return condition.Cut(rows, limit, &total), total, nil
}
