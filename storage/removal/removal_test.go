package removal_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	. "github.com/slipway-qa/slipway/storage/removal"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func open(t *testing.T) (*fixture.Fixture, object.Store) {
	t.Helper()
	objects, err := object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	for _, key := range []string{"builds/a", "builds/b", "builds/c"} {
		_, err := object.Put(t.Context(), objects, key, strings.NewReader("x"), 1, object.WriteOptions{})
		require.NoError(t, err)
	}
	return fixture.Empty(t), objects
}

func left(t *testing.T, objects object.Store) (keys []string) {
	t.Helper()
	list, err := objects.List(t.Context(), "", "", 100)
	require.NoError(t, err)
	for _, info := range list {
		keys = append(keys, info.Key)
	}
	return keys
}

func run(t *testing.T, w *fixture.Fixture, objects object.Store) int {
	t.Helper()
	n, err := Run(fixture.Context(t), w.DB, objects, 100)
	require.NoError(t, err)
	return n
}

func TestDeletionWaits(t *testing.T) {
	t.Parallel()
	w, objects := open(t)
	later := &Store{Store: objects, DB: w.DB, Delay: time.Hour}
	soon := &Store{Store: objects, DB: w.DB}
	require.NoError(t, later.Delete(t.Context(), "builds/b", "builds/a"))
	require.NoError(t, soon.Delete(t.Context(), "builds/a", "builds/c", "builds/unknown"))
	require.Equal(t, []string{"builds/a", "builds/b", "builds/c"}, left(t, objects))
	require.Equal(t, 2, run(t, w, objects), "an object that waits keeps its time")
	require.Equal(t, []string{"builds/a", "builds/b"}, left(t, objects))
	_, err := w.DB.ExecContext(t.Context(), `update object_removals set due_at = now()`)
	require.NoError(t, err)
	require.Equal(t, 2, run(t, w, objects))
	require.Empty(t, left(t, objects))
	require.Zero(t, run(t, w, objects))
}

func TestHold(t *testing.T) {
	t.Parallel()
	w, objects := open(t)
	require.NoError(t, (&Store{Store: objects, DB: w.DB}).Delete(t.Context(), "builds/a"))
	require.NoError(t, w.DB.InTx(fixture.Context(t), func(tx *storage.Tx) error {
		require.NoError(t, Hold(fixture.Context(t), tx))
		require.Zero(t, run(t, w, objects), "a backup is under way")
		_, err := tx.ExecContext(fixture.Context(t), `select pg_advisory_unlock_all()`)
		return err
	}))
	require.Equal(t, 1, run(t, w, objects))
}

// failing deletes nothing.
type failing struct{ object.Store }

func (failing) Delete(context.Context, ...string) error { return os.ErrDeadlineExceeded }

func TestRemovalThatFails(t *testing.T) {
	t.Parallel()
	w, objects := open(t)
	require.NoError(t, (&Store{Store: objects, DB: w.DB}).Delete(t.Context(), "builds/a"))
	_, err := Run(fixture.Context(t), w.DB, failing{objects}, 100)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Equal(t, 1, run(t, w, objects), "it is done again")
}
