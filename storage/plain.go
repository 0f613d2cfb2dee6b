package storage

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"
)

// PlainError is an error for a person at a terminal. Err is what the driver said.
type PlainError struct {
	Text string
	Err  error
}

func (e *PlainError) Error() string { return e.Text }

// Unwrap returns the error that the text is about.
func (e *PlainError) Unwrap() error { return e.Err }

// Plain returns an error of the database as a sentence without the driver's words, with
// the use case that failed in front of it. Others stay as they are.
func Plain(err error) error {
	var unknown *UnknownOutcomeError
	var invalid *InvalidError
	var server *pq.Error
	switch {
	case err == nil, errors.As(err, &invalid):
		return err
	case errors.As(err, &unknown):
		return plain(err, "the connection to the database was lost while it committed: look whether the change is there before you try again")
	case errors.As(err, &server) && plainServer(server) != "":
		return plain(err, plainServer(server))
	case Unavailable(err):
		return plain(err, unreachable(err))
	case errors.Is(err, ErrNotFound):
		return plain(err, "not found")
	case errors.Is(err, ErrConflict):
		return plain(err, "this conflicts with what is there already")
	case errors.As(err, &server):
		return plain(err, "the database refused the statement (code "+string(server.Code)+")")
	case errors.Is(err, context.DeadlineExceeded):
		return plain(err, "the database did not answer in time")
	}
	return err
}

// plainServer says what some of the server's codes mean; "" for others.
func plainServer(err *pq.Error) string {
	switch err.Code {
	case "23505":
		return "this exists already"
	case "23503":
		if strings.Contains(err.Detail, "still referenced") {
			return "something else still needs it"
		}
		return "it names something that does not exist"
	case "23502", "23514":
		return "a value is missing or breaks a rule of the database"
	case "42P01", "42703", "42883", "3F000":
		return "the database has no schema of this version: run slipway migrate"
	case "42501":
		return "the user of SLIPWAY_DATABASE_URL may not do this in the database"
	case "28P01", "28000":
		return "the database refuses the user or the password of SLIPWAY_DATABASE_URL"
	case "3D000":
		return "the server has no database of the name in SLIPWAY_DATABASE_URL"
	case "57014":
		return "the database did not answer in time"
	}
	return ""
}

// unreachable says why there is no connection.
func unreachable(err error) string {
	text := "the database cannot be reached"
	var failed *ConnectError
	if errors.As(err, &failed) && failed.Host != "" {
		text += " at " + failed.Host
	}
	if reason := Reason(err); reason != "" {
		text += " (" + reason + ")"
	}
	return text + ": see SLIPWAY_DATABASE_URL"
}

// plain puts the use case, which is what the stores wrote before the kind of the error,
// in front of a sentence.
func plain(err error, sentence string) error {
	text := err.Error()
	end := len(text)
	for _, kind := range []string{ErrNotFound.Error(), ErrConflict.Error(), ErrUnavailable.Error(), "pq: ", "sql: ", "connect to ",
		"commit, outcome unknown: ", context.DeadlineExceeded.Error()} {
		if at := strings.Index(text, kind); at == 0 || at > 1 && text[at-2:at] == ": " {
			end = min(end, at)
		}
	}
	if of := strings.TrimSuffix(text[:end], ": "); end < len(text) && of != "" {
		sentence = of + ": " + sentence
	}
	return &PlainError{Text: sentence, Err: err}
}
