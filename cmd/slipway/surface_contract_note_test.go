package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"sync"

	"github.com/stretchr/testify/require"
)

// errUnsendable is a request that the client itself refuses to send.
var errUnsendable = errors.New("the client does not send this")

var digits = regexp.MustCompile(`[0-9]+|"[^"]*"`)

// note keeps what was wrong with an answer: each kind of fault of an operation once, with
// a few examples.
func (w *contract) note(o *operation, s sent, got receivedAnswer, err error) {
	if errors.Is(err, errUnsendable) {
		return
	}
	w.sent++
	w.statuses[got.status]++
	cause := w.failures.take()
	if err == nil && cause != "" {
		err = errors.New("an internal error was logged")
	}
	if err == nil {
		return
	}
	kind := fmt.Sprintf("%s %s: %d: %s", o.method, o.path, got.status, digits.ReplaceAllString(err.Error(), "#"))
	if len(kind) > 300 {
		kind = kind[:300]
	}
	if cause != "" {
		cause = "\n    logged: " + cause
	}
	w.faults[kind] = append(w.faults[kind], fmt.Sprintf("%s %s: %s (as %s): %d: %v\n    sent %.200q ?%.200s %.200q\n    received %.300s%s",
		s.method, o.path, s.what, s.as, got.status, err, s.path, s.query, s.body, got.body, cause))
}

// repair undoes what would make all further requests fail: settings of the sign-in.
func (w *contract) repair(o *operation) {
	got, err := w.make(sent{method: http.MethodGet, path: v3 + "/settings/organization", as: "owner"})
	require.NoError(w.t, err)
	if got.status == http.StatusOK {
		return
	}
	w.t.Logf("after %s %s the owner's key is refused: %d %s", o.method, o.path, got.status, got.body)
	for _, statement := range []string{
		`update oidc_configurations set enabled = false`,
		`update memberships set role = 'owner', blocked_at = null where user_id = $1`,
		`update api_keys set revoked_at = null where user_id = $1`,
	} {
		args := []any{w.boot.Owner.ID}
		if statement == `update oidc_configurations set enabled = false` {
			args = nil
		}
		_, err := w.db.ExecContext(w.t.Context(), statement, args...)
		require.NoError(w.t, err)
	}
}

// failureLog keeps the internal errors that the api logs.
type failureLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *failureLog) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelError
}

func (l *failureLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "request failed" && r.Message != "handler panicked" {
		return nil // of the worker
	}
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%.1500s", a.Key, a.Value)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	return nil
}

func (l *failureLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *failureLog) WithGroup(string) slog.Handler { return l }

// take returns the first line since it was last asked.
func (l *failureLog) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return ""
	}
	line := l.lines[0]
	l.lines = nil
	return line
}
