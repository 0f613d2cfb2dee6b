package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Event is something that happened in an organization.
type Event struct {
	OrganizationID int64
	Action         Action
	ProjectID      int64 // 0: of no app
	BuildID        int64 // 0: of no build
	// Key, when set, is unique in the organization: a second event with it is not
	// written.
	Key string
	At  time.Time // zero: now
	// Data is a JSON object with the event's own members, nil for none. It is added to
	// the members that all events have, and wins over them.
	Data any

	// ID is the event's row in table events, where the caller has written it; zero: it is
	// written when a webhook wants it.
	ID uuid.UUID

	data string
}

const activeWebhooks = `
select id, organization_id, actions, project_ids, failures
from webhooks where organization_id = any($1) and status = 'active' and actions && $2::text[]
order by id`

// interested is a webhook that wants events.
type interested struct {
	Webhook
	events []*Event
}

// Emit writes events with a delivery for each webhook that wants them, in the transaction
// of their cause. Where no webhook does, it costs one query. Of crashes, and of what
// visitors do, an organization has at most a number in each minute; the rest is counted on
// the webhooks and left out.
func Emit(ctx context.Context, tx *storage.Tx, events ...Event) error {
	hooks, err := findInterested(ctx, tx, events)
	if err != nil || len(hooks) == 0 {
		return err
	}
	if err := limitRates(ctx, tx, hooks); err != nil {
		return err
	}
	written, err := insertEvents(ctx, tx, hooks)
	if err != nil {
		return err
	}
	if err := insertDeliveries(ctx, tx, hooks, written); err != nil {
		return err
	}
	return insertTasks(ctx, tx, hooks)
}

func findInterested(ctx context.Context, tx *storage.Tx, events []Event) ([]*interested, error) {
	var organizations []int64
	var actions []string
	for i := range events {
		e := &events[i]
		if !slices.Contains(organizations, e.OrganizationID) {
			organizations = append(organizations, e.OrganizationID)
		}
		if !slices.Contains(actions, string(e.Action)) {
			actions = append(actions, string(e.Action))
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	var rows []Webhook
	if err := tx.SelectContext(ctx, &rows, activeWebhooks, pq.Array(organizations), pq.Array(actions)); err != nil {
		return nil, storage.Wrap(err, "find webhooks of events")
	}
	var hooks []*interested
	for i := range rows {
		h := &interested{Webhook: rows[i]}
		for j := range events {
			if e := &events[j]; e.OrganizationID == h.OrganizationID && h.wants(e) {
				h.events = append(h.events, e)
			}
		}
		if len(h.events) > 0 {
			hooks = append(hooks, h)
		}
	}
	return hooks, nil
}

// wantedEvents returns the events of the webhooks, each once.
func wantedEvents(hooks []*interested) []*Event {
	var list []*Event
	seen := map[*Event]bool{}
	for _, h := range hooks {
		for _, e := range h.events {
			if !seen[e] {
				seen[e] = true
				list = append(list, e)
			}
		}
	}
	return list
}

// insertEventRows copies what the event is about: apps are renamed and builds deleted before
// the last attempt.
const insertEventRows = `
insert into events (id, organization_id, action, subject, body, project_id, build_id, app_name, version, build,
	platform, happened_at, dedupe_key)
select n.id, n.organization_id, n.action, '', n.body, p.id, b.id, coalesce(nullif(b.app_name, ''), p.name, ''),
	coalesce(b.version, ''), coalesce(b.version_code, ''), coalesce(b.platform, p.platform, ''), n.at, nullif(n.dedupe_key, '')
from unnest($1::uuid[], $2::bigint[], $3::text[], $4::jsonb[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::text[])
	as n(id, organization_id, action, body, project_id, build_id, at, dedupe_key)
left join builds b on b.id = n.build_id and b.organization_id = n.organization_id
left join projects p on p.id = coalesce(b.project_id, nullif(n.project_id, 0)) and p.organization_id = n.organization_id
order by n.organization_id, n.dedupe_key
on conflict (organization_id, dedupe_key) where dedupe_key is not null do nothing
returning id`

// insertEvents writes the events that have no row yet, and returns the ids of those
// that deliveries are for.
func insertEvents(ctx context.Context, tx *storage.Tx, hooks []*interested) (map[uuid.UUID]bool, error) {
	written := map[uuid.UUID]bool{}
	var ids, actions, bodies, ats, keys []string
	var organizations, projects, builds []int64
	for _, e := range wantedEvents(hooks) {
		if e.ID != uuid.Nil {
			written[e.ID] = true
			continue
		}
		e.ID = storage.NewID()
		if err := e.encode(); err != nil {
			return nil, err
		}
		ids, actions, bodies = append(ids, e.ID.String()), append(actions, string(e.Action)), append(bodies, e.data)
		ats, keys = append(ats, instant(e.At)), append(keys, storage.WithoutNUL(e.Key))
		organizations, projects, builds = append(organizations, e.OrganizationID), append(projects, e.ProjectID), append(builds, e.BuildID)
	}
	if len(ids) == 0 {
		return written, nil
	}
	var made []uuid.UUID
	err := tx.SelectContext(ctx, &made, insertEventRows, pq.Array(ids), pq.Array(organizations), pq.Array(actions), pq.Array(bodies),
		pq.Array(projects), pq.Array(builds), pq.Array(ats), pq.Array(keys))
	for _, id := range made {
		written[id] = true
	}
	return written, storage.Wrap(err, "write events")
}

// encode makes the document of the event's own members.
func (e *Event) encode() error {
	e.data = "{}"
	if e.Data == nil {
		return nil
	}
	doc, err := json.Marshal(e.Data)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Action, err)
	}
	e.data = storage.WithoutNUL(string(doc))
	return nil
}

