package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/removal"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/signing"
)

var backupKey = strings.Repeat("b", 48)

// installed is an installation without processes.
type installed struct {
	t       *testing.T
	set     *setting.Settings
	db      *storage.DB
	objects object.Store
	org     int64
}

// newInstalled opens an installation on an object store.
func newInstalled(t *testing.T, database, objects string) *installed {
	t.Helper()
	in := &installed{t: t, set: &setting.Settings{DatabaseURL: setting.Secret(database), ObjectsURL: setting.Secret(objects),
		SigningKey: setting.Secret(backupKey),
		Region:     "local"}}
	var err error
	in.db, err = storage.Open(storage.Config{URL: database})
	require.NoError(t, err)
	t.Cleanup(func() { _ = in.db.Close() })
	in.objects, err = object.Open(t.Context(), in.set.Objects(true))
	require.NoError(t, err)
	t.Cleanup(func() { _ = in.objects.Close() })
	return in
}

// emptyDatabase returns a database without tables.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	url := servicetest.DatabaseURL(t)
	db, err := storage.Open(storage.Config{URL: url})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `drop schema public cascade; create schema public`)
	require.NoError(t, err)
	return url
}

func (in *installed) do(f func(ctx context.Context, tx *storage.Tx) error) {
	in.t.Helper()
	require.NoError(in.t, in.db.InTx(in.t.Context(), func(tx *storage.Tx) error { return f(in.t.Context(), tx) }))
}

// fill writes an organization, a sealed address, and files.
func (in *installed) fill(files int) {
	in.t.Helper()
	ring, err := in.set.Ring()
	require.NoError(in.t, err)
	require.NoError(in.t, signing.Register(in.t.Context(), in.db, ring))
	in.do(func(ctx context.Context, tx *storage.Tx) error {
		org, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "acme", Name: "Acme"})
		if err != nil {
			return err
		}
		in.org = org.ID
		_, err = authoring.CreateTunnel(ctx, tx, account.Writer{OrganizationID: org.ID, UserUUID: uuid.New(), Admin: true,
			Actor: account.CLI()}, ring,
			"office", "http://user:opensesame@proxy.example.com:3128")
		return err
	})
	for range files {
		require.NoError(in.t, in.store(in.t.Context(), []byte("content "+uuid.NewString()), "application/zip"))
	}
}

// store writes a file: its object, then its row.
func (in *installed) store(ctx context.Context, content []byte, contentType string) error {
	key, sum := "builds/"+uuid.NewString(), sha256.Sum256(content)
	if _, err := object.Put(ctx, in.objects, key, bytes.NewReader(content), int64(len(content)),
		object.WriteOptions{ContentType: contentType}); err != nil {
		return err
	}
	_, err := in.db.ExecContext(ctx, `insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, $3, $4, $5)`,
		in.org, key, len(content), hex.EncodeToString(sum[:]), contentType)
	return err
}

// check reads every file that a row names, and the sealed address.
func (in *installed) check(files int) {
	in.t.Helper()
	var rows []struct {
		Org  int64  `db:"organization_id"`
		Key  string `db:"object_key"`
		Sum  string `db:"sha256"`
		Type string `db:"content_type"`
	}
	require.NoError(in.t, in.db.SelectContext(in.t.Context(), &rows, `select organization_id, object_key, sha256, content_type from files`))
	require.GreaterOrEqual(in.t, len(rows), files)
	for _, row := range rows {
		in.org = row.Org
		r, info, err := in.objects.Open(in.t.Context(), row.Key, 0, -1)
		require.NoError(in.t, err, row.Key)
		content, err := io.ReadAll(r)
		require.NoError(in.t, err)
		require.NoError(in.t, r.Close())
		sum := sha256.Sum256(content)
		require.Equal(in.t, row.Sum, hex.EncodeToString(sum[:]))
		require.Equal(in.t, row.Type, info.ContentType)
	}
	address, err := authoring.TunnelURL(in.t.Context(), in.db, seal.Ring{[]byte(backupKey)}, in.org, "office")
	require.NoError(in.t, err)
	require.Equal(in.t, "http://user:opensesame@proxy.example.com:3128", address)
}

