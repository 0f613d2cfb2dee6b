package upload

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/api/auth"
	parts "github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// attachSymbols receives a symbols file, stores it and attaches it to the builds that it
// fits. Without any it waits for them, and serves crashes meanwhile.
func (u *upload) attachSymbols() (*symbolsResponse, error) {
	if err := u.receive(); err != nil {
		return nil, err
	}
	if u.file.used() {
		return u.attachedBefore(u.file.upload)
	}
	inspecting, cancel := context.WithTimeout(u.ctx(), inspectTime)
	defer cancel()
	what, err := u.cfg.InspectSymbols(inspecting, u.inspected(inspecting, u.file))
	if err != nil {
		return nil, explainInspection(err)
	}
	symbols := newSymbols(u.file, what)
	writer := u.caller.Writer(auth.Actor(u.c))
	n := symbolfile.New{OrganizationID: writer.OrganizationID, File: symbols.File, Name: symbols.Name,
		Source: symbolfile.SourceUpload, Actor: writer.Actor}
	if len(what.Images) > 0 {
		n.Description = what
		if !writer.AllTeams {
			n.Teams = append([]int64{}, writer.Teams...)
		}
	}
	var builds []distribution.Build
	var stored *symbolfile.Stored
	err = u.cfg.DB.InTx(u.ctx(), func(tx *storage.Tx) error {
		if err := u.useNamed(tx, u.file); err != nil {
			return err
		}
		if err := distribution.LockImages(u.ctx(), tx, writer.OrganizationID, what.Images); err != nil {
			return err
		}
		var err error
		if stored, err = u.cfg.Symbols.Insert(u.ctx(), tx, n); err != nil {
			return err
		}
		if builds, err = distribution.AttachSymbols(u.ctx(), tx, writer, stored.Upload.FileID, *symbols); err != nil {
			return err
		}
		return u.setResult(tx, resumable.Result{SymbolID: stored.Upload.ID}, u.file)
	})
	if errors.Is(err, resumable.ErrNotComplete) {
		now, err := resumable.Head(u.ctx(), u.cfg.DB, parts.OwnerOf(u.caller), u.file.upload.ID)
		if err != nil {
			return nil, err
		}
		return u.attachedBefore(now)
	}
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		u.keep = true // the sweep deletes the object if no row has it
	}
	if err != nil {
		return nil, err
	}
	u.settleObject(u.file.Key, stored)
	response := &symbolsResponse{Status: "ok", Builds: make([]int64, 0, len(builds)), Waiting: len(what.Images) > 0 && len(builds) == 0,
		Symbol: u.cfg.SymbolView(&stored.Upload)}
	for _, b := range builds {
		response.Builds = append(response.Builds, b.ID)
	}
	return response, nil
}

// attachedBefore is the answer to a request that is sent again: the symbols that took the file
// of an upload, and the builds that have them.
func (u *upload) attachedBefore(of *resumable.Upload) (*symbolsResponse, error) {
	stored, err := u.usedSymbols(of)
	if err != nil {
		return nil, err
	}
	builds, waiting, err := distribution.BuildsOfSymbols(u.ctx(), u.cfg.DB, u.caller.OrganizationID, stored.Upload.ID)
	if err != nil {
		return nil, err
	}
	return &symbolsResponse{Status: "ok", Builds: builds, Waiting: waiting, Symbol: u.cfg.SymbolView(&stored.Upload)}, nil
}
