package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/stretchr/testify/require"
)

// collected keeps functions.
type collected struct {
	nothing
	functions []native.Function
}

func (c *collected) Function(f *native.Function) error {
	kept := *f
	kept.Lines = append([]native.Line{}, f.Lines...)
	kept.Inlines = append([]native.Inline{}, f.Inlines...)
	c.functions = append(c.functions, kept)
	return c.nothing.Function(f)
}

// unit4 is a unit of version 4 with 32-bit offsets around entries.
func unit4(entries ...byte) []byte {
	p := binary.LittleEndian.AppendUint32(nil, uint32(7+len(entries)))
	p = append(p, 4, 0, 0, 0, 0, 0, 8)
	return append(p, entries...)
}

func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func join4(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// abbrevs4 are the abbreviations of these tests: 1 a unit, 2 a function with name, low_pc and
// high_pc as a size, 3 one with an abstract origin instead of a name, 4 an inlined call, 5 a
// block.
var abbrevs4 = []byte{
	1, 0x11, 1, 0x11, 0x01, 0, 0,
	2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0,
	3, 0x2e, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0,
	4, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0b, 0, 0,
	5, 0x0b, 1, 0, 0,
	6, 0x2e, 0, 0x11, 0x01, 0x12, 0x07, 0x03, 0x7f, 0, 0,
	7, 0x11, 1, 0x11, 0x01, 0x10, 0x17, 0, 0,
	0}

func rootEntry() []byte { return join4([]byte{1}, u64(0)) }

func functionEntry(name string, low, size uint64) []byte {
	return join4([]byte{2}, []byte(name), []byte{0}, u64(low), u64(size))
}

func read(t *testing.T, h held, o Options) ([]native.Function, *Summary, error) {
	t.Helper()
	c := &collected{nothing: nothing{t}}
	s, err := Read(h, c, o)
	return c.functions, s, err
}

func TestLoops(t *testing.T) {
	t.Parallel()
	// The function at 20 is an instance of itself; in it an inlined call of that.
	info := unit4(join4(rootEntry(), []byte{3, 20, 0, 0, 0}, u64(0x1000), u64(16), []byte{4, 20, 0, 0, 0}, u64(0x1000),
		u64(4), []byte{9, 0, 0},
		functionEntry("good", 0x2000, 16), []byte{0, 0})...)
	got, s, err := read(t, held{".debug_info": info, ".debug_abbrev": abbrevs4}, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 2, s.Damaged)
	require.Contains(t, s.Warnings[0], "refers to others without an end")
	require.Len(t, got, 2)
	require.Equal(t, "", got[0].Name)
	require.Equal(t, "good", got[1].Name)
}

func TestDepth(t *testing.T) {
	t.Parallel()
	deep := append(rootEntry(), bytes.Repeat([]byte{5}, maxDepth+1)...)
	_, _, err := read(t, held{".debug_info": unit4(deep...), ".debug_abbrev": abbrevs4}, Options{})
	var invalid *symbol.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, symbol.TooLarge, invalid.Code)

	// As long as one unit can be read, the wrong one is a warning.
	both := join4(unit4(deep...), unit4(join4(rootEntry(), functionEntry("f", 0x1000, 8), []byte{0, 0})...))
	got, s, err := read(t, held{".debug_info": both, ".debug_abbrev": abbrevs4}, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 1, s.Skipped)
	require.Len(t, got, 1)
}

func TestLies(t *testing.T) {
	t.Parallel()
	good := unit4(join4(rootEntry(), functionEntry("f", 0x1000, 8), []byte{0, 0})...)
	longer := append([]byte{}, good...)
	longer[0] = 0xff
	version := append([]byte{}, good...)
	version[4] = 9
	for name, c := range map[string]struct {
		info, abbrev []byte
		code         string
	}{
		"length":            {longer, abbrevs4, symbol.Truncated},
		"reserved length":   {[]byte{0xf0, 0xff, 0xff, 0xff, 4, 0, 0, 0}, abbrevs4, symbol.Truncated},
		"version":           {version, abbrevs4, symbol.Unsupported},
		"no abbreviations":  {good, nil, symbol.Truncated},
		"cut abbreviations": {good, abbrevs4[:9], symbol.Truncated},
		"unknown code":      {unit4(append(rootEntry(), 77)...), abbrevs4, symbol.Malformed},
		"unknown form":      {unit4(join4(rootEntry(), []byte{6}, u64(1), u64(2), []byte{0})...), abbrevs4, symbol.Unsupported},
		"cut entry":         {unit4(join4(rootEntry(), []byte{2, 'f'})...), abbrevs4, symbol.Truncated},
	} {
		_, _, err := read(t, held{".debug_info": c.info, ".debug_abbrev": c.abbrev}, Options{})
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, c.code, invalid.Code, "%s: %v", name, err)
	}
	_, s, err := read(t, held{}, Options{})
	require.NoError(t, err)
	require.Zero(t, s.Units)
}

// What the linker removed has one of these addresses, or one outside of the code.
func TestRemoved(t *testing.T) {
	t.Parallel()
	entries := rootEntry()
	for _, low := range []uint64{0, 1, 0x1000, 0x9000, ^uint64(0), ^uint64(1)} {
		entries = append(entries, join4(functionEntry("f", low, 8), []byte{0})...)
	}
	h := held{".debug_info": unit4(append(entries, 0)...), ".debug_abbrev": abbrevs4}
	got, s, err := read(t, h, Options{})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.EqualValues(t, 2, s.Removed)
	got, _, err = read(t, h, Options{Base: 0x1000, Code: []native.Range{{Start: 0x1000, End: 0x2000}}})
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.EqualValues(t, 0, got[0].Start)
}

