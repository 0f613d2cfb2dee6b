package storage

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/lib/pq"
)

// Errors that callers decide on. Stores return them wrapped.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrStale       = errors.New("stale: another worker holds the task")
	ErrUnavailable = errors.New("database not available")
)

// InvalidError names a value that breaks a rule. Its text is meant for the one
// who sent it.
type InvalidError struct{ Field, Msg string }

func (e *InvalidError) Error() string { return e.Field + ": " + e.Msg }

// UnknownOutcomeError means that the connection was lost while committing: only
// a new read can show whether the transaction took effect.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string { return "commit, outcome unknown: " + e.Err.Error() }

// Unwrap returns both the cause and ErrUnavailable.
func (e *UnknownOutcomeError) Unwrap() []error { return []error{e.Err, ErrUnavailable} }

// Wrap adds context and meaning to a driver's error: no rows is
// ErrNotFound, a broken unique or foreign key rule ErrConflict, a lost or
// refused connection ErrUnavailable. Wrap of nil is nil.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	var pe *pq.Error
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", doing, ErrNotFound)
	case errors.As(err, &pe) && (pe.Code == "23505" || pe.Code == "23503"):
		return fmt.Errorf("%s: %w: %w", doing, ErrConflict, err)
	case isConnection(err):
		return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Unavailable reports whether an error means that the database cannot serve at the
// moment, also an error of the driver that no store has wrapped.
func Unavailable(err error) bool {
	if errors.Is(err, ErrUnavailable) {
		return true
	}
	var pe *pq.Error
	return errors.As(err, &pe) && isConnection(err)
}

// IsData reports whether an error lies in the data of a statement, so that the
// same statement with other rows may succeed: a value out of range, a text the
// server refuses, a broken check. Lost connections, deadlocks, timeouts and
// full disks are not.
func IsData(err error) bool {
	var pe *pq.Error
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code.Class() {
	case "22", "23": // data exception, integrity constraint violation
		return true
	case "54": // program limit exceeded: an index row too large
		return true
	}
	return false
}

// IsLocked reports whether a statement gave up waiting for a lock (lock_timeout).
func IsLocked(err error) bool {
	var pe *pq.Error
	return errors.As(err, &pe) && pe.Code == "55P03"
}

// passing are the server's codes for what another try may find gone: no
// resources (class 53: too many connections, disk full, no memory), a disk that fails
// (class 58), a statement
// or a session that took too long, transactions that stood in each other's way,
// and a replica that has not become the primary yet.
func passing(err *pq.Error) bool {
	switch err.Code {
	case "57014", "25P03", "25006", "40001", "40P01", "55P03":
		return true
	}
	return err.Code.Class() == "53" || err.Code == "58000" || err.Code == "58030"
}

// isConnection reports whether the connection or the server, not the statement,
// failed: network errors and the server's classes 08 (connection) and 57P
// (shutdown, crash, starting up), and what passes.
func isConnection(err error) bool {
	var ce *ConnectError
	if errors.As(err, &ce) {
		return true
	}
	var pe *pq.Error
	if errors.As(err, &pe) {
		return pe.Code.Class() == "08" || strings.HasPrefix(string(pe.Code), "57P") || passing(pe)
	}
	var oe *net.OpError
	if errors.As(err, &oe) {
		return true // also a dial that timed out, which looks like a deadline
	}
	var ne net.Error
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return errors.As(err, &ne) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
