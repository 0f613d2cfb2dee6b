package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// The dead are read from tasks_dead, those that were cancelled from tasks_cancelled.
const lockGivenUp = `
select id, payload from tasks where id = any(array(
	select id from tasks where organization_id = $1 and kind = $2 and state = 'dead' and id > $3
	union all
	select id from tasks where organization_id = $1 and kind = $2 and state = 'cancelled' and id > $3
	order by id limit $4
)) and organization_id = $1 and state in ('dead', 'cancelled') order by id for update`

// maxGivenUp payloads are held in memory at once.
const maxGivenUp = 500

// RewriteGivenUp replaces payloads of the tasks of a kind that an organization's people
// cancelled or that failed for good: they are kept for a retry, and may hold what must be
// forgotten. rewrite returns nil for a payload that stays. It returns how many were replaced.
func RewriteGivenUp(ctx context.Context, tx *storage.Tx, organization int64, kind string, rewrite func(payload []byte) (any, error)) (int, error) {
	replaced, after := 0, uuid.Nil
	for {
		var list []struct {
			ID      uuid.UUID `db:"id"`
			Payload []byte    `db:"payload"`
		}
		if err := tx.SelectContext(ctx, &list, lockGivenUp, organization, kind, after, maxGivenUp); err != nil {
			return replaced, storage.Wrap(err, "tasks that were given up")
		}
		for _, t := range list {
			after = t.ID
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
		if len(list) < maxGivenUp {
			return replaced, nil
		}
	}
}
