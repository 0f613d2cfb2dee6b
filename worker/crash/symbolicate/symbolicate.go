// Package symbolicate reads a crash report as the developer wrote the code.
//
// For each frame that is not readable it decides which file would make it so and by which
// names that is found: a ProGuard mapping by the id that the report names, else by the build
// (java.go); a source map by the debug id of the script, else by release and address, else by
// the address that an uploaded script names (script.go); a debug file by the identifiers of
// the module (native.go), and for Dart by the build id of its traces (dart.go). Frames that came
// with names from the client stay. Stack traces that came as text, in attributes and annotations,
// are read as well (text.go).
//
// The package knows no store: a Session finds the indexes. The reports of a part are read
// together (part.go): what one of them looks for and the session does not know yet is noted,
// and asked for once for all. A session may wait for indexes, or refuse with ErrCold what is
// not at hand; the result says so, and the caller tries again later. What is not there at all
// is part of the result: a need, by which the crash is found when the file arrives.
//
// Reports are hostile, and so are the files: counts of frames, files and texts are bounded,
// and a file that cannot be read spoils the frames that it was for, nothing else.
package symbolicate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// Errors of a Session.
var (
	// ErrMissing means that no file has one of the identifiers.
	ErrMissing = errors.New("no such symbol file")
	// ErrCold means that the file is there and its index is not at hand.
	ErrCold = errors.New("the index of the symbol file is not at hand")
	// ErrUnasked means that the answer is not known before Ask.
	ErrUnasked = errors.New("the symbol file has not been asked for")
)

// Place is where a crash looks for symbols.
type Place struct{ OrganizationID, ProjectID int64 }

// Query asks for the first file that one of the identifiers names.
type Query struct {
	Place
	Identifiers []symbol.Identifier
	Arch        string // of a native module, "" when it is not known
	// Names: of mappings an obfuscation map of Dart is wanted, else none of these.
	Names bool
}

// Source begins sessions.
type Source interface {
	Begin(ctx context.Context, organization int64) (Session, error)
}

// Session finds the indexes of symbol files for reports of one organization. Each method
// returns ErrMissing, ErrCold, ErrUnasked, *symbol.InvalidError for a file that cannot be read,
// or an error of the store. Those of a session that waits never return ErrCold.
type Session interface {
	Native(ctx context.Context, q Query) (Native, symbolication.File, error)
	Mapping(ctx context.Context, q Query) (Mapping, symbolication.File, error)
	SourceMap(ctx context.Context, q Query) (SourceMap, symbolication.File, error)
	Script(ctx context.Context, q Query) (Script, symbolication.File, error)
	// Named reports whether a script, or the map of one, may have been uploaded for an address:
	// false says that none has a file of that name.
	Named(address string) (bool, error)
	// Build returns the number of the build that a report names; 0: none that is known.
	Build(ctx context.Context, at Place, ref crash.BuildRef) (int64, error)
	// Ask asks at once for all that ErrUnasked was returned for.
	Ask(ctx context.Context) error
	// Refresh begins the session anew, for other reports of the organization. It reports whether
	// what was found still holds, but for what was found by a build.
	Refresh(ctx context.Context) (holds bool, err error)
	// Full reports whether what the session knows takes much memory; Forget drops it.
	Full() bool
	Forget()
}

// Native looks addresses up that are relative to the base of a module.
type Native interface {
	// Lookup returns the functions at an address, the innermost first; none: nothing is there.
	Lookup(address uint64) ([]native.Frame, error)
}

const (
	// maxFrames bounds the frames of a crash that are looked up, those of the thread that
	// failed first: a deep recursion in each of a hundred threads says nothing more.
	maxFrames = 4000
	// maxFiles bounds the files of a crash. Each that is missing costs a query.
	maxFiles = 64
	// maxShort bounds a name, maxAlternatives those that an ambiguous frame shows.
	maxShort        = 1000
	maxAlternatives = 20
	// maxInlines bounds what stands in the place of one frame.
	maxInlines = 200
	// maxBytes bounds all that stands in the place of frames, maxSources the lines around them:
	// a file may say that thousands of functions with long names were inlined everywhere.
	maxBytes   = 8 << 20
	maxSources = 2 << 20
)

