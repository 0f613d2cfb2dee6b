package crash

import "github.com/slipway-qa/slipway/storage"

// GroupState is what people decided about a group.
type GroupState string

// The states of a group. A resolved group that is seen again is open again; an
// ignored one stays ignored, or until what people set.
const (
	Open     GroupState = "open"
	Resolved GroupState = "resolved"
	Ignored  GroupState = "ignored"
)

// Validate refuses an unknown state.
func (s GroupState) Validate() error {
	if s != Open && s != Resolved && s != Ignored {
		return &storage.InvalidError{Field: "state", Msg: "must be open, resolved or ignored"}
	}
	return nil
}
