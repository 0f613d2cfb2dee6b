package crash

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// countTotal counts the rows of a statement that selects them, up to reach.
func countTotal(ctx context.Context, q storage.Querier, c *conditions, rows string, reach int) (storage.Total, error) {
	return storage.CountUpTo(ctx, q, reach, rows, c.args...)
}

// cut takes the row off that was read beyond the page, which says that there are more.
func cut[T any](rows []T, limit int, total *storage.Total) []T {
	if len(rows) > limit {
		total.Next = true
		rows = rows[:limit]
	}
	return rows
}
