// Package outcome says how a command of slipway-ci ended: the errors that carry an exit code, and the
// code of everything else that a command returns.
//
// A pipeline decides by the code alone, so each means one thing for whoever reads a red job: 1 that
// what was asked for does not hold, 2 that the call is wrong, 3 that the server could not be asked.
// Codes says so in --help. A command returns Fail with a code and a text; errors of the client, of
// the timeout and of signals have theirs from CodeOf.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// Code is an exit code.
type Code int

// The exit codes, as --help shows them.
const (
	Passed      Code = 0   // done, and what was asked for holds
	Failed      Code = 1   // tests failed, the gate is closed, the server refuses a file
	Misused     Code = 2   // a wrong flag, a file that is not there, a setting that is missing
	NotAsked    Code = 3   // the server could not be asked: network, TLS, or its own error
	TimedOut    Code = 4   // --timeout is over
	Refused     Code = 5   // no key, a wrong one, or too few rights
	Interrupted Code = 130 // ctrl-C; 143 when it was told to end
)

// Codes is the table of --help.
const Codes = `Exit codes:
  0    Passed: done, and what was asked for holds.
  1    Failed: a test, or none that ran, the gate, a file that the server refuses; 0 with --allow-failure.
  2    Wrong use: a flag, a file that is not there, a setting that is missing.
  3    Could not ask: network, certificate, or an error of the server.
  4    Timed out: the time of --timeout is over.
  5    Refused: no key, a wrong one, or too few rights.
  130  Interrupted by ctrl-C (143: by SIGTERM).
`

// Error is an error that says its exit code.
type Error struct {
	Code Code
	Err  error
}

func (o *Error) Error() string { return o.Err.Error() }

// Unwrap returns the cause.
func (o *Error) Unwrap() error { return o.Err }

// Fail returns an Error with a text.
func Fail(code Code, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// ErrTimeout is the cause of a context whose --timeout is over.
var ErrTimeout = errors.New("the time of --timeout is over")

// Interruption is the cause of a context that a signal ended.
type Interruption struct{ Signal os.Signal }

func (i *Interruption) Error() string { return "interrupted" }

// Signalled reports whether a command ends for a signal.
func Signalled(ctx context.Context) bool {
	var i *Interruption
	return errors.As(context.Cause(ctx), &i)
}

// RefusedFile makes a refusal of what was sent, after it was looked at here, one that exits with 1:
// the file or what is said of it is not as the server takes it.
func RefusedFile(err error) error {
	var asked *client.Error
	if !errors.As(err, &asked) {
		return err
	}
	switch asked.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &Error{Code: Failed, Err: err}
	}
	return err
}

// CodeOf returns the exit code for what a command returned.
func CodeOf(err error) Code {
	var said *Error
	var asked *client.Error
	var signal *Interruption
	switch {
	case err == nil:
		return Passed
	case errors.As(err, &said):
		return said.Code
	case errors.As(err, &signal):
		if signal.Signal == syscall.SIGTERM {
			return 143
		}
		return Interrupted
	case errors.Is(err, ErrTimeout):
		return TimedOut
	case !errors.As(err, &asked):
		return Failed
	}
	switch asked.Kind {
	case client.Refused:
		return Refused
	case client.Misused, client.Missing:
		return Misused
	case client.Conflict:
		return Failed
	}
	return NotAsked
}
