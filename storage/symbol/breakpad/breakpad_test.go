package breakpad

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// kept keeps what is reported.
type kept struct {
	functions []native.Function
	publics   []native.Public
	unwinds   []native.Unwind
}

func (k *kept) Function(f *native.Function) error {
	g := *f
	g.Lines = append([]native.Line(nil), f.Lines...)
	g.Inlines = append([]native.Inline(nil), f.Inlines...)
	k.functions = append(k.functions, g)
	return nil
}
func (k *kept) Public(p native.Public) error { k.publics = append(k.publics, p); return nil }
func (k *kept) Unwind(u native.Unwind) error { k.unwinds = append(k.unwinds, u); return nil }

const moduleLine = "MODULE Linux x86_64 C1A2B3C4D5E6F708192A3B4C5D6E7F800 lib shop.so\n"

func parsed(t *testing.T, text string) (*kept, *Summary) {
	t.Helper()
	var k kept
	s, err := Read(strings.NewReader(text), int64(len(text)), &k)
	require.NoError(t, err)
	return &k, s
}

func TestModule(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"\n", "\r\n"} {
		_, s := parsed(t, strings.ReplaceAll(moduleLine+
			"INFO CODE_ID C4B3A2C1E6D508F7192A3B4C5D6E7F8001020304\nINFO URL https://example.com/a b\nINFO GENERATOR x\n"+
			"PUBLIC 10 0 f\n", "\n", ends))
		require.Equal(t, &Summary{
			OS: "Linux", Arch: "x86_64", DebugFile: "lib shop.so", DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F800",
			CodeID: "c4b3a2c1e6d508f7192a3b4c5d6e7f8001020304", BuildID: "c4b3a2c1e6d508f7192a3b4c5d6e7f8001020304",
			URL: "https://example.com/a b", Publics: 1,
		}, s)
		require.Len(t, s.Identifiers(), 3)
	}
	_, s := parsed(t, "MODULE windows x86 C1A2B3C4D5E6F708192A3B4C5D6E7F80a shop.pdb\nINFO CODE_ID 5F00AB001A000 shop.exe\nPUBLIC 1 0 f\n")
	require.Equal(t, []string{"C1A2B3C4D5E6F708192A3B4C5D6E7F80a", "5f00ab001a000", "", "shop.exe"},
		[]string{s.DebugID, s.CodeID, s.BuildID, s.CodeFile})
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	k, s := parsed(t, moduleLine+`FILE 0 /src/a b.cc
FILE 2 /src/c.h
INLINE_ORIGIN 7 shop::price(int, char const*)
FUNC m 1000 30 8 shop::pay(int, char)
INLINE 1 12 2 9 1014 4
INLINE 0 11 0 7 1010 8 1020 4
1000 10 10 0
1020 4 31 2
1010 8 30 2
1010 8 99 2
FUNC 2000 8 0
2000 8 1 0
INLINE_ORIGIN 9 late name
PUBLIC m 3000 4 _start here
FUNC 4000 0 0 without_size
FUNC 5000 10 0 begins_before
5000 10 2 0
4ff0 18 1 0
`)
	require.Equal(t, []native.Function{{
		Start: 0x1000, End: 0x1030, Name: "shop::pay(int, char)",
		Lines: []native.Line{
			{Address: 0x1000, File: "/src/a b.cc", Line: 10}, {Address: 0x1010, File: "/src/c.h", Line: 30},
			{Address: 0x1018}, {Address: 0x1020, File: "/src/c.h", Line: 31}, {Address: 0x1024},
		},
		Inlines: []native.Inline{
			{Ranges: []native.Range{{Start: 0x1010, End: 0x1018}, {Start: 0x1020, End: 0x1024}},
				Name: "shop::price(int, char const*)", CallFile: "/src/a b.cc", CallLine: 11},
			{Ranges: []native.Range{{Start: 0x1014, End: 0x1018}}, Depth: 1, Name: "late name", CallFile: "/src/c.h", CallLine: 12},
		},
	}, {Start: 0x2000, End: 0x2008, Name: "<name omitted>", Lines: []native.Line{{Address: 0x2000, File: "/src/a b.cc", Line: 1}}}, {
		Start: 0x5000, End: 0x5010, Name: "begins_before",
		Lines: []native.Line{{Address: 0x5000, File: "/src/a b.cc", Line: 1}, {Address: 0x5008}},
	}}, k.functions)
	require.Equal(t, []native.Public{{Address: 0x3000, Name: "_start here"}, {Address: 0x4000, Name: "without_size"}}, k.publics)
	require.Equal(t, []int{3, 2, 0, 0}, []int{s.Functions, s.Publics, s.Skipped, s.Unknown})
}

