package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// country is a page with a list to choose from that offers what begins as the text that is typed.
type country struct{ typed, chosen string }

func (c *country) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Trip", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	add := func(n snapshot.Node) {
		n.Box = [4]int{10, 30 * len(s.Nodes), 300, 24}
		s.Nodes = append(s.Nodes, n)
	}
	value := c.typed
	if c.chosen != "" {
		value = c.chosen
	}
	add(snapshot.Node{Ref: "field", Parent: -1, Tag: "input", Role: "combobox", Name: "Country", Label: "Country",
		Value: value, HasValue: true, Editable: true, Interactive: true})
	if c.typed != "" && c.chosen == "" {
		add(snapshot.Node{Ref: "list", Parent: -1, Tag: "ul", Role: "listbox", Layer: "popup"})
		for _, name := range []string{"Sweden", "Switzerland", "Syria"} {
			if strings.HasPrefix(name, c.typed) {
				add(snapshot.Node{Ref: "option " + name, Parent: 1, Tag: "li", Role: "option", Name: name, Text: name, Interactive: true})
			}
		}
	}
	return s, nil
}

func (c *country) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (c *country) Do(_ context.Context, s step.Step) (playback.Record, error) {
	if s.Tool.Args.Selector != nil {
		if name, ok := strings.CutPrefix(s.Tool.Args.Selector.Value, "option "); ok {
			c.chosen = name
		} else if s.Tool.Args.Text != nil {
			c.typed, c.chosen = *s.Tool.Args.Text, ""
		}
	}
	return playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}, nil
}

// What the text calls by two names is chosen by the one that the list has.
func TestRunChoosesByTheOtherName(t *testing.T) {
	for text, chosen := range map[string]string{
		"Wähle als Country die Schweiz (Switzerland) aus.": "Switzerland",
	} {
		page := &country{}
		fresh := func(context.Context, []step.Step) error { *page = country{}; return nil }
		_, err := plan.Run(context.Background(), plan.Config{Page: page, Intent: text, Fresh: fresh, NoSuggestion: true})
		if (err == nil) != (chosen != "") || page.chosen != chosen {
			t.Errorf("%s: chose %q, %v", text, page.chosen, err)
		}
	}
}
