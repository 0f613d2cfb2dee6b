package processtest

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"debug/pe"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRelease builds what `make release` publishes, for the system that most jobs run on and the
// one that is least like it.
func TestRelease(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "dist")
	ctx, cancel := context.WithTimeout(t.Context(), 2*longWait)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join("..", "..", "..", ".ci", "release"), "1.2.3", dir, "linux/amd64",
		"windows/amd64").CombinedOutput()
	require.NoError(t, err, "%s", out)

	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	names := []string{"slipway-ci-linux-amd64", "slipway-ci-windows-amd64.exe"}
	require.Equal(t, len(names), strings.Count(string(sums), "\n"))
	for _, name := range names {
		program, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Less(t, len(program), 15_000_000)
		sum := sha256.Sum256(program)
		require.Contains(t, string(sums), hex.EncodeToString(sum[:])+"  "+name)
		require.NotContains(t, string(program), strings.TrimSpace(string(goRoot))+"/src/", "no paths of the machine that built it")
	}

	linux, err := elf.Open(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	defer linux.Close()
	libraries, err := linux.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
	require.Nil(t, linux.Section(".interp"), "static")
	windows, err := pe.Open(filepath.Join(dir, names[1]))
	require.NoError(t, err)
	defer windows.Close()
	require.EqualValues(t, pe.IMAGE_FILE_MACHINE_AMD64, windows.Machine)

	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return
	}
	out, err = exec.CommandContext(ctx, filepath.Join(dir, names[0]), "--version").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "1.2.3 (linux/amd64, ")
}
