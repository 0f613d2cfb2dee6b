package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// RetryBy retries a task as Retry does, for a person, and writes the audit row.
func RetryBy(ctx context.Context, tx *storage.Tx, actor account.Actor, scope Scope, id uuid.UUID, attempts int) (*Task, error) {
	t, err := Retry(ctx, tx, scope, id, attempts)
	if err != nil {
		return nil, err
	}
	return t, t.audit(ctx, tx, actor, account.TaskRetried)
}

// CancelBy cancels a task as Cancel does, for a person, and writes the audit row.
func CancelBy(ctx context.Context, tx *storage.Tx, actor account.Actor, scope Scope, id uuid.UUID) (*Task, error) {
	t, err := Cancel(ctx, tx, scope, id)
	if err != nil {
		return nil, err
	}
	return t, t.audit(ctx, tx, actor, account.TaskCancelled)
}

// RunNowBy runs a task as RunNow does, for a person, and writes the audit row.
func RunNowBy(ctx context.Context, tx *storage.Tx, actor account.Actor, scope Scope, id uuid.UUID) (*Task, error) {
	t, err := RunNow(ctx, tx, scope, id)
	if err != nil {
		return nil, err
	}
	return t, t.audit(ctx, tx, actor, account.TaskStarted)
}

// RetryAllBy retries tasks as RetryAll does, for a person, and writes an audit row for
// each organization.
func RetryAllBy(ctx context.Context, tx *storage.Tx, actor account.Actor, f Filter, may Attempts) (Retried, error) {
	done, by, err := RetryAll(ctx, tx, f, may)
	if err != nil {
		return done, err
	}
	return done, auditAll(ctx, tx, actor, account.TasksRetried, f, by)
}

// CancelMatchingBy cancels tasks as CancelMatching does, for a person, and writes an audit
// row for each organization.
func CancelMatchingBy(ctx context.Context, tx *storage.Tx, actor account.Actor, f Filter, kinds []string) (Changed, error) {
	done, by, err := CancelMatching(ctx, tx, f, kinds)
	if err != nil {
		return done, err
	}
	return done, auditAll(ctx, tx, actor, account.TasksCancelled, f, by)
}

// RunMatchingBy runs tasks as RunMatching does, for a person, and writes an audit row for
// each organization.
func RunMatchingBy(ctx context.Context, tx *storage.Tx, actor account.Actor, f Filter, kinds []string) (Changed, error) {
	done, by, err := RunMatching(ctx, tx, f, kinds)
	if err != nil {
		return done, err
	}
	return done, auditAll(ctx, tx, actor, account.TasksStarted, f, by)
}

// auditAll writes how many tasks of each organization a change of many was about.
func auditAll(ctx context.Context, tx *storage.Tx, actor account.Actor, what account.AuditType, f Filter, by map[int64]int) error {
	var events []account.Event
	for _, organization := range slices.Sorted(maps.Keys(by)) {
		n := by[organization]
		events = append(events, account.Event{OrganizationID: organization, Type: what, Actor: actor,
			Subject: fmt.Sprintf("%d tasks", n), Detail: map[string]any{"tasks": n, "types": f.Kinds, "queues": f.Queues, "states": f.States}})
	}
	return account.Audit(ctx, tx, events...)
}

func (t *Task) audit(ctx context.Context, tx *storage.Tx, actor account.Actor, what account.AuditType) error {
	e := account.Event{Type: what, Actor: actor, Subject: "task " + t.ID.String(), Detail: map[string]any{"type": t.Kind}}
	if t.OrganizationID != nil {
		e.OrganizationID = *t.OrganizationID
	}
	return account.Audit(ctx, tx, e)
}
