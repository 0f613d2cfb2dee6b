package plan

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// action is a step to be done on elements of the current view.
type action struct {
	tool   string    // one of package step's, but in_frame
	on     string    // ref of the element; "" for tools without one
	target string    // ref of what a drag ends on
	args   step.Args // further arguments; selectors in it are kept where on is ""
	why    string    // the step's reasoning, short: `the only button "Save"`
	// optional and when are those of the step.
	optional  bool
	when      *step.Condition
	closes    bool // a banner: it is in front itself
	timeoutMS int
}

// do executes a step and keeps it. A step that fails is a *FailedError.
func (p *planner) do(ctx context.Context, a action) error {
	record, err := p.try(ctx, a)
	if err != nil {
		return err
	}
	if !record.Result.Success && a.on != "" && !a.closes {
		// What is in the way may have come after the page was looked at.
		before := p.mark()
		if _, err := lookAgain(ctx, p); err != nil {
			return err
		}
		if err := uncover(ctx, p, a.on); err != nil {
			return err
		}
		if p.mark() > before {
			if record, err = p.try(ctx, a); err != nil {
				return err
			}
		}
	}
	if !record.Result.Success {
		return &FailedError{Code: codeStepFailed, Detail: fmt.Sprintf("%s: %s", p.understood(), record.Result.Message)}
	}
	return nil
}

// try executes a step and keeps it if it succeeds; its record says whether it did.
func (p *planner) try(ctx context.Context, a action) (step.Record, error) {
	if p.cfg.MaxSteps > 0 && len(p.steps) >= p.cfg.MaxSteps {
		return step.Record{}, &FailedError{Code: codeMaxSteps, Detail: fmt.Sprintf("the intent needs more than %d steps", p.cfg.MaxSteps)}
	}
	if a.on != "" && !a.closes && a.tool != step.Assert && p.current != nil {
		if err := uncover(ctx, p, a.on); err != nil {
			return step.Record{}, err
		}
	}
	if err := allow(p, a); err != nil {
		return step.Record{}, err
	}
	s, err := stepOf(ctx, p, a)
	if err != nil {
		return step.Record{}, err
	}
	if p.current != nil {
		p.before = p.current
	}
	p.current, p.waited = nil, false
	record, err := p.page.Do(ctx, s)
	if err != nil {
		return record, err
	}
	if record.Status == step.Passed {
		s.Tool = record.Tool
		s.Result, s.ScreenshotID = &record.Result, record.ScreenshotID
		p.keep(s, a.why)
	}
	return record, nil
}

// The codes of failures that the planner itself finds.
const (
	codeStepFailed = "STEP_FAILED"
	codeMaxSteps   = "MAX_STEPS_REACHED"
	codeAssertion  = "ASSERTION_FAILED"
)

// stepOf returns the step of an action, with the selectors by which a replay finds
// its elements, inside of the frames that they are in.
func stepOf(ctx context.Context, p *planner, a action) (step.Step, error) {
	tool := step.Tool{Type: a.tool, Args: a.args}
	tool.Args.Reasoning = a.why
	s := step.Step{ID: newID(p), Optional: a.optional || p.optional && a.tool != step.Assert, When: a.when, TimeoutMS: a.timeoutMS}
	if s.When == nil {
		s.When = p.when
	}
	if a.on == "" {
		s.Tool = tool
		return s, nil
	}
	refs := []string{a.on}
	if a.target != "" {
		refs = append(refs, a.target)
	}
	found, err := p.page.Locate(ctx, refs...)
	if err != nil {
		return s, err
	}
	for i, at := range found {
		if at.Selector.Type == "" {
			return s, &FailedError{Code: codeStepFailed, Detail: p.understood() + ": the element has gone"}
		}
		if i == 0 {
			tool.Args.Selector = &found[0].Selector
		} else {
			tool.Args.Target = &found[1].Selector
		}
	}
	if s.Optional && s.When == nil && a.tool != step.Assert { // a replay need not wait for it for long
		selector := found[0].Selector
		selector.Fingerprint = nil
		s.When = &step.Condition{Selector: &selector, Matcher: &step.Matcher{Name: step.Visible}, TimeoutMS: optionalWaitMS}
	}
	s.Tool = inFrames(tool, found[0].Frames)
	return s, nil
}

// optionalWaitMS is how long a replay waits for what need not be there.
const optionalWaitMS = 1500

// newID returns the id of the next step that is executed.
func newID(p *planner) string {
	if p.cfg.NewID != nil {
		return p.cfg.NewID()
	}
	p.tried++
	return fmt.Sprintf("s%d", p.tried)
}

// inFrames puts a tool into the frames that its element is in.
func inFrames(tool step.Tool, frames []step.Selector) step.Tool {
	for i := len(frames) - 1; i >= 0; i-- {
		inner := tool
		tool = step.Tool{Type: step.InFrame, Args: step.Args{Selector: &frames[i], Tool: &inner, Reasoning: inner.Args.Reasoning}}
	}
	return tool
}

// keep adds a step that was executed to the test.
func (p *planner) keep(s step.Step, why string) {
	p.steps = append(p.steps, s)
	p.why = append(p.why, authoring.Reason{Title: title(s.Tool), Description: why})
}

// mark returns where the test stands, for drop.
func (p *planner) mark() int { return len(p.steps) }

// drop takes the steps since a mark out of the test again, but for those for which
// needed holds: what was done to look for something, and led nowhere.
func (p *planner) drop(mark int, needed func(i int) bool) {
	at := mark
	for i := mark; i < len(p.steps); i++ {
		if needed != nil && needed(i) {
			p.steps[at], p.why[at] = p.steps[i], p.why[i]
			at++
		}
	}
	p.steps, p.why = p.steps[:at], p.why[:at]
}

// report calls OnStep with the steps since it was called last.
func report(p *planner) {
	for ; p.reported < len(p.steps); p.reported++ {
		if p.cfg.OnStep != nil {
			p.cfg.OnStep(p.steps[p.reported], p.why[p.reported])
		}
	}
}

// look returns what the page shows now: the last view, unless something was done
// since.
func (p *planner) look(ctx context.Context) (*view, error) {
	if p.current != nil {
		return p.current, nil
	}
	s, err := p.page.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	p.current = newView(s)
	p.current.echo = echoes(p, p.current)
	rememberOpened(p, p.current)
	return p.current, nil
}

// rememberOpened keeps which dialogs came right with a step.
func rememberOpened(p *planner, v *view) {
	if p.before == nil || len(p.steps) == p.seen || p.before.URL != v.URL {
		return
	}
	p.seen = len(p.steps)
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if !n.Modal && n.Role != "dialog" && n.Role != "alertdialog" {
			continue
		}
		if old := p.before.node(n.Ref); old == nil || old.Hidden {
			p.opened[n.Ref] = true
		}
	}
}

// lookAgain returns what the page shows now, whatever is known of it.
func lookAgain(ctx context.Context, p *planner) (*view, error) {
	p.current = nil
	return p.look(ctx)
}
