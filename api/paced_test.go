package api

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slow returns its bytes in steps with a wait before each.
type slow struct {
	left, step int
	wait       time.Duration
}

func (s *slow) Read(b []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	time.Sleep(s.wait)
	n := min(s.left, s.step, len(b))
	s.left -= n
	return n, nil
}

func (s *slow) Close() error { return nil }

func TestBodyMustKeepARate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		body   slow
		end    time.Duration
		inTime bool
	}{
		{"all at once", slow{10 << 20, 1 << 20, 0}, time.Hour, true},
		{"64 KiB/s for minutes", slow{10 << 20, 64 << 10, time.Second}, time.Hour, true},
		{"a byte a second", slow{100, 1, time.Second}, time.Hour, false},
		{"64 KiB/s beyond the request's deadline", slow{10 << 20, 64 << 10, time.Second}, time.Minute, false},
		{"2 KiB/s", slow{1 << 20, 64 << 10, 32 * time.Second}, time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var deadline time.Time
				p := &paced{ReadCloser: &tt.body, start: time.Now(), grace: bodyGrace, end: time.Now().Add(tt.end), deadline: func(at time.Time) error {
					deadline = at
					return nil
				}}
				p.extend()
				late := false
				buf := make([]byte, 32<<10)
				for {
					n, err := p.Read(buf)
					if err != nil {
						require.Zero(t, deadline, "lifted at the end of the body")
						break
					}
					require.Positive(t, n)
					late = late || time.Now().After(deadline)
				}
				require.Equal(t, tt.inTime, !late)
			})
		})
	}
}

func TestPacedBodyPassesBytesOn(t *testing.T) {
	want := bytes.Repeat([]byte("x"), 3*bodyStep)
	p := &paced{ReadCloser: io.NopCloser(bytes.NewReader(want)), deadline: func(time.Time) error { return nil }}
	got, err := io.ReadAll(p)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
