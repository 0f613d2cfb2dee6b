package wasm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
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

func run(t testing.TB, folder, name string, args ...string) string {
	t.Helper()
	c := exec.Command(tool(t, name), args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// built compiles the module of testdata and returns its path.
func built(t testing.TB, args ...string) string {
	t.Helper()
	folder := t.TempDir()
	tool(t, "wasm-ld")
	source, err := filepath.Abs("testdata/shop.cc")
	require.NoError(t, err)
	run(t, folder, "clang", append([]string{"--target=wasm32", "-g", "-O1", "-nostdlib", "-Wl,--no-entry", "-o",
		"shop.wasm", source}, args...)...)
	return filepath.Join(folder, "shop.wasm")
}

// read reads a module into an index.
func read(t testing.TB, module []byte) (*Summary, *native.Index) {
	t.Helper()
	b := native.NewBuilder(t.TempDir())
	defer b.Close()
	sum, err := Read(bytes.NewReader(module), int64(len(module)), b)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = b.Finish(&out)
	require.NoError(t, err)
	file, err := symbol.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	x, err := native.Open(file)
	require.NoError(t, err)
	return sum, x
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	p, err := os.ReadFile(path)
	require.NoError(t, err)
	return p
}

// At each offset of the code the functions, files and lines are those of llvm-symbolizer.
func TestAgreesWithLLVM(t *testing.T) {
	t.Parallel()
	path := built(t)
	module := content(t, path)
	sum, x := read(t, module)
	require.GreaterOrEqual(t, sum.Debug.Functions, int64(3))
	m := &reader{file: bytes.NewReader(module), size: int64(len(module)), custom: map[string]section{}}
	require.NoError(t, m.readSections())
	var in strings.Builder
	var offsets []uint64
	for _, b := range m.bodies {
		for at := b.Start; at < b.End; at++ {
			offsets = append(offsets, at)
			fmt.Fprintf(&in, "%#x\n", at-m.code)
		}
	}
	c := exec.Command(tool(t, "llvm-symbolizer"), "--obj="+path, "--inlines", "--functions=linkage", "--no-demangle")
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	require.NoError(t, err)
	answers := strings.Split(strings.TrimSpace(string(out)), "\n\n")
	require.Len(t, answers, len(offsets))
	compared, same := 0, 0
	for i, want := range answers {
		if strings.HasPrefix(want, "??") {
			continue // of what the compiler made there is no DWARF
		}
		frames, err := x.Lookup(offsets[i])
		require.NoError(t, err)
		var got []string
		for _, f := range frames {
			got = append(got, f.Symbol, fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column))
		}
		compared++
		if strings.Join(got, "\n") == want {
			same++
		} else {
			t.Logf("%#x: %q, not %q", offsets[i], got, want)
		}
	}
	t.Logf("%d of %d offsets agree", same, compared)
	require.Greater(t, compared, 100)
	require.Equal(t, compared, same)
}

// Node says the same function for a number and an offset, and the name of the module.
func TestNodesStack(t *testing.T) {
	t.Parallel()
	path := built(t)
	script := filepath.Join(filepath.Dir(path), "run.cjs")
	require.NoError(t, os.WriteFile(script, []byte(`const file = require('fs').readFileSync(process.argv[2])
WebAssembly.instantiate(file, {env: {fail() { throw new Error('fail') }}}).then(m => {
  for (const n of [99, 8]) try { m.instance.exports.run(n) } catch (e) { console.log(e.stack) }
})`), 0o600))
	stack := run(t, filepath.Dir(path), "node", script, path)
	sum, x := read(t, content(t, path))
	var places []string
	for _, line := range strings.Split(stack, "\n") {
		_, at, ok := strings.Cut(line, "wasm://wasm/"+sum.Hash+":wasm-function[")
		if !ok {
			continue
		}
		number, at, _ := strings.Cut(at, "]:0x")
		offset, err := strconv.ParseUint(strings.Trim(at, ")"), 16, 64)
		require.NoError(t, err)
		frames, err := x.Lookup(offset)
		require.NoError(t, err)
		for _, f := range frames {
			places = append(places, fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(f.File), f.Line))
		}
		function, err := strconv.ParseUint(number, 10, 32)
		require.NoError(t, err)
		named, err := x.Lookup(IndexAddress(uint32(function)))
		require.NoError(t, err)
		require.Equal(t, frames[len(frames)-1].Function, named[0].Function, "by its number too")
	}
	require.Equal(t, []string{"shop::crash(int*) shop.cc:20", "run shop.cc:27",
		"shop::price(int*, int) shop.cc:6", "shop::total(int*, int) shop.cc:14", "run shop.cc:28"}, places, stack)
}

