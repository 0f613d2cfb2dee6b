package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// maxMessage bounds what is shown of a remote end's message, in bytes.
const maxMessage = 500

// refuse returns the error for a target that no later request will find a session for.
func refuse(format string, args ...any) *SessionError {
	return &SessionError{Text: clip(fmt.Sprintf(format, args...))}
}

func errClosed() *SessionError {
	return &SessionError{Text: "this worker is shutting down", Retry: true, Err: errors.New("browser: the pool is closed")}
}

// sessionError returns the error of a request that failed, in words for people; h is
// nil for the managed browsers.
func (p *Pool) sessionError(h *remote, err error) *SessionError {
	var known *SessionError
	if errors.As(err, &known) {
		return known
	}
	who := "the browser of this worker"
	if h != nil {
		who = "the hub " + h.host
	}
	e := &SessionError{Err: err, Retry: true}
	var reported *webdriver.Error
	switch {
	case errors.As(err, &reported):
		// The first line is the message; stacks and addresses of drivers follow.
		message, _, _ := strings.Cut(strings.TrimSpace(reported.Message), "\n")
		if message == "" {
			message = reported.Code
		}
		e.Text = clip(who + " made no session: " + message)
		e.Retry = reported.Code == webdriver.ErrTimeout || reported.Status == 502 || reported.Status == 503
	case errors.Is(err, context.DeadlineExceeded):
		e.Text = who + " made no session in time"
	case errors.Is(err, context.Canceled):
		e.Text = "nobody waits for the session any more"
	default:
		e.Text = who + " cannot be reached"
	}
	return e
}

// codeOf returns what went wrong without the message of a remote end, which may quote
// anything that was sent to it.
func codeOf(err error) string {
	var reported *webdriver.Error
	if errors.As(err, &reported) {
		return reported.Code
	}
	return err.Error()
}

// clip bounds a text without cutting a character in two.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
