package parse

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/portablepdb"
)

// A portable PDB and an assembly with one in it answer alike.
func TestManaged(t *testing.T) {
	t.Parallel()
	for path, kind := range map[string]symbol.Kind{
		"../../../storage/symbol/portablepdb/testdata/shop.pdb": symbol.PortablePDB,
		"../../../storage/symbol/binary/testdata/embedded.exe":  symbol.PE,
	} {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		done, x := indexed(t, unpacked(t, string(file), nil), "", "")
		require.Equal(t, kind, done.Kind)
		require.True(t, done.Facts.Managed)
		require.Contains(t, done.Features, Lines)
		require.GreaterOrEqual(t, len(done.Facts.Identifiers), 3)
		require.Empty(t, done.Facts.Warnings)
		address, ok := portablepdb.Address(0x06000002, 3)
		require.True(t, ok)
		frames, err := x.Lookup(address)
		require.NoError(t, err)
		require.Len(t, frames, 1)
		require.Equal(t, "/src/shop/part0/Cart0.cs", frames[0].File)
		require.EqualValues(t, 71, frames[0].Line)
	}
}

// A stripped program has the names of its static functions by .gnu_debugdata.
func TestMiniDebug(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"objcopy", "xz", "strip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(name + " is not installed")
		}
	}
	folder := compile(t)
	steps := exec.Command("sh", "-c",
		"objcopy --only-keep-debug app full && objcopy -S --remove-section .comment --keep-symbol=outer full mini && "+
			"strip --strip-all app && xz -k mini && objcopy --add-section .gnu_debugdata=mini.xz app && cp app odd && echo odd > x && "+
			"objcopy --update-section .gnu_debugdata=x odd")
	steps.Dir = folder
	out, err := steps.CombinedOutput()
	require.NoError(t, err, string(out))
	for name, found := range map[string]bool{"app": true, "odd": false} {
		file, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		done, x := indexed(t, unpacked(t, string(file), nil), "", "")
		got := false
		for address := uint64(0); address < 1<<14 && !got; address++ {
			frames, err := x.Lookup(address)
			require.NoError(t, err)
			got = len(frames) > 0 && frames[0].Function == "outer"
		}
		require.Equal(t, found, got, name)
		require.Equal(t, found, len(done.Facts.Warnings) == 0, "what cannot be read is said: %v", done.Facts.Warnings)
	}
}
