package upload

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// errNativeSymbols: the file is no app but a zip of native libraries, which build plugins
// for Android send to the address of builds.
var errNativeSymbols = errors.New("the file is a zip of native libraries")

// isNative reports whether a file is a zip of Android's native libraries with their symbols:
// it has libraries in folders named by their architecture (lib/arm64-v8a/libapp.so), with
// whatever the compiler left beside them, or nothing but libraries. It is known to be no
// app.
func isNative(in artifact.Input) (bool, error) {
	a, err := archive.Open(in.Reader, in.Size)
	var bad *artifact.InvalidError
	if errors.As(err, &bad) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	files, libraries := 0, 0
	for _, e := range a.Entries() {
		name := strings.ReplaceAll(e.Name, `\`, "/")
		base := path.Base(name)
		if strings.HasSuffix(name, "/") || strings.HasPrefix(base, ".") || strings.HasPrefix(name, "__MACOSX/") {
			continue
		}
		files++
		if !isLibrary(base) {
			continue
		}
		if isABI(path.Base(path.Dir(name))) {
			return true, a.Err()
		}
		libraries++
	}
	return libraries > 0 && libraries == files, a.Err()
}

// isLibrary reports whether a file name is that of a library, or of its symbols alone.
func isLibrary(name string) bool {
	for _, end := range []string{".so", ".so.dbg", ".so.sym", ".so.debug"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isABI reports whether a folder is named as Android names an architecture.
func isABI(folder string) bool {
	switch folder {
	case "arm64-v8a", "armeabi-v7a", "armeabi", "x86", "x86_64", "riscv64", "mips", "mips64":
		return true
	}
	return false
}

// describeSymbols inspects a symbols file.
func (u *upload) describeSymbols(ctx context.Context, f *receivedFile) (*artifact.Symbols, error) {
	what, err := u.cfg.InspectSymbols(ctx, u.artifactInput(ctx, f))
	var bad *artifact.InvalidError
	if !errors.As(err, &bad) {
		return what, err
	}
	if native, nativeErr := isNative(u.artifactInput(ctx, f)); nativeErr != nil || !native {
		return nil, errors.Join(nativeErr, err)
	}
	return &artifact.Symbols{Kind: artifact.Native}, nil
}

// storeNativeSymbols keeps a zip of libraries as symbols of the organization.
func (u *upload) storeNativeSymbols() (*outcome, error) {
	stored, err := u.addSymbols(symbolfile.New{File: u.file.NewFile, Name: u.file.name})
	if err != nil {
		return nil, err
	}
	return &outcome{symbols: &stored.Upload, warnings: append(u.warnings,
		"the file is no app: it was kept as symbols of native code")}, nil
}

// addSymbols stores a received file as symbols of the caller's organization.
func (u *upload) addSymbols(n symbolfile.New) (*symbolfile.Stored, error) {
	n.OrganizationID, n.Actor = u.caller.OrganizationID, auth.Actor(u.c)
	if n.Source == "" {
		n.Source = symbolfile.SourceUpload
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
