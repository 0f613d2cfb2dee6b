package refine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/refine"
)

func planOf(t *testing.T, steps []step.Step, text, sentence string) *refine.Plan {
	t.Helper()
	p, err := refine.New(refine.Request{Steps: steps, Intent: text, Sentence: sentence})
	require.NoError(t, err)
	return p
}

// An edited step has the new value and the old selector; the base is not touched.
func TestEdits(t *testing.T) {
	t.Parallel()
	steps, text := shop()
	p := planOf(t, steps, text, `Change the quantity to "3", replace Germany with France and use bob instead of ann`)
	require.Equal(t, []int{0, 4, 6}, p.Edited)
	require.Equal(t, "bob", *p.Steps[0].Tool.Args.Text)
	require.Equal(t, "3", *p.Steps[4].Tool.Args.Text)
	require.Equal(t, "France", *p.Steps[6].Tool.Args.OptionValue)
	require.Equal(t, "ann@web.com", *p.Steps[7].Tool.Args.Text, "an address is no name")
	require.Equal(t, steps[4].Tool.Args.Selector, p.Steps[4].Tool.Args.Selector)
	require.Equal(t, "2", *steps[4].Tool.Args.Text)

	require.Equal(t, 11, p.Suggested)
	require.True(t, p.Asserted)
	p = planOf(t, steps, text, "choose Blue instead of Red")
	require.Equal(t, "1 lamp, Blue", p.Steps[11].Tool.Args.Matcher.Args.Value)
	require.Equal(t, "select Blue", p.Segments[1].Write.Source)
	require.NotEmpty(t, p.Segments[1].Write.Readings)
	p = planOf(t, steps, text, "no longer verify the heading")
	require.False(t, p.Asserted)
}

