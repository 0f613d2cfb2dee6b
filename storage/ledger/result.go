package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Progress stores the result so far of a task that goes on, in the transaction of the
// step that it reports on; the next attempt finds it in the task. It is ErrStale when
// the claim is no longer the worker's.
func Progress(ctx context.Context, q storage.Querier, token Token, result any) error {
	return setResult(ctx, q, token, Running, result)
}

// Result stores the result of a task that this transaction has finished: of one among
// several that were finished together, or one that only the effects know. It is
// ErrStale when the task was not finished under this claim.
func Result(ctx context.Context, q storage.Querier, token Token, result any) error {
	return setResult(ctx, q, token, Succeeded, result)
}

// Results is Result for several tasks, in one statement; results are in the order of tokens.
func Results(ctx context.Context, q storage.Querier, tokens []Token, results []any) error {
	if len(tokens) == 0 {
		return nil
	}
	docs := make([]string, len(results))
	for i, result := range results {
		doc, err := json.Marshal(result)
		if err != nil {
			return fmt.Errorf("result of task %s: %w", tokens[i].ID, err)
		}
		docs[i] = string(doc)
	}
	ids, attempts := split(tokens)
	var stored []uuid.UUID
	err := q.SelectContext(ctx, &stored, `update tasks t set result = r.result
		from unnest($1::uuid[], $2::int[], $3::jsonb[]) as r(id, attempt, result)
		where t.id = r.id and t.attempt = r.attempt and t.state = 'succeeded' returning t.id`, ids, attempts, pq.Array(docs))
	if err != nil {
		return storage.Wrap(err, "store the results of tasks")
	}
	if len(stored) != len(tokens) {
		return fmt.Errorf("results of %d tasks: %w", len(tokens), storage.ErrStale)
	}
	return nil
}

func setResult(ctx context.Context, q storage.Querier, token Token, state State, result any) error {
	doc, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("result of task %s: %w", token.ID, err)
	}
	return changeOne(ctx, q, "store the result of task "+token.ID.String(),
		`update tasks set result = $4 where id = $1 and attempt = $2 and state = $3`,
		token.ID, token.Attempt, string(state), string(doc))
}

// Redact replaces the payload of a task that has succeeded, for work whose very
// subject must be forgotten once it is done. It belongs into the transaction
// that finishes the task, after Finish. It is ErrStale when the task is in any other
// state, for a task that may run again needs its payload.
func Redact(ctx context.Context, q storage.Querier, id uuid.UUID, payload any) error {
	doc, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("redacted payload: %w", err)
	}
	return changeOne(ctx, q, "redact task "+id.String(),
		`update tasks set payload = $2 where id = $1 and state = 'succeeded'`, id, string(doc))
}

// changeOne runs a statement that changes the row of one task, or is ErrStale.
func changeOne(ctx context.Context, q storage.Querier, what, statement string, args ...any) error {
	res, err := q.ExecContext(ctx, statement, args...)
	if err != nil {
		return storage.Wrap(err, what)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%s: %w", what, storage.ErrStale)
	}
	return nil
}
