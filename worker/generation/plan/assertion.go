package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// claim is one thing that must hold of the page, as a step or a condition has it.
type claim struct {
	// on is the ref of the element, which a replay finds as Locate says; selector is
	// used where no element is meant that is there now. Neither: the page.
	on       string
	selector *step.Selector
	not      bool
	matcher  step.Matcher
	why      string
}

// How long an assertion may take to hold while the test is written: as long as a replay
// waits, and longer where the intent waits for something.
const (
	assertTime = 5 * time.Second
	waitTime   = 15 * time.Second
)

// asserter makes claims of what an intent says must hold.
type asserter struct{ *planner }

// check makes the assertion of an instruction a step that holds now.
func check(ctx context.Context, p *planner, in *intent.Instruction) error {
	if in.Assertion == nil {
		return p.notUnderstood("it does not say what must hold")
	}
	most := assertTime
	if in.Kind == intent.WaitFor {
		most = waitTime
	}
	if in.Duration > 0 {
		most = min(in.Duration, step.MaxWaitMS*time.Millisecond)
	}
	if in.Kind == intent.Assert {
		p.asserted = true
	}
	a := asserter{p}
	for _, one := range append([]intent.Assertion{*in.Assertion}, in.Assertion.Also...) {
		if err := checkOf(ctx, a, &one, most, in.Kind == intent.WaitFor || in.Duration > 0); err != nil {
			return err
		}
	}
	return nil
}

// checkOf waits until an assertion can be made of what the page shows, and executes its steps.
// Waiting is stored with them where the intent asks for it.
func checkOf(ctx context.Context, a asserter, want *intent.Assertion, most time.Duration, waits bool) error {
	var claims []claim
	var last error
	deadline := time.Now().Add(most)
	_, ok, err := a.until(ctx, most, func(v *view) bool {
		claims, last = a.claims(ctx, v, want)
		return last == nil || !retries(last)
	})
	switch {
	case err != nil:
		return err
	case !ok && last == nil:
		last = ctx.Err()
	}
	if last != nil {
		return last
	}
	for _, c := range claims {
		limit := 0
		if waits {
			limit = int(most.Milliseconds())
		}
		left := max(time.Until(deadline), time.Second)
		if err := assert(ctx, a, c, limit, left); err != nil {
			return err
		}
	}
	return nil
}

// retries reports whether an error may go away when the page has changed.
func retries(err error) bool {
	var failed *FailedError
	return isNotUnderstood(err) || errors.As(err, &failed)
}

// assert executes a claim as a step.
func assert(ctx context.Context, a asserter, c claim, limit int, _ time.Duration) error {
	matcher := c.matcher
	record, err := a.try(ctx, action{tool: step.Assert, on: c.on, why: c.why, timeoutMS: limit,
		args: step.Args{Selector: c.selector, Not: c.not, Matcher: &matcher}})
	if err != nil {
		return err
	}
	if !record.Result.Success {
		return &FailedError{Code: codeAssertion, Detail: fmt.Sprintf("%s: %s", a.understood(), record.Result.Message)}
	}
	return nil
}

// claims returns what must hold for an assertion, from what the page shows now. Its error
// is a *FailedError where the page shows something else, and a *NotUnderstoodError where
// it is not clear what is meant.
func (a asserter) claims(ctx context.Context, v *view, want *intent.Assertion) ([]claim, error) {
	if v.Dialog != nil && want.Property != intent.HasDialog {
		return nil, a.notUnderstood("a dialog of the browser is open: " + strconv.Quote(shorten(v.Dialog.Text, 100)))
	}
	switch want.Property {
	case intent.IsVisible, intent.IsHidden:
		if want.Not == (want.Property == intent.IsVisible) {
			return a.hidden(ctx, v, want)
		}
		return a.visible(ctx, v, want)
	case intent.HasURL, intent.HasTitle:
		return ofPage(ctx, a, v, want)
	case intent.HasText:
		if want.Subject == nil {
			return a.visible(ctx, v, want)
		}
		return a.text(ctx, v, want)
	case intent.HasValue:
		return a.value(ctx, v, want)
	case intent.HasCount:
		return a.count(ctx, v, want)
	case intent.HasOrder:
		return a.order(ctx, v, want)
	case intent.HasDialog:
		return dialog(a, v, want)
	}
	return a.state(ctx, v, want)
}