// lines4 is a line program of version 4 with one file, "a.c".
func lines4(program ...byte) []byte {
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 'a', '.', 'c', 0, 0, 0, 0, 0}
	p := binary.LittleEndian.AppendUint32(nil, uint32(6+len(header)+len(program)))
	p = append(p, 4, 0)
	p = binary.LittleEndian.AppendUint32(p, uint32(len(header)))
	return append(append(p, header...), program...)
}

func TestLinePrograms(t *testing.T) {
	t.Parallel()
	set := join4([]byte{0, 9, 2}, u64(0x1000))
	end := []byte{0, 1, 1}
	info := unit4(join4([]byte{7}, u64(0), []byte{0, 0, 0, 0}, functionEntry("f", 0x1000, 8), []byte{0, 0})...)
	for name, c := range map[string]struct {
		program []byte
		want    []native.Line
		damaged int64
	}{
		"plain": {join4(set, []byte{3, 4, 1, 2, 8}, end), []native.Line{{Address: 0x1000, File: "a.c", Line: 5}}, 0},
		"two": {join4(set, []byte{3, 4, 1, 5, 7, 2, 4, 3, 0x7f, 1, 2, 4}, end),
			[]native.Line{{Address: 0x1000, File: "a.c", Line: 5}, {Address: 0x1004, File: "a.c", Line: 4, Column: 7}}, 0},
		"backwards": {join4(set, []byte{2, 4, 1, 3, 1, 9, 0xfc, 0xff, 1, 9, 0xc, 0}, end), nil, 0},
		"no end":    {join4(set, []byte{3, 4, 1, 2, 8}), nil, 0},
		"cut":       {join4(set, []byte{3, 4, 1, 2, 8}, end, []byte{0, 9, 2, 1}), []native.Line{{Address: 0x1000, File: "a.c", Line: 5}}, 1},
		"unknown":   {join4(set, []byte{0, 3, 0x99, 1, 2, 3, 4, 1, 2, 8}, end), []native.Line{{Address: 0x1000, File: "a.c", Line: 5}}, 0},
		"removed": {join4([]byte{0, 9, 2}, u64(^uint64(0)), []byte{1, 2, 8}, end, set, []byte{1, 2, 8}, end),
			[]native.Line{{Address: 0x1000, File: "a.c", Line: 1}}, 0},
		"shrinks": {join4(set, []byte{1, 9, 0, 0x80}, end), nil, 0},
	} {
		got, s, err := read(t, held{".debug_info": info, ".debug_abbrev": abbrevs4, ".debug_line": lines4(c.program...)}, Options{})
		require.NoError(t, err, name)
		require.Equal(t, c.damaged, s.Damaged, "%s: %v", name, s.Warnings)
		require.NotEmpty(t, got, name)
		if c.want != nil {
			require.Equal(t, c.want, got[0].Lines, name)
		}
	}
}

// Without a line table, an inlined call has no file.
func TestWrongLines(t *testing.T) {
	t.Parallel()
	info := unit4(join4([]byte{7}, u64(0), []byte{0, 0, 0, 0}, functionEntry("f", 0x1000, 8), []byte{8, 20, 0, 0, 0},
		u64(0x1000), u64(4), []byte{1, 0, 0, 0})...)
	abbrevs := append(abbrevs4[:len(abbrevs4)-1:len(abbrevs4)-1], 8, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0, 0, 0)
	for _, lines := range [][]byte{nil, lines4()[:9], lines4()[:20], append([]byte{200}, lines4()[1:]...)} {
		got, s, err := read(t, held{".debug_info": info, ".debug_abbrev": abbrevs, ".debug_line": lines}, Options{})
		require.NoError(t, err)
		require.NotEmpty(t, s.Warnings)
		require.Len(t, got, 1)
		require.Len(t, got[0].Inlines, 1)
		require.Empty(t, got[0].Inlines[0].CallFile)
	}
}

// A file of units that all name one long line program would be read for hours.
func TestBudget(t *testing.T) {
	t.Parallel()
	program := lines4(bytes.Repeat([]byte{0x20}, 1<<20)...)
	var info []byte
	for i := range byte(250) {
		info = append(info, unit4(join4([]byte{7}, u64(0), []byte{i & 1, 0, 0, 0}, functionEntry("f", 0x1000, 8), []byte{0, 0})...)...)
	}
	_, _, err := read(t, held{".debug_info": info, ".debug_abbrev": abbrevs4, ".debug_line": append([]byte{0}, program...)}, Options{})
	require.ErrorIs(t, err, errBudget)
}

// failing are sections that cannot be read.
type failing struct{ held }

var errDisk = errors.New("the disk is gone")

func (f failing) Section(name string) (io.ReaderAt, int64, error) {
	if name == ".debug_abbrev" {
		return failingReader{}, 100, nil
	}
	return f.held.Section(name)
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

// Errors of reading and of the sink are not the file's.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	info := unit4(join4(rootEntry(), functionEntry("f", 0x1000, 8), []byte{0, 0})...)
	_, err := Read(failing{held{".debug_info": info}}, nothing{t}, Options{})
	require.ErrorIs(t, err, errDisk)
}
