package pdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// file is a PDB made by hand: each stream in blocks of its own, from block 3 on.
func file(streams ...[]byte) []byte {
	const block = leastBlock
	blocks := func(n int) int { return (n + block - 1) / block }
	directory := binary.LittleEndian.AppendUint32(nil, uint32(len(streams)))
	next := 3
	for _, s := range streams {
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(s)))
	}
	var body []byte
	for _, s := range streams {
		for range blocks(len(s)) {
			directory = binary.LittleEndian.AppendUint32(directory, uint32(next))
			next++
		}
		body = append(body, append(bytes.Clone(s), make([]byte, blocks(len(s))*block-len(s))...)...)
	}
	if len(directory) > block {
		panic("one block of a directory")
	}
	head := append([]byte(magic), make([]byte, 3*block-len(magic))...)
	for i, n := range []uint32{block, 1, uint32(next), uint32(len(directory)), 0, 1} {
		binary.LittleEndian.PutUint32(head[32+4*i:], n)
	}
	binary.LittleEndian.PutUint32(head[block:], 2)
	copy(head[2*block:], directory)
	return append(head, body...)
}

func info() []byte {
	p := make([]byte, 28)
	binary.LittleEndian.PutUint32(p, 20000404)
	binary.LittleEndian.PutUint32(p[8:], 3)
	copy(p[12:], "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10")
	return append(p, make([]byte, 24)...)
}

// debugInfo is a DBI stream: one module with its symbols in stream 6, sections in stream
// 5, and public symbols in stream 7.
func debugInfo(symbols int) []byte {
	module := make([]byte, moduleHead)
	binary.LittleEndian.PutUint16(module[34:], 6)
	binary.LittleEndian.PutUint32(module[36:], uint32(symbols))
	module = append(module, "a.obj\x00a.obj\x00"...)
	module = append(module, make([]byte, (4-len(module)%4)%4)...)
	p := make([]byte, dbiSize)
	binary.LittleEndian.PutUint32(p, 0xffffffff)
	binary.LittleEndian.PutUint32(p[8:], 11)
	binary.LittleEndian.PutUint16(p[20:], 7)
	binary.LittleEndian.PutUint32(p[24:], uint32(len(module)))
	binary.LittleEndian.PutUint32(p[48:], 22)
	binary.LittleEndian.PutUint16(p[58:], 0x14c)
	p = append(p, module...)
	for i := range 11 {
		number := uint16(noStream)
		if i == streamOfHeader {
			number = 5
		}
		p = binary.LittleEndian.AppendUint16(p, number)
	}
	return p
}

func record(kind uint16, content []byte) []byte {
	content = append(content, make([]byte, (4-(len(content)+4)%4)%4)...)
	p := binary.LittleEndian.AppendUint16(nil, uint16(len(content)+2))
	return append(binary.LittleEndian.AppendUint16(p, kind), content...)
}

func procedureRecord(section uint16, offset, size uint32, name string) []byte {
	p := make([]byte, 35)
	binary.LittleEndian.PutUint32(p[12:], size)
	binary.LittleEndian.PutUint32(p[28:], offset)
	binary.LittleEndian.PutUint16(p[32:], section)
	return record(kindGlobalProc, append(append(p, name...), 0))
}

func sectionHeader(address, size uint32) []byte {
	p := make([]byte, sectionSize)
	binary.LittleEndian.PutUint32(p[8:], size)
	binary.LittleEndian.PutUint32(p[12:], address)
	return p
}

func byHand() []byte {
	symbols := append([]byte{4, 0, 0, 0}, procedureRecord(1, 0x10, 0x20, "first")...)
	symbols = append(symbols, record(kindEnd, nil)...)
	symbols = append(symbols, procedureRecord(0, 0, 0x20, "removed")...)
	symbols = append(symbols, record(kindEnd, nil)...)
	symbols = append(symbols, procedureRecord(9, 0, 0x20, "nowhere")...)
	symbols = append(symbols, record(kindEnd, nil)...)
	public := binary.LittleEndian.AppendUint32(nil, 2)
	public = binary.LittleEndian.AppendUint32(public, 0x40)
	public = append(binary.LittleEndian.AppendUint16(public, 1), "_start\x00"...)
	return file(nil, info(), nil, debugInfo(len(symbols)), nil, sectionHeader(0x1000, 0x2000), symbols, record(publicKind, public))
}

