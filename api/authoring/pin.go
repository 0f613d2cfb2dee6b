package authoring

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/run"
)

// pinView is who keeps a run, and since when.
type pinView struct {
	UserID   uuid.UUID `json:"userId"`
	UserName string    `json:"userName"`
	Date     string    `json:"date"`
}

func viewPin(p *run.Pin) *pinView {
	if p == nil {
		return nil
	}
	return &pinView{UserID: p.By, UserName: p.Name, Date: stamp(p.At)}
}
