package distribution_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	api "github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/link"
)

// fragile fails from an offset on.
type fragile struct {
	object.Store
	from int64
}

func (f *fragile) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, object.Info, error) {
	if offset >= f.from {
		return nil, object.Info{}, errors.New("the store is away")
	}
	return f.Store.Open(ctx, key, offset, length)
}

// logged is a log that several requests write to.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serve serves the handlers over TCP, as a caller.
func (w *world) serve(as *auth.Caller, store object.Store, log *logged) *httptest.Server {
	g := w.router(api.Config{DB: w.db, Objects: store, Links: link.New(base), Vendor: "acme", Log: slog.New(slog.NewTextHandler(log, nil))})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		g.ServeHTTP(rw, r.WithContext(auth.WithCaller(r.Context(), as, "")))
	}))
	w.t.Cleanup(server.Close)
	return server
}

func random(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}

func get(t *testing.T, address string, headers ...string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, data, err
}

// TestDownloadOfManyWindows reads what takes several readings of either store.
func TestDownloadOfManyWindows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s3, err := object.Open(t.Context(), object.Config{URL: servicetest.Minio(t), CreateBucket: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s3.Close() })
	data := random(5<<20 + 7)
	up := w.buildOf(data)
	_, err = object.Put(t.Context(), s3, up.Build.File.Key, bytes.NewReader(data), int64(len(data)), object.WriteOptions{})
	require.NoError(t, err)
	for name, store := range map[string]object.Store{"folder": w.objects, "s3": s3} {
		server := w.serve(w.member, store, &logged{})
		address := server.URL + p("/api/1/projects/%d/builds/%d/download", up.Project.ID, up.Build.ID)
		resp, got, err := get(t, address)
		require.NoError(t, err, name)
		sum := sha256.Sum256(got)
		require.Equal(t, `"`+hex.EncodeToString(sum[:])+`"`, resp.Header.Get("ETag"), name)
		resp, got, err = get(t, address, "Range", "bytes=1048570-3145740")
		require.NoError(t, err, name)
		require.Equal(t, 206, resp.StatusCode)
		require.True(t, bytes.Equal(data[1048570:3145741], got), name)
		require.Equal(t, p("bytes 1048570-3145740/%d", len(data)), resp.Header.Get("Content-Range"))

		link := w.tree(w.callOn(server.Config.Handler, w.member, "GET", p("/api/v3/builds/%d/download", up.Build.ID), ""), 200)["url"].(string)
		if name == "s3" {
			resp, got, err = get(t, link)
			require.NoError(t, err)
			require.True(t, bytes.Equal(data, got))
			require.Contains(t, resp.Header.Get("Content-Disposition"), "GroupShot.apk")
			require.Equal(t, "application/vnd.android.package-archive", resp.Header.Get("Content-Type"))
		}
	}
	require.Equal(t, 4, w.count(`select downloads from builds where id = $1`, up.Build.ID), "two whole downloads and two links")
}

// TestDownloadBreaksOff cuts the connection, so that half a file is not taken for
// the whole, and says in the log why.
func TestDownloadBreaksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.buildOf(random(3<<20), func(u *distribution.Upload) { u.FileName = "a.ipa" })
	var log logged
	server := w.serve(w.member, &fragile{w.objects, 1 << 20}, &log)
	_, got, err := get(t, server.URL+p("/api/1/projects/%d/builds/%d/download", up.Project.ID, up.Build.ID))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.LessOrEqual(t, len(got), 1<<20)
	server.Close() // waits for the handler
	require.Contains(t, log.String(), "download broken off")
	require.Equal(t, 1, w.count(`select downloads from builds where id = $1`, up.Build.ID))
}
