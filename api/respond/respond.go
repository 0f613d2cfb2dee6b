// Package respond writes answers: it is the only place of the api that writes
// a status, a body and the log line of an error.
//
// JSON and Empty write a success; handlers end with one of them. Error writes a
// failure in the shape of an interface; the router calls it with what a handler
// returned. It finds out what the error means: a *Problem says so itself, the
// errors of package storage have a fixed meaning, and what is left is an internal
// error.
//
// The text of an internal error goes to the log and never to the caller, who
// gets the request id to name it by. A refusal is no error of the service and is
// not logged beyond the request's line. When the caller has gone, nothing is
// written and status 499 stands in the log.
//
// Characters such as & and < are not escaped in JSON: some clients take URLs
// out of the text with sed.
package respond

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/tasks/admission"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

// Interface names the shape of an interface's failures.
type Interface int

// The interfaces.
const (
	InterfaceV3        Interface = iota // {"error":"text"}
	InterfaceLegacy                     // {"status":"fail","code":N,"message":"text"}
	InterfaceAuthoring                  // {"error":{"code":"CODE","detail":"text"}}
	InterfaceCrash                      // {"error":{"code":N,"message":"text"}}
	InterfaceConsole                    // pages; what has none is as in version 3
)

// RequestIDHeader is on every answer.
const RequestIDHeader = "X-Request-Id"

// statusGone marks in logs and metrics that the caller went away first. No
// caller ever sees it.
const statusGone = 499

// logKey is where the router leaves the logger for one request.
const logKey = "slipway.log"

// SetLogger returns the request the logger that failures are written to.
func SetLogger(c *gin.Context, log *slog.Logger) { c.Set(logKey, log) }

func logger(c *gin.Context) *slog.Logger {
	if log, ok := c.Value(logKey).(*slog.Logger); ok {
		return log
	}
	return slog.Default()
}

// RequestID is the request's id, as the header says it and ledger rows keep it.
func RequestID(ctx context.Context) string { return logfield.Get(ctx, logfield.RequestID) }

// JSON writes an answer of the status and body. The error, of a body that cannot be
// encoded, is for the handler to return; nothing is written then.
func JSON(c *gin.Context, status int, body any) error {
	b, err := encode(body)
	if err != nil {
		return err
	}
	write(c, status, b)
	return nil
}

// Empty writes an answer of a status alone, 204 for example. It returns nil, so that
// a handler can end with it.
func Empty(c *gin.Context, status int) error {
	c.Status(status)
	c.Writer.WriteHeaderNow()
	return nil
}

// Private keeps an answer that is a credential out of caches.
func Private(c *gin.Context) { c.Header("Cache-Control", "private, no-store") }

// shape is the body of a failure.
func (p *Problem) shape(of Interface) any {
	type object map[string]any
	switch of {
	case InterfaceLegacy:
		return object{"status": "fail", "code": p.legacyCode(), "message": p.Text}
	case InterfaceAuthoring:
		return object{"error": object{"code": p.authoringCode(), "detail": p.Text}}
	case InterfaceCrash:
		return object{"error": object{"code": p.crashCode(), "message": p.Text}}
	default:
		return object{"error": p.Text}
	}
}

// Error writes a failure in the shape of the interface, and its log line when it is
// the service's own.
func Error(c *gin.Context, of Interface, err error) {
	ctx := c.Request.Context()
	p := Explain(err)
	if p.Status >= http.StatusInternalServerError && Gone(c, err) {
		c.Abort()
		if !c.Writer.Written() {
			c.Status(statusGone)
		}
		return
	}
	if p.Status == http.StatusInternalServerError {
		logger(c).ErrorContext(ctx, "request failed", "route", c.FullPath(), "error", err)
		p = &Problem{Status: p.Status, Text: "internal error; request " + RequestID(ctx)}
	} else if p.Status > http.StatusInternalServerError && !crowded(err) {
		logger(c).WarnContext(ctx, "request could not be served", "route", c.FullPath(), "error", err)
	}
	if c.Writer.Written() {
		// Half an answer is out: nothing can be said any more, only stopped.
		c.Abort()
		return
	}
	pace.Settle(c)
	header := c.Writer.Header()
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(max(1, p.RetryAfter.Round(time.Second)/time.Second))))
	}
	if p.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Basic realm="slipway", charset="UTF-8"`)
	}
	if of == InterfaceCrash {
		if _, said := header["Access-Control-Allow-Origin"]; !said {
			header.Set("Access-Control-Allow-Origin", "*")
		}
	}
	if of == InterfaceLegacy && p.Status == http.StatusConflict {
		p = p.with(http.StatusBadRequest) // a duplicate is code 2 with 400 there
	}
	b, encodeErr := encode(p.shape(of))
	if encodeErr != nil {
		b = []byte("{}\n") // strings and numbers always encode
	}
	write(c, p.Status, b)
	c.Abort()
}

// crowded reports whether a request was refused for want of a place. Metrics count these;
// lines would be as many as a flood has requests.
func crowded(err error) bool {
	var full *admission.FullError
	var slow *pace.SlowError
	return errors.As(err, &full) || errors.As(err, &slow)
}

// Gone reports whether the caller of a request that failed went away. One that was too slow
// is still there, although net/http ends the request's context for it as well.
func Gone(c *gin.Context, err error) bool {
	return context.Cause(c.Request.Context()) == context.Canceled && //nolint:errorlint // cancelled without a cause of its own
		!errors.Is(err, os.ErrDeadlineExceeded)
}

func encode(body any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func write(c *gin.Context, status int, body []byte) {
	header := c.Writer.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	c.Status(status)
	// A write fails when the caller has gone: nobody is left to read an error.
	_, _ = c.Writer.Write(body)
}
