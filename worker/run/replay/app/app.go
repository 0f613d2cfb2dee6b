package app

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/native"
	"github.com/slipway-qa/slipway/worker/run/replay/action"
	"github.com/slipway-qa/slipway/worker/run/replay/browsing"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

const (
	// nativePoll is how often an app is looked at: a command takes some 50 ms there.
	nativePoll = 200 * time.Millisecond
	// maxNativeLooks is how many matches are looked at for one that is displayed: each
	// takes a command.
	maxNativeLooks = 10
)

// Action is a step in a native app, which has no page: it goes element by
// element, by the commands that Appium has for apps. There is no healing.
type Action struct{ *session.Execution }

// Run does what a tool says, within the time of its step.
func (n Action) Run(ctx context.Context, t step.Tool) error {
	return n.Limited(ctx, native.Extra(&t), func(ctx context.Context) error { return n.do(ctx, t) })
}

// Limited does something within the time of the step, and as much as a command may take
// that had begun. A driver that does not respond until then cannot be used any more.
func (n Action) Limited(ctx context.Context, extra time.Duration, do func(context.Context) error) error {
	inner, cancel := context.WithDeadline(ctx, n.Deadline.Add(extra+n.PageTimeout+n.Grace))
	defer cancel()
	err := do(inner)
	if ctx.Err() == nil && inner.Err() != nil && err != nil {
		return &failure.Failure{Code: run.CodeStepFailed, Text: "the driver does not respond", Broken: true}
	}
	return err
}

func (n Action) do(ctx context.Context, t step.Tool) error {
	a := t.Args
	if action.NeedsSelector(t) && a.Selector == nil {
		return failure.Stepf("the step names no element")
	}
	switch t.Type {
	case step.Click:
		return n.act(ctx, a.Selector, func(e webdriver.Element) error { return n.Driver.Click(ctx, e) })
	case step.InputText:
		// For a file input of a page what is typed would be the path of a file.
		if browser, _ := n.Driver.Capabilities["browserName"].(string); browser != "" {
			return failure.Stepf("the session is one of a browser and not of an app")
		}
		return n.act(ctx, a.Selector, func(e webdriver.Element) error {
			if err := n.Driver.Clear(ctx, e); err != nil || session.Text(a.Text) == "" {
				return err
			}
			return n.Driver.SendKeys(ctx, e, action.Typable(session.Text(a.Text)))
		})
	case step.EnterKeySubmit:
		return n.enter(ctx)
	case step.PressKey:
		if a.Key == "Enter" && a.Selector == nil {
			return n.enter(ctx)
		}
	case step.Back:
		return n.Driver.Back(ctx)
	case step.HandleDialog:
		return browsing.Dialog{Execution: n.Execution}.Answer(ctx, a.Action, a.Text)
	case step.SwitchContext:
		return n.switchContext(ctx, a.Name)
	case step.Assert:
		if step.IsNetwork(&t) {
			return failure.Stepf("the matcher %s is not available in native apps", a.Matcher.Name)
		}
		return n.Assert(ctx, a)
	case step.Pause:
		return browsing.Pause{Execution: n.Execution}.Wait(ctx, a.Time)
	case step.Finish:
		return nil
	}
	if step.IsMobile(&t) {
		return n.use(ctx, t)
	}
	return Unavailable(t.Type)
}

// Unavailable is the failure of a tool that apps do not have.
func Unavailable(tool string) *failure.Failure {
	return failure.Stepf("%s is not available in native apps", failure.Bounded(tool, 60))
}

// nativeMatch is what a selector finds in an app: how many elements, and the one that
// the step means ("" for none), with whether it is displayed.
type nativeMatch struct {
	count     int
	element   webdriver.Element
	displayed bool
	several   *failure.Failure // the step does not say which one it means
}

// nativeSelector returns why a selector cannot be used in an app, which has neither
// roles nor labels: it takes css and xpath, as Appium does, and an index.
func nativeSelector(s *step.Selector) *failure.Failure {
	if s.Type != step.CSS && s.Type != step.XPath {
		return failure.Stepf("a selector of the type %s is not available in native apps", failure.Bounded(s.Type, 60))
	}
	if s.Within != nil || s.Has != nil || s.HasText != "" || len(page.SelectorOf(s).Lies) > 0 {
		return failure.Stepf("a selector with within, has or hasText is not available in native apps")
	}
	return nil
}

// find looks for the element of a selector: the only one, or that of its index. Where
// the test allows several it is the first that is displayed, else the first.
func (n Action) find(ctx context.Context, s *step.Selector) (nativeMatch, error) {
	if refused := nativeSelector(s); refused != nil {
		return nativeMatch{}, refused
	}
	using := webdriver.ByCSS
	if s.Type == step.XPath {
		using = webdriver.ByXPath
	}
	all, err := n.Driver.FindAll(ctx, using, s.Value)
	if webdriver.Is(err, webdriver.ErrNoSuchElement) {
		return nativeMatch{}, nil
	}
	if err != nil {
		return nativeMatch{}, err
	}
	match := nativeMatch{count: len(all)}
	switch {
	case s.Index != nil:
		at := *s.Index
		if at < 0 {
			at += len(all)
		}
		if at < 0 || at >= len(all) {
			return nativeMatch{}, nil
		}
		all, match.count = all[at:at+1], 1
	case len(all) > 1 && !n.FirstMatch:
		match.several = failure.Stepf("%s: %d elements match, and the step does not say which", n.ShowSelector(page.SelectorOf(s)), len(all))
		return match, nil
	}
	for _, e := range all[:min(len(all), maxNativeLooks)] {
		displayed, err := n.Driver.Displayed(ctx, e)
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
func (n Action) act(ctx context.Context, s *step.Selector, do func(webdriver.Element) error) error {
	return n.Until(ctx, nativePoll, func() (bool, *failure.Failure, error) {
		match, err := n.find(ctx, s)
		switch {
		case err != nil:
			return false, nil, err
		case match.several != nil:
			return false, match.several, nil
		case match.element == "":
			return false, failure.Stepf("%s was not found", n.ShowSelector(page.SelectorOf(s))), nil
		case !match.displayed:
			return false, failure.Stepf("%s is not visible", n.ShowSelector(page.SelectorOf(s))), nil
		}
		err = do(match.element)
		if action.Missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, n.FailureOf(ctx, err), nil
		}
		n.NoteFirst(match.count)
		return err == nil, nil, err
	})
}

// enter presses Enter in the element that has the focus, as the keyboard of a device
// does: both kinds of drivers type a new line so.
func (n Action) enter(ctx context.Context) error {
	return n.Until(ctx, nativePoll, func() (bool, *failure.Failure, error) {
		focused, err := n.app().Active(ctx)
		if gone(err) {
			return false, failure.Stepf("no element has the focus"), nil
		}
		if err != nil {
			return false, nil, err
		}
		err = n.Driver.SendKeys(ctx, focused, "\n")
		if action.Missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, n.FailureOf(ctx, err), nil
		}
		return err == nil, nil, err
	})
}
