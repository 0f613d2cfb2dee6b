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

	"github.com/slipway-qa/slipway/tasks/admission"
)

// memoryLimits make each tier larger than the one below it.
func memoryLimits(c *Config) {
	c.Wait = 20 * time.Millisecond
	c.Limits.Report, c.Limits.InFlight, c.Limits.FieldBytes, c.Limits.Field = 2<<20, 16<<20, 256<<10, 128<<10
}

// sized is a report of at least that many bytes.
func sized(n int) string { return with(`"x":"` + strings.Repeat("a", n) + `"`) }

// occupy takes a tier's whole room and its headroom, for other organizations.
func (w *world) occupy(t *testing.T, n int) (free func()) {
	t.Helper()
	room := w.r.memory.tiers[n].room
	var places []*admission.Place
	for organization := int64(100); ; organization++ {
		weight := w.r.memory.tiers[n].most
		if organization == 100 {
			weight = room.Stats(0).Capacity
		}
		p, ok := room.Try(admission.Caller{Organization: organization}, weight)
		if !ok {
			break
		}
		places = append(places, p)
	}
	return func() {
		for i := range places {
			places[i].Leave()
		}
	}
}

// free says whether nothing holds a place.
func (w *world) free() bool {
	for _, room := range w.r.Rooms() {
		if room.Stats(0).Held > 0 {
			return false
		}
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

			// One organization fills all of it, and the next one still finds a place.
			p, ok := w.r.memory.tiers[tc.tier].room.Try(admission.Caller{Organization: 100}, 1<<40)
			require.True(t, ok)
			for _, chunked := range []bool{false, true} {
				requireOK(t, post("other", tc.refused, chunked))
			}
			p.Leave()
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
	for sent, free := range map[int]int{2000: tierMiddle, 100_000: tierLarge} {
		src, feed := io.Pipe()
		req := httptest.NewRequest("POST", "/post?token=good", src)
		req.ContentLength = 2 << 20
		answer := make(chan *httptest.ResponseRecorder)
		go func() { answer <- w.do(req) }()
		_, err := feed.Write(make([]byte, sent))
		require.NoError(t, err)
		require.Zero(t, w.r.memory.tiers[free].room.Stats(0).Held, sent)
		require.NoError(t, feed.Close())
		requireFailure(t, <-answer, 400, 1, "early")
	}
	require.True(t, w.free())
}

// Connections on which next to nothing comes hold nothing.
func TestNothingIsHeldBeforeTheFirstKiB(t *testing.T) {
	t.Parallel()
	w := newWorld(t, memoryLimits)
	src, feed := io.Pipe()
	req := httptest.NewRequest("POST", "/post?token=good", src)
	req.ContentLength = int64(len(minimal))
	answer := make(chan *httptest.ResponseRecorder)
	go func() { answer <- w.do(req) }()
	_, err := io.WriteString(feed, minimal[:1])
	require.NoError(t, err)
	require.True(t, w.free())
	_, err = io.WriteString(feed, minimal[1:])
	require.NoError(t, err)
	require.NoError(t, feed.Close())
	requireOK(t, <-answer)
}

// Five tokens of one organization trickle into all of the memory for small reports. A
// report of another organization is stored, and a slow one of theirs is told why it ended.
func TestTrickleOfOneOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { memoryLimits(c); c.Wait = 10 * time.Second })
	web := httptest.NewServer(w.router)
	t.Cleanup(web.Close) // after the connections
	room := w.r.memory.tiers[tierSmall].room
	size := int64(64 << 10)
	trickle := func() net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(web.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Minute)))
		_, err = fmt.Fprintf(conn, "POST /post?token=good HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat(" ", 2048))
		require.NoError(t, err)
		return conn
	}
	capacity := room.Stats(0).Capacity
	var conns []net.Conn
	for range capacity / size {
		conns = append(conns, trickle())
	}
	require.Eventually(t, func() bool { return room.Stats(0).Held == capacity }, time.Minute, 5*time.Millisecond)
	// Another one has taken the headroom.
	p, ok := room.Try(admission.Caller{Organization: 100}, capacity/8)
	require.True(t, ok)
	defer p.Leave()
	requireOK(t, w.post("/post?token=other", minimal))
	require.NotZero(t, room.Stats(0).Evicted)
	answers := make(chan string, len(conns))
	for _, c := range conns {
		go func() {
			head := make([]byte, 300)
			n, _ := io.ReadAtLeast(c, head, 12)
			answers <- string(head[:n])
		}()
	}
	require.Contains(t, <-answers, "HTTP/1.1 503")
}

// A client that posts and never reads its answer is cut off, and holds no place
// that documents need meanwhile.
func TestAnswerThatNobodyTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Limits = DefaultLimits() })
	w.r.grace, w.r.rate = 5*time.Second, 1<<30 // within which it is seen that the answer is being written
	web := httptest.NewServer(w.router)
	defer web.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(web.URL, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	doc := sized(15 << 20)
	_, err = fmt.Fprintf(conn, "POST /post?token=good HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(doc), doc)
	require.NoError(t, err)
	large, echoes := w.r.memory.tiers[tierLarge].room, w.r.memory.tiers[tierEchoes].room
	require.Eventually(t, func() bool {
		return echoes.Stats(0).Held > 0 && large.Stats(0).Held == 0
	}, time.Minute, 5*time.Millisecond, "the answer is being written, and the document has no place")
	require.Eventually(t, w.free, time.Minute, 5*time.Millisecond, "the client is given up")
}
