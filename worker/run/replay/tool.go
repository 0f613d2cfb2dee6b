package replay

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/action"
	"github.com/slipway-qa/slipway/worker/run/replay/app"
	"github.com/slipway-qa/slipway/worker/run/replay/assertion"
	"github.com/slipway-qa/slipway/worker/run/replay/browsing"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// toolStep does what the tool of a step says.
type toolStep struct{ *session.Execution }

// run executes a tool, in the frames and shadow roots that it names.
func (x toolStep) run(ctx context.Context, stored step.Tool) error {
	tool, err := step.ExpandTool(stored, x.Value)
	if err != nil {
		return x.Unknown(err)
	}
	tool = x.Move().Tool(tool)
	if x.InApp(tool) {
		return app.Action{Execution: x.Execution}.Run(ctx, tool)
	}
	at, tool, stored, err := locate(tool, stored)
	if err != nil {
		return err
	}
	defer x.ResetFrame(ctx)
	return x.useTool(ctx, tool, stored, at)
}

// locate returns the frames and shadow roots that a tool names, and the tool inside of
// them, with its variables replaced and as stored.
func locate(tool, stored step.Tool) (*page.Location, step.Tool, step.Tool, error) {
	at := &page.Location{}
	for tool.Type == step.InFrame || tool.Type == step.InShadowRoot {
		if tool.Args.Tool == nil || tool.Args.Selector == nil || stored.Args.Tool == nil {
			return nil, tool, stored, failure.Stepf("the step is incomplete")
		}
		here := page.SelectorOf(tool.Args.Selector)
		if tool.Type == step.InFrame {
			at.Frames, at.Hosts = append(at.Frames, page.Frame{Hosts: at.Hosts, Selector: here}), nil
		} else {
			at.Hosts = append(at.Hosts, here)
		}
		tool, stored = *tool.Args.Tool, *stored.Args.Tool
	}
	return at, tool, stored, nil
}

func (x toolStep) useTool(ctx context.Context, t, stored step.Tool, at *page.Location) error {
	a := t.Args
	if refused := x.wrongPlatform(&t); refused != nil {
		return refused
	}
	if a.Selector == nil && action.NeedsSelector(t) {
		return failure.Stepf("the step names no element")
	}
	if a.Selector != nil {
		at.Selector = page.SelectorOf(a.Selector)
	}
	if a.Selector != nil && t.Type != step.Assert && t.Type != step.Save {
		at.Stored = stored.Args.Selector
		at.UseFingerprint(a.Selector.Fingerprint)
	}
	element := action.Action{Execution: x.Execution, At: at}
	switch t.Type {
	case step.GoToURL:
		return browsing.Navigator{Execution: x.Execution}.GoTo(ctx, a.URL)
	case step.Click:
		return element.Click(ctx, a.Pointing)
	case step.InputText:
		return element.Fill(ctx, session.Text(a.Text))
	case step.Select:
		x.Secrets.NoteTyped(x.Href, session.Text(a.OptionValue))
		_, err := element.Act(ctx, page.ActQuery{Want: page.WantSelect, Option: session.Text(a.OptionValue)})
		return err
	case step.DoubleClick:
		return element.DoubleClick(ctx, a.Pointing)
	case step.RightClick:
		return element.RightClick(ctx, a.Pointing)
	case step.Hover:
		return element.Hover(ctx, a.Pointing)
	case step.Drag:
		return element.Drag(ctx, a.Target, stored.Args.Target)
	case step.UploadFile:
		files := a.Files
		if a.File != nil {
			files = []step.File{*a.File}
		}
		return element.Upload(ctx, a.Selector, files)
	case step.PressKey:
		return element.PressKey(ctx, a)
	case step.TypeKeys:
		return element.TypeText(ctx, a)
	case step.EnterKeySubmit:
		return element.Press(ctx, "Enter")
	case step.ScrollElement:
		return element.Scroll(ctx, a.Direction)
	case step.ScrollDocument:
		at.Selector = page.Selector{Type: step.CSS, Value: ":root"}
		return element.Scroll(ctx, a.Direction)
	case step.Back:
		return browsing.History{Execution: x.Execution}.Travel(ctx, "back", x.Driver.Back)
	case step.Forward:
		return browsing.History{Execution: x.Execution}.Travel(ctx, "forward", x.Driver.Forward)
	case step.Reload:
		return browsing.History{Execution: x.Execution}.Reload(ctx)
	case step.SetViewport:
		return browsing.Viewport{Execution: x.Execution}.Set(ctx, a.Width, a.Height)
	case step.Pause:
		return browsing.Pause{Execution: x.Execution}.Wait(ctx, a.Time)
	case step.SwitchWindow:
		return browsing.Window{Execution: x.Execution}.Switch(ctx, a.Matcher)
	case step.HandleDialog:
		return browsing.Dialog{Execution: x.Execution}.Answer(ctx, a.Action, a.Text)
	case step.WaitForURL:
		return assertion.Check{Execution: x.Execution}.WaitForURL(ctx, at, a)
	case step.Assert:
		if !step.IsNetwork(&t) {
			return assertion.Check{Execution: x.Execution}.Assert(ctx, at, a)
		}
		return browsing.Network{Execution: x.Execution}.Run(ctx, t)
	case step.Route, step.Unroute, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload:
		return browsing.Network{Execution: x.Execution}.Run(ctx, t)
	case step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock:
		return browsing.State{Execution: x.Execution}.Run(ctx, t)
	case step.Save:
		return assertion.Check{Execution: x.Execution}.Save(ctx, at, a)
	case step.ForEach:
		at.Stored, at.Fingerprint = nil, nil
		return x.forEach(ctx, at, a, stored.Args)
	case step.Finish:
		return nil
	}
	return failure.Stepf("the tool %s is unknown", failure.Bounded(t.Type, 60))
}

// inPagesAlone are the tools of pages that web views of apps do not have: they need a
// browser of its own.
var inPagesAlone = []string{step.Route, step.Unroute, step.WaitForRequest, step.WaitForResponse, step.WaitForDownload,
	step.SetCookie, step.SetStorage, step.ClearState, step.Emulate, step.SetClock, step.SetViewport, step.UploadFile}

// wrongPlatform returns why a tool cannot work in the page that is current; nil: it can.
func (x toolStep) wrongPlatform(t *step.Tool) error {
	switch {
	case step.IsMobile(t):
		return app.NotInBrowsers(t)
	case !x.InView:
	case slices.Contains(inPagesAlone, t.Type) || step.IsNetwork(t) || assertion.TakesPictures(*t):
		name := t.Type
		if t.Type == step.Assert && t.Args.Matcher != nil {
			name = "the matcher " + t.Args.Matcher.Name
		}
		return failure.Stepf("%s is not available in web views of apps", failure.Bounded(name, 60))
	}
	return nil
}
