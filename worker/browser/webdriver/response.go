package webdriver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// do sends a command and reads the member value of the response into out (nil: it
// is dropped).
func (c *Client) do(ctx context.Context, method, path string, body, out any) error {
	var reader io.Reader
	if method == http.MethodPost {
		if body == nil {
			body = struct{}{}
		}
		doc, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("webdriver: %s: %w", path, err)
		}
		reader = bytes.NewReader(doc)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return fmt.Errorf("webdriver: the command has no address: %w", errors.Unwrap(err))
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	req.Header.Set("Accept", "application/json")
	if c.user != nil {
		req.Header.Set("Authorization", c.basic())
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.requestError(ctx, err)
	}
	defer resp.Body.Close()
	doc, err := io.ReadAll(io.LimitReader(resp.Body, c.maxBody+1))
	if err != nil {
		return c.requestError(ctx, err)
	}
	if int64(len(doc)) > c.maxBody {
		return &TransportError{Status: resp.StatusCode, Err: fmt.Errorf("the answer is longer than %d bytes", c.maxBody)}
	}
	return c.readResponse(resp.StatusCode, doc, out)
}

// shapeError is a value that is not what the command promises.
type shapeError struct{ err error }

func (e *shapeError) Error() string {
	return "an answer of another shape: " + clip(e.err.Error(), 200) // it may quote the response
}

func (e *shapeError) Unwrap() error { return e.err }

// readResponse reads a body: the value into out, or the error that it describes. It
// also reads what remote ends sent before the protocol was a standard: a numeric
// status in a body of any HTTP status, errors of a message only, and no body at all
// where there is nothing to report.
func (c *Client) readResponse(status int, doc []byte, out any) error {
	ok := status >= 200 && status <= 299
	if ok && out == nil && len(bytes.TrimSpace(doc)) == 0 {
		return nil
	}
	var envelope struct {
		Value   json.RawMessage `json:"value"`
		Status  json.RawMessage `json:"status"`
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(doc, &envelope); err != nil {
		return &TransportError{Status: status, Err: errors.New(c.describe(status, doc))}
	}
	var legacy int
	_ = json.Unmarshal(envelope.Status, &legacy) // absent or text: not legacy
	if !ok || (legacy != 0 && len(envelope.Value) > 0) {
		if len(envelope.Value) == 0 {
			return c.bareError(status, text(envelope.Error), text(envelope.Message))
		}
		return c.valueError(status, legacy, envelope.Value)
	}
	if out == nil {
		return nil
	}
	if len(envelope.Value) == 0 {
		return &TransportError{Status: status, Err: errors.New("an answer without value")}
	}
	if err := json.Unmarshal(envelope.Value, out); err != nil {
		return &TransportError{Status: status, Err: &shapeError{err}}
	}
	return nil
}

// valueError reads the member value of an error.
func (c *Client) valueError(status, legacy int, value json.RawMessage) error {
	var e struct {
		Error      json.RawMessage `json:"error"`
		Message    json.RawMessage `json:"message"`
		StackTrace json.RawMessage `json:"stacktrace"`
	}
	if err := json.Unmarshal(value, &e); err != nil { // some put the message itself there
		e.Message = value
	}
	code, message := text(e.Error), text(e.Message)
	if code == "" {
		code = legacyCodes[legacy]
	}
	switch {
	case code != "":
	case message == "":
		return &TransportError{Status: status, Err: errors.New("an error without code and message")}
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		code = ErrUnknownCommand
	default:
		code = ErrUnknown
	}
	return c.newError(status, code, message, text(e.StackTrace))
}

// bareError reads an error outside of a value: one of the protocol when its code is,
// and otherwise one of something between, such as a proxy.
func (c *Client) bareError(status int, code, message string) error {
	if protocolCodes[code] {
		return c.newError(status, code, message, "")
	}
	shown := c.presentable(strings.TrimSpace(code + " " + message))
	if shown == "" {
		shown = "no WebDriver answer"
	}
	return &TransportError{Status: status, Err: errors.New(shown)}
}

var (
	hidden = regexp.MustCompile(`(?is)<(script|style)\b.*?(</(script|style)\s*>|$)`)
	tags   = regexp.MustCompile(`<[^>]*(>|$)`)
)

// describe returns what came instead of a response: the first words of a proxy's
// page.
func (c *Client) describe(status int, doc []byte) string {
	if status >= 300 && status <= 399 {
		return "a redirect, which is refused"
	}
	page := tags.ReplaceAllString(hidden.ReplaceAllString(clip(string(doc), 4*maxText), " "), " ")
	words := clip(c.presentable(strings.Join(strings.Fields(html.UnescapeString(page)), " ")), 200)
	if words == "" {
		return "no WebDriver answer"
	}
	return "no WebDriver answer: " + words
}

// text reads a JSON string; it is "" for anything else.
func text(doc json.RawMessage) string {
	var s string
	_ = json.Unmarshal(doc, &s)
	return s
}

// legacyCodes are the codes of the JSON Wire Protocol's numbers, which Selenium 3
// and Appium 1 send.
var legacyCodes = map[int]string{
	6: ErrInvalidSession, 7: ErrNoSuchElement, 8: ErrNoSuchFrame, 9: ErrUnknownCommand,
	10: ErrStaleElement, 11: ErrNotInteractable, 12: ErrInvalidState, 13: ErrUnknown,
	15: ErrInvalidState, 17: ErrJavaScript, 19: ErrInvalidSelector, 21: ErrTimeout,
	23: ErrNoSuchWindow, 24: ErrInvalidCookie, 25: ErrSetCookie, 26: ErrUnexpectedAlert,
	27: ErrNoSuchAlert, 28: ErrScriptTimeout, 29: ErrMoveOutOfBounds, 32: ErrInvalidSelector,
	33: ErrSessionNotCreated, 34: ErrMoveOutOfBounds,
}

// protocolCodes are those by which an error that is not in a value is recognized.
var protocolCodes = func() map[string]bool {
	known := map[string]bool{ErrInvalidArgument: true, ErrUnknownMethod: true, ErrUnsupported: true}
	for _, code := range legacyCodes {
		known[code] = true
	}
	return known
}()
