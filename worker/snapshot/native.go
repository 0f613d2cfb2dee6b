package snapshot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxAppSource bounds a page source; those of crowded screens have some 300 KB.
	maxAppSource = 8 << 20
	// maxAppElements bounds the elements that are read of it, and maxAppNodes those that
	// become nodes.
	maxAppElements = 20000
	maxAppNodes    = 3000
	maxAppDepth    = 200
	maxAppText     = 300
)

// App is what the screen of a native app shows, read from the page source of Appium:
// the hierarchy of UiAutomator2, or that of XCUITest.
type App struct {
	Snapshot *Snapshot
	elements []appElement
	byRef    map[string]int
}

// appElement is an element of a page source.
type appElement struct {
	tag    string // the class
	attrs  map[string]string
	parent int
	depth  int
	end    int // the index after its last descendant
	ref    string
	box    [4]int
	ios    bool
	kind   appKind
	hidden bool // it and what is in it
}

// attributes are what is read of an element: all others are left out.
var attributes = map[string]bool{
	"text": true, "content-desc": true, "resource-id": true, "hint": true, "class": true, "bounds": true, "clickable": true,
	"long-clickable": true, "checkable": true, "checked": true, "enabled": true, "focused": true, "scrollable": true, "selected": true,
	"password": true, "displayed": true, "showing-hint": true, "heading": true, "package": true, "tooltip-text": true, "pane-title": true,
	"type": true, "name": true, "label": true, "value": true, "visible": true, "x": true, "y": true, "width": true, "height": true,
	"placeholderValue": true, "traits": true,
}

// ReadApp reads a page source. The redact function takes secrets out of its texts.
func ReadApp(source []byte, redact func(string) string) (*App, error) {
	if len(source) > maxAppSource {
		return nil, fmt.Errorf("the page source has more than %d bytes", maxAppSource)
	}
	a := &App{Snapshot: &Snapshot{Quiet: true, Windows: 1}, byRef: map[string]int{}}
	if err := a.read(source); err != nil {
		return nil, err
	}
	if len(a.elements) == 0 {
		return nil, errors.New("the page source has no elements")
	}
	a.show(redact)
	return a, nil
}

func (a *App) read(source []byte) error {
	d := xml.NewDecoder(bytes.NewReader(source))
	d.Strict = false
	d.Entity = map[string]string{}
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	type level struct {
		at   int
		path uint64
		tags map[string]int // how many of a kind there were
	}
	open := []level{{at: -1, tags: map[string]int{}}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the page source is no XML: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(a.elements) >= maxAppElements || len(open) > maxAppDepth {
				a.Snapshot.Truncated = true
				if err := d.Skip(); err != nil {
					return fmt.Errorf("the page source is no XML: %w", err)
				}
				continue
			}
			above := &open[len(open)-1]
			e := newAppElement(t)
			e.parent, e.depth = above.at, len(open)
			// A ref stands for the place in the tree: the same element has it again while
			// what comes before it among its likes stays.
			key := e.tag + "#" + e.attrs["resource-id"]
			path := pathOf(above.path, key, above.tags[key])
			above.tags[key]++
			e.ref = "a" + strconv.FormatUint(path, 36)
			a.byRef[e.ref] = len(a.elements)
			open = append(open, level{at: len(a.elements), path: path, tags: map[string]int{}})
			a.elements = append(a.elements, e)
		case xml.EndElement:
			if len(open) > 1 {
				a.elements[open[len(open)-1].at].end = len(a.elements)
				open = open[:len(open)-1]
			}
		}
	}
	for _, l := range open[1:] {
		a.elements[l.at].end = len(a.elements)
	}
	return nil
}

func pathOf(parent uint64, key string, index int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%x/%s/%d", parent, key, index)
	return h.Sum64()
}

func newAppElement(t xml.StartElement) appElement {
	e := appElement{tag: t.Name.Local, attrs: make(map[string]string, len(t.Attr))}
	for _, attr := range t.Attr {
		if attributes[attr.Name.Local] && attr.Value != "" {
			e.attrs[attr.Name.Local] = clip(attr.Value, 2000)
		}
	}
	// uiautomator's own dumps name the class in an attribute.
	if e.tag == "node" && e.attrs["class"] != "" {
		e.tag = e.attrs["class"]
	}
	e.ios = strings.HasPrefix(e.tag, "XCUIElementType") || e.attrs["type"] != "" && e.attrs["class"] == ""
	e.kind = kindOf(&e)
	e.box = e.bounds()
	e.hidden = e.attrs["displayed"] == "false" || e.attrs["visible"] == "false" || e.kind.dropped
	return e
}

// bounds returns left, top, width and height of an element.
func (e *appElement) bounds() [4]int {
	if e.ios {
		var box [4]int
		for i, name := range []string{"x", "y", "width", "height"} {
			n, _ := strconv.Atoi(e.attrs[name])
			box[i] = bound(n)
		}
		return box
	}
	var l, t, r, b int
	if n, _ := fmt.Sscanf(e.attrs["bounds"], "[%d,%d][%d,%d]", &l, &t, &r, &b); n != 4 {
		return [4]int{}
	}
	l, t, r, b = bound(l), bound(t), bound(r), bound(b)
	return [4]int{l, t, max(r-l, 0), max(b-t, 0)}
}

// bound keeps what is sent as a place within what a screen can have.
func bound(n int) int { return max(-1<<20, min(1<<20, n)) }

// show makes the nodes of the snapshot.
func (a *App) show(redact func(string) string) {
	s := a.Snapshot
	node := make([]int, len(a.elements)) // of each element; -1
	hidden := make([]bool, len(a.elements))
	for i := range a.elements {
		e := &a.elements[i]
		node[i] = -1
		parent := -1
		if e.parent >= 0 {
			hidden[i], parent = hidden[e.parent], node[e.parent]
		}
		if e.depth <= 2 {
			s.Width, s.Height = max(s.Width, e.box[0]+e.box[2]), max(s.Height, e.box[1]+e.box[3])
		}
		hidden[i] = hidden[i] || e.hidden
		if hidden[i] {
			continue
		}
		n := a.node(i)
		if !shows(&n) {
			node[i] = parent // what is in it is in what is around it
			continue
		}
		if len(s.Nodes) >= maxAppNodes {
			s.Truncated = true
			break
		}
		n.Parent = parent
		redactNode(&n, redact)
		node[i] = len(s.Nodes)
		s.Nodes = append(s.Nodes, n)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		n.InView = n.Box[0] < s.Width && n.Box[1] < s.Height && n.Box[0]+n.Box[2] > 0 && n.Box[1]+n.Box[3] > 0
	}
	for i := range a.elements[:min(len(a.elements), 3)] {
		if e := &a.elements[i]; e.tag == "XCUIElementTypeApplication" {
			s.Title = redact(clip(e.attrs["name"], maxAppText))
		}
	}
}

// shows reports whether a node means something to whoever looks at the screen.
func shows(n *Node) bool {
	return n.Interactive || n.Name != "" || n.Role != "" && n.Role != "text" && n.Role != "img" || n.Scrolls != ""
}

func redactNode(n *Node, redact func(string) string) {
	for _, text := range []*string{&n.Name, &n.Text, &n.Description, &n.Label, &n.Placeholder, &n.Title, &n.TestID,
		&n.ID, &n.NameAttr, &n.Value} {
		if *text != "" {
			*text = redact(*text)
		}
	}
	for i := range n.Hints {
		n.Hints[i] = redact(n.Hints[i])
	}
}

// clip returns at most the given number of characters of a text, with single spaces.
func clip(text string, most int) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}
