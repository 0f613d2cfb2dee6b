package plan_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// month is a page with a calendar of one of two months; the press of a day asks for what is on it.
type month struct {
	march, dead bool
	day         string
	added       string
	typed       string
}

func (c *month) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Plan", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	s.Nodes = append(s.Nodes, snapshot.Node{Ref: "main", Parent: -1, Tag: "main", Role: "main", Box: [4]int{0, 0, 1000, 800}})
	add := func(n snapshot.Node) { n.Parent = 0; s.Nodes = append(s.Nodes, n) }
	title, days := "February 2027", 28
	if c.march {
		title, days = "March 2027", 31
	}
	add(snapshot.Node{Ref: "head", Tag: "h2", Role: "heading", Level: 2, Name: title, Text: title, Box: [4]int{40, 10, 200, 20}})
	add(snapshot.Node{Ref: "next", Tag: "button", Role: "button", Name: "Next", Text: "Next", Interactive: true, Box: [4]int{260, 10, 60, 20}})
	for i := range days {
		name := strconv.Itoa(i + 1)
		add(snapshot.Node{Ref: "day " + name, Tag: "button", Role: "button", Name: name, Text: name, Interactive: true,
			Box: [4]int{10 + 40*(i%7), 40 + 30*(i/7), 36, 26}})
	}
	if c.day != "" {
		add(snapshot.Node{Ref: "title", Tag: "input", Role: "textbox", Name: "Title", Label: "Title", Value: c.typed,
			Interactive: true, Editable: true, HasValue: true, Box: [4]int{10, 400, 200, 20}})
		add(snapshot.Node{Ref: "add", Tag: "button", Role: "button", Name: "Add event", Text: "Add event", Interactive: true,
			Box: [4]int{220, 400, 90, 20}})
	}
	if c.added != "" {
		add(snapshot.Node{Ref: "said", Tag: "p", Role: "text", Name: "The event was added: " + c.added,
			Text: "The event was added: " + c.added, Live: true, Box: [4]int{10, 440, 300, 20}})
	}
	return s, nil
}

func (c *month) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (c *month) Do(_ context.Context, s step.Step) (playback.Record, error) {
	ref := ""
	if s.Tool.Args.Selector != nil {
		ref = s.Tool.Args.Selector.Value
	}
	switch {
	case ref == "next":
		c.march = true
	case ref == "title" && s.Tool.Args.Text != nil:
		c.typed = *s.Tool.Args.Text
	case ref == "add":
		c.added, c.day, c.typed = fmt.Sprint(c.typed, " on ", c.day, " march ", c.march), "", ""
	case strings.HasPrefix(ref, "day ") && !c.dead:
		c.day = strings.TrimPrefix(ref, "day ")
	}
	return playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}, nil
}

func TestRunAddsOnADayOfTheCalendar(t *testing.T) {
	for _, c := range []struct {
		text, added string // "" is refused
		dead        bool
	}{
		{`Add an event with the title "Dentist" on March 4, 2027.`, "Dentist on 4 march true", false},
		{`Add an event with the title "Dentist" on February 27, 2027.`, "Dentist on 27 march false", false},
		{`Add an event with the title "Dentist" on February 30, 2027.`, "", false},
		{`Add an event with the title "Dentist" on March 4, 2027.`, "", true},
	} {
		page := &month{dead: c.dead}
		_, err := plan.Run(context.Background(), plan.Config{Page: page, Intent: c.text, NoSuggestion: true})
		if (err == nil) != (c.added != "") || page.added != c.added {
			t.Errorf("%s: added %q, %v", c.text, page.added, err)
		}
	}
}
