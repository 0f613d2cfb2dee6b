package crash

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// CountReach is how far lists count the rows that match: further, nobody reads a number,
// and the database would read them all for each page.
const CountReach = 10_000

// Total is the number of rows that match a list.
type Total struct {
	Rows int `json:"rows"`
	// Exact is false where there may be more: counting stopped at CountReach.
	Exact bool `json:"exact"`
	// Next reports whether rows follow the page.
	Next bool `json:"-"`
}

// countTotal counts the rows of a statement that selects them, up to reach.
func countTotal(ctx context.Context, q storage.Querier, c *conditions, rows string, reach int) (Total, error) {
	var n int
	err := q.GetContext(ctx, &n, `select count(*) from (`+rows+` limit `+c.arg(reach+1)+`) reached`, c.args...)
	return Total{Rows: min(n, reach), Exact: n <= reach}, err
}

// cut takes the row off that was read beyond the page, which says that there are more.
func cut[T any](rows []T, limit int, total *Total) []T {
	if len(rows) > limit {
		total.Next = true
		rows = rows[:limit]
	}
	return rows
}
