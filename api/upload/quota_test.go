package upload

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
)

// TestReservations: one address never has it all, and who cannot be served does
// not hold up the others.
func TestReservations(t *testing.T) {
	t.Parallel()
	a, b, c := remote.Network("192.0.2.1"), remote.Network("192.0.2.2"), remote.Network("192.0.2.3")
	r := newReservations(quota{4, 100}, quota{3, 60})
	now, cancel := context.WithCancel(t.Context())
	cancel()
	at := func(from netip.Prefix, uploads int, bytes int64) bool {
		return r.reserve(now, from, quota{uploads, bytes})
	}
	for range 3 {
		require.True(t, at(a, 1, 10))
	}
	require.False(t, at(a, 1, 10), "three uploads for one address")
	require.True(t, at(b, 1, 10))
	require.False(t, at(c, 1, 10), "four uploads in all")
	require.True(t, at(a, 0, 30))
	require.False(t, at(a, 0, 10), "60 bytes for one address")
	require.False(t, at(b, 0, 40), "100 bytes in all")
	require.True(t, at(b, 0, 30))
	require.Empty(t, r.waiting)

	// The first of the queue needs more than comes free.
	took := make(chan string, 3)
	wait := func(name string, from netip.Prefix, amount quota, position int) {
		go func() {
			if r.reserve(t.Context(), from, amount) {
				took <- name
			}
		}()
		require.Eventually(t, func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return len(r.waiting) == position
		}, waitFor, tick)
	}
	wait("large", a, quota{bytes: 40}, 1)
	wait("own quota used", a, quota{bytes: 10}, 2)
	wait("small", c, quota{1, 10}, 3)
	r.release(b, quota{1, 10})
	require.Equal(t, "small", <-took)
	r.release(a, quota{1, 10})
	require.Equal(t, "own quota used", <-took)
	r.release(a, quota{2, 60})
	require.Equal(t, "large", <-took)
	r.release(a, quota{bytes: 40})
	r.release(b, quota{bytes: 30})
	r.release(c, quota{1, 10})
	require.Equal(t, quota{}, r.reserved)
	require.Empty(t, r.byFrom)
	require.Empty(t, r.waiting)
}

// TestQueueIsBounded: those that wait cost something too.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	r := newReservations(quota{1, 1}, quota{1, 1})
	from := remote.Network("192.0.2.1")
	require.NotNil(t, r.enqueue(from, quota{1, 1}))
	for range maxWaitingPerAddress {
		require.NotNil(t, r.enqueue(from, quota{1, 1}))
	}
	require.Nil(t, r.enqueue(from, quota{1, 1}))
	for i := range maxWaiting - maxWaitingPerAddress {
		require.NotNil(t, r.enqueue(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32), quota{1, 1}))
	}
	require.Nil(t, r.enqueue(remote.Network("192.0.2.2"), quota{1, 1}))
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	require.Equal(t, remote.Network("192.0.2.1"), remote.Network("::ffff:192.0.2.1"))
	require.NotEqual(t, remote.Network("192.0.2.1"), remote.Network("192.0.2.2"))
	require.Equal(t, remote.Network("2001:db8::1"), remote.Network("2001:db8::2:0:0:1"))
	require.NotEqual(t, remote.Network("2001:db8::1"), remote.Network("2001:db8:0:1::1"))
	require.Equal(t, remote.Network("fe80::1%eth0"), remote.Network("fe80::1"))
	require.Equal(t, remote.Network(""), remote.Network("nonsense"))
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

// clock is read by a minimumRate.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestMinimumRate(t *testing.T) {
	t.Parallel()
	const rate = 256 << 10
	buf := make([]byte, rate)
	for name, tc := range map[string]struct {
		bytes  int           // at once
		every  time.Duration // its reader waits for them
		store  time.Duration // and takes for storing them
		refuse int           // at that read; 0: never
	}{
		"quick":          {rate, 100 * time.Millisecond, 0, 0},
		"just enough":    {rate, time.Second, 0, 0},
		"half":           {rate / 2, time.Second, 0, 60},
		"8 KiB a second": {8 << 10, time.Second, 0, 31}, // 30 s and 31/32
		"slow store":     {rate / 2, 100 * time.Millisecond, time.Minute, 0},
	} {
		c := &clock{at: time.Unix(1e9, 0)}
		var deadline time.Time
		p := &minimumRate{bytesPerSecond: rate, grace: 30 * time.Second, now: c.now, setDeadline: func(at time.Time) error { deadline = at; return nil }}
		s := &bodyReader{limit: 1 << 40}
		s.requireRate(p)
		s.r = readerFunc(func([]byte) (int, error) {
			require.True(t, deadline.After(c.at), name)
			require.LessOrEqual(t, deadline.Sub(c.at), p.grace+time.Duration(p.n/rate+1)*time.Second, name)
			c.at = c.at.Add(tc.every)
			return tc.bytes, nil
		})
		failed := 0
		for i := 1; i <= 500 && failed == 0; i++ {
			_, err := s.Read(buf)
			c.at = c.at.Add(tc.store)
			if err != nil {
				require.Equal(t, 408, respond.Explain(arrival(err)).Status, name)
				failed = i
			}
		}
		require.Equal(t, tc.refuse, failed, name)
	}
}

