package storage

import (
	"context"
	"fmt"
)

// CountReach is how far lists count the rows that match: further, nobody reads a number,
// and the database would read them all for each page.
const CountReach = 10_000

// Total is the number of rows that match a list.
type Total struct {
	Rows int `json:"rows"`
	// Exact is false where there may be more: counting stopped.
	Exact bool `json:"exact"`
	// Next reports whether rows follow the page.
	Next bool `json:"-"`
}

// CountUpTo counts the rows of a statement that selects them ("select from t where ..."),
// up to reach.
func CountUpTo(ctx context.Context, q Querier, reach int, rows string, args ...any) (Total, error) {
	var n int
	err := q.GetContext(ctx, &n, fmt.Sprintf(`select count(*) from (%s limit %d) reached`, rows, reach+1), args...)
	return Total{Rows: min(n, reach), Exact: n <= reach}, err
}
