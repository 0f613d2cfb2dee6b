package android

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// An app bundle is a zip with a folder for each module. The one called base is the
// app: its manifest and drawables are protobuf documents (bundle_document.go), its
// resources a protobuf table (bundle_table.go). BundleConfig.pb has the version of
// bundletool that built it. Signatures are those of a JAR.

const (
	bundleConfigName   = "BundleConfig.pb"
	bundleManifestName = "base/manifest/" + manifestName
	bundleTableName    = "base/resources.pb"

	// maxModules bounds the list of modules; Google Play takes 100.
	maxModules = 200

	// maxConfig bounds BundleConfig.pb, which lists files that stay uncompressed.
	maxConfig = 1 << 20
)

// Bundle reads an app bundle (AAB). One without a base manifest that can be read is
// an *artifact.InvalidError; other errors come from the reader or from ctx.
func (r Reader) Bundle(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	a.Bind(ctx)
	b := &bundle{files: apk{ctx: ctx, archive: a, decoder: r.Icons, inflated: maxInflated}}
	p, err := b.read(in)
	if a.Err() != nil {
		return nil, a.Err()
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p, err
}

// bundle is an app bundle that is being read. It implements resources.
type bundle struct {
	files apk // for the bounds of reading and the signature
	table *protoTable
}

func (b *bundle) read(in artifact.Input) (*artifact.Package, error) {
	var root *element
	if err := catchPanic(func() (err error) { root, err = b.manifest(); return err }); err != nil {
		return nil, &artifact.InvalidError{Reason: bundleManifestName + " cannot be read: " + err.Error()}
	}
	p := &artifact.Package{Kind: artifact.AAB}
	var err error
	if p.Tool, err = b.tool(); err != nil {
		p.Warnings = append(p.Warnings, bundleConfigName+" cannot be read: "+err.Error())
	}
	b.names(p, in.Vendor)
	readParts(in, b, root, p, parts{resources: b.readTable, archive: b.files.archive, ctx: b.files.ctx, decoder: b.files.decoder})
	return p, nil
}

// manifest reads the first manifest of the base module that can be read.
func (b *bundle) manifest() (*element, error) {
	all := b.files.archive.All(bundleManifestName)
	failed := errors.New("there is none")
	for _, e := range all[:min(len(all), maxManifests)] {
		root, err := b.readManifest(e)
		if err == nil {
			return root, nil
		}
		failed = err
	}
	return nil, failed
}

func (b *bundle) readManifest(e archive.Entry) (*element, error) {
	raw, err := b.files.inflate(e, maxManifest)
	if err != nil {
		return nil, err
	}
	root, err := parseProtoXML(b.files.ctx, raw)
	if err != nil {
		return nil, err
	}
	if root.Name != "manifest" || root.attr("package").text() == "" {
		return nil, errors.New("it names no package")
	}
	return root, nil
}

// tool returns "bundletool 1.17.2", or "": old versions wrote none.
func (b *bundle) tool() (tool string, err error) {
	err = catchPanic(func() (err error) { tool, err = b.readTool(); return err })
	return tool, err
}

func (b *bundle) readTool() (string, error) {
	all := b.files.archive.All(bundleConfigName)
	if len(all) == 0 {
		return "", nil
	}
	raw, err := b.files.inflate(all[0], maxConfig)
	if err != nil {
		return "", err
	}
	return bundletool(raw, 1)
}

// bundletool reads the message that both BundleConfig.pb (in field 1) and toc.pb
// (in field 2) have, whose field 2 is the version.
func bundletool(raw []byte, in protowire.Number) (string, error) {
	var version string
	err := eachField(raw, func(f field) bool {
		if f.number == in {
			version = clean(string(f.message(2)))
		}
		return true
	})
	if version == "" {
		return "", err
	}
	return "bundletool " + version, err
}

// readTable reads the resources of the base module; a bundle without them is no
// error.
func (b *bundle) readTable() error {
	all := b.files.archive.All(bundleTableName)
	if len(all) == 0 {
		return nil
	}
	raw, err := b.files.inflate(all[0], maxProtoTable)
	if err != nil {
		return err
	}
	b.table, err = parseProtoTable(b.files.ctx, raw)
	return err
}

// candidates implements resources.
func (b *bundle) candidates(id uint32) []candidate {
	if b.table == nil || b.files.ctx.Err() != nil {
		return nil
	}
	return b.table.candidates(id)
}

// drawable implements resources. Paths of the table are within the base module.
func (b *bundle) drawable(path string) (*element, []byte, error) {
	all := b.files.archive.All("base/" + path)
	if len(all) == 0 {
		return nil, nil, errors.New("a file of it is not in the package")
	}
	raw, err := b.files.inflate(all[0], maxDrawable)
	if err != nil {
		return nil, nil, err
	}
	// Field 1 or 3 of an XmlNode comes first, which no raster begins with.
	if !bytes.HasPrefix(raw, []byte{1<<3 | 2}) && !bytes.HasPrefix(raw, []byte{3<<3 | 2}) {
		return nil, raw, nil
	}
	if len(raw) > maxDocument {
		return nil, nil, archive.ErrTooLarge
	}
	doc, err := parseProtoXML(b.files.ctx, raw)
	return doc, nil, err
}

// names sets what follows from the names of the entries: the modules, the ABIs of
// all of them, and whether the vendor's SDK is in one.
func (b *bundle) names(p *artifact.Package, vendor string) {
	var inside []archive.Entry
	for _, e := range b.files.archive.Entries() {
		module, rest, ok := strings.Cut(e.Name, "/")
		if !ok {
			continue
		}
		if rest == "manifest/"+manifestName && len(p.Splits) < maxModules && !slices.Contains(p.Splits, module) {
			if name := clean(module); name == module {
				p.Splits = append(p.Splits, module)
			}
		}
		// What a module has under root/ is at the root of its APK.
		rest = strings.TrimPrefix(rest, "root/")
		if strings.HasPrefix(rest, "lib/") || strings.HasPrefix(rest, "assets/") || strings.HasPrefix(rest, "META-INF/") {
			inside = append(inside, archive.Entry{Name: rest})
		}
	}
	slices.Sort(p.Splits)
	p.ABIs, p.HasSDK = entryNames(inside, vendor)
}
