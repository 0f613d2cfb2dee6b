// Package content shows what a stored report of a crash says: its threads and modules with what
// symbols made of them, the source code that came with it, breadcrumbs and annotations.
//
// All of it is pure: views out of a document, of which the package crash makes answers. What a
// report holds came from outside, and may be a million frames or a name of megabytes: each list
// and each text has a bound, beside which the answer says how many are left out. The thread that
// the key is made from goes first in taking room.
//
// Nothing here fails: what cannot be read is shown as it came, or left out. The stored report is
// there whole for whoever asks for it.
package content

import (
	"strconv"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// Frame is a frame of a thread, with what symbols made of it.
type Frame struct {
	Function        string `json:"function"`
	Address         string `json:"address,omitempty"`
	File            string `json:"file,omitempty"`
	Line            int64  `json:"line,omitempty"`
	Column          int64  `json:"column,omitempty"`
	Library         string `json:"library,omitempty"`
	DebugIdentifier string `json:"debug_identifier,omitempty"`
	Guessed         bool   `json:"guessed,omitempty"`
	Faulted         bool   `json:"faulted,omitempty"`
	// Own says whether the frame is the program's own, and not of the platform or a package;
	// absent where the rules of the key did not look at it.
	Own *bool `json:"own,omitempty"`
	symbolView
	index int // in the stack of the report
}

// Thread is a thread with its stack.
type Thread struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Fault bool   `json:"fault"`
	// Main marks the thread that the key is made from: the first that faulted,
	// else the one that the report calls its main thread.
	Main          bool    `json:"main"`
	Frames        []Frame `json:"frames"` // innermost first
	FramesOmitted int     `json:"frames_omitted"`
	// FramesHidden counts frames that a compiler made, which are not shown.
	FramesHidden int `json:"frames_hidden,omitempty"`
}

const (
	// maxThreads and maxFrames (of all threads together) bound an answer to a
	// few megabytes; real reports hold some hundred threads and some thousand
	// frames. The main thread goes first in taking frames.
	maxThreads = 1000
	maxFrames  = 10_000
	// MaxFrameText bounds each text of a frame in characters, and maxFrameBytes those of the
	// main thread, and of all others together: a report may hold a name of megabytes.
	MaxFrameText  = 2000
	maxFrameBytes = 2 << 20
	maxModuleText = 500
)

// Module is a loaded module.
type Module struct {
	Start           string  `json:"start"`
	Size            *uint64 `json:"size"`
	CodeFile        string  `json:"code_file"`
	Version         string  `json:"version"`
	DebugFile       string  `json:"debug_file"`
	DebugIdentifier string  `json:"debug_identifier"`
	// DebugFileExists says whether the symbols of the module were found; null: no frame is to
	// be looked up in it.
	DebugFileExists *bool   `json:"debug_file_exists"`
	Symbols         *Served `json:"symbols,omitempty"` // the file that was found
}

// maxModules are shown of a report: a desktop program loads some hundred.
const maxModules = 1000

// Modules shows the modules of a report, in its order.
func Modules(r *report.Report, symbols *symbolication.Document) (views []Module, omitted int) {
	n := min(len(r.Modules), maxModules)
	views = make([]Module, 0, n)
	for i := range r.Modules[:n] {
		m := &r.Modules[i]
		v := Module{Start: m.Start, CodeFile: m.CodeFile, Version: m.Version, DebugFile: m.DebugFile, DebugIdentifier: m.DebugIdentifier}
		for _, text := range []*string{&v.Start, &v.CodeFile, &v.Version, &v.DebugFile, &v.DebugIdentifier} {
			*text = storage.Cut(*text, maxModuleText)
		}
		if size, err := strconv.ParseUint(m.Size, 0, 64); err == nil {
			v.Size = &size
		}
		views = append(views, v)
	}
	for _, m := range symbols.Modules {
		if m.Index < 0 || m.Index >= n || m.File == 0 && m.Missing == 0 {
			continue
		}
		found := m.File > 0
		views[m.Index].DebugFileExists, views[m.Index].Symbols = &found, servedOf(symbols, m.File)
	}
	return views, len(r.Modules) - n
}

// Report reads a stored report; nil when it cannot be read.
func Report(document []byte) *report.Report {
	r, err := report.Parse(document)
	if err != nil {
		return nil
	}
	return r
}

// Threads shows the threads of a report, in its order, with the frames that symbols gave it
// and the source code that came with it. omitted counts those beyond the bound.
func Threads(r *report.Report, document []byte, symbols *symbolication.Document) (threads []Thread, omitted int) {
	threads = []Thread{}
	main, lines := r.FaultThread(), sourcesOf(document)
	left, room := maxFrames, map[bool]int{true: maxFrameBytes, false: maxFrameBytes}
	if main != nil {
		left -= min(len(main.Frames), maxFrames)
	}
	for i := range r.Threads {
		t := &r.Threads[i]
		if t != main && len(threads) >= maxThreads {
			omitted++
			continue
		}
		n := min(len(t.Frames), maxFrames)
		if t != main {
			n = min(n, left)
			left -= n
		}
		v := Thread{ID: t.ID, Name: t.Name, Fault: t.Fault, Main: t == main, FramesOmitted: len(t.Frames) - n}
		v.Frames, v.FramesHidden = framesOf(t.Frames[:n], symbols, t.ID)
		if fit := cutFrames(v.Frames, room, t == main); fit < len(v.Frames) {
			v.FramesOmitted += len(v.Frames) - fit
			v.Frames = v.Frames[:fit]
		}
		for j := range v.Frames {
			f := &v.Frames[j]
			if f.Raw == nil {
				f.Source = lines.around(&t.Frames[f.index], t == main)
			}
		}
		threads = append(threads, v)
	}
	return threads, omitted
}

// cutFrames bounds the texts of frames, and returns how many of them fit into the room, which
// they use up.
func cutFrames(frames []Frame, room map[bool]int, main bool) (fit int) {
	for i := range frames {
		f := &frames[i]
		texts := []*string{&f.Function, &f.Address, &f.File, &f.Library, &f.DebugIdentifier, &f.Signature}
		if f.Raw != nil {
			texts = append(texts, &f.Raw.Function, &f.Raw.Address, &f.Raw.File)
		}
		for _, text := range texts {
			*text = storage.Cut(*text, MaxFrameText)
			room[main] -= len(*text)
		}
		if room[main] < 0 {
			return i
		}
	}
	return len(frames)
}

// framesOf shows frames, and counts those that are hidden.
func framesOf(frames []report.Frame, symbols *symbolication.Document, thread string) (views []Frame, hidden int) {
	views = make([]Frame, 0, len(frames))
	replaced := symbols.Thread(thread)
	for i := range frames {
		p := replaced[i]
		if p == nil || len(p.Frames) == 0 && !p.Hidden {
			v := rawFrame(&frames[i])
			v.index = i
			if p != nil {
				v.Missing = missingIndex(symbols, p.Missing)
			}
			views = append(views, v)
			continue
		}
		if len(p.Frames) == 0 {
			hidden++
		}
		for j := range p.Frames {
			views = append(views, replacedFrame(&frames[i], p, j, symbols))
		}
	}
	return views, hidden
}

// rawFrame is a frame as it came.
func rawFrame(f *report.Frame) Frame {
	return Frame{Function: f.Function, Address: f.Address, File: f.Path, Line: f.Line, Column: f.Column, Library: f.Library,
		DebugIdentifier: f.DebugIdentifier, Guessed: f.Guessed, Faulted: f.Faulted}
}
