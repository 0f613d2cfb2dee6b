package run

import (
	"time"

	"github.com/google/uuid"
)

// Pin is that somebody keeps a run: no retention takes it.
type Pin struct {
	At   time.Time
	By   uuid.UUID
	Name string // of who did; "" when nobody has the id any more
}

// PinOf returns the pin of a row; nil without one.
func PinOf(at *time.Time, by *uuid.UUID, name *string) *Pin {
	if at == nil {
		return nil
	}
	pin := Pin{At: *at}
	if by != nil {
		pin.By = *by
	}
	if name != nil {
		pin.Name = *name
	}
	return &pin
}

// pinRow are the columns of a pin.
type pinRow struct {
	PinnedAt   *time.Time `db:"pinned_at"`
	PinnedBy   *uuid.UUID `db:"pinned_by"`
	PinnedName *string    `db:"pinned_name"`
}

func (r *pinRow) pin() *Pin { return PinOf(r.PinnedAt, r.PinnedBy, r.PinnedName) }
