package mail

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// insertMails writes many mails by one statement. The rows come in the order of
// their keys: two transactions that write the same keys wait for each other in one
// order.
const insertMails = `
insert into mails (id, organization_id, user_id, kind, recipient, subject, text_body, html_body, icon_key, qr, unsubscribe, dedupe_key)
select id, nullif(organization_id, 0), nullif(user_id, 0), kind, recipient, subject, text_body, html_body, icon_key, qr, unsubscribe,
	nullif(dedupe_key, '')
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::text[]) as n (id, organization_id, user_id, kind, recipient, subject, text_body, html_body, icon_key, qr, unsubscribe,
	dedupe_key)
order by dedupe_key, id
on conflict (dedupe_key) do nothing
returning id`

// InsertAll writes mails by one statement and returns their ids, in the same order;
// the id is zero where a mail with the dedupe key exists. The caller inserts a task
// mail:send for each of the others in the same transaction. One that breaks a rule is
// an *storage.InvalidError, and nothing is written.
func InsertAll(ctx context.Context, q storage.Querier, list []New) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, len(list))
	if len(list) == 0 {
		return ids, nil
	}
	columns := make([][]string, 10)
	organizations, users := make([]int64, len(list)), make([]int64, len(list))
	for i := range list {
		n := &list[i]
		if err := n.check(); err != nil {
			return nil, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("new mail id: %w", err)
		}
		ids[i], organizations[i], users[i] = id, n.OrganizationID, n.UserID
		for j, value := range []string{id.String(), n.Kind, n.Recipient, n.Subject, n.TextBody, n.HTMLBody, n.Icon, n.QR,
			n.Unsubscribe, n.DedupeKey} {
			columns[j] = append(columns[j], value)
		}
	}
	var inserted []uuid.UUID
	err := q.SelectContext(ctx, &inserted, insertMails, pq.Array(columns[0]), pq.Array(organizations), pq.Array(users),
		pq.Array(columns[1]), pq.Array(columns[2]), pq.Array(columns[3]), pq.Array(columns[4]), pq.Array(columns[5]),
		pq.Array(columns[6]), pq.Array(columns[7]), pq.Array(columns[8]), pq.Array(columns[9]))
	if err != nil {
		return nil, storage.Wrap(err, "write mails")
	}
	written := make(map[uuid.UUID]bool, len(inserted))
	for _, id := range inserted {
		written[id] = true
	}
	for i, id := range ids {
		if !written[id] {
			ids[i] = uuid.Nil
		}
	}
	return ids, nil
}

// Check returns an *storage.InvalidError for a mail that InsertAll would refuse.
func (n *New) Check() error { return n.check() }