func TestByHand(t *testing.T) {
	t.Parallel()
	p := byHand()
	var k kept
	s, err := Read(bytes.NewReader(p), int64(len(p)), &k)
	require.NoError(t, err)
	require.Equal(t, "0403020106050807090A0B0C0D0E0F10b", s.DebugID, "the age is that of the DBI stream")
	require.Equal(t, "x86", s.Arch)
	require.Equal(t, []native.Function{{Start: 0x1010, End: 0x1030, Name: "first"}}, k.functions)
	require.Equal(t, []native.Public{{Address: 0x1040, Name: "_start"}}, k.publics)
	require.Equal(t, 1, s.Skipped)
	require.Contains(t, s.Reason, "nowhere lies outside")
}

func TestAnnotations(t *testing.T) {
	t.Parallel()
	p := &procedures{proc: procedure{start: 0x1000, end: 0x1100}}
	packed := []byte{6, 2, 3, 0x10, 0xb, 0x28, 4, 4, 3, 0x80, 0x90, 6, 3, 12, 2, 0x10, 5, 0xc0, 0, 1, 0, 3, 1, 0, 9, 9}
	require.Equal(t, []segment{
		{start: 0x1010, end: 0x1018, file: 7, line: 21, depth: 1},
		{start: 0x1018, end: 0x101c, file: 7, line: 22, depth: 1},
		{start: 0x10ac, end: 0x10bc, file: 7, line: 22, depth: 1},
		{start: 0x10bc, end: 0x10be, file: 7, line: 21, depth: 1},
		{start: 0x10bd, end: 0x1100, file: 256, line: 21, depth: 1},
	}, p.annotated(packed, inlinee{file: 7, line: 20}, 1))
	require.Empty(t, p.annotated([]byte{3, 0xc1, 0, 0, 0}, inlinee{}, 1), "it lies outside of the function")
	require.Empty(t, p.annotated([]byte{0xe0, 1, 2, 3}, inlinee{}, 1))
}

func TestMovedCode(t *testing.T) {
	t.Parallel()
	d := &database{sections: []sectionRange{{address: 0x1000, size: 0x1000}}, moved: []move{{0x1000, 0x5000}, {0x1100, 0}, {0x1200, 0x7000}}}
	for offset, want := range map[uint32]uint64{0: 0x5000, 0xff: 0x50ff, 0x100: 0, 0x234: 0x7034} {
		at, ok := d.address(1, offset)
		require.Equal(t, want != 0, ok, "%#x", offset)
		require.Equal(t, want, at)
	}
	_, ok := d.address(2, 0)
	require.False(t, ok)
	_, _, ok = d.span(1, 0, 0xffffffff)
	require.False(t, ok)
}

