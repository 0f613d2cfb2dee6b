package object

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

var signingKey = []byte("0123456789abcdef0123456789abcdef")

// harness is a store under test and a view behind it.
type harness struct {
	Store
	// unfinished counts what writes under way, or broken ones, left behind.
	unfinished func(t *testing.T, key string) int
	clock      *clock // of a folder; nil otherwise
	url        string // of an s3 store
	target     string // its bucket
}

// clock is the real one, moved forward by tests.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// eachStore runs a test against both implementations.
func eachStore(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) { t.Parallel(); test(t, newFolder(t)) })
	t.Run("s3", func(t *testing.T) { t.Parallel(); test(t, newS3(t, Config{})) })
}

func newFolder(t *testing.T) *harness {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	h := &harness{clock: &clock{}}
	dir := t.TempDir()
	store, err := Open(t.Context(), Config{URL: dir, PublicURL: server.URL, SigningKey: signingKey, Now: h.clock.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	h.Store = store
	handler = store.(*Folder).ServeSigned()
	h.unfinished = func(t *testing.T, _ string) int {
		entries, err := os.ReadDir(dir + "/tmp")
		require.NoError(t, err)
		return len(entries)
	}
	return h
}

// minioServer returns the URL of MinIO, with credentials.
func minioServer(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse(servicetest.Minio(t))
	require.NoError(t, err)
	return u
}

// s3URL leads to a bucket by way of a host.
func s3URL(t testing.TB, host, bucket string) string {
	t.Helper()
	return fmt.Sprintf("s3://%s@%s/%s?tls=0&path_style=1", minioServer(t).User, host, bucket)
}

// newS3 opens a store in a bucket of its own. cfg.URL may name another host
// that leads to the server.
func newS3(t *testing.T, cfg Config) *harness {
	t.Helper()
	host := minioServer(t).Host
	if cfg.URL != "" {
		host = cfg.URL
	}
	h := &harness{target: "t-" + strings.ToLower(rand.Text())}
	h.url = s3URL(t, host, h.target)
	cfg.URL, cfg.CreateBucket = h.url, true
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	h.Store = store
	s3 := store.(*S3)
	h.unfinished = func(t *testing.T, key string) int {
		found, err := s3.core.ListMultipartUploads(t.Context(), h.target, key, "", "", "", 100)
		require.NoError(t, err)
		return len(found.Uploads)
	}
	t.Cleanup(func() {
		require.Empty(t, s3.large.slots, "a part buffer was not given back")
		require.Empty(t, s3.small.slots, "a small buffer was not given back")
		require.NoError(t, store.Close())
	})
	return h
}
