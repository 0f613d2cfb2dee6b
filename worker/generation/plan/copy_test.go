package plan_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
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

// numbered is a page whose order number is known by its text, and by where it is.
type numbered struct {
	*still
	text  string
	place *step.Selector
}

func (n *numbered) Locate(ctx context.Context, refs ...string) ([]snapshot.Located, error) {
	out, err := n.still.Locate(ctx, refs...)
	for i, ref := range refs {
		if ref == "number" {
			out[i] = snapshot.Located{Selector: step.Selector{Type: step.ByText, Value: n.text, Exact: true}, Place: n.place}
		}
	}
	return out, err
}

// TestWhatIsSavedIsNotFoundByItself holds the step that saves a text to an element that another text
// can be in: the next run has another one.
func TestWhatIsSavedIsNotFoundByItself(t *testing.T) {
	path := &step.Selector{Type: step.CSS, Value: "div:nth-of-type(2) > span:nth-last-of-type(1)"}
	id := &step.Selector{Type: step.CSS, Value: "#number"}
	section := []snapshot.Node{{Ref: "box", Parent: -1, Tag: "section", Role: "region", Name: "Order"}}
	for name, c := range map[string]struct {
		around []snapshot.Node
		place  *step.Selector
		want   string
	}{
		"a position":              {nil, path, path.Value},
		"a position in a section": {section, path, path.Value},
		"an id":                   {nil, id, id.Value},
		"nothing else":            {nil, nil, "Order number: typed"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := node(-1, "input", "textbox", "Answer")
			answer.Ref, answer.Label = "field Answer", "Answer"
			number := snapshot.Node{Parent: len(c.around) - 1, Tag: "span", Ref: "number", Text: "Order number: typed"}
			page := &numbered{still: &still{nodes: append(slices.Clone(c.around), number, answer)}, text: number.Text, place: c.place}
			out, err := plan.Run(t.Context(), plan.Config{Page: page, NoSuggestion: true,
				Intent: "Copy the order number into the Answer field"})
			if err != nil || len(out.Steps) == 0 || out.Steps[0].Tool.Type != step.Save {
				t.Fatalf("did %v: %v", page.did, err)
			}
			if got := out.Steps[0].Tool.Args.Selector; got.Value != c.want || got.Within != nil {
				t.Errorf("saved by %+v, want %q", got, c.want)
			}
		})
	}
}
