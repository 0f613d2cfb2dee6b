package audit

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// exportStep events are looked at by one statement of an export: few enough that it
// neither holds memory nor outlives the client for long.
const exportStep = 2000

// Export hands all events that the filter selects to fn, newest first, in portions, and
// ends at the first error. It reads portion after portion by the place of the last event,
// without a transaction around all of them; events that are written meanwhile are not
// among them.
func Export(ctx context.Context, q storage.Querier, f Filter, fn func([]Entry) error) error {
	if len(f.Organizations) == 0 {
		return nil
	}
	var at *place
	for {
		rows, last, err := f.portion(ctx, q, at)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			if err := fn(rows); err != nil {
				return err
			}
		}
		if last == nil {
			return nil
		}
		at = last
	}
}

// place is where a portion ended.
type place struct {
	At time.Time `db:"at"`
	ID int64     `db:"id"`
}

// portion reads the events behind a place among the next exportStep ones. last is nil
// when there are no more.
func (f *Filter) portion(ctx context.Context, q storage.Querier, behind *place) (rows []Entry, last *place, err error) {
	var s statement
	from, condition := f.sources(&s)
	if behind != nil {
		condition += " and (e.at, e.id) < (" + s.arg(behind.At) + ", " + s.arg(behind.ID) + ")"
	}
	found := "true"
	if f.Search != "" {
		found = textOf + " like " + s.arg(pattern(f.Search))
	}
	limit := s.arg(exportStep)
	query := `select ` + entryColumns + `, ` + found + ` as found from (
		select e.* from ` + from + ` cross join lateral (select * from audit_events e where ` + condition + newestFirst + `
			limit ` + limit + `) e` + newestFirst + ` limit ` + limit + `) e
		join organizations o on o.id = e.organization_id` + newestFirst
	var read []struct {
		Entry
		Found bool `db:"found"`
	}
	if err := q.SelectContext(ctx, &read, query, s.args...); err != nil {
		return nil, nil, storage.Wrap(err, "export audit events")
	}
	for i := range read {
		if read[i].Found {
			rows = append(rows, read[i].Entry)
		}
	}
	if len(read) == exportStep {
		end := read[len(read)-1]
		last = &place{At: end.At, ID: end.ID}
	}
	return rows, last, nil
}
