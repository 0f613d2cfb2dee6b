package webhook

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// FailingOne is a webhook that was suspended or fails, or that gave something up lately.
type FailingOne struct {
	Webhook
	// Undelivered are the deliveries that are given up, counted up to storage.CountReach.
	Undelivered int `db:"undelivered"`
}

// ListFailing reads a page of an organization's webhooks that were suspended, fail, or gave up
// a delivery since a time, those with the most that was given up first, and the number of all.
// An organization has some hundred webhooks at most, so that all are read.
func ListFailing(ctx context.Context, q storage.Querier, organization int64, since time.Time, p storage.Page) ([]FailingOne, int, error) {
	all := []FailingOne{}
	err := q.SelectContext(ctx, &all, `
		select `+columns+`, undelivered from webhooks w cross join lateral (
			select count(*) as undelivered from (
				select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'failed' and d.organization_id = $1 and d.id >= $2 limit $3
			) since
		) d
		where w.organization_id = $1 and (w.status = 'suspended' or w.failing_since is not null or d.undelivered > 0)
		order by d.undelivered desc, w.failures desc, w.id`, organization, firstID(since), storage.CountReach)
	if err != nil {
		return nil, 0, storage.Wrap(err, "webhooks that fail")
	}
	first := min(p.RowOffset(), len(all))
	return all[first:min(first+p.RowLimit(), len(all))], len(all), nil
}

// firstID is the smallest uuid of version 7 of a time: it begins with the milliseconds
// (RFC 9562, 5.7).
func firstID(t time.Time) (id uuid.UUID) {
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(t.UnixMilli(), 0)))
	copy(id[:6], ms[2:])
	return id
}