func TestLyingContainers(t *testing.T) {
	t.Parallel()
	change := func(at int, n uint32) []byte {
		p := byHand()
		binary.LittleEndian.PutUint32(p[at:], n)
		return p
	}
	const directory = 2 * leastBlock
	for name, c := range map[string]struct {
		p    []byte
		code string
	}{
		"not one":               {[]byte("hello, this is a text"), symbol.Malformed},
		"old":                   {[]byte(magicOld + "\r\n\x1aJG\x00\x00"), symbol.Unsupported},
		"portable":              {[]byte("BSJB\x01\x00\x01\x00"), symbol.Unsupported},
		"cut off":               {byHand()[:40], symbol.Truncated},
		"half":                  {byHand()[:1200], symbol.Truncated},
		"blocks of 3 bytes":     {change(32, 3), symbol.Malformed},
		"a giant directory":     {change(44, 1<<31), symbol.TooLarge},
		"directory elsewhere":   {change(52, 1<<20), symbol.Truncated},
		"block of a directory":  {change(leastBlock, 1<<20), symbol.Malformed},
		"too many streams":      {change(directory, 1<<30), symbol.Malformed},
		"a stream of 4 GB":      {change(directory+4+3*4, 0xfffffff0), symbol.Malformed},
		"a block outside":       {change(directory+4+8*4, 1<<20), symbol.Malformed},
		"streams that overlap":  {change(directory+4+6*4, 50*leastBlock), symbol.Malformed},
		"a part of DBI, signed": {change(4*leastBlock+24, 0xfffffff0), symbol.Malformed},
		"the DBI of before":     {change(4*leastBlock, 0), symbol.Unsupported},
		"a giant list":          {change(4*leastBlock+24, 1<<30), symbol.Truncated},
	} {
		var k kept
		_, err := Read(bytes.NewReader(c.p), int64(len(c.p)), &k)
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, c.code, invalid.Code, "%s: %s", name, invalid.Reason)
	}
}

var errBroken = errors.New("the disk is gone")

type failing struct{ kept }

func (failing) Function(*native.Function) error { return errBroken }

type failingReader struct {
	*bytes.Reader
	from int64
}

func (f failingReader) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, errBroken
	}
	return f.Reader.ReadAt(p, at)
}

func TestOtherErrors(t *testing.T) {
	t.Parallel()
	p := byHand()
	_, err := Read(bytes.NewReader(p), int64(len(p)), &failing{})
	require.ErrorIs(t, err, errBroken)
	for from := int64(0); from < int64(len(p))-2*leastBlock; from += 100 {
		_, err := Read(failingReader{bytes.NewReader(p), from}, int64(len(p)), &kept{})
		require.ErrorIs(t, err, errBroken, "from %d", from)
	}
}

// Every byte of a real file may be another, and every length cut.
func TestChangedFiles(t *testing.T) {
	t.Parallel()
	p, err := os.ReadFile(filepath.Join(linked(t, "x86_64-pc-windows-msvc", "-O1"), "p.pdb"))
	require.NoError(t, err)
	for i := 0; i < len(p); i += 1 + i%509 {
		changed := bytes.Clone(p)
		changed[i] ^= 0xff
		examine(t, changed)
	}
	for n := 0; n < len(p); n += 4001 {
		examine(t, p[:n])
	}
}

func examine(t testing.TB, p []byte) {
	var k kept
	_, err := Read(bytes.NewReader(p), int64(len(p)), &k)
	var invalid *symbol.InvalidError
	if err != nil {
		require.ErrorAs(t, err, &invalid)
	}
	for _, f := range k.functions {
		require.Less(t, f.Start, f.End)
		for i, l := range f.Lines {
			require.True(t, l.Address >= f.Start && l.Address < f.End && (i == 0 || l.Address > f.Lines[i-1].Address))
		}
		for _, in := range f.Inlines {
			for _, r := range in.Ranges {
				require.True(t, r.Start >= f.Start && r.Start < r.End && r.End <= f.End)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(byHand())
	f.Add(crossScoped(crossScope|1<<20, words(7, 1, 5, 1, 1, 7), words(7, 0x1001)))
	site := append(make([]byte, 12), 6, 2, 3, 4, 4, 8, 0)
	symbols := append([]byte{4, 0, 0, 0}, procedureRecord(1, 0x10, 0x20, "outer")...)
	symbols = append(append(symbols, record(kindInline, site)...), record(kindInlineEnd, nil)...)
	symbols = append(symbols, record(kindEnd, nil)...)
	f.Add(file(nil, info(), nil, debugInfo(len(symbols)), nil, sectionHeader(0x1000, 0x2000), symbols, nil))
	f.Fuzz(func(t *testing.T, p []byte) { examine(t, p) })
}
