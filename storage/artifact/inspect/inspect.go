// Package inspect finds out what an uploaded file is and reads it.
//
// It is the only way to the readers of packages. An Inspector looks at the first
// bytes and, of a zip, at the names in the directory; then it calls the reader for
// that kind. The kinds are tried in this order: APK, app bundle, archive of APKs,
// IPA, Mac app. A file that is an app is read as that, whatever platform the
// request names.
//
// Every inspection has a deadline, and its result is cleaned in one place
// (clean.go): texts are valid UTF-8 without control characters, bounded as the
// database expects them; lists are bounded and never nil.
//
// Only so many inspections run at once; one that did not end in time counts until
// it really has ended. Memory and processors belong to the process, so a process
// has one Inspector.
//
// Failures: *artifact.InvalidError with a reason for people, when the file is no
// package, is broken, or takes too long to read; ctx's error when the caller has
// gone; one that is context.DeadlineExceeded when too many inspections run, which
// passes; and the reader's error when the reader failed, even where the rest could
// be read: what is stored must not depend on a moment of bad network.
package inspect

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/android"
	"github.com/slipway-qa/slipway/storage/artifact/apple"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
	"github.com/slipway-qa/slipway/storage/artifact/mapping"
)

// Deadlines. A package takes some tens of milliseconds; a dSYM archive is inflated
// as far as 256 MiB.
const (
	packageDeadline = 10 * time.Second
	symbolsDeadline = 20 * time.Second
)

const (
	// defaultInspections at once fit beside a server of some hundred MiB: one
	// takes at most 64 MiB.
	defaultInspections = 4
	// defaultIcons at once: one takes at most 48 MiB, and less than two seconds.
	defaultIcons = 2
)

// Config bounds what a process inspects at the same time.
type Config struct {
	Inspections int // files; default 4. Each takes at most 64 MiB.
	Icons       int // raster icons among them; default 2
}

// Inspector inspects files. It is safe for concurrent use.
type Inspector struct {
	slots   slotPool
	android android.Reader
	apple   apple.Reader
}

// New returns an inspector.
func New(cfg Config) *Inspector {
	if cfg.Inspections <= 0 {
		cfg.Inspections = defaultInspections
	}
	if cfg.Icons <= 0 {
		cfg.Icons = defaultIcons
	}
	icons := icon.NewDecoder(cfg.Icons)
	return &Inspector{
		slots:   make(slotPool, cfg.Inspections),
		android: android.Reader{Icons: icons},
		apple:   apple.Reader{Icons: icons},
	}
}

// Package inspects an uploaded build. platform is the request's for a file that is
// neither iOS nor Android, "" when it has none: then the file is Generic and not
// looked into. A zip that is no app is an *artifact.InvalidError unless generic is
// true.
//
// A file that is an app is read as one, whatever platform is. A file that is
// Generic has the platform in its documented spelling (see Platform). Whether the
// organization allows generic files at all is the caller's to check: called with
// generic true, a file that is no app comes back as Kind Generic and can be
// refused as such, while an InvalidError means a file that is broken.
func (i *Inspector) Package(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error) {
	p, err := runWithin(ctx, i.slots, packageDeadline, in, func(ctx context.Context, in artifact.Input) (*artifact.Package, error) {
		return i.readPackage(ctx, in, platform, generic)
	})
	if err != nil {
		return nil, err
	}
	cleanPackage(p, in.Name)
	return p, nil
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
	default:
		return readGeneric(in, platform, generic, notAppReason(a.Entries(), kind))
	}
}

// Symbols inspects a symbols file: a dSYM archive, or a mapping as text or in a
// zip.
func (i *Inspector) Symbols(ctx context.Context, in artifact.Input) (*artifact.Symbols, error) {
	s, err := runWithin(ctx, i.slots, symbolsDeadline, in, readSymbols)
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
	return mapping.ReadArchive(a)
}
