// Package symbolication is the document that says what symbols made of a crash: which
// frames of its report were replaced by which, what served them, and what was looked for and
// not found.
//
// The document does not repeat the report. A Replacement names a frame of a thread by its
// index, and holds what stands in its place: the frame as the developer wrote the code, with
// the functions that were inlined there before it; several alternatives where the mapping
// cannot tell which one it was; or nothing, where the frame was made by a compiler. Frames
// that no Replacement names are as they came.
//
// A worker writes the document. The reading API shows it, and Apply makes the report of it
// that is grouped. It is JSON, stored compressed beside the crash.
package symbolication

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Method says how a frame was found.
type Method string

// The methods.
const (
	Mapping      Method = "mapping"       // a range of a ProGuard or R8 mapping
	MappingClass Method = "mapping-class" // only the class is in the mapping
	MapScopes    Method = "scopes"        // a source map that has scopes, or function maps
	MapNames     Method = "names"         // a source map: the function is a name of the map
	MapSource    Method = "source"        // a source map: the function was read from the source text
	MapPosition  Method = "position"      // a source map: file and line only
	DebugInfo    Method = "debug-info"    // functions and lines
	PublicSymbol Method = "public-symbol" // the nearest name of a symbol table, no lines
)

// MessageAttribute has the message of an error.
const MessageAttribute = "error.message"

// Document is what symbols made of a crash.
type Document struct {
	Threads []Thread `json:"threads,omitempty"`
	// Texts are stack traces that came as text, and what they read.
	Texts []Text `json:"texts,omitempty"`
	// Files are what served frames, Missing what was looked for and is not there; frames name
	// them by index.
	Files   []File    `json:"files,omitempty"`
	Missing []Missing `json:"missing,omitempty"`
	// Modules are those of the report whose debug file was looked for.
	Modules []Module `json:"modules,omitempty"`
	// Classifiers are those of the report in clear, where one of them was obfuscated.
	Classifiers []string `json:"classifiers,omitempty"`
	// Message is error.message in clear, where it names an obfuscated class.
	Message string `json:"message,omitempty"`
	// Omitted counts frames beyond the bound, which are as they came.
	Omitted int `json:"omitted,omitempty"`
}

// Thread has the replaced frames of a thread of the report, by its id.
type Thread struct {
	ID       string        `json:"id"`
	Replaced []Replacement `json:"replaced"` // by ascending index
}

// Replacement stands in the place of a frame.
type Replacement struct {
	Index int `json:"index"`
	// Frames are what stands there, the innermost first; none: the frame is hidden, or with
	// Missing as it came.
	Frames []Frame `json:"frames,omitempty"`
	// Alternatives are what may stand there instead, each like Frames.
	Alternatives [][]Frame `json:"alternatives,omitempty"`
	// Hidden: the frame was made by a compiler and is nothing that the developer wrote.
	Hidden bool `json:"hidden,omitempty"`
	// File is what served the frame, Missing what it lacks: an index plus 1, 0 for none.
	File    int `json:"file,omitempty"`
	Missing int `json:"missing,omitempty"`
	// Named: the frame lacks the file, and has a name that the client knew.
	Named bool `json:"named,omitempty"`
}

// Frame is a frame as the developer wrote the code.
type Frame struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Column   int64  `json:"column,omitempty"`
	// Signature is the function with its types, where the file has them.
	Signature string `json:"signature,omitempty"`
	// Inlined: the function was inlined into that of the next frame.
	Inlined bool `json:"inlined,omitempty"`
	// Synthesized: a compiler made it, and it was all that there is.
	Synthesized bool    `json:"synthesized,omitempty"`
	Method      Method  `json:"method"`
	Source      *Source `json:"source,omitempty"`
}

// Source are the lines around the frame's.
type Source struct {
	Start int64    `json:"start_line"`
	Lines []string `json:"lines"`
}

// Size is about how many bytes the lines have; 0 for none.
func (s *Source) Size() (n int) {
	if s == nil {
		return 0
	}
	for _, line := range s.Lines {
		n += len(line) + 3
	}
	return n
}

// Size is about how many bytes the replacement has, without source lines.
func (p *Replacement) Size() int {
	n := 50 + sizeOf(p.Frames)
	for _, frames := range p.Alternatives {
		n += sizeOf(frames)
	}
	return n
}

func sizeOf(frames []Frame) (n int) {
	for i := range frames {
		f := &frames[i]
		n += 100 + len(f.Function) + len(f.File) + len(f.Signature)
	}
	return n
}

// Module says whether the debug file of a module was found.
type Module struct {
	Index int `json:"index"` // in the report
	// File is the debug file, Missing what was looked for: an index plus 1, 0 for none.
	File    int `json:"file,omitempty"`
	Missing int `json:"missing,omitempty"`
}

// Text is a stack trace that came as text.
type Text struct {
	// Where it is in the report: attributes.error.stack, annotations.logcat.
	Where string `json:"where"`
	Text  string `json:"text"`
	File  int    `json:"file,omitempty"`
	// Missing is what it lacks; then there is no text.
	Missing int `json:"missing,omitempty"`
}

