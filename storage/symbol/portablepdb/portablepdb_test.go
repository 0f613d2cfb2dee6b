package portablepdb

import (
	"bytes"
	"encoding/binary"
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

// read reads a file into an index.
func read(t testing.TB, file []byte) (*Summary, *native.Index) {
	t.Helper()
	b := native.NewBuilder(t.TempDir())
	defer b.Close()
	sum, err := Read(bytes.NewReader(file), int64(len(file)), b)
	require.NoError(t, err)
	var out bytes.Buffer
	_, err = b.Finish(&out)
	require.NoError(t, err)
	opened, err := symbol.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	x, err := native.Open(opened)
	require.NoError(t, err)
	return sum, x
}

// compare looks up each sequence point that Mono.Cecil printed, and the offset behind it.
func compare(t *testing.T, x *native.Index, printed string) (same, all int) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for i, line := range lines {
		words := strings.Fields(line)
		token, err := strconv.ParseUint(words[0], 16, 32)
		require.NoError(t, err)
		offset, err := strconv.ParseInt(words[1], 10, 64)
		require.NoError(t, err)
		want := strings.Join(words[2:], " ")
		ends := []int64{offset, offset + 1}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], words[0]+" "+strconv.FormatInt(offset+1, 10)+" ") {
			ends = ends[:1] // the next one begins there
		}
		for _, at := range ends {
			address, ok := Address(uint32(token), at)
			require.True(t, ok)
			frames, err := x.Lookup(address)
			require.NoError(t, err)
			require.Len(t, frames, 1, line)
			got := fmt.Sprintf("%s %d %d", frames[0].File, frames[0].Line, frames[0].Column)
			if frames[0].Line == 0 {
				got = "hidden"
			}
			all++
			if got == want {
				same++
			} else {
				t.Logf("%s: %s", line, got)
			}
		}
	}
	return same, all
}

func TestFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/shop.pdb") // made by points.cs of shop.cs
	require.NoError(t, err)
	printed, err := os.ReadFile("testdata/shop.txt")
	require.NoError(t, err)
	sum, x := read(t, file)
	same, all := compare(t, x, string(printed))
	require.Equal(t, all, same)
	require.Equal(t, []int{6, 4, 0}, []int{sum.Methods, sum.Documents, sum.Skipped})
	ids, err := Identify(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Equal(t, sum.Identifiers(), ids)
	require.Len(t, ids, 3)
	require.Regexp(t, `^[0-9A-F]{32}1$`, ids[0].Value)
	for token, offset := range map[uint32]int64{0x06000000: 0, 0x0a000001: 0, 0x06000001: -1, 0x06000002: maxMethod} {
		_, ok := Address(token, offset)
		require.False(t, ok)
	}
}

// All sequence points of a large program are those that Mono.Cecil reads.
func TestAgreesWithCecil(t *testing.T) {
	t.Parallel()
	found, err := filepath.Glob("/usr/lib/mono/gac/Mono.Cecil/0.11*/Mono.Cecil.dll")
	require.NoError(t, err)
	const program = "/usr/lib/mono/4.5/mcs.exe"
	if _, err := exec.LookPath("mcs"); err != nil || len(found) == 0 {
		t.Skip("needs mono-mcs and libmono-cecil-private-cil")
	}
	folder := t.TempDir()
	cecil, err := os.ReadFile(found[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "Mono.Cecil.dll"), cecil, 0o600))
	out, err := exec.Command("mcs", "-r:"+found[0], "-out:"+filepath.Join(folder, "points.exe"), "testdata/points.cs").CombinedOutput()
	require.NoError(t, err, string(out))
	printed, err := exec.Command("mono", filepath.Join(folder, "points.exe"), program, filepath.Join(folder, "mcs.exe"), "portable").Output()
	require.NoError(t, err)
	file, err := os.ReadFile(filepath.Join(folder, "mcs.pdb"))
	require.NoError(t, err)
	sum, x := read(t, file)
	same, all := compare(t, x, string(printed))
	t.Logf("%d of %d offsets in %d methods agree", same, all, sum.Methods)
	require.Greater(t, all, 100_000)
	require.Equal(t, all, same)
}

