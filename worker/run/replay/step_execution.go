package replay

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// optionalTimeout is how long an optional step waits: long enough for a popup,
	// short enough not to be noticed when there is none.
	optionalTimeout = 3 * time.Second
	// maxNotes bounds what a step notes besides its failure.
	maxNotes = 10
)

// stepExecution is the execution of one step. What it learns of the page that
// outlives the step is in the session.
type stepExecution struct {
	*session
	screenshotter *screenshotter
	index         int
	next          string // the tool of the step after it; "" for none
	assertedNext  bool   // its screenshot can be that of the assertion after it

	timeout  time.Duration
	deadline time.Time

	notes        []string
	dialogs      int   // that were dismissed
	unresponsive bool  // the last call in the page timed out
	missing      error // why the value of a parameter cannot be used; nil: it can

	fingerprint *step.Fingerprint // of the element, for a step that has none
	healed      *step.Healed
	suggested   *step.Healed // a healing that was not applied
	drifted     *step.Drifted
	findings    *step.Findings // of the assertion accessible
	look        *step.Look     // of the assertion looks_like

	began       time.Time // of the test
	eachTimeout time.Duration
	iterations  []step.Iteration // of a for_each
}

// newStep returns the execution of a step, whose time begins now.
func (t *testExecution) newStep(i int) *stepExecution {
	s := &t.Steps[i]
	x := &stepExecution{session: t.session, screenshotter: t.screenshotter, index: i, timeout: t.StepTimeout, began: t.began}
	if next := t.following(i); next < len(t.Steps) {
		x.next = t.Steps[next].Tool.Type
		x.assertedNext = next == i+1 && t.asserts(next)
	}
	if t.live {
		x.next = step.HandleDialog // it may be
	}
	switch {
	case s.TimeoutMS > 0:
		x.timeout = time.Duration(s.TimeoutMS) * time.Millisecond
	case s.Tool.Type == step.ScrollTo:
		x.timeout = max(x.timeout, scrollToTimeout)
	case s.Optional:
		x.timeout = min(x.timeout, optionalTimeout)
	case innermost(s.Tool).Type == step.Assert && !takesPictures(s.Tool):
		x.timeout = min(x.timeout, t.AssertTimeout)
	}
	x.deadline, x.eachTimeout = time.Now().Add(x.timeout), x.timeout
	return x
}

// asserts reports whether a step is an assertion that is made in any case, with the
// page as it is: no dialog is expected after it.
func (t *testExecution) asserts(i int) bool {
	s := &t.Steps[i]
	next := t.following(i)
	dialog := next < len(t.Steps) && t.Steps[next].Tool.Type == step.HandleDialog
	tool := innermost(s.Tool)
	return tool.Type == step.Assert && !step.IsNetwork(&tool) && s.When == nil && !dialog
}

// run executes a tool, in the frames and shadow roots that it names.
func (x *stepExecution) run(ctx context.Context, stored step.Tool) error {
	tool, err := step.ExpandTool(stored, x.value)
	if err != nil {
		return x.unknown(err)
	}
	tool = x.move().Tool(tool)
	if x.inApp(tool) {
		return nativeAction{x}.run(ctx, tool)
	}
	at, tool, stored, err := locate(tool, stored)
	if err != nil {
		return err
	}
	defer x.resetFrame(ctx)
	return x.useTool(ctx, tool, stored, at)
}

// locate returns the frames and shadow roots that a tool names, and the tool inside of
// them, with its variables replaced and as stored.
func locate(tool, stored step.Tool) (*elementLocation, step.Tool, step.Tool, error) {
	at := &elementLocation{}
	for tool.Type == step.InFrame || tool.Type == step.InShadowRoot {
		if tool.Args.Tool == nil || tool.Args.Selector == nil || stored.Args.Tool == nil {
			return nil, tool, stored, stepf("the step is incomplete")
		}
		here := pageSelectorOf(tool.Args.Selector)
		if tool.Type == step.InFrame {
			at.frames, at.hosts = append(at.frames, frameLocation{at.hosts, here}), nil
		} else {
			at.hosts = append(at.hosts, here)
		}
		tool, stored = *tool.Args.Tool, *stored.Args.Tool
	}
	return at, tool, stored, nil
}

