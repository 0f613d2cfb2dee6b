package plan_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestRunCopies(t *testing.T) {
	area := func(name, text string) snapshot.Node {
		n := node(-1, "textarea", "textbox", name)
		n.Ref, n.Label, n.Value = "area "+name, name, text
		return n
	}
	field := func(name string) snapshot.Node {
		n := node(-1, "input", "textbox", name)
		n.Ref, n.Label = "field "+name, name
		return n
	}
	text := func(text string) snapshot.Node {
		return snapshot.Node{Parent: -1, Tag: "p", Ref: "p " + text, Text: text}
	}
	cases := []struct {
		text  string
		nodes []snapshot.Node
		did   string // "" is refused
	}{
		{"Copy the text of the text area into the Answer field", []snapshot.Node{area("Draft", "typed"), field("Answer")},
			"save area Draft, input_text field Answer"},
		{"Copy the text in the textarea, paste it into the text input", []snapshot.Node{area("Draft", "typed"), field("Answer")},
			"save area Draft, input_text field Answer"},
		{"Copy the text of the second text area into the Answer field", []snapshot.Node{area("A", "other"), area("B", "typed"),
			field("Answer")}, "save area B, input_text field Answer"},
		{"Copie la valeur de Draft et colle-la dans le champ Answer.", []snapshot.Node{area("Draft", "typed"), field("Answer")},
			"save area Draft, input_text field Answer"},
		{"Copy the order number into the Answer field", []snapshot.Node{text("Order number: typed"), field("Answer")},
			"save p Order number: typed, input_text field Answer"},
		{"Copy the text of the text area into the Answer field", []snapshot.Node{area("A", "other"), area("B", "typed"), field("Answer")}, ""},
		{"Copy the text of the text area into the Answer field", []snapshot.Node{area("Draft", ""), field("Answer")}, ""},
		{"Copy the order number into the Answer field", []snapshot.Node{text("No orders yet"), field("Answer")}, ""},
		{"Paste it into the Answer field", []snapshot.Node{area("Draft", "typed"), field("Answer")}, ""},
		{"Kopiere Draft nach Answer und füge es in das Feld Other ein", []snapshot.Node{area("Draft", "typed"), field("Answer")}, ""},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			s := &still{nodes: c.nodes}
			out, err := plan.Run(context.Background(), plan.Config{Page: s, Intent: c.text, NoSuggestion: true})
			if c.did == "" {
				if err == nil {
					t.Fatalf("did %v, want a refusal", s.did)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.did, ", "); got != c.did {
				t.Fatalf("did %q, want %q", got, c.did)
			}
			last := out.Steps[len(out.Steps)-1]
			if last.Tool.Args.Text == nil || *last.Tool.Args.Text != intent.SavedText("copied") {
				t.Errorf("the field is given %v, want what was saved", last.Tool.Args)
			}
			if first := out.Steps[0]; !slices.Contains([]string{"value", "text"}, first.Tool.Args.From) || first.Tool.Args.Name != "copied" {
				t.Errorf("saved %+v", first.Tool.Args)
			}
		})
	}
}