// TestMinimumRateEnds: the deadline never lies beyond the request's own, an
// authenticated sender gets the router's back, and the end of the body has none.
func TestMinimumRateEnds(t *testing.T) {
	t.Parallel()
	c := &clock{at: time.Unix(1e9, 0)}
	var deadlines []time.Time
	p := &minimumRate{bytesPerSecond: 1, grace: time.Hour, end: c.at.Add(time.Minute / 2), now: c.now,
		setDeadline: func(at time.Time) error { deadlines = append(deadlines, at); return nil }}
	body := strings.NewReader("abc")
	s := &bodyReader{r: body, limit: 10, rate: p}
	one := make([]byte, 1)
	_, err := s.Read(one)
	require.NoError(t, err)
	require.Equal(t, []time.Time{p.end}, deadlines)
	p.end = time.Time{}
	s.liftRate()
	require.Equal(t, c.at.Add(rateLifted), deadlines[1])
	_, err = s.Read(one)
	require.NoError(t, err)
	require.Len(t, deadlines, 2)
	s.requireRate(p)
	_, err = io.Copy(io.Discard, s)
	require.NoError(t, err)
	n := len(deadlines)
	s.liftRate()
	require.Len(t, deadlines, n, "net/http waits for the next request by now")
}

// TestSlowUnauthenticatedUpload: a sender without a key that stalls is ended, one
// that has shown its key is not.
func TestSlowUnauthenticatedUpload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) { cfg.UnauthenticatedGrace = 300 * time.Millisecond })
	app := file("file", "a.ipa", ipa("com.example.demo", "1"))
	before, kind := encodeForm([]field{w.key(), app})
	first := w.begin(before, kind, 700)
	behind, kind2 := encodeForm([]field{app, w.key(), text("comment", strings.Repeat("x", 5000))})
	second := w.begin(behind, kind2, len(behind)-1000)
	require.Eventually(t, func() bool { return !w.h.idle() && w.h.unauthenticated() == 0 }, waitFor, tick)

	last, kind3 := encodeForm([]field{app, w.key()})
	r, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = feed.Write(last[:300]) }()
	res, err := http.Post(w.url+"/upload/", kind3, r)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 408, res.StatusCode)
	require.Contains(t, string(answer), `"code":408`)
	require.Contains(t, string(answer), "send the key in a header, or before the file")
	require.Equal(t, 200, first())
	require.Equal(t, 200, second())
	require.Eventually(t, w.h.idle, waitFor, tick)
	require.Zero(t, w.unfinished())
	require.Equal(t, 2, w.count(`select count(*) from builds`))
}

// TestEarlyTexts: what comes before the key is kept for those alone that are
// admitted.
func TestEarlyTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.UnauthenticatedSlots, cfg.AdmissionWait = 1, 50*time.Millisecond
	})
	app := file("file", "a.ipa", ipa("com.example.demo", "1"))
	long := []field{text("comment", strings.Repeat("x", 40<<10)), text("metadata.a", "b"), text("app_description", strings.Repeat("y", 40<<10))}
	body, kind := encodeForm(append(long, w.key(), app))
	for cut, admitted := range map[int]bool{60 << 10: false, 75 << 10: true} {
		u := w.newUpload()
		u.body = &bodyReader{r: bytes.NewReader(body[:cut]), limit: 1 << 30}
		u.form = newForm(u.body, boundaryOf(kind))
		require.Len(t, u.form.buf, 8<<10)
		require.ErrorContains(t, u.readForm(), "ended early")
		require.Equal(t, admitted, u.permit.slot)
		require.Equal(t, admitted, len(u.form.buf) == formBuffer)
		require.LessOrEqual(t, len(u.form.buf), formBuffer)
		u.abortWriters()
		u.permit.release()
	}
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 200, status, out)
	require.Equal(t, 40<<10, len(w.text(`select release_notes from builds`)))

	taken := w.begin(body, kind, 75<<10)
	require.Eventually(t, func() bool { return w.h.unauthenticated() == 1 }, waitFor, tick)
	status, out = w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status, out)
	w.upload(append(append([]field{w.key()}, long...), app)...)
	require.Equal(t, 200, taken())
}
