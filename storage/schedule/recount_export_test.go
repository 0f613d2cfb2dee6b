package schedule

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// RecountLater is Recount with time between reading and writing.
func RecountLater(ctx context.Context, q storage.Querier, meanwhile func()) (int64, error) {
	var rows []counted
	if err := q.SelectContext(ctx, &rows, schedulesToRecount, uuid.Nil, 1000); err != nil {
		return 0, err
	}
	meanwhile()
	return recount(ctx, q, rows)
}
