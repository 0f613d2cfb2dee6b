package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/stretchr/testify/require"
)

// index finishes a builder and opens what it wrote.
func index(t testing.TB, b *Builder) (*Index, *Summary) {
	t.Helper()
	var out bytes.Buffer
	s, err := b.Finish(&out)
	require.NoError(t, err)
	f, err := symbol.Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	x, err := Open(f)
	require.NoError(t, err)
	return x, s
}

func TestLookup(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	require.NoError(t, b.Function(&Function{Start: 0x1000, End: 0x1100, Name: "_ZN3app4mainEi",
		Lines: []Line{
			{Address: 0x1000, File: "/src/main.cc", Line: 10, Column: 3},
			{Address: 0x1010, File: "/src/util.h", Line: 5},
			{Address: 0x1020, File: "/src/deep.h", Line: 77},
			{Address: 0x1030, File: "/src/main.cc", Line: 12},
			{Address: 0x1040},
		},
		Inlines: []Inline{
			{Depth: 0, Name: "_ZN3app4utilEv", Ranges: []Range{{0x1010, 0x1030}, {0x1060, 0x1070}}, CallFile: "/src/main.cc",
				CallLine: 11, CallColumn: 9},
			{Depth: 1, Name: "deep", Ranges: []Range{{0x1020, 0x1030}}, CallFile: "/src/util.h", CallLine: 6},
			{Depth: 0, Name: "other", Ranges: []Range{{0x1080, 0x1090}}, CallLine: 13},
		}}))
	x, s := index(t, b)
	require.Equal(t, Summary{Functions: 1, Lines: 5, Inlines: 3}, *s)
	main := Frame{Symbol: "_ZN3app4mainEi", Function: "app::main(int)", File: "/src/main.cc", Start: 0x1000}
	at := func(f Frame, line, column uint32) Frame {
		f.Line, f.Column = line, column
		return f
	}
	util := Frame{Symbol: "_ZN3app4utilEv", Function: "app::util()", File: "/src/util.h", Inlined: true, Start: 0x1000}
	deep := Frame{Symbol: "deep", Function: "deep", File: "/src/deep.h", Inlined: true, Start: 0x1000}
	for address, want := range map[uint64][]Frame{
		0xfff:  nil,
		0x1000: {at(main, 10, 3)},
		0x100f: {at(main, 10, 3)},
		0x1010: {at(util, 5, 0), at(main, 11, 9)},
		0x1020: {at(deep, 77, 0), at(util, 6, 0), at(main, 11, 9)},
		0x102f: {at(deep, 77, 0), at(util, 6, 0), at(main, 11, 9)},
		0x1030: {at(main, 12, 0)},
		0x1040: {{Symbol: main.Symbol, Function: main.Function, Start: 0x1000}},
		0x1068: {{Symbol: util.Symbol, Function: util.Function, Inlined: true, Start: 0x1000}, at(main, 11, 9)},
		0x1080: {{Symbol: "other", Function: "other", Inlined: true, Start: 0x1000},
			{Symbol: main.Symbol, Function: main.Function, Line: 13, Start: 0x1000}},
		0x10ff: {{Symbol: main.Symbol, Function: main.Function, Start: 0x1000}},
		0x1100: nil,
	} {
		got, err := x.Lookup(address)
		require.NoError(t, err)
		require.Equal(t, want, got, "%#x", address)
	}
	require.Positive(t, x.Cost())
}

