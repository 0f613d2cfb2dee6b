package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// preparation is what is executed before the first step, with the time of a step.
type preparation struct{ *stepExecution }

func (t *testExecution) newPreparation() preparation {
	x := &stepExecution{session: t.session, screenshotter: t.screenshotter, timeout: t.StepTimeout}
	if next := t.following(t.first - 1); next < len(t.Steps) {
		x.next = t.Steps[next].Tool.Type
	}
	x.deadline = time.Now().Add(x.timeout)
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
	if err := p.setTimeouts(ctx); err != nil {
		return err
	}
	if err := p.beginLogin(ctx); err != nil {
		return err
	}
	p.console = openConsole(ctx, p.session)
	if err := p.openNetwork(ctx); err != nil {
		return err
	}
	p.tracer.watchTraffic(ctx)
	if err := p.noteFirstWindow(ctx); err != nil || !choosesFiles(p.Steps) {
		return err
	}
	return p.watchChoosers(ctx)
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
	if p.TestURL == "" || p.next == step.GoToURL {
		return nil
	}
	address, err := step.Expand(p.TestURL, p.secrets.value)
	if err != nil {
		return variableFailure(err)
	}
	p.tracer.begin(trace.Action{Title: "Open " + p.TestURL, Class: traced, Method: step.GoToURL, Params: map[string]string{"url": p.TestURL}})
	err = p.open(ctx, address)
	p.tracer.end(ctx, p.stepExecution, err)
	return err
}

// setTimeouts sets those of the session unless it has them.
func (p preparation) setTimeouts(ctx context.Context) error {
	has, _ := p.driver.Capabilities["timeouts"].(map[string]any)
	page, _ := has["pageLoad"].(float64)
	script, _ := has["script"].(float64)
	if page == float64(p.PageTimeout.Milliseconds()) && script == float64(p.scriptTimeout().Milliseconds()) {
		return nil
	}
	return p.pastDialogs(ctx, func() error {
		return p.driver.SetTimeouts(ctx, webdriver.Timeouts{PageLoad: p.PageTimeout, Script: p.scriptTimeout()})
	})
}

// noteFirstWindow stores the window that the test begins in, where a step, the
// screenshots or the trace need it.
func (p preparation) noteFirstWindow(ctx context.Context) error {
	needed := p.screenshotter.parallel || p.tracer != nil
	for _, s := range p.Steps {
		needed = needed || s.Tool.Type == step.SwitchWindow
	}
	if !needed {
		return nil
	}
	return p.pastDialogs(ctx, func() (err error) {
		p.window, err = p.driver.Window(ctx)
		p.windows = []string{p.window}
		return err
	})
}
