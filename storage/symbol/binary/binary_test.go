package binary

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const program = `#include <stdlib.h>
__attribute__((noinline)) static int inner(int x) { return x * 3 + (int)sizeof(void *); }
__attribute__((noinline)) int visible(int x) { return inner(x) + 1; }
int main(int argc, char **argv) { return visible(argc) == 1 ? 1 : 0; }
`

// publics keeps what is reported.
type publics struct{ all []native.Public }

func (p *publics) Function(*native.Function) error { return nil }
func (p *publics) Unwind(native.Unwind) error      { return nil }
func (p *publics) Public(s native.Public) error    { p.all = append(p.all, s); return nil }

// tool returns a program, also where only a versioned name of it is installed; it skips
// the test where there is none.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, version := range []string{"", "-14", "-15", "-16", "-17", "-18", "-19", "-20"} {
		if path, err := exec.LookPath(name + version); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	command := exec.Command(tool(t, name), args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "LC_ALL=C")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// built compiles the program with a compiler and returns the path.
func built(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.c"), []byte(program), 0o600))
	run(t, dir, compiler, append([]string{"p.c", "-g", "-O1", "-o", "p"}, args...)...)
	return filepath.Join(dir, "p")
}

func opened(t testing.TB, path string) *File {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	info, err := file.Stat()
	require.NoError(t, err)
	f, err := Open(file, info.Size())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

func bytesOf(t testing.TB, f *File, name string) []byte {
	t.Helper()
	r, size, err := f.Section(name)
	require.NoError(t, err)
	p := make([]byte, size)
	if size > 0 {
		n, err := r.ReadAt(p, 0)
		require.EqualValues(t, size, n, "%v", err)
	}
	return p
}

// nmFunctions returns the functions that nm lists, by name.
func nmFunctions(t *testing.T, path string, args ...string) map[string]uint64 {
	t.Helper()
	found := map[string]uint64{}
	for line := range strings.Lines(run(t, ".", "nm", append(args, path)...)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && strings.Contains("tTwWi", fields[1]) {
			at, err := strconv.ParseUint(fields[0], 16, 64)
			require.NoError(t, err)
			name, _, _ := strings.Cut(fields[2], "@")
			found[name] = at
		}
	}
	require.NotEmpty(t, found)
	return found
}

func reported(t *testing.T, f *File) map[string]native.Public {
	t.Helper()
	var p publics
	n, err := f.Symbols(&p)
	require.NoError(t, err)
	require.Len(t, p.all, n)
	found := map[string]native.Public{}
	for _, s := range p.all {
		found[s.Name] = s
	}
	return found
}

func TestELFIdentifiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compiler, arch string
		args           []string
		base           uint64
		typ            Type
	}{
		{"gcc", "x86_64", nil, 0, Executable},
		{"gcc", "x86_64", []string{"-no-pie"}, 0x400000, Executable},
		{"gcc", "x86_64", []string{"-shared", "-fPIC"}, 0, Library},
		{"clang", "x86_64", []string{"-fuse-ld=lld"}, 0, Executable},
		{"aarch64-linux-gnu-gcc", "arm64", nil, 0, Executable},
		{"arm-linux-gnueabihf-gcc", "arm", []string{"-no-pie"}, 0x10000, Executable},
	} {
		t.Run(fmt.Sprint(c.compiler, c.args), func(t *testing.T) {
			t.Parallel()
			tool(t, c.compiler)
			path := built(t, c.compiler, append(c.args, "-Wl,--build-id=sha1")...)
			f := opened(t, path)
			id := regexp.MustCompile(`Build ID: (\w+)`).FindStringSubmatch(run(t, ".", "readelf", "-n", path))[1]
			require.Equal(t, []string{id, id}, []string{f.BuildID, f.CodeID})
			swapped := id[6:8] + id[4:6] + id[2:4] + id[0:2] + id[10:12] + id[8:10] + id[14:16] + id[12:14] + id[16:32]
			require.Equal(t, strings.ToUpper(swapped)+"0", f.DebugID)
			require.Equal(t, c.arch, f.Arch)
			require.Equal(t, c.typ, f.Type)
			require.Equal(t, c.base, f.Base)
			require.True(t, f.HasDebug())
			require.Len(t, f.Identifiers(), 3)

			debug := path + ".debug"
			run(t, ".", "llvm-objcopy", "--only-keep-debug", path, debug)
			d := opened(t, debug)
			require.Equal(t, []string{f.DebugID, f.CodeID, f.Arch}, []string{d.DebugID, d.CodeID, d.Arch})
			require.Equal(t, Debug, d.Type)
			require.Equal(t, f.Base, d.Base)
			require.Empty(t, bytesOf(t, d, ".text"), "its code is elsewhere")
			require.Equal(t, bytesOf(t, f, ".debug_info"), bytesOf(t, d, ".debug_info"))
		})
	}
}

