package symbolicate

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// module is a loaded module with its range of addresses; size 0: not known.
type module struct {
	start, end uint64
	name       string
	version    string
	ids        []symbol.Identifier
	index      int // in the report, -1 for one that it does not list
	noted      bool
	want       *want
	opened     *opened // what serves it; nil: not looked for yet
}

// wantsNative reports whether a frame is to be looked up by its address.
func (r *reading) wantsNative() bool {
	return r.anyFrame(func(f *report.Frame) bool { return wantsAddress(&r.Input, f) })
}

// unnamed reports whether a frame is only an address. Some clients repeat the address where
// the name would be.
func unnamed(f *report.Frame) bool {
	if f.Address == "" {
		return false
	}
	name := f.Function
	return name == "" || name == f.Address || name == "<unknown>" || name == "???" || name == "unknown"
}

// wantsAddress reports whether a frame is to be looked up by its address: it has no name, or
// one that the client of a native dump took from the public symbols, without a line.
func wantsAddress(in *Input, f *report.Frame) bool {
	if _, ok := wasmPlaceOf(f); ok {
		return false
	}
	return unnamed(f) || f.Address != "" && f.Line == 0 && (in.Dump || in.Report.Symbolication == "minidump")
}

// readNative looks up the frames that are addresses.
func (r *reading) readNative(ctx context.Context) error {
	modules := r.part.modulesOf(r.Report)
	for _, t := range r.threads() {
		for i := range t.Frames {
			f := &t.Frames[i]
			if !wantsAddress(&r.Input, f) || !r.take() {
				continue
			}
			if err := r.readAddress(ctx, modules, t.ID, i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reading) readAddress(ctx context.Context, modules []module, thread string, index int, f *report.Frame) error {
	address, ok := number(f.Address)
	if !ok {
		return nil
	}
	m, relative := r.part.moduleOf(modules, f, address)
	if m == nil {
		return nil
	}
	// The frame that failed has the address of its instruction. All others have that to
	// which the call returns, which may belong to the next line or function.
	if index > 0 && !f.Faulted && relative > 0 {
		relative--
	}
	o, err := m.open(ctx, r)
	if err != nil {
		return err
	}
	m.note(r.doc, o)
	if o.native == nil {
		r.lack(thread, index, o, !unnamed(f))
		return nil
	}
	found, err := o.native.Lookup(relative)
	if err != nil {
		if errors.Is(err, ErrCold) && unnamed(f) {
			r.colds = append(r.colds, coldFrame{thread, index, o.bound})
		}
		return r.unread(err)
	}
	if !unnamed(f) && (len(found) == 0 || found[0].Public) {
		return nil // the address stays, and so does what the client knew as well
	}
	if len(found) == 0 {
		o.noteAbsent(r, m.want)
		r.lack(thread, index, o, false)
		return nil
	}
	p := symbolication.Replacement{Index: index, File: o.file}
	for _, n := range found[:min(len(found), maxInlines)] {
		out := nativeFrame(n)
		if err := r.nativeSource(ctx, o, m.want.ids, &out); err != nil {
			return err
		}
		p.Frames = append(p.Frames, cleanFrame(out))
	}
	r.replace(thread, p)
	return nil
}

// open looks for the debug file of a module.
func (m *module) open(ctx context.Context, r *reading) (*opened, error) {
	if m.opened != nil {
		return m.opened, nil
	}
	m.want = &want{kind: "native", name: path.Base(slashes(m.name)), version: m.version, arch: archOf(r.Report),
		ids: m.ids, announced: len(m.ids) > 0}
	if len(r.opened) >= maxFiles {
		m.opened = &opened{}
		return m.opened, nil
	}
	o, err := r.openNative(ctx, m.want)
	m.opened = o
	return o, err
}

// note notes whether the debug file of a module was found.
func (m *module) note(doc *symbolication.Document, o *opened) {
	if m.noted || m.index < 0 || o.file == 0 && o.missing == 0 {
		return
	}
	m.noted = true
	doc.Modules = append(doc.Modules, symbolication.Module{Index: m.index, File: o.file, Missing: o.missing})
}

// noteAbsent notes that a file has nothing at an address that lies in its module. A stripped file
// has the identifiers of the file with the debug information, which may still arrive.
func (o *opened) noteAbsent(r *reading, w *want) {
	if o.missing > 0 {
		return
	}
	o.bound = "" // the file is there: what is bound to it would not change when another comes
	before := len(r.needs)
	r.lackOf(w, o, "the file "+r.doc.Files[o.file-1].Name+" has no function at these addresses")
	for i := range r.needs[before:] {
		r.needs[before+i].Found = true
	}
}

func nativeFrame(n native.Frame) symbolication.Frame {
	f := symbolication.Frame{Function: clean(cmp.Or(n.Function, n.Symbol)), File: clean(n.File), Line: int64(n.Line),
		Column: int64(n.Column), Inlined: n.Inlined, Method: symbolication.DebugInfo}
	if n.Public {
		f.Method = symbolication.PublicSymbol
	}
	return f
}

// modulesOf reads the modules of a report, sorted by their start.
func (p *Part) modulesOf(r *report.Report) []module {
	list := make([]module, 0, len(r.Modules))
	for i := range r.Modules {
		m := &r.Modules[i]
		out := module{index: i, name: cmp.Or(m.CodeFile, m.DebugFile), version: m.Version}
		if m.DebugIdentifier != "" {
			out.ids = p.identifiersOf(m.DebugIdentifier)
		}
		out.start, _ = number(m.Start)
		if size, ok := number(m.Size); ok && size > 0 && out.start+size > out.start {
			out.end = out.start + size
		}
		list = append(list, out)
	}
	slices.SortStableFunc(list, func(a, b module) int { return cmp.Compare(a.start, b.start) })
	for i := range list {
		if list[i].end == 0 && i+1 < len(list) {
			list[i].end = list[i+1].start
		}
	}
	return list
}

// nativeIdentifiers reads what a client calls a debug identifier: a debug id, or the build id
// of an ELF file, of which a debug id is the first 16 bytes.
func nativeIdentifiers(text string) []symbol.Identifier {
	ids := identifiers(symbol.Identifier{Type: symbol.DebugID, Value: text})
	plain := strings.ToLower(strings.ReplaceAll(strings.Trim(text, "{} "), "-", ""))
	if len(plain) == 40 || len(ids) == 0 {
		ids = append(ids, identifiers(symbol.Identifier{Type: symbol.BuildID, Value: plain},
			symbol.Identifier{Type: symbol.CodeID, Value: plain})...)
	}
	return ids
}

// relativeBelow: an address below it is an offset in its module. Nothing is loaded in the
// first 64 KiB; shared libraries of 32-bit systems begin far above 16 MiB, and offsets are
// rarely larger.
const relativeBelow = 1 << 28

// moduleOf finds the module of a frame, and the address relative to its start.
func (p *Part) moduleOf(modules []module, f *report.Frame, address uint64) (*module, uint64) {
	for i := range modules {
		m := &modules[i]
		if address >= m.start && address < m.end && (m.start > 0 || len(modules) == 1) {
			if f.DebugIdentifier != "" && len(m.ids) == 0 {
				m.ids, m.opened = p.identifiersOf(f.DebugIdentifier), nil
			}
			return m, address - m.start
		}
	}
	var ids []symbol.Identifier
	if f.DebugIdentifier != "" {
		ids = p.identifiersOf(f.DebugIdentifier)
	}
	for i := range modules {
		m := &modules[i]
		same := len(ids) > 0 && len(m.ids) > 0 && ids[0] == m.ids[0] ||
			len(ids) == 0 && f.Library != "" && path.Base(slashes(m.name)) == path.Base(slashes(f.Library))
		switch {
		case !same:
		case address >= m.start && m.end <= m.start:
			return m, address - m.start
		case address < relativeBelow && address < m.start:
			return m, address
		}
	}
	if len(ids) > 0 && address < relativeBelow {
		return &module{index: -1, name: f.Library, ids: ids}, address
	}
	return nil, 0
}

// archOf is the architecture by which debug files of one module differ.
func archOf(r *report.Report) string {
	for _, name := range [...]string{"uname.machine", "cpu.arch", "arch", "device.abi"} {
		if a := archName(r.Attribute(name)); a != "" {
			return a
		}
	}
	return ""
}

// archName returns the name that symbol files have an architecture under.
func archName(text string) string {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "x86_64", "amd64", "x64":
		return "x86_64"
	case "x86", "i386", "i486", "i586", "i686":
		return "x86"
	case "arm64", "aarch64", "arm64-v8a", "arm64e":
		return "arm64"
	case "arm", "armv7", "armv7l", "armv7s", "armeabi-v7a", "armeabi":
		return "arm"
	}
	return ""
}

// number reads an address: decimal, or hexadecimal with 0x.
func number(text string) (uint64, bool) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		n, err := strconv.ParseUint(rest, 16, 64)
		return n, err == nil
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, true
	}
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil && len(text) >= 8
}

// slashes reads a path of Windows as others.
func slashes(name string) string { return strings.ReplaceAll(name, `\`, "/") }
