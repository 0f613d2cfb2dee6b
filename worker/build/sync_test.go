package build

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

var sealing = seal.Ring{bytes.Repeat([]byte("k"), 32)}

func (w *world) syncer(allowPrivate bool) *Sync {
	w.t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: allowPrivate})
	require.NoError(w.t, err)
	w.t.Cleanup(guard.CloseIdleConnections)
	return &Sync{DB: w.db, Objects: w.objects, Guard: guard, Keys: sealing}
}

// connect sets the organization's connection, with the secret in the clear.
func (w *world) connect(c setting.Connection, secret string) {
	w.t.Helper()
	if secret != "" {
		var err error
		c.Secret, err = seal.Seal(sealing, seal.Connection, secret)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		return setting.SetConnection(w.t.Context(), tx, account.Actor{Name: "test"}, w.org, c)
	}))
}

// sync runs the task of a build to the end of one attempt.
func (w *world) sync(s *Sync, build int64) (uuid.UUID, error) {
	w.t.Helper()
	id := w.insert(tasks.NewBuildSync(w.org, "", build))
	err := s.Handle(w.t.Context(), w.claim(tasks.BuildSync, id))
	if err != nil { // one copy of an organization runs at a time
		require.NotContains(w.t, err.Error(), "s3cret")
		w.exec(`update tasks set state = 'dead', finished_at = now() where id = $1`, id)
	}
	return id, err
}

// bucket starts a MinIO server and returns the connection to it.
func bucket(t *testing.T) (c setting.Connection, secret string, store object.Store) {
	t.Helper()
	raw := servicetest.Minio(t)
	store, err := object.Open(t.Context(), object.Config{URL: raw, CreateBucket: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	u, err := url.Parse(raw)
	require.NoError(t, err)
	secret, _ = u.User.Password()
	return setting.Connection{Kind: "s3", Endpoint: "http://" + u.Host, Bucket: strings.Trim(u.Path, "/"),
		Region: u.Query().Get("region"), AccessKey: u.User.Username()}, secret, store
}

func read(t *testing.T, store object.Store, key string) []byte {
	t.Helper()
	r, _, err := store.Open(t.Context(), key, 0, -1)
	require.NoError(t, err)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return content
}

func TestSyncToBucket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conn, secret, store := bucket(t)
	s := w.syncer(true)

	// Our own files may be in a bucket too: 20 MiB of one go to the other.
	content := strings.Repeat("0123456789abcdef", 20<<16)
	file, key := w.newFile("x")
	_, err := object.Put(t.Context(), store, key, strings.NewReader(content), int64(len(content)), object.WriteOptions{})
	require.NoError(t, err)
	w.exec(`update files set size = $2 where id = $1`, file, len(content))
	s.Objects = store
	build := w.newBuild(w.project, file)

	for _, prefix := range []string{"", "/ci/apps/"} {
		conn.Prefix = prefix
		w.connect(conn, secret)
		id, err := w.sync(s, build)
		require.NoError(t, err)
		want := strings.TrimPrefix(fmt.Sprintf("%s%d/Group_shot.apk", strings.TrimPrefix(prefix, "/"), build), "/")
		require.Equal(t, SyncResult{Bytes: int64(len(content)), Target: "s3://" + conn.Bucket + "/" + want}, result[SyncResult](w, id))
		require.Equal(t, sha256.Sum256([]byte(content)), sha256.Sum256(read(t, store, want)))
	}

	// Again is the same object.
	_, err = w.sync(s, build)
	require.NoError(t, err)
	list, err := store.List(t.Context(), "ci/", "", 10)
	require.NoError(t, err)
	require.Len(t, list, 1)

	// A claim that was lost ends nothing.
	id := w.insert(tasks.NewBuildSync(w.org, "", build))
	first := w.claim(tasks.BuildSync, id)
	second := w.reclaim(tasks.BuildSync, id)
	require.ErrorIs(t, s.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, s.Handle(t.Context(), second))

	for name, tt := range map[string]struct {
		change func(*setting.Connection)
		secret string
		text   string
	}{
		"wrong secret":  {func(*setting.Connection) {}, "wrong-s3cret", "403"},
		"no bucket":     {func(c *setting.Connection) { c.Bucket = "missing" }, secret, "404"},
		"bad prefix":    {func(c *setting.Connection) { c.Prefix = "a/../b" }, secret, "prefix"},
		"no access key": {func(c *setting.Connection) { c.AccessKey = "" }, secret, "access key"},
	} {
		changed := conn
		tt.change(&changed)
		w.connect(changed, tt.secret)
		_, err := w.sync(s, build)
		require.ErrorContains(t, err, tt.text, name)
		require.True(t, tasks.IsPermanent(err), name)
		require.NotContains(t, err.Error(), secret)
	}
}

// A service that is away may come back.
func TestSyncToBucketThatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead { // the bucket is there
			return
		}
		rw.WriteHeader(http.StatusNotImplemented) // which is not retried at once
	}))
	t.Cleanup(server.Close)
	w.connect(setting.Connection{Kind: "s3", Endpoint: server.URL, Bucket: "apps", AccessKey: "a"}, "s3cret")
	_, err := w.sync(w.syncer(true), build)
	require.ErrorContains(t, err, "501")
	require.False(t, tasks.IsPermanent(err))
}

// What only this machine can reach stays out of reach.
func TestSyncIsGuarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	build := w.newBuild(w.project, file)
	e := &endpoint{status: http.StatusOK}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	for _, conn := range []setting.Connection{
		{Kind: "http", Endpoint: server.URL},
		{Kind: "http", Endpoint: "http://169.254.169.254/latest"},
		{Kind: "http", Endpoint: "http://127.1:9000"},
		{Kind: "s3", Endpoint: server.URL, Bucket: "apps", AccessKey: "a"},
		{Kind: "s3", Endpoint: "http://169.254.169.254", Bucket: "apps", AccessKey: "a"},
	} {
		w.connect(conn, "s3cret")
		_, err := w.sync(w.syncer(false), build)
		require.ErrorIs(t, err, outbound.ErrForbiddenAddress, conn.Endpoint)
		require.True(t, tasks.IsPermanent(err))
	}
	require.Zero(t, e.calls.Load())
}

func TestSyncOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, key := w.newFile("apk")
	build := w.newBuild(w.project, file)
	s := w.syncer(true)
	_, err := w.sync(s, build)
	require.EqualError(t, err, "the organization has no connection to an app storage")
	require.True(t, tasks.IsPermanent(err))

	e := &endpoint{status: http.StatusOK}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	w.connect(setting.Connection{Kind: "http", Endpoint: server.URL}, "s3cret")
	other := w.syncer(true)
	other.Keys = seal.Ring{bytes.Repeat([]byte("j"), 32)}
	_, err = w.sync(other, build)
	require.ErrorIs(t, err, seal.ErrUnseal)
	require.True(t, tasks.IsPermanent(err))

	require.NoError(t, w.objects.Delete(t.Context(), key))
	_, err = w.sync(s, build)
	require.EqualError(t, err, "the build's file is not stored any more")
	require.True(t, tasks.IsPermanent(err))

	w.exec(`update builds set deleted_at = now() where id = $1`, build)
	id, err := w.sync(s, build)
	require.NoError(t, err)
	require.Equal(t, SyncResult{Reason: reasonDeleted}, result[SyncResult](w, id))
	require.Zero(t, e.calls.Load())
}
