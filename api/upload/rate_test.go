package upload

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
)

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
