package command

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

// exitCodes is the table of --help.
const exitCodes = `Exit codes:
  0    Passed: done, and what was asked for holds.
  1    Failed: a test, or none that ran, the gate, a file that the server refuses; 0 with --allow-failure.
  2    Wrong use: a flag, a file that is not there, a setting that is missing.
  3    Could not ask: network, certificate, or an error of the server.
  4    Timed out: the time of --timeout is over.
  5    Refused: no key, a wrong one, or too few rights.
  130  Interrupted by ctrl-C (143: by SIGTERM).
`

// Outcome is an error that says its exit code.
type Outcome struct {
	Code Code
	Err  error
}

func (o *Outcome) Error() string { return o.Err.Error() }

// Unwrap returns the cause.
func (o *Outcome) Unwrap() error { return o.Err }

// fail returns an Outcome with a text.
func fail(code Code, format string, args ...any) error {
	return &Outcome{Code: code, Err: fmt.Errorf(format, args...)}
}

// errTimeout is the cause of a context whose --timeout is over.
var errTimeout = errors.New("the time of --timeout is over")

// interruption is the cause of a context that a signal ended.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string { return "interrupted" }

// interrupted reports whether a command ends for a signal.
func interrupted(ctx context.Context) bool {
	var i *interruption
	return errors.As(context.Cause(ctx), &i)
}

// refusedFile makes a refusal of what was sent, after it was looked at here, one that exits with 1:
// the file or what is said of it is not as the server takes it.
func refusedFile(err error) error {
	var asked *client.Error
	if !errors.As(err, &asked) {
		return err
	}
	switch asked.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return &Outcome{Code: Failed, Err: err}
	}
	return err
}

// codeOf returns the exit code for what a command returned.
func codeOf(err error) Code {
	var said *Outcome
	var asked *client.Error
	var signal *interruption
	switch {
	case err == nil:
		return Passed
	case errors.As(err, &said):
		return said.Code
	case errors.As(err, &signal):
		if signal.signal == syscall.SIGTERM {
			return 143
		}
		return Interrupted
	case errors.Is(err, errTimeout):
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
