package sourcemap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// indexed indexes a map and opens the index.
func indexed(t testing.TB, text string) (*Map, *Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := Index(strings.NewReader(text), int64(len(text)), &b, Options{})
	require.NoError(t, err)
	return opened1(t, b.Bytes()), s
}

func opened1(t testing.TB, p []byte) *Map {
	t.Helper()
	f, err := symbol.Open(bytes.NewReader(p), int64(len(p)))
	require.NoError(t, err)
	m, err := Open(f)
	require.NoError(t, err)
	return m
}

// plainMap is a map with one source and one name and the mappings.
func plainMap(mappings string) string {
	return fmt.Sprintf(`{"version":3,"sources":["a.js"],"names":["n"],"mappings":%q}`, mappings)
}

// at says what a position is, short.
func at(t testing.TB, m *Map, line, column int) string {
	t.Helper()
	p, ok, err := m.Original(line, column)
	require.NoError(t, err)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s:%d:%d:%s", p.Source, p.Line, p.Column, p.Name)
}

func TestValidity(t *testing.T) {
	t.Parallel()
	section := func(offset, of string) string { return `{"offset":` + offset + `,"map":` + of + `}` }
	sections := func(list ...string) string { return `{"version":3,"sections":[` + strings.Join(list, ",") + `]}` }
	simple := plainMap("AAAA")
	for _, c := range []struct {
		name, text, code, reason string
	}{
		{"plain", simple, "", ""},
		{"no mappings in it", plainMap(""), "", ""},
		{"only lines", plainMap(";;;"), "", ""},
		{"one field", plainMap("A,CAAA,E"), "", ""},
		{"five fields", plainMap("AAAAA"), "", ""},
		{"largest values", plainMap("+/////DA+/////D+/////DA"), "", ""},
		{"many zero digits", plainMap("ggggggggggggggggggggggggggggggggA"), "", ""},
		{"more zero digits than a window has", plainMap("A," + strings.Repeat("g", 30_000) + "A"), "", ""},
		{"columns not in order", plainMap("EAAA,DAAA"), "", ""},
		{"no names", `{"version":3,"sources":[],"mappings":""}`, "", ""},
		{"null members", `{"version":3,"sources":[],"names":null,"file":null,"sourceRoot":null,"sourcesContent":null,"mappings":""}`, "", ""},
		{"null source", `{"version":3,"sources":[null],"sourcesContent":[null],"mappings":"AAAA"}`, "", ""},
		{"unknown member", `{"version":3,"sources":[],"mappings":"","x":{"a":[1,{"b":null}],"c":-1.5e+3},"y":true}`, "", ""},
		{"version as a float", `{"version":3.0,"sources":[],"mappings":""}`, "", ""},
		{"version with an exponent", `{"version":0.3e1,"sources":[],"mappings":""}`, "", ""},
		{"contents of the wrong type", `{"version":3,"sources":["a"],"sourcesContent":"x","mappings":""}`, "", ""},
		{"more contents than sources", `{"version":3,"sources":["a"],"sourcesContent":["x","y"],"mappings":""}`, "", ""},
		{"the last of two counts", `{"version":2,"version":3,"mappings":1,"sources":[],"mappings":""}`, "", ""},
		{"prefix", ")]}'garbage\n" + simple, "", ""},
		{"prefix on the same line", ")]}'" + simple, "", ""},
		{"byte order mark", "\ufeff" + simple, "", ""},
		{"ignore list", `{"version":3,"sources":["a"],"ignoreList":[0],"mappings":""}`, "", ""},
		{"empty index map", `{"version":3,"sections":[]}`, "", ""},
		{"sections", sections(section(`{"line":0,"column":0}`, simple), section(`{"line":0,"column":1}`, simple)), "", ""},
		{"nested index map", sections(section(`{"line":1,"column":0}`, sections(section(`{"line":0,"column":0}`, simple)))), "", ""},

		{"empty file", "", symbol.Truncated, "empty"},
		{"a list", "[]", symbol.Malformed, "not a JSON object"},
		{"no version", `{"sources":[],"mappings":""}`, symbol.Malformed, "no version"},
		{"version as a text", `{"version":"3","sources":[],"mappings":""}`, symbol.Malformed, "version"},
		{"version too high", `{"version":4,"sources":[],"mappings":""}`, symbol.Malformed, "version"},
		{"version too low", `{"version":2,"sources":[],"mappings":""}`, symbol.Malformed, "version"},
		{"version huge", `{"version":3e400,"sources":[],"mappings":""}`, symbol.Malformed, "version"},
		{"version null", `{"version":null,"sources":[],"mappings":""}`, symbol.Malformed, "version"},
		{"no sources", `{"version":3,"mappings":""}`, symbol.Malformed, "no sources"},
		{"sources null", `{"version":3,"sources":null,"mappings":""}`, symbol.Malformed, "sources"},
		{"sources as a text", `{"version":3,"sources":"a","mappings":""}`, symbol.Malformed, "sources"},
		{"sources as an object", `{"version":3,"sources":{},"mappings":""}`, symbol.Malformed, "sources"},
		{"a source that is a number", `{"version":3,"sources":[1],"mappings":""}`, symbol.Malformed, "source 0"},
		{"names as a text", `{"version":3,"sources":[],"names":"n","mappings":""}`, symbol.Malformed, "names"},
		{"names as an object", `{"version":3,"sources":[],"names":{},"mappings":""}`, symbol.Malformed, "names"},
		{"a name that is a number", `{"version":3,"sources":[],"names":["a",2],"mappings":""}`, symbol.Malformed, "name 1"},
		{"file as a number", `{"version":3,"file":1,"sources":[],"mappings":""}`, symbol.Malformed, "file"},
		{"sourceRoot as a list", `{"version":3,"sourceRoot":[],"sources":[],"mappings":""}`, symbol.Malformed, "sourceRoot"},
		{"ignore list as a number", `{"version":3,"sources":["a"],"ignoreList":0,"mappings":""}`, symbol.Malformed, "ignoreList"},
		{"ignore list of texts", `{"version":3,"sources":["a"],"ignoreList":["0"],"mappings":""}`, symbol.Malformed, "ignoreList"},
		{"ignore list of fractions", `{"version":3,"sources":["a"],"ignoreList":[0.5],"mappings":""}`, symbol.Malformed, "ignoreList"},
		{"ignore list negative", `{"version":3,"sources":["a"],"ignoreList":[-1],"mappings":""}`, symbol.Malformed, "ignoreList"},
		{"ignore list out of range", `{"version":3,"sources":["a"],"ignoreList":[1],"mappings":""}`, symbol.Malformed, "ignoreList"},
		{"no mappings", `{"version":3,"sources":[]}`, symbol.Malformed, "no mappings"},
		{"mappings as a number", `{"version":3,"sources":[],"mappings":1}`, symbol.Malformed, "mappings"},
		{"mappings as a list", `{"version":3,"sources":[],"mappings":[[]]}`, symbol.Malformed, "mappings"},
		{"not base64", plainMap("A$AA"), symbol.Malformed, "VLQ"},
		{"other separator", plainMap("AAAA.AAAA"), symbol.Malformed, "VLQ"},
		{"white space", plainMap("AAAA, AAAA"), symbol.Malformed, "VLQ"},
		{"no last digit", plainMap("AAAg"), symbol.Malformed, "VLQ"},
		{"no last digit before a separator", plainMap("AAAg,A"), symbol.Malformed, "VLQ"},
		{"no field", plainMap(",,,"), symbol.Malformed, "empty"},
		{"no field between", plainMap("AAAA,,AAAA"), symbol.Malformed, "empty"},
		{"comma at the end", plainMap("AAAA,"), symbol.Malformed, "empty"},
		{"comma at the line's end", plainMap("AAAA,;AAAA"), symbol.Malformed, "empty"},
		{"two fields", plainMap("AA"), symbol.Malformed, "2 fields"},
		{"three fields", plainMap("AAA"), symbol.Malformed, "3 fields"},
		{"six fields", plainMap("AAAAAA"), symbol.Malformed, "5 fields"},
		{"source out of range", plainMap("ACAA"), symbol.Malformed, "source 1 of 1"},
		{"name out of range", plainMap("AAAAC"), symbol.Malformed, "name 1 of 1"},
		{"negative column", plainMap("FAAA"), symbol.Malformed, "column"},
		{"negative source", plainMap("ADAA"), symbol.Malformed, "source"},
		{"negative line", plainMap("AADA"), symbol.Malformed, "original line"},
		{"negative original column", plainMap("AAAD"), symbol.Malformed, "original column"},
		{"negative name", plainMap("AAAAD"), symbol.Malformed, "name"},
		{"negative column, relative", plainMap("C,FAAA"), symbol.Malformed, "column"},
		{"negative line, relative", plainMap("AAAA,AAFA"), symbol.Malformed, "original line"},
		{"minus zero is the smallest number", plainMap("B"), symbol.Malformed, "column"},
		{"column of 33 bits", plainMap("ggggggEAAA"), symbol.Malformed, "VLQ"},
		{"line of 33 bits", plainMap("AAggggggEA"), symbol.Malformed, "VLQ"},
		{"overflow by digits", plainMap("A" + strings.Repeat("g", 40) + "BAA"), symbol.Malformed, "VLQ"},
		{"sum of 33 bits", plainMap("+/////D,CAAA"), symbol.Malformed, "column"},
		{"endless digits", plainMap(strings.Repeat("g", 600_000)), symbol.Malformed, "digits"},
		{"cut off", simple[:len(simple)-1], symbol.Truncated, "ends in the middle"},
		{"cut off in a text", simple[:len(simple)-3], symbol.Truncated, "ends in the middle"},
		{"more behind", simple + "x", symbol.Malformed, "instead of the end"},
		{"comma behind the last member", `{"version":3,}`, symbol.Malformed, "name of a member"},
		{"no comma", `{"version":3 "sources":[]}`, symbol.Malformed, "instead of"},
		{"wrong literal", `{"x":nul}`, symbol.Malformed, "nul"},
		{"wrong number", `{"x":01}`, symbol.Malformed, "01"},
		{"control character", "{\"x\":\"a\nb\"}", symbol.Malformed, "control"},
		{"wrong escape", `{"x":"\q"}`, symbol.Malformed, "escape"},
		{"too deep", `{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, symbol.TooLarge, "deep"},
		{"sections as an object", `{"version":3,"sections":{}}`, symbol.Malformed, "not a list"},
		{"section as a number", `{"version":3,"sections":[1]}`, symbol.Malformed, "section 0"},
		{"sections and mappings", `{"version":3,"sections":[],"sources":[],"mappings":""}`, symbol.Malformed, "both"},
		{"section without map", `{"version":3,"sections":[{"offset":{"line":0,"column":0}}]}`, symbol.Malformed, "no map"},
		{"section with a url", `{"version":3,"sections":[{"offset":{"line":0,"column":0},"url":"a"}]}`, symbol.Unsupported, "url"},
		{"section with a text as map", sections(section(`{"line":0,"column":0}`, `"x"`)), symbol.Malformed, "not an object"},
		{"section without offset", `{"version":3,"sections":[{"map":` + simple + `}]}`, symbol.Malformed, "no offset"},
		{"offset as a number", sections(section(`1`, simple)), symbol.Malformed, "offset"},
		{"offset without line", sections(section(`{"column":0}`, simple)), symbol.Malformed, "offset"},
		{"offset without column", sections(section(`{"line":0}`, simple)), symbol.Malformed, "offset"},
		{"offset with a text", sections(section(`{"line":"0","column":0}`, simple)), symbol.Malformed, "offset"},
		{"offset negative", sections(section(`{"line":-1,"column":0}`, simple)), symbol.Malformed, "offset"},
		{"sections at one place", sections(section(`{"line":0,"column":0}`, simple), section(`{"line":0,"column":0}`, simple)),
			symbol.Malformed, "come after"},
		{"sections not in order", sections(section(`{"line":1,"column":0}`, simple), section(`{"line":0,"column":9}`, simple)),
			symbol.Malformed, "come after"},
		{"sections that overlap", sections(section(`{"line":0,"column":0}`, plainMap("AAAA,EAAA")),
			section(`{"line":0,"column":1}`, simple)), symbol.Malformed, "behind the beginning"},
		{"sections that overlap by lines", sections(section(`{"line":0,"column":0}`, plainMap("AAAA;;AAAA")),
			section(`{"line":1,"column":0}`, simple)), symbol.Malformed, "behind the beginning"},
		{"a wrong map in a section", sections(section(`{"line":0,"column":0}`, plainMap("AA"))), symbol.Malformed, "2 fields"},
		{"endless sections", strings.Repeat(`{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":`,
			100) + simple + strings.Repeat(`}]}`, 100), symbol.TooLarge, "nest"},
		{"wrong range mappings", `{"version":3,"sources":[],"mappings":"A","rangeMappings":"g"}`, symbol.Malformed, "rangeMappings"},
		{"range mappings as a list", `{"version":3,"sources":[],"mappings":"A","rangeMappings":[]}`, symbol.Malformed, "rangeMappings"},
	} {
		var b bytes.Buffer
		_, err := Index(strings.NewReader(c.text), int64(len(c.text)), &b, Options{})
		if c.code == "" {
			require.NoError(t, err, c.name)
			opened1(t, b.Bytes())
			continue
		}
		var wrong *symbol.InvalidError
		require.True(t, errors.As(err, &wrong), "%s: %v", c.name, err)
		require.Equal(t, c.code, wrong.Code, "%s: %s", c.name, wrong.Reason)
		require.Contains(t, wrong.Reason, c.reason, c.name)
	}
}

