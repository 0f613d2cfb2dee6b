package upload

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/setting"
)

// inspectTime bounds one inspection with its wait for a place; a real package takes some
// ten milliseconds.
const inspectTime = 30 * time.Second

// inspected is a stored file as inspections read it.
func (u *upload) inspected(ctx context.Context, f *receivedFile) inspection.File {
	return inspection.File{Organization: u.caller.OrganizationID, Key: strconv.FormatInt(u.caller.KeyID, 10),
		Input: artifact.Input{Reader: object.NewReaderAt(ctx, u.cfg.Objects, f.Key, f.Size, 0), Size: f.Size,
			Name: f.name, Vendor: u.cfg.Vendor}}
}

// inspect finds out what the file is, and refuses what the organization does not
// accept. Version and version code of the request override those of the package.
func (u *upload) inspect() (*artifact.Package, error) {
	settings, err := setting.Of(u.ctx(), u.cfg.DB, u.caller.OrganizationID)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(u.ctx(), inspectTime)
	defer cancel()
	file := u.inspected(ctx, u.file)
	file.Platform, file.Generic = string(u.params.platform), true
	pkg, err := u.cfg.Inspect(ctx, file)
	if err != nil {
		return nil, explainInspection(err)
	}
	switch pkg.Kind {
	case artifact.DSYM, artifact.Mapping:
		return nil, &artifact.InvalidError{Reason: "this is a symbols file: send it as symbols_file, or to /upload/dsym/"}
	case artifact.Native:
		return nil, errNativeSymbols
	case artifact.Generic:
		if !u.params.platform.Generic() && namedLikeApp(u.file.name) {
			return nil, &artifact.InvalidError{Reason: cmp.Or(pkg.NotApp, "the file is no app")}
		}
		if !settings.GenericFiles {
			return nil, problemKind("the file is no app, and the organization does not allow generic files")
		}
	}
	if given := u.params.platform; given != "" && given != pkg.Platform {
		u.warn("platform " + string(given) + " was ignored: the file is an app for " + string(pkg.Platform))
	}
	pkg.Version = cmp.Or(u.params.version, pkg.Version)
	pkg.VersionCode = cmp.Or(u.params.versionCode, pkg.VersionCode)
	return pkg, nil
}

// namedLikeApp reports whether a file that is no app has the name of one: then it
// is a broken app.
func namedLikeApp(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case "", ".apk", ".aab", ".apks", ".xapk", ".apkm", ".ipa":
		return true
	}
	return false
}

// inspectSymbols reads the symbols file, best effort: nil when there is none that
// can be kept.
func (u *upload) inspectSymbols(pkg *artifact.Package) (*distribution.NewSymbols, error) {
	if u.symbols == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(u.ctx(), inspectTime)
	defer cancel()
	what, err := u.cfg.InspectSymbols(ctx, u.inspected(ctx, u.symbols))
	if err == nil {
		return newSymbols(u.symbols, what), nil
	}
	if err := u.ctx().Err(); err != nil {
		return nil, err
	}
	pkg.Warnings = append(pkg.Warnings, "symbols_file was ignored: "+u.symbolsReason(err))
	if u.symbols.upload == nil { // that one is the sender's to send as something else
		u.unused = append(u.unused, u.symbols.Key)
	}
	return nil, nil
}

// symbolsReason returns why symbols were ignored, and logs what is no fault of the
// sender.
func (u *upload) symbolsReason(err error) string {
	var bad *artifact.InvalidError
	if errors.As(err, &bad) {
		return bad.Reason
	}
	u.cfg.Log.WarnContext(u.ctx(), "symbols of an upload could not be inspected", "error", err)
	if errors.Is(err, context.DeadlineExceeded) {
		return "the service is too busy to read it now; send it to /upload/dsym/ later"
	}
	return "it cannot be read"
}

func newSymbols(f *receivedFile, what *artifact.Symbols) *distribution.NewSymbols {
	s := &distribution.NewSymbols{File: f.NewFile, Name: f.name, What: what}
	s.Name = cmp.Or(s.Name, "symbols."+string(what.Kind))
	s.File.ContentType = cmp.Or(contentTypes[what.Kind], s.File.ContentType)
	return s
}

// contentTypes are the content types of downloads; plain bytes for other kinds.
var contentTypes = map[artifact.Kind]string{
	artifact.APK: "application/vnd.android.package-archive",
	artifact.Mac: "application/zip", artifact.App: "application/zip", artifact.DSYM: "application/zip", artifact.Native: "application/zip",
	artifact.Mapping: "text/plain; charset=utf-8",
}
