package plan_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// prices is a table of things with what they cost.
func prices(role string, rows ...string) []snapshot.Node {
	list := []snapshot.Node{{Ref: "table", Parent: -1, Tag: "table", Role: "table"}, {Ref: "head", Parent: 0, Tag: "tr", Role: "row"},
		{Ref: "h1", Parent: 1, Tag: "th", Role: "columnheader", Name: "Name", Box: [4]int{10, 20, 150, 20}},
		{Ref: "h2", Parent: 1, Tag: "th", Role: "columnheader", Name: "Price", Box: [4]int{160, 20, 150, 20}}}
	for i, row := range rows {
		name, price, _ := strings.Cut(row, "|")
		tr := len(list)
		y := 60 + 30*i
		list = append(list, snapshot.Node{Ref: "row " + name, Parent: 0, Tag: "tr", Role: role, Box: [4]int{10, y, 300, 20}},
			snapshot.Node{Ref: "name " + name, Parent: tr, Tag: "td", Role: "cell", Name: name, Box: [4]int{10, y, 150, 20}},
			snapshot.Node{Ref: "price " + name, Parent: tr, Tag: "td", Role: "cell", Name: price, Box: [4]int{160, y, 150, 20}})
	}
	return list
}

func asserted(out *plan.Outcome) string {
	var list []string
	for _, s := range out.Steps {
		if s.Tool.Type != step.Assert {
			continue
		}
		a := s.Tool.Args
		text := ""
		if a.Selector != nil {
			text = a.Selector.Value
			if a.Selector.Has != nil {
				text += " with " + a.Selector.Has.Value
			}
			if a.Selector.Index != nil {
				text += fmt.Sprintf(" #%d", *a.Selector.Index)
			}
		}
		list = append(list, text+" "+a.Matcher.Name+" "+a.Matcher.Args.Value)
	}
	return strings.Join(list, "; ")
}

// TestWhatIsAskedIsAsserted holds each claim about a list to steps that compare it.
func TestWhatIsAskedIsAsserted(t *testing.T) {
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("Item %c%c|%d", 'A'+i/26, 'a'+i%26, i+1))
	}
	things := []string{"Bolt|3", "Anvil|20", "Chain|45"}
	for _, c := range []struct {
		text string
		rows []string
		want string // "" is an error
	}{
		{"Check that the price is sorted", things, `table text (?is)Bolt.*?Anvil.*?Chain`},
		{"Check that Bolt comes before Chain", things, `table text (?is)Bolt.*?Chain`},
		{"Check that there are 3 rows", things, "row with cell count 3"},
		{"Check that Chain is last", things, "row with cell #-1 text Chain"},
		{"Check that Anvil is not last", things, "row with cell #-1 text Anvil"},
		{"Check that Anvil is second", things, "row with cell #1 text Anvil"},
		{"Check that Item Bd is last", many, "row with cell #-1 text Item Bd"},
		{"Check that the price is sorted", []string{"Bolt|3", "Bolt|20", "Bolt|45"}, ""}, // the names say no order
	} {
		t.Run(c.text, func(t *testing.T) {
			s := &scene{lang: "en", nodes: func() []snapshot.Node { return prices("row", c.rows...) }}
			out, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: c.text, NoSuggestion: true})
			if c.want == "" {
				var not *plan.NotUnderstoodError
				if !errors.As(err, &not) || len(out.Steps) > 0 {
					t.Errorf("%v: %s", err, asserted(out))
				}
				return
			}
			got := strings.ReplaceAll(asserted(out), step.TextIs, "text")
			if err != nil || got != c.want {
				t.Errorf("got %s, want %s: %v", got, c.want, err)
			}
		})
	}
}

