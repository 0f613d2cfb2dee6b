package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// nativePoll is how often an app is looked at: a command takes some 50 ms there.
	nativePoll = 200 * time.Millisecond
	// maxNativeLooks is how many matches are looked at for one that is displayed: each
	// takes a command.
	maxNativeLooks = 10
)

// nativeAction is a step in a native app, which has no page: it goes element by
// element, by the commands that Appium has for apps. There is no healing.
type nativeAction struct{ *stepExecution }

func (n nativeAction) run(ctx context.Context, t step.Tool) error {
	a := t.Args
	if needsSelector(t) && a.Selector == nil {
		return stepf("the step names no element")
	}
	switch t.Type {
	case step.Click:
		return n.act(ctx, a.Selector, func(e webdriver.Element) error { return n.driver.Click(ctx, e) })
	case step.InputText:
		// For a file input of a page what is typed would be the path of a file.
		if browser, _ := n.driver.Capabilities["browserName"].(string); browser != "" {
			return stepf("the session is one of a browser and not of an app")
		}
		return n.act(ctx, a.Selector, func(e webdriver.Element) error {
			if err := n.driver.Clear(ctx, e); err != nil || text(a.Text) == "" {
				return err
			}
			return n.driver.SendKeys(ctx, e, typable(text(a.Text)))
		})
	case step.Assert:
		return n.assert(ctx, a)
	case step.Pause:
		return n.pause(ctx, a.Time)
	case step.Finish:
		return nil
	}
	return stepf("%s is not available in native apps", bounded(t.Type, 60))
}

// nativeMatch is what a selector finds in an app: how many elements, and the one that
// the step means ("" for none), with whether it is displayed.
type nativeMatch struct {
	count     int
	element   webdriver.Element
	displayed bool
}

// find looks for the element of a selector: the one of its index, else the first
// that is displayed, else the first.
func (n nativeAction) find(ctx context.Context, s *step.Selector) (nativeMatch, error) {
	using := webdriver.ByCSS
	if s.Type == step.XPath {
		using = webdriver.ByXPath
	}
	all, err := n.driver.FindAll(ctx, using, s.Value)
	if webdriver.Is(err, webdriver.ErrNoSuchElement) {
		return nativeMatch{}, nil
	}
	if err != nil {
		return nativeMatch{}, err
	}
	match := nativeMatch{count: len(all)}
	if s.Index != nil {
		if *s.Index >= len(all) {
			return match, nil
		}
		all = all[*s.Index : *s.Index+1]
	}
	for _, e := range all[:min(len(all), maxNativeLooks)] {
		displayed, err := n.driver.Displayed(ctx, e)
		if gone(err) {
			continue
		}
		if err != nil {
			return nativeMatch{}, err
		}
		if displayed {
			match.element, match.displayed = e, true
			return match, nil
		}
	}
	if len(all) > 0 {
		match.element = all[0]
	}
	return match, nil
}

// gone reports whether an element is not there any more.
func gone(err error) bool {
	return webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement)
}

// act waits until the element is displayed and does something to it.
func (n nativeAction) act(ctx context.Context, s *step.Selector, action func(webdriver.Element) error) error {
	return n.until(ctx, nativePoll, func() (bool, *failure, error) {
		match, err := n.find(ctx, s)
		switch {
		case err != nil:
			return false, nil, err
		case match.element == "":
			return false, stepf("%s was not found", n.showSelector(pageSelectorOf(s))), nil
		case !match.displayed:
			return false, stepf("%s is not visible", n.showSelector(pageSelectorOf(s))), nil
		}
		err = action(match.element)
		if missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, n.failureOf(ctx, err), nil
		}
		return err == nil, nil, err
	})
}

// assert waits until an assertion is true; its matchers are those that every app
// has.
func (n nativeAction) assert(ctx context.Context, a step.Args) error {
	r, err := newRule(a, n.quote)
	if err != nil {
		return err
	}
	switch r.matcher {
	case step.Visible, step.Hidden, step.TextIs, step.Count:
	default:
		return stepf("the matcher %s is not available in native apps", n.quote(r.matcher, 60))
	}
	return n.until(ctx, nativePoll, func() (bool, *failure, error) {
		got, err := n.observe(ctx, r, a.Selector)
		if err != nil {
			return false, nil, err
		}
		if r.isTrueFor(got) {
			return true, nil, nil
		}
		return false, failf(run.CodeAssertionFailed, "%s: expected %s; %s", n.showSelector(pageSelectorOf(a.Selector)), r.expected(), r.describe(got)), nil
	})
}

// observe returns what an assertion compares; nil when there is no such element.
func (n nativeAction) observe(ctx context.Context, r *rule, s *step.Selector) (*seen, error) {
	match, err := n.find(ctx, s)
	if err != nil {
		return nil, err
	}
	if r.matcher == step.Count {
		return &seen{Count: match.count}, nil
	}
	if match.element == "" {
		return nil, nil
	}
	got := &seen{Is: match.displayed}
	if r.matcher != step.TextIs {
		return got, nil
	}
	text, err := n.driver.Text(ctx, match.element)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text = collapseSpaces(bounded(text, maxSeen))
	got.Text = &text
	return got, nil
}
