package audit

import (
	"context"
	"strconv"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

func itoa(n int) string { return strconv.Itoa(n) }

const newestFirst = " order by e.at desc, e.id desc"

const entryColumns = `e.id, e.organization_id, o.slug, e.at, e.type, e.action, e.actor_user_id, e.actor, e.subject,
	e.detail, e.request_id, e.ip_address`

// entries are events whose ids the list p has, with their organizations.
const entries = `
select ` + entryColumns + ` from unnest($1::bigint[]) as p (id)
join audit_events e on e.id = p.id join organizations o on o.id = e.organization_id` + newestFirst

// List returns a page of events, newest first, and how many there are.
func List(ctx context.Context, q storage.Querier, f Filter, p storage.Page) ([]Entry, storage.Total, error) {
	if len(f.Organizations) == 0 {
		return []Entry{}, storage.Total{Exact: true}, nil
	}
	var ids []int64
	var total storage.Total
	var err error
	if f.Search != "" {
		ids, total, err = f.search(ctx, q, p)
	} else {
		ids, total, err = f.page(ctx, q, p)
	}
	if err != nil {
		return nil, storage.Total{}, err
	}
	rows := []Entry{}
	if len(ids) == 0 {
		return rows, total, nil
	}
	err = q.SelectContext(ctx, &rows, entries, pq.Array(ids))
	return rows, total, storage.Wrap(err, "read audit events")
}

// page finds the ids of a page. It reads audit_events_at, audit_events_type or
// audit_events_user alone.
func (f *Filter) page(ctx context.Context, q storage.Querier, p storage.Page) ([]int64, storage.Total, error) {
	total, err := f.count(ctx, q)
	if err != nil || p.RowLimit() == 0 || total.Exact && p.RowOffset() >= total.Rows {
		return nil, total, err
	}
	ids, err := f.ordered(ctx, q, "", p)
	return cut(ids, p, &total), total, err
}

// ordered finds the ids of a page and of one event more, in the order of the index. Of
// each range as many are read as the page needs if all of them are from it.
func (f *Filter) ordered(ctx context.Context, q storage.Querier, pattern string, p storage.Page) ([]int64, error) {
	var s statement
	from, condition := f.sources(&s)
	if pattern != "" {
		condition += " and " + textOf + " like " + s.arg(pattern)
	}
	limit, offset := s.arg(p.RowLimit()+1), s.arg(p.RowOffset())
	query := `select e.id from ` + from + ` cross join lateral (
		select e.id, e.at from audit_events e where ` + condition + newestFirst + `
		limit ` + limit + `::bigint + ` + offset + `::bigint) e` + newestFirst + ` limit ` + limit + ` offset ` + offset
	var ids []int64
	err := q.SelectContext(ctx, &ids, query, s.args...)
	return ids, storage.Wrap(err, "page of audit events")
}

// count counts as far as storage.CountReach; one row more says that there are others.
func (f *Filter) count(ctx context.Context, q storage.Querier) (storage.Total, error) {
	var s statement
	from, condition := f.sources(&s)
	limit := s.arg(storage.CountReach + 1)
	query := `select count(*) from (select from ` + from + ` cross join lateral (
		select from audit_events e where ` + condition + ` limit ` + limit + `) e limit ` + limit + `) counted`
	var n int
	if err := q.GetContext(ctx, &n, query, s.args...); err != nil {
		return storage.Total{}, storage.Wrap(err, "count audit events")
	}
	return storage.Total{Rows: min(n, storage.CountReach), Exact: n <= storage.CountReach}, nil
}

// cut drops the row that was read to see whether there is a next page.
func cut(ids []int64, p storage.Page, total *storage.Total) []int64 {
	if total.Next = len(ids) > p.RowLimit(); total.Next {
		ids = ids[:p.RowLimit()]
	}
	if !total.Exact {
		total.Rows = max(total.Rows, p.RowOffset()+len(ids))
	}
	return ids
}