// TestAnOrderOfManyIsWhole holds the order of a long list to patterns that overlap and leave out none.
func TestAnOrderOfManyIsWhole(t *testing.T) {
	var rows []string
	for i := range 60 {
		rows = append(rows, fmt.Sprintf("A thing that is called %c%c|%d", 'A'+i/26, 'a'+i%26, i+1))
	}
	s := &scene{lang: "en", nodes: func() []snapshot.Node { return prices("row", rows...) }}
	out, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: "Check that the price is sorted", NoSuggestion: true})
	if err != nil || len(out.Steps) < 2 {
		t.Fatalf("%d steps: %v", len(out.Steps), err)
	}
	var texts []string
	for _, row := range rows {
		texts = append(texts, strings.Split(row, "|")[0])
	}
	for i := 1; i < len(texts); i++ {
		swapped := append([]string{}, texts...)
		swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
		all := true
		for _, st := range out.Steps {
			all = all && regexp.MustCompile(st.Tool.Args.Matcher.Args.Value).MatchString(strings.Join(swapped, " "))
		}
		if all {
			t.Errorf("passes with number %d before number %d", i+1, i)
		}
	}
}

// TestTheFocusIsAsserted holds a claim about the focus to the matcher of its own.
func TestTheFocusIsAsserted(t *testing.T) {
	t.Parallel()
	s := &scene{lang: "en", nodes: func() []snapshot.Node {
		name := typable("name", "Name", "")
		name.Focused = true
		return []snapshot.Node{name, typable("town", "Town", "")}
	}}
	out, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: "Check that the field Name is focused", NoSuggestion: true})
	if err != nil || asserted(out) != "name focused " {
		t.Fatalf("%q: %v", asserted(out), err)
	}
}

// TestATextWaitsAsLongAsItSays holds what is waited for to its time, on a page that is at rest.
func TestATextWaitsAsLongAsItSays(t *testing.T) {
	for _, c := range []struct {
		name   string
		effect intent.Effect
		within time.Duration
		after  time.Duration
		ok     bool
	}{
		{"wait", intent.Wait, 0, 1800 * time.Millisecond, true},
		{"within", intent.Check, 3 * time.Second, 1800 * time.Millisecond, true},
		{"too late", intent.Check, time.Second, 4 * time.Second, false},
		{"check", intent.Check, 0, 1800 * time.Millisecond, false}, // nothing was done that it could come of
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			s := &scene{lang: "en", nodes: func() []snapshot.Node {
				list := []snapshot.Node{node(-1, "p", "text", "Loading")}
				if time.Since(begun) > c.after {
					list = append(list, node(-1, "p", "text", "Ready"))
				}
				return list
			}}
			text := intent.Read(`Check that "Ready" is shown`)
			text.Readings[0].Goals[0].Effect, text.Readings[0].Goals[0].Within = c.effect, c.within
			_, err := plan.Run(t.Context(), plan.Config{Page: s, Text: &text, NoSuggestion: true})
			if (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
}

// TestTrivialIsWhatHeldAtFirst holds trivial to the page before anything was done, and not to that
// before the last deed.
func TestTrivialIsWhatHeldAtFirst(t *testing.T) {
	for _, c := range []struct {
		text    string
		trivial bool
	}{
		{`Press Save. Press Help. Check that "Saved" is shown.`, false},
		{`Press Save. Press Help. Check that "Notes" is shown.`, true},
		{`Check that "Notes" is shown.`, false}, // there is no deed that it could be the effect of
	} {
		var did []string
		s := &scene{lang: "en", on: func(tool, ref, _ string) {
			if tool == step.Click {
				did = append(did, ref)
			}
		}}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{node(-1, "p", "text", "Notes"), pressable("save", "button", "Save"), pressable("help", "button", "Help")}
			for i, text := range []string{"Saved", "Manual"} {
				if len(did) > i {
					list = append(list, node(-1, "p", "text", text))
				}
			}
			return list
		}
		out, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: c.text, NoSuggestion: true})
		if err != nil || (len(out.Trivial) > 0) != c.trivial {
			t.Errorf("%s: trivial %q, %v", c.text, out.Trivial, err)
		}
	}
}