// Result is what symbols made of a report.
type Result struct {
	State    crash.SymbolState
	Document *symbolication.Document
	// Report is the report with the frames of the document: what is grouped.
	Report *report.Report
	Needs  []need.Need
	// Cold: some index is not at hand, and the crash is to be read again.
	Cold bool
	// lacking names the file that a frame of the thread that failed lacks, by its index in
	// Report.
	lacking map[int]string
}

// Lacking returns the name of the file that a frame of the thread that failed lacks; "" for
// one that lacks none.
func (r *Result) Lacking(frame int) string { return r.lacking[frame] }

// Input is a report with what else of it is looked at.
type Input struct {
	Place
	Report *report.Report
	// Document is the report as it is stored, for its annotations.
	Document []byte
	Build    crash.BuildRef
	// Dump: the report was read out of a native dump.
	Dump bool
}

// reading is one report being read.
type reading struct {
	Input
	part    *Part
	doc     *symbolication.Document
	needs   []need.Need
	files   map[int64]int // indexes plus 1 into doc.Files, by the id of the file
	opened  map[*located]*opened
	unasked bool // some answer is not known yet
	cold    bool
	served  bool
	left    int
	bytes   int // of the replacements
	sources int // of the lines around frames
	starts  map[sectionKey]sectionStart
	looked  int // sources of native code
	colds   []coldFrame
}

// coldFrame is a frame of a thread of the report whose file is not at hand.
type coldFrame struct {
	thread string
	index  int
	name   string
}

// opened is the outcome of a query.
type opened struct {
	located *located
	native  Native
	mapping Mapping
	script  SourceMap
	text    Script
	sources map[string]Script // of native code, by the file that the debug information names; nil: not there
	file    int               // index plus 1, 0 for none
	missing int
	bound   string // what the key of a frame is bound to without it
	cold    bool   // it is not at hand yet
}

// kinds are the readers that the report asks for.
func (r *reading) kinds() (list []func(context.Context) error) {
	if r.wantsMapping() {
		list = append(list, r.readJava)
	}
	if r.wantsMaps() {
		list = append(list, r.readScripts)
	}
	if r.wantsWasm() {
		list = append(list, r.readWasm)
	}
	if r.wantsManaged() {
		list = append(list, r.readManaged)
	}
	if r.wantsDart() {
		list = append(list, r.readDart)
	}
	if r.wantsDartNames() {
		list = append(list, r.readDartNames)
	}
	if r.wantsNative() {
		list = append(list, r.readNative)
	}
	return list
}

// anyFrame reports whether a frame of the report fits.
func (r *reading) anyFrame(fits func(*report.Frame) bool) bool {
	for i := range r.Report.Threads {
		for j := range r.Report.Threads[i].Frames {
			if fits(&r.Report.Threads[i].Frames[j]) {
				return true
			}
		}
	}
	return false
}

// threads returns the threads, the one that failed first.
func (r *reading) threads() []*report.Thread {
	main := r.Report.FaultThread()
	list := make([]*report.Thread, 0, len(r.Report.Threads))
	if main != nil {
		list = append(list, main)
	}
	for i := range r.Report.Threads {
		if t := &r.Report.Threads[i]; t != main {
			list = append(list, t)
		}
	}
	return list
}

// take reports whether there is room for another frame.
func (r *reading) take() bool {
	if r.left == 0 {
		r.doc.Omitted++
		return false
	}
	r.left--
	return true
}

