package symbolicate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// isDart reports whether a report is of Dart or Flutter.
func isDart(lang string) bool {
	switch strings.ToLower(lang) {
	case "dart", "flutter":
		return true
	}
	return false
}

// wantsDart reports whether a report has places in compiled Dart, which a program without its own names
// writes in place of a stack: Flutter's release builds with --split-debug-info.
func (r *reading) wantsDart() bool {
	if bytes.Contains(r.Document, []byte(dartSection)) || isDart(r.Report.Lang) && bytes.Contains(r.Document, []byte(" abs ")) {
		return true
	}
	return r.anyFrame(func(f *report.Frame) bool {
		_, ok := dartPlaceOf(f)
		return ok
	})
}

// dartPlaceOf reads the place of a frame, whose name clients cut out of a line of the trace.
func dartPlaceOf(f *report.Frame) (dartPlace, bool) {
	p, ok := dartPlace{}, false
	if strings.HasPrefix(f.Function, dartSection) || strings.HasPrefix(f.Function, "abs ") {
		p, ok = parseDartFrame(f.Function)
	}
	if address, has := number(f.Address); ok && has && p.absolute == 0 {
		p.absolute = address
	}
	return p, ok
}

// readDart looks up places in compiled Dart, in frames and in traces that came as text.
func (r *reading) readDart(ctx context.Context) error {
	texts := r.texts(isDartTrace)
	var head dartHead // of the first trace: it is that of the frames
	for _, t := range texts {
		if head = dartHeadOf(t.text); len(head.units) > 0 {
			break
		}
	}
	modules := r.part.modulesOf(r.Report)
	opened := map[string]*opened{}
	for _, t := range r.threads() {
		for i := range t.Frames {
			p, ok := dartPlaceOf(&t.Frames[i])
			if !ok || !r.take() {
				continue
			}
			if err := r.readDartFrame(ctx, opened, t.ID, i, &t.Frames[i], p, r.dartUnitOf(modules, &head, &t.Frames[i], p)); err != nil {
				return err
			}
		}
	}
	for _, t := range texts {
		if err := r.readDartText(ctx, opened, t, &head); err != nil {
			return err
		}
	}
	return nil
}

// dartProgram is where a place lies: the file is looked for by the ids, and name is shown.
type dartProgram struct {
	ids  []symbol.Identifier
	name string
	base uint64
}

// dartUnitOf finds the program of a frame: what the frame itself names, its module, the head of the
// trace that the report has as text.
func (r *reading) dartUnitOf(modules []module, head *dartHead, f *report.Frame, p dartPlace) dartProgram {
	out := dartProgram{name: path.Base(slashes(f.Library))}
	if f.Library == "" {
		out.name = dartLibrary(head)
	}
	for i := range modules {
		m := &modules[i]
		within := p.absolute >= m.start && p.absolute < m.end && m.start > 0
		named := f.Library != "" && path.Base(slashes(m.name)) == path.Base(slashes(f.Library))
		if (within || named) && len(m.ids) > 0 {
			out.base, out.name = m.start, path.Base(slashes(m.name))
			out.ids = dartIdentifiers(r.Report.Modules[m.index].DebugIdentifier)
			break
		}
	}
	unit := head.unitOf(p)
	if unit != nil && out.base == 0 {
		out.base = unit.base
	}
	switch {
	case f.DebugIdentifier != "":
		out.ids = dartIdentifiers(f.DebugIdentifier)
	case len(out.ids) == 0 && unit != nil:
		out.ids = dartIdentifiers(unit.buildID)
	}
	return out
}

// dartLibrary is what the compiled program is called in an app.
func dartLibrary(head *dartHead) string {
	if head.apple {
		return "App"
	}
	return "libapp.so"
}

// dartIdentifiers are the names of the file with a build id: of an ELF file the id itself, of a
// Mach-O the UUID.
func dartIdentifiers(text string) []symbol.Identifier {
	plain := strings.ToLower(strings.ReplaceAll(strings.Trim(text, "{} "), "-", ""))
	return union(identifiers(symbol.Identifier{Type: symbol.BuildID, Value: plain}, symbol.Identifier{Type: symbol.CodeID, Value: plain}),
		nativeIdentifiers(text))
}

// openDart looks for the debug file of a program.
func (r *reading) openDart(ctx context.Context, files map[string]*opened, p dartProgram) (*opened, error) {
	w := &want{kind: "native", name: p.name, ids: p.ids, announced: true}
	if len(r.Build.Version) > 0 {
		w.version = r.Build.Version
	}
	key := w.key()
	if o := files[key]; o != nil {
		return o, nil
	}
	o := &opened{}
	if len(p.ids) > 0 && len(r.opened) < maxFiles {
		var err error
		o, err = r.openNative(ctx, w)
		if err != nil {
			return nil, err
		}
	}
	files[key] = o
	return o, nil
}

// sectionKey is a section of a file, sectionStart where it begins in it.
type (
	sectionKey struct {
		file    *located
		section string
	}
	sectionStart struct {
		address uint64
		known   bool
	}
)

