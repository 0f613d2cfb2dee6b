package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/native"
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
	return n.limited(ctx, native.Extra(&t), func(ctx context.Context) error { return n.do(ctx, t) })
}

// limited does something within the time of the step, and as much as a command may take
// that had begun. A driver that does not respond until then cannot be used any more.
func (n nativeAction) limited(ctx context.Context, extra time.Duration, do func(context.Context) error) error {
	inner, cancel := context.WithDeadline(ctx, n.deadline.Add(extra+n.PageTimeout+n.Grace))
	defer cancel()
	err := do(inner)
	if ctx.Err() == nil && inner.Err() != nil && err != nil {
		return &failure{code: run.CodeStepFailed, text: "the driver does not respond", broken: true}
	}
	return err
}

func (n nativeAction) do(ctx context.Context, t step.Tool) error {
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
	case step.EnterKeySubmit:
		return n.enter(ctx)
	case step.PressKey:
		if a.Key == "Enter" && a.Selector == nil {
			return n.enter(ctx)
		}
	case step.Back:
		return n.driver.Back(ctx)
	case step.HandleDialog:
		return n.handleDialog(ctx, a.Action, a.Text)
	case step.SwitchContext:
		return n.switchContext(ctx, a.Name)
	case step.Assert:
		if step.IsNetwork(&t) {
			return stepf("the matcher %s is not available in native apps", a.Matcher.Name)
		}
		return n.assert(ctx, a)
	case step.Pause:
		return n.pause(ctx, a.Time)
	case step.Finish:
		return nil
	}
	if step.IsMobile(&t) {
		return n.use(ctx, t)
	}
	return unavailable(t.Type)
}

func unavailable(tool string) *failure {
	return stepf("%s is not available in native apps", bounded(tool, 60))
}

// nativeMatch is what a selector finds in an app: how many elements, and the one that
// the step means ("" for none), with whether it is displayed.
type nativeMatch struct {
	count     int
	element   webdriver.Element
	displayed bool
	several   *failure // the step does not say which one it means
}

// nativeSelector returns why a selector cannot be used in an app, which has neither
// roles nor labels: it takes css and xpath, as Appium does, and an index.
func nativeSelector(s *step.Selector) *failure {
	if s.Type != step.CSS && s.Type != step.XPath {
		return stepf("a selector of the type %s is not available in native apps", bounded(s.Type, 60))
	}
	if s.Within != nil || s.Has != nil || s.HasText != "" || len(pageSelectorOf(s).Lies) > 0 {
		return stepf("a selector with within, has or hasText is not available in native apps")
	}
	return nil
}

// find looks for the element of a selector: the only one, or that of its index. Where
// the test allows several it is the first that is displayed, else the first.
func (n nativeAction) find(ctx context.Context, s *step.Selector) (nativeMatch, error) {
	if refused := nativeSelector(s); refused != nil {
		return nativeMatch{}, refused
	}
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
		match.several = stepf("%s: %d elements match, and the step does not say which", n.showSelector(pageSelectorOf(s)), len(all))
		return match, nil
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
		case match.several != nil:
			return false, match.several, nil
		case match.element == "":
			return false, stepf("%s was not found", n.showSelector(pageSelectorOf(s))), nil
		case !match.displayed:
			return false, stepf("%s is not visible", n.showSelector(pageSelectorOf(s))), nil
		}
		err = action(match.element)
		if missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, n.failureOf(ctx, err), nil
		}
		n.noteFirst(match.count)
		return err == nil, nil, err
	})
}

// enter presses Enter in the element that has the focus, as the keyboard of a device
// does: both kinds of drivers type a new line so.
func (n nativeAction) enter(ctx context.Context) error {
	return n.until(ctx, nativePoll, func() (bool, *failure, error) {
		focused, err := n.app().Active(ctx)
		if gone(err) {
			return false, stepf("no element has the focus"), nil
		}
		if err != nil {
			return false, nil, err
		}
		err = n.driver.SendKeys(ctx, focused, "\n")
		if missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, n.failureOf(ctx, err), nil
		}
		return err == nil, nil, err
	})
}
