package pdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	image "github.com/slipway-qa/slipway/storage/symbol/binary"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const program = `
namespace shop {
struct Basket {
  int items[8];
  __attribute__((always_inline)) int total(int n) { int s = 0; for (int i = 0; i < n; i++) s += price(items[i]); return s; }
  __attribute__((always_inline)) static int price(int x) { return x * 3 + (x >> 2); }
};
__attribute__((always_inline)) inline int round(int x) {
  if (x & 1)
    return x + 1;
  return x;
}
__attribute__((noinline)) int pay(Basket *b, int n) {
  int t = b->total(n);
  t += round(t);
  return t * round(n);
}
}
static __attribute__((noinline)) int local(int x) {
  volatile int y = x;
  return y * 2;
}
extern "C" int main(int argc) {
  shop::Basket b = {{1, 2, argc}};
  return shop::pay(&b, argc) + local(argc);
}
`

// kept keeps what is reported.
type kept struct {
	functions []native.Function
	publics   []native.Public
	unwinds   []native.Unwind
}

func (k *kept) Function(f *native.Function) error { k.functions = append(k.functions, *f); return nil }
func (k *kept) Public(p native.Public) error      { k.publics = append(k.publics, p); return nil }
func (k *kept) Unwind(u native.Unwind) error      { k.unwinds = append(k.unwinds, u); return nil }

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

// linked makes p.exe and p.pdb and returns their folder.
func linked(t testing.TB, target string, args ...string) string {
	t.Helper()
	tool(t, "lld-link")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.cc"), []byte(program), 0o600))
	run(t, dir, "clang", append([]string{"-target", target, "-g", "-gcodeview", "-c", "p.cc", "-o", "p.obj"}, args...)...)
	run(t, dir, "lld-link", "/debug", "/nodefaultlib", "/entry:main", "/subsystem:console", "/safeseh:no", "/out:p.exe", "p.obj", "/pdb:p.pdb")
	return dir
}

func readFile(t testing.TB, path string) (*kept, *Summary) {
	t.Helper()
	p, err := os.ReadFile(path)
	require.NoError(t, err)
	var k kept
	s, err := Read(bytes.NewReader(p), int64(len(p)), &k)
	require.NoError(t, err)
	return &k, s
}

// frames returns function, file and line of an address, the innermost first.
func (k *kept) frames(at uint64) []string {
	var found []string
	for _, f := range k.functions {
		if at < f.Start || at >= f.End {
			continue
		}
		i := sort.Search(len(f.Lines), func(i int) bool { return f.Lines[i].Address > at })
		line := native.Line{}
		if i > 0 {
			line = f.Lines[i-1]
		}
		file, number := line.File, line.Line
		var in []native.Inline
		for _, n := range f.Inlines {
			for _, r := range n.Ranges {
				if at >= r.Start && at < r.End {
					in = append(in, n)
				}
			}
		}
		sort.SliceStable(in, func(i, j int) bool { return in[i].Depth > in[j].Depth })
		for _, n := range in {
			found = append(found, shortened(n.Name, file, number))
			file, number = n.CallFile, n.CallLine
		}
		return append(found, shortened(f.Name, file, number))
	}
	return found
}

func shortened(function, file string, line uint32) string {
	return fmt.Sprintf("%s %s:%d", function[strings.LastIndex(function, ":")+1:], path.Base(strings.ReplaceAll(file, "\\", "/")), line)
}

