package logfield

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAttributesTravelInContext(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(Handler(slog.NewTextHandler(&out, nil))).With("tier", "worker")
	ctx := With(context.Background(), slog.String(RequestID, "r1"))
	inner := With(ctx, slog.String(TaskID, "t1"), slog.Int(Attempt, 2))
	log.InfoContext(inner, "done")
	require.Contains(t, out.String(), "tier=worker request_id=r1 task_id=t1 attempt=2")

	out.Reset()
	log.InfoContext(ctx, "done")
	require.NotContains(t, out.String(), "task_id", "a child's attribute must not reach its parent")
	require.Equal(t, "r1", Get(inner, RequestID))
	require.Equal(t, "2", Get(inner, Attempt))
	require.Empty(t, Get(ctx, TaskID))
}
