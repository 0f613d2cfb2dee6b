package app

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/native"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// NotInBrowsers is the failure of a tool or a matcher that only apps have.
func NotInBrowsers(t *step.Tool) *failure.Failure {
	name := t.Type
	if t.Type == step.Assert {
		name = "the matcher " + t.Args.Matcher.Name
	}
	return failure.Stepf("%s is of native apps, and the target is a browser", name)
}

// device returns the device that a step uses.
func (n Action) device() *native.Device {
	return native.New(native.Config{Session: n.Driver, Quote: n.Quote, Note: n.Note, CheckURL: n.CheckAddress,
		Show: func(s *step.Selector) string { return n.ShowSelector(page.SelectorOf(s)) },
		Find: n.look}, n.Deadline)
}

// look looks for an element, once.
func (n Action) look(ctx context.Context, s *step.Selector) (native.Found, error) {
	match, err := n.find(ctx, s)
	var refused *failure.Failure
	switch {
	case errors.As(err, &refused):
		return native.Found{Why: refused.Text, Final: true}, nil
	case err != nil:
		return native.Found{}, err
	case match.several != nil:
		return native.Found{Why: match.several.Text, Final: true}, nil
	case match.element == "":
		return native.Found{Why: n.ShowSelector(page.SelectorOf(s)) + " was not found"}, nil
	}
	return native.Found{Element: match.element, Displayed: match.displayed}, nil
}

// use does a step of native apps.
func (n Action) use(ctx context.Context, t step.Tool) error {
	if n.InView && !native.InWebView(t.Type) {
		return failure.Stepf("%s is not available in a web view: switch_context to native first", t.Type)
	}
	return n.nativeFailure(n.device().Run(ctx, t))
}

// nativeFailure returns the failure of an error of a device.
func (n Action) nativeFailure(err error) error {
	var failed *native.Failure
	if !errors.As(err, &failed) {
		return err
	}
	code := run.CodeStepFailed
	if failed.Assertion {
		code = run.CodeAssertionFailed
	}
	return failure.Newf(code, "%s", failed.Text)
}

// switchContext goes to a web view of the app, or back to the app itself. A web view may
// show only what tests may.
func (n Action) switchContext(ctx context.Context, name string) error {
	current, err := n.device().Switch(ctx, name)
	if err != nil {
		return n.nativeFailure(err)
	}
	n.InView = current != native.NativeName
	n.Framed, n.Href, n.Window, n.Windows = false, "", "", nil
	n.Note("the context is %s", n.Quote(current, 100))
	if !n.InView {
		return nil
	}
	if n.Network == nil {
		n.Network = n.NewNetwork()
	}
	var refused *webdriver.Error
	if err := n.SetTimeouts(ctx); err != nil && !errors.As(err, &refused) {
		return err
	}
	address, err := n.Driver.URL(ctx)
	if errors.As(err, &refused) {
		return failure.Stepf("the web view cannot be looked at: the driver says: %s", n.Quote(refused.Message, 200))
	}
	if err != nil {
		return err
	}
	return n.Arrived(ctx, address)
}
