package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Result keeps the result of a task that this transaction has finished: of one
// among several that were finished together, or one that only its effects tell.
func Result(ctx context.Context, q storage.Querier, token Token, result any) error {
	doc, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("task result: %w", err)
	}
	res, err := q.ExecContext(ctx, `update tasks set result = $3
		where id = $1 and attempt = $2 and state = 'succeeded'`, token.ID, token.Attempt, string(doc))
	if err != nil {
		return storage.Wrap(err, "keep task result")
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("keep result of task %s: %w", token.ID, storage.ErrStale)
	}
	return nil
}

// Redact replaces the payload of a task that has succeeded, for work whose very
// subject must be forgotten once it is done. It belongs into the transaction
// that finishes the task, after Finish; ErrStale when the task is in any other
// state, for a task that may run again needs its payload.
func Redact(ctx context.Context, q storage.Querier, id uuid.UUID, payload any) error {
	doc, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("redacted payload: %w", err)
	}
	res, err := q.ExecContext(ctx, `update tasks set payload = $2 where id = $1 and state = 'succeeded'`, id, string(doc))
	if err != nil {
		return storage.Wrap(err, "redact task")
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("redact task %s: %w", id, storage.ErrStale)
	}
	return nil
}
