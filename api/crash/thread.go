package crash

import "github.com/slipway-qa/slipway/storage/report"

type frameView struct {
	Function        string `json:"function"`
	Address         string `json:"address,omitempty"`
	File            string `json:"file,omitempty"`
	Line            int64  `json:"line,omitempty"`
	Column          int64  `json:"column,omitempty"`
	Library         string `json:"library,omitempty"`
	DebugIdentifier string `json:"debug_identifier,omitempty"`
	Guessed         bool   `json:"guessed,omitempty"`
	Faulted         bool   `json:"faulted,omitempty"`
}

type threadView struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Fault bool   `json:"fault"`
	// Main marks the thread that the key is made from: the first that faulted,
	// else the one that the report calls its main thread.
	Main          bool        `json:"main"`
	Frames        []frameView `json:"frames"` // innermost first
	FramesOmitted int         `json:"frames_omitted"`
}

const (
	// maxThreads and maxFrames (of all threads together) bound an answer to a
	// few megabytes; real reports hold some hundred threads and some thousand
	// frames. The main thread goes first in taking frames.
	maxThreads = 1000
	maxFrames  = 10_000
)

// threadsOf reads the threads of a stored report, in its order; none when it
// cannot be read. omitted counts those beyond the bound.
func threadsOf(document []byte) (threads []threadView, omitted int) {
	threads = []threadView{}
	r, err := report.Parse(document)
	if err != nil {
		return threads, 0
	}
	main := r.FaultThread()
	left := maxFrames
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
		threads = append(threads, threadView{ID: t.ID, Name: t.Name, Fault: t.Fault, Main: t == main,
			Frames: framesOf(t.Frames[:n]), FramesOmitted: len(t.Frames) - n})
	}
	return threads, omitted
}

func framesOf(frames []report.Frame) []frameView {
	views := make([]frameView, 0, len(frames))
	for i := range frames {
		f := &frames[i]
		views = append(views, frameView{Function: f.Function, Address: f.Address, File: f.Path, Line: f.Line,
			Column: f.Column, Library: f.Library, DebugIdentifier: f.DebugIdentifier, Guessed: f.Guessed, Faulted: f.Faulted})
	}
	return views
}
