package browsing

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// dialogPoll is how often handle_dialog looks for its dialog.
const dialogPoll = 25 * time.Millisecond

// Dialog is a step that answers a dialog of the browser.
type Dialog struct{ *session.Execution }

// Answer waits for a dialog, types a text into it (nil: none) and accepts or
// dismisses it.
func (x Dialog) Answer(ctx context.Context, action string, input *string) error {
	x.Screenshotter.Wait(ctx)
	dialog := x.Driver.Dialog
	var text string
	err := x.Until(ctx, dialogPoll, func() (bool, *failure.Failure, error) {
		var err error
		text, err = dialog.Text(ctx)
		if webdriver.Is(err, webdriver.ErrNoSuchAlert) {
			return false, failure.Stepf("no dialog opened"), nil
		}
		return err == nil, nil, err
	})
	if err != nil {
		return err
	}
	if action == "dismiss" {
		if err := dialog.Dismiss(ctx); err != nil {
			return err
		}
		x.Note("dismissed the dialog %q", x.Quote(text, 200))
		return nil
	}
	if input != nil {
		err := dialog.SendText(ctx, *input)
		switch {
		case webdriver.Is(err, webdriver.ErrNotInteractable, webdriver.ErrUnsupported):
			return failure.Stepf("the dialog %q takes no text", x.Quote(text, 200))
		case err != nil:
			return err
		}
		x.Secrets.NoteTyped(x.Href, *input)
	}
	if err := dialog.Accept(ctx); err != nil {
		return err
	}
	x.Note("accepted the dialog %q", x.Quote(text, 200))
	return nil
}
