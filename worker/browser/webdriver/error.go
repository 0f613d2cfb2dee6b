package webdriver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Error is a failure that the remote end reports.
type Error struct {
	Status     int    // of HTTP; 0 for BiDi
	Code       string // of the protocol
	Message    string // without what drivers add to it; at most 4 KiB
	StackTrace string // of the driver, for logs; at most 4 KiB
}

func (e *Error) Error() string { return "webdriver: " + e.Code + ": " + e.Message }

// The codes that callers decide on (WebDriver, section 6.6).
const (
	ErrClickIntercepted = "element click intercepted"
	ErrNotInteractable  = "element not interactable"
	ErrInsecureCert     = "insecure certificate"
	ErrInvalidArgument  = "invalid argument"
	ErrInvalidCookie    = "invalid cookie domain"
	ErrInvalidState     = "invalid element state"
	ErrInvalidSelector  = "invalid selector"
	ErrInvalidSession   = "invalid session id"
	ErrJavaScript       = "javascript error"
	ErrMoveOutOfBounds  = "move target out of bounds"
	ErrNoSuchAlert      = "no such alert"

	ErrNoSuchElement = "no such element"
	ErrNoSuchFrame   = "no such frame"

	ErrNoSuchWindow      = "no such window"
	ErrScriptTimeout     = "script timeout"
	ErrSessionNotCreated = "session not created"
	ErrStaleElement      = "stale element reference"

	ErrSetCookie       = "unable to set cookie"
	ErrTimeout         = "timeout"
	ErrUnexpectedAlert = "unexpected alert open"
	ErrUnknown         = "unknown error"
	ErrUnknownCommand  = "unknown command"
	ErrUnknownMethod   = "unknown method"
	ErrUnsupported     = "unsupported operation"
	// ErrNavigated is a code of chromedriver alone: another page was loaded while it
	// ran a command.
	ErrNavigated = "aborted by navigation"
)

// Is reports whether err is a failure that the remote end reports with one of the
// codes.
func Is(err error, codes ...string) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, code := range codes {
		if e.Code == code {
			return true
		}
	}
	return false
}

// leaving is how chromedriver reports that the page asks whether it may be left, where
// its error for an open dialog is meant.
const leaving = "dialog type beforeunload"

// IsLeaving reports whether err means that the page asks whether it may be left
// (beforeunload).
func IsLeaving(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == ErrUnexpectedAlert && strings.Contains(e.Message, leaving)
}

// TransportError is a command without a response, or with one that is not of the
// protocol.
type TransportError struct {
	Status int // of HTTP; 0 when nothing came
	Err    error
}

func (e *TransportError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("webdriver: status %d: %s", e.Status, e.Err)
	}
	return "webdriver: no answer: " + e.Err.Error()
}

// Unwrap returns the cause; when a context ended it is that context's error.
func (e *TransportError) Unwrap() error { return e.Err }

// contextError returns the error for a context that ended.
func contextError(ctx context.Context) *TransportError {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return &TransportError{Err: err}
}

// requestError returns the error for a request that failed.
func (c *Client) requestError(ctx context.Context, err error) *TransportError {
	if ctx.Err() != nil {
		return contextError(ctx)
	}
	var ue *url.Error
	if errors.As(err, &ue) { // its text has the whole address
		err = ue.Err
	}
	return &TransportError{Err: c.concealed(err)}
}

// concealedError is an error of the connection whose text quotes what came over it,
// without the password.
type concealedError struct {
	text string
	err  error
}

func (e *concealedError) Error() string { return e.text }

func (e *concealedError) Unwrap() error { return e.err }

func (c *Client) concealed(err error) error {
	return &concealedError{clip(c.conceal(clip(err.Error(), maxText)), 300), err}
}

// newError returns the error of a code and a message as they came.
func (c *Client) newError(status int, code, message, stack string) *Error {
	code = clip(strings.ToValidUTF8(code, ""), maxCode)
	if code == ErrInvalidArgument && strings.Contains(message, leaving) {
		code = ErrUnexpectedAlert
	}
	// chromedriver repeats the code in front of the message.
	message = strings.TrimPrefix(c.presentable(message), code+": ")
	return &Error{Status: status, Code: code, Message: message, StackTrace: clip(c.conceal(clip(stack, 4*maxText)), maxText)}
}

const (
	maxText = 4 << 10 // bytes of a message: people read it
	maxCode = 100     // the longest of the protocol has 25
	blank   = "*****"
)

// noise begins the lines from which on a message is for the driver's authors:
// chromedriver's session and native stack, Selenium's build and system.
var noise = []string{
	"(Session info:", "(Driver info:", "#0 0x", "Backtrace:", "Stacktrace:", "For documentation on this error", "Build info:",
	"System info:", "Driver info:", "Host info:", "Command: [", "remote stacktrace:",
}

// userinfo finds names and passwords in addresses; messages quote capabilities,
// which have those of proxies.
var userinfo = regexp.MustCompile(`://[^/\s"'<>@]+@`)

// presentable returns a remote end's text as people may see it: without the noise of
// drivers and without secrets, bounded.
func (c *Client) presentable(text string) string {
	text = strings.ToValidUTF8(clip(text, 4*maxText), "\uFFFD")
	var kept []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimSpace(line)
		if startsNoise(bare) {
			break
		}
		if bare == "" || (bare != line && strings.HasPrefix(bare, "at ")) { // a frame of a stack
			continue
		}
		kept = append(kept, line)
	}
	return clip(c.conceal(strings.Join(kept, "\n")), maxText)
}

func startsNoise(line string) bool {
	for _, start := range noise {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// conceal replaces the client's password and those in addresses.
func (c *Client) conceal(text string) string {
	return userinfo.ReplaceAllString(c.secrets.Replace(text), "://"+blank+"@")
}

// clip cuts a text to n bytes, between characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
