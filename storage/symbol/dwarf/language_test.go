package dwarf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiled compiles the C++ program in a folder, with flags for compiling and linking.
func compiled(t testing.TB, dir, compiler string, flags ...string) string {
	t.Helper()
	args := append(flags, "-o", "program", source(t, "main.cc"), source(t, "lib.cc"), "-x", "c", source(t, "plain.c"))
	run(t, dir, compiler, args...)
	return filepath.Join(dir, "program")
}

func TestRust(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"-O"}, {"-Copt-level=0"}, {"-Copt-level=3", "-Csymbol-mangling-version=v0", "-Cdwarf-version=5"}} {
		dir := t.TempDir()
		run(t, dir, "rustc", append(flags, "-g", "-o", "program", source(t, "hello.rs"))...)
		object := filepath.Join(dir, "program")
		x := openELF(t, object)
		compareWhole(t, x, object, 10000, llvmOracle())
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code := "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o600))
	run(t, dir, "go", "build", "-o", "program", "main.go")
	object := filepath.Join(dir, "program")
	x := openELF(t, object)
	compareWhole(t, x, object, 20000, llvmOracle())
}

func TestMinGW(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, "x86_64-w64-mingw32-gcc", "-g", "-O2", "-DMAIN", "-o", "program.exe", source(t, "plain.c"))
	object := filepath.Join(dir, "program.exe")
	x := openPE(t, object)
	compareWhole(t, x, object, 5000, binutilsOracle())
}

func TestMachO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, "clang", "-target", "x86_64-apple-macos11", "-ffreestanding", "-nostdinc", "-g", "-O2", "-c", "-o",
		"program.o", source(t, "alone.c"))
	run(t, dir, "clang", "-target", "x86_64-apple-macos11", "-nostdlib", "-fuse-ld=lld", "-dynamiclib", "-o", "program", "program.o")
	run(t, dir, "dsymutil", "-o", "program.dSYM", "program")
	object := filepath.Join(dir, "program.dSYM", "Contents", "Resources", "DWARF", "program")
	x := openMachO(t, object)
	index, s := indexed(t, x, Options{})
	require.Empty(t, s.Warnings)
	require.Positive(t, s.Functions)
	compare(t, x, index, object, everySeventh(x, 5000), llvmOracle())
}

func TestCrossCompilers(t *testing.T) {
	t.Parallel()
	for _, compiler := range []string{"aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"} {
		t.Run(compiler, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run(t, dir, compiler, "-g", "-O2", "-shared", "-fPIC", "-o", "program", source(t, "plain.c"))
			object := filepath.Join(dir, "program")
			x := openELF(t, object)
			compareWhole(t, x, object, 5000, llvmOracle())
		})
	}
}