func TestVLQ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		v    int64
		n    int
	}{
		{"A", 0, 1}, {"C", 1, 1}, {"D", -1, 1}, {"f", -15, 1}, {"gB", 16, 2}, {"hB", -16, 2}, {"iB", 17, 2}, {"V", -10, 1},
		{"B", -1 << 31, 1}, {"+/////D", 1<<31 - 1, 7}, {"//////D", -(1<<31 - 1), 7}, {"ggggggE", 0, 0}, {"hA", -1 << 31, 2},
		{"ggA", 0, 3}, {"g", 0, 0}, {"", 0, 0}, {"!", 0, 0}, {"CA", 1, 1},
	} {
		v, n := signed([]byte(c.text))
		require.Equal(t, c.n, n, c.text)
		if n > 0 {
			require.Equal(t, c.v, v, c.text)
		}
	}
}

func TestOriginal(t *testing.T) {
	t.Parallel()
	// generated 0:0 -> 0:0 n, 0:4 -> none, 0:8 -> 1:2; line 1 empty; 2:3 -> 2:0 twice
	m, s := indexed(t, plainMap("AAAAA,I,IACE;;GACF,AACA"))
	require.Equal(t, 5, s.Segments)
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{1, 1, "a.js:1:1:n"}, {1, 4, "a.js:1:1:n"}, {1, 5, "-"}, {1, 8, "-"}, {1, 9, "a.js:2:3:"}, {1, 900, "a.js:2:3:"},
		{2, 1, "-"}, {3, 3, "-"}, {3, 4, "a.js:3:1:"}, {3, 5, "a.js:4:1:"}, {4, 1, "-"}, {0, 1, "-"}, {-1, 1, "-"}, {1 << 40, 1, "-"},
	} {
		require.Equal(t, c.want, at(t, m, c.line, c.column), "%d:%d", c.line, c.column)
	}
	p, ok, err := m.Lookup(1, 6, Upper)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 2, p.Line)
	require.False(t, p.Exact)
	_, ok, err = m.Lookup(1, 10, Upper)
	require.NoError(t, err)
	require.False(t, ok)
	_, ok, err = m.Lookup(1, 2, Equal)
	require.NoError(t, err)
	require.False(t, ok)
	p, _, err = m.Lookup(3, 4, Equal)
	require.NoError(t, err)
	require.True(t, p.Exact)
}

