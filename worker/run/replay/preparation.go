package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/app"
	"github.com/slipway-qa/slipway/worker/run/replay/browsing"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// preparation is what is executed before the first step, with the time of a step.
type preparation struct{ *session.Execution }

func (t *testExecution) newPreparation() preparation {
	x := &session.Execution{Session: t.Session, Screenshotter: t.screenshotter, Timeout: t.StepTimeout}
	if next := t.following(t.first - 1); next < len(t.Steps) {
		x.Next = t.Steps[next].Tool.Type
	}
	x.Deadline = time.Now().Add(x.Timeout)
	return preparation{x}
}

// run sets the session up.
func (p preparation) run(ctx context.Context) error {
	if err := p.checkPlatform(); err != nil {
		return err
	}
	if p.Lease.Mobile {
		return p.beginLogin(ctx)
	}
	if err := p.SetTimeouts(ctx); err != nil {
		return err
	}
	if err := p.beginLogin(ctx); err != nil {
		return err
	}
	p.Console = session.OpenConsole(ctx, p.Session)
	if err := p.openNetwork(ctx); err != nil {
		return err
	}
	p.Tracer.WatchTraffic(ctx)
	if err := p.noteFirstWindow(ctx); err != nil || !choosesFiles(p.Steps) {
		return err
	}
	return p.WatchChoosers(ctx)
}

// begin sets the session up and opens the test's address.
func (p preparation) begin(ctx context.Context) error {
	if err := p.run(ctx); err != nil {
		return err
	}
	return p.openTest(ctx)
}

// openTest opens the test's address, unless the step that follows opens one itself.
func (p preparation) openTest(ctx context.Context) error {
	if p.Lease.Mobile {
		return nil
	}
	if p.TestURL == "" || p.Next == step.GoToURL {
		return nil
	}
	address, err := step.Expand(p.TestURL, p.Secrets.Value)
	if err != nil {
		return failure.OfVariable(err)
	}
	p.Tracer.Begin(trace.Action{Title: "Open " + p.TestURL, Class: session.Traced, Method: step.GoToURL,
		Params: map[string]string{"url": p.TestURL}})
	err = browsing.Navigator{Execution: p.Execution}.Open(ctx, address)
	p.Tracer.End(ctx, p.Execution, err)
	return err
}

// noteFirstWindow stores the window that the test begins in, where a step, the
// screenshots or the trace need it.
func (p preparation) noteFirstWindow(ctx context.Context) error {
	needed := p.Screenshotter.Parallel || p.Tracer != nil
	for _, s := range p.Steps {
		needed = needed || s.Tool.Type == step.SwitchWindow
	}
	if !needed {
		return nil
	}
	return p.PastDialogs(ctx, func() (err error) {
		p.Window, err = p.Driver.Window(ctx)
		p.Windows = []string{p.Window}
		return err
	})
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
			return app.NotInBrowsers(&s.Tool)
		case p.Lease.Mobile && step.IsWeb(&s.Tool):
			return app.Unavailable(s.Tool.Type)
		}
	}
	return nil
}

// openNetwork prepares what the steps on requests, downloads and the console need.
func (p preparation) openNetwork(ctx context.Context) error {
	s := p.Session
	s.Network = s.NewNetwork()
	return p.PastDialogs(ctx, func() error { return s.Network.Prepare(ctx, p.Steps) })
}

// choosesFiles reports whether a step answers the chooser that another opens.
func choosesFiles(steps []step.Step) bool {
	for i := range steps {
		for _, t := range append([]step.Tool{session.Innermost(steps[i].Tool)}, session.Innermost(steps[i].Tool).Args.Tools...) {
			if t.Type == step.UploadFile && t.Args.Selector == nil {
				return true
			}
		}
	}
	return false
}
