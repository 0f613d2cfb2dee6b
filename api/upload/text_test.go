package upload

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEarlyTexts: what comes before the key is kept for those alone that are
// admitted.
func TestEarlyTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Slots, cfg.Headroom, cfg.AdmissionWait = 1, 1, 50*time.Millisecond
	})
	app := file("file", "a.ipa", ipa("com.example.demo", "1"))
	long := []field{textField("comment", strings.Repeat("x", 40<<10)), textField("metadata.a", "b"),
		textField("app_description", strings.Repeat("y", 40<<10))}
	body, kind := encodeForm(append(long, w.key(), app))
	for cut, admitted := range map[int]bool{60 << 10: false, 75 << 10: true} {
		u := w.newUpload()
		u.body = &bodyReader{r: bytes.NewReader(body[:cut]), limit: 1 << 30}
		u.form = newForm(u.body, boundaryOf(kind))
		require.Len(t, u.form.buf, 8<<10)
		require.ErrorContains(t, u.readForm(), "ended early")
		require.Equal(t, admitted, u.permit.slot != nil)
		require.Equal(t, admitted, len(u.form.buf) == formBuffer)
		require.LessOrEqual(t, len(u.form.buf), formBuffer)
		u.abortWriters()
		u.permit.release()
	}
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 200, status, out)
	require.Equal(t, 40<<10, len(w.text(`select release_notes from builds`)))
	require.Eventually(t, w.h.idle, waitFor, tick, "it leaves its slot behind its answer")

	taken := w.begin(nil, body, kind, 75<<10)
	require.Eventually(t, func() bool { return w.h.unauthenticated() == 1 }, waitFor, tick)
	status, out = w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status, out)
	w.upload(append(append([]field{w.key()}, long...), app)...)
	require.Equal(t, 200, taken())
}
