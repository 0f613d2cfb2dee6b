package proguard

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// index returns the index of a mapping.
func index(t testing.TB, text string) ([]byte, *Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := Index(strings.NewReader(text), int64(len(text)), &b, Options{})
	require.NoError(t, err)
	return b.Bytes(), s
}

func open(t testing.TB, text string) *Mapping {
	t.Helper()
	p, _ := index(t, text)
	f, err := symbol.Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	m, err := Open(f)
	require.NoError(t, err)
	return m
}

// ranged opens a mapping that reads its index by ranges.
func ranged(t testing.TB, text string) *Mapping {
	t.Helper()
	m := open(t, text)
	m.data.held, m.classes.held, m.sources.held = nil, nil, nil
	return m
}

const versionLine = `# {"id":"com.android.tools.r8.mapping","version":"2.2"}` + "\n"

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, mapping, in, out, verbose string }{
		{"lines are renumbered and methods inlined, innermost first",
			"shop.Cart -> a.b:\n    1:3:void add(int):40:42 -> a\n    4:4:int shop.Price.sum(int[]):7:7 -> a\n    4:4:void add(int):43 -> a\n",
			"\tat a.b.a(SourceFile:2)\n\tat a.b.a(SourceFile:4)\n",
			"\tat shop.Cart.add(Cart.java:41)\n\tat shop.Price.sum(Price.java:7)\n\tat shop.Cart.add(Cart.java:43)\n",
			"\tat shop.Cart.void add(int)(Cart.java:41)\n\tat shop.Price.int sum(int[])(Price.java:7)\n" +
				"\tat shop.Cart.void add(int)(Cart.java:43)\n"},
		{"overloads without lines are alternatives, sorted",
			"shop.Cart -> a:\n    void put(int) -> b\n    void clear() -> b\n",
			"\tat a.b(Unknown Source)\n",
			"\tat shop.Cart.clear(Cart.java)\n\t<OR> at shop.Cart.put(Cart.java)\n",
			"\tat shop.Cart.void clear()(Cart.java)\n\t<OR> at shop.Cart.void put(int)(Cart.java)\n"},
		{"a range of other length stands for each of its lines",
			"shop.Cart -> a:\n    5:5:void put(int):10:11 -> b\n", "  at a.b(:5)\n",
			"  at shop.Cart.put(Cart.java:10)\n  <OR> at shop.Cart.put(Cart.java:11)\n", ""},
		{"a range for all lines holds for a frame without any",
			"shop.Cart -> a:\n    0:65535:void put(int):10:10 -> b\n", "\tat a.b(Unknown Source)\n\tat a.b(Unknown Source:77)\n",
			"\tat shop.Cart.put(Cart.java:10)\n\tat shop.Cart.put(Cart.java:10)\n", ""},
		{"original line 0 is none", "shop.Cart -> a:\n    2:2:void put(int):0:0 -> b\n", "\tat a.b(:2)\n", "\tat shop.Cart.put(Cart.java)\n", ""},
		{"a line that no range has leaves the method", "shop.Cart -> a:\n    2:2:void put(int):9:9 -> b\n", "\tat a.b(:5)\n",
			"\tat shop.Cart.b(Cart.java:5)\n", ""},
		{"constructors", "shop.Cart -> a:\n    1:1:void <init>():5:5 -> <init>\n    2:2:void <clinit>():6:6 -> <clinit>\n",
			"\tat a.<init>(:1)\n\tat a.<clinit>(:2)\n", "\tat shop.Cart.<init>(Cart.java:5)\n\tat shop.Cart.<clinit>(Cart.java:6)\n", ""},
		{"source files of classes, also of those inlined, and of Kotlin",
			"x.Util -> b:\n# {\"id\":\"sourceFile\",\"fileName\":\"Tools.kt\"}\nx.MainKt -> a:\n    1:1:void x.Util.run():8:8 -> a\n" +
				"    1:1:void main():3 -> a\nx.Outer$Inner$1 -> c:\n",
			"\tat a.a(SourceFile:1)\n\tat c.z(SourceFile)\n\tat c.z(Native Method)\n\tat c.z(Some.kt:4)\n",
			"\tat x.Util.run(Tools.kt:8)\n\tat x.MainKt.main(Main.kt:3)\n\tat x.Outer$Inner$1.z(Outer.java)\n" +
				"\tat x.Outer$Inner$1.z(Native Method)\n\tat x.Outer$Inner$1.z(Outer.kt:4)\n", ""},
		{"frames of the compiler are left out", versionLine +
			"x.A -> a:\n    void run() -> a\n      # {\"id\":\"com.android.tools.r8.synthesized\"}\n    1:1:void x.B.body():7:7 -> b\n" +
			"    1:1:void bridge():0 -> b\n    # {'id':'com.android.tools.r8.synthesized'}\n",
			"\tat a.a(Unknown Source)\n\tat a.b(:1)\n", "\tat x.B.body(B.java:7)\n", ""},
		{"comments of a later version mean nothing",
			"x.A -> a:\n    void run() -> a\n    # {\"id\":\"com.android.tools.r8.synthesized\"}\n", "\tat a.a(X)\n", "\tat x.A.run(A.java)\n", ""},
		{"an experimental mapping has all comments",
			"# { id: 'com.android.tools.r8.mapping', version: 'experimental' }\nx.A -> a:\n    void run() -> a\n" +
				"    # {\"id\":\"com.android.tools.r8.synthesized\"}\n", "\tat a.a(X)\n", "", ""},
		{"unknown comments are ignored", versionLine +
			"x.A -> a:\n# {\"id\":\"y\",\"deep\":{\"a\":[1,{\"b\":null}]}}\n    1:1:void run():2:2 -> a\n    # {\"id\":\"z\"}\n    # {broken\n",
			"\tat a.a(:1)\n", "\tat x.A.run(A.java:2)\n", ""},
		{"under an exception inner frames are removed, only for the first frame",
			versionLine + "x.E -> e:\nx.A -> a:\n    4:4:void x.B.deref():9:9 -> m\n    4:4:void call():5 -> m\n" +
				"    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(Le;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n",
			"e: gone\n\tat a.m(:4)\n\tat a.m(:4)\njava.lang.Error\n\tat a.m(:4)\n",
			"x.E: gone\n\tat x.A.call(A.java:5)\n\tat x.B.deref(B.java:9)\n\tat x.A.call(A.java:5)\njava.lang.Error\n\tat x.B.deref(B.java:9)\n" +
				"\tat x.A.call(A.java:5)\n", ""},
		{"an outlined method is read at its call",
			versionLine + "x.Out -> o:\n    1:2:int outline():0 -> a\n    # {\"id\":\"com.android.tools.r8.outline\"}\nx.A -> a:\n" +
				"    8:8:int work(int):71:71 -> m\n    9:9:int work(int):0:0 -> m\n    # {\"id\":\"com.android.tools.r8.outlineCallsite\"," +
				"\"positions\":{\"1\":8,\"2\":7},\"outline\":\"Lo;a()I\"}\n",
			"\tat o.a(:1)\n\tat a.m(:9)\n", "\tat x.A.work(A.java:71)\n", ""},
		{"names of exceptions, whatever the line has besides",
			"x.Bad -> a.b:\n",
			"a.b\na.b: text\na.b: text: more\nCaused by: a.b\nCaused by: a.b: text\nSuppressed: a.b: text here\n" +
				"\t[CIRCULAR REFERENCE: a.b: text]\n\t[CIRCULAR REFERENCE:a.b]\nException in thread \"main\" a.b\nE/AndroidRuntime(  123): a.b: text\n",
			"x.Bad\nx.Bad: text\nx.Bad: text: more\nCaused by: x.Bad\nCaused by: x.Bad: text\nSuppressed: x.Bad: text here\n" +
				"\t[CIRCULAR REFERENCE: x.Bad: text]\n\t[CIRCULAR REFERENCE:x.Bad]\nException in thread \"main\" x.Bad\n" +
				"E/AndroidRuntime(  123): x.Bad: text\n", ""},
		{"what stands around frames stays",
			"x.A -> a.b:\n    1:1:void run():2:2 -> c\n",
			"07-12 12:00:00.000  12  34 E AndroidRuntime: \tat a.b.c(PG:1)\r\n  at app//a.b.c(X:1) ~[lib.jar:1.0]\n" +
				"\tat java.base/java.lang.Thread.run(Thread.java:8)\n\t... 7 more\nat the end\n\n",
			"07-12 12:00:00.000  12  34 E AndroidRuntime: \tat x.A.run(A.java:2)\r\n  at app//x.A.run(A.java:2) ~[lib.jar:1.0]\n" +
				"\tat java.base/java.lang.Thread.run(Thread.java:8)\n\t... 7 more\nat the end\n\n", ""},
		{"the ends of lines of Windows and of old Macs, and a byte order mark",
			"\ufeff# compiler: R8\r\nx.A -> a:\r\n    1:1:void run():2:2 -> b\r    2:2:void stop():3:3 -> c\r\n",
			"\tat a.b(:1)\n\tat a.c(:2)", "\tat x.A.run(A.java:2)\n\tat x.A.stop(A.java:3)", ""},
		{"compose sections and other odd names",
			"x.ComposableKt$$$compose -> a.a-b:\n    1:1:void Main-abc$lambda$0(int):2:2 -> ?\n", "\tat a.a-b.?(:1)\n",
			"\tat x.ComposableKt$$$compose.Main-abc$lambda$0(Composable.kt:2)\n", ""},
		{"of a class given twice the last counts", "x.A -> a:\n    void f() -> m\nx.B -> a:\n    void g() -> m\n",
			"\tat a.m(X)\n", "\tat x.B.g(B.java)\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, m := range []*Mapping{open(t, c.mapping), ranged(t, c.mapping)} {
				out, err := m.Text(c.in, false)
				require.NoError(t, err)
				require.Equal(t, c.out, out)
				if c.verbose != "" {
					out, err = m.Text(c.in, true)
					require.NoError(t, err)
					require.Equal(t, c.verbose, out)
				}
			}
		})
	}
}

