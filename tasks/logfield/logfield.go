// Package logfield carries log attributes in a context, so that a line written
// deep inside a request or a task names both: request_id, task_id, kind,
// attempt. Main wraps its slog handler with Handler; the tiers add attributes
// with With where they become known; everybody logs with the Context methods
// of slog.
package logfield

import (
	"context"
	"log/slog"
)

// Names of the attributes that travel in contexts.
const (
	RequestID = "request_id"
	TaskID    = "task_id"
	Kind      = "kind"
	Attempt   = "attempt"
)

type key struct{}

// With returns a context whose log lines carry the attributes as well.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	have, _ := ctx.Value(key{}).([]slog.Attr)
	all := make([]slog.Attr, 0, len(have)+len(attrs))
	return context.WithValue(ctx, key{}, append(append(all, have...), attrs...))
}

// Get returns the text of an attribute in the context, "" when absent.
func Get(ctx context.Context, name string) string {
	attrs, _ := ctx.Value(key{}).([]slog.Attr)
	for i := len(attrs) - 1; i >= 0; i-- {
		if attrs[i].Key == name {
			return attrs[i].Value.String()
		}
	}
	return ""
}

// Handler wraps a handler so that it adds the context's attributes.
func Handler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if attrs, ok := ctx.Value(key{}).([]slog.Attr); ok {
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
