package schedule

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// scheduleEvent are the own members of the event schedule: a schedule that fires no more
// until somebody mends it.
type scheduleEvent struct {
	ScheduleID uuid.UUID `json:"scheduleId"`
	Name       string    `json:"name"`
	Status     State     `json:"status"`
	Reason     string    `json:"reason"`
}

// emitErrored writes that a schedule is ERRORED, in the transaction that sets it so.
func emitErrored(ctx context.Context, tx *storage.Tx, organizationID int64, id uuid.UUID, name, reason string) error {
	return webhook.Emit(ctx, tx, webhook.Event{OrganizationID: organizationID, Action: webhook.Schedule,
		Data: scheduleEvent{ScheduleID: id, Name: name, Status: Errored, Reason: reason}})
}
