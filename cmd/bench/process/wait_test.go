package process

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReady(t *testing.T) {
	var status atomic.Int64
	entered := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := int(status.Load()); n > 0 {
			w.WriteHeader(n)
			return
		}
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)

	status.Store(http.StatusServiceUnavailable)
	require.False(t, Ready(t.Context(), server.URL))
	status.Store(http.StatusOK)
	require.True(t, Ready(t.Context(), server.URL))

	// One that does not respond is given up with the context.
	status.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() {
		<-entered
		cancel()
	}()
	require.False(t, Ready(ctx, server.URL))
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}
