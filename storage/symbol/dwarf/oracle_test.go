package dwarf

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/stretchr/testify/require"
)

// tool returns the path of a program; the test is skipped if it is not installed.
func tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// run runs a program in a folder.
func run(t testing.TB, folder string, name string, args ...string) {
	t.Helper()
	c := exec.Command(tool(t, name), args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

// place is a frame as an oracle prints it.
type place struct {
	function, file string
	line           int
}

// ask feeds addresses to an oracle and returns what it printed.
func ask(t testing.TB, name string, args []string, addresses []uint64) []string {
	t.Helper()
	var in strings.Builder
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	c := exec.Command(tool(t, name), args...)
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// llvm asks llvm-symbolizer.
func llvm(t testing.TB, object string, addresses []uint64, args ...string) [][]place {
	lines := ask(t, "llvm-symbolizer", append([]string{"--obj=" + object, "--inlines", "--functions=linkage", "--no-demangle"},
		args...), addresses)
	var all [][]place
	var one []place
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			all, one = append(all, one), nil
			continue
		}
		require.Less(t, i+1, len(lines))
		one = append(one, printed(lines[i], lines[i+1][:strings.LastIndexByte(lines[i+1], ':')]))
		i++
	}
	return append(all, one)
}

// addr2line asks addr2line.
func addr2line(t testing.TB, object string, addresses []uint64) [][]place {
	lines := ask(t, "addr2line", []string{"-a", "-i", "-f", "-e", object}, addresses)
	var all [][]place
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			continue
		}
		at, _, _ := strings.Cut(lines[i+1], " (discriminator")
		all[len(all)-1] = append(all[len(all)-1], printed(lines[i], at))
		i++
	}
	return all
}

func printed(function, at string) place {
	colon := strings.LastIndexByte(at, ':')
	p := place{function: function, file: at[:colon]}
	p.line, _ = strconv.Atoi(at[colon+1:]) // "?" is 0
	if p.function == "??" {
		p.function = ""
	}
	if p.file == "??" {
		p.file = ""
	}
	return p
}

func ours(t testing.TB, x *native.Index, address uint64) []place {
	t.Helper()
	frames, err := x.Lookup(address)
	require.NoError(t, err)
	var all []place
	for _, f := range frames {
		all = append(all, place{f.Symbol, f.File, int(f.Line)})
	}
	if len(all) == 0 {
		all = []place{{}}
	}
	return all
}

// oracle is a program that is asked, and which differences from it are its own.
type oracle struct {
	name string
	ask  func(testing.TB, string, []uint64) [][]place
	// symbols: it names any frame by the symbol table, code between functions by the
	// symbol before, and takes the file of a function's declaration for that of a line.
	symbols bool
	// ranges: of split units it does not see that an inlined function has several ranges.
	ranges bool
}

// llvmOracle and binutilsOracle are the oracles, of versions 14 of LLVM and 2.40 of binutils.
// addr2line does not know inlined functions whose addresses are in .debug_addr, nor 64-bit
// DWARF.
func llvmOracle() oracle {
	return oracle{name: "llvm-symbolizer", ask: func(t testing.TB, o string, a []uint64) [][]place { return llvm(t, o, a) }}
}

func splitOracle() oracle {
	o := llvmOracle()
	o.ranges = true
	return o
}

func binutilsOracle() oracle {
	return oracle{name: "addr2line", ask: addr2line, symbols: true}
}

// equal compares the frames of an address with the oracle's.
func (o oracle) equal(x *image, got, want []place) (functions, lines bool) {
	if o.ranges && len(got) > len(want) && got[0].file == want[0].file && got[0].line == want[0].line &&
		got[len(got)-1].function == want[len(want)-1].function {
		return true, true
	}
	if got[0].file == "" && len(got) == 1 && want[0].line == 0 && (o.symbols || len(x.publics) == 0) {
		return true, true // no debug information: what the symbols say is another test's
	}
	if len(got) != len(want) {
		return false, false
	}
	lines = true
	for i := range got {
		same := got[i].function == strings.ReplaceAll(want[i].function, "G.", "G\u00b7")
		same = same || got[i].function == want[i].function
		if !same && (i == len(got)-1 || o.symbols) {
			same = x.alias(got[i].function, want[i].function) || o.symbols && (x.symbols[want[i].function] != 0 || x.symbols[got[i].function] != 0)
		}
		if !same {
			return false, false
		}
		unknown := got[i].file == "" && got[i].line == 0 && want[i].line == 0
		lines = lines && got[i].line == want[i].line && (unknown || o.symbols || clean(got[i].file) == clean(want[i].file))
	}
	return true, lines
}

