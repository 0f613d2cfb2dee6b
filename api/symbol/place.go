package symbol

import (
	"time"

	"github.com/slipway-qa/slipway/tasks/admission"
)

const (
	// unpackSlots members of archives are unpacked at once; each takes a processor, and
	// some MiB. unpackHeadroom are further ones for organizations that have none.
	unpackSlots    = 8
	unpackHeadroom = 3
	// unpackWait is how long one waits for its place.
	unpackWait = 10 * time.Second
)

// newUnpackRoom returns the room of members of archives on their way out.
func newUnpackRoom() *admission.Room {
	return admission.New(admission.Config{Name: "symbol downloads", Capacity: unpackSlots, Headroom: unpackHeadroom, Wait: unpackWait})
}

// Rooms are the rooms of the handlers, for metrics.
func (h *Handlers) Rooms() []*admission.Room { return []*admission.Room{h.unpack} }
