// Package logfield carries log attributes in a context, so that a line written
// deep inside a request or a task names both.
//
// Main wraps its slog handler with Handler. The tiers add attributes with With
// where they become known: the api adds request_id, the worker task_id, kind and
// attempt. Every line that is then logged with a Context method of slog has them:
//
//	log.InfoContext(ctx, "mail sent") // ... request_id=r1 task_id=t1 kind=mail:send
//
// A line without a context has none of them; nothing else can go wrong. Attributes
// that are added to a context are not visible to its parent.
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

// With returns a context whose log lines have the attributes as well.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	have, _ := ctx.Value(key{}).([]slog.Attr)
	all := make([]slog.Attr, 0, len(have)+len(attrs))
	return context.WithValue(ctx, key{}, append(append(all, have...), attrs...))
}

// Get returns the text of an attribute in the context, "" when there is none.
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
