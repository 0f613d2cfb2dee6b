package upload

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
)

// TestGate fills the places for uploads without a key.
func TestGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.AtOnce, cfg.UnknownAtOnce, cfg.Wait = 3, 1, 50*time.Millisecond
		cfg.MaxBytes, cfg.MaxSymbols, cfg.UnknownBytes = 1<<20, 1<<20, 80<<20
	})
	body, kind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key()})
	finish := w.begin(body, kind, 300)
	require.Eventually(t, func() bool { return w.h.unknown() == 1 }, waitFor, tick)
	status, out := w.send("/upload/", nil, kind, body)
	require.Equal(t, 429, status)
	require.Equal(t, 429, code(out))
	// With the key in a header, or before the file, there is a place.
	status, out = w.send("/upload/", map[string]string{"X-API-Key": w.boot.Owner.APIKey}, kind, body)
	require.Equal(t, 200, status, out)
	w.upload(w.key(), file("file", "a.ipa", ipa("com.example.demo", "1")))
	require.Equal(t, 200, finish())
	require.Eventually(t, w.h.idle, waitFor, tick)
	w.upload(file("file", "a.ipa", ipa("com.example.demo", "1")), w.key())

	// The key frees the place of an unknown sender, long before the form ends.
	long, longKind := encodeForm([]field{file("file", "a.ipa", ipa("com.example.demo", "1")), w.key(), text("comment", string(make([]byte, 5000)))})
	finish = w.begin(long, longKind, len(long)-1000)
	require.Eventually(t, func() bool { return !w.h.idle() && w.h.unknown() == 0 }, waitFor, tick)
	status, out = w.send("/upload/", nil, kind, body)
	require.Equal(t, 200, status, out)
	require.Equal(t, 200, finish())
	require.Eventually(t, w.h.idle, waitFor, tick)
}

// begin sends the first bytes of a body; finish sends the rest and gives the
// status of the answer.
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

// brokenStore refuses to create some objects, counted from 1.
type brokenStore struct {
	object.Store
	fail    func(n int) bool
	created int
}

func (s *brokenStore) Create(ctx context.Context, key string, size int64, o object.WriteOptions) (object.Writer, error) {
	s.created++
	if s.fail(s.created) {
		return nil, io.ErrClosedPipe
	}
	return s.Store.Create(ctx, key, size, o)
}

func TestBrokenStore(t *testing.T) {
	t.Parallel()
	var s *brokenStore
	w := newWorld(t, false, func(cfg *Config) {
		s = &brokenStore{Store: cfg.Objects}
		cfg.Objects = s
	})
	build, symbols := file("file", "a.ipa", ipa("com.example.demo", "1")), file("symbols_file", "s.zip", dSYM())
	for name, tc := range map[string]struct {
		fail   int
		fields []field
		status int
	}{
		"the file":             {1, []field{build, w.key()}, 500},
		"the icon":             {2, []field{build, w.key()}, 200},
		"file inside symbols":  {2, []field{symbols, build, w.key()}, 500},
		"symbols before":       {1, []field{symbols, build, w.key()}, 200},
		"symbols inside file":  {2, []field{build, symbols, w.key()}, 200},
		"symbols, wrong key 1": {1, []field{symbols, build, text("api_key", "x")}, 401},
	} {
		s.created, s.fail = 0, func(n int) bool { return n == tc.fail }
		before := len(w.objects())
		status, out := w.post("/upload/", nil, tc.fields...)
		require.Equal(t, tc.status, status, "%s: %v", name, out)
		if status == 200 {
			before += 2
			warning := "symbols_file could not be stored"
			if name == "the icon" {
				before--
				warning = "the icon could not be stored: the build has none"
				require.Zero(t, w.count(`select count(*) from builds where id = $1::bigint and icon_file_id is not null`, out["build_id"]))
			}
			require.Equal(t, []any{warning}, out["warnings"], name)
		}
		require.Eventually(t, func() bool { return len(w.objects()) == before }, waitFor, tick, name)
	}
	require.Zero(t, w.unfinished())
}

// watchedStore counts the objects that became visible.
type watchedStore struct {
	object.Store
	committed atomic.Int64
}

func (s *watchedStore) Create(ctx context.Context, key string, size int64, o object.WriteOptions) (object.Writer, error) {
	w, err := s.Store.Create(ctx, key, size, o)
	return watchedWriter{w, s}, err
}

type watchedWriter struct {
	object.Writer
	store *watchedStore
}

func (w watchedWriter) Commit() (object.Info, error) {
	info, err := w.Writer.Commit()
	if err == nil {
		w.store.committed.Add(1)
	}
	return info, err
}

// TestNothingIsCommittedBeforeTheFormIsAccepted: a refused form's objects are not
// deleted but never were.
func TestNothingIsCommittedBeforeTheFormIsAccepted(t *testing.T) {
	t.Parallel()
	var s *watchedStore
	w := newWorld(t, false, func(cfg *Config) {
		s = &watchedStore{Store: cfg.Objects}
		cfg.Objects = s
	})
	build, symbols := file("file", "a.ipa", ipa("com.example.demo", "1")), file("symbols_file", "s.zip", dSYM())
	for _, fields := range [][]field{
		{build, text("api_key", "wrong")}, {build, symbols, text("api_key", "wrong")}, {symbols, build, text("api_key", "wrong")},
		{build}, {symbols, build}, {w.key(), build, build}, {w.key(), build, text("notify", "maybe")}, {symbols, w.key()},
	} {
		status, out := w.post("/upload/", nil, fields...)
		require.GreaterOrEqual(t, status, 400, out)
	}
	require.Zero(t, s.committed.Load())
	w.upload(build, symbols, w.key())
	require.EqualValues(t, 3, s.committed.Load())
}

// TestPanicInside must not pass the store.
func TestPanicInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Now = func() time.Time { panic("clock") }
	})
	status, out := w.post("/upload/", map[string]string{"Idempotency-Key": "a"}, file("file", "a.ipa", ipa("com.example.demo", "1")), w.key())
	require.Equal(t, 500, status, out)
	require.NotContains(t, out["message"], "clock")
	w.nothingKept()
}
