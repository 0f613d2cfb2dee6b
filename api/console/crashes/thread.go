package crashes

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

type thread struct {
	ID            string       `json:"id"`
	Name          string       `json:"name"`
	Fault         bool         `json:"fault"`
	Main          bool         `json:"main"`
	Frames        []stackFrame `json:"frames"`
	FramesOmitted int          `json:"frames_omitted"`
	FramesHidden  int          `json:"frames_hidden"`
	Cut           int          `json:"-"` // frames that the page leaves out
}

type stackFrame struct {
	Function  string `json:"function"`
	Address   string `json:"address"`
	File      string `json:"file"`
	Line      int64  `json:"line"`
	Column    int64  `json:"column"`
	Library   string `json:"library"`
	Guessed   bool   `json:"guessed"`
	Faulted   bool   `json:"faulted"`
	Inlined   bool   `json:"inlined"`
	Signature string `json:"signature"`
	Method    string `json:"method"`
	Source    *struct {
		Start int64    `json:"start_line"`
		Lines []string `json:"lines"`
	} `json:"source"`
	Raw *struct {
		Function string `json:"function"`
		Address  string `json:"address"`
		File     string `json:"file"`
		Line     int64  `json:"line"`
	} `json:"raw"`
	Symbols      *served `json:"symbols"`
	Alternatives [][]struct {
		Function string `json:"function"`
		File     string `json:"file"`
		Line     int64  `json:"line"`
	} `json:"alternatives"`
	MissingIndex *int     `json:"missing_index"`
	Missing      *lacking `json:"-"` // that of MissingIndex
	Own          *bool    `json:"own"`
	Class        string   `json:"-"` // own or library, and fault
	Kept         bool     `json:"-"` // counts for the group's key
}

// Place is where the frame is: file, line and column.
func (f *stackFrame) Place() string { return place(f.File, f.Line, f.Column) }

func place(file string, line, column int64) string {
	var b strings.Builder
	b.WriteString(file)
	for _, n := range []int64{line, column} {
		if n < 1 {
			break
		}
		b.WriteString(":" + strconv.FormatInt(n, 10))
	}
	return strings.TrimPrefix(b.String(), ":")
}

// Was is the frame as it came, where symbols changed it.
func (f *stackFrame) Was() string {
	if f.Raw == nil {
		return ""
	}
	return strings.TrimSpace(cmp.Or(f.Raw.Function, f.Raw.Address) + " " + place(f.Raw.File, f.Raw.Line, 0))
}

// codeLine is a line of the source; Here marks that of the frame.
type codeLine struct {
	Number int64
	Text   string
	Here   bool
}

// Code are the lines around the frame.
func (f *stackFrame) Code() (lines []codeLine) {
	if f.Source == nil {
		return nil
	}
	for i, text := range f.Source.Lines {
		n := f.Source.Start + int64(i)
		lines = append(lines, codeLine{n, text, n == f.Line})
	}
	return lines
}

const (
	// shownThreads, shownMain and shownFrames keep a page below a megabyte: who wants more
	// asks for all, which the api bounds.
	shownThreads = 100
	shownMain    = 300
	shownFrames  = 50
)

// threads are those of a report as the page shows them.
type threads struct {
	List []thread
	Cut  int // threads that are left out
	More bool
}

// threadsOf puts the thread that failed first, and marks its frames by what the explanation
// of the key says of them: those of the system and of packages are a library's.
func threadsOf(list []thread, explained []explainedFrame, all bool) threads {
	slices.SortStableFunc(list, func(a, b thread) int { return cmp.Compare(rank(a), rank(b)) })
	out := threads{List: list}
	if !all && len(list) > shownThreads {
		out.List, out.Cut, out.More = list[:shownThreads], len(list)-shownThreads, true
	}
	for i := range out.List {
		t := &out.List[i]
		most := shownFrames
		if t.Main {
			classify(t, explained)
			most = shownMain
		}
		if !all && len(t.Frames) > most {
			t.Cut, t.Frames, out.More = len(t.Frames)-most, t.Frames[:most], true
		}
	}
	return out
}

func rank(t thread) int {
	switch {
	case t.Main:
		return 0
	case t.Fault:
		return 1
	}
	return 2
}

// classify marks the frames as the program's own or a library's, as the api says, and finds
// those that count in the explanation, which has them in the order of the stack and leaves
// some of a deep one out.
func classify(t *thread, explained []explainedFrame) {
	at, kept := 0, false
	for i := range t.Frames {
		f := &t.Frames[i]
		if f.Faulted {
			f.Class = "fault "
		}
		if f.Own != nil && *f.Own {
			f.Class += "own"
		} else if f.Own != nil {
			f.Class += "library"
		}
		ahead := slices.IndexFunc(explained[at:], func(e explainedFrame) bool { return e.Function == f.Function })
		if ahead < 0 {
			continue
		}
		f.Kept = explained[at+ahead].Kept
		at += ahead + 1
		// The first frame that counts is where the error is, unless the client says it.
		if f.Kept && !kept && !f.Faulted {
			f.Class = "fault " + f.Class
		}
		kept = kept || f.Kept
	}
}