func TestFilesThatAreWrong(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/shop.pdb")
	require.NoError(t, err)
	at := func(name string) int { return bytes.Index(file, []byte(name)) }
	changed := func(change func(p []byte)) []byte {
		p := bytes.Clone(file)
		change(p)
		return p
	}
	tables := int(binary.LittleEndian.Uint32(file[at("#~")-8:]))
	for want, p := range map[string][]byte{
		"does not begin with BSJB":   []byte("MZ and so on, for all that one knows"),
		"ends in its header":         file[:30],
		"lies beyond the end of":     file[:800],
		"it has no #Pdb stream":      changed(func(p []byte) { copy(p[at("#Pdb"):], "#Pdx") }),
		"has the tables of an assem": changed(func(p []byte) { p[tables+8] = 1 }),
		"states 16777216 rows":       changed(func(p []byte) { copy(p[tables+24:], "\x00\x00\x00\x01") }),
		"lies beyond the end of its": changed(func(p []byte) { copy(p[tables+24:], "\x00\x00\x01\x00") }),
		"states 513 streams":         changed(func(p []byte) { copy(p[30:], "\x01\x02") }),
		"less than its header":       changed(func(p []byte) { copy(p[at("#~")-4:], "\x08\x00\x00\x00") }),
		"lies outside of the heap":   changed(func(p []byte) { copy(p[at("#Blob")-4:], "\x01\x00\x00\x00") }),
	} {
		_, err := Read(bytes.NewReader(p), int64(len(p)), native.NewBuilder(t.TempDir()))
		require.ErrorContains(t, err, want)
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong)
	}
}

func TestSequencePoints(t *testing.T) {
	t.Parallel()
	for want, blob := range map[string][]byte{
		"":                   {0, 1, 0, 1, 4, 5, 5},
		"document 9 of 1":    {0, 9, 0, 1, 4, 5, 5},
		"has line -1":        {0, 1, 0, 1, 4, 1, 5, 2, 1, 4, 0x7d, 0},
		"cut off":            {0, 1, 0, 1},
		"beyond the largest": {0, 1, 0xdf, 0xff, 0xff, 0xff, 1, 4, 1, 5},
	} {
		x := &reader{documents: []string{"a.cs"}, work: len(blob)}
		x.blobs = append([]byte{0, byte(len(blob))}, blob...)
		x.methods = table{rows: []byte{0, 0, 1, 0}, count: 1, columns: []int{2, 2}, size: 4}
		lines, err := x.sequencePoints(0)
		if want == "" {
			require.NoError(t, err)
			require.Len(t, lines, 1)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	// Positive and negative numbers of each length (ECMA-335, II.23.2).
	for want, p := range map[int64][]byte{3: {6}, -3: {0x7b}, 64: {0x80, 0x80}, -64: {1}, 8192: {0xc0, 0, 0x40, 0},
		-8192: {0x80, 1}, 268435455: {0xdf, 0xff, 0xff, 0xfe}, -268435456: {0xc0, 0, 0, 1}} {
		d := decoder{p: p}
		require.Equal(t, want, d.signed())
		require.False(t, d.bad)
	}
}

// A file of many methods that share one long blob is refused, not read for hours.
func TestMethodsThatShareLines(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/shop.pdb")
	require.NoError(t, err)
	blob := append([]byte{0, 1, 0, 1, 4, 5, 5}, bytes.Repeat([]byte{1, 1, 2, 2, 2}, 1000)...)
	x := &reader{documents: []string{"a.cs"}, sink: native.NewBuilder(t.TempDir()), work: 16 * len(file)}
	x.blobs = append([]byte{0, 0x80 | byte(len(blob)>>8), byte(len(blob))}, blob...)
	x.methods = table{rows: bytes.Repeat([]byte{0, 0, 1, 0}, 100), count: 100, columns: []int{2, 2}, size: 4}
	require.NoError(t, x.readMethod(1))
	require.Equal(t, 1, x.sum.Methods)
	for row := 2; row <= 100; row++ {
		require.NoError(t, x.readMethod(row))
	}
	require.Negative(t, x.work, "ReadBytes refuses it")
	require.Less(t, x.sum.Methods, 4)
}

// Whatever a file holds, it is read in bounds.
func FuzzRead(f *testing.F) {
	file, err := os.ReadFile("testdata/shop.pdb")
	require.NoError(f, err)
	f.Add(file)
	f.Fuzz(func(t *testing.T, p []byte) {
		b := native.NewBuilder(t.TempDir())
		defer b.Close()
		_, _ = Read(bytes.NewReader(p), int64(len(p)), b)
		_, _ = Identify(bytes.NewReader(p), int64(len(p)))
	})
}
