package plan_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// covered is a page whose only button lies behind a banner that asks for consent, and is named
// after what is pressed to close it.
type covered struct {
	open bool
	did  []string
}

func (c *covered) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Story", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	read := snapshot.Node{Ref: "read", Parent: -1, Tag: "button", Role: "button", Name: "Tell more", Text: "Tell more", Interactive: true, Box: [4]int{10, 600, 90, 20}}
	if c.open {
		read.Covered, read.Cover = true, "text"
	}
	s.Nodes = append(s.Nodes, read)
	if c.open {
		s.Nodes = append(s.Nodes,
			snapshot.Node{Ref: "banner", Parent: -1, Tag: "div", Box: [4]int{0, 500, 1000, 300}},
			snapshot.Node{Ref: "text", Parent: 1, Tag: "p", Role: "text", Name: "This page uses cookies.", Text: "This page uses cookies.", Box: [4]int{0, 500, 900, 200}},
			snapshot.Node{Ref: "more", Parent: 1, Tag: "button", Role: "button", Name: "Settings", Text: "Settings", Interactive: true, Box: [4]int{10, 720, 80, 20}},
			snapshot.Node{Ref: "yes", Parent: 1, Tag: "button", Role: "button", Name: "Accept all", Text: "Accept all", Interactive: true, Box: [4]int{110, 720, 80, 20}})
	}
	if slices.Contains(c.did, "read") {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: "It goes on.", Text: "It goes on.", Box: [4]int{10, 700, 90, 20}})
	}
	return s, nil
}

func (c *covered) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (c *covered) Do(_ context.Context, s step.Step) (step.Record, error) {
	record := step.Record{StepID: s.ID, Tool: s.Tool, Status: step.Passed, Result: step.Outcome{Success: true}}
	ref := s.Tool.Args.Selector.Value
	if ref == "read" && c.open {
		record.Status, record.Result.Success = step.Failed, false
		return record, nil
	}
	c.open = c.open && ref != "yes"
	c.did = append(c.did, ref)
	return record, nil
}

func TestRunClosesWhatLiesOverAControl(t *testing.T) {
	page := &covered{open: true}
	out, err := plan.Run(t.Context(), plan.Config{Page: page, Intent: "Click Tell more", NoSuggestion: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(page.did, ","); got != "yes,read" {
		t.Errorf("pressed %s", got)
	}
	if len(out.Steps) != 2 || !out.Steps[0].Optional || out.Steps[1].Optional {
		t.Errorf("steps %v", out.Steps)
	}
}
