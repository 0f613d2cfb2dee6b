package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// historyStep is a step in the history of the window.
type historyStep struct{ *stepExecution }

// place is where the history of a window is: the document, by when it began to load,
// and the entry, which changes within one document as well.
type place struct {
	Href  string  `json:"href"`
	Began float64 `json:"began"`
	Entry string  `json:"entry"`
}

const placeScript = `const entry = window.navigation && navigation.currentEntry;
return {href: location.href, began: performance.timeOrigin, entry: entry ? entry.key : ""};`

// startPage is what a window shows before the test opens anything: no page of the test.
const startPage = "about:blank"

// travelTime is how long a page may take to notice that another entry of the history is
// current: within one document that happens after the command.
const travelTime = time.Second

// travel goes to another page of the history by a command. That there is none fails the
// step: the command itself does nothing then.
func (x historyStep) travel(ctx context.Context, name string, command func(context.Context) error) error {
	before, err := x.start(ctx, name)
	if err != nil {
		return err
	}
	if err := x.load(ctx, name, before, command); err != nil {
		return err
	}
	for until := time.Now().Add(travelTime); ; {
		now, err := x.place(ctx)
		switch {
		case err != nil:
			return err
		case now == nil:
			return nil // the next step handles the dialog in its way
		case now.Href == startPage && before.Href != startPage && !x.blank:
			return x.returnTo(ctx, name, now)
		case *now != *before:
			return x.arrivedAt(ctx, now.Href)
		case time.Now().After(until):
			return noPage(name)
		}
		if err := sleep(ctx, retryPause); err != nil {
			return err
		}
	}
}

// noPage is the failure of a step that leads out of the history of the test.
func noPage(name string) *failure { return stepf("there is no page to go %s to", name) }

// returnTo leaves the page that the window showed before the test, so that what is
// captured of the failure is the test's page.
func (x historyStep) returnTo(ctx context.Context, name string, start *place) error {
	if err := x.load(ctx, "forward", start, x.driver.Forward); err != nil {
		return err
	}
	return noPage(name)
}

// reload loads the page again.
func (x historyStep) reload(ctx context.Context) error {
	before, err := x.start(ctx, "reload")
	if err != nil {
		return err
	}
	if err := x.load(ctx, "reload", before, x.driver.Reload); err != nil {
		return err
	}
	now, err := x.place(ctx)
	if err != nil || now == nil {
		return err
	}
	return x.arrivedAt(ctx, now.Href)
}

// start returns where the window is before a command. A dialog that is open then is
// another step's, and while it is, the command does nothing.
func (x historyStep) start(ctx context.Context, name string) (*place, error) {
	before, err := x.place(ctx)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, stepf("%s: a dialog is open", name)
	}
	return before, nil
}

// load runs a command that loads a page, within the time of a page. A document that is
// there and does not end is loaded as far as it came by then.
func (x historyStep) load(ctx context.Context, name string, before *place, command func(context.Context) error) error {
	x.screenshotter.wait(ctx)
	err := x.withPageTimeout(ctx, command)
	switch {
	case webdriver.Is(err, webdriver.ErrTimeout):
		if now, err := x.place(ctx); err == nil && now != nil && *now != *before {
			x.note("the page did not end within %s", x.PageTimeout)
			return nil
		}
		return failf(run.CodeUnreachable, "%s: the page did not load within %s", name, x.PageTimeout)
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert) && !x.nextHandlesDialog():
		return x.dismiss(ctx, err)
	case retriable(err) && !lost(err):
		return nil // the page that is there now shows what came of it
	}
	return err
}

// arrivedAt is arrived for a page that a command has led to.
func (x historyStep) arrivedAt(ctx context.Context, href string) error {
	if isErrorPage(href) {
		return failf(run.CodeUnreachable, "the page could not be loaded")
	}
	return x.arrived(ctx, href)
}

// place returns where the window is; nil when a dialog is open that the next step
// handles.
func (x historyStep) place(ctx context.Context) (*place, error) {
	for {
		var p place
		err := x.withPageTimeout(ctx, func(ctx context.Context) error { return x.driver.Execute(ctx, placeScript, &p) })
		switch {
		case err == nil:
			return &p, nil
		case x.handledByNextStep(err):
			return nil, nil
		case !retriable(err), lost(err), time.Now().After(x.deadline):
			return nil, err
		}
		if err := x.interrupted(ctx, err); err != nil {
			return nil, err
		}
	}
}
