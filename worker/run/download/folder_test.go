package download

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a worker that was killed has left goes; what a test uses stays, as does what is not ours.
func TestSweepDeletesWhatKilledWorkersLeft(t *testing.T) {
	in := t.TempDir()
	t.Setenv("TMPDIR", in)
	old := time.Now().Add(-time.Hour)
	used, lock, err := makeFolder()
	require.NoError(t, err)
	killed, gone, err := makeFolder()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(killed.Name(), "file"), []byte("half a file"), 0o600))
	require.NoError(t, gone.Close()) // as the system does with a process that ends
	other, outside := filepath.Join(in, "other-1"), filepath.Join(in, "outside")
	require.NoError(t, os.Mkdir(other, 0o700))
	require.NoError(t, os.Mkdir(outside, 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(in, folderMark+"link")))
	fresh := filepath.Join(in, folderMark+"fresh")
	require.NoError(t, os.Mkdir(fresh, 0o700))
	for _, path := range []string{used.Name(), killed.Name(), other, outside} {
		require.NoError(t, os.Chtimes(path, old, old))
	}

	swept, err := Sweep()
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.NoDirExists(t, killed.Name())
	for _, path := range []string{used.Name(), other, outside, fresh} {
		require.DirExists(t, path)
	}
	require.ErrorIs(t, func() error {
		again, err := os.Open(used.Name())
		require.NoError(t, err)
		defer again.Close()
		return flock(again)
	}(), syscall.EWOULDBLOCK, "a test that goes on holds its lock")
	require.NoError(t, lock.Close())
	swept, err = Sweep()
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.NoError(t, used.Close())
	require.NoError(t, killed.Close())
}
