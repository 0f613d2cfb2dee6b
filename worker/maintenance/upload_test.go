package maintenance_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/maintenance"
)

// Uploads in parts end with their bytes, but for what a build took.
func TestUploadExpiry(t *testing.T) {
	t.Parallel()
	db, dir := servicetest.DB(t), t.TempDir()
	objects, err := object.Open(t.Context(), object.Config{URL: dir})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	var org int64
	require.NoError(t, db.GetContext(t.Context(), &org,
		`insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	begin := func() *resumable.Upload {
		id := storage.NewID()
		store, err := objects.BeginParts(t.Context(), resumable.Key(id), object.WriteOptions{})
		require.NoError(t, err)
		var u *resumable.Upload
		require.NoError(t, db.InTx(t.Context(), func(tx *storage.Tx) (err error) {
			u, _, err = resumable.Begin(t.Context(), tx, resumable.New{ID: id, Owner: resumable.Owner{OrganizationID: org, UserID: 1}, FileName: "a",
				Size: 3, PartSize: object.PartUnit, StoreID: store}, resumable.Bounds{Uploads: 10, Bytes: 100})
			return err
		}))
		w, err := objects.WritePart(t.Context(), u.Object(), 1)
		require.NoError(t, err)
		defer w.Close()
		_, err = w.Write([]byte("abc"))
		require.NoError(t, err)
		_, err = w.Commit(nil)
		require.NoError(t, err)
		return u
	}
	complete := func(u *resumable.Upload) {
		sum := object.NewSum()
		_, err := objects.CompleteParts(t.Context(), u.Object(), []object.Part{{Number: 1}}, sum)
		require.NoError(t, err)
		done, err := resumable.Finish(t.Context(), db, u, sum.Hex())
		require.NoError(t, err)
		require.True(t, done)
	}
	begin()
	unused, used, kept := begin(), begin(), begin()
	complete(unused)
	complete(used)
	require.NoError(t, db.InTx(t.Context(), func(tx *storage.Tx) error {
		if err := resumable.Use(t.Context(), tx, used.ID); err != nil {
			return err
		}
		return resumable.SetResult(t.Context(), tx, used.ID, resumable.Result{BuildID: 1})
	}))
	keys := []string{resumable.Key(used.ID), resumable.Key(unused.ID), "builds/another", resumable.Key(kept.ID)}
	unnamed, err := resumable.Unnamed(t.Context(), db, keys)
	require.NoError(t, err)
	require.Equal(t, []string{keys[0], keys[2]}, unnamed, "the sweep looks for a file's row of what was used")
	_, err = db.ExecContext(t.Context(), `update resumable_uploads set expires_at = now() - interval '1 second' where id <> $1`, kept.ID)
	require.NoError(t, err)

	h := &maintenance.UploadExpiry{DB: db, Objects: objects, Log: slog.New(slog.DiscardHandler)}
	var out maintenance.UploadExpiryResult
	round(t, db, tasks.UploadExpiry, h, &out)
	require.Equal(t, 3, out.Uploads)
	_, err = objects.Stat(t.Context(), keys[0])
	require.NoError(t, err, "a build has it")
	_, err = objects.Stat(t.Context(), keys[1])
	require.ErrorIs(t, err, object.ErrNotFound)
	left, err := os.ReadDir(dir + "/parts")
	require.NoError(t, err)
	require.Len(t, left, 1, "that of the upload whose time is not over")
	u, err := resumable.Get(t.Context(), db, resumable.Owner{OrganizationID: org, UserID: 1}, kept.ID)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(resumable.FirstAge), u.ExpiresAt, time.Hour)
	round(t, db, tasks.UploadExpiry, h, &out)
	require.Zero(t, out.Uploads)
}
