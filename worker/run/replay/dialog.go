package replay

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

const (
	// maxDialogs are dismissed in one step: a page that opens more does not stop.
	maxDialogs = 20
	// dialogPoll is how often handle_dialog looks for its dialog.
	dialogPoll = 25 * time.Millisecond
)

// do runs a command that may be repeated, and dismisses the dialogs that are in
// its way.
func (p *player) do(ctx context.Context, f func() error) error {
	for {
		err := f()
		if !webdriver.Is(err, webdriver.ErrUnexpectedAlert) {
			return err
		}
		if err := p.dismiss(ctx); err != nil {
			return err
		}
	}
}

// dismiss ends a dialog that no step handles.
func (p *player) dismiss(ctx context.Context) error {
	p.dialogs++
	if p.dialogs > maxDialogs {
		f := stepf("the page opens one dialog after the other: %d were dismissed", maxDialogs)
		f.broken = true
		return f
	}
	text, err := p.s.Dialog.Text(ctx)
	if err == nil {
		err = p.s.Dialog.Dismiss(ctx)
	}
	if webdriver.Is(err, webdriver.ErrNoSuchAlert) { // it has gone by itself
		return nil
	}
	if err == nil {
		p.note("dismissed the dialog %q", p.quote(text, 200))
	}
	return err
}

// opened reports whether a dialog is open that the next step handles: then the
// action that a script was doing has opened it. (One that had been open before
// would have been reported instead.)
func (p *player) opened(ctx context.Context) bool {
	if !handlesDialog(p.next) {
		return false
	}
	_, err := p.s.Dialog.Text(ctx)
	return err == nil
}

// handleDialog waits for a dialog and answers it.
func (p *player) handleDialog(ctx context.Context, action string, answer *string) error {
	p.camera.wait(ctx)
	var text string
	err := p.until(ctx, dialogPoll, func() (bool, *failure, error) {
		var err error
		text, err = p.s.Dialog.Text(ctx)
		if webdriver.Is(err, webdriver.ErrNoSuchAlert) {
			return false, stepf("no dialog opened"), nil
		}
		return err == nil, nil, err
	})
	if err != nil {
		return err
	}
	if answer != nil && action != "dismiss" {
		err := p.s.Dialog.SendText(ctx, *answer)
		switch {
		case webdriver.Is(err, webdriver.ErrNotInteractable, webdriver.ErrUnsupported):
			return stepf("the dialog %q takes no text", p.quote(text, 200))
		case err != nil:
			return err
		}
		p.vault.note(p.href, *answer)
	}
	if action == "dismiss" {
		err, action = p.s.Dialog.Dismiss(ctx), "dismissed"
	} else {
		err, action = p.s.Dialog.Accept(ctx), "accepted"
	}
	if err == nil {
		p.note("%s the dialog %q", action, p.quote(text, 200))
	}
	return err
}
