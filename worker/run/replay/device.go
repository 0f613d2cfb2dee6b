package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/native"
)

// scrollToTimeout is how long scroll_to takes where the step does not say it: twenty swipes
// of some two seconds each.
const scrollToTimeout = time.Minute

// inApp reports whether a tool works in an app, and not in a page: in a web view of an app
// the tools of pages do.
func (s *session) inApp(t step.Tool) bool {
	return s.Lease.Mobile && (!s.inView || step.IsMobile(&t) || t.Type == step.HandleDialog)
}

// inPagesAlone are the tools of pages that web views of apps do not have: they need a
// browser of its own.
var inPagesAlone = []string{step.Route, step.Unroute, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload,
	step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.SetViewport, step.UploadFile}

// wrongPlatform returns why a tool cannot work in the page that is current; nil: it can.
func (x *stepExecution) wrongPlatform(t *step.Tool) error {
	switch {
	case step.IsMobile(t):
		return notInBrowsers(t)
	case !x.inView:
	case slices.Contains(inPagesAlone, t.Type) || step.IsNetwork(t) || takesPictures(*t):
		name := t.Type
		if t.Type == step.Assert && t.Args.Matcher != nil {
			name = "the matcher " + t.Args.Matcher.Name
		}
		return stepf("%s is not available in web views of apps", bounded(name, 60))
	}
	return nil
}

func notInBrowsers(t *step.Tool) *failure {
	name := t.Type
	if t.Type == step.Assert {
		name = "the matcher " + t.Args.Matcher.Name
	}
	return stepf("%s is of native apps, and the target is a browser", name)
}

// checkPlatform ends a test at once that has a step which its target cannot do. A step that
// may be left out does not count, and in an app none that may be in a web view.
func (p preparation) checkPlatform() error {
	for i := range p.Steps {
		s := &p.Steps[i]
		switch {
		case p.Lease.Mobile && s.Tool.Type == step.SwitchContext:
			return nil
		case s.Optional || s.When != nil:
		case !p.Lease.Mobile && step.IsMobile(&s.Tool):
			return notInBrowsers(&s.Tool)
		case p.Lease.Mobile && step.IsWeb(&s.Tool):
			return unavailable(s.Tool.Type)
		}
	}
	return nil
}

// device returns the device that a step uses.
func (n nativeAction) device() *native.Device {
	return native.New(native.Config{Session: n.driver, Quote: n.quote, Note: n.note, CheckURL: n.checkAddress,
		Show: func(s *step.Selector) string { return n.showSelector(pageSelectorOf(s)) },
		Find: n.look}, n.deadline)
}

// look looks for an element, once.
func (n nativeAction) look(ctx context.Context, s *step.Selector) (native.Found, error) {
	match, err := n.find(ctx, s)
	var refused *failure
	switch {
	case errors.As(err, &refused):
		return native.Found{Why: refused.text, Final: true}, nil
	case err != nil:
		return native.Found{}, err
	case match.several != nil:
		return native.Found{Why: match.several.text, Final: true}, nil
	case match.element == "":
		return native.Found{Why: n.showSelector(pageSelectorOf(s)) + " was not found"}, nil
	}
	return native.Found{Element: match.element, Displayed: match.displayed}, nil
}

// use does a step of native apps.
func (n nativeAction) use(ctx context.Context, t step.Tool) error {
	if n.inView && !native.InWebView(t.Type) {
		return stepf("%s is not available in a web view: switch_context to native first", t.Type)
	}
	return n.nativeFailure(n.device().Run(ctx, t))
}

// nativeFailure returns the failure of an error of a device.
func (n nativeAction) nativeFailure(err error) error {
	var failed *native.Failure
	if !errors.As(err, &failed) {
		return err
	}
	code := run.CodeStepFailed
	if failed.Assertion {
		code = run.CodeAssertionFailed
	}
	return failf(code, "%s", failed.Text)
}

// switchContext goes to a web view of the app, or back to the app itself. A web view may
// show only what tests may.
func (n nativeAction) switchContext(ctx context.Context, name string) error {
	current, err := n.device().Switch(ctx, name)
	if err != nil {
		return n.nativeFailure(err)
	}
	n.inView = current != native.NativeName
	n.framed, n.href, n.window, n.windows = false, "", "", nil
	n.note("the context is %s", n.quote(current, 100))
	if !n.inView {
		return nil
	}
	if n.network == nil {
		n.network = n.newNetwork()
	}
	var refused *webdriver.Error
	if err := preparation(n).setTimeouts(ctx); err != nil && !errors.As(err, &refused) {
		return err
	}
	address, err := n.driver.URL(ctx)
	if errors.As(err, &refused) {
		return stepf("the web view cannot be looked at: the driver says: %s", n.quote(refused.Message, 200))
	}
	if err != nil {
		return err
	}
	return n.arrived(ctx, address)
}