// alias reports whether the symbol table has a name for the function that is the oracle's: oracles
// prefer it for the outermost function, which may be that of a clone (foo.cold), or another
// one at the same address.
func (x *image) alias(got, want string) bool {
	at := x.symbols[want]
	return at != 0 && (strings.HasPrefix(want, got+".") || x.symbols[got] == at)
}

func clean(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Clean(path)
}

// everySeventh are addresses of the code.
func everySeventh(x *image, most int) []uint64 {
	var all []uint64
	size := uint64(0)
	for _, c := range x.code {
		size += c.End - c.Start
	}
	step := max(7, size/uint64(most)|1)
	for _, c := range x.code {
		for a := c.Start; a < c.End; a += step {
			all = append(all, a)
		}
	}
	return all
}

// compare looks up addresses of an image and in oracles: all functions and 99.9 % of
// the lines must be equal.
func compare(t *testing.T, x *image, index *native.Index, object string, addresses []uint64, oracles ...oracle) {
	t.Helper()
	require.NotEmpty(t, addresses)
	for _, o := range oracles {
		want := o.ask(t, object, addresses)
		require.Len(t, want, len(addresses), o.name)
		sameFunctions, sameLines := 0, 0
		for i, address := range addresses {
			got := ours(t, index, address-x.base)
			functions, lines := o.equal(x, got, want[i])
			if functions {
				sameFunctions++
			}
			if lines {
				sameLines++
			}
			if wrong := i + 1 - min(sameFunctions, sameLines); (!functions || !lines) && wrong <= 5 {
				t.Logf("%s %#x\n got %v\nwant %v", o.name, address, got, want[i])
			}
		}
		t.Logf("%s: of %d addresses %d functions, %d lines are equal", o.name, len(addresses), sameFunctions, sameLines)
		require.Equal(t, len(addresses), sameFunctions, o.name)
		require.GreaterOrEqual(t, sameLines*1000, len(addresses)*999, o.name)
	}
}

func source(t testing.TB, name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return path
}

func TestCompilers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command  string
		binutils bool
	}{
		{"g++ -g -O0", true}, {"g++ -g -O1", true}, {"g++ -g -O3", true},
		{"g++ -gdwarf-2 -O2", true}, {"g++ -gdwarf-3 -O2", true}, {"g++ -gdwarf-4 -O2", true}, {"g++ -gdwarf-5 -O2", true},
		{"g++ -g -O2 -gz", true}, {"g++ -g -O2 -ffunction-sections -Wl,--gc-sections", true}, {"g++ -g -O2 -flto", true},
		{"g++ -g -O2 -gdwarf64 -no-pie", false}, {"g++ -gdwarf-5 -O2 -fdebug-types-section", false},
		{"clang++ -gdwarf-4 -O2", true}, {"clang++ -gdwarf-5 -O2", false}, {"clang++ -g -O0", true}, {"clang++ -g -O2 -gline-tables-only", false},
		{"clang++ -g -O2 -fuse-ld=lld -ffunction-sections -Wl,--gc-sections", false},
	} {
		t.Run(c.command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := strings.Fields(c.command)
			tool(t, args[0])
			for _, name := range []string{"main.cc", "lib.cc"} {
				args = append(args, source(t, name))
			}
			args = append(args, "-x", "c", source(t, "plain.c"), "-o", "program")
			if args[0] == "clang++" {
				args = append([]string{args[0], "-Wno-deprecated"}, args[1:]...)
			}
			run(t, dir, args[0], args[1:]...)
			object := filepath.Join(dir, "program")
			x := openELF(t, object)
			index, s := indexed(t, x, Options{})
			require.Empty(t, s.Warnings)
			oracles := []oracle{llvmOracle()}
			if c.binutils {
				oracles = append(oracles, binutilsOracle())
			}
			compare(t, x, index, object, everySeventh(x, 20000), oracles...)
		})
	}
}

// compareWhole indexes a program, which must be read without a warning, and compares as
// many of its addresses.
func compareWhole(t *testing.T, x *image, object string, addresses int, oracles ...oracle) {
	t.Helper()
	index, s := indexed(t, x, Options{})
	require.Empty(t, s.Warnings)
	compare(t, x, index, object, everySeventh(x, addresses), oracles...)
}
