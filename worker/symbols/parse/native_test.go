package parse

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const program = `
static inline __attribute__((always_inline)) int inner(int a) { volatile int b = a * 3; return b + 1; }
__attribute__((noinline)) int outer(int a) { return inner(a) + 2; }
int main(int argc, char **argv) { return outer(argc); }
`

// compile compiles the program with gcc, where there is one, and returns the folder.
func compile(t *testing.T, arguments ...string) string {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc here")
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app.c"), []byte(program), 0o600))
	cmd := exec.Command(gcc, append(arguments, "-O1", "-Wl,--build-id", "-o", "app", "app.c")...)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return folder
}

// indexed indexes the member of a path and opens the index.
func indexed(t *testing.T, u *Unpacked, path string, companions string) (*Indexed, *native.Index) {
	t.Helper()
	for _, m := range u.Members {
		if m.Path != path {
			continue
		}
		require.Nil(t, m.Broken)
		out := filepath.Join(t.TempDir(), "index")
		done, err := index(context.Background(), IndexArgs{File: m.File, Out: out, Folder: t.TempDir(), Format: m.Format, Companions: companions})
		require.NoError(t, err)
		content, err := os.ReadFile(out)
		require.NoError(t, err)
		require.EqualValues(t, len(content), done.Size)
		x, err := symbol.Open(bytes.NewReader(content), done.Size)
		require.NoError(t, err)
		n, err := native.Open(x)
		require.NoError(t, err)
		return done, n
	}
	t.Fatalf("no member %s", path)
	return nil, nil
}

// zipOf zips files of a folder.
func zipOf(t *testing.T, folder string, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		e, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.Copy(e, bytes.NewReader(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

// frames returns function and line of an address within a function, innermost first.
func frames(t *testing.T, x *native.Index, function string) (names []string) {
	t.Helper()
	for address := uint64(0); address < 1<<14; address++ {
		found, err := x.Lookup(address)
		require.NoError(t, err)
		if len(found) == 2 && found[1].Function == function {
			return []string{found[0].Function, found[1].Function}
		}
	}
	return nil
}

func TestELF(t *testing.T) {
	t.Parallel()
	folder := compile(t, "-g")
	done, x := indexed(t, unpacked(t, zipOf(t, folder, "app"), nil), "app", "")
	require.Equal(t, symbol.ELF, done.Kind)
	require.Equal(t, []string{Functions, Lines, Inlines, Publics, Unwind, Text}, done.Features)
	types := map[symbol.IdentifierType]bool{}
	for _, id := range done.Facts.Identifiers {
		types[id.Type] = true
	}
	require.Equal(t, map[symbol.IdentifierType]bool{symbol.DebugID: true, symbol.CodeID: true, symbol.BuildID: true}, types)
	require.Equal(t, []string{"inner", "outer"}, frames(t, x, "outer"))
}

// listed writes the list of the companions in an upload.
func listed(t *testing.T, u *Unpacked, n int) string {
	t.Helper()
	var list []Companion
	for _, m := range u.Members {
		if len(m.Supplies) > 0 {
			list = append(list, Companion{File: m.File, Supplies: m.Supplies})
		}
	}
	require.Len(t, list, n)
	path := filepath.Join(t.TempDir(), "companions")
	require.NoError(t, WriteCompanions(path, list))
	return path
}

// A file of debug information alone has the sections of code, without their bytes.
func TestDebugFileHasNoCode(t *testing.T) {
	t.Parallel()
	folder := compile(t, "-g")
	objcopy, err := exec.LookPath("objcopy")
	if err != nil {
		t.Skip("no objcopy here")
	}
	cmd := exec.Command(objcopy, "--only-keep-debug", "app", "app.debug")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	done, _ := indexed(t, unpacked(t, zipOf(t, folder, "app.debug"), nil), "app.debug", "")
	require.Contains(t, done.Features, Lines)
	require.NotContains(t, done.Features, Text)
}

// DWARF that was split off is found by its id in the same archive.
func TestSplitDWARF(t *testing.T) {
	t.Parallel()
	folder := compile(t, "-g", "-gsplit-dwarf")
	names, err := filepath.Glob(filepath.Join(folder, "*.dwo"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	dwo := filepath.Base(names[0])
	u := unpacked(t, zipOf(t, folder, "app", dwo), nil)
	list := listed(t, u, 1)
	_, x := indexed(t, u, "app", "")
	require.Empty(t, frames(t, x, "outer"), "without it nothing is known of what was inlined")
	_, x = indexed(t, u, "app", list)
	require.Equal(t, []string{"inner", "outer"}, frames(t, x, "outer"))
}

func TestBreakpad(t *testing.T) {
	t.Parallel()
	sym := strings.Join([]string{"MODULE Linux x86_64 6D21C5D1E4A84F5D8B5E0F1A2B3C4D5E0 app", "FILE 0 /src/app.c",
		"FUNC 1000 10 0 outer", "1000 10 7 0", "PUBLIC 2000 0 end", "STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^"}, "\n") + "\n"
	done, x := indexed(t, unpacked(t, sym, nil), "", "")
	require.Equal(t, "x86_64", done.Arch)
	require.Equal(t, []string{Functions, Lines, Publics, Unwind}, done.Features)
	require.Contains(t, done.Facts.Identifiers, symbol.Identifier{Type: symbol.DebugID, Value: "6D21C5D1E4A84F5D8B5E0F1A2B3C4D5E0"})
	found, err := x.Lookup(0x1004)
	require.NoError(t, err)
	require.Equal(t, "outer", found[0].Function)
	require.EqualValues(t, 7, found[0].Line)
}

// Every kind has a reader and a version.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds() {
		require.NotNil(t, reader(kind), kind)
		require.Positive(t, Version(kind), kind)
		_, err := index(context.Background(), IndexArgs{Format: filetype.Format(kind), File: os.DevNull,
			Out: filepath.Join(t.TempDir(), "o"), Folder: t.TempDir()})
		if kind == symbol.Source {
			continue // an empty text is one
		}
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong, kind)
	}
	_, err := index(context.Background(), IndexArgs{Format: "none"})
	require.Error(t, err)
}

func TestDumpFormats(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(path, []byte("MDMP"), 0o600))
	for _, format := range []string{"minidump", "plcrash", "unreal", "unity", "other"} {
		var wrong *symbol.InvalidError
		_, err := readDump(context.Background(), DumpArgs{Path: path, Format: format})
		require.ErrorAs(t, err, &wrong, format)
	}
	_, err := readDump(context.Background(), DumpArgs{Path: path + "none"})
	require.ErrorIs(t, err, os.ErrNotExist)
}