// dartAddress returns the address of a place in the debug file: by the section, where the file says
// where it begins, else as the program was loaded.
func (r *reading) dartAddress(o *opened, p dartPlace, base uint64) (uint64, bool, error) {
	if at, ok := native.SectionAddress(p.section); ok {
		key := sectionKey{o.located, p.section}
		start, asked := r.starts[key]
		if !asked {
			found, err := o.native.Lookup(at)
			if err != nil {
				return 0, false, err
			}
			if len(found) > 0 {
				start.address, start.known = native.ParseSectionStart(found[0].Symbol)
			}
			if r.starts == nil {
				r.starts = map[sectionKey]sectionStart{}
			}
			r.starts[key] = start
		}
		if start.known {
			return start.address + p.offset, true, nil
		}
	}
	switch {
	case p.virtual > 0:
		return p.virtual, true, nil
	case base > 0 && p.absolute >= base:
		return p.absolute - base, true, nil
	}
	return 0, false, nil
}

// lookDart returns the functions at a place; none where the file has only the section that it is in.
func (r *reading) lookDart(o *opened, p dartPlace, base uint64) ([]native.Frame, error) {
	address, ok, err := r.dartAddress(o, p, base)
	if err != nil || !ok {
		return nil, err
	}
	found, err := o.native.Lookup(address)
	if err != nil || len(found) == 0 || found[0].Public && strings.HasPrefix(strings.TrimPrefix(found[0].Symbol, "_"), dartSection[1:]) {
		return nil, err
	}
	return found[:min(len(found), maxInlines)], nil
}

func (r *reading) readDartFrame(ctx context.Context, files map[string]*opened, thread string, index int, f *report.Frame,
	p dartPlace, program dartProgram) error {
	o, err := r.openDart(ctx, files, program)
	if err != nil {
		return err
	}
	if o.native == nil {
		r.lack(thread, index, o, false)
		return nil
	}
	found, err := r.lookDart(o, p, program.base)
	if err != nil {
		return r.unread(err)
	}
	if len(found) == 0 {
		o.noteAbsent(r, &want{kind: "native", name: program.name, ids: program.ids, announced: true})
		r.lack(thread, index, o, false)
		return nil
	}
	out := symbolication.Replacement{Index: index, File: o.file}
	for _, n := range found {
		one := nativeFrame(n)
		if err := r.nativeSource(ctx, o, program.ids, &one); err != nil {
			return err
		}
		out.Frames = append(out.Frames, cleanFrame(one))
	}
	r.replace(thread, out)
	return nil
}

// dartHeadOf reads the first head of a text.
func dartHeadOf(text string) (h dartHead) {
	for line := range strings.Lines(text) {
		if len(h.units) > 0 && isDartHead(line) {
			break
		}
		h.read(strings.TrimSpace(line))
	}
	return h
}

// readDartText writes a trace anew, as the virtual machine would have written it with its names. A
// text may have several traces, each with a head of its own.
func (r *reading) readDartText(ctx context.Context, files map[string]*opened, t foundText, first *dartHead) error {
	lines := strings.Split(t.text, "\n")
	head, shift, file := *first, 0, 0
	fresh := dartHead{}
	for i := range lines[:min(len(lines), maxTextLines)] {
		line := strings.TrimSuffix(lines[i], "\r")
		before, number, p, ok := cutDartFrame(line)
		if !ok {
			if isDartHead(line) {
				fresh = dartHead{}
			}
			if fresh.read(strings.TrimSpace(line)); len(fresh.units) > 0 {
				head = fresh
			}
			continue
		}
		if number == 0 {
			shift = 0
		}
		unit := head.unitOf(p)
		if unit == nil {
			continue
		}
		o, err := r.openDart(ctx, files, dartProgram{ids: dartIdentifiers(unit.buildID), name: dartLibrary(&head)})
		if err != nil {
			return err
		}
		if o.native == nil {
			continue
		}
		found, err := r.lookDart(o, p, unit.base)
		if err != nil {
			if err := r.unread(err); err != nil {
				return err
			}
			continue
		}
		if len(found) == 0 {
			continue
		}
		lines[i] = dartLines(before, number+shift, found)
		shift += len(found) - 1
		file = cmp.Or(file, o.file)
	}
	if file > 0 {
		r.doc.Texts = append(r.doc.Texts, symbolication.Text{Where: t.where, Text: cleanText(strings.Join(lines, "\n")), File: file})
	}
	return nil
}

// dartLines writes the functions of a place as the virtual machine writes its frames.
func dartLines(before string, number int, found []native.Frame) string {
	var b strings.Builder
	for i, n := range found {
		f := cleanFrame(nativeFrame(n))
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s#%-6d %s", before, number+i, f.Function)
		switch {
		case f.File == "":
		case f.Line == 0:
			fmt.Fprintf(&b, " (%s)", f.File)
		case f.Column == 0:
			fmt.Fprintf(&b, " (%s:%d)", f.File, f.Line)
		default:
			fmt.Fprintf(&b, " (%s:%d:%d)", f.File, f.Line, f.Column)
		}
	}
	return b.String()
}
