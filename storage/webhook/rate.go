package webhook

import (
	"cmp"
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Bounds of the events of an action that an organization has in a minute.
const (
	// stormPerMinute is for crashes: one a second is more than a person or a chat reads,
	// and a storm of them has thousands.
	stormPerMinute = 60
	// visitorsPerMinute is for what people do who need no account: above what a new build
	// for ten thousand testers brings, and far below what a script can send.
	visitorsPerMinute = 1000
)

// perMinute is the bound of an action; 0 for one that members of the organization cause.
func perMinute(a Action) int {
	switch a {
	case Crash, CrashGroup, CrashRule:
		return stormPerMinute
	case Download, Feedback, NewUDID:
		return visitorsPerMinute
	}
	return 0
}

// takeRate returns how many of the events are within the minute's number.
const takeRate = `
insert into webhook_rates as r (organization_id, action, minute, count)
values ($1, $2, date_trunc('minute', now()), least($3::int, $4::int))
on conflict (organization_id, action) do update set minute = greatest(r.minute, excluded.minute),
	count = case when r.minute >= excluded.minute then least(r.count + $3::int, $4::int) else least($3::int, $4::int) end
returning count`

const readRate = `
select coalesce(max(count), 0) from webhook_rates
where organization_id = $1 and action = $2 and minute >= date_trunc('minute', now())`

const lockRate = `select pg_advisory_xact_lock(hashtextextended('webhook rate ' || $1::text || ' ' || $2, 0))`

// addSkipped locks the rows in one order, so that two storms wait for each other.
const addSkipped = `
with locked as (select id from webhooks where id = any($1) order by id for no key update)
update webhooks w set skipped = w.skipped + n.skipped, skipped_at = now()
from unnest($1::bigint[], $2::bigint[]) as n(id, skipped) join locked on locked.id = n.id
where w.id = n.id`

type rateKey struct {
	organization int64
	action       Action
}

// limitRates takes the events out that are beyond the number of their minute, and counts
// them on the webhooks that wanted them.
func limitRates(ctx context.Context, tx *storage.Tx, hooks []*interested) error {
	byRate := map[rateKey][]*Event{}
	var order []rateKey
	for _, e := range wantedEvents(hooks) {
		if perMinute(e.Action) == 0 {
			continue
		}
		key := rateKey{e.OrganizationID, e.Action}
		if byRate[key] == nil {
			order = append(order, key)
		}
		byRate[key] = append(byRate[key], e)
	}
	slices.SortFunc(order, func(a, b rateKey) int {
		return cmp.Or(cmp.Compare(a.organization, b.organization), cmp.Compare(a.action, b.action))
	})
	out := map[*Event]bool{}
	for _, key := range order {
		taken, err := takeOfRate(ctx, tx, key, len(byRate[key]))
		if err != nil {
			return err
		}
		for _, e := range byRate[key][taken:] {
			out[e] = true
		}
	}
	if len(out) == 0 {
		return nil
	}
	return skip(ctx, tx, hooks, out)
}

func takeOfRate(ctx context.Context, tx *storage.Tx, key rateKey, want int) (int, error) {
	if _, err := tx.ExecContext(ctx, lockRate, key.organization, string(key.action)); err != nil {
		return 0, storage.Wrap(err, "lock the rate of events")
	}
	var before, after int
	if err := tx.GetContext(ctx, &before, readRate, key.organization, string(key.action)); err != nil {
		return 0, storage.Wrap(err, "read the rate of events")
	}
	most := perMinute(key.action)
	if before >= most {
		return 0, nil
	}
	err := tx.GetContext(ctx, &after, takeRate, key.organization, string(key.action), want, most)
	return after - before, storage.Wrap(err, "count the rate of events")
}

func skip(ctx context.Context, tx *storage.Tx, hooks []*interested, out map[*Event]bool) error {
	var ids, counts []int64
	for _, h := range hooks {
		before := len(h.events)
		h.events = slices.DeleteFunc(h.events, func(e *Event) bool { return out[e] })
		if n := before - len(h.events); n > 0 {
			ids, counts = append(ids, h.ID), append(counts, int64(n))
		}
	}
	_, err := tx.ExecContext(ctx, addSkipped, pq.Array(ids), pq.Array(counts))
	return storage.Wrap(err, "count skipped events")
}