// TestBackupMoves has a folder's backup restored into MinIO, and MinIO's into a folder.
func TestBackupMoves(t *testing.T) {
	t.Parallel()
	folder := newInstalled(t, servicetest.DatabaseURL(t), t.TempDir())
	folder.fill(5)
	orphan := "builds/orphan"
	_, err := object.Put(t.Context(), folder.objects, orphan, strings.NewReader("x"), 1, object.WriteOptions{})
	require.NoError(t, err)

	first := filepath.Join(t.TempDir(), "first")
	require.NoError(t, (&create{Dir: first}).Run(t.Context(), folder.set))
	require.NoError(t, (&verify{Dir: first}).Run(t.Context()))
	require.ErrorContains(t, (&create{Dir: first}).Run(t.Context(), folder.set), "complete backup already")
	m, err := readManifest(first)
	require.NoError(t, err)
	require.EqualValues(t, 5, m.Counts["objects"], "what no row names is no part of it")
	require.Equal(t, []string{seal.Fingerprint([]byte(backupKey))}, m.Keys)
	for _, file := range []string{manifestFile, objectsFile} {
		raw, err := os.ReadFile(filepath.Join(first, file))
		require.NoError(t, err)
		require.NotContains(t, string(raw), backupKey)
	}
	require.NoFileExists(t, filepath.Join(first, keysFile))

	database := emptyDatabase(t)
	bucket := newInstalled(t, database, servicetest.Minio(t))
	require.NoError(t, (&RestoreCommand{Dir: first}).Run(t.Context(), bucket.set))
	bucket.check(5)
	require.ErrorContains(t, (&RestoreCommand{Dir: first}).Run(t.Context(), bucket.set), "not empty")

	second := filepath.Join(t.TempDir(), "second")
	require.NoError(t, (&create{Dir: second, WithKeys: true}).Run(t.Context(), bucket.set))
	back := newInstalled(t, emptyDatabase(t), t.TempDir())
	back.set.SigningKey = "" // that of the backup
	require.NoError(t, (&RestoreCommand{Dir: second}).Run(t.Context(), back.set))
	require.EqualValues(t, backupKey, back.set.SigningKey)
	back.check(5)
}

// TestBackupUnderLoad deletes and stores files while the backup is made: what the dump
// names is in it.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	in := newInstalled(t, servicetest.DatabaseURL(t), t.TempDir())
	in.fill(150)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	deleted := make(chan struct{})
	load.Go(func() {
		waiting := &removal.Store{Store: in.objects, DB: in.db}
		for n := 0; ctx.Err() == nil; n++ {
			var key string
			if in.db.GetContext(ctx, &key, `delete from files where id = (select min(id) from files) returning object_key`) != nil {
				continue
			}
			_ = waiting.Delete(ctx, key)
			_ = in.store(ctx, []byte(fmt.Sprint("new ", n)), "text/plain")
			_, _ = removal.Run(ctx, in.db, in.objects, 100)
			if n == 3 {
				close(deleted)
			}
		}
	})
	<-deleted
	dir := filepath.Join(t.TempDir(), "backup")
	err := (&create{Dir: dir}).Run(t.Context(), in.set)
	stop()
	load.Wait()
	require.NoError(t, err)
	to := newInstalled(t, emptyDatabase(t), t.TempDir())
	require.NoError(t, (&RestoreCommand{Dir: dir}).Run(t.Context(), to.set))
	to.check(149) // a file goes before the next one comes
	_, err = removal.Run(t.Context(), in.db, in.objects, 1000)
	require.NoError(t, err)
	var waiting int
	require.NoError(t, in.db.GetContext(t.Context(), &waiting, `select count(*) from object_removals`))
	require.Zero(t, waiting, "deletion goes on after the backup")
}

