package binary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// miniSteps are those by which distributions make a stripped program with .gnu_debugdata.
const miniSteps = `nm p --format=posix --defined-only | awk '$2 ~ /[tT]/ { print $1 }' | sort > keep
objcopy --only-keep-debug p full && objcopy -S --remove-section .comment --keep-symbols=keep full mini
strip --strip-all p && xz -k mini && objcopy --add-section .gnu_debugdata=mini.xz p`

func TestMiniSymbols(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"objcopy", "xz", "nm", "strip", "awk"} {
		tool(t, name)
	}
	path := built(t, "gcc", "-Wl,--build-id")
	want := names(t, opened(t, path).Symbols)
	require.Contains(t, want, "inner")
	run(t, filepath.Dir(path), "sh", "-c", miniSteps)
	f := opened(t, path)
	require.NotContains(t, names(t, f.Symbols), "inner", "it is stripped")
	got := names(t, f.MiniSymbols)
	for name, address := range want {
		require.Equal(t, address, got[name], name)
	}

	plain := opened(t, built(t, "gcc"))
	n, err := plain.MiniSymbols(&publics{})
	require.NoError(t, err)
	require.Zero(t, n, "without the section there are none")
}

// names returns the addresses of what is reported.
func names(t *testing.T, read func(native.Sink) (int, error)) map[string]uint64 {
	t.Helper()
	p := &publics{}
	n, err := read(p)
	require.NoError(t, err)
	require.Len(t, p.all, n)
	all := map[string]uint64{}
	for _, s := range p.all {
		all[s.Name] = s.Address
	}
	return all
}

func TestMiniSymbolsThatAreBroken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"objcopy", "xz"} {
		tool(t, name)
	}
	for want, steps := range map[string]string{
		"its compressed stream ends early": "xz -c p | head -c 900 > x",
		"its compressed stream is broken":  "yes nonsense | head -c 4000 > x",
		"the file in section":              "echo nonsense | xz -c > x",
		"is of x86, the program of x86_64": "printf '\\177ELF\\001\\001\\001' > y; head -c 9 /dev/zero >> y; printf '\\003\\000\\003\\000' >> " +
			"y; head -c 40 /dev/zero >> y; xz -c y > x",
		"needs more than 64 MiB of memory": "xz -c --lzma2=dict=128MiB p > x",
		"unpacks to more than 256 MiB":     "head -c 270000000 /dev/zero | xz -0 -c > x",
	} {
		path := built(t, "gcc")
		run(t, filepath.Dir(path), "sh", "-c", steps+"; objcopy --add-section .gnu_debugdata=x p")
		f := opened(t, path)
		f.Temporary = func() (Temporary, error) { return os.CreateTemp(t.TempDir(), "") }
		_, err := f.MiniSymbols(&publics{})
		require.ErrorContains(t, err, want)
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong)
	}
}

// Whatever the section holds is read in bounds.
func FuzzMiniSymbols(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04"))
	if path := built(f, "gcc"); path != "" {
		run(f, filepath.Dir(path), "xz", "-k", "p")
		packed, err := os.ReadFile(path + ".xz")
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		file := &File{Kind: symbol.ELF, Arch: "x86_64", names: map[string]int{}, decompressed: map[int]content{},
			view: view{r: strings.NewReader(string(p)), size: int64(len(p))}}
		file.add(Section{Name: miniDebug, stored: uint64(len(p))})
		_, _ = file.MiniSymbols(&publics{})
	})
}
