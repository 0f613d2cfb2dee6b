package schedule

import (
	"github.com/google/uuid"

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

// erroredEvent says that a schedule is ERRORED; it is written in the transaction that sets
// it so.
func erroredEvent(organizationID int64, id uuid.UUID, name, reason string) webhook.Event {
	return webhook.Event{OrganizationID: organizationID, Action: webhook.Schedule,
		Data: scheduleEvent{ScheduleID: id, Name: name, Status: Errored, Reason: reason}}
}
