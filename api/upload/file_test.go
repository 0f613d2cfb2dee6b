package upload

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
)

// brokenStore fails to write some objects, counted from 1.
type brokenStore struct {
	object.Store
	fail    func(n int) bool
	stage   string // at which they fail
	created int
}

func (s *brokenStore) Create(ctx context.Context, key string, size int64, o object.WriteOptions) (object.Writer, error) {
	s.created++
	if !s.fail(s.created) {
		return s.Store.Create(ctx, key, size, o)
	}
	if s.stage == "create" {
		return nil, io.ErrClosedPipe
	}
	w, err := s.Store.Create(ctx, key, size, o)
	return brokenWriter{w, s.stage}, err
}

type brokenWriter struct {
	object.Writer
	stage string
}

func (w brokenWriter) Write(p []byte) (int, error) {
	if w.stage == "write" {
		return 0, io.ErrClosedPipe
	}
	return w.Writer.Write(p)
}

func (w brokenWriter) Commit() (object.Info, error) {
	return object.Info{}, errors.Join(io.ErrClosedPipe, w.Abort())
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
		icon   bool
	}{
		"the file":                {1, []field{build, w.key()}, 500, false},
		"the icon":                {2, []field{build, w.key()}, 200, true},
		"the file behind symbols": {2, []field{symbols, build, w.key()}, 500, false},
		"symbols before the file": {1, []field{symbols, build, w.key()}, 200, false},
		"symbols behind the file": {2, []field{build, symbols, w.key()}, 200, false},
		"symbols, wrong key":      {1, []field{symbols, build, textField("api_key", "x")}, 401, false},
	} {
		for _, stage := range []string{"create", "write", "commit"} {
			name := name + ", " + stage
			s.stage, s.created, s.fail = stage, 0, func(n int) bool { return n == tc.fail }
			before := len(w.objects())
			status, out := w.post("/upload/", nil, tc.fields...)
			require.Equal(t, tc.status, status, "%s: %v", name, out)
			if status == 200 {
				before += 2
				warning := "symbols_file could not be stored"
				if tc.icon {
					before--
					warning = "the icon could not be stored: the build has none"
					require.Zero(t, w.count(`select count(*) from builds where id = $1::bigint and icon_file_id is not null`, out["build_id"]))
				}
				require.Equal(t, []any{warning}, notes(out), name)
			}
			require.Eventually(t, func() bool { return len(w.objects()) == before }, waitFor, tick, name)
		}
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
		{build, textField("api_key", "wrong")}, {build, symbols, textField("api_key", "wrong")}, {symbols, build, textField("api_key", "wrong")},
		{build}, {symbols, build}, {w.key(), build, build}, {w.key(), build, textField("notify", "maybe")}, {symbols, w.key()},
	} {
		status, out := w.post("/upload/", nil, fields...)
		require.GreaterOrEqual(t, status, 400, out)
	}
	require.Zero(t, s.committed.Load())
	w.upload(build, symbols, w.key())
	require.EqualValues(t, 3, s.committed.Load())
}

// TestPanicInAForm leaves no write behind.
func TestPanicInAForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, func(cfg *Config) {
		cfg.Now = func() time.Time { panic("clock") }
	})
	status, out := w.post("/upload/", map[string]string{"Idempotency-Key": "a"}, file("file", "a.ipa", ipa("com.example.demo", "1")), w.key())
	require.Equal(t, 500, status, out)
	require.NotContains(t, out["message"], "clock")
	w.nothingKept()
}

// TestUploadsShareFewBuffers: each upload holds a part buffer for its file while it
// waits for those of its symbols. One buffer more than uploads is enough.
func TestUploadsShareFewBuffers(t *testing.T) {
	t.Parallel()
	const uploads = 3
	w := newWorld(t, true, func(cfg *Config) { cfg.Slots, cfg.AdmissionWait = uploads, waitFor })
	store, err := object.Open(t.Context(), object.Config{URL: w.minio, PartBuffers: uploads + 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	w.h.cfg.Objects = store
	symbols := file("symbols_file", "s.zip", zipped(map[string]string{"Demo.app.dSYM/Contents/Resources/DWARF/Demo": string(machO()),
		"Demo.app.dSYM/Contents/Info.plist": "<plist/>", "x": string(noise(17<<20, 2))}))
	build := file("file", "a.ipa", ipa("com.example.demo", "1", noise(17<<20, 1)))
	var wait sync.WaitGroup
	for i := range 2 * uploads {
		fields := []field{build, symbols, w.key()}
		if i%2 == 0 {
			fields = []field{symbols, build, w.key()}
		}
		body, kind := encodeForm(fields)
		wait.Go(func() {
			res, err := http.Post(w.url+"/upload/", kind, bytes.NewReader(body))
			if err != nil {
				t.Errorf("upload: %v", err)
				return
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("upload: %s", res.Status)
			}
		})
	}
	wait.Wait()
	require.Equal(t, 2*uploads, w.count(`select count(*) from builds where symbols_file_id is not null`))
	require.Len(t, w.objects(), 3*2*uploads)
	require.Zero(t, w.unfinished())
}
