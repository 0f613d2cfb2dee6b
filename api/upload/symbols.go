package upload

import (
	"context"
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// attachSymbols receives a symbols file and attaches it to the builds it fits. It
// returns their ids.
func (u *upload) attachSymbols() ([]int64, error) {
	if err := u.receive(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(u.ctx(), inspectTime)
	defer cancel()
	what, err := u.cfg.InspectSymbols(ctx, u.artifactInput(ctx, u.file))
	if err != nil {
		return nil, inspection(err)
	}
	symbols := newSymbols(u.file, what)
	var builds []distribution.Build
	err = u.cfg.DB.InTx(u.ctx(), func(tx *storage.Tx) (err error) {
		builds, err = distribution.AttachSymbols(u.ctx(), tx, u.caller.Writer(auth.Actor(u.c)), *symbols)
		return err
	})
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		u.keep = true // the sweep deletes the object if no build has it
	}
	if err != nil {
		return nil, err
	}
	if len(builds) == 0 {
		return nil, refuse(http.StatusNotFound, 0, "no build without symbols has an image of this file")
	}
	u.keep = true
	ids := make([]int64, 0, len(builds))
	for _, b := range builds {
		ids = append(ids, b.ID)
	}
	return ids, nil
}
