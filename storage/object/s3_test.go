package object

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
)

// TestUploadsShareTheBuffers lets more uploads run at once than there are
// buffers: all end, and no more buffers than allowed were allocated.
func TestUploadsShareTheBuffers(t *testing.T) {
	t.Parallel()
	h := newS3(t, Config{PartBuffers: 2})
	pool := h.Store.(*S3).large
	var peak atomic.Int64
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			content := bytes.NewReader(noise(2*partSize+100, uint64(i)))
			watch := readerFunc(func(p []byte) (int, error) {
				for seen := peak.Load(); ; seen = peak.Load() {
					if now := int64(len(pool.slots)); now <= seen || peak.CompareAndSwap(seen, now) {
						break
					}
				}
				return content.Read(p[:min(len(p), 1<<20)])
			})
			_, err := Put(t.Context(), h, "shared/"+string(rune('a'+i)), watch, -1, WriteOptions{})
			if err != nil {
				t.Errorf("put: %v", err)
			}
		})
	}
	wait.Wait()
	require.Equal(t, int64(2), peak.Load())
	require.LessOrEqual(t, len(pool.free), 2)
}

func TestPutWaitsForABufferUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	h := newS3(t, Config{PartBuffers: 2})
	pool := h.Store.(*S3).large
	for range 2 {
		buf, err := pool.get(t.Context())
		require.NoError(t, err)
		defer pool.put(buf)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	read := false
	r := readerFunc(func([]byte) (int, error) { read = true; return 0, io.EOF })
	_, err := Put(ctx, h, "k", r, -1, WriteOptions{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, read)
	// Small objects of known size have buffers of their own.
	_, err = Put(t.Context(), h, "small", strings.NewReader("x"), 1, WriteOptions{})
	require.NoError(t, err)
}

// proxy stands between the store and the server. spoil may respond to a request
// itself, or forward it and lose the response.
type proxy struct {
	spoil func(r *http.Request) spoiling
}

type spoiling int

const (
	forward spoiling = iota
	refuse
	loseResponse
)

func newProxy(t *testing.T, p *proxy) string {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: minioServer(t).Host}
	backend := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p.spoil(r) {
		case forward:
			backend.ServeHTTP(w, r)
		case refuse:
			w.WriteHeader(http.StatusBadRequest)
		case loseResponse:
			backend.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestLostResponseOfACommitIsFound(t *testing.T) {
	t.Parallel()
	isCommit := map[string]func(*http.Request) bool{
		"multipart": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
		"single": func(r *http.Request) bool {
			return r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/lost")
		},
	}
	for name, n := range map[string]int{"multipart": partSize + 1, "single": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &proxy{spoil: func(r *http.Request) spoiling {
				if isCommit[name](r) {
					return loseResponse
				}
				return forward
			}}
			h := newS3(t, Config{URL: newProxy(t, p)})
			want := noise(n, 9)
			put, err := Put(t.Context(), h, "lost", bytes.NewReader(want), -1, WriteOptions{})
			require.NoError(t, err)
			got, info := readAll(t, h, "lost", 0, -1)
			require.True(t, bytes.Equal(want, got))
			require.Equal(t, info.ETag, put.ETag)
			require.Zero(t, h.unfinished(t, "lost"))
		})
	}
}

func TestRefusedRequestLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*http.Request) bool{
		"single":   func(r *http.Request) bool { return r.Method == http.MethodPut && !r.URL.Query().Has("partNumber") },
		"begin":    func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploads") },
		"part":     func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" },
		"complete": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 40 * mib
			if name == "single" {
				n = 100
			}
			var armed atomic.Bool
			h := newS3(t, Config{URL: newProxy(t, &proxy{spoil: func(r *http.Request) spoiling {
				if armed.Load() && spoil(r) {
					return refuse
				}
				return forward
			}})})
			armed.Store(true)
			_, err := Put(t.Context(), h, "refused", bytes.NewReader(noise(n, 3)), int64(n), WriteOptions{})
			require.Error(t, err)
			require.NotErrorIs(t, err, context.Canceled)
			_, err = h.Stat(t.Context(), "refused")
			require.ErrorIs(t, err, ErrNotFound)
			require.Zero(t, h.unfinished(t, "refused"))
		})
	}
}

