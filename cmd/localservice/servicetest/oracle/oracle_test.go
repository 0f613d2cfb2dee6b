package oracle

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A question is asked once, unless a part of it or the answer that was kept has changed.
func TestOutput(t *testing.T) {
	t.Parallel()
	folder, asked := filepath.Join(t.TempDir(), "oracle"), 0
	ask := func(parts ...Part) {
		t.Helper()
		out, err := output(folder, parts, func() ([]byte, error) { asked++; return []byte("the answer"), nil })
		require.NoError(t, err)
		require.Equal(t, "the answer", string(out))
	}
	for range 2 {
		ask(Part{"a", []byte("bc")})
	}
	require.Equal(t, 1, asked)
	ask(Part{"ab", []byte("c")})
	ask(Part{"a", []byte("b")}, Part{"c", nil})
	require.Equal(t, 3, asked, "other parts")

	kept, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Len(t, kept, 3)
	for _, path := range kept {
		require.NoError(t, os.Truncate(path, 35))
	}
	ask(Part{"a", []byte("bc")})
	require.Equal(t, 4, asked, "a damaged answer")
	ask(Part{"a", []byte("bc")})
	require.Equal(t, 4, asked)

	wrong := errors.New("no java")
	for range 2 {
		_, err := output(folder, nil, func() ([]byte, error) { asked++; return nil, wrong })
		require.ErrorIs(t, err, wrong)
	}
	require.Equal(t, 6, asked, "an error is not kept")
}

// A program that was installed anew is another one.
func TestProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tool")
	require.NoError(t, os.WriteFile(path, []byte("one"), 0o700))
	first := Program(path)
	require.Equal(t, first, Program(path))
	require.NoError(t, os.WriteFile(path, []byte("three"), 0o700))
	require.NotEqual(t, first, Program(path))
	require.Equal(t, File(path), File(path))
}
