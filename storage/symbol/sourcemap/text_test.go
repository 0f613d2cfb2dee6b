package sourcemap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// withContent is a map with the text of one source.
func withContent(t testing.TB, name, content, mappings string) *Map {
	t.Helper()
	text, err := json.Marshal(map[string]any{"version": 3, "sources": []string{name}, "sourcesContent": []string{content},
		"mappings": mappings})
	require.NoError(t, err)
	m, _ := indexed(t, string(text))
	return m
}

func script(t testing.TB, name, text string) (*Script, *ScriptSummary) {
	t.Helper()
	var b bytes.Buffer
	s, err := IndexScript(strings.NewReader(text), int64(len(text)), &b, Options{URL: name})
	require.NoError(t, err)
	f, err := symbol.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	x, err := OpenScript(f)
	require.NoError(t, err)
	return x, s
}

// join writes an excerpt short.
func join(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%d:%s|", l.Number, l.Text)
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	m := withContent(t, "a.js", "one\r\ntwo\rthree\n\u2028five\u2029six", "")
	for _, c := range []struct {
		line, around int
		want         string
	}{
		{1, 0, "1:one|"}, {1, 1, "1:one|2:two|"}, {3, 1, "2:two|3:three|4:|"}, {6, 1, "5:five|6:six|"},
		{6, 100, "1:one|2:two|3:three|4:|5:five|6:six|"},
		{7, 3, ""}, {0, 3, ""}, {-1, 3, ""}, {2, -5, "2:two|"},
	} {
		lines, err := m.Excerpt(0, c.line, c.around)
		require.NoError(t, err)
		require.Equal(t, c.want, join(lines), "%d, %d", c.line, c.around)
	}
	for _, n := range []int{-1, 1} {
		lines, err := m.Excerpt(n, 1, 1)
		require.NoError(t, err)
		require.Empty(t, lines)
	}
	m, _ = indexed(t, plainMap(""))
	lines, err := m.Excerpt(0, 1, 1)
	require.NoError(t, err)
	require.Empty(t, lines)
}

// A text of many pieces has every line, and lines that are longer than pieces are cut.
func TestExcerptOfLongText(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for n := 1; b.Len() < 5*pieceText; n++ {
		end := []string{"\n", "\r\n", "\u2028"}[n%3]
		fmt.Fprintf(&b, "line %d é\U0001f600%s", n, end)
	}
	lines := strings.FieldsFunc(strings.ReplaceAll(b.String(), "\r\n", "\n"), func(r rune) bool { return r == '\n' || r == '\u2028' })
	m := withContent(t, "a.js", b.String(), "")
	for n := 1; n <= len(lines); n += 97 {
		got, err := m.Excerpt(0, n, 0)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d:%s|", n, lines[n-1]), join(got))
	}
	text, ok, err := m.Content(0)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, b.String(), text)

	m = withContent(t, "a.js", "a\n"+strings.Repeat("é", 3*pieceText)+"\nz", "")
	got, err := m.Excerpt(0, 2, 1)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, strings.Repeat("é", maxLine/2), got[1].Text)
	require.True(t, got[1].Cut)
	require.Equal(t, "z", got[2].Text)
	require.Equal(t, 3, got[2].Number)
}

func TestScript(t *testing.T) {
	t.Parallel()
	s, _ := script(t, "a.min.js",
		"function a(){b()}\nvar c=()=>{d()}\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n//# sourceMappingURL=a.min.js.map\n")
	require.Equal(t, "a.min.js.map", s.SourceMappingURL())
	require.Equal(t, "85314830-023f-4cf1-a267-535f4e37bb17", s.DebugID())
	name, ok, err := s.Function(1, 14)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "a", name)
	_, ok, err = s.Function(2, 2)
	require.NoError(t, err)
	require.False(t, ok)
	lines, err := s.Excerpt(2, 1)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	require.Equal(t, "var c=()=>{d()}", lines[1].Text)
	_, err = IndexScript(strings.NewReader("a\x00b"), 3, &bytes.Buffer{}, Options{})
	var wrong *symbol.InvalidError
	require.ErrorAs(t, err, &wrong)
}

func TestComments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n//# sourceMappingURL=x.map":                       "x.map",
		"a\n//@ sourceMappingURL=x.map \t":                    "x.map",
		"a /*# sourceMappingURL=x.map */":                     "x.map",
		"a\n//#sourceMappingURL=x.map\n\n  \n":                "x.map",
		"//# sourceMappingURL=x.map\n//# sourceMappingURL=y":  "y",
		"//# sourceMappingURL=x.map\na":                       "",
		"//# sourceMappingURL=x.map\n// more":                 "x.map",
		"//# sourceMappingURL=x.map\n/* more */ /* and */":    "x.map",
		"//# sourceMappingURL=x y":                            "",
		"// # sourceMappingURL=x":                             "",
		"a(\"//# sourceMappingURL=x\")":                       "",
		"//# sourceMappingURL=x\r//# debugId=1\u2028":         "x",
		"a/b//# sourceMappingURL=x":                           "x",
		"//# sourceMappingURL=x\n/":                           "",
		"//# sourceMappingURL=x\na/2":                         "",
		"/*# sourceMappingURL=x":                              "",
		"//# sourceMappingURL=https://e.com/a.map?b=c&d=e#fg": "https://e.com/a.map?b=c&d=e#fg",
		"": "",
	} {
		require.Equal(t, want, comments([]byte(text)).SourceMappingURL, text)
	}
	s := comments([]byte("//# sourceURL=a.js\n//# debugId=abc"))
	require.Equal(t, "a.js", s.SourceURL)
	require.Equal(t, "abc", s.DebugID)
}