func TestSweepAbortsOldUploads(t *testing.T) {
	t.Parallel()
	h := newS3(t, Config{})
	core := h.Store.(*S3).core
	_, err := core.NewMultipartUpload(t.Context(), h.target, "left/over", minio.PutObjectOptions{})
	require.NoError(t, err)
	swept, err := h.Sweep(t.Context(), time.Hour)
	require.NoError(t, err)
	require.Zero(t, swept)
	require.Equal(t, 1, h.unfinished(t, "left/over"))
	swept, err = h.Sweep(t.Context(), -time.Minute)
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.Zero(t, h.unfinished(t, "left/over"))
}

// TestUploadsOfAGoneProcess: the next process aborts what the journal names, and leaves
// the uploads of others alone.
func TestUploadsOfAGoneProcess(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "uploads")
	h := newS3(t, Config{Journal: journal})
	core := h.Store.(*S3).core
	_, err := core.NewMultipartUpload(t.Context(), h.target, "of/another", minio.PutObjectOptions{})
	require.NoError(t, err)

	// One is committed, one aborted, and one left as a killed process leaves it.
	large := bytes.Repeat([]byte("x"), 2*partSize)
	_, err = Put(t.Context(), h, "committed", bytes.NewReader(large), -1, WriteOptions{})
	require.NoError(t, err)
	aborted, err := h.Create(t.Context(), "aborted", -1, WriteOptions{})
	require.NoError(t, err)
	_, err = aborted.Write(large)
	require.NoError(t, err)
	require.NoError(t, aborted.Abort())
	notes, err := os.ReadDir(journal)
	require.NoError(t, err)
	require.Empty(t, notes)
	killed, err := h.Create(t.Context(), "killed", -1, WriteOptions{})
	require.NoError(t, err)
	_, err = killed.Write(large)
	require.NoError(t, err)
	require.Equal(t, 1, h.unfinished(t, "killed"))

	next, err := Open(t.Context(), Config{URL: h.url, Journal: journal})
	require.NoError(t, err)
	defer next.Close()
	require.Zero(t, h.unfinished(t, "killed"))
	require.Equal(t, 1, h.unfinished(t, "of/another"))
	notes, err = os.ReadDir(journal)
	require.NoError(t, err)
	require.Empty(t, notes)
	_, err = next.Stat(t.Context(), "committed")
	require.NoError(t, err)
	require.NoError(t, killed.Abort(), "it gives its buffers back")
}

func TestBucketIsCreatedOnlyWhenAllowed(t *testing.T) {
	t.Parallel()
	cfg := Config{URL: s3URL(t, minioServer(t).Host, "absent-"+strings.ToLower(rand.Text()))}
	_, err := Open(t.Context(), cfg)
	require.ErrorIs(t, err, errNoBucket)
	cfg.CreateBucket = true
	for range 2 {
		store, err := Open(t.Context(), cfg)
		require.NoError(t, err)
		require.NoError(t, store.Close())
	}
}

// TestErrorsHoldNoCredentials tries what goes wrong in practice.
func TestErrorsHoldNoCredentials(t *testing.T) {
	t.Parallel()
	const access, secret = "ACCESSKEYOFTEST", "s3cretOfTheTest"
	for _, u := range []string{
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@" + minioServer(t).Host + "/bucket?tls=0",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@" + minioServer(t).Host + "/bucket?tls=1",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@127.0.0.1:1/bucket?tls=0",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@host:port/bucket",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@host/b?other=s3cretOfTheTest",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest%zz@host/b",
		"s3://ACCESSKEYOFTEST:s3cretOfTheTest@host/",
		"s3:ACCESSKEYOFTEST:s3cretOfTheTest@host/b",
		"minio://ACCESSKEYOFTEST:s3cretOfTheTest@host/b",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		_, err := Open(ctx, Config{URL: u})
		cancel()
		require.Error(t, err)
		for _, text := range []string{err.Error(), Config{URL: u}.String(), Config{URL: u}.LogValue().String(), Config{URL: u}.GoString()} {
			require.NotContains(t, text, secret)
			require.NotContains(t, text, access)
		}
	}
}
