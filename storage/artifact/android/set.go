package android

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// An archive of APKs is one app in several parts: what bundletool builds from a
// bundle (APKS, with toc.pb), what stores offer for download (XAPK with
// manifest.json, APKM with info.json), or just APKs in a zip. The base APK
// describes the app; the names of the others have the other ABIs.

const (
	// maxNested bounds a base APK that is compressed, which is inflated to memory: it
	// leaves room for the rest of what one package may take. All known tools store them.
	maxNested = 36 << 20

	// maxSplits bounds the list; an app has at most some hundred. maxSetParts
	// bounds the APKs that are considered.
	maxSplits   = 500
	maxSetParts = 2000
)

// Set reads an archive of APKs (APKS, XAPK, APKM). One with neither a base APK nor
// a description of it that can be read is an *artifact.InvalidError.
func (r Reader) Set(ctx context.Context, in artifact.Input, a *archive.Archive) (*artifact.Package, error) {
	a.Bind(ctx)
	s := &set{reader: r, ctx: ctx, archive: a}
	for _, e := range a.Entries() {
		if len(s.parts) < maxSetParts && strings.EqualFold(path.Ext(e.Name), ".apk") {
			s.parts = append(s.parts, e)
		}
	}
	if len(s.parts) == 0 {
		return nil, &artifact.InvalidError{Reason: "there is no APK in the archive"}
	}
	var notes []string
	note := func(what string, err error) {
		if err != nil {
			notes = append(notes, what+": "+err.Error())
		}
	}
	note("The description of the archive cannot be read", catchPanic(s.readDescription))
	base := s.base()
	p, err := s.readBase(in, base)
	if a.Err() != nil {
		return nil, a.Err()
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var invalid *artifact.InvalidError
		if errors.As(err, &invalid) {
			err = &artifact.InvalidError{Reason: "the base APK cannot be read: " + invalid.Reason}
		}
		if p = s.description.toPackage(); p == nil {
			return nil, err
		}
		note("Only the description of the archive was read", err)
		s.complete(p, base)
		if in.Begin(artifact.PartIcon, p) {
			p.Icon = s.icon()
		}
	}
	s.complete(p, base)
	p.Warnings = append(p.Warnings, notes...)
	return p, nil
}

// complete makes the description of the base APK that of the archive.
func (s *set) complete(p *artifact.Package, base archive.Entry) {
	p.Kind = artifact.APKS
	p.Tool, _ = s.tool()
	s.names(p, base)
}

// set is an archive of APKs that is being read.
type set struct {
	reader      Reader
	ctx         context.Context
	archive     *archive.Archive
	parts       []archive.Entry
	description description
}

// base returns the part that is the app itself: the one the description names,
// else by name, else the largest.
func (s *set) base() archive.Entry {
	return slices.MaxFunc(s.parts, func(a, b archive.Entry) int {
		if d := s.basePriority(a.Name) - s.basePriority(b.Name); d != 0 {
			return d
		}
		return int(min(1, max(-1, a.Size-b.Size)))
	})
}

// basePriority returns how likely a name is that of a base APK.
func (s *set) basePriority(name string) int {
	if s.description.base != "" && name == s.description.base {
		return 7
	}
	folder, file := path.Split(strings.ToLower(name))
	switch {
	case file == "base.apk":
		return 6
	case file == "base-master.apk":
		return 5
	case strings.HasPrefix(file, "base-master"): // base-master_2.apk, of another variant
		return 4
	case file == "universal.apk":
		return 3
	case strings.HasSuffix(folder, "standalones/"):
		return 2
	case strings.HasPrefix(file, "base-"), strings.HasPrefix(file, "config."), strings.HasPrefix(file, "split_"),
		strings.Contains(file, ".config."), strings.HasSuffix(folder, "splits/"):
		return 0
	}
	return 1
}

