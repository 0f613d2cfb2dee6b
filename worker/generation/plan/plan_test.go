package plan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// list is a page with a list of tasks: each has a box and a button that deletes it, and below is
// a field for a new one. Deleting asks where asks is set.
type list struct {
	tasks  []string
	done   map[string]bool
	text   string
	asks   bool
	asked  string // the task that is about to be deleted
	broken bool   // the button of a task deletes the one after it
	did    []string
}

func (l *list) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Tasks", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	if l.asked != "" {
		s.Dialog = &snapshot.Dialog{Text: "Delete " + l.asked + "?"}
		return s, nil
	}
	y := 0
	add := func(parent int, n snapshot.Node) int {
		n.Parent = parent
		if n.Box == [4]int{} {
			n.Box = [4]int{10, y, 300, 20}
		}
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	add(-1, snapshot.Node{Ref: "h", Tag: "h1", Role: "heading", Level: 1, Name: "Tasks", Text: "Tasks"})
	y += 40
	ul := add(-1, snapshot.Node{Ref: "ul", Tag: "ul", Role: "list"})
	for _, t := range l.tasks {
		y += 30
		li := add(ul, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"})
		add(li, snapshot.Node{Ref: "box " + t, Tag: "input", Type: "checkbox", Role: "checkbox", Interactive: true,
			Checked: map[bool]string{true: "true", false: "false"}[l.done[t]], Box: [4]int{10, y, 20, 20}})
		add(li, snapshot.Node{Ref: "span " + t, Tag: "span", Role: "text", Name: t, Box: [4]int{40, y, 200, 20}})
		add(li, snapshot.Node{Ref: "del " + t, Tag: "button", Role: "button", Name: "Delete", Text: "Delete",
			Interactive: true, Box: [4]int{260, y, 60, 20}})
	}
	y += 60
	add(-1, snapshot.Node{Ref: "new", Tag: "input", Type: "text", Role: "textbox", Name: "New task", Label: "New task",
		Editable: true, Interactive: true, HasValue: true, Value: l.text})
	add(-1, snapshot.Node{Ref: "add", Tag: "button", Role: "button", Name: "Add", Text: "Add", Interactive: true, Box: [4]int{320, y, 60, 20}})
	add(-1, snapshot.Node{Ref: "p", Tag: "p", Role: "text", Name: fmt.Sprintf("%d tasks", len(l.tasks)), Box: [4]int{10, y + 40, 200, 20}})
	return s, nil
}

func (l *list) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (l *list) remove(t string) {
	if i := slices.Index(l.tasks, t); l.broken && i >= 0 {
		t = l.tasks[(i+1)%len(l.tasks)]
	}
	l.tasks = slices.DeleteFunc(slices.Clone(l.tasks), func(o string) bool { return o == t })
}

func (l *list) Do(_ context.Context, s step.Step) (playback.Record, error) {
	record := playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}
	ref := ""
	if s.Tool.Args.Selector != nil {
		ref = s.Tool.Args.Selector.Value
	}
	l.did = append(l.did, strings.TrimSpace(s.Tool.Type+" "+ref))
	kind, task, _ := strings.Cut(ref, " ")
	switch {
	case s.Tool.Type == step.HandleDialog:
		if s.Tool.Args.Action == "accept" {
			l.remove(l.asked)
		}
		l.asked = ""
	case s.Tool.Type == step.InputText:
		l.text = *s.Tool.Args.Text
	case s.Tool.Type == step.Click && kind == "box":
		l.done[task] = !l.done[task]
	case s.Tool.Type == step.Click && kind == "del" && l.asks:
		l.asked = task
	case s.Tool.Type == step.Click && kind == "del":
		l.remove(task)
	case s.Tool.Type == step.Click && kind == "add", s.Tool.Type == step.PressKey && s.Tool.Args.Key == "Enter":
		if l.text != "" {
			l.tasks, l.text = append(slices.Clone(l.tasks), l.text), ""
		}
	}
	return record, nil
}

func newList(tasks ...string) *list { return &list{tasks: tasks, done: map[string]bool{}} }

func run(t *testing.T, l *list, text string) (*plan.Outcome, error) {
	t.Helper()
	out, err := plan.Run(t.Context(), plan.Config{Page: l, Intent: text})
	t.Log(text, "|", l.did, "|", err)
	return out, err
}

func TestRunDoesWhatTheTextSays(t *testing.T) {
	cases := []struct {
		text string
		page *list
		want string // tasks that are left
		done string
	}{
		{"Delete Walk the dog", newList("Feed the cat", "Walk the dog", "Wash the car"), "Feed the cat,Wash the car", ""},
		{"Delete Walk the dog and confirm", &list{tasks: []string{"Feed the cat", "Walk the dog", "Wash the car"},
			asks: true, done: map[string]bool{}}, "Feed the cat,Wash the car", ""},
		{"Tick Walk the dog", newList("Feed the cat", "Walk the dog", "Wash the car"), "Feed the cat,Walk the dog,Wash the car", "Walk the dog"},
		{"Add \"Buy stamps\"", newList("Feed the cat", "Walk the dog", "Wash the car"), "Feed the cat,Walk the dog,Wash the car,Buy stamps", ""},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			out, err := run(t, c.page, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.page.tasks, ","); got != c.want {
				t.Errorf("left %s, want %s", got, c.want)
			}
			if c.done != "" && !c.page.done[c.done] {
				t.Errorf("%s is not done", c.done)
			}
			if len(out.Steps) == 0 {
				t.Error("no steps")
			}
		})
	}
}

func TestRunRefusesAndDoesNoHarm(t *testing.T) {
	for _, text := range []string{"Delete the garage", "Delete Walk", "Delete Walk the dog and the garage",
		"Never delete Walk the dog", "Before deleting Walk the dog, tick Feed the cat"} {
		t.Run(text, func(t *testing.T) {
			l := newList("Feed the cat", "Walk the dog", "Walk the cat", "Wash the car")
			_, err := run(t, l, text)
			var not *plan.NotUnderstoodError
			if !errors.As(err, &not) {
				t.Errorf("error %v", err)
			}
			if len(l.tasks) != 4 {
				t.Errorf("left %v", l.tasks)
			}
		})
	}
}

func TestWhatDestroysIsDoneOnce(t *testing.T) {
	l := newList("Feed the cat", "Walk the dog", "Wash the car")
	l.broken = true
	_, err := run(t, l, "Delete Walk the dog")
	if err == nil {
		t.Error("no error, though another task was deleted")
	}
	if len(l.tasks) != 2 {
		t.Errorf("left %v: it was tried again", l.tasks)
	}
}
