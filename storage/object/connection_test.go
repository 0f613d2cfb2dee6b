package object

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// smallDisk mounts a file system in memory, which only root may.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("slipway-test", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system of a test's own needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A store that could not be opened is no store: whoever closes what is not nil must not
// meet a nil pointer.
func TestNoStoreBesideAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, cfg := range []Config{
		{URL: file},
		{URL: t.TempDir(), PublicURL: "http://127.0.0.1", SigningKey: []byte("short")},
		{URL: "s3://a:b@127.0.0.1:1/bucket?tls=0"},
		{URL: "s3://host/bucket"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		store, err := Open(ctx, cfg)
		cancel()
		require.Error(t, err, cfg.URL)
		require.True(t, store == nil, "a typed nil: %s", cfg.URL) //nolint:testifylint // require.Nil takes a typed nil for nil
	}
}

// A full folder refuses writes with the reason and is read on; it takes writes when
// there is room again.
func TestFullFolder(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, "size=256k")
	now := time.Now()
	c, err := Connect(Config{URL: dir, Now: func() time.Time { return now }})
	require.NoError(t, err)
	defer c.Close()
	put := func(key string, size int) error {
		_, err := Put(t.Context(), c, key, bytes.NewReader(make([]byte, size)), -1, WriteOptions{})
		return err
	}
	require.NoError(t, put("a/small", 1000))
	err = put("a/large", 1<<20)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorIs(t, err, ErrUnavailable)
	var why *UnavailableError
	require.ErrorAs(t, err, &why)
	require.Equal(t, "no space left", why.Reason)
	require.ErrorIs(t, c.Check(t.Context()), ErrFull, "although the small file of a check finds room")

	filler, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	require.NoError(t, filler.Close())
	require.ErrorIs(t, c.Check(t.Context()), ErrFull)
	require.ErrorIs(t, c.Check(t.Context()), ErrFull)
	_, err = c.Create(t.Context(), "a/b", -1, WriteOptions{})
	require.ErrorIs(t, err, ErrFull, "refused before a byte is read")
	content, _, err := c.Open(t.Context(), "a/small", 0, -1)
	require.NoError(t, err, "what is stored can be read")
	require.NoError(t, content.Close())

	require.NoError(t, os.Remove(filler.Name()))
	now = now.Add(fullAge)
	require.NoError(t, c.Check(t.Context()))
	require.NoError(t, put("a/b", 1000))
}

// A service whose disks are full says so at a write; its check writes nothing, and
// reports it all the same.
func TestFullService(t *testing.T) {
	t.Parallel()
	for code, full := range map[string]bool{"XMinioStorageFull": true, "QuotaExceeded": true, "AccessDenied": false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPut {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>no</Message></Error>")
		}))
		t.Cleanup(server.Close)
		c, err := Connect(Config{URL: "s3://access:sesame@" + strings.TrimPrefix(server.URL, "http://") + "/bucket?tls=0&path_style=1"})
		require.NoError(t, err)
		defer c.Close()
		_, err = Put(t.Context(), c, "a/b", strings.NewReader("content"), 7, WriteOptions{})
		require.ErrorIs(t, err, ErrUnavailable, code)
		require.Equal(t, full, errors.Is(err, ErrFull), code)
		require.NotContains(t, err.Error(), "sesame")
		require.Equal(t, full, errors.Is(c.Check(t.Context()), ErrFull), code)
	}
}

// After two checks in a row that failed, nobody waits for a store that is away; a
// missing object is no trouble of the store.
func TestUnreachableStoreRefusesAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "objects")
	c, err := Connect(Config{URL: dir})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Stat(t.Context(), "a/b")
	require.ErrorIs(t, err, ErrNotFound)
	require.NotErrorIs(t, err, ErrUnavailable)
	_, err = c.Stat(t.Context(), "../b")
	require.ErrorIs(t, err, ErrInvalidKey)

	blocked, err := Connect(Config{URL: filepath.Join(dir, "file", "below")})
	require.NoError(t, err)
	defer blocked.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for range 2 {
		require.ErrorIs(t, blocked.Check(t.Context()), ErrUnavailable)
	}
	_, err = blocked.SignGet(t.Context(), "a/b", time.Minute, SignOptions{})
	require.ErrorIs(t, err, ErrUnavailable)
	require.NoError(t, os.Remove(filepath.Join(dir, "file")))
	require.NoError(t, blocked.Check(t.Context()))
	_, err = blocked.Stat(t.Context(), "a/b")
	require.ErrorIs(t, err, ErrNotFound)
}

// slowStore does not respond to checks.
type slowStore struct{ Store }

func (slowStore) Check(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (slowStore) Stat(context.Context, string) (Info, error) { return Info{Size: 1}, nil }

// A probe in a hurry reports a slow store, and turns nobody away from it; checks that had
// their time do.
func TestHurriedChecksTurnNobodyAway(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := &Connection{name: "s3://host/bucket", store: slowStore{}, now: func() time.Time { return now }}
	check := func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, c.Check(ctx), ErrUnavailable)
	}
	for range 3 {
		check()
	}
	_, err := c.Stat(t.Context(), "a/b")
	require.NoError(t, err)
	c.now = func() time.Time { now = now.Add(enoughTime); return now }
	for range 2 {
		check()
	}
	_, err = c.Stat(t.Context(), "a/b")
	require.ErrorIs(t, err, ErrUnavailable)
}

// Checks at the same moment open a store once: opening ends what an earlier process left,
// and must not meet what this one has begun.
func TestChecksOpenOnce(t *testing.T) {
	t.Parallel()
	c, err := Connect(Config{URL: t.TempDir()})
	require.NoError(t, err)
	defer c.Close()
	open, opened := c.open, atomic.Int32{}
	c.open = func(ctx context.Context) (Store, error) {
		opened.Add(1)
		return open(ctx)
	}
	var checks sync.WaitGroup
	for range 16 {
		checks.Go(func() {
			if err := c.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	checks.Wait()
	require.Equal(t, int32(1), opened.Load())
}