// readBase reads an APK inside the archive: directly when it is stored, else from
// memory.
func (s *set) readBase(in artifact.Input, e archive.Entry) (p *artifact.Package, err error) {
	err = catchPanic(func() error {
		nested := artifact.Input{Name: e.Name, Vendor: in.Vendor, Size: e.Size}
		if in.Part != nil {
			nested.Part = func(part artifact.Part, known *artifact.Package) bool {
				whole := *known
				s.complete(&whole, e)
				return in.Part(part, &whole)
			}
		}
		if r, ok := s.archive.ReaderAt(e); ok {
			nested.Reader = r
		} else {
			raw, err := s.archive.Read(e, maxNested)
			if errors.Is(err, archive.ErrTooLarge) {
				return &artifact.InvalidError{Reason: "it is compressed and larger than 36 MiB"}
			} else if err != nil {
				return err
			}
			nested.Reader, nested.Size = bytes.NewReader(raw), int64(len(raw))
		}
		inner, err := archive.Open(nested.Reader, nested.Size)
		if err != nil {
			return err
		}
		p, err = s.reader.APK(s.ctx, nested, inner)
		return err
	})
	return p, err
}

// tool returns the bundletool that built the archive: field 2 of toc.pb.
func (s *set) tool() (tool string, err error) {
	err = catchPanic(func() error {
		raw, err := s.file("toc.pb", maxManifest)
		if raw == nil {
			return err
		}
		tool, err = bundletool(raw, 2)
		return err
	})
	return tool, err
}

// icon returns the icon beside the APKs, or nil.
func (s *set) icon() (png []byte) {
	_ = catchPanic(func() error {
		raw, err := s.file("icon.png", maxDrawable)
		if raw != nil {
			png, err = s.reader.Icons.Normalize(s.ctx, raw)
		}
		return err
	})
	return png
}

// file reads a file of the archive; nil when there is none.
func (s *set) file(name string, limit int64) ([]byte, error) {
	all := s.archive.All(name)
	if len(all) == 0 {
		return nil, nil
	}
	return s.archive.Read(all[0], limit)
}

// names sets the other parts, and adds the ABIs in their names.
func (s *set) names(p *artifact.Package, base archive.Entry) {
	p.Splits, p.ABIs = nil, slices.Clone(p.ABIs)
	for _, e := range s.parts {
		if abi := abiOfPart(e.Name); abi != "" && !slices.Contains(p.ABIs, abi) {
			p.ABIs = append(p.ABIs, abi)
		}
		file := path.Base(e.Name)
		name := clean(file[:max(0, len(file)-len(".apk"))])
		if e.Name != base.Name && name != "" && len(p.Splits) < maxSplits && !slices.Contains(p.Splits, name) {
			p.Splits = append(p.Splits, name)
		}
	}
	slices.Sort(p.ABIs)
	slices.Sort(p.Splits)
}

// partABIs are the ABIs in the spelling of names of parts; a longer one
// precedes one that it begins with.
var partABIs = [][2]string{
	{"arm64_v8a", "arm64-v8a"}, {"armeabi_v7a", "armeabi-v7a"}, {"armeabi", "armeabi"}, {"x86_64", "x86_64"},
	{"x86", "x86"}, {"mips64", "mips64"}, {"mips", "mips"}, {"riscv64", "riscv64"},
}

// partSpelling converts the proper names of ABIs to the spelling of parts.
var partSpelling = strings.NewReplacer("-v8a", "_v8a", "-v7a", "_v7a")

// abiOfPart returns the ABI in a name such as base-arm64_v8a.apk, config.x86.apk,
// split_config.arm64_v8a.apk or standalone-x86_64_hdpi.apk.
func abiOfPart(name string) string {
	name = partSpelling.Replace(strings.TrimSuffix(strings.ToLower(path.Base(name)), ".apk"))
	last := name[strings.LastIndexAny(name, "-.")+1:]
	for _, abi := range partABIs {
		if rest, ok := strings.CutPrefix(last, abi[0]); ok && (rest == "" || rest[0] == '_') {
			return abi[1]
		}
	}
	return ""
}
