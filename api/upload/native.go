package upload

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// errNativeSymbols: the file is no app but a zip of native libraries, which build plugins
// for Android send to the address of builds.
var errNativeSymbols = errors.New("the file is a zip of native libraries")

// storeNativeSymbols keeps a zip of libraries as symbols of the organization.
func (u *upload) storeNativeSymbols() (*outcome, error) {
	stored, err := u.addSymbols(u.file, symbolfile.New{File: u.file.NewFile, Name: u.file.name})
	if err != nil {
		return nil, err
	}
	return u.nativeOutcome(stored), nil
}

func (u *upload) nativeOutcome(stored *symbolfile.Stored) *outcome {
	return &outcome{symbols: &stored.Upload, warnings: append(u.warnings,
		"the file is no app: it was kept as symbols of native code")}
}

// addSymbols stores a received file as symbols of the caller's organization.
func (u *upload) addSymbols(f *receivedFile, n symbolfile.New) (*symbolfile.Stored, error) {
	n.OrganizationID, n.Actor = u.caller.OrganizationID, auth.Actor(u.c)
	if n.Source == "" {
		n.Source = symbolfile.SourceUpload
	}
	if f.upload != nil {
		return u.addNamed(f, n)
	}
	stored, err := u.cfg.Symbols.Add(u.ctx(), n)
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		u.keep = true // the sweep deletes the object if no row has it
	}
	if err != nil {
		return nil, err
	}
	u.settleObject(n.File.Key, stored)
	return stored, nil
}

// settleObject notes that an object belongs to a row now, or to none.
func (u *upload) settleObject(key string, stored *symbolfile.Stored) {
	for i, have := range u.objects {
		if have == key {
			u.objects = append(u.objects[:i:i], u.objects[i+1:]...)
			break
		}
	}
	if stored.Unused {
		u.unused = append(u.unused, key)
	}
}

// indexSymbols makes symbols of those that came with a build.
func (u *upload) indexSymbols(ctx context.Context, tx *storage.Tx, b *distribution.Build, given *distribution.NewSymbols) error {
	if given == nil {
		return nil
	}
	_, err := u.cfg.Symbols.Insert(ctx, tx, symbolfile.New{OrganizationID: b.OrganizationID, BuildID: b.ID,
		FileID: b.SymbolsFileID, File: given.File, Name: given.Name, Source: symbolfile.SourceUpload})
	return err
}
