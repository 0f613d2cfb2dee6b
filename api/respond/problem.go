package respond

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Problem is a failure that says itself how it is written. Text is meant for
// the caller. The codes are for the interfaces that have them; a zero value stands
// for the code that the status has in the interface.
type Problem struct {
	Status     int
	Text       string
	Legacy     int           // v1, v2 and upload
	Authoring  string        // machine code
	Crash      int           // crash submission
	RetryAfter time.Duration // 0: the header is not set
	Err        error         // for the log
}

func (p *Problem) Error() string {
	if p.Err != nil {
		return p.Text + ": " + p.Err.Error()
	}
	return p.Text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

func (p *Problem) with(status int) *Problem {
	c := *p
	c.Legacy, c.Status = p.legacyCode(), status
	return &c
}

// retryUnavailable is what a caller should wait when the database is away: a
// restart or a failover takes some seconds.
const retryUnavailable = 5 * time.Second

// retrySlow is what a sender whose body was too slow should wait.
const retrySlow = 5 * time.Second

// Explain returns how an error is written. What it does not know is a 500.
func Explain(err error) *Problem {
	var p *Problem
	var invalid *storage.InvalidError
	var tooLarge *http.MaxBytesError
	var beyond *quota.ExceededError
	var slow *pace.SlowError
	var full *admission.FullError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &invalid):
		return &Problem{Status: http.StatusBadRequest, Text: invalid.Error(), Err: err}
	case errors.As(err, &beyond):
		return quotaExceeded(beyond)
	case errors.As(err, &tooLarge):
		return &Problem{Status: http.StatusRequestEntityTooLarge,
			Text: fmt.Sprintf("the body is longer than %d bytes", tooLarge.Limit)}
	case errors.As(err, &slow):
		return &Problem{Status: http.StatusRequestTimeout, Text: slow.Error(), RetryAfter: retrySlow, Err: err}
	case errors.As(err, &full):
		return &Problem{Status: http.StatusTooManyRequests, Text: "too many requests of this kind at once: try again later",
			RetryAfter: full.RetryAfter, Err: err}
	case errors.Is(err, storage.ErrNotFound):
		return &Problem{Status: http.StatusNotFound, Text: "not found", Err: err}
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrStale):
		return &Problem{Status: http.StatusConflict, Text: "in conflict with what is stored", Err: err}
	case errors.Is(err, object.ErrUnavailable):
		return objectsUnavailable(err)
	case storage.Unavailable(err):
		return &Problem{Status: http.StatusServiceUnavailable, Text: because("the service is not available at the moment", storage.Reason(err)),
			RetryAfter: retryUnavailable, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Problem{Status: http.StatusServiceUnavailable, Text: "the request took too long",
			RetryAfter: retryUnavailable, Err: err}
	default:
		return &Problem{Status: http.StatusInternalServerError, Text: "internal error", Err: err}
	}
}

// quotaExceeded is how a quota that is used up is written: what is bounded a day is 429 until
// the day ends. What is kept is 413, which says that the content is too large and which
// clients, as opposed to 5xx, do not send again by themselves.
func quotaExceeded(full *quota.ExceededError) *Problem {
	if full.Resource.Daily() {
		return &Problem{Status: http.StatusTooManyRequests, Text: full.Error(), RetryAfter: max(full.Again, time.Second), Err: full}
	}
	return &Problem{Status: http.StatusRequestEntityTooLarge, Text: full.Error(), Err: full}
}

// retryFull is what a caller should wait when there is no room: somebody has to make
// some.
const retryFull = time.Minute

// objectsUnavailable says why files can be neither stored nor read.
func objectsUnavailable(err error) *Problem {
	p := &Problem{Status: http.StatusServiceUnavailable, Text: "the object store is not available at the moment",
		RetryAfter: retryUnavailable, Err: err}
	var why *object.UnavailableError
	if errors.As(err, &why) {
		p.Text = because(p.Text, why.Reason)
	}
	if errors.Is(err, object.ErrFull) {
		p.RetryAfter = retryFull
	}
	return p
}

// Cause returns, in a few words without host or secret, why the database or the object
// store cannot serve; "" where err is something else, or no more is known.
func Cause(err error) string {
	var objects *object.UnavailableError
	switch {
	case errors.As(err, &objects):
		return objects.Reason
	case storage.Unavailable(err):
		return storage.Reason(err)
	}
	return ""
}

// because adds a reason to a text, where there is one.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}

func (p *Problem) legacyCode() int {
	if p.Legacy != 0 {
		return p.Legacy
	}
	switch p.Status {
	case http.StatusBadRequest:
		return 1
	case http.StatusConflict:
		return 2
	case http.StatusUnauthorized, http.StatusForbidden:
		return 5
	}
	return p.Status
}

func (p *Problem) authoringCode() string {
	if p.Authoring != "" {
		return p.Authoring
	}
	switch p.Status {
	case http.StatusBadRequest:
		return "INVALID_BODY"
	case http.StatusUnauthorized:
		return "UNAUTHORIZED"
	case http.StatusForbidden:
		return "FORBIDDEN"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusMethodNotAllowed:
		return "METHOD_NOT_ALLOWED"
	case http.StatusConflict:
		return "CONFLICT"
	case http.StatusRequestEntityTooLarge:
		return "TOO_LARGE"
	case http.StatusTooManyRequests:
		return "TOO_MANY_REQUESTS"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	return "INTERNAL"
}

func (p *Problem) crashCode() int {
	if p.Crash != 0 {
		return p.Crash
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed:
		return 1
	case http.StatusNotFound:
		return 3
	case http.StatusUnauthorized, http.StatusForbidden:
		return 6
	case http.StatusRequestEntityTooLarge:
		return 8
	case http.StatusTooManyRequests:
		return 9
	}
	return 10
}
