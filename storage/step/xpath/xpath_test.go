package xpath_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/xpath"
)

// table is what a Chromium accepts and refuses; package replay compares it with one.
type table struct {
	Valid    []string `json:"valid"`
	Invalid  []string `json:"invalid"`
	Stricter []string `json:"stricter"` // accepted by Chromium, refused by Check
}

func readTable(t testing.TB) table {
	t.Helper()
	text, err := os.ReadFile("testdata/expressions.json")
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
	for _, text := range all.Valid {
		require.Nil(t, xpath.Check(text), text)
	}
	for _, list := range [][]string{all.Invalid, all.Stricter} {
		for _, text := range list {
			require.NotNil(t, xpath.Check(text), text)
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
		{"", 1, "empty"}, {" ", 2, "empty"}, {"//a[", 5, "ends too early"}, {"//a[1", 4, "[ is not closed"}, {"(//a", 1, "( is not closed"},
		{"//a[@b='c]", 8, "not closed"}, {"//a[ends-with(@b,'c')]", 5, "substring(a, string-length(a)"},
		{"//a[matches(@b,'c')]", 5, "contains()"},
		{"//a[foo()]", 5, "no function foo() in XPath 1.0"}, {"//a[contains(@b)]", 5, "needs two arguments"},
		{"//a[contains(@b,'c','d')]", 21, "no more than two arguments"}, {"//a[last(1)]", 10, "no argument"},
		{"//a/contains('x')", 5, "step of a path"},
		{"//svg:path", 3, "local-name()"}, {"//a/foo::b", 5, "no axis foo::"}, {"count(//a)", 1, "finds a number"}, {"'a'", 1, "finds a text"},
		{"//a = //b", 1, "finds true or false"}, {"//a | 1", 7, "| needs nodes"}, {"//a[count(1)]", 11, "count() needs nodes"},
		{"(1)/a", 1, "/ needs nodes"},
		{"//é[$x]", 5, "variables"}, {"//a || //b", 5, "concat()"}, {"//a[@b==c]", 8, "use ="}, {"//a[b && c]", 7, "use and"},
		{"#a", 1, "type is css"},
		{"//a[]", 5, "']'"}, {"//a]", 4, "']'"}, {"//a[@b='c' @d]", 12, "'@'"}, {"//", 3, "too early"},
		{"//a" + strings.Repeat("[b", 40), 68, "32 brackets"},
		{"//a[" + strings.Repeat("x", 100) + "()]", 5, strings.Repeat("x", 40) + "..."},
	} {
		err := xpath.Check(c.text)
		require.NotNil(t, err, c.text)
		require.Equal(t, c.at, err.Position, "%s: %s", c.text, err)
		require.Contains(t, err.Msg, c.msg, c.text)
	}
}

// checkRead checks that an expression that is wrong up to a byte is wrong with whatever
// follows.
func checkRead(t *testing.T, text string, err *xpath.Error) {
	t.Helper()
	if err.Read > len(text) || !utf8.ValidString(text[:err.Read]) {
		return
	}
	for _, rest := range []string{"", "a", " b", "]", ")", "'", "()", "1", "="} {
		if xpath.Check(text[:err.Read]+rest) == nil {
			t.Fatalf("%q: %s, but %q is right", text, err, text[:err.Read]+rest)
		}
	}
}

func TestErrorsAreCertain(t *testing.T) {
	t.Parallel()
	all := readTable(t)
	for _, text := range append(all.Invalid, all.Stricter...) {
		checkRead(t, text, xpath.Check(text))
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
		err := xpath.Check(text)
		if err == nil {
			for _, same := range []string{" " + text + " ", text + "|" + text, "(" + text + ")[1]", "//a[" + text + "]"} {
				if err := xpath.Check(same); err != nil && !strings.Contains(err.Msg, "32 brackets") {
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
