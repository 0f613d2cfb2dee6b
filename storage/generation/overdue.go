package generation

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// lockTasks locks tasks before their generations: a worker that ends a generation has locked
// the row of its ledger task. Who ends one otherwise goes the same way.
const lockTasks = `select id from tasks where id = any($1::uuid[]) order by id for update`

func lock(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	var locked []uuid.UUID
	return storage.Wrap(tx.SelectContext(ctx, &locked, lockTasks, storage.UUIDs(ids)), "lock the tasks of generations")
}

// Cancel ends a generation at once. The caller cancels its task in the same transaction.
// ErrConflict when it has ended.
func Cancel(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	g, err := ByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return err
	}
	if !w.May(g.TeamID) {
		return authoring.ErrForbidden
	}
	if err := lock(ctx, tx, []uuid.UUID{id}); err != nil {
		return err
	}
	did, err := Fail(ctx, tx, id, CodeCancelled, "the generation was cancelled")
	if err != nil {
		return err
	}
	if !did {
		return fmt.Errorf("generation %s has ended: %w", id, storage.ErrConflict)
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestGenerationCancelled,
		Actor: w.Actor, Subject: "generation " + id.String(), Detail: map[string]any{"id": id, "name": g.Name}})
}

// overdue finds what nobody ends: what is in progress is ended by its worker; this is for one
// that does not come to it.
const overdue = `
select id from test_generations
where state in ('QUEUED', 'IN_PROGRESS') and deadline < now() and (state = 'QUEUED' or deadline < now() - ` + lateAfter + `)`

const endOverdue = `
update test_generations set state = 'FAILED', finished_at = now(),
	error_code = case when no_session <> '' then 'SESSION_NOT_CREATED' else 'TIMEOUT' end,
	error = case when no_session <> '' then no_session
		when state = 'QUEUED' then 'the generation was not started within its timeout'
		else 'the generation did not end within its timeout' end
where id = any($1::uuid[]) and state in ('QUEUED', 'IN_PROGRESS') and deadline < now()
returning id`

// EndOverdue ends generations whose deadline has passed, at most limit of them, and
// returns them; the caller cancels their tasks.
func EndOverdue(ctx context.Context, tx *storage.Tx, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	if err := tx.SelectContext(ctx, &ids, overdue+` order by deadline limit $1`, limit); err != nil {
		return nil, storage.Wrap(err, "look for overdue generations")
	}
	return endAll(ctx, tx, endOverdue, ids)
}

// EndLate does so for one that was found to be late.
func EndLate(ctx context.Context, tx *storage.Tx, id uuid.UUID) ([]uuid.UUID, error) {
	return endAll(ctx, tx, endOverdue, []uuid.UUID{id})
}

// endAll ends generations after it has locked their tasks.
func endAll(ctx context.Context, tx *storage.Tx, statement string, ids []uuid.UUID) (ended []uuid.UUID, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if err := lock(ctx, tx, ids); err != nil {
		return nil, err
	}
	err = tx.SelectContext(ctx, &ended, statement, storage.UUIDs(ids))
	return ended, storage.Wrap(err, "end generations")
}

// lost finds generations without an open task. One that is missing was deleted, or lost in a
// restored backup; the minute is for what is being written.
const lost = `
select g.id from test_generations g left join tasks t on t.id = g.id
where g.state in ('QUEUED', 'IN_PROGRESS')
	and (t.state in ('succeeded', 'dead', 'cancelled') or t.id is null and g.accepted_at < now() - interval '1 minute')`

const endLost = `
update test_generations g set state = 'FAILED', finished_at = now(),
	error_code = case when t.state = 'cancelled' then 'CANCELLED' else 'WORKER_LOST' end,
	error = case when t.state = 'cancelled' then 'the task of the generation was cancelled'
		else 'the generation was given up: its workers were lost or could not go on' end
from unnest($1::uuid[]) as lost(id) left join tasks t on t.id = lost.id
where g.id = lost.id and g.state in ('QUEUED', 'IN_PROGRESS')
returning g.id`

// EndLost ends open generations whose ledger task has ended or is gone, at most limit of
// them, and returns them.
func EndLost(ctx context.Context, tx *storage.Tx, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	if err := tx.SelectContext(ctx, &ids, lost+` order by g.id limit $1`, limit); err != nil {
		return nil, storage.Wrap(err, "look for lost generations")
	}
	return endAll(ctx, tx, endLost, ids)
}

// Overdue reports whether there is a generation to end for its deadline, and Lost
// whether there is one for its task.
func Overdue(ctx context.Context, q storage.Querier) (bool, error) { return exists(ctx, q, overdue) }

// Lost is described at Overdue.
func Lost(ctx context.Context, q storage.Querier) (bool, error) { return exists(ctx, q, lost) }

func exists(ctx context.Context, q storage.Querier, statement string) (found bool, err error) {
	err = q.GetContext(ctx, &found, `select exists (`+statement+`)`)
	return found, storage.Wrap(err, "look for generations to end")
}
