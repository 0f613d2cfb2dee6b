package content

import (
	"time"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// symbolView is what symbols made of a frame: what it was, what served it and how, or what
// it lacks. All absent: nothing was looked up for it.
type symbolView struct {
	Inlined   bool                  `json:"inlined,omitempty"` // into the function of the next frame
	Signature string                `json:"signature,omitempty"`
	Synthetic bool                  `json:"synthesized,omitempty"` // made by a compiler
	Method    symbolication.Method  `json:"method,omitempty"`
	Source    *symbolication.Source `json:"source,omitempty"`
	// Raw is the frame as it came; frames that were inlined there have the same.
	Raw *rawView `json:"raw,omitempty"`
	// Symbols is the file that served it.
	Symbols *Served `json:"symbols,omitempty"`
	// Alternatives are what may stand in the place of the frame and of those inlined there:
	// the mapping cannot tell. The outermost of these has them.
	Alternatives [][]alternativeView `json:"alternatives,omitempty"`
	// Missing is the place in symbolication.missing of the file that it lacks: what was looked
	// for stands there once, however many frames lack it.
	Missing *int `json:"missing_index,omitempty"`
}

type rawView struct {
	Index    int    `json:"index"` // in the stack of the report
	Function string `json:"function"`
	Address  string `json:"address,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Column   int64  `json:"column,omitempty"`
}

// Served is a file of symbols that served a frame, a module or a text.
type Served struct {
	ID         int64             `json:"id"`      // of the upload
	FileID     int64             `json:"file_id"` // in it
	Name       string            `json:"name"`
	Kind       symbol.Kind       `json:"kind"`
	Identifier symbol.Identifier `json:"identifier"` // by which it was found
}

type alternativeView struct {
	Function  string `json:"function"`
	File      string `json:"file,omitempty"`
	Line      int64  `json:"line,omitempty"`
	Signature string `json:"signature,omitempty"`
	Inlined   bool   `json:"inlined,omitempty"`
}

// Missing is a file that was looked for and is not there.
type Missing struct {
	Kind      string              `json:"kind"`
	Name      string              `json:"name"`
	Version   string              `json:"version,omitempty"`
	LookedFor []symbol.Identifier `json:"looked_for"`
	Reason    string              `json:"reason"`
	Frames    int                 `json:"frames,omitempty"` // that lack it
}

// Symbolication says how much of a crash reads as the developer wrote it.
type Symbolication struct {
	State         crash.SymbolState `json:"state"`
	At            *time.Time        `json:"at"`
	Missing       []Missing         `json:"missing"`
	FramesOmitted int               `json:"frames_omitted"` // beyond the bound, as they came
	Texts         []textView        `json:"texts"`
}

// textView is a stack trace that came as text, as it reads.
type textView struct {
	Where   string  `json:"where"`
	Text    string  `json:"text"`
	Symbols *Served `json:"symbols,omitempty"`
}

// SymbolicationOf shows what symbols made of a crash; the document is empty when there is
// none.
func SymbolicationOf(stored *crash.Symbolication) (Symbolication, *symbolication.Document) {
	v := Symbolication{State: crash.SymbolsNone, Missing: []Missing{}, Texts: []textView{}}
	if stored == nil {
		return v, &symbolication.Document{}
	}
	v.State = stored.State
	if stored.State != crash.SymbolsPending {
		at := stored.At.UTC()
		v.At = &at
	}
	d, err := symbolication.Decode(stored.Frames)
	if err != nil {
		return v, &symbolication.Document{} // the report is shown as it came
	}
	for i := range d.Missing {
		v.Missing = append(v.Missing, missingOf(&d.Missing[i]))
	}
	for _, t := range d.Texts {
		v.Texts = append(v.Texts, textView{t.Where, t.Text, servedOf(d, t.File)})
	}
	v.FramesOmitted = d.Omitted
	return v, d
}

// replacedFrame shows one of the frames that stand in the place of another.
func replacedFrame(raw *report.Frame, p *symbolication.Replacement, n int, d *symbolication.Document) Frame {
	f := &p.Frames[n]
	v := rawFrame(raw)
	v.Raw = &rawView{Index: p.Index, Function: raw.Function, Address: raw.Address, File: raw.Path, Line: raw.Line, Column: raw.Column}
	if f.Function != "" {
		v.Function = f.Function
	}
	if f.File != "" {
		v.File = f.File
	}
	v.Line, v.Column = f.Line, f.Column
	v.Inlined, v.Signature, v.Synthetic, v.Method, v.Source = f.Inlined, f.Signature, f.Synthesized, f.Method, f.Source
	v.Symbols = servedOf(d, p.File)
	if n == len(p.Frames)-1 {
		v.Alternatives = alternativesOf(p)
	}
	return v
}

func alternativesOf(p *symbolication.Replacement) (views [][]alternativeView) {
	for _, list := range p.Alternatives {
		one := make([]alternativeView, 0, len(list))
		for _, f := range list {
			one = append(one, alternativeView{f.Function, f.File, f.Line, f.Signature, f.Inlined})
		}
		views = append(views, one)
	}
	return views
}

func servedOf(d *symbolication.Document, file int) *Served {
	if file < 1 || file > len(d.Files) {
		return nil
	}
	f := &d.Files[file-1]
	return &Served{f.SymbolID, f.FileID, f.Name, f.Kind, f.Identifier}
}

func missingOf(m *symbolication.Missing) Missing {
	v := Missing{Kind: m.Kind, Name: m.Name, Version: m.Version, LookedFor: m.LookedFor, Reason: m.Reason, Frames: m.Frames}
	if v.LookedFor == nil {
		v.LookedFor = []symbol.Identifier{}
	}
	return v
}

// missingIndex is the place of a missing file, which a document counts from 1; nil: none.
func missingIndex(d *symbolication.Document, missing int) *int {
	if missing < 1 || missing > len(d.Missing) {
		return nil
	}
	missing--
	return &missing
}