func TestOriginalWithoutColumn(t *testing.T) {
	t.Parallel()
	m, _ := indexed(t, plainMap("AAAA,EAAE;AACA,EACA;E"))
	require.Equal(t, "a.js:1:0:", at(t, m, 1, 0))
	require.Equal(t, "-", at(t, m, 2, 0))
	require.Equal(t, "-", at(t, m, 3, 0))
	require.Equal(t, "-", at(t, m, 4, 0))
}

func TestOriginalOfUnsorted(t *testing.T) {
	t.Parallel()
	m, _ := indexed(t, plainMap("UACA,VAAA,EACA;IAAA,JAEA"))
	require.Equal(t, "a.js:2:1:", at(t, m, 1, 1))
	require.Equal(t, "a.js:3:1:", at(t, m, 1, 3))
	require.Equal(t, "a.js:2:1:", at(t, m, 1, 11))
}

func TestSections(t *testing.T) {
	t.Parallel()
	one := `{"version":3,"sourceRoot":"r","sources":["a.js"],"sourcesContent":["A"],"names":["x"],"mappings":"AAAAA,CAAC;CAAA"}`
	two := `{"version":3,"sources":["b.js","a.js"],"names":["y"],"mappings":"AAAAA;ACAA","ignoreList":[1]}`
	nested := `{"version":3,"sections":[{"offset":{"line":0,"column":2},"map":` + two + `},{"offset":{"line":2,"column":0},"map":` +
		one + `}]}`
	m, s := indexed(t, `{"version":3,"file":"f","debugId":"85314830-023F-4CF1-A267-535F4E37BB17","sections":[
		{"offset":{"line":0,"column":5},"map":`+one+`},{"offset":{"line":3,"column":10},"map":`+nested+`}]}`)
	require.Equal(t, 3, s.Sections)
	require.Equal(t, "f", s.File)
	require.Equal(t, []symbol.Identifier{{Type: symbol.ScriptID, Value: "85314830-023f-4cf1-a267-535f4e37bb17"}}, s.Identifiers())
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{1, 5, "-"}, {1, 6, "r/a.js:1:1:x"}, {1, 7, "r/a.js:1:2:"}, {2, 1, "-"}, {2, 2, "r/a.js:1:2:"},
		{4, 12, "-"}, {4, 13, "b.js:1:1:y"}, {5, 1, "a.js:1:1:"}, {6, 1, "r/a.js:1:1:x"}, {6, 2, "r/a.js:1:2:"}, {7, 2, "r/a.js:1:2:"},
	} {
		require.Equal(t, c.want, at(t, m, c.line, c.column), "%d:%d", c.line, c.column)
	}
	p, _, err := m.Original(5, 1)
	require.NoError(t, err)
	require.True(t, p.Ignored)
	require.False(t, p.Content)
	p, _, err = m.Original(1, 6)
	require.NoError(t, err)
	require.False(t, p.Ignored)
	require.True(t, p.Content)
	require.Equal(t, "a.js", p.Listed)
}