func TestTextWithRepeatedLines(t *testing.T) {
	t.Parallel()
	m := open(t, versionLine+
		"x.E -> e:\nx.A -> a:\n    4:4:void x.B.deref():9:9 -> m\n    4:4:void call():5 -> m\n"+
		"    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(Le;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n"+
		"    7:7:void go():8:8 -> n\n")
	const trace, want = "e: x\n\tat a.m(:4)\n\tat a.n(:7)\n\tat z.z(Z.java:1)\n\tat a.m(:4)\n",
		"x.E: x\n\tat x.A.call(A.java:5)\n\tat x.A.go(A.java:8)\n\tat z.z(Z.java:1)\n\tat x.B.deref(B.java:9)\n\tat x.A.call(A.java:5)\n"
	out, err := m.Text(strings.Repeat(trace, 4*repeatAfter), false)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(want, 4*repeatAfter), out)
}

// requireTextOfLines requires that a text is retraced as its lines are one after another, of
// which none is looked up ahead and none is copied from one before.
func requireTextOfLines(t *testing.T, m *Mapping, text string) {
	t.Helper()
	lines, err := m.Lines(strings.Split(text, "\n"), false)
	var want []string
	for _, l := range lines {
		want = append(want, l.Text...)
	}
	out, textErr := m.Text(text+"\n", false)
	require.Equal(t, err == nil, textErr == nil)
	if err == nil && len(want) > 0 {
		require.Equal(t, strings.Join(want, "\n")+"\n", out)
	}
}

