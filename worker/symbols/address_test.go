package symbols

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// Modules of WebAssembly and the debug information of .NET are found by release and address too:
// the stack traces that need them have no identifier.
func TestAddresses(t *testing.T) {
	t.Parallel()
	pdb, err := os.ReadFile("../../storage/symbol/portablepdb/testdata/shop.pdb")
	require.NoError(t, err)
	assembly, err := os.ReadFile("../../storage/symbol/binary/testdata/embedded.exe")
	require.NoError(t, err)
	module := "\x00asm\x01\x00\x00\x00\x0a\x04\x01\x02\x00\x0b\x00\x0e\x04name\x01\x07\x01\x00\x04main"
	w := newWorld(t)
	u := w.index(w.upload(zipped(t, "net/Shop.pdb", string(pdb), "net/Shop.exe", string(assembly), "web/shop.wasm", module),
		func(n *symbolfile.New) { n.Release = "1.2" }))
	kinds := map[symbol.Kind]bool{}
	for _, f := range w.files(u) {
		kinds[f.Kind] = true
		require.Equal(t, symbolfile.Indexed, f.State, string(f.Error))
	}
	require.Equal(t, map[symbol.Kind]bool{symbol.PortablePDB: true, symbol.PE: true, symbol.Wasm: true}, kinds)
	require.Subset(t, w.identifiers(u), []string{"net/Shop.pdb url=~/Shop.pdb@1.2", "net/Shop.exe url=~/Shop.exe@1.2",
		"web/shop.wasm url=~/web/shop.wasm@1.2"})
}

// Sources of native code are found by the debug files of their archive, or by the module that they are
// uploaded for; those of other archives by neither.
func TestSourcesOfNativeCode(t *testing.T) {
	t.Parallel()
	const source, sym = "int main(void) { return 0; }\n", "MODULE Linux x86_64 C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0 shop\nFUNC 1000 10 0 main\n"
	const id = "C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0"
	w := newWorld(t)
	u := w.index(w.upload(zipped(t, "shop.sym", sym, "src/main.c", source), nil))
	require.Contains(t, w.identifiers(u), fmt.Sprintf("src/main.c url=~/src/main.c@symbols %d", u.ID))
	u = w.index(w.upload(zipped(t, "src/main.c", source, "README", "one more"), func(n *symbolfile.New) { n.GivenID = id }))
	require.Contains(t, w.identifiers(u), "src/main.c url=~/src/main.c@debug_id "+id)
	manifest := `{"debug_id":"` + id +
		`","files":{"files/0":{"type":"source","path":"C:\\ci\\main.c"},"files/main.c":{"type":"source","path":"/ci/main.c"}}}`
	u = w.index(w.upload(zipped(t, "manifest.json", manifest, "files/main.c", source), nil))
	require.Contains(t, w.identifiers(u), "files/main.c url=~/ci/main.c@debug_id "+id)
	u = w.index(w.upload(zipped(t, "src/main.c", source, "README", "two more"), nil))
	require.Equal(t, []string{"src/main.c url=~/src/main.c"}, w.identifiers(u))
}
