package refine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/generation/refine"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// tasks is a page with a list of tasks, a button in each that deletes it, and a field.
type tasks struct {
	list []string
	text string
}

func (p *tasks) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Tasks", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	add := func(parent int, n snapshot.Node) int {
		n.Parent, n.Box = parent, [4]int{10, 20 * len(s.Nodes), 300, 18}
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	ul := add(-1, snapshot.Node{Ref: "ul", Tag: "ul", Role: "list"})
	for _, t := range p.list {
		li := add(ul, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"})
		add(li, snapshot.Node{Ref: "span " + t, Tag: "span", Role: "text", Name: t})
		add(li, snapshot.Node{Ref: "del " + t, Tag: "button", Role: "button", Name: "Delete", Text: "Delete", Interactive: true})
	}
	add(-1, snapshot.Node{Ref: "note", Tag: "input", Type: "text", Role: "textbox", Name: "Note", Label: "Note",
		Editable: true, Interactive: true,
		HasValue: true, Value: p.text})
	return s, nil
}

func (p *tasks) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (p *tasks) Do(_ context.Context, s step.Step) (playback.Record, error) {
	ref := ""
	if s.Tool.Args.Selector != nil {
		ref = s.Tool.Args.Selector.Value
	}
	if name, ok := strings.CutPrefix(ref, "del "); ok && s.Tool.Type == step.Click {
		p.list = slices.DeleteFunc(slices.Clone(p.list), func(t string) bool { return t == name })
	}
	if ref == "note" && s.Tool.Type == step.InputText {
		p.text = *s.Tool.Args.Text
	}
	return playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}, nil
}

// What is restated of a step, and what is written for a segment, can be done by the planner.
func TestTextsCanBeWritten(t *testing.T) {
	t.Parallel()
	write := func(page *tasks, c plan.Config) []step.Step {
		c.Page, c.NoSuggestion = page, true
		out, err := plan.Run(t.Context(), c)
		require.NoError(t, err)
		return out.Steps
	}
	del := role("button", "Delete")
	del.Within = &step.Selector{Type: step.ByRole, Value: "listitem", HasText: "Walk the dog"}
	page := &tasks{list: []string{"Feed the cat", "Walk the dog", "Wash the car"}}
	text, ok := refine.Restate(act("s1", step.Click, del))
	require.True(t, ok)
	require.Len(t, write(page, plan.Config{Text: &text}), 1)
	require.Equal(t, []string{"Feed the cat", "Wash the car"}, page.list)

	text, ok = refine.Restate(typed("s2", role("textbox", "Note"), "by noon"))
	require.True(t, ok)
	require.Len(t, write(page, plan.Config{Text: &text}), 1)
	require.Equal(t, "by noon", page.text)

	p := planOf(t, []step.Step{act("s1", step.Click, del), typed("s2", role("textbox", "Note"), "by noon")},
		`Delete "Walk the dog". Enter "by noon" as the note.`, `Before entering the note, delete "Wash the car"`)
	require.Equal(t, `0 <delete "Wash the car"> 1`, outline(p))
	write(page, plan.Config{Text: p.Segments[1].Write})
	require.Equal(t, []string{"Feed the cat"}, page.list)
}
