package plan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// still is a page of nodes on which a press changes nothing but the log of the presses.
type still struct {
	nodes []snapshot.Node
	did   []string
}

func (s *still) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	nodes := slices.Clone(s.nodes)
	for i := range nodes {
		n := &nodes[i]
		if n.Ref == "" {
			n.Ref = n.Tag + " " + n.Name
		}
		n.Box = [4]int{10, 10 + 40*i, 300, 20}
		if n.Text == "" && n.Role != "textbox" {
			n.Text = n.Name
		}
		if slices.Contains(s.did, step.InputText+" "+n.Ref) && !n.Password {
			n.Value = "typed"
		}
	}
	return &snapshot.Snapshot{URL: "http://page/", Title: "Page", Lang: "en", Quiet: true, Width: 1000, Height: 800, Nodes: nodes}, nil
}

func (s *still) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (s *still) Do(_ context.Context, st step.Step) (playback.Record, error) {
	ref := ""
	if st.Tool.Args.Selector != nil {
		ref = st.Tool.Args.Selector.Value
	}
	s.did = append(s.did, strings.TrimSpace(st.Tool.Type+" "+ref))
	return playback.Record{StepID: st.ID, Tool: st.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}, nil
}

func node(parent int, tag, role, name string) snapshot.Node {
	return snapshot.Node{Parent: parent, Tag: tag, Role: role, Name: name, Interactive: role == "button" ||
		role == "textbox", Editable: role == "textbox", HasValue: role == "textbox"}
}

func TestRunDoesOnlyWhatIsSaid(t *testing.T) {
	button := func(name string) snapshot.Node { return node(-1, "button", "button", name) }
	password := node(-1, "input", "textbox", "Password")
	password.Password, password.Type, password.Label = true, "password", "Password"
	section := func(at int, title string) []snapshot.Node {
		return []snapshot.Node{{Parent: -1, Tag: "section", Role: "region", Name: title},
			{Parent: at, Tag: "h2", Role: "heading", Level: 2, Name: title},
			{Parent: at, Tag: "button", Role: "button", Name: "Save", Ref: "save " + title, Interactive: true}}
	}
	frame := []snapshot.Node{{Parent: -1, Tag: "input", Role: "textbox", Name: "Name", Label: "Name", Ref: "outer",
		Interactive: true, Editable: true, HasValue: true},
		{Parent: -1, Tag: "iframe", Name: "Payment"},
		{Parent: 1, Tag: "input", Role: "textbox", Name: "Name", Label: "Name", Ref: "inner", Interactive: true,
			Editable: true, HasValue: true, Frame: []string{"iframe"}},
		{Parent: 1, Tag: "button", Role: "button", Name: "Pay", Interactive: true, Frame: []string{"iframe"}}}
	icon := func(hint string) snapshot.Node {
		return snapshot.Node{Parent: -1, Tag: "i", Ref: hint, Role: "button", Interactive: true, Hints: []string{"fa", hint}}
	}
	red := snapshot.Node{Parent: -1, Tag: "div", Ref: "red", Reacts: "click", Interactive: true, Style: map[string]string{"background": "red"}}
	blue := snapshot.Node{Parent: -1, Tag: "div", Ref: "blue", Reacts: "click", Interactive: true,
		Style: map[string]string{"background": "blue"}}
	mail := snapshot.Node{Parent: -1, Tag: "input", Type: "checkbox", Role: "checkbox", Name: "Mail", Label: "Mail",
		Interactive: true, Checked: "false", Ref: "mail"}
	cases := []struct {
		text  string
		nodes []snapshot.Node
		did   string // "" is refused, and nothing is pressed
	}{
		{"Click the print icon", []snapshot.Node{node(-1, "div", "text", "Click the print icon."), button("Close")}, ""},
		{"Press the account", []snapshot.Node{button("Delete account"), button("Help")}, ""},
		{"Press Delete account", []snapshot.Node{button("Delete account"), button("Help")}, "click button Delete account"},
		{"Press Help but do not press Help", []snapshot.Node{button("Delete account"), button("Help")}, ""},
		{"Star the salt and pepper", []snapshot.Node{button("Star salt"), button("Help")}, ""},
		{"Double-click Help", []snapshot.Node{button("Delete account"), button("Help")}, "double_click button Help"},
		{"If the gauge is red, press Help", []snapshot.Node{button("Help")}, ""},
		{"Enter k3 as the password", []snapshot.Node{password, button("Help")}, "input_text input Password"},
		{"In the Billing section, press Save", append(section(0, "Shipping"), section(3, "Billing")...), "click save Billing"},
		{"Set the language of the page", []snapshot.Node{node(-1, "input", "textbox", "Workspace name"), button("Help")}, ""},
		{"In the frame Payment enter typed as the name", frame, "input_text inner"},
		{`Check "Mail" and leave "Mail" unchecked.`, []snapshot.Node{mail, button("Help")}, ""},
		{"Press Help. Do not press Help.", []snapshot.Node{button("Help")}, ""},
		{"Click the trash icon", []snapshot.Node{icon("pencil"), icon("trash")}, "click trash"},
		{"Click the printer icon", []snapshot.Node{icon("pencil"), icon("trash")}, ""},
		{`Click the icon with the tooltip "Trash"`, []snapshot.Node{icon("pencil"), icon("trash")}, "click trash"},
		{"Click the red box", []snapshot.Node{blue, red}, "click red"},
		{"Click the green box", []snapshot.Node{blue, red}, ""},
		{"In the Returns section, press Save", append(section(0, "Shipping"), section(3, "Billing")...), ""},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			s := &still{nodes: c.nodes}
			_, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: c.text, NoSuggestion: true})
			t.Log(s.did, err)
			var not *plan.NotUnderstoodError
			if c.did == "" && !errors.As(err, &not) {
				t.Errorf("error %v", err)
			}
			if c.did != "" && err != nil {
				t.Error(err)
			}
			presses := slices.DeleteFunc(slices.Clone(s.did), func(d string) bool {
				return !strings.Contains(d, "click") && !strings.HasPrefix(d, step.InputText)
			})
			if got := strings.Join(presses, ","); got != c.did {
				t.Errorf("did %q, want %q", got, c.did)
			}
		})
	}
}
