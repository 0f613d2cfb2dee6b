package upload

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
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

// TestBytesAreCountedAsTheyArrive: what a header announces reserves nothing.
func TestBytesAreCountedAsTheyArrive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.AdmissionWait = 50 * time.Millisecond
		cfg.MaxBytes, cfg.MaxSymbols, cfg.UnauthenticatedSlots, cfg.UnauthenticatedPerAddress, cfg.UnauthenticatedBytes = 1<<20, 1<<20, 4, 2, 200<<20
	})
	g := w.h.admission
	require.Equal(t, quota{2, 100 << 20}, g.unauthenticated.perAddress)
	require.EqualValues(t, 50<<20, g.step)
	first, second := &permit{admission: g, from: remote.Network("192.0.2.1")}, &permit{admission: g, from: remote.Network("192.0.2.1")}
	require.NoError(t, first.acquire(t.Context(), false))
	require.NoError(t, first.reserveBytes(t.Context(), 90<<20))
	require.Equal(t, 429, respond.Explain(second.acquire(t.Context(), false)).Status, "the address has no bytes left")
	require.Equal(t, 429, respond.Explain(first.reserveBytes(t.Context(), 100<<20+1)).Status)
	other := &permit{admission: g, from: remote.Network("192.0.2.2")}
	require.NoError(t, other.acquire(t.Context(), false))
	require.NoError(t, other.reserveBytes(t.Context(), 100<<20))
	third := &permit{admission: g, from: remote.Network("192.0.2.3")}
	require.Equal(t, 429, respond.Explain(third.acquire(t.Context(), false)).Status, "nothing is left at all")
	known := &permit{admission: g, from: remote.Network("192.0.2.1")}
	require.NoError(t, known.acquire(t.Context(), true))
	require.NoError(t, known.reserveBytes(t.Context(), 1<<40))

	// Bytes that come free in time are enough.
	g.wait = waitFor
	done := make(chan error, 1)
	go func() { done <- second.acquire(t.Context(), false) }()
	first.authenticated()
	require.NoError(t, <-done)
	for _, p := range []*permit{first, second, other, third, known} {
		p.release()
	}
	require.True(t, w.h.idle())
	require.Equal(t, quota{}, g.unauthenticated.reserved)
}

// TestOneAddressLeavesRoom: one that takes all it can does not shut the door.
func TestOneAddressLeavesRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.AdmissionWait = 50 * time.Millisecond })
	require.Equal(t, quota{12, 12 << 30}, w.h.admission.unauthenticated.perAddress)
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key()})
	var finish []func() int
	for range 12 {
		finish = append(finish, w.begin(body, kind, 300))
	}
	require.Eventually(t, func() bool { return w.h.unauthenticated() == 12 }, waitFor, tick)
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status, out)
	p := &permit{admission: w.h.admission, from: remote.Network("192.0.2.1")}
	require.NoError(t, p.acquire(t.Context(), false))
	p.release()
	for _, f := range finish {
		require.Equal(t, 200, f())
	}
}
