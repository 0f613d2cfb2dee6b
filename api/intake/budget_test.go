package intake

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// memoryLimits make each tier larger than the one below it.
func memoryLimits(c *Config) {
	c.Wait = 20 * time.Millisecond
	c.Limits.Report, c.Limits.InFlight, c.Limits.FieldBytes, c.Limits.Field = 2<<20, 16<<20, 256<<10, 128<<10
}

// sized is a report of at least that many bytes.
func sized(n int) string { return with(`"x":"` + strings.Repeat("a", n) + `"`) }

// occupy takes a tier's whole room, by the shares of four tokens.
func (w *world) occupy(t *testing.T, n int) (free func()) {
	t.Helper()
	var places []place
	for token := range int64(tokenShare) {
		p, err := w.r.memory.take(t.Context(), 100+token, n, w.r.memory.tiers[n].share, time.Now())
		require.NoError(t, err)
		places = append(places, p)
	}
	return func() {
		for i := range places {
			places[i].release()
		}
	}
}

// free says whether nothing holds a place.
func (w *world) free() bool {
	w.r.memory.shares.mu.Lock()
	held := len(w.r.memory.shares.tokens)
	w.r.memory.shares.mu.Unlock()
	if held > 0 {
		return false
	}
	for i := range w.r.memory.tiers {
		tier := &w.r.memory.tiers[i]
		if !tier.sem.TryAcquire(tokenShare * tier.share) {
			return false
		}
		tier.sem.Release(tokenShare * tier.share)
	}
	return true
}

func TestNoRoomInMemory(t *testing.T) {
	t.Parallel()
	file := func(n int) string {
		return form(filePart("attachment_a", "a", strings.Repeat("a", n)), filePart("upload_file", "r", minimal))
	}
	dump := func(n int) string {
		return form(fieldPart("a", strings.Repeat("a", n)), filePart("upload_file_minidump", "d", "MDMP"))
	}
	for name, tc := range map[string]struct {
		tier           int
		target         string
		kind           string
		refused, taken string
	}{
		"small":       {tierSmall, "/post?token=", "", minimal, ""},
		"middle":      {tierMiddle, "/post?token=", "", sized(100_000), minimal},
		"large":       {tierLarge, "/post?token=", "", sized(1 << 20), sized(1<<20 - 500)},
		"a file":      {tierHeads, "/post?token=", multipartB, file(1), form(filePart("upload_file", "r", minimal))},
		"large files": {tierFiles, "/post?token=", multipartB, file(100_000), file(1)},
		"fields":      {tierForm, "/post?format=minidump&token=", multipartB, dump(1), form(filePart("upload_file_minidump", "d", "MDMP"))},
		"many fields": {tierLargeForm, "/post?format=minidump&token=", multipartB, dump(100_000), dump(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, memoryLimits)
			post := func(token, body string, chunked bool) *httptest.ResponseRecorder {
				var src io.Reader = strings.NewReader(body)
				if chunked {
					src = io.MultiReader(src)
				}
				req := httptest.NewRequest("POST", tc.target+token, src)
				req.Header.Set("Content-Type", tc.kind)
				return w.do(req)
			}
			free := w.occupy(t, tc.tier)
			for _, chunked := range []bool{false, true} {
				rec := post("good", tc.refused, chunked)
				requireFailure(t, rec, 503, 10, "too many")
				require.Equal(t, "5", rec.Header().Get("Retry-After"))
				if tc.taken != "" {
					requireOK(t, post("good", tc.taken, chunked))
				}
			}
			free()

			// One token fills its share only.
			p, err := w.r.memory.take(t.Context(), 1, tc.tier, w.r.memory.tiers[tc.tier].share, time.Now())
			require.NoError(t, err)
			for _, chunked := range []bool{false, true} {
				requireFailure(t, post("good", tc.refused, chunked), 503, 10, "too many")
				requireOK(t, post("other", tc.refused, chunked))
			}
			p.release()
			requireOK(t, post("good", tc.refused, false))
			require.True(t, w.free(), "nothing is held once all answers are out")
		})
	}
}

// An answer without a place of its own keeps that of the document.
func TestNoRoomForAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memoryLimits)
	free := w.occupy(t, tierEchoes)
	requireOK(t, w.post("/post?token=good", sized(1<<20)))
	free()
	require.True(t, w.free())
}

func TestLengthIsNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memoryLimits)
	for sent, free := range map[int]int{1: tierMiddle, 100_000: tierLarge} {
		src, feed := io.Pipe()
		req := httptest.NewRequest("POST", "/post?token=good", src)
		req.ContentLength = 2 << 20
		answer := make(chan *httptest.ResponseRecorder)
		go func() { answer <- w.do(req) }()
		_, err := feed.Write(make([]byte, sent))
		require.NoError(t, err)
		require.True(t, w.r.memory.tiers[free].sem.TryAcquire(tokenShare*w.r.memory.tiers[free].share), sent)
		w.r.memory.tiers[free].sem.Release(tokenShare * w.r.memory.tiers[free].share)
		require.NoError(t, feed.Close())
		requireFailure(t, <-answer, 400, 1, "early")
	}
	require.True(t, w.free())
}

// A client that posts and never reads its answer is cut off, and holds no place
// that documents need meanwhile.
func TestAnswerThatNobodyTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Limits = DefaultLimits() })
	w.r.grace, w.r.rate = time.Second, 1<<30
	web := httptest.NewServer(w.router)
	defer web.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(web.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	doc := sized(15 << 20)
	_, err = fmt.Fprintf(conn, "POST /post?token=good HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(doc), doc)
	require.NoError(t, err)
	large, echoes := &w.r.memory.tiers[tierLarge], &w.r.memory.tiers[tierEchoes]
	require.Eventually(t, func() bool {
		if echoes.sem.TryAcquire(tokenShare * echoes.share) {
			echoes.sem.Release(tokenShare * echoes.share)
			return false
		}
		if !large.sem.TryAcquire(tokenShare * large.share) {
			return false
		}
		large.sem.Release(tokenShare * large.share)
		return true
	}, 20*time.Second, 5*time.Millisecond, "the answer is being written, and the document has no place")
	require.Eventually(t, w.free, 20*time.Second, 5*time.Millisecond, "the client is given up")
}
