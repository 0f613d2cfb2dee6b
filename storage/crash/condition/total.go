package condition

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// Count counts the rows of a statement that selects them, up to reach.
func Count(ctx context.Context, q storage.Querier, c *List, rows string, reach int) (storage.Total, error) {
	return storage.CountUpTo(ctx, q, reach, rows, c.Args...)
}

// Cut takes the row off that was read beyond the page, which says that there are more.
func Cut[T any](rows []T, limit int, total *storage.Total) []T {
	if len(rows) > limit {
		total.Next = true
		rows = rows[:limit]
	}
	return rows
}
