// Package inspect tells what a file is and reads it.
//
// It is the one door to the readers of packages. It looks at the first bytes and,
// of a zip, at the names in the directory; then it asks the reader for that kind.
// An app is told from the archives around it by this order: APK, app bundle,
// archive of APKs, IPA, Mac app. A file that is an app is read as that, whatever
// platform the request names.
//
// Every inspection has a deadline, and what it gives is cleaned in one place
// (clean.go): texts are valid UTF-8 without control characters, bounded as the
// database expects them; lists are bounded and never nil.
//
// Only so many inspections run at once (see slots); one that did not end in time
// counts until it really has ended.
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
	"github.com/slipway-qa/slipway/storage/artifact/mapping"
)

// Deadlines. A package takes some tens of milliseconds; a dSYM archive is inflated
// as far as 256 MiB.
const (
	packageDeadline = 10 * time.Second
	symbolsDeadline = 20 * time.Second
)

// Package inspects an uploaded build. platform is what the request says of a file
// that is neither iOS nor Android ("" when it says nothing): then the file is
// Generic and not looked into. A zip that is no app is an *artifact.InvalidError
// unless generic is true.
//
// A file that is an app is read as one, whatever platform says. A file that is
// Generic has the platform as the contract writes it (Platform). Whether the
// organization allows generic files at all is for the caller to ask: called with
// generic true, a file that is no app comes back as Kind Generic and can be
// refused as such, while an InvalidError means a file that is broken.
func Package(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error) {
	p, err := within(ctx, parses, packageDeadline, in, func(ctx context.Context, in artifact.Input) (*artifact.Package, error) {
		return readPackage(ctx, in, platform, generic)
	})
	if err != nil {
		return nil, err
	}
	cleanPackage(p, in.Name)
	return p, nil
}

// readPackage finds the reader of a file.
func readPackage(ctx context.Context, in artifact.Input, platform string, generic bool) (*artifact.Package, error) {
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
		return android.APK(ctx, in, a)
	case artifact.AAB:
		return android.Bundle(ctx, in, a)
	case artifact.APKS:
		return android.Set(ctx, in, a)
	case artifact.IPA:
		return apple.App(ctx, in, a)
	case artifact.Mac:
		return apple.Mac(ctx, in, a)
	default:
		return readGeneric(in, platform, generic, notAppReason(a.Entries(), kind))
	}
}

// Symbols inspects a symbols file: a dSYM archive, or a mapping as text or in a
// zip.
func Symbols(ctx context.Context, in artifact.Input) (*artifact.Symbols, error) {
	s, err := within(ctx, parses, symbolsDeadline, in, readSymbols)
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
