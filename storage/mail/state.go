package mail

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ByIDs reads mails; those that are gone are missing.
func ByIDs(ctx context.Context, q storage.Querier, ids []uuid.UUID) (map[uuid.UUID]*Mail, error) {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	var list []Mail
	err := q.SelectContext(ctx, &list, `select `+mailColumns+`, html_body from mails where id = any($1::uuid[])`, pq.Array(texts))
	if err != nil {
		return nil, storage.Wrap(err, "read mails")
	}
	byID := make(map[uuid.UUID]*Mail, len(list))
	for i := range list {
		byID[list[i].ID] = &list[i]
	}
	return byID, nil
}

// Change is what becomes of a mail; Reason is why, "" for none.
type Change struct {
	ID     uuid.UUID
	State  State
	Reason string
}

// setStates leaves a mail that came back before its sending was recorded as it is.
const setStates = `
update mails m set state = n.state, error = n.error, attempted_at = now(),
	sent_at = case when n.state = 'sent' then coalesce(m.sent_at, now()) end
from unnest($1::uuid[], $2::text[], $3::text[]) as n (id, state, error)
where m.id = n.id and m.state <> 'bounced'`

// SetStates stores the outcomes of mails by one statement.
func SetStates(ctx context.Context, q storage.Querier, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	var ids, states, reasons []string
	for _, c := range changes {
		ids, states, reasons = append(ids, c.ID.String()), append(states, string(c.State)), append(reasons, clip(c.Reason))
	}
	_, err := q.ExecContext(ctx, setStates, pq.Array(ids), pq.Array(states), pq.Array(reasons))
	return storage.Wrap(err, "states of mails")
}