func TestTextIsThatOfItsLines(t *testing.T) {
	t.Parallel()
	m := open(t, versionLine+"x.E -> e:\nx.A -> a:\n    4:4:void x.B.deref():9:9 -> m\n    4:4:void call():5 -> m\n"+
		"    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(Le;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n"+
		"    1:2:int out():0:0 -> o\n    # {\"id\":\"com.android.tools.r8.outline\"}\n"+
		"    5:5:int caller():6:6 -> k\n    10:10:int caller():60:60 -> k\n    11:11:int caller():61:61 -> k\n"+
		"    # {\"id\":\"com.android.tools.r8.outlineCallsite\",\"positions\":{\"1\":10,\"2\":11}}\n    void one(int):1 -> q\n"+
		"    void two():2 -> q\n")
	random := rand.New(rand.NewPCG(3, 4))
	some := []string{"e: x", "f: y", "", "\tat a.m(:4)", "\tat a.o(:1)", "\tat a.o(:2)", "\tat a.k(:11)", "\tat a.k(:5)",
		"\tat a.q(S)", "\tat a.zz(S:1)",
		"\tat z.z(Z.java:1)", "[CIRCULAR REFERENCE:e]", "Caused by: e: e", "text"}
	for range 20 {
		var lines []string
		for range 4 * repeatAfter {
			if random.IntN(4) == 0 {
				lines = append(lines, fmt.Sprintf("%d %s", random.IntN(300), some[3+random.IntN(7)]))
				continue
			}
			lines = append(lines, some[random.IntN(len(some))])
		}
		requireTextOfLines(t, m, strings.Join(lines, "\n"))
	}
}

