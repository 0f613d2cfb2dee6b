package storedfile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

// Copies and removals of one build at once: a copy that was made has its files,
// and what nobody names is gone with its key given once.
func TestCopyAgainstRemoval(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	keys := make(chan string, 100)
	for range 6 {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		icon := f.NewFile()
		u.Icon = &icon
		id := f.Upload(u).Build.ID
		var copyErrs [4]error
		var goneErr error
		fixture.Parallel(len(copyErrs)+1, func(i int) {
			if i < len(copyErrs) {
				copyErrs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) error {
					made, err := distribution.CopyBuild(ctx, tx, f.Org.Member.Writer, 0, id, distribution.BuildCopy{})
					if err != nil {
						return err
					}
					return distribution.DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, made.Build.ID)
				})
				return
			}
			goneErr = f.Do(func(ctx context.Context, tx *storage.Tx) error {
				return distribution.DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, id)
			})
			goneErr = errors.Join(goneErr, f.Do(func(ctx context.Context, tx *storage.Tx) error {
				gone, err := storedfile.RemoveBuilds(ctx, tx, []int64{id})
				for _, key := range gone {
					keys <- key
				}
				return err
			}))
		})
		require.NoError(t, goneErr)
		for _, err := range copyErrs {
			if err != nil && !errors.Is(err, storage.ErrConflict) {
				require.ErrorIs(t, err, storage.ErrNotFound)
			}
		}
	}
	require.Zero(t, f.Count(`select count(*) from builds b where not exists (select from files f where f.id = b.file_id)`))
	// The rest go one by one, all at once.
	var left []int64
	require.NoError(t, f.DB.SelectContext(t.Context(), &left, `select id from builds`))
	errs := make([]error, len(left))
	fixture.Parallel(len(left), func(i int) {
		errs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) error {
			gone, err := storedfile.RemoveBuilds(ctx, tx, left[i:i+1])
			for _, key := range gone {
				keys <- key
			}
			return err
		})
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	close(keys)
	seen := map[string]bool{}
	for key := range keys {
		require.False(t, seen[key], "a key is given once")
		seen[key] = true
	}
	require.Zero(t, f.Count(`select count(*) from files`))
	require.Len(t, seen, 12)
	f.CheckCounters()
}

// Two apps have copies of the same files, in opposite order.
func TestRemovalsAtOnce(t *testing.T) {
	t.Parallel()
	const rounds, files = 20, 10
	f := fixture.New(t)
	model := f.App("com.example.model").Build
	copies := func(order string) []int64 {
		var ids []int64
		require.NoError(t, f.DB.SelectContext(t.Context(), &ids, `
			insert into builds (organization_id, project_id, token, app_name, platform, kind, file_id, file_name, deleted_at)
			select organization_id, project_id, gen_random_uuid(), app_name, platform, kind, f.id, file_name, now()
			from builds b, (select id from files where id <> $2 order by id `+order+`) f where b.id = $1 returning id`, model.ID, model.File.ID))
		return ids
	}
	for range rounds {
		f.Exec(`insert into files (organization_id, object_key, size, sha256, content_type)
			select $1, 'builds/' || i, 1, '', '' from generate_series(1, $2) i`, f.Org.ID, files)
		sets := [][]int64{copies("asc"), copies("desc")}
		errs, keys := make([]error, len(sets)), make([][]string, len(sets))
		fixture.Parallel(len(sets), func(i int) {
			errs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) (err error) {
				keys[i], err = storedfile.RemoveBuilds(ctx, tx, sets[i])
				return err
			})
		})
		require.NoError(t, errors.Join(errs...))
		require.Len(t, append(keys[0], keys[1]...), files, "each key once")
		require.Equal(t, 1, f.Count(`select count(*) from files`))
	}
	require.Zero(t, f.Count(`select deadlocks from pg_stat_database where datname = current_database()`))
	// One that is not marked deleted keeps all.
	ids := append(copies("asc"), model.ID)
	err := f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := storedfile.RemoveBuilds(ctx, tx, ids)
		return err
	})
	require.ErrorIs(t, err, storage.ErrConflict)
	require.Equal(t, len(ids), f.Count(`select count(*) from builds`))
}
