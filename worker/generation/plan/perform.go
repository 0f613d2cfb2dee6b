package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// perform does the steps of a way on the present page and reports whether all worked. Those
// that did are kept; who called drops them where they did not help.
func (p *planner) perform(ctx context.Context, w *method.Way) (bool, error) {
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	p.recall(m)
	p.tries++
	p.touched = true
	for _, a := range w.Acts {
		ok, err := p.do(ctx, m, a, w.Name)
		if err == nil && !ok {
			var now *page.Model
			if now, err = p.uncover(ctx, m, a.Node); err == nil && now != nil {
				ok, err = p.do(ctx, m, a, w.Name)
			}
		}
		if err != nil || !ok {
			return false, err
		}
		switch a.Tool {
		case step.InputText, step.Select, step.TypeKeys:
			if a.Node >= 0 {
				p.near = m.Nodes[a.Node].Ref
			}
		}
	}
	return true, nil
}

// nearOn is the field of a model that was filled last; -1.
func (p *planner) nearOn(m *page.Model) int {
	if p.near == "" {
		return -1
	}
	return m.Index().ByRef(p.near)
}

// full returns an error where the test has as many steps as it may have.
func (p *planner) full() error {
	if p.cfg.MaxSteps > 0 && len(p.steps) >= p.cfg.MaxSteps {
		return &FailedError{Code: codeMaxSteps, Detail: fmt.Sprintf("the intent needs more than %d steps", p.cfg.MaxSteps)}
	}
	return nil
}

// do executes one act on nodes of a model and keeps its step when it passed.
func (p *planner) do(ctx context.Context, m *page.Model, a method.Act, why string) (bool, error) {
	if err := p.full(); err != nil {
		return false, err
	}
	s, ok, err := p.stepOf(ctx, m, a, why)
	if err != nil || !ok {
		return false, err
	}
	record, err := p.execute(ctx, s)
	if err != nil {
		return false, err
	}
	if p.cfg.Trace != nil {
		text, _ := json.Marshal(s.Tool.Args.Selector)
		p.trace("  %s %s: %s %s", s.Tool.Type, shorten(string(text), 300), record.Status, record.Result.Message)
	}
	if record.Status != playback.Passed {
		if host := standIn(m, a); host >= 0 {
			a.Node = host
			return p.do(ctx, m, a, why)
		}
		return false, nil
	}
	s.TimeoutMS = 0
	s.Tool, s.Result, s.ScreenshotID = record.Tool, &record.Result, record.ScreenshotID
	p.keep(s, why)
	return true, nil
}

// standIn returns the element to click where a box or radio itself cannot be: the label around
// it, beside it or anywhere else, or the custom element whose shadow it is drawn in, which covers it; -1.
func standIn(m *page.Model, a method.Act) int {
	if a.Tool != step.Click || a.Node < 0 || m.Nodes[a.Node].Tag != "input" {
		return -1
	}
	n := &m.Nodes[a.Node]
	for i, k := n.Parent, 0; i >= 0 && k < 4; i, k = m.Nodes[i].Parent, k+1 {
		if up := &m.Nodes[i]; up.Tag == "label" || len(up.Shadow) < len(n.Shadow) {
			if m.Index().End(i)-i > maxStandIn {
				return -1 // it holds more than this box
			}
			return i
		}
	}
	siblings := m.Index().Children(n.Parent)
	at := slices.Index(siblings, a.Node)
	for _, i := range []int{at + 1, at - 1} {
		if i < 0 || i >= len(siblings) {
			continue
		}
		if l := &m.Nodes[siblings[i]]; n.Name != "" && (l.Tag == "label" || l.Role == "text") && (l.Name == n.Name || l.Text == n.Name) {
			return siblings[i]
		}
	}
	return onlyLabel(m, n.Name)
}

// onlyLabel returns the only label of the page that is seen and has a text; -1.
func onlyLabel(m *page.Model, text string) int {
	found := -1
	for i := range m.Nodes {
		l := &m.Nodes[i]
		if text == "" || l.Tag != "label" || l.Hidden || l.Name != text && l.Text != text {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// maxStandIn is how many elements the one that stands for a box has at most.
const maxStandIn = 12

// execute does a step that is not kept here.
func (p *planner) execute(ctx context.Context, s step.Step) (playback.Record, error) {
	p.model = nil
	return p.cfg.Page.Do(ctx, s)
}

// tryTimeMS is how long a step that is only tried waits for its element: it was just seen.
const tryTimeMS = 2500

// stepOf returns the step of an act, with the selectors by which a replay finds its elements. It
// is not ok where an element has gone.
func (p *planner) stepOf(ctx context.Context, m *page.Model, a method.Act, why string) (step.Step, bool, error) {
	tool := step.Tool{Type: a.Tool, Args: a.Args}
	tool.Args.Reasoning = why
	s := step.Step{ID: p.newID(), TimeoutMS: tryTimeMS}
	if a.Node < 0 {
		s.Tool, s.TimeoutMS = tool, 0
		return s, true, nil
	}
	refs := []string{m.Nodes[a.Node].Ref}
	if a.To >= 0 {
		refs = append(refs, m.Nodes[a.To].Ref)
	}
	found, err := p.cfg.Page.Locate(ctx, refs...)
	if err != nil {
		return s, false, err
	}
	if len(found) > 0 && found[0].Selector.Type == "" && a.To < 0 { // the page made it anew
		if refs[0] = p.anew(ctx, m, a.Node); refs[0] != "" {
			if found, err = p.cfg.Page.Locate(ctx, refs...); err != nil {
				return s, false, err
			}
		}
	}
	if len(found) < len(refs) {
		return s, false, nil
	}
	for i := range found {
		if found[i].Selector.Type == "" {
			return s, false, nil
		}
	}
	tool.Args.Selector = &found[0].Selector
	if a.To >= 0 {
		tool.Args.Target = &found[1].Selector
	}
	s.Tool = inFrames(tool, found[0].Frames)
	return s, true, nil
}

// anew returns the ref of the element that stands now for one that the page has made anew: of
// the same role and name in the same record; "" without one.
func (p *planner) anew(ctx context.Context, m *page.Model, node int) string {
	now, err := p.lookAnew(ctx)
	if err != nil {
		return ""
	}
	c := m.ControlAt(node)
	for i := range now.Controls {
		k := &now.Controls[i]
		if c >= 0 && k.Key != "" && k.Key == m.Controls[c].Key && effect.ControlName(now, i) == effect.ControlName(m, c) {
			return now.Nodes[k.Node].Ref
		}
	}
	f := m.FieldAt(node)
	for i := range now.Fields {
		if k := &now.Fields[i]; f >= 0 && k.Key != "" && k.Key == m.Fields[f].Key {
			return now.Nodes[k.Node].Ref
		}
	}
	return ""
}

// inFrames puts a tool into the frames that its element is in.
func inFrames(tool step.Tool, frames []step.Selector) step.Tool {
	for i := len(frames) - 1; i >= 0; i-- {
		inner := tool
		tool = step.Tool{Type: step.InFrame, Args: step.Args{Selector: &frames[i], Tool: &inner, Reasoning: inner.Args.Reasoning}}
	}
	return tool
}
