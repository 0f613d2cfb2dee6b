package upload

import (
	"context"
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// attach receives a symbols file and gives it to the builds it fits.
func (in *reception) attach() ([]int64, error) {
	if err := in.receive(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(in.ctx(), inspectTime)
	defer cancel()
	what, err := in.h.cfg.InspectSymbols(ctx, in.input(ctx, in.file))
	if err != nil {
		return nil, inspection(err)
	}
	symbols := newSymbols(in.file, what)
	var builds []distribution.Build
	err = in.h.cfg.DB.InTx(in.ctx(), func(tx *storage.Tx) (err error) {
		builds, err = distribution.AttachSymbols(in.ctx(), tx, auth.Actor(in.c), in.caller.Writer(auth.Actor(in.c)), *symbols)
		return err
	})
	var unknown *storage.UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
		in.keep = true // the sweep deletes the object if no build has it
		return nil, err
	case err != nil:
		return nil, err
	case len(builds) == 0:
		return nil, refuse(http.StatusNotFound, 0, "no build without symbols has an image of this file")
	}
	in.keep = true
	ids := make([]int64, 0, len(builds))
	for _, b := range builds {
		ids = append(ids, b.ID)
	}
	return ids, nil
}
