// Package method has the ways in which a goal may be reached on a page: for each effect class
// a short list in order of cost, made of what the page offers by role and not of what a
// library is called: a native control, an ARIA pattern, what hover, a menu, a context menu or a
// dialog reveals, an edit in place, keys, a drag.
//
// A way is a few steps on nodes of a model. It says nothing of whether it worked: that is seen
// on the page (package effect). A way that only reveals something is followed by ways inside
// of what it revealed. Nothing here waits or acts.
package method

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Act is one step on nodes of a model.
type Act struct {
	Tool string
	Node int // -1: none
	To   int // of a drag; -1
	Args step.Args
}

// Way is one way to reach a goal.
type Way struct {
	// Name says it to people: `the button "Delete" of the row`.
	Name string
	Acts []Act
	Cost float64
	// Used are words of the goal that the way itself executes: the name of the control that it
	// presses, the option that it chooses.
	Used []find.Use
	// Reveals: it only shows what the goal needs.
	Reveals bool
	// Guess: the name of what it presses has words of the goal, and not its deed.
	Guess bool
	// Risks: what it presses may delete, pay or send; it is done once.
	Risks bool
	// Once: it hands in, orders, pays, sends or deletes. Where it changed something, or the goal is of
	// those that cannot be taken back, no other one of these is tried from where it was.
	Once bool
	// Key names it on later models, so that it is not tried twice.
	Key string
}

// Task is a goal on a page, for which ways are made.
type Task struct {
	Model *page.Model
	Goal  *intent.Goal
	Lang  string
	// Target is what the goal is done to, on Model; nil where there is none, or where it is
	// behind what was opened.
	Target *find.Candidate
	// Inside is the container that an earlier way opened, in which the goal goes on, -1; News
	// are nodes that came with it.
	Inside int
	News   []int
	// Depth is how many ways led here. Pointed: the last one only pointed at the target, and what
	// stands elsewhere does not act on it.
	Depth   int
	Pointed bool
	// Marked: the targets are selected, and what stands in no record acts on them.
	Marked bool
	// Some: the list has more than the targets, so that what says all does too much.
	Some bool
	// Title is what the target was called when the goal began.
	Title string
	// Near is the field that was filled last, -1: what is handed in is its form.
	Near int
}

// Press is the click of a node.
func Press(node int) Act { return press(node) }

// press is the click of a control or other node.
func press(node int) Act { return Act{Tool: step.Click, Node: node, To: -1} }

// act is another step on a node.
func act(tool string, node int) Act { return Act{Tool: tool, Node: node, To: -1} }

// key is the press of a key, on a node or (-1) where the focus is.
func key(node int, name string) Act {
	return Act{Tool: step.PressKey, Node: node, To: -1, Args: step.Args{Key: name}}
}

// fill puts a text into a field.
func fill(node int, text string) Act {
	return Act{Tool: step.InputText, Node: node, To: -1, Args: step.Args{Text: &text}}
}

// typed types a text key by key, on a node or (-1) where the focus is.
func typed(node int, text string) Act {
	return Act{Tool: step.TypeKeys, Node: node, To: -1, Args: step.Args{Text: &text}}
}

// choose chooses an option of a native list.
func choose(node int, option string) Act {
	return Act{Tool: step.Select, Node: node, To: -1, Args: step.Args{OptionValue: &option}}
}

// way makes a way of one act and more.
func (t *Task) way(name string, cost float64, acts ...Act) Way {
	w := Way{Name: name, Cost: cost, Acts: acts}
	for _, a := range acts {
		w.Key += a.Tool + ":" + t.keyOf(a.Node) + ":" + a.Args.Key
		if a.Args.Text != nil {
			w.Key += *a.Args.Text
		}
		if a.Args.OptionValue != nil {
			w.Key += *a.Args.OptionValue
		}
		w.Key += "|"
	}
	return w
}

// keyOf names a node on later models, also on those of a fresh page, whose elements have other refs.
func (t *Task) keyOf(node int) string {
	m := t.Model
	if node < 0 || node >= len(m.Nodes) {
		return ""
	}
	n := &m.Nodes[node]
	if r := m.RecordAt(node); r >= 0 && m.Records[r].Node == node {
		return m.Records[r].Key
	}
	if c := m.ControlAt(node); c >= 0 {
		return m.Controls[c].Key
	}
	return n.Ref + "/" + n.Name
}

// DescribeNode names a node for people.
func DescribeNode(m *page.Model, node int) string {
	if node < 0 || node >= len(m.Nodes) {
		return "the page"
	}
	n := &m.Nodes[node]
	role := n.Role
	if role == "" || role == "text" {
		role = n.Tag
	}
	name := n.Name
	for i := range m.Controls {
		if m.Controls[i].Node == node && effect.ControlName(m, i) != "" {
			name = effect.ControlName(m, i)
		}
	}
	if name == "" {
		name = n.Text
	}
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return fmt.Sprintf("%s %q", role, name)
}

// maxName is how many bytes of a name people are shown.
const maxName = 80

// record returns the record of the target, -1.
func (t *Task) record() int {
	if t.Target == nil {
		return -1
	}
	return effect.RecordOf(t.Model, t.Target)
}

// scope is the node in which the goal goes on: what was opened, -1 for the page.
func (t *Task) scope() int {
	if t.Inside < 0 || t.Inside >= len(t.Model.Containers) {
		return -1
	}
	return t.Model.Containers[t.Inside].Node
}

// Types reports whether a way types a text or sets one.
func (w *Way) Types() bool {
	return slices.ContainsFunc(w.Acts, func(a Act) bool { return a.Tool == step.InputText || a.Tool == step.TypeKeys })
}

// usable reports whether a control can be used now.
func usable(m *page.Model, c *page.Control) bool {
	if c.Node < 0 || c.Node >= len(m.Nodes) {
		return false
	}
	n := &m.Nodes[c.Node]
	return !n.Disabled && c.State != "disabled"
}

// verbUse is the verb of the goal as executed by something.
func (t *Task) verbUse(by string) find.Use { return find.Use{Span: t.Goal.Verb, By: by} }