// TestBackupMissesObjects lists what the database names and the store lacks.
func TestBackupMissesObjects(t *testing.T) {
	t.Parallel()
	in := newInstalled(t, servicetest.DatabaseURL(t), t.TempDir())
	in.fill(3)
	var key string
	require.NoError(t, in.db.GetContext(t.Context(), &key, `select min(object_key) from files`))
	require.NoError(t, in.objects.Delete(t.Context(), key))
	dir := filepath.Join(t.TempDir(), "backup")
	require.ErrorContains(t, (&create{Dir: dir}).Run(t.Context(), in.set), "1 objects that the database names")
	require.ErrorContains(t, (&verify{Dir: dir}).Run(t.Context()), "no complete backup")

	_, err := in.db.ExecContext(t.Context(), `delete from files where object_key = $1`, key)
	require.NoError(t, err)
	require.NoError(t, (&create{Dir: dir}).Run(t.Context(), in.set), "the same folder goes on")
	require.NoError(t, (&verify{Dir: dir}).Run(t.Context()))
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	in := newInstalled(t, servicetest.DatabaseURL(t), t.TempDir())
	in.fill(2)
	dir := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, (&create{Dir: dir}).Run(t.Context(), in.set))
	to := newInstalled(t, emptyDatabase(t), t.TempDir())
	restore := func() error { return (&RestoreCommand{Dir: dir}).Run(t.Context(), to.set) }

	to.set.SigningKey = setting.Secret(strings.Repeat("z", 48))
	require.ErrorContains(t, restore(), "signing key "+seal.ShortFingerprint(seal.Fingerprint([]byte(backupKey))))
	to.set.SigningKeysOld = setting.Secret(backupKey)

	_, err := object.Put(t.Context(), to.objects, "builds/foreign", strings.NewReader("x"), 1, object.WriteOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, restore(), "builds/foreign")
	require.NoError(t, to.objects.Delete(t.Context(), "builds/foreign"))

	running, err := storage.Open(storage.Config{URL: string(to.set.DatabaseURL), ApplicationName: "slipway-worker", MaxConns: 1})
	require.NoError(t, err)
	require.NoError(t, running.PingContext(t.Context()))
	require.ErrorContains(t, restore(), "slipway-worker")
	require.NoError(t, running.Close())

	damaged := firstObjectFile(t, dir)
	raw, err := os.ReadFile(damaged)
	require.NoError(t, err)
	changed := bytes.Clone(raw)
	changed[0] ^= 1
	require.NoError(t, os.WriteFile(damaged, changed, 0o600))
	require.ErrorContains(t, restore(), "is damaged")
	require.NoError(t, os.WriteFile(damaged, raw, 0o600))

	require.NoError(t, restore(), "after all these, into the same place")
	to.check(2)
}

// firstObjectFile returns a file with an object's bytes.
func firstObjectFile(t *testing.T, dir string) (path string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "objects"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path = p
		}
		return err
	}))
	require.NotEmpty(t, path)
	return path
}

func TestPasswordOfDatabaseStaysOffTheCommandLine(t *testing.T) {
	t.Parallel()
	env, err := postgresEnvironment("postgres://me:op%40en@db.example.com:6543/slip?binary_parameters=yes")
	require.NoError(t, err)
	for _, want := range []string{"PGPASSWORD=op@en", "PGHOST=db.example.com", "PGPORT=6543", "PGUSER=me", "PGDATABASE=slip",
		"PGSSLMODE=require"} {
		require.Contains(t, env, want)
	}
	require.Equal(t, "slip", databaseOf("postgres://me:open@db.example.com:6543/slip?sslmode=disable"))
}

func TestManifestNamesNoOtherFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	raw, err := json.Marshal(manifest{Format: manifestFormat, Files: []manifestPart{{Name: "../secret"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, manifestFile), raw, 0o600))
	_, err = verifyBackup(t.Context(), dir)
	require.ErrorContains(t, err, "outside of the folder")
}
