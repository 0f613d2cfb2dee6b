package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRefusalsAreSampled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := newRefusals(slog.New(slog.NewTextHandler(&out, nil)))
		logged := 0
		for range 100 { // more than a minute
			for range 1000 {
				if r.first("192.0.2.1", "/post", 403) {
					logged++
				}
			}
			time.Sleep(700 * time.Millisecond)
		}
		require.Equal(t, 2, logged)
		require.True(t, r.first("192.0.2.2", "/post", 403))
		require.True(t, r.first("192.0.2.1", "/post", 429))
		time.Sleep(3 * time.Minute)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, lines, 2, "no line for what was logged itself")
		require.Contains(t, lines[0], "count=85999 status=403 route=/post remote=192.0.2.1/32")
		require.Nil(t, r.timer)
		require.Empty(t, r.kinds)
		for i := range refusalKinds {
			require.True(t, r.first(fmt.Sprintf("10.0.%d.%d", i>>8, i&255), "", 404))
		}
		require.True(t, r.first("10.1.0.0", "", 404), "the first of the others")
		require.False(t, r.first("10.1.0.1", "", 404))
		time.Sleep(2 * time.Minute)
		require.Contains(t, out.String(), "remote=others")
	})
}
