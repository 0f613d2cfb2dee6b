package traffic

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// Body is the body of a request or a response, its encoding undone.
type Body struct {
	Data []byte
	Text bool // the browser took it for a text, and Data is its UTF-8
}

// BodyError is why a body cannot be had, in words for people.
type BodyError struct {
	Text string
	Err  error // for the log; nil when nothing was asked of the browser
}

func (e *BodyError) Error() string { return e.Text }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.Err }

// RequestBody returns the body of a request; an empty one where it had none. The error is
// a *BodyError or an *UnavailableError, or that of a connection that ended.
func (r *Recorder) RequestBody(ctx context.Context, e Entry) (Body, error) {
	if e.RequestSize == 0 {
		return Body{Text: true}, nil
	}
	body, err := r.body(ctx, e, "request", e.RequestSize)
	// Chromium forgets it with the page, other than that of a response.
	var gone *BodyError
	if errors.As(err, &gone) && gone.Err != nil && e.posted != "" {
		return Body{Data: []byte(e.posted), Text: true}, nil
	}
	return body, err
}

// ResponseBody returns the body of a response that has ended, as RequestBody does.
func (r *Recorder) ResponseBody(ctx context.Context, e Entry) (Body, error) {
	switch {
	case e.Failure != "":
		return Body{}, &BodyError{Text: "the request failed: " + e.Failure}
	case !e.Done:
		return Body{}, &BodyError{Text: "the response has not ended yet"}
	case e.Status >= 300 && e.Status < 400: // browsers do not read it
		return Body{Text: true}, nil
	case e.BodySize == 0 && e.TransferSize == 0:
		return Body{Text: true}, nil
	}
	size := e.BodySize
	if size == 0 { // a driver that does not say
		size = e.TransferSize
	}
	return r.body(ctx, e, "response", size)
}

func (r *Recorder) body(ctx context.Context, e Entry, kind string, size int64) (Body, error) {
	if r.collector == "" {
		return Body{}, &UnavailableError{Text: "this browser's driver keeps no bodies of requests and responses", Err: r.noBodies}
	}
	if size > int64(r.cfg.MaxBody) {
		return Body{}, r.tooLarge()
	}
	var result struct {
		Bytes bytes `json:"bytes"`
	}
	err := r.conn.Command(ctx, "network.getData", map[string]any{"request": e.Request, "dataType": kind, "collector": r.collector}, &result)
	if webdriver.Is(err, "no such network data", "no such request", "unavailable network data", webdriver.ErrUnknown,
		webdriver.ErrInvalidArgument) {
		return Body{}, &BodyError{Text: "the browser has no body of it any more", Err: err}
	}
	if err != nil {
		return Body{}, err
	}
	data, text, err := result.Bytes.data()
	if err != nil {
		return Body{}, &BodyError{Text: "the browser gave a body that cannot be read", Err: err}
	}
	if len(data) > r.cfg.MaxBody {
		return Body{}, r.tooLarge()
	}
	return Body{Data: data, Text: text}, nil
}

func (r *Recorder) tooLarge() *BodyError {
	return &BodyError{Text: fmt.Sprintf("the body is larger than %d KiB", r.cfg.MaxBody>>10)}
}
