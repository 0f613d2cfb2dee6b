package intake

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/api/groupcommit"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Codes of the crash interface, in the member error.code.
const (
	codeMalformed   = report.CodeMalformed
	codeMember      = report.CodeMember
	codeFormat      = 3
	codeExists      = 4
	codeEncoding    = report.CodeEncoding
	codeToken       = 6
	codeScope       = 7
	codeTooLarge    = 8
	codeQuota       = 9
	codeUnavailable = 10
)

// Reasons for which requests are rejected, as the Observer counts them.
const (
	ReasonMalformed   = "malformed"
	ReasonMember      = "member"
	ReasonFormat      = "format"
	ReasonUUID        = "uuid"
	ReasonEncoding    = "encoding"
	ReasonToken       = "token"
	ReasonScope       = "scope"
	ReasonTooLarge    = "too_large"
	ReasonQuota       = "quota"
	ReasonUnavailable = "unavailable"
	ReasonGone        = "gone" // the client went away before its answer
	ReasonInternal    = "internal"
)

// retryAfter is the time that 503 tells clients to wait: a database restart takes this long.
const retryAfter = 5 * time.Second

// failure is a refusal: what is written, and the reason that the Observer counts.
type failure struct {
	respond.Problem
	reason string
}

func refuse(status, code int, reason, msg string) *failure {
	return &failure{respond.Problem{Status: status, Crash: code, Text: msg}, reason}
}

func malformed(msg string) *failure {
	return refuse(http.StatusBadRequest, codeMalformed, ReasonMalformed, msg)
}

func member(name, msg string) *failure {
	return refuse(http.StatusBadRequest, codeMember, ReasonMember, name+": "+msg)
}

func encodingFailure(msg string) *failure {
	return refuse(http.StatusBadRequest, codeEncoding, ReasonEncoding, msg)
}

func tooLarge(format string, args ...any) *failure {
	return refuse(http.StatusRequestEntityTooLarge, codeTooLarge, ReasonTooLarge, fmt.Sprintf(format, args...))
}

func forbidden(msg string) *failure {
	return refuse(http.StatusForbidden, codeToken, ReasonToken, msg)
}

// unavailable keeps the cause for the log, and says why in a few words where the
// database or the object store cannot serve.
func unavailable(msg string, cause error) *failure {
	if why := respond.Cause(cause); why != "" {
		msg += " (" + why + ")"
	}
	f := refuse(http.StatusServiceUnavailable, codeUnavailable, ReasonUnavailable, msg)
	f.RetryAfter, f.Err = retryAfter, cause
	return f
}

// refusal turns the errors of package report into a failure.
func refusal(err error) error {
	var re *report.Error
	if !errors.As(err, &re) {
		return err
	}
	reason := ReasonMalformed
	switch re.Code {
	case codeMember:
		reason = ReasonMember
	case codeEncoding:
		reason = ReasonEncoding
	}
	return refuse(http.StatusBadRequest, re.Code, reason, re.Error())
}

// refuse counts a failure and writes it.
func (in *intake) refuse(err error) {
	in.mustTake(0)
	var f *failure
	var full *admission.FullError
	var beyond *quota.ExceededError
	switch {
	case errors.As(err, &f):
	case errors.As(err, &beyond):
		f = overQuota(beyond)
	case errors.As(err, &full):
		f = unavailable("too many reports at once: send it again later", err)
	case errors.Is(err, groupcommit.ErrBusy), storage.Unavailable(err), errors.Is(err, object.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrStale): // the interface has no 409
		f = unavailable("the report cannot be stored now: send it again later", err)
	default:
		in.rejected(http.StatusInternalServerError, ReasonInternal, err)
		respond.Error(in.c, respond.InterfaceCrash, err)
		return
	}
	in.rejected(f.Status, f.reason, err)
	respond.Error(in.c, respond.InterfaceCrash, &f.Problem)
}

// rejected counts a refusal. What failed because its client had gone says
// nothing of the service.
func (in *intake) rejected(status int, reason string, err error) {
	if status >= http.StatusInternalServerError && respond.Gone(in.c, err) {
		reason = ReasonGone
	}
	in.r.cfg.Observer.Rejected(reason)
}
