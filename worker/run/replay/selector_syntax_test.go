package replay_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	csssyntax "github.com/slipway-qa/slipway/storage/step/css"
	xpathsyntax "github.com/slipway-qa/slipway/storage/step/xpath"
)

// syntaxTable are selectors that a browser accepts and refuses. Stricter ones it accepts
// though nobody can mean them; Elsewhere are names of other browsers.
type syntaxTable struct{ Valid, Invalid, Stricter, Elsewhere []string }

func readSyntaxTable(t *testing.T, file string) (all syntaxTable) {
	t.Helper()
	text, err := os.ReadFile("../../../storage/step/" + file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

const (
	acceptsCSS   = `return arguments[0].map((v) => { try { document.querySelectorAll(v); return true; } catch { return false; } });`
	acceptsXPath = `return arguments[0].map((v) => { try {
		document.evaluate(v, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null); return true; } catch { return false; } });`
)

// accepted returns which selectors the browser takes.
func accepted(t *testing.T, script string, selectors []string) []bool {
	t.Helper()
	l := lease()
	defer release(l, false)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	require.NoError(t, l.Session.Navigate(ctx, site(t, map[string]string{"/": "<p>x"})))
	var all []bool
	require.NoError(t, l.Session.Execute(ctx, script, &all, selectors))
	require.Len(t, all, len(selectors))
	return all
}

func compareTable(t *testing.T, file, script string) {
	t.Helper()
	table := readSyntaxTable(t, file)
	for _, c := range []struct {
		list []string
		want bool
	}{{table.Valid, true}, {table.Stricter, true}, {table.Invalid, false}} {
		for i, got := range accepted(t, script, c.list) {
			require.Equal(t, c.want, got, "%q", c.list[i])
		}
	}
}

// What is checked when a case is stored is what a browser would say.
func TestSyntaxOfCSS(t *testing.T) { compareTable(t, "css/testdata/selectors.json", acceptsCSS) }

func TestSyntaxOfXPath(t *testing.T) {
	compareTable(t, "xpath/testdata/expressions.json", acceptsXPath)
}

const randomSelectors = 20_000

// assemble makes texts of up to eight parts.
func assemble(g *rand.Rand, parts []string) []string {
	all := make([]string, randomSelectors)
	for i := range all {
		var text strings.Builder
		for range 1 + g.IntN(8) {
			text.WriteString(parts[g.IntN(len(parts))])
		}
		all[i] = text.String()
	}
	return all
}

// verdicts compares all random selectors, except those that stricter says Check
// refuses on purpose. It requires that many of both kinds are there.
func verdicts(t *testing.T, all []string, script string, check func(string) error, stricter func(text, message string) bool) {
	t.Helper()
	valid, invalid := 0, 0
	for i, got := range accepted(t, script, all) {
		err := check(all[i])
		switch {
		case got && err == nil:
			valid++
		case !got && err != nil:
			invalid++
		case got && stricter(all[i], err.Error()):
		default:
			t.Errorf("%q: the browser accepts it: %v, the check: %v", all[i], got, err)
		}
	}
	t.Logf("%d valid, %d invalid", valid, invalid)
	require.Greater(t, valid, randomSelectors/40)
	require.Greater(t, invalid, randomSelectors/4)
}

func TestRandomCSS(t *testing.T) {
	parts := []string{"a", "b", ".c", "#d", "*", " ", " ", ">", " + ", "~", ",", ":hover", ":is(", ":not(", ":has(",
		":nth-child(", "2n+1", "odd", " of ",
		")", ")", "[", "]", "[e]", "[e=f]", "[e='g' i]", "[e~=\"h\"]", "=", "'", "\\31 ", "\\", "-", "1", "|", "*|",
		"&", "/**/", "/*", "@", "::before", ":first-child", "é", ":host(", "x-y"}
	all := assemble(rand.New(rand.NewPCG(1, 2)), parts)
	verdicts(t, all, acceptsCSS, func(text string) error {
		if err := csssyntax.Check(text); err != nil {
			return err
		}
		return nil
	}, func(text, message string) bool {
		return strings.Contains(message, "not closed") || strings.HasSuffix(text, `\`) || strings.Contains(text, ":is(") ||
			strings.Contains(text, "/*") || strings.Contains(message, "pseudo-element")
	})
}

func TestRandomXPath(t *testing.T) {
	parts := []string{"/", "//", "//", "a", "b", "@c", "*", ".", "..", "[", "]", "[1]", "[d]", "(", ")", "'e'", "\"f\"",
		"1", "2.5", " and ", " or ", " = ", " != ", " < ", "+", "-",
		" div ", " mod ", "|", " ", "text()", "node()", "contains(", "not(", "count(", "position()", "last()", ",",
		"child::", "ancestor::", "foo::", "x:", "é", "id('a')", "concat("}
	all := assemble(rand.New(rand.NewPCG(3, 4)), parts)
	verdicts(t, all, acceptsXPath, func(text string) error {
		if err := xpathsyntax.Check(text); err != nil {
			return err
		}
		return nil
	}, func(_, message string) bool { return strings.Contains(message, "nodes") })
}

// What passes the check is taken by the engine of the page, which divides CSS itself
// where it leads through shadow roots.
func TestEngineTakesWhatIsValid(t *testing.T) {
	var selectors []step.Selector
	for _, text := range readSyntaxTable(t, "css/testdata/selectors.json").Valid {
		selectors = append(selectors, step.Selector{Type: step.CSS, Value: text})
	}
	for _, text := range readSyntaxTable(t, "xpath/testdata/expressions.json").Valid {
		selectors = append(selectors, step.Selector{Type: step.XPath, Value: text})
	}
	l := lease()
	defer release(l, false)
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	require.NoError(t, l.Session.Navigate(ctx,
		site(t, map[string]string{"/": "<a>x</a><div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<a>y</a>'</script>"})))
	for i, got := range evaluate(ctx, t, l.Session, selectors) {
		if got.Error != "" {
			t.Errorf("%s %q: %s", selectors[i].Type, selectors[i].Value, got.Error)
		}
	}
}
