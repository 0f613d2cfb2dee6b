package browsing

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// History is a step in the history of the window.
type History struct{ *session.Execution }

// place is where the history of a window is: the document, by when it began to load,
// and the entry, which changes within one document as well.
type place struct {
	Href  string  `json:"href"`
	Began float64 `json:"began"`
	Entry string  `json:"entry"`
}

const placeScript = `const entry = window.navigation && navigation.currentEntry;
return {href: location.href, began: performance.timeOrigin, entry: entry ? entry.key : ""};`

// travelTime is how long a page may take to notice that another entry of the history is
// current: within one document that happens after the command.
const travelTime = time.Second

// Travel goes to another page of the history by a command. That there is none fails the
// step: the command itself does nothing then.
func (x History) Travel(ctx context.Context, name string, command func(context.Context) error) error {
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
		case now.Href == session.StartPage && before.Href != session.StartPage && !x.Blank:
			return x.returnTo(ctx, name, now)
		case *now != *before:
			return x.arrivedAt(ctx, now.Href)
		case time.Now().After(until):
			return noPage(name)
		}
		if err := session.Sleep(ctx, session.RetryPause); err != nil {
			return err
		}
	}
}

// noPage is the failure of a step that leads out of the history of the test.
func noPage(name string) *failure.Failure { return failure.Stepf("there is no page to go %s to", name) }

// returnTo leaves the page that the window showed before the test, so that what is
// captured of the failure is the test's page.
func (x History) returnTo(ctx context.Context, name string, start *place) error {
	if err := x.load(ctx, "forward", start, x.Driver.Forward); err != nil {
		return err
	}
	return noPage(name)
}

// Reload loads the page again.
func (x History) Reload(ctx context.Context) error {
	before, err := x.start(ctx, "reload")
	if err != nil {
		return err
	}
	if err := x.load(ctx, "reload", before, x.Driver.Reload); err != nil {
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
func (x History) start(ctx context.Context, name string) (*place, error) {
	before, err := x.place(ctx)
	if err != nil {
		return nil, err
	}
	if before == nil {
		return nil, failure.Stepf("%s: a dialog is open", name)
	}
	return before, nil
}

// load runs a command that loads a page, within the time of a page. A document that is
// there and does not end is loaded as far as it came by then.
func (x History) load(ctx context.Context, name string, before *place, command func(context.Context) error) error {
	x.Screenshotter.Wait(ctx)
	err := x.WithPageTimeout(ctx, command)
	switch {
	case webdriver.Is(err, webdriver.ErrTimeout):
		if now, err := x.place(ctx); err == nil && now != nil && *now != *before {
			x.Note("the page did not end within %s", x.PageTimeout)
			return nil
		}
		return failure.Newf(run.CodeUnreachable, "%s: the page did not load within %s", name, x.PageTimeout)
	case webdriver.Is(err, webdriver.ErrUnexpectedAlert) && !x.NextHandlesDialog():
		return x.Dismiss(ctx, err)
	case failure.Retriable(err) && !failure.Lost(err):
		return nil // the page that is there now shows what came of it
	}
	return err
}

// arrivedAt is arrived for a page that a command has led to.
func (x History) arrivedAt(ctx context.Context, href string) error {
	if session.IsErrorPage(href) {
		return failure.Newf(run.CodeUnreachable, "the page could not be loaded")
	}
	return x.Arrived(ctx, href)
}

// place returns where the window is; nil when a dialog is open that the next step
// handles.
func (x History) place(ctx context.Context) (*place, error) {
	for {
		var p place
		err := x.WithPageTimeout(ctx, func(ctx context.Context) error { return x.Driver.Execute(ctx, placeScript, &p) })
		switch {
		case err == nil:
			return &p, nil
		case x.HandledByNextStep(err):
			return nil, nil
		case !failure.Retriable(err), failure.Lost(err), time.Now().After(x.Deadline):
			return nil, err
		}
		if err := x.Interrupted(ctx, err); err != nil {
			return nil, err
		}
	}
}
