package browser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// maxMessage bounds what is shown of a remote end's words.
const maxMessage = 500

// refuse is a target that no attempt will find a session for.
func refuse(format string, args ...any) *SessionError {
	return &SessionError{Text: clip(fmt.Sprintf(format, args...))}
}

func errClosed() *SessionError {
	return &SessionError{Text: "this worker is shutting down", Retry: true, Err: errors.New("browser: the pool is closed")}
}

// sessionError puts a failed attempt into words; h is nil for the own browsers.
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
	var answer *webdriver.Error
	switch {
	case errors.As(err, &answer):
		message := answer.Message
		// The first line says it; stacks and addresses of drivers follow.
		message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
		if message == "" {
			message = answer.Code
		}
		e.Text = clip(who + " made no session: " + message)
		e.Retry = answer.Code == webdriver.ErrTimeout || answer.Status == 502 || answer.Status == 503
	case errors.Is(err, context.DeadlineExceeded):
		e.Text = who + " made no session in time"
	case errors.Is(err, context.Canceled):
		e.Text = "nobody waits for the session any more"
	default:
		e.Text = who + " cannot be reached"
	}
	return e
}

// codeOf says what went wrong without the words of a remote end, which may quote
// anything that it was given.
func codeOf(err error) string {
	var answer *webdriver.Error
	if errors.As(err, &answer) {
		return answer.Code
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