func TestPublics(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	for _, p := range []Public{{0x3000, 0, "last"}, {0x1000, 0, "first"}, {0x1000, 0, "alias"}, {0x1100, 0x20, "sized"},
		{0x1200, 0, "gap"}, {0x2000, 0x40, "of_lines"}, {^uint64(0) - 4, 0, "end"}, {5, ^uint64(0), "lies"}, {6, 1, ""}} {
		require.NoError(t, b.Public(p))
	}
	require.NoError(t, b.Function(&Function{Start: 0x1300, End: 0x1310, Name: "f"}))
	require.NoError(t, b.Function(&Function{Start: 0x2000, End: 0x2010, Lines: []Line{{Address: 0x2000, File: "a.S", Line: 3}}}))
	require.NoError(t, b.Function(&Function{Start: 0x2800, End: 0x2801, Lines: []Line{{Address: 0x2800, File: "b.S", Line: 4}}}))
	x, s := index(t, b)
	require.EqualValues(t, 2, s.Dropped)
	for address, want := range map[uint64]string{
		0xfff: "", 0x1000: "first", 0x10ff: "first", 0x1100: "sized", 0x111f: "sized", 0x1120: "", 0x11ff: "", 0x1200: "gap", 0x12ff: "gap",
		0x1310: "", 0x2010: "of_lines", 0x2040: "", 0x3000: "last", 0x3000 + maxPublicSize - 1: "last", 0x3000 + maxPublicSize: "",
		^uint64(0) - 1: "end",
	} {
		got, err := x.Lookup(address)
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, got, "%#x", address)
			continue
		}
		require.Len(t, got, 1, "%#x", address)
		require.Equal(t, want, got[0].Function, "%#x", address)
		require.True(t, got[0].Public)
	}
	got, err := x.Lookup(0x2005)
	require.NoError(t, err)
	require.Equal(t, []Frame{{Symbol: "of_lines", Function: "of_lines", File: "a.S", Line: 3, Public: true, Start: 0x2000}}, got)
	got, err = x.Lookup(0x2800)
	require.NoError(t, err)
	require.Equal(t, []Frame{{File: "b.S", Line: 4, Public: true, Start: 0x2800}}, got)
	got, err = x.Lookup(0x1300)
	require.NoError(t, err)
	require.Equal(t, []Frame{{Symbol: "f", Function: "f", Start: 0x1300}}, got)
}

// A function without a linkage name has that of the symbol at its start.
func TestPlainNames(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	require.NoError(t, b.Public(Public{0x10, 8, "_ZN2ns4sortIiEEvT_.constprop.0"}))
	require.NoError(t, b.Public(Public{0x20, 8, "plain.cold"}))
	require.NoError(t, b.Public(Public{0x30, 8, "_Zother"}))
	for start, name := range map[uint64]string{0x10: "sort<int>", 0x20: "plain", 0x30: "_ZN2ns1fEv"} {
		require.NoError(t, b.Function(&Function{Start: start, End: start + 8, Name: name}))
	}
	x, _ := index(t, b)
	for address, want := range map[uint64]string{0x11: "void ns::sort<int>(int) (.constprop.0)", 0x21: "plain", 0x31: "ns::f()"} {
		got, err := x.Lookup(address)
		require.NoError(t, err)
		require.Equal(t, want, got[0].Function)
		require.False(t, got[0].Public)
	}
}

func TestUnwind(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	for _, u := range []Unwind{
		{Start: 0x1000, End: 0x1100, Rules: ".cfa: $rsp 8 + .ra: .cfa 8 - ^"},
		{Start: 0x1004, End: 0x1010, Rules: ".cfa: $rsp 16 + .ra: .cfa 8 - ^"},
		{Start: 0x1000, End: 0x1080, Windows: "0 1000 80 0 0 4 0 0 0 0 1"},
		{Start: 0x1000, End: 0x1100, Windows: "4 1000 100 0 0 4 0 0 0 1 $T0 .raSearch ="},
		{Start: 0x2000, End: 0x2000, Rules: "empty"},
		{Start: 0x3000, End: 0x3001, Windows: "0 3000 1 0 0 0 0 0 0 0 0"},
	} {
		require.NoError(t, b.Unwind(u))
	}
	x, s := index(t, b)
	require.EqualValues(t, 1, s.Dropped)
	program := "4 1000 100 0 0 4 0 0 0 1 $T0 .raSearch ="
	for address, want := range map[uint64]Unwind{
		0x1000: {0x1000, 0x1004, ".cfa: $rsp 8 + .ra: .cfa 8 - ^", program},
		0x1004: {0x1004, 0x1010, ".cfa: $rsp 16 + .ra: .cfa 8 - ^", program},
		0x10ff: {0x1010, 0x1100, ".cfa: $rsp 8 + .ra: .cfa 8 - ^", program},
		0x3000: {0x3000, 0x3001, "", "0 3000 1 0 0 0 0 0 0 0 0"},
	} {
		got, ok, err := x.Unwind(address)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, got, "%#x", address)
	}
	for _, address := range []uint64{0xfff, 0x1100, 0x2000, 0x3001} {
		_, ok, err := x.Unwind(address)
		require.NoError(t, err)
		require.False(t, ok, "%#x", address)
	}
}

