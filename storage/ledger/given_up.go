package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Rewrite replaces payloads of the tasks of a kind.
type Rewrite struct {
	Kind string
	// Open replaces those of tasks that wait, too.
	Open bool
	// Payload returns what stands in place of a payload; nil: it stays.
	Payload func(payload []byte) (any, error)
}

// rewritable reads an index of its own in each part: tasks_given_up, tasks_claimable, and
// tasks_running, which has as many rows as the workers have hands.
const rewritable = `
select t.id from unnest($2::text[], $3::boolean[]) as w(kind, open) cross join lateral (
	(select id from tasks where organization_id = $1 and kind = w.kind and state in ('dead', 'cancelled') and id > $4 order by id limit $5)
	union all
	(select id from tasks where kind = w.kind and coalesce(organization_id, 0) = $1 and state = 'queued' and w.open and id > $4
	order by id limit $5)
	union all
	(select id from tasks where state = 'running' and organization_id = $1 and kind = w.kind and w.open and id > $4 order by id limit $5)
) t order by t.id limit $5`

// lockRewritable does not wait for a task that runs: its handler may wait for what this
// transaction holds.
const lockRewritable = `
select id, kind, state, payload from tasks where id = any($1::uuid[]) and organization_id = $2
	and (state in ('dead', 'cancelled') or state = 'queued' and kind = any($3))
order by id for update`

const stillOpen = `
select id, kind, state, payload from tasks where id = any($1::uuid[]) and organization_id = $2 and kind = any($3) and state <> 'succeeded'`

// maxGivenUp payloads are held in memory at once.
const maxGivenUp = 500

// RewriteGivenUp replaces payloads of the tasks of some kinds that an organization's people
// cancelled or that failed for good: they are kept for a retry, and may hold what must be
// forgotten; with Open, those that wait as well. It returns how many were replaced.
// storage.ErrConflict: one whose payload is to be replaced runs, or began to meanwhile. The
// caller rolls back, and tries again later.
func RewriteGivenUp(ctx context.Context, tx *storage.Tx, organization int64, rewrites ...Rewrite) (int, error) {
	return rewriteGivenUp(ctx, tx, organization, maxGivenUp, rewrites)
}

func rewriteGivenUp(ctx context.Context, tx *storage.Tx, organization int64, page int, rewrites []Rewrite) (int, error) {
	r := rewriting{tx: tx, organization: organization, by: map[string]Rewrite{}}
	var kinds []string
	var open []bool
	for _, rewrite := range rewrites {
		kinds, open = append(kinds, rewrite.Kind), append(open, rewrite.Open)
		r.by[rewrite.Kind] = rewrite
		if rewrite.Open {
			r.open = append(r.open, rewrite.Kind)
		}
	}
	after := uuid.Nil
	for {
		var ids []string
		if err := tx.SelectContext(ctx, &ids, rewritable, organization, pq.Array(kinds), pq.Array(open), after, page); err != nil {
			return r.replaced, storage.Wrap(err, "tasks to rewrite")
		}
		if len(ids) == 0 {
			return r.replaced, nil
		}
		if err := r.tasks(ctx, ids); err != nil || len(ids) < page {
			return r.replaced, err
		}
		var err error
		if after, err = uuid.Parse(ids[len(ids)-1]); err != nil {
			return r.replaced, fmt.Errorf("id of a task: %w", err)
		}
	}
}

// rewriting is a call of RewriteGivenUp.
type rewriting struct {
	tx           *storage.Tx
	organization int64
	by           map[string]Rewrite
	open         []string // kinds
	replaced     int
}

type rewritten struct {
	ID      uuid.UUID `db:"id"`
	Kind    string    `db:"kind"`
	State   State     `db:"state"`
	Payload []byte    `db:"payload"`
}

// tasks replaces payloads of those of the tasks that still wait or are given up.
func (r *rewriting) tasks(ctx context.Context, ids []string) error {
	var list []rewritten
	if err := r.tx.SelectContext(ctx, &list, lockRewritable, pq.Array(ids), r.organization, pq.Array(r.open)); err != nil {
		return storage.Wrap(err, "lock tasks to rewrite")
	}
	locked := map[string]bool{}
	for _, t := range list {
		locked[t.ID.String()] = true
		if err := r.replace(ctx, t); err != nil {
			return err
		}
	}
	return r.refuseRunning(ctx, slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return locked[id] }))
}

func (r *rewriting) replace(ctx context.Context, t rewritten) error {
	doc, err := r.payload(t)
	if err != nil || doc == nil {
		return err
	}
	r.replaced++
	return changeOne(ctx, r.tx, "rewrite task "+t.ID.String(), `update tasks set payload = $2 where id = $1 and organization_id = $3`,
		t.ID, string(doc), r.organization)
}

// payload is what stands in place of a task's payload; nil when it stays.
func (r *rewriting) payload(t rewritten) ([]byte, error) {
	payload, err := r.by[t.Kind].Payload(t.Payload)
	if err != nil {
		return nil, fmt.Errorf("payload of task %s: %w", t.ID, err)
	}
	if payload == nil {
		return nil, nil
	}
	doc, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("payload of task %s: %w", t.ID, err)
	}
	return doc, nil
}

// refuseRunning looks at what was not locked: it ran, and may have ended or wait again by now.
func (r *rewriting) refuseRunning(ctx context.Context, ids []string) error {
	if len(ids) == 0 || len(r.open) == 0 {
		return nil
	}
	var list []rewritten
	if err := r.tx.SelectContext(ctx, &list, stillOpen, pq.Array(ids), r.organization, pq.Array(r.open)); err != nil {
		return storage.Wrap(err, "tasks that run")
	}
	for _, t := range list {
		doc, err := r.payload(t)
		if err != nil {
			return err
		}
		if doc != nil {
			return fmt.Errorf("task %s is %s: %w", t.ID, t.State, storage.ErrConflict)
		}
	}
	return nil
}
