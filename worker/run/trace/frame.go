package trace

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// maxKnown bounds the subtrees that a frame remembers; when there are more it forgets all,
// and what follows is written anew.
const maxKnown = 200000

// shortest is the shortest text that a reference is written for: a reference has about as
// many bytes.
const shortest = 16

// frame has the snapshots of one frame: what of them can be referred to.
type frame struct {
	snapshots int
	known     map[uint64]place
}

// place is where a subtree stands: the number of its snapshot, and its number there.
type place struct{ snapshot, node int }

// show writes the snapshots of all frames of a document.
func (r *Recorder) show(at name, doc *Document) {
	if r.snapshots++; r.snapshots > maxSnapshots {
		r.note("The trace is cut: there are too many snapshots")
		return
	}
	if doc.cut != "" {
		r.note("Snapshots are cut: " + doc.cut)
	}
	for i, t := range doc.trees {
		f := r.frames[t.frame]
		if f == nil {
			if len(r.frames) >= 20*maxFrames {
				return
			}
			f = &frame{known: map[uint64]place{}}
			r.frames[t.frame] = f
		}
		if !r.roomFor(0) {
			return
		}
		html := f.write(t.root)
		r.event(frameEvent{Type: "frame-snapshot", Snapshot: frameSnapshot{
			CallID: at.call, SnapshotName: at.String(), PageID: doc.page, FrameID: t.frame, FrameURL: t.url, Doctype: t.doctype, HTML: html,
			Viewport: viewport{doc.width, doc.height}, Timestamp: r.at(r.now()), WallTime: r.now().UnixMilli(),
			ResourceOverrides: []int{}, IsMainFrame: i == 0}})
	}
}

type frameEvent struct {
	Type     string        `json:"type"`
	Snapshot frameSnapshot `json:"snapshot"`
}

type frameSnapshot struct {
	CallID            string          `json:"callId"`
	SnapshotName      string          `json:"snapshotName"`
	PageID            string          `json:"pageId"`
	FrameID           string          `json:"frameId"`
	FrameURL          string          `json:"frameUrl"`
	Doctype           string          `json:"doctype,omitempty"`
	HTML              json.RawMessage `json:"html"`
	Viewport          viewport        `json:"viewport"`
	Timestamp         float64         `json:"timestamp"`
	WallTime          int64           `json:"wallTime"`
	CollectionTime    int             `json:"collectionTime"`
	ResourceOverrides []int           `json:"resourceOverrides"`
	IsMainFrame       bool            `json:"isMainFrame"`
}

type viewport struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// write returns a tree in the viewer's form. A node is its text, or a list of its name, its
// attributes and its children, or a reference [[back, node]]: so many snapshots of the frame
// back, that node in it, by the order in which nodes end.
func (f *frame) write(root *node) []byte {
	if len(f.known) > maxKnown {
		f.known = map[uint64]place{}
	}
	w := writer{f: f}
	w.node(root)
	f.snapshots++
	return w.out
}

type writer struct {
	f     *frame
	out   []byte
	nodes int
}

func (w *writer) node(n *node) {
	long := n.name != "" || len(n.text) >= shortest
	if at, ok := w.f.known[n.hash]; ok && long && at.snapshot < w.f.snapshots {
		w.out = append(w.out, "[["...)
		w.out = strconv.AppendInt(w.out, int64(w.f.snapshots-at.snapshot), 10)
		w.out = append(w.out, ',')
		w.out = strconv.AppendInt(w.out, int64(at.node), 10)
		w.out = append(w.out, "]]"...)
		return
	}
	if n.name == "" {
		w.out = appendText(w.out, n.text)
	} else {
		w.element(n)
	}
	if long {
		if _, ok := w.f.known[n.hash]; !ok {
			w.f.known[n.hash] = place{w.f.snapshots, w.nodes}
		}
	}
	w.nodes++
}

func (w *writer) element(n *node) {
	w.out = append(w.out, '[')
	w.out = appendText(w.out, n.name)
	if len(n.attributes) > 0 || len(n.children) > 0 {
		w.out = append(w.out, ",{"...)
		for i := 0; i+1 < len(n.attributes); i += 2 {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.out = appendText(w.out, n.attributes[i])
			w.out = append(w.out, ':')
			w.out = appendText(w.out, n.attributes[i+1])
		}
		w.out = append(w.out, '}')
	}
	for _, child := range n.children {
		w.out = append(w.out, ',')
		w.node(child)
	}
	w.out = append(w.out, ']')
}

// appendText appends a text as JSON.
func appendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(text) // a string always can be
			return append(out, quoted...)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}