// File is a debug file that served frames.
type File struct {
	SymbolID   int64             `json:"symbol_id"` // the upload
	FileID     int64             `json:"file_id"`
	Name       string            `json:"name"`
	Kind       symbol.Kind       `json:"kind"`
	Identifier symbol.Identifier `json:"identifier"` // by which it was found
}

// Missing is a file that frames lack.
type Missing struct {
	Kind      string              `json:"kind"` // native, proguard or sourcemap
	Name      string              `json:"name"`
	Version   string              `json:"version,omitempty"`
	LookedFor []symbol.Identifier `json:"looked_for"`
	Reason    string              `json:"reason"`
	Frames    int                 `json:"frames"` // that lack it
	// Bound is what the key of the crash is bound to where a frame that counts lacks the
	// file; "": nothing.
	Bound string `json:"bound,omitempty"`

	lookedFor []byte // LookedFor as JSON; nil: not written yet
}

// Encode writes what was looked for as JSON, once for all documents that get a copy of m.
func (m *Missing) Encode() { m.lookedFor = appendList(nil, m.LookedFor, appendIdentifier) }

// Decode reads a stored document.
func Decode(doc []byte) (*Document, error) {
	d := &Document{}
	if len(doc) == 0 {
		return d, nil
	}
	if err := json.Unmarshal(doc, d); err != nil {
		return nil, fmt.Errorf("read a symbolication: %w", err)
	}
	return d, nil
}

// Thread returns the replacements of a thread by the index of the frame; nil when it has
// none.
func (d *Document) Thread(id string) map[int]*Replacement {
	for i := range d.Threads {
		if d.Threads[i].ID != id {
			continue
		}
		t := &d.Threads[i]
		byIndex := make(map[int]*Replacement, len(t.Replaced))
		for j := range t.Replaced {
			byIndex[t.Replaced[j].Index] = &t.Replaced[j]
		}
		return byIndex
	}
	return nil
}

// Apply returns a report with the frames of the document in the place of its own. The report
// stays as it is.
func (d *Document) Apply(r *report.Report) *report.Report {
	if len(d.Threads) == 0 && len(d.Classifiers) == 0 && d.Message == "" {
		return r
	}
	out := *r
	at := slices.IndexFunc(r.Attributes, func(a report.Attribute) bool { return a.Key == MessageAttribute })
	if d.Message != "" && at >= 0 {
		out.Attributes = slices.Clone(r.Attributes)
		out.Attributes[at].Value = d.Message
	}
	if len(d.Classifiers) > 0 {
		out.Classifiers = d.Classifiers
	}
	out.Threads = make([]report.Thread, len(r.Threads))
	for i := range r.Threads {
		out.Threads[i] = r.Threads[i]
		replaced := d.Thread(r.Threads[i].ID)
		if replaced == nil {
			continue
		}
		out.Threads[i].Frames = applyFrames(r.Threads[i].Frames, replaced)
	}
	return &out
}

// Positions returns for each frame of a thread its index, or that of the first frame in its
// place, in the thread that Apply returns.
func (d *Document) Positions(t *report.Thread) []int {
	replaced := d.Thread(t.ID)
	at := make([]int, len(t.Frames))
	n := 0
	for i := range t.Frames {
		at[i] = n
		if p := replaced[i]; p == nil || len(p.Frames) == 0 && !p.Hidden {
			n++
		} else {
			n += len(p.Frames)
		}
	}
	return at
}

// Lacking names the files that frames of a thread lack and that its key is bound to, by the
// index in the thread that Apply returns.
func (d *Document) Lacking(t *report.Thread) map[int]string {
	out := map[int]string{}
	if t == nil || len(d.Missing) == 0 {
		return out
	}
	at := d.Positions(t)
	for i, p := range d.Thread(t.ID) {
		if i < len(at) && !p.Named && p.Missing > 0 && p.Missing <= len(d.Missing) && d.Missing[p.Missing-1].Bound != "" {
			out[at[i]] = d.Missing[p.Missing-1].Bound
		}
	}
	return out
}

func applyFrames(frames []report.Frame, replaced map[int]*Replacement) []report.Frame {
	out := make([]report.Frame, 0, len(frames)+len(replaced))
	for i := range frames {
		p := replaced[i]
		if p == nil || len(p.Frames) == 0 && !p.Hidden {
			out = append(out, frames[i])
			continue
		}
		for j := range p.Frames {
			out = append(out, p.Frames[j].onto(frames[i]))
		}
	}
	return out
}

// onto returns the frame as one of a report, in the place of raw.
func (f *Frame) onto(raw report.Frame) report.Frame {
	if f.Function != "" {
		raw.Function = f.Function
	}
	if f.File != "" {
		raw.Path = f.File
		// The library of a script is its file, and that of Java its source file.
		if f.Method != DebugInfo && f.Method != PublicSymbol {
			raw.Library = f.File
		}
	}
	raw.Line, raw.Column = f.Line, f.Column
	return raw
}
