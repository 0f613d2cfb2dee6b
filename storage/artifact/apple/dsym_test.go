package apple

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

func TestSymbols(t *testing.T) {
	t.Parallel()
	arm64, armv7 := thin(cpuARM64, 0, 1, binary.LittleEndian), thin(cpuARM, 9, 2, binary.LittleEndian)
	both := fat(false, part{cpuARM, 9, 4096, armv7}, part{cpuARM64, 0, 8192, arm64})
	one := []artifact.Image{{Name: "Demo", Arch: "arm64", UUID: id(1)}}
	const folder = "Demo.app.dSYM/Contents/Resources/DWARF/"
	for name, c := range map[string]struct {
		files []file
		want  []artifact.Image
		notes int
	}{
		"plain":       {[]file{{name: folder + "Demo", data: arm64}}, one, 0},
		"in folders":  {[]file{{name: "build/dSYMs/" + folder + "Demo", data: arm64}}, one, 0},
		"other case":  {[]file{{name: "demo.DSYM/contents/resources/dwarf/Demo", data: arm64}}, one, 0},
		"no folder":   {[]file{{name: "Contents/Resources/DWARF/Demo", data: arm64}}, one, 0},
		"backslashes": {[]file{{name: `Demo.app.dSYM\Contents\Resources\DWARF\Demo`, data: arm64}}, one, 0},
		"finder's noise": {[]file{{name: "__MACOSX/" + folder + "._Demo", data: arm64}, {name: folder + "._Demo", data: arm64},
			{name: folder + ".DS_Store", data: arm64}, {name: folder, data: nil}, {name: folder + "Demo", data: arm64}}, one, 0},
		"fat": {[]file{{name: folder + "Demo", data: both}}, []artifact.Image{{Name: "Demo", Arch: "armv7", UUID: id(2)}, one[0]}, 0},
		"several": {[]file{{name: folder + "Demo", data: arm64}, {name: "Kit.framework.dSYM/Contents/Resources/DWARF/Kit", data: armv7}},
			[]artifact.Image{one[0], {Name: "Kit", Arch: "armv7", UUID: id(2)}}, 0},
		"one is broken": {[]file{{name: folder + "Bad", data: []byte("text")}, {name: folder + "Cut", data: arm64[:40]},
			{name: folder + "Demo", data: arm64}}, one, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := opened(t, c.files...)
			require.True(t, IsDSYM(a.Entries()))
			s, err := Symbols(context.Background(), a)
			require.NoError(t, err)
			require.Equal(t, artifact.DSYM, s.Kind)
			require.Equal(t, c.want, s.Images)
			require.Len(t, s.Notes, c.notes)
		})
	}
}

func TestSymbolsRefuses(t *testing.T) {
	t.Parallel()
	arm64 := thin(cpuARM64, 0, 1, binary.LittleEndian)
	for name, c := range map[string]struct {
		f      file
		reason string
	}{
		"another archive": {file{name: "readme.txt", data: arm64}, "no *.dSYM"},
		"another folder":  {file{name: "Demo.app/Contents/Resources/DWARF/Demo", data: arm64}, "no *.dSYM"},
		"deeper":          {file{name: "Demo.dSYM/Contents/Resources/DWARF/a/Demo", data: arm64}, "no *.dSYM"},
		"climbing":        {file{name: "../Demo.dSYM/Contents/Resources/DWARF/Demo", data: arm64}, "no *.dSYM"},
		"no Mach-O": {file{name: "Demo.dSYM/Contents/Resources/DWARF/Demo", data: []byte("text")},
			"no file of the dSYM archive has a UUID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, a := opened(t, c.f)
			_, err := Symbols(context.Background(), a)
			var invalid *artifact.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.Reason, c.reason)
		})
	}
}

// farApart is an entry with three architectures: at the start, at the end of what
// is inflated, and behind that. It is put together of packed pieces, for there are
// 128 MiB of it.
func farApart(t *testing.T, name string) []byte {
	t.Helper()
	const piece, pieces = 1 << 20, fileReach >> 20
	arm64, armv7 := thin(cpuARM64, 0, 1, binary.LittleEndian), thin(cpuARM, 9, 2, binary.LittleEndian)
	first := fat(false, part{cpuARM, 9, 4096, armv7}, part{cpuARM64, 0, piece - 8192, arm64}, part{cpuX64, 3, piece - 4096, nil})
	binary.BigEndian.PutUint32(first[8+20+8:], fileReach-8192)
	binary.BigEndian.PutUint32(first[8+40+8:], fileReach+4096)
	last := append(make([]byte, piece-8192), arm64...)
	packed := deflated(t, first[:piece-8192], false)
	packed = append(packed, bytes.Repeat(deflated(t, make([]byte, piece), false), pieces-2)...)
	packed = append(packed, deflated(t, append(make([]byte, 8192), last...), true)...)
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	e, err := w.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: uint64(len(packed)),
		UncompressedSize64: 2 * fileReach})
	require.NoError(t, err)
	_, err = e.Write(packed)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// deflated packs a piece of a stream.
func deflated(t *testing.T, data []byte, last bool) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := flate.NewWriter(&buf, flate.BestSpeed)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	if last {
		require.NoError(t, w.Close())
	} else {
		require.NoError(t, w.Flush())
	}
	return buf.Bytes()
}

// Architectures far behind each other must be inflated up to; that ends.
func TestSymbolsBombs(t *testing.T) {
	arm64 := thin(cpuARM64, 0, 1, binary.LittleEndian)
	const folder = "Demo.app.dSYM/Contents/Resources/DWARF/"
	t.Run("deep", func(t *testing.T) {
		raw := farApart(t, folder+"Demo")
		a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
		require.NoError(t, err)
		bounded(t, func() {
			s, err := Symbols(context.Background(), a)
			require.NoError(t, err)
			require.Equal(t, []artifact.Image{{Name: "Demo", Arch: "armv7", UUID: id(2)}, {Name: "Demo", Arch: "arm64", UUID: id(1)}}, s.Images)
			require.Len(t, s.Notes, 1)
			require.Contains(t, s.Notes[0], "too deep")
		})
	})
	t.Run("many", func(t *testing.T) {
		var files []file
		for i := range maxDWARF + 50 {
			files = append(files, file{name: fmt.Sprintf("%sDemo%d", folder, i), data: arm64})
		}
		_, a := opened(t, files...)
		bounded(t, func() {
			s, err := Symbols(context.Background(), a)
			require.NoError(t, err)
			require.Len(t, s.Images, maxDWARF)
			require.Len(t, s.Notes, 1)
		})
	})
}
