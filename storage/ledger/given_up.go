package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// The dead are read from tasks_dead, those that were cancelled from tasks_cancelled.
const givenUp = `
select id from tasks where organization_id = $1 and kind = $2 and state = 'dead' and id > $3
union all
select id from tasks where organization_id = $1 and kind = $2 and state = 'cancelled' and id > $3
order by id limit $4`

// One that was retried meanwhile is no longer given up, and left out.
const lockGivenUp = `
select id, payload from tasks where id = any($1::uuid[]) and organization_id = $2 and state in ('dead', 'cancelled')
order by id for update`

// maxGivenUp payloads are held in memory at once.
const maxGivenUp = 500

// RewriteGivenUp replaces payloads of the tasks of a kind that an organization's people
// cancelled or that failed for good: they are kept for a retry, and may hold what must be
// forgotten. rewrite returns nil for a payload that stays. It returns how many were replaced.
func RewriteGivenUp(ctx context.Context, tx *storage.Tx, organization int64, kind string, rewrite func(payload []byte) (any, error)) (int, error) {
	return rewriteGivenUp(ctx, tx, organization, kind, maxGivenUp, rewrite)
}

func rewriteGivenUp(ctx context.Context, tx *storage.Tx, organization int64, kind string, page int, rewrite func(payload []byte) (any, error)) (int, error) {
	replaced, after := 0, uuid.Nil
	for {
		var ids []string
		if err := tx.SelectContext(ctx, &ids, givenUp, organization, kind, after, page); err != nil {
			return replaced, storage.Wrap(err, "tasks that were given up")
		}
		n, err := rewriteTasks(ctx, tx, organization, ids, rewrite)
		replaced += n
		if err != nil || len(ids) < page {
			return replaced, err
		}
		if after, err = uuid.Parse(ids[len(ids)-1]); err != nil {
			return replaced, fmt.Errorf("id of a task: %w", err)
		}
	}
}

// rewriteTasks replaces payloads of those of the tasks that are still given up.
func rewriteTasks(ctx context.Context, tx *storage.Tx, organization int64, ids []string, rewrite func(payload []byte) (any, error)) (int, error) {
	var list []struct {
		ID      uuid.UUID `db:"id"`
		Payload []byte    `db:"payload"`
	}
	if err := tx.SelectContext(ctx, &list, lockGivenUp, pq.Array(ids), organization); err != nil {
		return 0, storage.Wrap(err, "lock tasks that were given up")
	}
	replaced := 0
	for _, t := range list {
		payload, err := rewrite(t.Payload)
		if err != nil {
			return replaced, fmt.Errorf("payload of task %s: %w", t.ID, err)
		}
		if payload == nil {
			continue
		}
		doc, err := json.Marshal(payload)
		if err != nil {
			return replaced, fmt.Errorf("payload of task %s: %w", t.ID, err)
		}
		err = changeOne(ctx, tx, "rewrite task "+t.ID.String(), `update tasks set payload = $2 where id = $1 and organization_id = $3`,
			t.ID, string(doc), organization)
		if err != nil {
			return replaced, err
		}
		replaced++
	}
	return replaced, nil
}