// random makes functions that overlap, with lines and trees of inlined functions.
func random(r *rand.Rand, n int) []*Function {
	var all []*Function
	for i := range n {
		start := uint64(r.IntN(n * 40))
		f := &Function{Start: start, End: start + 1 + uint64(r.IntN(90)), Name: fmt.Sprint("f", i)}
		at := start + uint64(r.IntN(3))
		for at < f.End {
			f.Lines = append(f.Lines, Line{Address: at, File: fmt.Sprint("/file", r.IntN(4)), Line: uint32(r.IntN(9)), Column: uint32(r.IntN(3))})
			at += uint64(r.IntN(8))
		}
		f.Inlines = tree(r, f.Start, f.End, 0, nil)
		all = append(all, f)
	}
	return all
}

func tree(r *rand.Rand, start, end uint64, depth int, all []Inline) []Inline {
	for range r.IntN(3) {
		if end-start < 2 || depth > 4 {
			break
		}
		from := start + uint64(r.IntN(int(end-start)))
		to := from + 1 + uint64(r.IntN(int(end-from)))
		x := Inline{Depth: depth, Name: fmt.Sprint("i", r.IntN(1000)), Ranges: []Range{{from, to}}, CallFile: "/call",
			CallLine: uint32(r.IntN(99))}
		all = tree(r, from, to, depth+1, append(all, x))
	}
	return all
}

// plain looks up in the functions themselves.
func plain(all []*Function, address uint64) []Frame {
	var best *Function
	for _, f := range all {
		if address >= f.Start && address < f.End && (best == nil || f.End-f.Start < best.End-best.Start ||
			f.End-f.Start == best.End-best.Start && f.Start < best.Start) {
			best = f
		}
	}
	if best == nil {
		return nil
	}
	chain := []Inline{}
	from, to := 0, len(best.Inlines)
	for depth := 0; ; depth++ {
		found := -1
		for i := from; i < to; i++ {
			if x := best.Inlines[i]; x.Depth == depth && address >= x.Ranges[0].Start && address < x.Ranges[0].End {
				found = i
			}
		}
		if found < 0 {
			break
		}
		chain = append(chain, best.Inlines[found])
		from = found + 1
		for to = from; to < len(best.Inlines) && best.Inlines[to].Depth > depth; to++ {
		}
	}
	var line Line
	for _, l := range best.Lines {
		if l.Address <= address {
			line = l
		}
	}
	var frames []Frame
	for i := len(chain) - 1; i >= 0; i-- {
		frames = append(frames, Frame{Symbol: chain[i].Name, Function: chain[i].Name, File: line.File, Line: line.Line,
			Column: line.Column, Inlined: true, Start: best.Start})
		line = Line{File: chain[i].CallFile, Line: chain[i].CallLine}
	}
	return append(frames, Frame{Symbol: best.Name, Function: best.Name, File: line.File, Line: line.Line, Column: line.Column,
		Start: best.Start})
}

func TestRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		all := random(r, 100)
		b := NewBuilder(t.TempDir())
		if seed%2 == 1 {
			b.functions.limit = 1 << 10 // many runs
		}
		for _, f := range all {
			require.NoError(t, b.Function(f))
		}
		x, _ := index(t, b)
		for address := range uint64(100*40 + 100) {
			got, err := x.Lookup(address)
			require.NoError(t, err)
			require.Equal(t, plain(all, address), got, "seed %d, %#x", seed, address)
		}
	}
}

