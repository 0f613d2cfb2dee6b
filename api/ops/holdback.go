package ops

import (
	"context"
	"log/slog"
)

// dependencyKey is the attribute by which a line without an error names the
// dependency that it is about.
const dependencyKey = "dependency"

// Handler holds back warnings and errors that a failing dependency causes; they are
// written at level debug in their place, and counted in the lines of Dependencies.
// These go to a logger of their own, which Handler does not wrap.
func (d *Dependencies) Handler(next slog.Handler) slog.Handler { return &holding{next, d} }

type holding struct {
	slog.Handler
	dependencies *Dependencies
}

// Handle implements slog.Handler.
func (h *holding) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.Handler.Handle(ctx, r)
	}
	held, summary := h.held(r)
	if !held {
		r = r.Clone()
		r.Add(summary...)
		return h.Handler.Handle(ctx, r)
	}
	if !h.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	r.Level = slog.LevelDebug
	return h.Handler.Handle(ctx, r)
}

// held reports whether a line tells of a dependency's failure; of one that passes it
// returns what to add.
func (h *holding) held(r slog.Record) (held bool, summary []any) {
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.Resolve()
		if err, ok := value.Any().(error); ok {
			held = h.dependencies.report(err, r.Message)
		} else if a.Key == dependencyKey && value.Kind() == slog.KindString {
			held, summary = h.dependencies.mentioned(value.String(), r.Message)
		}
		return !held
	})
	return held, summary
}

// WithAttrs implements slog.Handler.
func (h *holding) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &holding{h.Handler.WithAttrs(attrs), h.dependencies}
}

// WithGroup implements slog.Handler.
func (h *holding) WithGroup(name string) slog.Handler {
	return &holding{h.Handler.WithGroup(name), h.dependencies}
}
