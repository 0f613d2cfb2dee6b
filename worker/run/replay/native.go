package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// nativePoll is how often an app is asked: a command takes some 50 ms there.
const nativePoll = 200 * time.Millisecond

// runNative plays a tool in a native app, which has no page: element by element,
// by the commands that Appium has for apps. There is no healing.
func (p *player) runNative(ctx context.Context, t step.Tool) error {
	a := t.Args
	if needsSelector(t) && a.Selector == nil {
		return stepf("the step names no element")
	}
	switch t.Type {
	case step.Click:
		return p.nativeAct(ctx, a.Selector, func(e webdriver.Element) error { return p.s.Click(ctx, e) })
	case step.InputText:
		// For a file input of a page what is typed would be the path of a file.
		if browser, _ := p.s.Capabilities["browserName"].(string); browser != "" {
			return stepf("the session is one of a browser and not of an app")
		}
		return p.nativeAct(ctx, a.Selector, func(e webdriver.Element) error {
			if err := p.s.Clear(ctx, e); err != nil || text(a.Text) == "" {
				return err
			}
			return p.s.SendKeys(ctx, e, typable(text(a.Text)))
		})
	case step.Assert:
		return p.nativeAssert(ctx, a)
	case step.Pause:
		return p.pause(ctx, a.Time)
	case step.Finish:
		return nil
	}
	return stepf("%s is not available in native apps", bounded(t.Type, 60))
}

// nativeFind gives the element of a selector: the one of its index, else the first
// that is displayed.
func (p *player) nativeFind(ctx context.Context, s *step.Selector) (all []webdriver.Element, one webdriver.Element, shown bool, err error) {
	using := webdriver.ByCSS
	if s.Type == step.XPath {
		using = webdriver.ByXPath
	}
	all, err = p.s.FindAll(ctx, using, s.Value)
	if webdriver.Is(err, webdriver.ErrNoSuchElement) {
		return nil, "", false, nil
	}
	if err != nil {
		return nil, "", false, err
	}
	list := all
	if s.Index != nil {
		if *s.Index >= len(all) {
			return all, "", false, nil
		}
		list = all[*s.Index : *s.Index+1]
	}
	for i, e := range list {
		if i == 10 { // each costs a call
			break
		}
		value, err := p.s.Displayed(ctx, e)
		if err != nil && !webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement) {
			return nil, "", false, err
		}
		if err == nil && value {
			return all, e, true, nil
		}
	}
	if len(list) > 0 {
		one = list[0]
	}
	return all, one, false, nil
}

func (p *player) nativeAct(ctx context.Context, s *step.Selector, do func(webdriver.Element) error) error {
	return p.until(ctx, nativePoll, func() (bool, *failure, error) {
		_, e, shown, err := p.nativeFind(ctx, s)
		switch {
		case err != nil:
			return false, nil, err
		case e == "":
			return false, stepf("%s was not found", p.name(pointOf(s))), nil
		case !shown:
			return false, stepf("%s is not visible", p.name(pointOf(s))), nil
		}
		if err = do(e); missed(err) || webdriver.Is(err, webdriver.ErrInvalidState) {
			return false, p.failed(ctx, err), nil
		}
		return err == nil, nil, err
	})
}

// nativeAssert knows the matchers that make sense in every app.
func (p *player) nativeAssert(ctx context.Context, a step.Args) error {
	r, err := newRule(a, p.quote)
	if err != nil {
		return err
	}
	switch r.matcher {
	case step.Visible, step.Hidden, step.TextIs, step.Count:
	default:
		return stepf("the matcher %s is not available in native apps", p.quote(r.matcher, 60))
	}
	return p.until(ctx, nativePoll, func() (bool, *failure, error) {
		all, e, shown, err := p.nativeFind(ctx, a.Selector)
		if err != nil {
			return false, nil, err
		}
		var got *seen
		switch {
		case r.matcher == step.Count:
			got = &seen{Count: len(all)}
		case e != "":
			got = &seen{Is: shown}
		}
		if r.matcher == step.TextIs && e != "" {
			text, err := p.s.Text(ctx, e)
			if webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNoSuchElement) {
				got = nil
			} else if err != nil {
				return false, nil, err
			}
			text = spaces(bounded(text, maxSeen))
			if got != nil {
				got.Text = &text
			}
		}
		if r.holds(got) {
			return true, nil, nil
		}
		return false, failf(run.CodeAssertionFailed, "%s: expected %s; %s", p.name(pointOf(a.Selector)), r.expected(), r.describe(got)), nil
	})
}