func TestModuleThatIsStripped(t *testing.T) {
	t.Parallel()
	path := built(t)
	module := append(content(t, path), customSection, 26, 8)
	module = append(append(module, "build_id\x10"...), []byte("0123456789abcdef")...)
	sum, _ := read(t, module)
	require.Equal(t, "30313233343536373839616263646566", sum.BuildID)
	require.Contains(t, sum.Identifiers(), symbol.Identifier{Type: symbol.DebugID, Value: "303132333435363738396162636465660"})
	ids, err := Identify(bytes.NewReader(module), int64(len(module)))
	require.NoError(t, err)
	require.Equal(t, sum.Identifiers(), ids)
	run(t, filepath.Dir(path), "llvm-strip", "--strip-all", path)
	module = content(t, path)
	for _, read := range []func() error{
		func() error {
			_, err := Read(bytes.NewReader(module), int64(len(module)), native.NewBuilder(t.TempDir()))
			return err
		},
		func() error { _, err := Identify(bytes.NewReader(module), int64(len(module))); return err },
	} {
		require.ErrorContains(t, read(), "it was stripped")
	}
}

// aModule puts a module together of sections: the number, then the content.
func aModule(sections ...[]byte) []byte {
	m := []byte(magic)
	for _, s := range sections {
		m = append(append(m, s[0], byte(len(s)-1)), s[1:]...)
	}
	return m
}

func TestModules(t *testing.T) {
	t.Parallel()
	code := []byte{codeSection, 2, 2, 0, 0x0b, 3, 0, 1, 0x0b}
	imports := []byte{importSection, 5, 1, 'e', 1, 'f', 0, 0, 1, 'e', 1, 't', 1, 0x64, 0x70, 1, 1, 2, 1, 'e', 1, 'm',
		2, 0, 1, 1, 'e', 1, 'g', 3, 0x7f, 0, 1, 'e', 1, 'x', 4, 0, 0}
	names := append([]byte{customSection, 4}, "name\x00\x05\x04shop\x01\x10\x03\x00\x01f\x01\x05total\x02\x03run"...)
	url := append([]byte{customSection, 16}, "sourceMappingURL\x0dshop.wasm.map"...)
	sum, x := read(t, aModule(imports, code, names, url))
	require.Equal(t, "shop", sum.Name)
	require.Equal(t, "shop.wasm.map", sum.SourceMappingURL)
	require.Equal(t, []int{2, 2}, []int{sum.Functions, sum.Names})
	require.Contains(t, sum.Identifiers(), symbol.Identifier{Type: symbol.URL, Value: "wasm://wasm/shop-" + sum.Hash})
	at := uint64(len(magic) + 2 + len(imports) - 1 + 2 + 2) // the first body: behind the headers, the count and the size
	for address, want := range map[uint64]string{at: "total", at + 1: "total", at + 3: "run", at + 5: "run",
		IndexAddress(0): "f", IndexAddress(2): "run"} {
		frames, err := x.Lookup(address)
		require.NoError(t, err)
		require.NotEmpty(t, frames, address)
		require.Equal(t, want, frames[0].Function)
	}

	for want, module := range map[string][]byte{
		"no module of WebAssembly":         []byte("\x00asm\x0d\x00\x01\x00"),
		"and its section ends after":       aModule([]byte{codeSection, 1, 9, 0}),
		"in the middle of its content":     aModule([]byte{codeSection, 2, 1, 0}),
		"two code sections":                aModule(code, code),
		"imports something of kind 9":      aModule([]byte{importSection, 1, 0, 0, 9}),
		"functions; 1000000 are read":      aModule([]byte{codeSection, 0xff, 0xff, 0xff, 0x7f}),
		"has more than 32 bits":            aModule([]byte{codeSection, 0xff, 0xff, 0xff, 0xff, 0x7f}),
		"more than ten bytes":              aModule(append([]byte{codeSection}, bytes.Repeat([]byte{0xff}, 11)...)),
		"has 100 bytes, and the file ends": append([]byte(magic), codeSection, 100, 0),
		"the build id has 65 bytes":        aModule(append(append([]byte{customSection, 8}, "build_id\x41"...), make([]byte, 40)...)),
		"it was stripped":                  aModule(code),
		"more than 10000 sections":         append([]byte(magic), bytes.Repeat([]byte{1, 0}, maxSections+1)...),
	} {
		_, err := Read(bytes.NewReader(module), int64(len(module)), native.NewBuilder(t.TempDir()))
		require.ErrorContains(t, err, want)
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong)
	}

	broken := append([]byte{customSection, 4}, "name\x01\x08\x02\x01\x05total\x02\x50run"...)
	sum, _ = read(t, aModule(imports, code, broken))
	require.Equal(t, 1, sum.Names)
	require.Contains(t, sum.Reason, "the name section: ", "the names before it are read")
}

// Whatever a file holds, it is read in bounds.
func FuzzRead(f *testing.F) {
	f.Add(content(f, built(f)))
	f.Add(aModule([]byte{codeSection, 1, 2, 0, 0x0b}, append([]byte{customSection, 4}, "name\x01\x08\x01\x00\x05total"...)))
	f.Fuzz(func(t *testing.T, module []byte) {
		b := native.NewBuilder(t.TempDir())
		defer b.Close()
		_, _ = Read(bytes.NewReader(module), int64(len(module)), b)
		_, _ = Identify(bytes.NewReader(module), int64(len(module)))
	})
}
