package css_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/css"
)

// table is what a Chromium accepts and refuses; package replay compares it with one.
type table struct {
	Valid     []string `json:"valid"`
	Invalid   []string `json:"invalid"`
	Stricter  []string `json:"stricter"`  // accepted by Chromium, refused by Check
	Elsewhere []string `json:"elsewhere"` // the other way: names of other browsers
}

func readTable(t testing.TB) table {
	t.Helper()
	text, err := os.ReadFile("testdata/selectors.json")
	require.NoError(t, err)
	var all table
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

func TestAsTheTable(t *testing.T) {
	t.Parallel()
	all := readTable(t)
	require.Greater(t, len(all.Valid), 200)
	require.Greater(t, len(all.Invalid), 150)
	for _, list := range [][]string{all.Valid, all.Elsewhere} {
		for _, text := range list {
			require.Nil(t, css.Check(text), text)
		}
	}
	for _, list := range [][]string{all.Invalid, all.Stricter} {
		for _, text := range list {
			require.NotNil(t, css.Check(text), text)
		}
	}
}

func TestErrorsNameTheirPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		at   int
		msg  string
	}{
		{"", 1, "empty"}, {"  ", 3, "empty"}, {"a,", 3, "missing"}, {"a >", 4, "missing"}, {"> a", 1, "cannot begin with >"},
		{"é é:contains('x')", 4, ":contains: hasText"}, {"a:visible", 2, "matchers visible"}, {"li:eq(0)", 3, "index"},
		{"input:checkbox", 6, "[type=checkbox]"}, {"a:has-text('x')", 2, "hasText"}, {"a:foo", 2, "no pseudo-class :foo"},
		{"a::foo", 2, "no pseudo-element ::foo"}, {"a:not", 2, "brackets"}, {"a:hover(b)", 8, "no brackets"},
		{"a >> b", 4, "within"}, {"a >>> b", 4, "shadow roots"}, {"a /deep/ b", 3, "shadow roots"}, {"//a", 1, "type is xpath"},
		{"text=Hello", 5, "the type text"}, {"a[@b]", 3, "XPath"}, {"a[b!='c']", 4, ":not("}, {"a[b=5]", 5, "quotes"},
		{"#1a", 2, `\31 and a space`}, {".-1", 2, "digit"}, {"a[b", 2, "[ is not closed"}, {"a:not(b", 6, "( is not closed"},
		{"a[b='c]", 5, "not closed"}, {"a/*", 2, "comment"}, {"a[b='c' s]", 9, "flag i"}, {"svg|path", 4, "namespaces"},
		{"a:nth-child(2x)", 14, "2n+1"}, {".a b..c", 6, "'.'"}, {"a::before b", 11, "pseudo-element"},
		{strings.Repeat(":not(", 40) + "a" + strings.Repeat(")", 40), 165, "32 brackets"},
		{":" + strings.Repeat("x", 100), 1, strings.Repeat("x", 40) + "..."},
	} {
		err := css.Check(c.text)
		require.NotNil(t, err, c.text)
		require.Equal(t, c.at, err.Position, "%s: %s", c.text, err)
		require.Contains(t, err.Msg, c.msg, c.text)
	}
}

// checkRead checks that a selector that is wrong up to a byte is wrong with whatever follows.
func checkRead(t *testing.T, text string, err *css.Error) {
	t.Helper()
	if err.Read > len(text) || !utf8.ValidString(text[:err.Read]) {
		return
	}
	for _, rest := range []string{"", "a", " b", "]", ")", "'", "*/", "1", "="} {
		if css.Check(text[:err.Read]+rest) == nil {
			t.Fatalf("%q: %s, but %q is right", text, err, text[:err.Read]+rest)
		}
	}
}

func TestErrorsAreCertain(t *testing.T) {
	t.Parallel()
	all := readTable(t)
	for _, text := range append(all.Invalid, all.Stricter...) {
		checkRead(t, text, css.Check(text))
	}
}

func FuzzCheck(f *testing.F) {
	all := readTable(f)
	for _, list := range [][]string{all.Valid, all.Invalid, all.Stricter} {
		for _, text := range list {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		err := css.Check(text)
		if err == nil {
			for _, same := range []string{" " + text + " ", text + "," + text, "/**/" + text, text + "/**/"} {
				if err := css.Check(same); err != nil {
					t.Fatalf("%q is right, %q is not: %s", text, same, err)
				}
			}
			return
		}
		if err.Msg == "" || err.Position < 1 || err.Position > utf8.RuneCountInString(text)+1 || err.Read < 1 || err.Read > len(text)+3 {
			t.Fatalf("%q: %+v", text, err)
		}
		checkRead(t, text, err)
	})
}
