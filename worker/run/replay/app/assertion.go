package app

import (
	"context"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// Assert waits until an assertion is true; its matchers are those that every app
// has.
func (n Action) Assert(ctx context.Context, a step.Args) error {
	if a.Matcher != nil && a.Matcher.Name == step.AppStateIs {
		return n.nativeFailure(n.device().Assert(ctx, a.Matcher, a.Not))
	}
	r, err := assertion.NewRule(a, n.Quote)
	if err != nil {
		return err
	}
	switch r.Matcher {
	case step.Visible, step.Hidden, step.TextIs, step.Count, step.Enabled, step.Checked, step.Focused, step.ValueIs, step.AttributeIs:
	default:
		return failure.Stepf("the matcher %s is not available in native apps", n.Quote(r.Matcher, 60))
	}
	return n.Until(ctx, nativePoll, func() (bool, *failure.Failure, error) {
		got, match, err := n.observe(ctx, r, a.Selector)
		switch {
		case err != nil:
			return false, nil, err
		case match.several != nil && r.Matcher != step.Count:
			return false, match.several, nil
		case r.IsTrueFor(got):
			if r.Matcher != step.Count {
				n.NoteFirst(match.count)
			}
			return true, nil, nil
		}
		subject := n.ShowSelector(page.SelectorOf(a.Selector))
		return false, failure.Newf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, r.Expected(), r.Describe(got)).
			Expecting(subject+" "+r.Expected(), r.Describe(got), nil), nil
	})
}

// observe returns what an assertion compares, nil when there is no such element, and
// what the selector finds.
func (n Action) observe(ctx context.Context, r *assertion.Rule, s *step.Selector) (*assertion.Seen, nativeMatch, error) {
	match, err := n.find(ctx, s)
	switch {
	case err != nil:
		return nil, match, err
	case r.Matcher == step.Count:
		return &assertion.Seen{Count: match.count}, match, nil
	case match.element == "":
		return nil, match, nil
	}
	got := &assertion.Seen{Is: match.displayed}
	err = n.observeMember(ctx, r, match.element, got)
	if gone(err) {
		return nil, match, nil
	}
	if err != nil {
		return nil, match, err
	}
	return got, match, nil
}

// observeMember sets what the matcher compares, other than whether the element is
// displayed.
func (n Action) observeMember(ctx context.Context, r *assertion.Rule, e webdriver.Element, got *assertion.Seen) error {
	var text string
	has := true
	var err error
	switch r.Matcher {
	case step.Enabled:
		got.Is, err = n.app().Enabled(ctx, e)
		return err
	case step.Checked:
		got.Is, err = n.checked(ctx, e)
		return err
	case step.Focused:
		text, _, err = n.app().Attribute(ctx, e, "focused")
		got.Is = text == "true" || text == "1"
		return err
	case step.TextIs:
		text, err = n.Driver.Text(ctx, e)
		text = page.CollapseSpaces(failure.Bounded(text, assertion.MaxSeen))
	case step.ValueIs:
		got.Secret = n.conceals(ctx, e)
		text, has, err = n.value(ctx, e)
	case step.AttributeIs:
		text, has, err = n.app().Attribute(ctx, e, r.Attribute)
	default:
		return nil
	}
	if err == nil && has {
		text = failure.Bounded(text, assertion.MaxSeen)
		got.Text = &text
	}
	return err
}

func (n Action) app() webdriver.App { return webdriver.App{Session: n.Driver} }

// android reports whether the app is one of Android.
func (n Action) android() bool {
	platform, _ := n.Driver.Capabilities["platformName"].(string)
	return strings.EqualFold(platform, "android")
}

// checked reports whether a switch is on: XCUITest has that as its value.
func (n Action) checked(ctx context.Context, e webdriver.Element) (bool, error) {
	name := "value"
	if n.android() {
		name = "checked"
	}
	value, _, err := n.app().Attribute(ctx, e, name)
	return value == "true" || value == "1", err
}

// value returns what a field holds. Where Android shows a hint in an empty field, the
// text is that.
func (n Action) value(ctx context.Context, e webdriver.Element) (string, bool, error) {
	if n.android() {
		text, err := n.Driver.Text(ctx, e)
		if err != nil {
			return "", false, err
		}
		if hint, ok, err := n.app().Attribute(ctx, e, "hint"); err == nil && ok && hint == text {
			return "", true, nil
		}
		return text, true, nil
	}
	value, ok, err := n.app().Attribute(ctx, e, "value")
	if err != nil || !ok {
		return "", true, err
	}
	if hint, ok, err := n.app().Attribute(ctx, e, "placeholderValue"); err == nil && ok && hint == value {
		return "", true, nil
	}
	return value, true, nil
}

// conceals reports whether an element is a field for a password.
func (n Action) conceals(ctx context.Context, e webdriver.Element) bool {
	name, secret := "type", "XCUIElementTypeSecureTextField"
	if n.android() {
		name, secret = "password", "true"
	}
	value, _, err := n.app().Attribute(ctx, e, name)
	return err == nil && value == secret
}