// A function of many lines has many chunks.
func TestManyLines(t *testing.T) {
	t.Parallel()
	f := &Function{Start: 100, End: 100 + 4*5000, Name: "f"}
	for i := range 5000 {
		f.Lines = append(f.Lines, Line{Address: uint64(100 + 4*i), File: fmt.Sprint("/f", i/700), Line: uint32(9000 - i)})
	}
	b := NewBuilder(t.TempDir())
	require.NoError(t, b.Function(f))
	x, _ := index(t, b)
	for i := range 4 * 5000 {
		got, err := x.Lookup(uint64(100 + i))
		require.NoError(t, err)
		require.Equal(t, f.Lines[i/4].Line, got[0].Line)
		require.Equal(t, f.Lines[i/4].File, got[0].File)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	big := &Function{Start: 0, End: 1 << 30, Name: "big"}
	for i := range 1 << 20 {
		big.Lines = append(big.Lines, Line{Address: uint64(i) << 9, File: "/f", Line: uint32(i * 7919)})
	}
	require.NoError(t, b.Function(big))
	require.NoError(t, b.Function(&Function{Start: 1 << 31, End: 1<<31 + 8, Name: strings.Repeat("n", 2*maxString)}))
	require.NoError(t, b.Function(&Function{Start: 9, End: 9, Name: "empty"}))
	require.Error(t, b.Function(&Function{Start: 9, End: 10, Inlines: []Inline{{Depth: maxInlineDepth}}}))
	x, s := index(t, b)
	require.Greater(t, s.Dropped, int64(1<<20))
	got, err := x.Lookup(1 << 20)
	require.NoError(t, err)
	require.Equal(t, []Frame{{Symbol: "big", Function: "big"}}, got)
	got, err = x.Lookup(1 << 31)
	require.NoError(t, err)
	require.Len(t, got[0].Function, maxString)
}

// Ranges that all cover one another cost no more than their number.
func TestNested(t *testing.T) {
	t.Parallel()
	b := NewBuilder(t.TempDir())
	const n = 3 * maxActive
	for i := range uint64(n) {
		require.NoError(t, b.Public(Public{Address: i, Size: 1 << 40, Name: "p"}))
	}
	x, s := index(t, b)
	require.Positive(t, s.Dropped)
	got, err := x.Lookup(5)
	require.NoError(t, err)
	require.EqualValues(t, 0, got[0].Start)
}

// An index that was damaged is an error or another result, never a panic.
func FuzzOpen(f *testing.F) {
	b := NewBuilder(f.TempDir())
	for _, x := range random(rand.New(rand.NewPCG(1, 2)), 20) {
		_ = b.Function(x)
	}
	_ = b.Public(Public{Address: 4000, Name: "_Z3foov"})
	_ = b.Unwind(Unwind{Start: 1, End: 50, Rules: ".cfa: $rsp 8 +"})
	_ = b.Unwind(Unwind{Start: 1, End: 50, Windows: "4 1"})
	var out bytes.Buffer
	_, err := b.Finish(&out)
	require.NoError(f, err)
	f.Add(out.Bytes(), uint64(17))
	f.Fuzz(func(t *testing.T, p []byte, address uint64) {
		file, err := symbol.Open(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		x, err := Open(file)
		if err != nil {
			return
		}
		for a := range uint64(64) {
			_, _ = x.Lookup(address + a*16)
			_, _, _ = x.Unwind(address + a*16)
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	build := NewBuilder(b.TempDir())
	for _, f := range random(r, 5000) {
		require.NoError(b, build.Function(f))
	}
	x, _ := index(b, build)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := x.Lookup(r.Uint64N(5000 * 40)); err != nil {
			b.Fatal(err)
		}
	}
}
