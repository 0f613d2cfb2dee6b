// Package inspect finds out what an uploaded file is and reads it.
//
// It is the only way to the readers of packages. An Inspector looks at the first
// bytes and, of a zip, at the names in the directory; then it calls the reader for
// that kind. The kinds are tried in this order: APK, app bundle, archive of APKs,
// IPA, Mac app, app for a simulator. A file that is an app is read as that, whatever platform the
// request names.
//
// Every inspection has a deadline, and its result is cleaned in one place
// (clean.go): texts are valid UTF-8 without control characters, bounded as the
// database expects them; lists are bounded and never nil.
//
// A package's identity is read first. What it can do without follows, and the caller
// may leave parts of it out (artifact.Input.Part): so a part that kills its reader
// costs no more than itself. The api runs this in child processes (api/inspection).
//
// Failures: *artifact.InvalidError with a reason for people, when the file is no
// package, or is broken; ctx's error when it ended before the identity was read; and
// the reader's error when the reader failed, even where the rest could be read: what
// is stored must not depend on a moment of bad network.
package inspect

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/android"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/artifact/mapping"
)

// Deadlines, for callers that have none of their own. A package takes some tens of
// milliseconds; a dSYM archive is inflated as far as 256 MiB.
const (
	packageDeadline = 10 * time.Second
	symbolsDeadline = 20 * time.Second
)

// Inspector inspects files. It is safe for concurrent use, and bounds nothing but the
// single file: see api/inspection.
type Inspector struct {
	android android.Reader
	apple   apple.Reader
}

// icons at the same time: one takes at most 48 MiB.
const icons = 2

// New returns an inspector.
func New() *Inspector {
	decoder := icon.NewDecoder(icons)
	return &Inspector{android: android.Reader{Icons: decoder}, apple: apple.Reader{Icons: decoder}}
}

// Package inspects an uploaded build. platform is the request's for a file that is
// neither iOS nor Android, "" when it has none: then the file is Generic and not
// looked into. A zip that is no app is an *artifact.InvalidError unless generic is
// true.
//
// A file that is an app is read as one, whatever platform is. A file that is
// Generic has the platform in its one spelling (artifact.ParsePlatform). A zip of
// Android's native libraries has the kind Native when no platform is named. Whether the
// organization allows generic files at all is the caller's to check: called with
// generic true, a file that is no app comes back as Kind Generic and can be
// refused as such, while an InvalidError means a file that is broken.
func (i *Inspector) Package(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error) {
	ctx, cancel := context.WithTimeout(ctx, packageDeadline)
	defer cancel()
	if next := in.Part; next != nil {
		in.Part = func(part artifact.Part, known *artifact.Package) bool {
			cleaned := *known
			cleanPackage(&cleaned, in.Name)
			return next(part, &cleaned)
		}
	}
	p, err := caught(in, func() (*artifact.Package, error) { return i.readPackage(ctx, in, platform, generic) })
	if err != nil {
		return nil, err
	}
	cleanPackage(p, in.Name)
	return p, nil
}

// caught calls a reader of a file that is not empty. A panic becomes an error.
func caught[T any](in artifact.Input, read func() (*T, error)) (value *T, err error) {
	if in.Size <= 0 {
		return nil, &artifact.InvalidError{Reason: "the file is empty"}
	}
	defer func() {
		if recover() != nil {
			value, err = nil, &artifact.InvalidError{Reason: "the file cannot be read: its decoder failed"}
		}
	}()
	return read()
}

// readPackage calls the reader for the kind of file.
func (i *Inspector) readPackage(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error) {
	zipped, err := isZip(in)
	if err != nil {
		return nil, err
	}
	if !zipped {
		return readGeneric(in, platform, generic, "the file is no app: an APK, AAB, APKS, XAPK, IPA or a zip with a Mac app is expected")
	}
	a, err := archive.Open(in.Reader, in.Size)
	if err != nil {
		return nil, err
	}
	switch kind := detect(a.Entries()); kind {
	case artifact.APK:
		return i.android.APK(ctx, in, a)
	case artifact.AAB:
		return i.android.Bundle(ctx, in, a)
	case artifact.APKS:
		return i.android.Set(ctx, in, a)
	case artifact.IPA:
		return i.apple.App(ctx, in, a)
	case artifact.Mac:
		return i.apple.Mac(ctx, in, a)
	case artifact.App:
		p, err := i.apple.Simulated(ctx, in, a)
		var invalid *artifact.InvalidError
		if errors.As(err, &invalid) {
			return readGeneric(in, platform, generic, invalid.Reason)
		}
		return p, err
	default:
		p, err := readGeneric(in, platform, generic, notAppReason(a.Entries(), kind))
		if err == nil && p.Platform == "" && isNative(a.Entries()) {
			p.Kind = artifact.Native
		}
		return p, err
	}
}

// Symbols inspects a symbols file: a dSYM archive, a mapping as text or in a zip, or a
// zip of native libraries, which is not looked into.
func (i *Inspector) Symbols(ctx context.Context, in artifact.Input) (*artifact.Symbols, error) {
	ctx, cancel := context.WithTimeout(ctx, symbolsDeadline)
	defer cancel()
	s, err := caught(in, func() (*artifact.Symbols, error) { return readSymbols(ctx, in) })
	if err != nil {
		return nil, err
	}
	cleanSymbols(s)
	return s, nil
}

func readSymbols(ctx context.Context, in artifact.Input) (*artifact.Symbols, error) {
	zipped, err := isZip(in)
	if err != nil {
		return nil, err
	}
	if !zipped {
		return mapping.ReadAt(in.Reader, in.Size)
	}
	a, err := archive.Open(in.Reader, in.Size)
	if err != nil {
		return nil, err
	}
	if apple.IsDSYM(a.Entries()) {
		return apple.Symbols(ctx, a)
	}
	s, err := mapping.ReadArchive(ctx, a)
	var invalid *artifact.InvalidError
	if errors.As(err, &invalid) && isNative(a.Entries()) {
		return &artifact.Symbols{Kind: artifact.Native}, nil
	}
	return s, err
}