// A test that was imported has no intent: its selectors are edited.
func TestEditsSelectors(t *testing.T) {
	t.Parallel()
	steps, _ := shop()
	p := planOf(t, steps, "", "Instead of the lamp, add the chair to the cart")
	require.Equal(t, "0 1 2 3! 4 5 6 7 8 9 10 11! 12", outline(p))
	s := p.Steps[3].Tool.Args.Selector
	require.Equal(t, "Chair", s.Within.HasText)
	require.Equal(t, "Add to cart", s.Name)
	require.Nil(t, s.Fingerprint, "it describes the other element")
	require.NotNil(t, steps[3].Tool.Args.Selector.Fingerprint)
	require.Equal(t, "Lamp", steps[3].Tool.Args.Selector.Within.HasText)

	// What is in a frame is edited there, and what only its fingerprint names is written
	// anew.
	inner := step.Tool{Type: step.InputText, Args: step.Args{Selector: role("textbox", "Card"), Text: new(string("4242"))}}
	css := &step.Selector{Type: step.CSS, Value: "#x1", Fingerprint: &step.Fingerprint{Tag: "div", Role: "option", Name: "Visa"}}
	base := []step.Step{
		{ID: "a", Tool: step.Tool{Type: step.InFrame, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#pay"}, Tool: &inner}}},
		act("b", step.Click, css),
	}
	p = planOf(t, base, "", "Use 4111 as the card instead. Choose Mastercard instead of Visa.")
	require.Equal(t, "0! <press option \"Mastercard\">[1]", outline(p))
	require.Equal(t, "4111", *p.Steps[0].Tool.Args.Tool.Args.Text)
	require.Equal(t, "4242", *inner.Args.Text)
}

// What took several steps is written anew as a whole: the days of a date picker, the
// suggestions of a field.
func TestRewritesInstructions(t *testing.T) {
	t.Parallel()
	base := []step.Step{
		act("s1", step.Click, role("textbox", "Departure date")),
		act("s2", step.Click, role("button", "Next month")),
		act("s3", step.Click, role("gridcell", "12")),
		typed("s4", role("combobox", "Destination"), "Rome"),
		act("s5", step.Click, role("option", "Rome, Italy")),
		act("s6", step.Click, role("button", "Search")),
	}
	text := "Select 12/05/2027 as the departure date. Choose Rome as the destination. Click Search."
	p := planOf(t, base, text, "Change the departure date to 13/05/2027")
	require.Equal(t, "<Select 13/05/2027 as the departure date>[0 1 2] 3 4 5", outline(p))
	require.NotEmpty(t, p.Segments[0].Write.Readings)
	p = planOf(t, base, text, "Use Oslo as the destination instead")
	require.Equal(t, "0 1 2 <Choose Oslo as the destination>[3 4] 5", outline(p))
	p = planOf(t, base, text, "Replace Rome with Oslo")
	require.Equal(t, "0 1 2 <Choose Oslo as the destination>[3 4] 5", outline(p))
}

func TestRestate(t *testing.T) {
	t.Parallel()
	steps, _ := shop()
	text, ok := refine.Restate(steps[3])
	require.True(t, ok)
	require.Equal(t, `press button "Add to cart" listitem "Lamp"`, text.Source)
	g := text.Readings[0].Goals[0]
	require.Equal(t, intent.Press, g.Effect)
	require.Equal(t, "Add to cart", g.Target[0].Words[0].Text)
	require.Equal(t, intent.Button, g.Target[0].Kind)
	require.Equal(t, "Lamp", g.Target[0].In.Words[0].Text)
	require.Equal(t, `"Lamp"`, text.Source[g.Target[0].In.Span.From:g.Target[0].In.Span.To])
	text, ok = refine.Restate(steps[4])
	require.True(t, ok)
	require.Equal(t, `set "2" spinbutton "Quantity"`, text.Source)
	require.Equal(t, "Quantity", text.Readings[0].Goals[0].Fields[0].Name.Words[0].Text)
	for _, s := range []step.Step{steps[10], steps[12], act("x", step.Click, &step.Selector{Type: step.CSS, Value: "#a"})} {
		_, ok = refine.Restate(s)
		require.False(t, ok)
	}
}

// Steps that were written in place of others keep their ids.
func TestIdentify(t *testing.T) {
	t.Parallel()
	base, _ := shop()
	ids := func(replaces []int, tools ...string) []string {
		var written []step.Step
		for _, tool := range tools {
			written = append(written, step.Step{Tool: step.Tool{Type: tool}})
		}
		refine.Segment{Replaces: replaces}.Identify(written, base)
		var list []string
		for _, s := range written {
			list = append(list, s.ID)
		}
		return list
	}
	require.Equal(t, []string{"s6"}, ids([]int{5}, step.Click))
	require.Equal(t, []string{"", "s6"}, ids([]int{5}, step.Click, step.Click))
	require.Equal(t, []string{"s1", "s2", "s3"}, ids([]int{0, 1, 2}, step.InputText, step.InputText, step.Click))
	require.Equal(t, []string{"", "s10"}, ids([]int{9}, step.Hover, step.PressKey))
	require.Equal(t, []string{""}, ids(nil, step.Click))
	require.Empty(t, ids([]int{5}))
}

// What comes from outside takes a bounded time.
func TestLargeTests(t *testing.T) {
	t.Parallel()
	var steps []step.Step
	for i := range 1000 {
		steps = append(steps, typed("", role("textbox", strings.Repeat("name of a field ", 60)), strings.Repeat("x y z ", 50+i%3)))
	}
	began := time.Now()
	for _, sentence := range []string{
		strings.Repeat(`instead of " use and before `, 700), strings.Repeat("skip and ", 2200), strings.Repeat(`"`, 20000),
		strings.Repeat("before after, ", 1400), strings.Repeat("use x as y. ", 1600), strings.Repeat("not ", 5000),
		"change the name to " + strings.Repeat("a", 19000),
	} {
		_, _ = refine.New(refine.Request{Steps: steps, Intent: strings.Repeat("Click the name of field. ", 800), Sentence: sentence})
		t.Log(len(sentence), time.Since(began))
	}
	require.Less(t, time.Since(began), 2*time.Minute)
}

func FuzzNew(f *testing.F) {
	for _, s := range []string{"instead of A, use B", "before submitting, x", `skip "`, "statt A wähle B", "change a to b, and",
		"not", "ändere nicht ‚x‘"} {
		f.Add(s)
	}
	steps, text := shop()
	f.Fuzz(func(t *testing.T, sentence string) {
		p, err := refine.New(refine.Request{Steps: steps, Intent: text, Sentence: sentence})
		if err != nil {
			return
		}
		// Each step is in the plan just once.
		seen := map[int]int{}
		for _, s := range p.Segments {
			require.True(t, len(s.Keep) > 0 != (s.Write != nil))
			for _, i := range append(append([]int{}, s.Keep...), s.Replaces...) {
				seen[i]++
			}
		}
		for _, i := range p.Removed {
			seen[i]++
		}
		for i := range steps {
			require.Equal(t, 1, seen[i])
		}
	})
}
