package crash

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// RequestPurge writes the task that removes all crashes that carry an attribute, with
// its audit row. The value is what a person is to be forgotten by: the audit log,
// which cannot be changed, names the attribute only. Project 0 is every project.
func RequestPurge(ctx context.Context, tx *storage.Tx, w account.Writer, project int64, attribute string,
	task *ledger.NewTask) (uuid.UUID, error) {
	if _, err := ledger.Insert(ctx, tx, task); err != nil {
		return uuid.Nil, err
	}
	return task.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashPurgeRequested,
		Actor: w.Actor, Subject: "attribute " + attribute, Detail: map[string]any{"task_id": task.ID, "project_id": project}})
}