// What a section has where the next one begins is the next one's.
func TestSectionsThatTouch(t *testing.T) {
	t.Parallel()
	m, _ := indexed(t, `{"version":3,"sections":[{"offset":{"line":0,"column":0},"map":`+plainMap("AAAA,KACA")+`},
		{"offset":{"line":0,"column":5},"map":{"version":3,"sources":["b.js"],"mappings":"A,EAAA"}}]}`)
	require.Equal(t, "a.js:1:1:", at(t, m, 1, 5))
	require.Equal(t, "-", at(t, m, 1, 6))
}

func TestRangeMappings(t *testing.T) {
	t.Parallel()
	// 0:0 -> 5:2 ranged, 0:10 -> 1:0; 2:4 -> 7:1 ranged
	text := `{"version":3,"sources":["a.js"],"names":["n"],"mappings":"AAKEA,UAJF;;IAMC","rangeMappings":"A;;A"}`
	m, _ := indexed(t, text)
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{1, 1, "a.js:6:3:n"}, {1, 8, "a.js:6:10:n"}, {1, 11, "a.js:2:1:"}, {1, 20, "a.js:2:1:"}, {2, 3, "-"},
		{3, 5, "a.js:8:2:"}, {3, 9, "a.js:8:6:"}, {4, 3, "a.js:9:3:"}, {9, 1, "a.js:14:1:"},
	} {
		require.Equal(t, c.want, at(t, m, c.line, c.column), "%d:%d", c.line, c.column)
	}
	m, _ = indexed(t, `{"version":3,"sources":["a.js"],"mappings":"AAAA,UAAU,UAAU,UAAU","rangeMappings":"AC"}`)
	for column, want := range map[int]string{6: "a.js:1:6:", 16: "a.js:1:11:", 26: "a.js:1:26:", 36: "a.js:1:31:"} {
		require.Equal(t, want, at(t, m, 1, column), "%d", column)
	}
}