func instant(at time.Time) string {
	if at.IsZero() {
		at = time.Now()
	}
	return at.UTC().Format("2006-01-02T15:04:05.999999Z")
}

const insertDeliveryRows = `
insert into webhook_deliveries (id, webhook_id, organization_id, event_id, action, expires_at)
select n.id, n.webhook_id, n.organization_id, n.event_id, n.action, now() + make_interval(secs => $6::float8)
from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[]) as n(id, webhook_id, organization_id, event_id, action)
join webhooks w on w.id = n.webhook_id
order by n.webhook_id, n.id`

func insertDeliveries(ctx context.Context, tx *storage.Tx, hooks []*interested, written map[uuid.UUID]bool) error {
	var ids, events, actions []string
	var webhooks, organizations []int64
	for _, h := range hooks {
		h.events = slices.DeleteFunc(h.events, func(e *Event) bool { return !written[e.ID] })
		for _, e := range h.events {
			ids, events, actions = append(ids, storage.NewID().String()), append(events, e.ID.String()), append(actions, string(e.Action))
			webhooks, organizations = append(webhooks, h.ID), append(organizations, h.OrganizationID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertDeliveryRows, pq.Array(ids), pq.Array(webhooks), pq.Array(organizations),
		pq.Array(events), pq.Array(actions), Lifetime.Seconds())
	return storage.Wrap(err, "write webhook deliveries")
}

// insertTasks writes the task of each webhook that has new deliveries.
func insertTasks(ctx context.Context, tx *storage.Tx, hooks []*interested) error {
	var list []*ledger.NewTask
	for _, h := range hooks {
		if len(h.events) > 0 {
			list = append(list, newTask(h.OrganizationID, h.ID, h.Failures > 0, 0))
		}
	}
	return enqueue(ctx, tx, list)
}

// taskPayload names the webhook whose deliveries are due.
type taskPayload struct {
	WebhookID int64 `json:"webhook_id"`
}

func newTask(organizationID, webhookID int64, slow bool, delay time.Duration) *ledger.NewTask {
	t := &ledger.NewTask{Kind: TaskKind, Queue: Queue, OrganizationID: organizationID, Payload: taskPayload{webhookID},
		MaxAttempts: TaskAttempts, DedupeKey: strconv.FormatInt(webhookID, 10), Delay: delay}
	if slow {
		t.Queue = SlowQueue
	}
	return t
}

// wakeTasks lets a task that waits for its next attempt, of a webhook that is not put off,
// wait no longer.
const wakeTasks = `
update tasks t set run_at = now()
from webhooks w
where t.kind = $1 and t.dedupe_key = any($2) and t.state = 'queued' and t.run_at > now()
	and w.id = t.dedupe_key::bigint and (w.retry_at is null or w.retry_at <= now())`

// enqueue inserts tasks whose webhooks have deliveries that are due. The deliveries
// must have been written before, by the same transaction.
func enqueue(ctx context.Context, tx *storage.Tx, list []*ledger.NewTask) error {
	if len(list) == 0 {
		return nil
	}
	n, err := ledger.InsertAll(ctx, tx, list)
	if err != nil || int(n) == len(list) {
		return err
	}
	keys := make([]string, 0, len(list))
	for _, t := range list {
		keys = append(keys, t.DedupeKey)
	}
	_, err = tx.ExecContext(ctx, wakeTasks, TaskKind, pq.Array(keys))
	return storage.Wrap(err, "wake the tasks of webhooks")
}

// Wanted reports whether an active webhook of an organization wants one of the actions:
// for callers whose events cost queries of their own.
func Wanted(ctx context.Context, q storage.Querier, organizationID int64, actions ...Action) (bool, error) {
	var names []string
	for _, a := range actions {
		names = append(names, string(a))
	}
	var wanted bool
	err := q.GetContext(ctx, &wanted,
		`select exists (select from webhooks where organization_id = $1 and status = 'active' and actions && $2::text[])`,
		organizationID, pq.Array(names))
	return wanted, storage.Wrap(err, "find webhooks of events")
}
