package trace

import "fmt"

// name is one snapshot of an action.
type name struct{ call, phase string }

func (n name) String() string { return n.phase + "@" + n.call }

// The phases of an action, in which snapshots are taken.
const (
	before = "before"
	input  = "input"
	after  = "after"
)

// Point is a place in the viewport, in CSS pixels.
type Point struct{ X, Y float64 }

// Action is what a step does, as the trace shows it. Title is for people; Params are shown as
// they are.
type Action struct {
	Title  string
	Class  string // Frame, Page, Tracing
	Method string
	Parent string // the id of the action that it is a part of; "" for none
	Params map[string]string
}

// Begin begins an action and returns its id. The page as it was last seen is what it was
// before.
func (r *Recorder) Begin(a Action) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	at := name{fmt.Sprintf("call@%d", r.calls), before}
	params := map[string]string{}
	for key, value := range a.Params {
		params[key] = r.text(value)
	}
	event := map[string]any{"type": "before", "callId": at.call, "title": r.text(a.Title), "class": a.Class, "method": a.Method,
		"params": params, "startTime": r.at(r.now()), "pageId": r.page(), "beforeSnapshot": at.String()}
	if a.Parent != "" {
		event["parentId"] = a.Parent
	}
	r.event(event)
	if len(r.wanted) > 0 { // the page is being read
		r.wanted = append(r.wanted, at)
	} else if r.latest != nil {
		r.show(at, r.latest)
	}
	return at.call
}

func (r *Recorder) page() string {
	if r.latest == nil {
		return pageID(1)
	}
	return r.latest.page
}

// Log adds a line to an action.
func (r *Recorder) Log(call, text string) {
	if r == nil || call == "" || text == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bounded(map[string]any{"type": "log", "callId": call, "time": r.at(r.now()), "message": r.text(text)})
}

// Input says where an action meets the page, which the document shows; nil: the one that the
// end of the action waits for.
func (r *Recorder) Input(call string, point Point, doc *Document) {
	if r == nil || call == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := name{call, input}
	r.event(map[string]any{"type": "input", "callId": call, "point": map[string]float64{"x": point.X, "y": point.Y},
		"inputSnapshot": at.String()})
	if doc == nil {
		r.wanted = append(r.wanted, at)
		return
	}
	r.show(at, doc)
	r.latest = doc
}

// End ends an action; the error is "" where it did what it should. When looks is true a
// document follows, by Seen or Unseen, that shows the page after it.
func (r *Recorder) End(call, failure string, looks bool) {
	if r == nil || call == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := name{call, after}
	event := map[string]any{"type": "after", "callId": call, "endTime": r.at(r.now())}
	if failure != "" {
		event["error"] = map[string]string{"name": "Error", "message": r.text(failure)}
	}
	if looks {
		event["afterSnapshot"] = at.String()
		r.wanted = append(r.wanted, at)
	}
	r.event(event)
	if !looks {
		r.shown()
	}
}

// EndWhole ends an action of which others were parts. The page after it is that after the
// last of them.
func (r *Recorder) EndWhole(call, failure string) {
	if r == nil || call == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := name{call, after}
	event := map[string]any{"type": "after", "callId": call, "endTime": r.at(r.now()), "afterSnapshot": at.String()}
	if failure != "" {
		event["error"] = map[string]string{"name": "Error", "message": r.text(failure)}
	}
	r.event(event)
	if len(r.wanted) > 0 { // the page is being read
		r.wanted = append(r.wanted, at)
	} else if r.latest != nil {
		r.show(at, r.latest)
	}
}

// Seen is the page that End, and the actions that began since, wait for.
func (r *Recorder) Seen(doc *Document) {
	if r == nil || doc == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = doc
	r.shown()
}

// Unseen says that the page could not be read: what waits for it has none.
func (r *Recorder) Unseen() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = nil
}

// shown stores the latest document for those that wait for it.
func (r *Recorder) shown() {
	for _, at := range r.wanted {
		if r.latest != nil {
			r.show(at, r.latest)
		}
	}
	r.wanted = nil
}