func TestSourcesAndNames(t *testing.T) {
	t.Parallel()
	var sources, names, mappings []string
	for n := range 100 {
		sources = append(sources, fmt.Sprintf("s%d.js", n))
		names = append(names, fmt.Sprintf("name%d é \U0001f600", n))
		field := "C"
		if n == 0 {
			field = "A"
		}
		mappings = append(mappings, "A"+field+"AA"+field)
	}
	text, err := json.Marshal(map[string]any{"version": 3, "sources": sources, "names": names,
		"mappings": strings.Join(mappings, ";"), "sourceRoot": "/root/"})
	require.NoError(t, err)
	m, _ := indexed(t, string(text))
	for n := range 100 {
		p, ok, err := m.Original(n+1, 1)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "/root/"+sources[n], p.Source)
		require.Equal(t, sources[n], p.Listed)
		require.Equal(t, names[n], p.Name)
		s, ok, err := m.names.get(n)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, names[n], s)
	}
	n, err := m.FindSource("/root/s42.js")
	require.NoError(t, err)
	require.Equal(t, 42, n)
}

func TestTexts(t *testing.T) {
	t.Parallel()
	m, _ := indexed(t, `{"version":3,"sources":["\u0061\ud83d\ude00.js","\ud83d","\ude00x","`+"\xff"+
		`","\ud83dy","a\/b\\\"\t"],"mappings":""}`)
	for n, want := range []string{"a\U0001f600.js", "\ufffd", "\ufffdx", "\ufffd", "\ufffdy", "a/b\\\"\t"} {
		p, err := m.Source(n)
		require.NoError(t, err)
		require.Equal(t, want, p.Listed)
	}
	m, _ = indexed(t, `{"version":3,"sources":["a.js"],"mappings":"\u0041AAA\u002cC\u0041AC"}`)
	require.Equal(t, "a.js:1:2:", at(t, m, 1, 2))
}
