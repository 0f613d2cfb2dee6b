package upload

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAdmission fills the slots for uploads without a key.
func TestAdmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Slots, cfg.UnauthenticatedSlots, cfg.AdmissionWait = 3, 1, 50*time.Millisecond
		cfg.MaxBytes, cfg.MaxSymbols, cfg.UnauthenticatedBytes = 1<<20, 1<<20, 80<<20
	})
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key()})
	finish := w.begin(body, kind, 300)
	require.Eventually(t, func() bool { return w.h.unauthenticated() == 1 }, waitFor, tick)
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status)
	require.Equal(t, 429, code(out))
	// With the key in a header, or before the file, there is a slot.
	status, out = w.send("/upload/", map[string]string{"X-API-Key": w.boot.Owner.APIKey}, kind, body)
	require.Equal(t, 200, status, out)
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	require.Equal(t, 200, finish())
	require.Eventually(t, w.h.idle, waitFor, tick)
	w.upload(file("file", "a.ipa", ipa("com.example.demo", "1")), w.key())

	// The key ends the reservation, long before the form ends.
	long, longKind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key(), text("comment", string(make([]byte, 5000)))})
	finish = w.begin(long, longKind, len(long)-1000)
	require.Eventually(t, func() bool { return !w.h.idle() && w.h.unauthenticated() == 0 }, waitFor, tick)
	status, out = w.send("/upload/", nil, kind, body)
	require.Equal(t, 200, status, out)
	require.Equal(t, 200, finish())
	require.Eventually(t, w.h.idle, waitFor, tick)
}

// begin sends the first bytes of a body; finish sends the rest and returns the
// status of the response.
func (w *world) begin(body []byte, kind string, first int) (finish func() int) {
	r, feed := io.Pipe()
	done := make(chan int, 1)
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+"/upload/", r)
	require.NoError(w.t, err)
	req.Header.Set("Content-Type", kind)
	go func() {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			done <- 0
			return
		}
		res.Body.Close()
		done <- res.StatusCode
	}()
	_, err = feed.Write(body[:first])
	require.NoError(w.t, err)
	return func() int {
		_, _ = feed.Write(body[first:])
		_ = feed.Close()
		return <-done
	}
}