func TestStack(t *testing.T) {
	t.Parallel()
	m := open(t, versionLine+
		"x.E -> e:\nx.A -> a:\n    4:4:void x.B.deref(int,java.lang.String):9:9 -> m\n    4:4:void call():5 -> m\n"+
		"    # {\"id\":\"com.android.tools.r8.rewriteFrame\",\"conditions\":[\"throws(Le;)\"],\"actions\":[\"removeInnerFrames(1)\"]}\n"+
		"    void one() -> o\n    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(I)V\"}\n    void two(int) -> o\n"+
		"    void bridge() -> s\n    # {\"id\":\"com.android.tools.r8.synthesized\"}\n")
	inner := Frame{Class: "x.B", Method: "deref", File: "B.java", Line: 9, Result: "void", Parameters: []string{"int",
		"java.lang.String"}, Inlined: true}
	outer := Frame{Class: "x.A", Method: "call", File: "A.java", Line: 5, Result: "void"}
	all, err := m.Stack("", []Frame{{Class: "a", Method: "m", Line: 4}, {Class: "b", Method: "q", File: "Q.java", Line: 1},
		{Class: "a", Method: "none", Line: 2},
		{Class: "a", Method: "o"}, {Class: "a", Method: "o", Residual: "(I)V"}, {Class: "a", Method: "s"}})
	require.NoError(t, err)
	require.Equal(t, Retraced{ClassKnown: true, Found: true, Alternatives: [][]Frame{{inner, outer}}}, all[0])
	require.Equal(t, "void deref(int,java.lang.String)", inner.Signature())
	require.Equal(t, Retraced{Alternatives: [][]Frame{{{Class: "b", Method: "q", File: "Q.java", Line: 1}}}}, all[1])
	require.Equal(t, Retraced{ClassKnown: true, Alternatives: [][]Frame{{{Class: "x.A", Method: "none", File: "A.java", Line: 2}}}}, all[2])
	require.Len(t, all[3].Alternatives, 2)
	require.Len(t, all[5].Alternatives, 0)
	all, err = m.Stack("e", []Frame{{Class: "a", Method: "m", Line: 4}})
	require.NoError(t, err)
	require.Equal(t, [][]Frame{{outer}}, all[0].Alternatives)
	all, err = m.Stack("", []Frame{{Class: "a", Method: "s"}})
	require.NoError(t, err)
	require.Equal(t, [][]Frame{{{Class: "x.A", Method: "bridge", File: "A.java", Result: "void", Synthetic: true}}}, all[0].Alternatives,
		"a stack of nothing but the compiler's frames is shown")
}

func TestMembers(t *testing.T) {
	t.Parallel()
	m := open(t, versionLine+
		"x.A -> a:\n    x.Super field -> f\n    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"Ljava/lang/Object;\"}\n"+
		"    int count -> f\n    void foo(int,int) -> x\n    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(I)V\"}\n"+
		"    void foo(int) -> x\n    # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"()V\"}\n")
	name, known, err := m.Class("a")
	require.NoError(t, err)
	require.True(t, known)
	require.Equal(t, "x.A", name)
	_, known, err = m.Class("b")
	require.NoError(t, err)
	require.False(t, known)
	methods, err := m.Methods("a", "x", "(I)V")
	require.NoError(t, err)
	require.Equal(t, []Member{{Class: "x.A", Name: "foo", Type: "void", Parameters: []string{"int", "int"}}}, methods)
	methods, err = m.Methods("a", "x", "")
	require.NoError(t, err)
	require.Len(t, methods, 2)
	fields, err := m.Fields("a", "f", "Ljava/lang/Object;")
	require.NoError(t, err)
	require.Equal(t, []Member{{Class: "x.A", Name: "field", Type: "x.Super"}}, fields)
	fields, err = m.Fields("a", "f", "")
	require.NoError(t, err)
	require.Len(t, fields, 2)
}

func TestLines(t *testing.T) {
	t.Parallel()
	m := open(t, "x.Bad -> b:\nx.A -> a:\n    1:1:void run():2:2 -> r\n")
	lines, err := m.Lines([]string{"b: text", "\tat a.r(S:1)", "other"}, false)
	require.NoError(t, err)
	require.Equal(t, []LineKind{ExceptionLine, FrameLine, OtherLine}, []LineKind{lines[0].Kind, lines[1].Kind, lines[2].Kind})
	require.Equal(t, "x.Bad", lines[0].Retraced.Alternatives[0][0].Class)
	require.Equal(t, []string{"\tat x.A.run(A.java:2)"}, lines[1].Text)
	require.Equal(t, Frame{Class: "a", Method: "r", File: "S", Line: 1}, lines[1].Original)
	require.Equal(t, 2, lines[1].Retraced.Alternatives[0][0].Line)
}
