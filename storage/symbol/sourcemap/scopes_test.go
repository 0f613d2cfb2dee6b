package sourcemap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// vlq writes unsigned numbers; sign writes one with a sign.
func vlq(list ...uint64) string {
	var b strings.Builder
	for _, v := range list {
		for v >= 32 {
			b.WriteByte(base64Digits[32+v%32])
			v /= 32
		}
		b.WriteByte(base64Digits[v])
	}
	return b.String()
}

func sign(v int64) string {
	if v < 0 {
		return vlq(uint64(-v)<<1 | 1)
	}
	return vlq(uint64(v) << 1)
}

// scopedMap is of a source with function outer around function inner; the generated file has
// outer, into which inner is inlined twice, one in the other, and code of no function behind
// it.
func scopedMap(t testing.TB, scopes string, mappings string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"version": 3, "sources": []string{"a.js", "b.js"},
		"names":    []string{"outer", "inner", "Function", "x"},
		"mappings": mappings, "scopes": scopes})
	require.NoError(t, err)
	return string(text)
}

func scopesOfTest() string {
	return strings.Join([]string{
		"",                 // a.js has none
		"B" + vlq(0, 0, 0), // b.js
		"B" + vlq(1|2|4, 1, 5) + sign(0) + sign(2), // outer, function
		"D" + sign(3),                    // a variable
		"B" + vlq(0, 1, 2),               // a block in it
		"C" + vlq(2, 3),                  // ends 4:3
		"C" + vlq(1, 1),                  // outer ends 5:1
		"B" + vlq(1|4, 1, 0) + sign(1),   // inner from 6:0
		"C" + vlq(3, 1),                  // to 9:1
		"B" + vlq(4, 1, 0),               // a function without a name from 10:0
		"C" + vlq(1, 1),                  // to 11:1
		"C" + vlq(9, 0),                  // the end
		"E" + vlq(2, 0) + sign(0),        // generated 0:0, of b.js
		"E" + vlq(2|4, 10) + sign(1),     // 0:10, outer
		"E" + vlq(2, 10) + sign(2),       // 0:20, inlined inner: definition 3
		"I" + vlq(1, 2, 4),               // called at 2:4
		"E" + vlq(2, 5) + sign(0),        // 0:25, inlined in it
		"I" + vlq(1, 7, 2),               // called at 7:2
		"F" + vlq(5),                     // ends 0:30
		"F" + vlq(5),                     // ends 0:35
		"F" + vlq(5),                     // outer ends 0:40
		"E" + vlq(2|4|8, 10) + sign(-1),  // 0:50, a block made a function: definition 2
		"G" + vlq(1),                     // bindings
		"F" + vlq(10),                    // 0:60
		"E" + vlq(1|2|4, 1, 0) + sign(2), // 1:0, the function without name
		"F" + vlq(1, 5),                  // 2:5
		"F" + vlq(1, 0),                  // the end 3:0
		vlq(40, 1, 2, 3),                 // of a later version
	}, ",")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	// every 5 columns of line 0 of the generated file -> b.js 8:3
	m, s := indexed(t, scopedMap(t, scopesOfTest(), "ACQG"+strings.Repeat(",KAAA", 20)+";AAAA"))
	require.True(t, s.Scopes)
	require.Empty(t, s.Warnings)
	for _, c := range []struct {
		line, column int
		want         string
	}{
		{1, 3, "|"},
		{1, 12, "outer:9:4"},
		{1, 22, "inner+:9:4 outer:3:5"},
		{1, 27, "inner+:9:4 inner+:8:3 outer:3:5"},
		{1, 37, "outer:9:4"},
		{1, 55, "outer*:9:4"},
		{2, 3, "<anonymous>:9:4"},
	} {
		frames, err := m.Frames(c.line, c.column, Call{})
		require.NoError(t, err)
		var got []string
		for _, f := range frames {
			mark := ""
			if f.Inlined {
				mark = "+"
			}
			if f.Hidden {
				mark = "*"
			}
			require.Equal(t, "b.js", f.Source)
			got = append(got, fmt.Sprintf("%s%s:%d:%d", f.Function, mark, f.Line, f.Column))
			if f.Function != "" {
				require.Equal(t, FromScopes, f.Method)
			}
		}
		if strings.HasPrefix(c.want, "|") {
			require.Equal(t, ":9:4", strings.Join(got, " "), "%d:%d", c.line, c.column)
			require.Equal(t, None, frames[0].Method)
			continue
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%d:%d", c.line, c.column)
	}
}

// Without ranges, the scopes of the sources tell the function.
func TestOriginalScopes(t *testing.T) {
	t.Parallel()
	all := scopesOfTest()
	scopes := all[:strings.Index(all, ",E")]
	// generated columns 0, 2, ... -> b.js lines 0 to 11 at column 3, and a.js
	m, s := indexed(t, scopedMap(t, scopes, "ACAG"+strings.Repeat(",EACA", 11)+",EDAA"))
	require.True(t, s.Scopes)
	for line, want := range []string{"", "", "outer", "outer", "outer", "", "inner", "inner", "inner", "", "<anonymous>", "", ""} {
		frames, err := m.Frames(1, 2*line+1, Call{Name: "called", Exact: true})
		require.NoError(t, err)
		require.Len(t, frames, 1)
		if line == 12 { // a.js has no scopes
			want = "called"
		}
		require.Equal(t, want, frames[0].Function, "line %d", line)
	}
}

// Wrong scopes are left out; the map stays.
func TestWrongScopes(t *testing.T) {
	t.Parallel()
	for _, scopes := range []string{
		"B", "BAAA", "C", "CAA", "F", "FA", "BAAA,CAA,CAA", "BEAA" + strings.Repeat(",BAAA", 5000), "EAA", "IAAA", "BBAA" + sign(9) + ",CAA",
		",,,BAAA,CAA", "ECA" + sign(5) + ",FA", "!", "BgAAA,CAA,g", "B" + vlq(0, 1<<31, 0) + ",C" + vlq(1<<31, 0),
	} {
		m, s := indexed(t, scopedMap(t, scopes, "ACAA"))
		require.Len(t, s.Warnings, 1, scopes)
		require.Contains(t, s.Warnings[0], "scopes", scopes)
		require.False(t, s.Scopes)
		require.Equal(t, "b.js:1:1:", at(t, m, 1, 1))
	}
}

func TestFunctionMap(t *testing.T) {
	t.Parallel()
	text := `{"version":3,"sources":["a.js","b.js"],"names":["n"],"mappings":"AAAAA;AAKE;AACA;AAAA;ACAA",
		"x_facebook_sources":[[{"names":["<global>","Shop#buy","<anonymous>"],"mappings":"AAA;ECE,GCA"}],null]}`
	m, _ := indexed(t, text)
	list, err := readFunctionMap(func() []byte {
		fm := functionMap{names: []string{"<global>", "f", "g"}}
		require.True(t, fm.decode([]byte("AAA;ECE,GCA")))
		return fm.append(nil)
	}())
	require.NoError(t, err)
	require.True(t, list.Find(javascript.Place{Line: 0, Column: 5}).Unknown)
	require.Equal(t, "f", list.Find(javascript.Place{Line: 2, Column: 3}).Name)
	require.Equal(t, "g", list.Find(javascript.Place{Line: 2, Column: 9}).Name)
	require.Equal(t, "g", list.Find(javascript.Place{Line: 90, Column: 0}).Name)
	frames, err := m.Frames(1, 1, Call{Name: "x", Exact: true})
	require.NoError(t, err)
	require.Equal(t, None, frames[0].Method)
	frames, err = m.Frames(2, 1, Call{})
	require.NoError(t, err)
	require.Equal(t, javascript.Anonymous, frames[0].Function)
	require.Equal(t, FromFunctionMap, frames[0].Method)
	frames, err = m.Frames(5, 1, Call{Name: "x", Exact: true})
	require.NoError(t, err)
	require.Equal(t, FromNames, frames[0].Method)
	for _, wrong := range []string{"AAAA", "A", "DAA", "AEA,DDA", "!", ""} {
		fm := functionMap{names: []string{"a"}}
		ok := fm.decode([]byte(wrong))
		require.Equal(t, wrong == "A", ok, wrong)
	}
}
