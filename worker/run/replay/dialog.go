package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// maxDialogs are dismissed in one step: a page that opens more does not stop.
	maxDialogs = 20
	// dialogPoll is how often handle_dialog looks for its dialog.
	dialogPoll = 25 * time.Millisecond
)

// pastDialogs runs a command that may be repeated, and dismisses the dialogs that
// are in its way.
func (x *stepExecution) pastDialogs(ctx context.Context, command func() error) error {
	for {
		err := command()
		if !webdriver.Is(err, webdriver.ErrUnexpectedAlert) {
			return err
		}
		if err := x.dismiss(ctx, err); err != nil {
			return err
		}
	}
}

// dismiss ends the dialog of an error, which no step handles. A page that asks whether
// it may be left is left: a step has asked for another one.
func (x *stepExecution) dismiss(ctx context.Context, reported error) error {
	x.dialogs++
	if x.dialogs > maxDialogs {
		f := stepf("the page opens one dialog after the other: %d were dismissed", maxDialogs)
		f.broken = true
		return f
	}
	text, err := x.driver.Dialog.Text(ctx)
	if webdriver.Is(err, webdriver.ErrNoSuchAlert) { // it has closed by itself
		return nil
	}
	if err != nil {
		return err
	}
	leaving := webdriver.IsLeaving(reported)
	end := x.driver.Dialog.Dismiss
	if leaving {
		end = x.driver.Dialog.Accept
	}
	err = end(ctx)
	if webdriver.Is(err, webdriver.ErrNoSuchAlert) {
		return nil
	}
	if err != nil {
		return err
	}
	if leaving {
		x.note("left the page, which asks before it is left")
		return nil
	}
	x.note("dismissed the dialog %q", x.quote(text, 200))
	return nil
}

func (x *stepExecution) nextHandlesDialog() bool { return x.next == step.HandleDialog }

// leavesDialog reports whether a dialog may be open after the step. Where the next step
// is not known yet, the browser is asked.
func (x *stepExecution) leavesDialog(ctx context.Context) bool {
	if !x.live {
		return x.nextHandlesDialog()
	}
	_, err := x.dialogText(ctx)
	return err == nil
}

// dialogText returns the text of the open dialog; ErrNoSuchAlert is that there is none.
func (s *session) dialogText(ctx context.Context) (text string, err error) {
	err = s.withTimeout(ctx, s.Grace, func(ctx context.Context) error {
		text, err = s.driver.Dialog.Text(ctx)
		return err
	})
	return text, err
}

// handledByNextStep reports whether an error means that a dialog is open, which the
// next step handles.
func (x *stepExecution) handledByNextStep(err error) bool {
	return webdriver.Is(err, webdriver.ErrUnexpectedAlert) && x.nextHandlesDialog()
}

// openedDialog reports whether a dialog is open that the next step handles: then the
// action that a script was doing has opened it. (One that had been open before
// would have been reported instead.)
func (x *stepExecution) openedDialog(ctx context.Context) bool {
	if !x.nextHandlesDialog() {
		return false
	}
	_, err := x.driver.Dialog.Text(ctx)
	return err == nil
}

// handleDialog waits for a dialog, types a text into it (nil: none) and accepts or
// dismisses it.
func (x *stepExecution) handleDialog(ctx context.Context, action string, input *string) error {
	x.screenshotter.wait(ctx)
	dialog := x.driver.Dialog
	var text string
	err := x.until(ctx, dialogPoll, func() (bool, *failure, error) {
		var err error
		text, err = dialog.Text(ctx)
		if webdriver.Is(err, webdriver.ErrNoSuchAlert) {
			return false, stepf("no dialog opened"), nil
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
		x.note("dismissed the dialog %q", x.quote(text, 200))
		return nil
	}
	if input != nil {
		err := dialog.SendText(ctx, *input)
		switch {
		case webdriver.Is(err, webdriver.ErrNotInteractable, webdriver.ErrUnsupported):
			return stepf("the dialog %q takes no text", x.quote(text, 200))
		case err != nil:
			return err
		}
		x.secrets.noteTyped(x.href, *input)
	}
	if err := dialog.Accept(ctx); err != nil {
		return err
	}
	x.note("accepted the dialog %q", x.quote(text, 200))
	return nil
}