func TestUnwind(t *testing.T) {
	t.Parallel()
	k, s := parsed(t, moduleLine+`STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1008 .cfa: $rbp 16 + $rbp: .cfa -16 + ^
STACK CFI 1001 .cfa: $rsp 16 +
STACK CFI 2000 .cfa: $rsp 16 +
STACK CFI INIT 3000 10 .cfa: sp 0 + .ra: x30
STACK WIN 4 2170 14 1 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + =
STACK WIN 0 2190 14 1 2 3 4 5 6 0 1
`)
	require.Equal(t, []native.Unwind{
		{Start: 0x1000, End: 0x1001, Rules: ".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{Start: 0x1001, End: 0x1008, Rules: ".cfa: $rsp 16 + .ra: .cfa -8 + ^"},
		{Start: 0x1008, End: 0x1040, Rules: ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^"},
	}, k.unwinds[:3])
	require.ElementsMatch(t, []native.Unwind{
		{Start: 0x3000, End: 0x3010, Rules: ".cfa: sp 0 + .ra: x30"},
		{Start: 0x2170, End: 0x2184, Windows: "4 1 0 0 0 0 0 1 $eip 4 + ^ = $esp $ebp 8 + ="},
		{Start: 0x2190, End: 0x21a4, Windows: "0 1 2 3 4 5 6 0 1"},
	}, k.unwinds[3:])
	require.Equal(t, 1, s.Skipped)
	require.Contains(t, s.Reason, "line 5: STACK CFI 2000 belongs to no")
}

func TestWrongRecords(t *testing.T) {
	t.Parallel()
	for record, reason := range map[string]string{
		"FUNC xyz 10 0 f":               "FUNC has no address",
		"FUNC 10":                       "FUNC has no address",
		"FUNC ffffffffffffffff 10 0 f":  "FUNC has no address",
		"1000 10 -5 0":                  "a line record is not",
		"1000 10 5 0":                   "belongs to no function",
		"INLINE 0 1 2":                  "INLINE has no depth",
		"INLINE 0 1 2 3 10":             "without a size",
		"PUBLIC":                        "PUBLIC has no address",
		"STACK CFI INIT 10 0 .cfa: x":   "STACK CFI INIT has no",
		"STACK CFI INIT 10 4 sp 8 +":    "broken rules",
		"STACK CFI zz":                  "STACK CFI has no",
		"STACK WIN 4 10 20 0":           "STACK WIN has 4 fields",
		"FILE x name":                   "FILE has no number",
		"INFO CODE_ID nothex":           "not hexadecimal",
		strings.Repeat("x", maxLine+10): "more than",
	} {
		_, s := parsed(t, moduleLine+record+"\nPUBLIC 10 0 good\n")
		require.Equal(t, []int{1, 1}, []int{s.Publics, s.Skipped}, "%.40s: %s", record, s.Reason)
		require.Contains(t, s.Reason, reason)
	}
	_, s := parsed(t, moduleLine+"NEWS 1\nSTACK NEW\nPUBLIC 10 0 good\n")
	require.Equal(t, 2, s.Unknown)
}

func TestFilesOfNoUse(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		"":                        "is empty",
		"FUNC 1 2 3 f\n":          "first line is not a MODULE",
		"MODULE Linux x86 zz f\n": "no debug id",
		moduleLine + "rubbish\n":  "no record that can be used",
	} {
		var k kept
		_, err := Read(strings.NewReader(text), int64(len(text)), &k)
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, text)
		require.Equal(t, symbol.Malformed, invalid.Code)
		require.Contains(t, invalid.Reason, reason)
	}
}

func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	x := &reader{files: map[uint64]string{}, named: true, names: maxNames - 100}
	require.NoError(t, x.name([]byte("FILE 1 a")))
	err := x.name([]byte("FILE 2 " + strings.Repeat("b", 200)))
	var invalid *symbol.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, symbol.TooLarge, invalid.Code)
}

var errSink = errors.New("no room")

type failing struct{ kept }

func (failing) Function(*native.Function) error { return errSink }

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errSink }

func TestOtherErrors(t *testing.T) {
	t.Parallel()
	text := moduleLine + "FUNC 10 10 0 f\n"
	_, err := Read(strings.NewReader(text), int64(len(text)), &failing{})
	require.ErrorIs(t, err, errSink)
	_, err = Read(failingReader{}, 100, &kept{})
	require.ErrorIs(t, err, errSink)
}

func FuzzRead(f *testing.F) {
	f.Add(moduleLine + "INFO CODE_ID C4B3A2C1E6D508F7\nFILE 0 a\nINLINE_ORIGIN 0 f\nFUNC m 10 20 0 g\nINLINE 0 1 0 0 14 4 18 2\n10 10 1 0\n" +
		"20 10 2 0\nPUBLIC m 40 0 h\n" +
		"STACK CFI INIT 10 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 14 .cfa: $rsp 16 +\n" +
		"STACK WIN 4 10 20 0 0 0 0 0 0 1 $eip .raSearch ^ =\n")
	f.Add(moduleLine + "FUNC ffffffffffffff00 ff 0 f\nfffffffffffffff0 ff 1 0\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var k kept
		s, err := Read(strings.NewReader(text), int64(len(text)), &k)
		var invalid *symbol.InvalidError
		if err != nil {
			require.ErrorAs(t, err, &invalid)
			return
		}
		require.Equal(t, []int{s.Functions, s.Publics, s.Unwinds}, []int{len(k.functions), len(k.publics), len(k.unwinds)})
		for _, g := range k.functions {
			require.Less(t, g.Start, g.End)
			last := g.Start
			for i, l := range g.Lines {
				require.True(t, l.Address < g.End && l.Address >= last && (i == 0 || l.Address > last))
				last = l.Address
			}
		}
		for _, u := range k.unwinds {
			require.Less(t, u.Start, u.End)
		}
	})
}
