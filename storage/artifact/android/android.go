// Package android reads APKs and Android app bundles.
//
// An APK holds its manifest and drawables as binary XML and its resources in
// resources.arsc; both are read here, with the few parts of the formats that a
// build's description needs. The available Go modules were not enough: they support
// no sparse or compact resource entries, no adaptive icons, and no bounds.
//
// A package needs a manifest that can be read; of several with the name the first
// readable one counts. All else (resources, icon, signatures) is optional: what
// fails is a warning, also when its decoder panics. All of a package may inflate to
// maxInflated; single parts have further bounds, which real packages never reach.
//
// A resource table that is stored, as Android 11 demands, is read by ranges and
// takes no memory; a packed one has to fit into maxPackedTable.
//
// HasSDK is decided by names of entries alone (see vendorEntry), so that no code
// has to be read: lib/ABI/lib<vendor>*.so, assets/<vendor>*, META-INF/<vendor>* and
// META-INF/*.<vendor>*.
//
// Signatures are described and not verified: that needs the whole file. Splits of
// an APK that is a split has its name.
package android

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// Bounds of a package.
const (
	maxInflated    = 96 << 20
	maxManifest    = 8 << 20
	maxTable       = 128 << 20
	maxPackedTable = 40 << 20
	maxDrawable    = 16 << 20
	maxDocument    = 2 << 20 // a drawable that is a document
	maxManifests   = 4       // of the name, the first ones
)

const (
	manifestName = "AndroidManifest.xml"
	tableName    = "resources.arsc"
)

// Reader reads packages of Android.
type Reader struct {
	// Icons decodes raster icons; required.
	Icons *icon.Decoder
}

// APK reads an APK. One without a manifest that can be read is an
// *artifact.InvalidError; other errors come from the reader or from ctx.
func (r Reader) APK(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	a.Bind(ctx)
	reading := &apk{ctx: ctx, archive: a, decoder: r.Icons, inflated: maxInflated}
	p, err := reading.read(in)
	// After a failure of the reader parts look broken that are not. The end of ctx costs
	// the parts that were not read by then.
	if a.Err() != nil {
		return nil, a.Err()
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p, err
}

// apk is an APK that is being read. It implements resources.
type apk struct {
	ctx      context.Context
	archive  *archive.Archive
	decoder  *icon.Decoder
	table    *table
	inflated int64 // what may still be inflated
}

func (r *apk) read(in artifact.Input) (*artifact.Package, error) {
	var root *element
	if err := catchPanic(func() (err error) { root, err = r.manifest(); return err }); err != nil {
		return nil, &artifact.InvalidError{Reason: "AndroidManifest.xml cannot be read: " + err.Error()}
	}
	p := &artifact.Package{Kind: artifact.APK}
	p.ABIs, p.HasSDK = entryNames(r.archive.Entries(), in.Vendor)
	readParts(in, r, root, p, parts{resources: r.readTable, archive: r.archive, ctx: r.ctx, decoder: r.decoder})
	return p, nil
}

// parts is what APKs and bundles have beside their manifest.
type parts struct {
	ctx       context.Context
	archive   *archive.Archive
	decoder   *icon.Decoder
	resources func() error
}

// readParts reads what a manifest refers to and what is beside it. What fails is a warning.
func readParts(in artifact.Input, res resources, root *element, p *artifact.Package, of parts) {
	known := *p
	readManifest(root, nil, &known) // as far as it refers to nothing
	known.Warnings = p.Warnings
	if in.Begin(artifact.PartResources, &known) {
		warn(p, artifact.PartResources, catchPanic(of.resources))
	}
	var icons []value
	if err := catchPanic(func() error { icons = readManifest(root, res, p); return nil }); err != nil {
		p.Warnings = append(p.Warnings, "Parts of the manifest cannot be read: "+err.Error())
	}
	if in.Begin(artifact.PartSigner, p) {
		warn(p, artifact.PartSigner, catchPanic(func() (err error) {
			p.Signer, err = readSigner(of.archive)
			return cmp.Or(of.ctx.Err(), err)
		}))
	}
	if in.Begin(artifact.PartIcon, p) {
		warn(p, artifact.PartIcon, catchPanic(func() (err error) {
			p.Icon, err = readIcon(of.ctx, of.decoder, res, icons)
			return err
		}))
	}
}

// warn adds a warning for a part that could not be read.
func warn(p *artifact.Package, part artifact.Part, err error) {
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p.Warnings = append(p.Warnings, part.Unread("it takes too long"))
	default:
		p.Warnings = append(p.Warnings, part.Unread(err.Error()))
	}
}

// catchPanic runs a decoder; a panic becomes an error.
func catchPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("decoder failed: %v", p)
		}
	}()
	return f()
}

// manifest reads the first manifest that can be read.
func (r *apk) manifest() (*element, error) {
	all := r.archive.All(manifestName)
	if len(all) == 0 {
		return nil, errors.New("there is none")
	}
	var failed error
	for _, e := range all[:min(len(all), maxManifests)] {
		root, err := r.readManifest(e)
		if err == nil {
			return root, nil
		}
		failed = firstError(failed, err)
	}
	return nil, failed
}

func (r *apk) readManifest(e archive.Entry) (*element, error) {
	raw, err := r.inflate(e, maxManifest)
	if err != nil {
		return nil, err
	}
	root, err := parseXML(r.ctx, raw)
	if err != nil {
		return nil, err
	}
	if root.Name != "manifest" || root.attr("package").text() == "" {
		return nil, errors.New("it names no package")
	}
	return root, nil
}

// readTable reads resources.arsc; a package without one is no error.
func (r *apk) readTable() error {
	all := r.archive.All(tableName)
	if len(all) == 0 {
		return nil
	}
	e := all[0]
	var file *binaryFile
	if stored, ok := r.archive.ReaderAt(e); ok {
		if e.Size > maxTable {
			return archive.ErrTooLarge
		}
		file = inFile(stored, e.Size)
	} else {
		raw, err := r.inflate(e, maxPackedTable)
		if err != nil {
			return err
		}
		file = inMemory(raw)
	}
	t, err := parseTable(r.ctx, file)
	r.table = t
	return err
}

// candidates implements resources.
func (r *apk) candidates(id uint32) []candidate {
	if r.table == nil {
		return nil
	}
	return r.table.candidates(id)
}

// drawable implements resources. The kind of a file is decided by its contents,
// since its name may have lost its extension.
func (r *apk) drawable(path string) (*element, []byte, error) {
	all := r.archive.All(path)
	if len(all) == 0 {
		return nil, nil, errors.New("a file of it is not in the package")
	}
	raw, err := r.inflate(all[0], maxDrawable)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.HasPrefix(raw, []byte{kindXML, 0, 8, 0}) {
		return nil, raw, nil
	}
	if len(raw) > maxDocument {
		return nil, nil, archive.ErrTooLarge
	}
	doc, err := parseXML(r.ctx, raw)
	return doc, nil, err
}

// inflate reads an entry within what the package may still inflate to.
func (r *apk) inflate(e archive.Entry, limit int64) ([]byte, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	limit = min(limit, r.inflated)
	raw, err := r.archive.Read(e, limit)
	if err != nil {
		// Up to the limit was inflated before it failed.
		r.inflated -= min(limit, max(e.Packed, 0)*1032)
		return nil, err
	}
	r.inflated -= int64(len(raw))
	return raw, nil
}