// replace adds the replacement of a frame, while there is room.
func (r *reading) replace(thread string, p symbolication.Replacement) {
	for i := range p.Frames {
		f := &p.Frames[i]
		if n := f.Source.Size(); r.sources+n > maxSources {
			f.Source = nil
		} else {
			r.sources += n
		}
	}
	n := p.Size()
	if r.bytes+n > maxBytes {
		r.doc.Omitted++
		return
	}
	r.bytes += n
	for i := range r.doc.Threads {
		if r.doc.Threads[i].ID == thread {
			r.doc.Threads[i].Replaced = append(r.doc.Threads[i].Replaced, p)
			return
		}
	}
	r.doc.Threads = append(r.doc.Threads, symbolication.Thread{ID: thread, Replaced: []symbolication.Replacement{p}})
}

// openNative looks for a native file, and notes the outcome once.
func (r *reading) openNative(ctx context.Context, w *want) (*opened, error) {
	return r.open(w, r.part.locate(r.Place, w, func(q Query, l *located) (file symbolication.File, err error) {
		l.native, file, err = r.part.session.Native(ctx, q)
		return file, err
	}))
}

// open notes the outcome of a look-up once.
func (r *reading) open(w *want, l *located) (*opened, error) {
	if o := r.opened[l]; o != nil {
		return o, nil
	}
	o := &opened{located: l, native: l.native, mapping: l.mapping, script: l.script, bound: w.bound()}
	r.opened[l] = o
	var invalid *symbol.InvalidError
	switch {
	case l.err == nil:
		o.file, r.served = r.fileOf(l.file), true
	case errors.Is(l.err, ErrUnasked):
		r.unasked = true
	case errors.Is(l.err, ErrCold):
		r.cold, o.cold = true, true
	case errors.Is(l.err, ErrMissing):
		r.lackOf(w, o, "no file has one of these identifiers")
	case errors.As(l.err, &invalid):
		r.lackOf(w, o, "the file cannot be read: "+clean(invalid.Reason))
	default:
		return nil, l.err
	}
	return o, nil
}

func (r *reading) fileOf(f symbolication.File) int {
	if i := r.files[f.FileID]; i > 0 {
		return i
	}
	r.doc.Files = append(r.doc.Files, f)
	r.files[f.FileID] = len(r.doc.Files)
	return len(r.doc.Files)
}

// result closes the reading.
func (r *reading) result() *Result {
	for i := range r.doc.Threads {
		slices.SortStableFunc(r.doc.Threads[i].Replaced, func(a, b symbolication.Replacement) int { return a.Index - b.Index })
	}
	out := &Result{Document: r.doc, Report: r.doc.Apply(r.Report), Needs: r.needs, Cold: r.cold}
	switch {
	case r.cold:
		out.State = crash.SymbolsPending
	case len(r.doc.Missing) == 0 && r.served:
		out.State = crash.SymbolsComplete
	case len(r.doc.Missing) == 0:
		out.State = crash.SymbolsNone
	case r.served:
		out.State = crash.SymbolsPartial
	default:
		out.State = crash.SymbolsMissing
	}
	out.lacking = r.lackingFrames()
	return out
}

// lackingFrames names the files that frames of the thread that failed lack, also those that
// are not at hand, by the index in the result.
func (r *reading) lackingFrames() map[int]string {
	main := r.Report.FaultThread()
	out := r.doc.Lacking(main)
	if main == nil || len(r.colds) == 0 {
		return out
	}
	at := r.doc.Positions(main)
	for _, c := range r.colds {
		if c.thread == main.ID {
			out[at[c.index]] = c.name
		}
	}
	return out
}

// clean bounds a text and makes it one that the database takes.
func clean(s string) string {
	if len(s) > maxShort {
		s = s[:maxShort]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}

// identifiers normalizes names and drops those that cannot be ones, and repetitions.
func identifiers(ids ...symbol.Identifier) []symbol.Identifier {
	var out []symbol.Identifier
	for _, id := range ids {
		if n, ok := id.Normalize(); ok && !slices.Contains(out, n) {
			n.Value, n.Release = clean(n.Value), clean(n.Release)
			out = append(out, n)
		}
	}
	return out
}
