package processtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSymbolsAtTheCommandLine reads files on this machine, without any service.
func TestSymbolsAtTheCommandLine(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	run := func(args ...string) string {
		t.Helper()
		r := command(t, nil, append([]string{"symbols"}, args...)...)
		require.Zero(t, r.code, "%s%s", r.stdout, r.stderr)
		return r.stdout
	}
	mapping := write("mapping.txt",
		"# pg_map_id: 7a3f5c1\ncom.example.Cart -> a.a:\n    4:4:int sum():31:31 -> b\n    4:4:void pay():12 -> b\n")
	trace := write("trace.txt", "java.lang.IllegalStateException: empty\n\tat a.a.b(SourceFile:4)\n\t... 3 more\n")
	require.Equal(t, "java.lang.IllegalStateException: empty\n\tat com.example.Cart.sum(Cart.java:31)\n\tat com.example.Cart.pay(Cart.java:12)\n\t... 3 more\n",
		run("retrace", mapping, trace))
	require.Contains(t, run("identify", mapping), "mapping_id 7a3f5c1")

	script := write("app.js.map", `{"version":3,"file":"app.js","sources":["cart.js"],"names":["pay"],"mappings":"AAAAA,IAEI"}`)
	require.Contains(t, run("position", script, "1:6"), "cart.js:3:5")

	refused := command(t, nil, "symbols", "retrace", script, trace)
	require.NotZero(t, refused.code)
	require.Contains(t, refused.stderr, "app.js.map")
	require.Empty(t, refused.stdout)

	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc, for a file of native code")
	}
	source := write("cart.c", `static inline __attribute__((always_inline)) int item(int *p) { return *p; }
__attribute__((noinline)) int sum(int *p) { return item(p) + 1; }
int main(void) { return sum(0); }
`)
	program := filepath.Join(folder, "cart")
	build := exec.CommandContext(t.Context(), gcc, "-g", "-O1", "-fno-ipa-cp", "-no-pie", "-Wl,--build-id", "-o", program, source)
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, run("identify", program), "build_id ")
	symbols, err := exec.CommandContext(t.Context(), "nm", program).Output()
	require.NoError(t, err)
	var address uint64
	for line := range strings.SplitSeq(string(symbols), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "sum" {
			address, err = strconv.ParseUint(f[0], 16, 64)
			require.NoError(t, err)
		}
	}
	require.NotZero(t, address)
	// Addresses count from the base of the image: that of a program which is not
	// position independent is at 0x400000.
	const base = 0x400000
	found := run("lookup", program, strconv.FormatUint(address-base, 16))
	require.Contains(t, found, "sum at "+source+":2")
}