func TestAgainstSymbolizer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ target, arch, level string }{
		{"x86_64-pc-windows-msvc", "x86_64", "-O2"}, {"x86_64-pc-windows-msvc", "x86_64", "-O0"},
		{"i686-pc-windows-msvc", "x86", "-O1"}, {"aarch64-pc-windows-msvc", "arm64", "-O2"},
	} {
		t.Run(c.target+c.level, func(t *testing.T) {
			t.Parallel()
			dir := linked(t, c.target, c.level)
			k, s := readFile(t, filepath.Join(dir, "p.pdb"))
			require.Zero(t, s.Skipped, s.Reason)
			require.Equal(t, c.arch, s.Arch)
			linkedImage := readImage(t, filepath.Join(dir, "p.exe"))
			require.Equal(t, linkedImage.DebugID, s.DebugID, "the image names its PDB")

			var addresses []string
			for _, f := range k.functions {
				for at := f.Start; at < f.End; at++ {
					addresses = append(addresses, fmt.Sprintf("0x%x", at))
				}
			}
			require.Greater(t, len(addresses), 100)
			inlined, lines, equal := 0, 0, 0
			dwarfImage(t, dir, c.target, c.level)
			byDWARF := symbolized(t, dir, "d.exe", addresses)
			for i, want := range symbolized(t, dir, "p.exe", addresses) {
				var address uint64
				_, err := fmt.Sscanf(addresses[i], "0x%x", &address)
				require.NoError(t, err)
				got := k.frames(address)
				require.Equal(t, functionsOf(want), functionsOf(got), "at %#x", address)
				lines++
				if slices.Equal(got, want) || slices.Equal(got, byDWARF[i]) || strings.HasSuffix(byDWARF[i][len(byDWARF[i])-1], ":0") {
					equal++
				} else {
					t.Logf("at %#x: %s, the symbolizer has %s, and by DWARF %s", address, got, want, byDWARF[i])
				}
				if len(got) > 1 {
					inlined++
				}
			}
			t.Logf("%d of %d addresses are equal", equal, lines)
			require.GreaterOrEqual(t, equal*1000, lines*999)
			require.Equal(t, c.level != "-O0" || inlined > 0, inlined > 10)
		})
	}
}

func readImage(t testing.TB, path string) *image.File {
	t.Helper()
	p, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := image.Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	return f
}

// dwarfImage makes d.exe: the same code, with DWARF. Of a PDB the symbolizer itself
// has the lines of inlined functions too early (version 14), and DWARF says of some code
// that it has no line, which a PDB cannot: there the functions alone are compared.
func dwarfImage(t *testing.T, dir, target, level string) {
	t.Helper()
	run(t, dir, "clang", "-target", target, "-gdwarf-4", level, "-c", "p.cc", "-o", "d.obj")
	run(t, dir, "lld-link", "/debug:dwarf", "/nodefaultlib", "/entry:main", "/subsystem:console", "/safeseh:no", "/out:d.exe", "d.obj")
	one, other := readImage(t, filepath.Join(dir, "p.exe")), readImage(t, filepath.Join(dir, "d.exe"))
	texts := make([][]byte, 2)
	for i, f := range []*image.File{one, other} {
		r, size, err := f.Section(".text")
		require.NoError(t, err)
		texts[i] = make([]byte, size)
		_, err = r.ReadAt(texts[i], 0)
		require.NoError(t, err)
	}
	require.Equal(t, texts[0], texts[1])
}

// symbolized returns the frames that llvm-symbolizer has for addresses.
func symbolized(t *testing.T, dir, image string, addresses []string) [][]string {
	t.Helper()
	command := exec.Command(tool(t, "llvm-symbolizer"), "--obj="+image, "--inlines", "--relative-address", "--functions=short",
		"--output-style=JSON")
	command.Dir = dir
	command.Stdin = strings.NewReader(strings.Join(addresses, "\n") + "\n")
	out, err := command.Output()
	require.NoError(t, err)
	var all [][]string
	for line := range bytes.Lines(out) {
		var answer struct {
			Symbol []struct {
				FunctionName, FileName string
				Line                   int
			}
		}
		require.NoError(t, json.Unmarshal(line, &answer))
		var frames []string
		for _, s := range answer.Symbol {
			name, _, _ := strings.Cut(s.FunctionName, "(")
			frames = append(frames, fmt.Sprintf("%s %s:%d", name[strings.LastIndexAny(name, ": ")+1:], filepath.Base(s.FileName), s.Line))
		}
		all = append(all, frames)
	}
	require.Len(t, all, len(addresses))
	return all
}

func functionsOf(frames []string) []string {
	var names []string
	for _, f := range frames {
		name, _, _ := strings.Cut(f, " ")
		names = append(names, name)
	}
	return names
}
