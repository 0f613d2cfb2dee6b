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

// Error is an answer of the remote end that says what went wrong.
type Error struct {
	Status     int    // of HTTP; 0 for BiDi
	Code       string // of the protocol
	Message    string // without what drivers add to it; at most 4 KiB
	StackTrace string // of the driver, for logs; at most 4 KiB
}

func (e *Error) Error() string { return "webdriver: " + e.Code + ": " + e.Message }

// The codes that callers decide on (WebDriver, section 6.6).
const (
	ErrClickIntercepted  = "element click intercepted"
	ErrNotInteractable   = "element not interactable"
	ErrInsecureCert      = "insecure certificate"
	ErrInvalidArgument   = "invalid argument"
	ErrInvalidCookie     = "invalid cookie domain"
	ErrInvalidState      = "invalid element state"
	ErrInvalidSelector   = "invalid selector"
	ErrInvalidSession    = "invalid session id"
	ErrJavaScript        = "javascript error"
	ErrMoveOutOfBounds   = "move target out of bounds"
	ErrNoSuchAlert       = "no such alert"
	ErrNoSuchCookie      = "no such cookie"
	ErrNoSuchElement     = "no such element"
	ErrNoSuchFrame       = "no such frame"
	ErrNoSuchShadowRoot  = "no such shadow root"
	ErrNoSuchWindow      = "no such window"
	ErrScriptTimeout     = "script timeout"
	ErrSessionNotCreated = "session not created"
	ErrStaleElement      = "stale element reference"
	ErrDetachedShadow    = "detached shadow root"
	ErrSetCookie         = "unable to set cookie"
	ErrTimeout           = "timeout"
	ErrUnexpectedAlert   = "unexpected alert open"
	ErrUnknown           = "unknown error"
	ErrUnknownCommand    = "unknown command"
	ErrUnknownMethod     = "unknown method"
	ErrUnsupported       = "unsupported operation"
	// ErrNavigated is chromedriver's own: another page came while it was at a command.
	ErrNavigated = "aborted by navigation"
)

// Is reports whether err is an answer of the remote end with one of the codes.
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

// TransportError says that no answer came, or none of the protocol.
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

// Unwrap gives the cause; when a context ended it is that context's error.
func (e *TransportError) Unwrap() error { return e.Err }

// ended is the error for a context that ended.
func ended(ctx context.Context) *TransportError {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return &TransportError{Err: err}
}

// noAnswer is the error for a request that failed.
func (c *Client) noAnswer(ctx context.Context, err error) *TransportError {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	var ue *url.Error
	if errors.As(err, &ue) { // its text has the whole address
		err = ue.Err
	}
	return &TransportError{Err: c.shown(err)}
}

// shownError is an error of the connection whose text quotes what came over it.
type shownError struct {
	text string
	err  error
}

func (e *shownError) Error() string { return e.text }

func (e *shownError) Unwrap() error { return e.err }

func (c *Client) shown(err error) error {
	return &shownError{clip(c.conceal(clip(err.Error(), maxText)), 300), err}
}

// newError makes the error of a code and a message as they came.
func (c *Client) newError(status int, code, message, stack string) *Error {
	code = clip(strings.ToValidUTF8(code, ""), maxCode)
	// chromedriver repeats the code in front of the message.
	message = strings.TrimPrefix(c.tidy(message), code+": ")
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

// tidy makes a remote end's text fit to be shown: without the noise of drivers and
// without secrets, bounded.
func (c *Client) tidy(text string) string {
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

// conceal blanks the client's password and those in addresses.
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
