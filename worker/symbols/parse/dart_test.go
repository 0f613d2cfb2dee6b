package parse

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// dartProgram has the names, the files and the section that Dart's compiler writes: nothing of this
// machine compiles Dart.
const dartProgram = `
__asm__(".text\n.globl _kDartIsolateSnapshotInstructions\n.type _kDartIsolateSnapshotInstructions, @function\n"
	"_kDartIsolateSnapshotInstructions: .zero 64\n");
#line 7 "package:shop/price.dart"
static inline __attribute__((always_inline)) int cents(int a) { volatile int b = a * 3; return b + 1; }
#line 42 "org-dartlang-sdk:///dart-sdk/lib/core/cart.dart"
__attribute__((noinline)) int pay(int a) __asm__("_CartState.pay");
int pay(int a) { return cents(a) + 2; }
`

// A debug file of Flutter is found by its build id, says where the section begins in which traces
// count, and has Dart's names of files.
func TestDartSymbols(t *testing.T) {
	t.Parallel()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc here")
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app.c"), []byte(dartProgram), 0o600))
	const id = "4dbecf547733e72ae1688d73ebb5f062"
	cmd := exec.Command("sh", "-c", gcc+" -g -O1 -shared -nostdlib -fPIC -Wl,--build-id=0x"+id+" -o app.so app.c && "+
		"objcopy --only-keep-debug app.so app.android-x64.symbols")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	const name = "app.android-x64.symbols"
	done, x := indexed(t, unpacked(t, zipOf(t, folder, name), nil), name, "")
	require.Equal(t, symbol.ELF, done.Kind)
	require.Contains(t, done.Facts.Identifiers, symbol.Identifier{Type: symbol.BuildID, Value: id})

	at, ok := native.SectionAddress("_kDartIsolateSnapshotInstructions")
	require.True(t, ok)
	found, err := x.Lookup(at)
	require.NoError(t, err)
	require.Len(t, found, 1)
	start, ok := native.ParseSectionStart(found[0].Symbol)
	require.True(t, ok, "%v", found)
	first, err := x.Lookup(start)
	require.NoError(t, err)
	require.Equal(t, "_kDartIsolateSnapshotInstructions", first[0].Symbol)
	names := map[string]bool{}
	for offset := range uint64(256) {
		frames, err := x.Lookup(start + offset)
		require.NoError(t, err)
		for _, f := range frames {
			if f.Line > 0 {
				names[fmt.Sprintf("%s %s %v", f.Function, f.File, f.Inlined)] = true
			}
		}
	}
	require.Contains(t, names, "cents package:shop/price.dart true")
	require.Contains(t, names, "_CartState.pay org-dartlang-sdk:///dart-sdk/lib/core/cart.dart false")
}
