package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// Code is an exit code.
type Code int

// The exit codes, as --help shows them.
const (
	Passed   Code = 0 // done, and what was asked for holds
	Failed   Code = 1 // tests failed, the gate is closed, the server refuses a file
	Misused  Code = 2 // a wrong flag, a file that is not there, a setting that is missing
	NotAsked Code = 3 // the server could not be asked: network, TLS, or its own error
	TimedOut Code = 4 // --timeout is over
	Refused  Code = 5 // no key, a wrong one, or too few rights
)

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

// codeOf returns the exit code for what a command returned.
func codeOf(err error) Code {
	var said *Outcome
	var asked *client.Error
	switch {
	case err == nil:
		return Passed
	case errors.As(err, &said):
		return said.Code
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
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
