package frame

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of mark has a shape of its own, so that colour is not needed; texts are text.
func TestStrip(t *testing.T) {
	kinds := []Mark{{State: "PASSED"}, {State: "PASSED", Healed: true}, {State: "FAILED"}, {State: "ERROR"},
		{State: "CANCELLED"}, {State: "RUNNING"}}
	shapes := map[string]bool{}
	for _, m := range kinds {
		words, class := m.kind()
		shapes[strings.ReplaceAll(m.draw(0), class, "")] = true
		require.NotContains(t, m.draw(0), "changed", words)
		m.Changed = true
		require.Contains(t, m.draw(0), `class="changed"`, words)
	}
	require.Len(t, shapes, len(kinds))

	strip := string(Strip("Runs", []Mark{{State: "FAILED", Title: `<b>"x"`, Link: "/a?b=1&c"}, {State: "PASSED", Changed: true}}))
	require.Contains(t, strip, `aria-label="Runs: 1 passed, 1 failed, 1 with a changed result; the newest: failed"`)
	require.Contains(t, strip, `role="group"`, "links inside are no picture")
	require.Contains(t, strip, `<a href="/a?b=1&amp;c" aria-label="failed: &lt;b&gt;&#34;x&#34;">`)
	require.NotContains(t, strip, "<b>")
	require.Less(t, strings.Index(strip, "passed, result changed"), strings.LastIndex(strip, "failed: "), "the newest is at the right")
	require.Contains(t, string(Strip("Runs", []Mark{{State: "PASSED"}})), `role="img"`)
	require.Contains(t, string(Strip("Runs", nil)), "–")
	require.Equal(t, maxMarks, strings.Count(string(Strip("Runs", make([]Mark, 500))), "<title>"))
}

// Each class of a mark, that of a changed result too, has a colour of its own, which stands
// out from the card in both themes.
func TestStripColours(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("asset/console.css")
	require.NoError(t, err)
	strip := regexp.MustCompile(`\.strip \.(\w+)\{(?:fill:none;stroke|fill):var\(--(\w+)\)`).FindAllStringSubmatch(string(css), -1)
	classes := []string{}
	for _, rule := range strip {
		classes = append(classes, rule[1])
	}
	require.ElementsMatch(t, []string{"good", "bad", "wait", "busy", "plain", "changed"}, classes)
	for theme, name := range []string{"light", "dark"} {
		colour := func(variable string) string {
			found := regexp.MustCompile(`--` + variable + `:light-dark\((#\w+),(#\w+)\)`).FindStringSubmatch(string(css))
			require.NotNil(t, found, variable)
			return found[1+theme]
		}
		used := map[string]string{}
		for _, rule := range strip {
			fill := colour(rule[2])
			require.Empty(t, used[fill], "%s: %s", name, rule[1])
			used[fill] = rule[1]
			require.GreaterOrEqual(t, contrast(fill, colour("card")), 3.0, "%s: %s", name, rule[1])
		}
	}
}

// contrast is that of two colours (WCAG 2).
func contrast(one, other string) float64 {
	light := func(hex string) float64 {
		digits := strings.TrimPrefix(hex, "#")
		if len(digits) == 3 {
			digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
		}
		n, _ := strconv.ParseUint(digits, 16, 32)
		part := func(shift int) float64 {
			c := float64(n>>shift&255) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
	}
	a, b := light(one), light(other)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}
