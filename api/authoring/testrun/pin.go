package testrun

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/storage/run"
)

// PinView is who keeps a run, and since when.
type PinView struct {
	UserID   uuid.UUID `json:"userId"`
	UserName string    `json:"userName"`
	Date     string    `json:"date"`
}

// ViewPin is how the pin of a run is shown; nil without one.
func ViewPin(p *run.Pin) *PinView {
	if p == nil {
		return nil
	}
	return &PinView{UserID: p.By, UserName: p.Name, Date: answer.Stamp(p.At)}
}