func (x *stepExecution) useTool(ctx context.Context, t, stored step.Tool, at *elementLocation) error {
	a := t.Args
	if refused := x.wrongPlatform(&t); refused != nil {
		return refused
	}
	if a.Selector == nil && needsSelector(t) {
		return stepf("the step names no element")
	}
	if a.Selector != nil {
		at.selector = pageSelectorOf(a.Selector)
	}
	if a.Selector != nil && t.Type != step.Assert && t.Type != step.Save {
		at.stored = stored.Args.Selector
		at.useFingerprint(a.Selector.Fingerprint)
	}
	action := elementAction{x, at}
	switch t.Type {
	case step.GoToURL:
		return x.goTo(ctx, a.URL)
	case step.Click:
		return action.click(ctx, a.Pointing)
	case step.InputText:
		return action.fill(ctx, text(a.Text))
	case step.Select:
		x.secrets.noteTyped(x.href, text(a.OptionValue))
		_, err := action.act(ctx, actQuery{Want: wantSelect, Option: text(a.OptionValue)})
		return err
	case step.DoubleClick:
		return action.doubleClick(ctx, a.Pointing)
	case step.RightClick:
		return action.rightClick(ctx, a.Pointing)
	case step.Hover:
		return action.hover(ctx, a.Pointing)
	case step.Drag:
		return action.drag(ctx, a.Target, stored.Args.Target)
	case step.UploadFile:
		files := a.Files
		if a.File != nil {
			files = []step.File{*a.File}
		}
		return action.upload(ctx, a.Selector, files)
	case step.PressKey:
		return action.pressKey(ctx, a)
	case step.TypeKeys:
		return action.typeText(ctx, a)
	case step.EnterKeySubmit:
		return x.press(ctx, "Enter")
	case step.ScrollElement:
		return action.scroll(ctx, a.Direction)
	case step.ScrollDocument:
		at.selector = pageSelector{Type: step.CSS, Value: ":root"}
		return action.scroll(ctx, a.Direction)
	case step.Back:
		return historyStep{x}.travel(ctx, "back", x.driver.Back)
	case step.Forward:
		return historyStep{x}.travel(ctx, "forward", x.driver.Forward)
	case step.Reload:
		return historyStep{x}.reload(ctx)
	case step.SetViewport:
		return viewportStep{x}.set(ctx, a.Width, a.Height)
	case step.Pause:
		return x.pause(ctx, a.Time)
	case step.SwitchWindow:
		return x.switchWindow(ctx, a.Matcher)
	case step.HandleDialog:
		return x.handleDialog(ctx, a.Action, a.Text)
	case step.WaitForURL:
		return x.waitForURL(ctx, at, a)
	case step.Assert:
		if !step.IsNetwork(&t) {
			return x.assert(ctx, at, a)
		}
		return x.useNetwork(ctx, t)
	case step.Route, step.Unroute, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
		return x.useNetwork(ctx, t)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock:
		return stateStep{x}.run(ctx, t)
	case step.Save:
		return x.save(ctx, at, a)
	case step.ForEach:
		at.stored, at.fingerprint = nil, nil
		return x.forEach(ctx, at, a, stored.Args)
	case step.Finish:
		return nil
	}
	return stepf("the tool %s is unknown", bounded(t.Type, 60))
}

func needsSelector(t step.Tool) bool {
	switch t.Type {
	case step.Click, step.DoubleClick, step.RightClick, step.InputText, step.Select, step.Hover, step.Drag, step.ScrollElement, step.ForEach:
		return true
	}
	return false
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// message is the text of a record: the failure, and what else is worth knowing.
func (x *stepExecution) message(f *failure) string {
	var parts []string
	if f != nil {
		parts = append(parts, f.text)
	}
	parts = append(parts, x.notes...)
	return bounded(x.secrets.redact(strings.Join(parts, "; ")), 2000)
}

func (x *stepExecution) note(format string, args ...any) {
	if len(x.notes) < maxNotes {
		x.notes = append(x.notes, fmt.Sprintf(format, args...))
	}
}

// until calls attempt each interval until it is done, it returns an error or the
// step's time is over: then the error is the failure that attempt last returned.
func (x *stepExecution) until(ctx context.Context, interval time.Duration, attempt func() (done bool, not *failure, err error)) error {
	for {
		done, not, err := attempt()
		if done || err != nil {
			return err
		}
		if time.Now().After(x.deadline) {
			return not
		}
		if err := sleep(ctx, interval); err != nil {
			return err
		}
	}
}

// sleep waits for a time or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