func TestInlineMap(t *testing.T) {
	t.Parallel()
	for _, u := range []string{
		"data:application/json;charset=utf-8;base64,eyJ2ZXJzaW9uIjozfQ==", "data:application/json;base64,eyJ2ZXJzaW9uIjozfQ",
		"data:application/json,%7B%22version%22%3A3%7D", "data:,%7b%22version%22:3%7d",
	} {
		_, s := script(t, "a.js", "a\n//# sourceMappingURL="+u)
		require.Equal(t, `{"version":3}`, string(s.InlineMap), u)
		require.Empty(t, s.SourceMappingURL)
	}
	_, s := script(t, "a.js", "a\n//# sourceMappingURL=data:x;base64,!")
	require.Nil(t, s.InlineMap)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, root, source, want string }{
		{"", "", "a.js", "a.js"}, {"", "r", "a.js", "r/a.js"}, {"", "r/", "a.js", "r/a.js"}, {"", "/r", "a.js", "/r/a.js"},
		{"", "r", "../a.js", "a.js"}, {"", "", "../a.js", "../a.js"}, {"", "", "./a.js", "a.js"}, {"", "r", "/a.js", "/a.js"},
		{"", "r", "https://e.com/a.js", "https://e.com/a.js"}, {"", "https://e.com/r", "a.js", "https://e.com/r/a.js"},
		{"", "https://e.com/r", "../b/./a.js", "https://e.com/b/a.js"}, {"", "", "webpack:///./src/a.js", "webpack:///src/a.js"},
		{"", "webpack:///", "./src/a.js", "webpack:///src/a.js"}, {"https://e.com/js/a.js.map", "", "../src/a b.js", "https://e.com/src/a b.js"},
		{"https://e.com/js/a.js.map", "r", "a.js", "https://e.com/js/r/a.js"}, {"https://e.com/js/a.js.map", "",
			"webpack://x/./a.js", "webpack://x/a.js"},
		{"dist/a.js.map", "", "../src/a.js", "src/a.js"}, {"", "", "C:/x/a.js", "C:/x/a.js"}, {"data:application/json,{}", "", "a.js", "a.js"},
	} {
		require.Equal(t, c.want, Resolve(c.url, c.root, c.source), "%+v", c)
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	for script, want := range map[string][]string{
		"https://e.com/js/a.js?v=1#x": {"https://e.com/js/a.js?v=1#x", "https://e.com/js/a.js", "~/js/a.js?v=1#x",
			"~/js/a.js", "/js/a.js", "js/a.js", "a.js"},
		"app:///a.js":           {"app:///a.js", "~/a.js", "/a.js", "a.js"},
		"file:///C:/x/a.js":     {"file:///C:/x/a.js", "~/x/a.js", "/x/a.js", "x/a.js", "a.js"},
		`C:\x\a.js`:             {`C:\x\a.js`, "~/x/a.js", "/x/a.js", "x/a.js", "a.js"},
		"webpack:///./src/a.js": {"webpack:///./src/a.js", "~/src/a.js", "/src/a.js", "src/a.js", "a.js"},
		"/usr/app/a.js":         {"/usr/app/a.js", "~/usr/app/a.js", "usr/app/a.js", "a.js"},
		"//e.com/a.js":          {"//e.com/a.js", "~/a.js", "/a.js", "a.js"},
		"~/a.js":                {"~/a.js", "/a.js", "a.js"},
		"":                      nil, "<anonymous>": nil, "data:text/javascript,a": nil, "node:internal/a": nil, "native": nil,
	} {
		require.Equal(t, want, Candidates(script), script)
	}
	require.Equal(t, []string{"https://e.com/maps/a.map", "~/maps/a.map", "/maps/a.map", "maps/a.map", "a.map",
		"../maps/a.map", "~/../maps/a.map", "/../maps/a.map",
		"https://e.com/js/a.js.map", "~/js/a.js.map", "/js/a.js.map", "js/a.js.map", "a.js.map"},
		MapCandidates("https://e.com/js/a.js", "../maps/a.map"))
	require.Equal(t, "https://e.com/js/a.js.map?x", MapCandidates("https://e.com/js/a.js?x", "")[0][:27])
}

func TestResolveMap(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"https://e.com/js/a.js?x", "a.js.map", "https://e.com/js/a.js.map"}, {"https://e.com/js/a.js", "/m/a.map", "https://e.com/m/a.map"},
		{"https://e.com/js/a.js", "//f.com/a.map", "https://f.com/a.map"}, {"https://e.com/a.js", "https://f.com/a.map", "https://f.com/a.map"},
		{"~/js/a.js", "../a.map", "~/a.map"}, {"js/a.js", "a.map", "js/a.map"}, {"/js/a.js", "../a.map", "/a.map"},
		{"js/a.js", "/a.map", "/a.map"},
	} {
		require.Equal(t, c[2], ResolveMap(c[0], c[1]), "%v", c)
	}
}
