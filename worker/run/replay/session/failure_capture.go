package session

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

const (
	// maxSource and maxConsole bound what is kept of a failed step, in bytes.
	maxSource  = 2 << 20
	maxConsole = 1 << 20
	// failureCaptureTimeout bounds all that is captured after a failure.
	failureCaptureTimeout = 15 * time.Second
)

// sourceScript returns the page as HTML, cut there: a page of 50 MB must not go over
// the wire. Its argument is a number of UTF-16 units.
const sourceScript = `const most = arguments[0], kind = document.doctype ? "<!DOCTYPE " + document.doctype.name + ">\n" : "";
const text = kind + (document.documentElement ? document.documentElement.outerHTML : "");
return {cut: text.length > most, text: text.slice(0, most)};`

// CaptureFailure captures what there is to see after a step failed: a screenshot,
// the page's source and the console.
func (s *Screenshotter) CaptureFailure(ctx context.Context, x *Execution) {
	if s.session.Lease.Mobile {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, failureCaptureTimeout)
	defer cancel()
	x.ResetFrame(ctx)
	view := View{x}
	if view.Responds(ctx) {
		s.takeNow(ctx, x)
		s.keepText(x.Index, run.Source, view.source(ctx))
	}
	s.keepText(x.Index, run.Console, x.consoleText(ctx))
}

// takeNow takes a screenshot of the page as it is, and waits for it.
func (s *Screenshotter) takeNow(ctx context.Context, x *Execution) {
	s.deferred = append(s.deferred, x.Index)
	s.TakeDeferred(ctx, x)
	s.waitPicture(ctx)
}

// CaptureUnreached takes a screenshot of what the browser shows in place of a page that
// was not reached; for other errors it does nothing.
func (s *Screenshotter) CaptureUnreached(ctx context.Context, x *Execution, err error) {
	var f *failure.Failure
	if !errors.As(err, &f) || f.Code != run.CodeUnreachable || f.Broken || s.session.Lease.Mobile {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, failureCaptureTimeout)
	defer cancel()
	if (View{x}).Responds(ctx) {
		s.takeNow(ctx, x)
	}
}

// Responds reports whether the page can be looked at: one that does not respond
// would take the full time for each look, and so would one with an open dialog.
func (v View) Responds(ctx context.Context) bool {
	if v.Unresponsive {
		return false
	}
	_, err := v.Driver.Dialog.Text(ctx)
	return err != nil
}

// source returns the page as HTML, without secrets and bounded; "" when it cannot
// be read.
func (v View) source(ctx context.Context) string {
	var page struct {
		Cut  bool   `json:"cut"`
		Text string `json:"text"`
	}
	longest := v.Secrets.longest()
	if err := v.Execute(ctx, sourceScript, &page, maxSource+longest); err != nil {
		return ""
	}
	source := v.Secrets.Redact(page.Text)
	if page.Cut { // half a secret may stand at the end
		source = source[:max(len(source)-longest, 0)]
	}
	return failure.Bounded(source, maxSource)
}

// keepText queues a text to be stored.
func (s *Screenshotter) keepText(i int, kind, text string) {
	if text == "" {
		return
	}
	ready := make(chan struct{})
	close(ready)
	s.queue <- &capture{Artifact{Kind: kind, ContentType: "text/plain; charset=utf-8", Data: []byte(text)}, []int{i}, ready}
}
