package session

import (
	"context"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// maxDialogs are dismissed in one step: a page that opens more does not stop.
const maxDialogs = 20

// PastDialogs runs a command that may be repeated, and dismisses the dialogs that
// are in its way.
func (x *Execution) PastDialogs(ctx context.Context, command func() error) error {
	for {
		err := command()
		if !webdriver.Is(err, webdriver.ErrUnexpectedAlert) {
			return err
		}
		if err := x.Dismiss(ctx, err); err != nil {
			return err
		}
	}
}

// Dismiss ends the dialog of an error, which no step handles. A page that asks whether
// it may be left is left: a step has asked for another one.
func (x *Execution) Dismiss(ctx context.Context, reported error) error {
	x.dialogs++
	if x.dialogs > maxDialogs {
		f := failure.Stepf("the page opens one dialog after the other: %d were dismissed", maxDialogs)
		f.Broken = true
		return f
	}
	text, err := x.Driver.Dialog.Text(ctx)
	if webdriver.Is(err, webdriver.ErrNoSuchAlert) { // it has closed by itself
		return nil
	}
	if err != nil {
		return err
	}
	leaving := webdriver.IsLeaving(reported)
	end := x.Driver.Dialog.Dismiss
	if leaving {
		end = x.Driver.Dialog.Accept
	}
	err = end(ctx)
	if webdriver.Is(err, webdriver.ErrNoSuchAlert) {
		return nil
	}
	if err != nil {
		return err
	}
	if leaving {
		x.Note("left the page, which asks before it is left")
		return nil
	}
	x.Note("dismissed the dialog %q", x.Quote(text, 200))
	return nil
}

// NextHandlesDialog reports whether the step after this one answers a dialog.
func (x *Execution) NextHandlesDialog() bool { return x.Next == step.HandleDialog }

// LeavesDialog reports whether a dialog may be open after the step. Where the next step
// is not known yet, the browser is asked.
func (x *Execution) LeavesDialog(ctx context.Context) bool {
	if !x.Live {
		return x.NextHandlesDialog()
	}
	_, err := x.DialogText(ctx)
	return err == nil
}

// DialogText returns the text of the open dialog; ErrNoSuchAlert is that there is none.
func (s *Session) DialogText(ctx context.Context) (text string, err error) {
	err = s.WithTimeout(ctx, s.Grace, func(ctx context.Context) error {
		text, err = s.Driver.Dialog.Text(ctx)
		return err
	})
	return text, err
}

// HandledByNextStep reports whether an error means that a dialog is open, which the
// next step handles.
func (x *Execution) HandledByNextStep(err error) bool {
	return webdriver.Is(err, webdriver.ErrUnexpectedAlert) && x.NextHandlesDialog()
}

// OpenedDialog reports whether a dialog is open that the next step handles: then the
// action that a script was doing has opened it. (One that had been open before
// would have been reported instead.)
func (x *Execution) OpenedDialog(ctx context.Context) bool {
	if !x.NextHandlesDialog() {
		return false
	}
	_, err := x.Driver.Dialog.Text(ctx)
	return err == nil
}
