package browser

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A browser whose page never ends its script ends with the lease, and what a page
// wrote to its console is in no file.
func TestBusyBrowserEnds(t *testing.T) {
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, `<script>console.log("a word that nobody keeps")</script>`)
	}))
	t.Cleanup(pages.Close)
	p := newPool(t, localConfig(t, true))
	l, err := p.Acquire(t.Context(), Request{})
	require.NoError(t, err)
	pid, ok := l.Session.Capabilities["goog:processID"].(float64)
	require.True(t, ok)
	chrome, _ := l.Session.Capabilities["chrome"].(map[string]any)
	profile, _ := chrome["userDataDir"].(string)
	require.NotEmpty(t, profile)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, l.Session.Navigate(ctx, pages.URL))
	require.NoError(t, l.Session.Execute(ctx, "setTimeout(() => { for (;;) {} }, 1000)", nil))
	var one int
	var failed error
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := l.Session.Execute(ctx, "return 1", &one); !errors.Is(err, context.DeadlineExceeded) {
			failed = err
			return err != nil
		}
		return true
	}, time.Minute, 50*time.Millisecond, "the page is busy")
	require.NoError(t, failed)
	logs, err := filepath.Glob(filepath.Join(profile, "*.log"))
	require.NoError(t, err)
	for _, name := range logs {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NotContains(t, string(text), "a word that nobody keeps", filepath.Base(name))
	}
	l.Release(t.Context(), true)
	require.Eventually(t, func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", int(pid)))
		return err != nil || len(state) == 0 // gone, or waiting to be reaped
	}, 2*endTimeout+time.Minute, 50*time.Millisecond)
}
