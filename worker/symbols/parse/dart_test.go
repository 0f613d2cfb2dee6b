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

// dartProgram is what Dart's compiler writes for a function with another inlined (runtime/vm/dwarf.cc and
// elf.cc of the SDK): DWARF 2 of one unit, in which functions have DW_AT_name and no name for linkers,
// names of files are addresses, lines are rows of a program without special opcodes, and the section is
// an object of the symbol table. Nothing of this machine compiles Dart.
const dartProgram = `
	.text
	.globl _kDartIsolateSnapshotInstructions
	.type _kDartIsolateSnapshotInstructions, @object
	.size _kDartIsolateSnapshotInstructions, 128
_kDartIsolateSnapshotInstructions:
	.zero 64
.Lcode:	.zero 64, 0x90
.Lend:
	.section .debug_abbrev
	.uleb128 1, 0x11
	.byte 1
	.uleb128 3,8, 0x25,8, 0x1b,8, 0x11,1, 0x12,1, 0x10,0x17, 0,0
	.uleb128 2, 0x2e
	.byte 1
	.uleb128 3,8, 0x3a,0xf, 0x20,0xf, 0x34,0xc, 0,0
	.uleb128 3, 0x2e
	.byte 1
	.uleb128 0x31,0x13, 0x11,1, 0x12,1, 0x34,0xc, 0,0
	.uleb128 4, 0x1d
	.byte 1
	.uleb128 0x31,0x13, 0x11,1, 0x12,1, 0x58,0xf, 0x59,0xf, 0x57,0xf, 0x34,0xc, 0,0
	.byte 0
	.section .debug_info
.Linfo:	.4byte .Linfoend - .Linfostart
.Linfostart:
	.2byte 2
	.4byte 0
	.byte 8
	.uleb128 1
	.string "main.dart"
	.string "Dart 3.5.4 (stable)"
	.string ""
	.8byte .Lcode, .Lend
	.4byte 0
.Lprice: .uleb128 2
	.string "Price.cents"
	.uleb128 1, 1
	.byte 0, 0
.Lpay:	.uleb128 2
	.string "_CartState.pay.<anonymous closure>"
	.uleb128 2, 1
	.byte 0, 0
	.uleb128 3
	.4byte .Lpay - .Linfo
	.8byte .Lcode, .Lend
	.byte 0
	.uleb128 4
	.4byte .Lprice - .Linfo
	.8byte .Lcode + 16, .Lcode + 32
	.uleb128 2, 42, 9
	.byte 0, 0
	.byte 0
	.byte 0, 0
.Linfoend:
	.section .debug_line
	.4byte .Llineend - .Llinestart
.Llinestart:
	.2byte 2
	.4byte .Lheadend - .Lheadstart
.Lheadstart:
	.byte 1, 1, 1, 1, 13
	.byte 0,1,1,1,1,0,0,0,1,0,0,1
	.byte 0
	.string "package:shop/price.dart"
	.byte 0, 0, 0
	.string "org-dartlang-sdk:///dart-sdk/lib/core/cart.dart"
	.byte 0, 0, 0
	.byte 0
.Lheadend:
	.byte 0, 9, 2
	.8byte .Lcode
	.byte 4, 2, 3, 40, 5, 3, 1
	.byte 2, 16
	.byte 4, 1, 3, 0x5e, 5, 7, 1
	.byte 2, 16
	.byte 4, 2, 3, 36, 5, 5, 1
	.byte 2, 32, 0, 1, 1
.Llineend:
	.section .note.GNU-stack,"",@progbits
`

// A debug file of Flutter is found by its build id, says where the section begins in which traces
// count, and has Dart's names of functions and files.
func TestDartSymbols(t *testing.T) {
	t.Parallel()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc here")
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app.s"), []byte(dartProgram), 0o600))
	const id = "4dbecf547733e72ae1688d73ebb5f062"
	cmd := exec.Command("sh", "-c", gcc+" -shared -nostdlib -Wl,--build-id=0x"+id+" -o app.so app.s && "+
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
	for offset, want := range map[uint64][]string{
		3:  {"_kDartIsolateSnapshotInstructions :0:0 false"},
		65: {"_CartState.pay.<anonymous closure> org-dartlang-sdk:///dart-sdk/lib/core/cart.dart:41:3 false"},
		81: {"Price.cents package:shop/price.dart:7:7 true",
			"_CartState.pay.<anonymous closure> org-dartlang-sdk:///dart-sdk/lib/core/cart.dart:42:9 false"},
		100: {"_CartState.pay.<anonymous closure> org-dartlang-sdk:///dart-sdk/lib/core/cart.dart:43:5 false"},
	} {
		frames, err := x.Lookup(start + offset)
		require.NoError(t, err)
		var got []string
		for _, f := range frames {
			name := f.Function
			if f.Public {
				name = f.Symbol
			}
			got = append(got, fmt.Sprintf("%s %s:%d:%d %v", name, f.File, f.Line, f.Column, f.Inlined))
		}
		require.Equal(t, want, got, offset)
	}
}

// The obfuscation map beside it is read by its content.
func TestDartMap(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const name = "map.json"
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(`["noSuchMethod","noSuchMethod","Cart","aB"]`), 0o600))
	in := unpacked(t, zipOf(t, folder, name), nil)
	require.Len(t, in.Members, 1)
	require.Equal(t, string(symbol.ProGuard), string(in.Members[0].Format))
}