// ofPage claims something of the address or the title.
func ofPage(ctx context.Context, a asserter, v *view, want *intent.Assertion) ([]claim, error) {
	value, err := a.expected(ctx, v, want)
	if err != nil {
		return nil, err
	}
	name, has := step.URLIs, v.URL
	if want.Property == intent.HasTitle {
		name, has = step.TitleIs, v.Title
	}
	mode := want.Mode
	if mode == "" || name == step.URLIs && mode == step.Equals && !isAddress(value) {
		mode = step.Contains // "the URL is /cart" says a part of it
	}
	c := claim{not: want.Not, matcher: step.Matcher{Name: name, Args: step.MatcherArgs{Value: value, Mode: mode}},
		why: "the " + name + " that the intent says"}
	if !holdsText(has, value, mode, want.Not) {
		return nil, a.seen(want, name, has)
	}
	return []claim{c}, nil
}

// expected returns the first value of an assertion. One that stands on the page is read
// from it.
func (a asserter) expected(ctx context.Context, v *view, want *intent.Assertion) (string, error) {
	if len(want.Values) == 0 {
		return "", a.notUnderstood("it does not say what is expected")
	}
	return a.valueText(ctx, v, want.Values[0])
}

// valueText returns the text of a value, which may be one that the page shows.
func (a asserter) valueText(_ context.Context, v *view, value intent.Value) (string, error) {
	if value.From == nil {
		return value.Text, nil
	}
	m, err := a.subject(v, value.From)
	if err != nil {
		return "", err
	}
	text := readNamed(v, m.index, value.From)
	a.note("read", fmt.Sprintf("%s is %q now, and the test expects just that", describeNode(m.node), shorten(text, 100)))
	return text, nil
}

// readNamed returns what stands for an element that a phrase means: what is beside it where
// it is only the name of a value.
func readNamed(v *view, i int, s *intent.Phrase) string {
	if isLabel(v, i, s.Name) || len(s.Relations) == 1 && isLabel(v, i, s.Relations[0].Name) {
		if beside := valueBeside(v, i); beside >= 0 {
			i = beside
		}
	}
	return readOf(v, i)
}

// readOf returns what an element holds or shows.
func readOf(v *view, i int) string {
	n := &v.Nodes[i]
	switch {
	case len(n.Options) > 0:
		return selectedLabel(n)
	case n.HasValue && n.Editable:
		return n.Value
	}
	if text := v.shown(i); text != "" {
		return text
	}
	return n.Name
}

// seen is the failure of an assertion: what was expected, and what there is.
func (a asserter) seen(want *intent.Assertion, what, has string) error {
	return &FailedError{Code: codeAssertion, Detail: fmt.Sprintf("%s: the %s is %q", a.says(want), what, shorten(has, 200))}
}

// says is an assertion in words.
func (a asserter) says(want *intent.Assertion) string {
	if want.Text != "" {
		return "expected: " + want.Text
	}
	return a.understood()
}

// missing is the failure of an assertion whose subject the page does not have.
func (a asserter) missing(want *intent.Assertion) error {
	return &FailedError{Code: codeAssertion, Detail: a.says(want) + ": the page does not show it"}
}

// dialog claims something of the dialog of the browser that is open.
func dialog(a asserter, v *view, want *intent.Assertion) ([]claim, error) {
	if v.Dialog == nil {
		return nil, &FailedError{Code: codeAssertion, Detail: a.says(want) + ": no dialog of the browser is open"}
	}
	for _, value := range want.Values {
		mode := want.Mode
		if mode == "" {
			mode = step.Contains
		}
		if !holdsText(v.Dialog.Text, value.Text, mode, want.Not) {
			return nil, a.seen(want, "text of the dialog", v.Dialog.Text)
		}
	}
	a.note("dialog", "the dialog of the browser said "+strconv.Quote(shorten(v.Dialog.Text, 200)))
	return nil, nil
}

// conditionOf returns the condition of a step for an assertion, and whether it holds now. An
// assertion that is understood only while it holds has no condition otherwise (nil).
func conditionOf(ctx context.Context, a asserter, want *intent.Assertion) (*step.Condition, bool, error) {
	v, err := a.look(ctx)
	if err != nil {
		return nil, false, err
	}
	claims, err := a.claims(ctx, v, want)
	var failed *FailedError
	switch {
	case errors.As(err, &failed):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case len(claims) == 0:
		return nil, true, nil
	}
	c := claims[0]
	if c.on != "" {
		found, err := a.page.Locate(ctx, c.on)
		if err != nil {
			return nil, false, err
		}
		if len(found) == 0 || found[0].Selector.Type == "" || len(found[0].Frames) > 0 {
			return nil, true, nil
		}
		selector := found[0].Selector
		selector.Fingerprint = nil
		c.selector = &selector
	}
	return &step.Condition{Selector: c.selector, Not: c.not, Matcher: &c.matcher}, true, nil
}

// named reports whether a selector finds an element by what people call it.
func named(s *step.Selector) bool {
	return s.Type == step.ByRole && s.Name != "" || s.HasText != "" ||
		slices.Contains([]string{step.ByLabel, step.ByText, step.Placeholder, step.AltText, step.Title}, s.Type)
}
