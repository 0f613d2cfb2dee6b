package build

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks"
)

func firstOf(id int64, _ string) int64 { return id }

// A storage that takes connections and nothing else costs a window, not the time of a
// task; copies have a queue without other work.
func TestSyncToATarpitIsAborted(t *testing.T) {
	t.Parallel()
	require.Equal(t, tasks.Sync, tasks.BuildSync.Queue)
	require.NotEqual(t, tasks.BuildSync.Queue, tasks.BuildDelete.Queue)
	for _, kind := range []string{"http", "s3"} {
		w := newWorld(t)
		released := make(chan struct{})
		tarpit := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		}))
		s := w.syncer(true)
		s.Slowest = Rate{Bytes: 1 << 20, Window: 200 * time.Millisecond}
		w.connect(setting.Connection{Kind: kind, Endpoint: tarpit.URL, Bucket: "apps", Region: "eu-1", AccessKey: "user"}, "s3cret")
		_, err := w.sync(s, w.newBuild(w.newProject(), firstOf(w.newFile("content"))))
		var public *tasks.PublicError
		require.True(t, errors.As(err, &public), "%s: %v", kind, err)
		require.Contains(t, public.Text, "the app storage took less than 1024 KiB in 200ms")
		close(released)
		tarpit.Close()
	}
}
