package crashproject

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// RequestRegroup writes the task that groups a crash project anew, with its audit row; a dry run
// changes nothing and has none.
func RequestRegroup(ctx context.Context, tx *storage.Tx, w account.Writer, p *Project, task *ledger.NewTask, dry bool) (uuid.UUID, error) {
	if _, err := ledger.Insert(ctx, tx, task); err != nil || dry {
		return task.ID, err
	}
	return task.ID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashProjectRegrouped, Actor: w.Actor,
		Subject: p.Name, Detail: map[string]any{"id": p.ID, "task_id": task.ID}})
}
