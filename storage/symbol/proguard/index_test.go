package proguard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

func TestSummary(t *testing.T) {
	t.Parallel()
	_, s := index(t, "# compiler: R8\n# compiler_version: 8.5.35\n# pg_map_id: 7A3F5C1\n# pg_map_hash: SHA-256 ABCD\n"+versionLine+
		"x.A -> a:\n    int f -> a\n    1:1:void run():2:2 -> r\n    2:2:void run():3:3 -> r\n    void stop() -> s\nx.B -> b:\n")
	require.Equal(t, &Summary{Tool: "R8 8.5.35", MapID: "7A3F5C1", MapHash: "abcd", Versions: []string{"2.2"}, Lines: 11,
		Classes: 2, Methods: 2, Fields: 1}, s)
}

func TestInvalidMappings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, code, reason string }{
		{"empty", "", symbol.Malformed, "no ProGuard or R8 mapping"},
		{"text", "hello\n", symbol.Malformed, "line 1"},
		{"binary", "\x7fELF\x00\x00\n", symbol.Malformed, "line 1"},
		{"only comments", "# a\n# b\n", symbol.Malformed, "no line like"},
		{"cut off", "x.A -> a:\n    1:1:void ru", symbol.Truncated, "line 2"},
		{"no arrow", "x.A -> a:\n    void run()\n", symbol.Malformed, `no "->"`},
		{"parameters without end", "x.A -> a:\n    void run(int\n", symbol.Malformed, "cut off"},
		{"negative line", "x.A -> a:\n    -1:2:void run() -> a\n", symbol.Malformed, "line 2"},
		{"line too large", "x.A -> a:\n    1:99999999999:void run() -> a\n", symbol.Malformed, "range of lines"},
		{"half a range", "x.A -> a:\n    1:void run() -> a\n", symbol.Malformed, "range of lines"},
		{"long line", "x.A -> a:\n    void " + strings.Repeat("x", maxLine+300<<10) + "() -> a\n", symbol.TooLarge, "line 2"},
		{"many lines of a class", "x.A -> a:\n" + strings.Repeat("    1:1:void f():2:2 -> a\n", maxRows+1), symbol.TooLarge, `class "x.A"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := Index(strings.NewReader(c.text), int64(len(c.text)), io.Discard, Options{})
			var invalid *symbol.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, c.code, invalid.Code, invalid.Reason)
			require.Contains(t, invalid.Reason, c.reason)
		})
	}
	text := "x.A -> a:\n" + strings.Repeat("    int f -> a\n", 20)
	_, err := Index(strings.NewReader(text), int64(len(text)), io.Discard, Options{Lines: 20})
	require.ErrorContains(t, err, "more than 20 lines")
}

// failing fails from an offset on.
type failing struct {
	text string
	at   int64
}

var errDisk = errors.New("disk")

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.at {
		return 0, errDisk
	}
	return copy(p, f.text[at:]), nil
}

func TestIndexReportsErrorsOfItsReader(t *testing.T) {
	t.Parallel()
	text := "x.A -> a:\n" + strings.Repeat("    int f -> a\n", 50000)
	_, err := Index(failing{text, 300 << 10}, int64(len(text)), io.Discard, Options{})
	require.ErrorIs(t, err, errDisk)
}

func TestManyOverlappingRanges(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("x.A -> a:\n")
	const n = 2000
	for i := range n {
		fmt.Fprintf(&b, "    %d:%d:void f%d():%d:%d -> m\n", n-i, n+i, i%3, i, i)
	}
	b.WriteString("    void f9() -> m\n    5000:5001:void f0():7:8 -> m\n")
	m := open(t, b.String())
	x := &access{m: m}
	c, ok := x.class("a")
	require.True(t, ok)
	at, count := x.member(&c, false, "m")
	for i := range count {
		o := x.overload(at, i)
		for line := int32(0); line < 5005; line += 3 {
			want := int64(-1)
			for row := range o.count {
				if x.lines(&o, row).contains(line) {
					want = row
					break
				}
			}
			require.Equal(t, want, x.firstRow(&o, line), "overload %d, line %d", i, line)
		}
	}
	require.NoError(t, x.err)
}

func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	text := "x.A -> a:\n" + strings.Repeat("    1:1:void f():1:2147483647 -> a\n",
		5000) + strings.Repeat("    void g() -> b\n    void h() -> b\n", 9000)
	m := open(t, text)
	start := time.Now()
	all, err := m.Stack("", []Frame{{Class: "a", Method: "a", Line: 1}, {Class: "a", Method: "b"}})
	require.NoError(t, err)
	require.Less(t, time.Since(start), time.Minute)
	require.True(t, all[0].Truncated)
	require.LessOrEqual(t, len(all[0].Alternatives), maxAlternatives)
	require.LessOrEqual(t, len(all[1].Alternatives), maxAlternatives)
}

func TestBrokenIndexes(t *testing.T) {
	t.Parallel()
	p, _ := index(t, versionLine+
		"x.A -> a:\n# {\"id\":\"sourceFile\",\"fileName\":\"A.kt\"}\n    int f -> f\n    1:1:void run():2:2 -> r\n    void go() -> r\n")
	for i := range p {
		broken := bytes.Clone(p)
		broken[i] ^= 0xff
		f, err := symbol.Open(bytes.NewReader(broken), int64(len(broken)))
		if err != nil {
			continue
		}
		m, err := Open(f)
		if err != nil {
			continue
		}
		// Whatever comes out, nothing may panic or take long.
		_, _ = m.Text("a: x\n\tat a.r(S:1)\n\tat a.r(S)\n", true)
		_, _ = m.Fields("a", "f", "")
		_, _ = m.Methods("a", "r", "")
	}
}

func TestOpenRefusesOtherIndexes(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := symbol.NewWriter(&b, Kind, Version+1)
	require.NoError(t, w.Close())
	f, err := symbol.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	_, err = Open(f)
	require.ErrorContains(t, err, "version")
}

func FuzzIndex(f *testing.F) {
	f.Add("x.A -> a:\n    1:3:void add(int):40:42 -> a\n    4:4:int shop.Price.sum(int[]):7 -> a\n    int f -> b\n",
		"\tat a.a(S:2)\n\tat a.a(S)\na: x\n")
	f.Add(versionLine+"x.O -> o:\n    1:2:int out():0 -> a\n    # {'id':'com.android.tools.r8.outline'}\nx.A -> a:\n    8:8:int w():71:71 ->"+
		" m\n    9:9:int w():0:0 -> m\n    # {'id':'com.android.tools.r8.outlineCallsite','positions':{'1':8}}\n", "\tat o.a(:1)\n\tat a.m(:9)\n")
	f.Add(versionLine+"x.A -> a:\n    4:4:void x.B.d():9:9 -> m\n    4:4:void c():5 -> m\n"+
		"    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(La;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n"+
		"    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(I)V\"}\n", "a\n\tat a.m(:4)\n")
	f.Fuzz(func(t *testing.T, mapping, trace string) {
		var b bytes.Buffer
		if _, err := Index(strings.NewReader(mapping), int64(len(mapping)), &b, Options{}); err != nil {
			var invalid *symbol.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		file, err := symbol.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
		require.NoError(t, err)
		m, err := Open(file)
		require.NoError(t, err)
		_, err = m.Text(trace, true)
		require.NoError(t, err)
		_, err = m.Lines(strings.Split(trace, "\n"), false)
		require.NoError(t, err)
		_, err = m.Stack("a", []Frame{{Class: "a", Method: "a", Line: 1}, {Class: "a", Method: "m"}})
		require.NoError(t, err)
	})
}

func FuzzRetrace(f *testing.F) {
	p, _ := index(f, versionLine+
		"x.A -> a:\n# {\"id\":\"sourceFile\",\"fileName\":\"A.kt\"}\n    1:1:void x.B.run():2:9 -> r\n    1:1:void run():2 -> r\n"+
		"    void go() -> r\n")
	f.Add(p, "a: x\n\tat a.r(S:1)\n\tat a.r(S)\n")
	f.Add(p, "Caused by: a: b: c\n\tat m@1/a.<init>(:1) ~[x]\n[CIRCULAR REFERENCE:a]\n")
	f.Fuzz(func(t *testing.T, p []byte, trace string) {
		file, err := symbol.Open(bytes.NewReader(p), int64(len(p)))
		if err != nil {
			return
		}
		m, err := Open(file)
		if err != nil {
			return
		}
		_, _ = m.Text(trace, false)
		if !strings.Contains(trace, "\r") && len(trace) < 1<<10 {
			requireTextOfLines(t, m, trace)
			requireTextOfLines(t, m, strings.Repeat(trace+"\n", repeatAfter/(1+strings.Count(trace, "\n"))+4))
		}
		_, _ = m.Stack("a", []Frame{{Class: "a", Method: "r", Line: 1}, {Class: "a", Method: "r"}})
		_, _ = m.Methods("a", "r", "")
		_, _ = m.Fields("a", "r", "")
	})
}
