package generation

import (
	"context"
	"strconv"

	"github.com/slipway-qa/slipway/storage"
)

// Filter selects generations of an organization.
type Filter struct {
	OrganizationID int64
	State          State // "": all
	storage.Page
}

// Listed is a generation of a list.
type Listed struct {
	Generation
	Intent     string // its beginning
	BaseCaseID string // of a refinement
}

// List returns a page of generations, newest first, and the number of all that match.
func List(ctx context.Context, q storage.Querier, f Filter) ([]Listed, int, error) {
	where, args := "organization_id = $1", []any{f.OrganizationID}
	if f.State != "" {
		where, args = where+" and state = $2", append(args, f.State)
	}
	rows := []listedRow{}
	if f.RowLimit() > 0 {
		n := len(args)
		err := q.SelectContext(ctx, &rows, `
with page as (
	select id from test_generations where `+where+` order by accepted_at desc, id desc
	limit $`+strconv.Itoa(n+1)+` offset $`+strconv.Itoa(n+2)+`
)
select (select count(*) from test_generations where `+where+`) as total, left(g.intent, 1000) as intent,
	coalesce(g.base_case_id, '') as base_case_id, `+generationColumns+`
from page join test_generations g on g.id = page.id
order by g.accepted_at desc, g.id desc`, append(args[:n:n], f.RowLimit(), f.RowOffset())...)
		if err != nil {
			return nil, 0, storage.Wrap(err, "list generations")
		}
	}
	list := make([]Listed, len(rows))
	for i, row := range rows {
		list[i] = Listed{Generation: Generation(row.generationRow), Intent: row.Intent, BaseCaseID: row.BaseCaseID}
	}
	if len(rows) > 0 {
		return list, rows[0].Total, nil
	}
	var total int
	err := q.GetContext(ctx, &total, `select count(*) from test_generations where `+where, args...)
	return list, total, storage.Wrap(err, "count generations")
}

type listedRow struct {
	generationRow
	Intent     string `db:"intent"`
	BaseCaseID string `db:"base_case_id"`
	Total      int    `db:"total"`
}
