package plan

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

var (
	outlineLine = regexp.MustCompile(`^( *)([\w:.-]+)(?: "((?:[^"\\]|\\.)*)")?(.*)$`)
	outlineAttr = regexp.MustCompile(`([\w-]+)(?:=("(?:[^"\\]|\\.)*"|\S+))?`)
	reactsByTag = map[string]bool{"div": true, "span": true, "li": true, "i": true, "svg": true, "td": true, "circle": true, "rect": true, "p": true}
)

// outline returns a snapshot that is written as an outline: two spaces for each
// level, a role or the tag of an element without one, a name, and attributes.
//
//	row
//	  cell "Ann"
//	  button "Delete" disabled box=10,20,50,20
func outline(t testing.TB, text string) *snapshot.Snapshot {
	t.Helper()
	s := &snapshot.Snapshot{URL: "http://page.test/", Quiet: true, Width: 1280, Height: 800, Windows: 1}
	var open []int
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", ""), " ")
		if line == "" {
			continue
		}
		m := outlineLine.FindStringSubmatch(line)
		require.NotNil(t, m, "outline: %q", line)
		level := len(m[1]) / 2
		require.LessOrEqual(t, level, len(open), "outline: %q", line)
		open = open[:level]
		n := snapshot.Node{Ref: fmt.Sprintf("e%d", len(s.Nodes)), Parent: -1, Role: m[2], Tag: m[2], Name: strings.ReplaceAll(m[3], `\"`, `"`), InView: true}
		if level > 0 {
			n.Parent = open[level-1]
		}
		setOutline(t, &n, m[4])
		open = append(open, len(s.Nodes))
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

func setOutline(t testing.TB, n *snapshot.Node, attributes string) {
	t.Helper()
	switch {
	case reactsByTag[n.Role]:
		n.Role = ""
	case nativeRole(n.Role):
		n.Interactive = true
	}
	switch n.Role {
	case "textbox", "searchbox", "spinbutton":
		n.Tag, n.Editable, n.HasValue = "input", true, true
	case "checkbox", "radio":
		n.Tag, n.Checked = "input", "false"
	case "text":
		n.Text = n.Name
	}
	for _, a := range outlineAttr.FindAllStringSubmatch(attributes, -1) {
		value := a[2]
		if unquoted, err := strconv.Unquote(value); err == nil {
			value = unquoted
		}
		setAttribute(t, n, a[1], value)
	}
}

func setAttribute(t testing.TB, n *snapshot.Node, name, value string) {
	t.Helper()
	texts := map[string]*string{"ref": &n.Ref, "label": &n.Label, "placeholder": &n.Placeholder, "title": &n.Title, "id": &n.ID, "testid": &n.TestID,
		"nameattr": &n.NameAttr, "href": &n.Href, "type": &n.Type, "value": &n.Value, "tag": &n.Tag, "checked": &n.Checked, "selected": &n.Selected,
		"expanded": &n.Expanded, "popup": &n.Popup, "description": &n.Description, "column": &n.ColumnHeader, "row": &n.RowHeader, "table": &n.Table,
		"text": &n.Text, "opener": &n.Opener, "scrolls": &n.Scrolls, "cover": &n.Cover, "min": &n.Min, "max": &n.Max}
	flags := map[string]*bool{"disabled": &n.Disabled, "readonly": &n.ReadOnly, "required": &n.Required, "hidden": &n.Hidden, "modal": &n.Modal,
		"focused": &n.Focused, "password": &n.Password, "editable": &n.Editable, "interactive": &n.Interactive, "covered": &n.Covered, "multiple": &n.Multiple}
	switch {
	case texts[name] != nil:
		*texts[name] = value
	case flags[name] != nil:
		*flags[name] = true
	case name == "reacts":
		n.Reacts, n.Interactive = "listener", true
	case name == "level":
		n.Level, _ = strconv.Atoi(value)
	case name == "hints":
		n.Hints = strings.Split(value, ",")
	case name == "color":
		n.Style = map[string]string{"background": value}
	case name == "offscreen":
		n.InView = false
	case name == "box":
		for i, part := range strings.Split(value, ",") {
			n.Box[i], _ = strconv.Atoi(part)
		}
	default:
		require.Fail(t, "outline: no attribute "+name)
	}
}

// fakePage is a page of outlines: each step leads to what react returns.
type fakePage struct {
	t     testing.TB
	shows *snapshot.Snapshot
	did   []string // "click e3", "input_text e4 Ann"
	looks int
	// react returns what the page shows after a step; nil: the same.
	react func(did string) *snapshot.Snapshot
	// fails returns the message of a step that fails; "": it succeeds.
	fails func(did string) string
}

func newFakePage(t testing.TB, text string) *fakePage {
	return &fakePage{t: t, shows: outline(t, text)}
}

func (f *fakePage) Snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	f.looks++
	again := *f.shows
	again.Nodes = append([]snapshot.Node(nil), f.shows.Nodes...)
	return &again, ctx.Err()
}

func (f *fakePage) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	var list []snapshot.Located
	for _, ref := range refs {
		at := snapshot.Located{}
		for i := range f.shows.Nodes {
			if n := &f.shows.Nodes[i]; n.Ref == ref {
				at.Selector = step.Selector{Type: step.CSS, Value: "#" + ref}
				for _, frame := range n.Frame {
					at.Frames = append(at.Frames, step.Selector{Type: step.CSS, Value: frame})
				}
			}
		}
		list = append(list, at)
	}
	return list, nil
}

func (f *fakePage) Do(ctx context.Context, s step.Step) (step.Record, error) {
	did := doneIn(s.Tool)
	record := step.Record{Tool: s.Tool, Status: step.Passed, Result: step.Outcome{Success: true}}
	if f.fails != nil {
		if message := f.fails(did); message != "" {
			record.Status, record.Result = step.Failed, step.Outcome{Message: message}
			return record, ctx.Err()
		}
	}
	f.did = append(f.did, did)
	if f.react != nil {
		if next := f.react(did); next != nil {
			f.shows = next
		}
	}
	f.type_(s.Tool)
	return record, ctx.Err()
}

// type_ lets a field hold what was typed into it.
func (f *fakePage) type_(tool step.Tool) {
	tool = *step.Inner(&tool)
	if tool.Args.Text == nil || tool.Args.Selector == nil {
		return
	}
	for i := range f.shows.Nodes {
		if n := &f.shows.Nodes[i]; "#"+n.Ref == tool.Args.Selector.Value && n.Editable && !n.Password {
			if tool.Type == step.TypeKeys {
				n.Value += *tool.Args.Text
			} else {
				n.Value = *tool.Args.Text
			}
		}
	}
}

// doneIn returns a step in words: its tool, the refs of its elements, and its text.
func doneIn(tool step.Tool) string {
	tool = *step.Inner(&tool)
	words := []string{tool.Type}
	for _, s := range []*step.Selector{tool.Args.Selector, tool.Args.Target} {
		if s != nil {
			words = append(words, strings.TrimPrefix(s.Value, "#"))
		}
	}
	if tool.Args.Text != nil {
		words = append(words, *tool.Args.Text)
	}
	for _, text := range []string{tool.Args.Key, tool.Args.URL, tool.Args.Direction, tool.Args.Action} {
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}