func TestELFWithoutBuildID(t *testing.T) {
	t.Parallel()
	f := opened(t, built(t, "gcc", "-Wl,--build-id=none"))
	text := bytesOf(t, f, ".text")
	var sum [16]byte
	for i, b := range text[:min(len(text), 4096)] {
		sum[i%16] ^= b
	}
	want := fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", sum[3], sum[2], sum[1], sum[0], sum[5], sum[4], sum[7], sum[6], sum[8:])
	require.Equal(t, want, f.DebugID)
	require.Empty(t, f.CodeID)
}

func TestELFSymbols(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compiler string
		strip    bool
	}{{"gcc", false}, {"gcc", true}, {"aarch64-linux-gnu-gcc", false}, {"arm-linux-gnueabihf-gcc", false}} {
		t.Run(fmt.Sprint(c.compiler, c.strip), func(t *testing.T) {
			t.Parallel()
			tool(t, c.compiler)
			path := built(t, c.compiler, "-shared", "-fPIC")
			args := []string{"--defined-only"}
			if c.strip {
				run(t, ".", "strip", path)
				args = append(args, "-D")
			}
			got := reported(t, opened(t, path))
			for name, at := range nmFunctions(t, path, args...) {
				if strings.HasPrefix(name, "$") || c.compiler != "gcc" && !strings.Contains("inner visible main", name) {
					continue // labels of assembly
				}
				require.Contains(t, got, name)
				require.Equal(t, at&^1, got[name].Address&^1, name)
			}
			require.NotContains(t, got, "$x")
			require.NotZero(t, got["visible"].Size)
			require.Equal(t, !c.strip, got["inner"] != native.Public{}, "a static function is not in .dynsym")
		})
	}
}

type memoryFile struct {
	bytes.Buffer
	closed *int
}

func (m *memoryFile) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(m.Bytes()).ReadAt(p, at)
}
func (m *memoryFile) Close() error { *m.closed++; return nil }

func TestCompressedSections(t *testing.T) {
	t.Parallel()
	path := built(t, "gcc")
	plain := opened(t, path)
	for _, method := range []string{"zlib", "zlib-gnu", "zstd"} {
		out := path + "." + method
		command := exec.Command("objcopy", "--compress-debug-sections="+method, path, out)
		if text, err := command.CombinedOutput(); err != nil {
			t.Logf("objcopy cannot %s: %s", method, text)
			continue
		}
		f := opened(t, out)
		for _, name := range []string{".debug_info", ".debug_line", ".debug_str", ".debug_abbrev"} {
			require.Equal(t, bytesOf(t, plain, name), bytesOf(t, f, name), "%s %s", method, name)
		}
		i, _ := f.find(".debug_str")
		require.NotZero(t, f.sections[i].compression.algorithm, method)
	}
}

func TestDebugLinks(t *testing.T) {
	t.Parallel()
	path := built(t, "gcc")
	run(t, ".", "objcopy", "--only-keep-debug", path, path+".debug")
	run(t, filepath.Dir(path), "objcopy", "--strip-debug", "--add-gnu-debuglink=p.debug", path)
	f := opened(t, path)
	require.Equal(t, "p.debug", f.DebugLink.Name)
	require.NotZero(t, f.DebugLink.CRC)
	require.False(t, f.HasDebug())
}

func TestOtherFiles(t *testing.T) {
	t.Parallel()
	for given, code := range map[string]string{
		"":                                    symbol.Truncated,
		"#!/bin/sh\n":                         symbol.Unsupported,
		"\x7fELF":                             symbol.Truncated,
		"\xca\xfe\xba\xbe\x00\x00\x00\x34xxx": symbol.Unsupported,
		"MZ" + strings.Repeat("\x00", 80):     symbol.Unsupported,
		"\xcf\xfa\xed\xfe" + strings.Repeat("\xff", 40): symbol.TooLarge,
		"\x7fELF\x03\x01" + strings.Repeat("\x00", 80):  symbol.Malformed,
	} {
		_, err := Open(strings.NewReader(given), int64(len(given)))
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, "%q", given)
		require.Equal(t, code, invalid.Code, "%q: %s", given, invalid.Reason)
	}
}

// broken fails after some bytes.
type broken struct {
	r     *bytes.Reader
	limit int64
}

var errBroken = errors.New("the disk is gone")

func (b broken) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > b.limit {
		return 0, errBroken
	}
	return b.r.ReadAt(p, at)
}

func TestReaderFails(t *testing.T) {
	t.Parallel()
	p, err := os.ReadFile(built(t, "gcc", "-gz=zlib"))
	require.NoError(t, err)
	for _, limit := range []int64{10, 100, 1000} {
		_, err := Open(broken{bytes.NewReader(p), limit}, int64(len(p)))
		require.ErrorIs(t, err, errBroken)
	}
	f, err := Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	f.view.r = broken{bytes.NewReader(p), 0}
	_, _, err = f.Section(".debug_info")
	require.ErrorIs(t, err, errBroken)
}
