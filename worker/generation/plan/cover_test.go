package plan_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
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
	read := snapshot.Node{Ref: "read", Parent: -1, Tag: "button", Role: "button", Name: "Tell more", Text: "Tell more",
		Interactive: true, Box: [4]int{10, 600, 90, 20}}
	if c.open {
		read.Covered, read.Cover = true, "text"
	}
	s.Nodes = append(s.Nodes, read)
	if c.open {
		s.Nodes = append(s.Nodes,
			snapshot.Node{Ref: "banner", Parent: -1, Tag: "div", Box: [4]int{0, 500, 1000, 300}},
			snapshot.Node{Ref: "text", Parent: 1, Tag: "p", Role: "text", Name: "This page uses cookies.",
				Text: "This page uses cookies.", Box: [4]int{0, 500, 900, 200}},
			snapshot.Node{Ref: "more", Parent: 1, Tag: "button", Role: "button", Name: "Settings", Text: "Settings",
				Interactive: true, Box: [4]int{10, 720, 80, 20}},
			snapshot.Node{Ref: "yes", Parent: 1, Tag: "button", Role: "button", Name: "Accept all", Text: "Accept all",
				Interactive: true, Box: [4]int{110, 720, 80, 20}})
	}
	if slices.Contains(c.did, "read") {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: "It goes on.",
			Text: "It goes on.", Box: [4]int{10, 700, 90, 20}})
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

func (c *covered) Do(_ context.Context, s step.Step) (playback.Record, error) {
	record := playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}
	ref := s.Tool.Args.Selector.Value
	if ref == "read" && c.open {
		record.Status, record.Result.Success = playback.Failed, false
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

// A banner with a list of languages is closed as any other; the options of a list of the page, that were
// opened, are left by the keyboard: a cross in them takes out what was chosen.
func TestWhatLiesOverAControlIsAListOnlyWhereItWasOpened(t *testing.T) {
	for _, c := range []struct {
		name, over, did string
	}{
		{"a banner with a list", "select", "click accept,click save"},
		{"a banner with a list of its own", "div", "click accept,click save"},
		{"the options of a list", "", "click lang,press_key,click save"},
	} {
		t.Run(c.name, func(t *testing.T) {
			open, saved := c.over != "", false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				save := pressable("save", "button", "Save")
				save.Box, save.Covered = [4]int{10, 10, 100, 20}, open
				lang := snapshot.Node{Ref: "lang", Parent: -1, Tag: cmp.Or(c.over, "div"), Role: "combobox", Name: "Language",
					Label: "Language", Value: "English", HasValue: true, Interactive: true}
				list := []snapshot.Node{save}
				switch {
				case c.over != "" && open:
					lang.Parent = 1
					list = append(list, snapshot.Node{Ref: "banner", Parent: -1, Tag: "div", Role: "dialog",
						Name: "We use cookies", Layer: "fixed", Box: [4]int{0, 0, 1000, 300}}, lang)
					for _, n := range []snapshot.Node{pressable("accept", "button", "Accept all"), pressable("more", "button", "Settings")} {
						n.Parent = 1
						list = append(list, n)
					}
				case c.over == "":
					lang.Parent = 1
					list = append(list, snapshot.Node{Ref: "part", Parent: -1, Tag: "div"}, lang)
					if open {
						list[0].Cover = "options"
						cross := pressable("cross", "button", "Close")
						cross.Parent = 1
						list = append(list, snapshot.Node{Ref: "options", Parent: 1, Tag: "div", Role: "listbox",
							Layer: "absolute", Box: [4]int{0, 0, 1000, 300}}, cross)
					}
				}
				if saved {
					list = append(list, snapshot.Node{Ref: "said", Parent: -1, Tag: "p", Role: "status", Name: "Saved."})
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				switch {
				case ref == "lang":
					open = true
				case ref == "accept" || tool == step.PressKey:
					open = open && tool == step.PressKey && c.over != ""
				case ref == "save" && !open:
					saved = true
				}
			}
			s.fails = func(ref string) bool { return ref == "save" && open }
			text := "Click Save."
			if c.over == "" {
				text = "Click Language. Click Save."
			}
			if err := s.run(t, text); err != nil {
				t.Fatal(err)
			}
			if did := strings.Join(s.did, ","); did != c.did || !saved {
				t.Errorf("did %s", did)
			}
		})
	}
}
