package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
)

// run plays a tool.
func (p *player) run(ctx context.Context, stored step.Tool) error {
	tool, err := step.ExpandTool(stored, p.vault.get)
	if err != nil {
		return variableFailure(err)
	}
	if p.Lease.Mobile {
		return p.runNative(ctx, tool)
	}
	at := &place{}
	for tool.Type == step.InFrame || tool.Type == step.InShadowRoot {
		if tool.Args.Tool == nil || tool.Args.Selector == nil || stored.Args.Tool == nil {
			return stepf("the step is incomplete")
		}
		here := pointOf(tool.Args.Selector)
		if tool.Type == step.InFrame {
			at.frames, at.hosts = append(at.frames, hop{at.hosts, here}), nil
		} else {
			at.hosts = append(at.hosts, here)
		}
		tool, stored = *tool.Args.Tool, *stored.Args.Tool
	}
	defer p.framesDone(ctx)
	return p.tool(ctx, tool, stored, at)
}

// framesDone goes back to the top-level page; when that fails the next step finds
// out.
func (p *player) framesDone(ctx context.Context) {
	if p.framed && ctx.Err() == nil {
		if err := p.s.TopFrame(ctx); err == nil {
			p.framed = false
		}
	}
}

func (p *player) tool(ctx context.Context, t, stored step.Tool, at *place) error {
	a := t.Args
	if a.Selector != nil {
		at.selector = pointOf(a.Selector)
		if t.Type != step.Assert {
			at.stored = stored.Args.Selector
			at.remember(a.Selector.Fingerprint)
		}
	} else if needsSelector(t) {
		return stepf("the step names no element")
	}
	switch t.Type {
	case step.GoToURL:
		return p.goTo(ctx, a.URL)
	case step.Click:
		return p.click(ctx, at)
	case step.InputText:
		return p.input(ctx, at, text(a.Text))
	case step.Select:
		p.vault.note(p.href, text(a.OptionValue))
		_, err := p.act(ctx, at, query{Want: wantSelect, Option: text(a.OptionValue)})
		return err
	case step.Hover:
		return p.hover(ctx, at)
	case step.Drag:
		return p.drag(ctx, at, a.Target)
	case step.UploadFile:
		return p.upload(ctx, at, a.File)
	case step.PressKey:
		return p.pressKey(ctx, at, a)
	case step.EnterKeySubmit:
		return p.press(ctx, "Enter")
	case step.ScrollElement:
		_, err := p.act(ctx, at, query{Want: wantScroll, Direction: a.Direction})
		return err
	case step.ScrollDocument:
		at.selector = point{Type: step.CSS, Value: ":root"}
		_, err := p.act(ctx, at, query{Want: wantScroll, Direction: a.Direction})
		return err
	case step.Pause:
		return p.pause(ctx, a.Time)
	case step.SwitchWindow:
		return p.switchWindow(ctx, a.Matcher)
	case step.HandleDialog:
		return p.handleDialog(ctx, a.Action, a.Text)
	case step.Assert:
		return p.assert(ctx, at, a)
	case step.Finish:
		return nil
	}
	return stepf("the tool %s is unknown", bounded(t.Type, 60))
}

func needsSelector(t step.Tool) bool {
	switch t.Type {
	case step.Click, step.InputText, step.Select, step.Hover, step.Drag, step.UploadFile, step.ScrollElement:
		return true
	}
	return false
}

// remember uses what a fingerprint knows of the frames and shadow roots around
// the element, unless the step itself says where it is.
func (at *place) remember(print *step.Fingerprint) {
	if print == nil {
		return
	}
	at.print = print
	if len(at.frames) == 0 && len(at.hosts) == 0 && len(print.FramePath) > 0 {
		for _, frame := range points(print.FramePath) {
			at.frames = append(at.frames, hop{selector: frame})
		}
		at.guessed = true
	}
	if len(at.hosts) == 0 {
		at.shadow = print.ShadowPath
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// pause waits for as long as the step says.
func (p *player) pause(ctx context.Context, ms *int) error {
	if ms == nil || *ms <= 0 {
		return nil
	}
	return rest(ctx, time.Duration(min(*ms, step.MaxWaitMS))*time.Millisecond)
}
