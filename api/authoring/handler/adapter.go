package handler

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// List answers with a page of what a filter finds. The filter is read from the whole query before
// the first of its parameters that is wrong is refused.
func List[F, R, T any](h *Base, c *gin.Context, read func(q *request.Query) F,
	find func(ctx context.Context, q storage.Querier, f F) ([]R, int, error), view func(*R) T) error {
	q := request.QueryOf(c)
	f := read(q)
	if q.Err != nil {
		return q.Err
	}
	rows, total, err := find(c.Request.Context(), h.DB, f)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, view))
}

// Item reads what the UUID in the path names.
func Item[R any](h *Base, c *gin.Context,
	find func(ctx context.Context, q storage.Querier, organization int64, id uuid.UUID) (*R, error)) (*R, error) {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return nil, err
	}
	return find(c.Request.Context(), h.DB, auth.Organization(c), id)
}

// Changed runs a change with its audit row in one transaction, and returns what it made or changed.
func Changed[R any](h *Base, c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) (R, error)) (row R, err error) {
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = do(ctx, tx, w)
		return err
	})
	return row, err
}
