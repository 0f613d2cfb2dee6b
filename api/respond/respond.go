// Package respond writes answers: it is the only place of the api that writes
// a status, a body and the log line of an error.
//
// JSON writes a success. Each interface has its own shape of failure, and a
// function for it: V3, Legacy (v1, v2 and upload), Authoring and Crash; Error
// picks one by the interface of a route. All of them take an error and find out
// what it means: a *Problem says so itself, the errors of package storage have a
// fixed meaning, and what is left is an internal error.
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
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

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
)

// RequestIDHeader is on every answer.
const RequestIDHeader = "X-Request-Id"

// statusGone marks in logs and metrics that the caller went away first. No
// caller ever sees it.
const statusGone = 499

// logKey is where the router leaves the logger for one request.
const logKey = "slipway.log"

// SetLogger gives the request the logger that failures are written to.
func SetLogger(c *gin.Context, log *slog.Logger) { c.Set(logKey, log) }

func logger(c *gin.Context) *slog.Logger {
	if log, ok := c.Value(logKey).(*slog.Logger); ok {
		return log
	}
	return slog.Default()
}

// RequestID is the request's id, as the header says it and ledger rows keep it.
func RequestID(ctx context.Context) string { return logfield.Get(ctx, logfield.RequestID) }

// JSON answers with the status and body.
func JSON(c *gin.Context, status int, body any) {
	b, err := encode(body)
	if err != nil {
		V3(c, err)
		return
	}
	write(c, status, b)
}

// Empty answers with a status alone, 204 for example.
func Empty(c *gin.Context, status int) {
	c.Status(status)
	c.Writer.WriteHeaderNow()
}

// V3 answers a failure of version 3 of the distribution interface.
func V3(c *gin.Context, err error) { fail(c, InterfaceV3, err) }

// Legacy answers a failure of version 1, version 2 and the upload interface.
func Legacy(c *gin.Context, err error) { fail(c, InterfaceLegacy, err) }

// Authoring answers a failure of the authoring interface.
func Authoring(c *gin.Context, err error) { fail(c, InterfaceAuthoring, err) }

// Crash answers a failure of crash submission.
func Crash(c *gin.Context, err error) { fail(c, InterfaceCrash, err) }

// Error answers a failure in the shape of the interface.
func Error(c *gin.Context, of Interface, err error) { fail(c, of, err) }

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

func fail(c *gin.Context, of Interface, err error) {
	ctx := c.Request.Context()
	p := Explain(err)
	if p.Status >= http.StatusInternalServerError && context.Cause(ctx) == context.Canceled {
		c.Abort()
		if !c.Writer.Written() {
			c.Status(statusGone)
		}
		return
	}
	if p.Status == http.StatusInternalServerError {
		logger(c).ErrorContext(ctx, "request failed", "route", c.FullPath(), "error", err)
		p = &Problem{Status: p.Status, Text: "internal error; request " + RequestID(ctx)}
	} else if p.Status > http.StatusInternalServerError {
		logger(c).WarnContext(ctx, "request could not be served", "route", c.FullPath(), "error", err)
	}
	if c.Writer.Written() {
		// Half an answer is out: nothing can be said any more, only stopped.
		c.Abort()
		return
	}
	header := c.Writer.Header()
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(max(1, p.RetryAfter.Round(time.Second)/time.Second))))
	}
	if p.Status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", `Basic realm="slipway", charset="UTF-8"`)
	}
	if of == InterfaceCrash {
		header.Set("Access-Control-Allow-Origin", "*")
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
	// A write fails when the caller has gone: there is nobody to tell.
	_, _ = c.Writer.Write(body)
}
