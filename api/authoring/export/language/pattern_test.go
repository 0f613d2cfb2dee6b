package language

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
)

// TestPatternsKept are those that need no translation.
func TestPatternsKept(t *testing.T) {
	t.Parallel()
	for _, kept := range []string{``, `^Order #\d+ \(ready\)$`, `a|b{2,3}?`, `[A-Za-z0-9_]+@[a-z]+\.com`, `https?://x/y`} {
		written, anyCase := pattern(kept, javaScriptRune)
		require.Equal(t, kept, written)
		require.False(t, anyCase)
	}
	require.Equal(t, `(?i)total \d+`, InlinePattern(`(?i)total \d+`, PythonRune))
	require.Equal(t, `/a\/b \/ \\/u`, JavaScriptPattern(script.Text{{Literal: `a/b \/ \\`}}))
	require.Equal(t, `/total/iu`, JavaScriptPattern(script.Text{{Literal: `(?i)total`}}))
	require.Equal(t, `/(?:)/u`, JavaScriptPattern(nil))
}

// patterns are of RE2, with words that tell them apart from what other languages
// would read.
var patterns = []string{
	`(?i)straße`, `(?s)a.b`, `a.b`, `(?m)^x$`, `\Ax\z`, `(?P<year>\d{4})-(?P<day>\d\d)`, `[[:alpha:]]+[^[:space:]]`, `\Qa.b*\E+`,
	`\pL+`, `[^\p{Greek}]`, `\x{1F3AA}|\x41`, `(?U)a+b`, `(a|b|)c`, `[a[b&&-]+`, `a{`, `a{,2}`, `x*?y`, `(?:ab){2,}`, `[\w.-]+`,
	`\bfoo\B`, `[^a]`, `(?i:K)e`, "tab\there", `a\-b`, `(?:)`, `[^\x00-\x{10FFFF}]`, `\C?`, `(?-s:.)`, `🎪{2}`, `\d+\s\S`, `/\/`, `"'`, "`",
}

var subjects = []string{
	"", "a", "b", "ab", "abc", "c", "x", "y", "xy", "a.b", "a.b*", "a.b**", "a\nb", "x\n", "q\nx", "q\nx\nz", "2024-12", "STRASSE", "STRAßE",
	"straße", "é", "Ω", "αβγ", "A", "🎪", "🎪🎪", "aab", "a{", "a{,2}", "aa", "abab", "a-b", "foo", "foobar", "a b", "[",
	"&", "ke", "KE", "\u212Ae",
	"tab\there", "/", "//", `"'`, "`", "1 x", "a\x00b", "-", "_",
}

// TestPatternsInOtherLanguages asks the languages themselves what the translated
// patterns match, in one process each.
func TestPatternsInOtherLanguages(t *testing.T) {
	t.Parallel()
	var scripts, raw []string
	want := make([][]bool, 0, len(patterns))
	for _, p := range patterns {
		compiled, err := regexp.Compile(p)
		if err != nil {
			continue
		}
		scripts = append(scripts, JavaScriptPattern(script.Text{{Literal: p}}))
		raw = append(raw, InlinePattern(p, PythonRune))
		var row []bool
		for _, s := range subjects {
			row = append(row, compiled.MatchString(s))
		}
		want = append(want, row)
	}
	require.Greater(t, len(want), 25)
	list, err := json.Marshal(subjects)
	require.NoError(t, err)
	check := func(name string, command *exec.Cmd) {
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		var got [][]bool
		require.NoError(t, json.Unmarshal(out, &got))
		require.Len(t, got, len(want))
		for i := range want {
			for j := range subjects {
				require.Equal(t, want[i][j], got[i][j], "%s: %s on %q", name, scripts[i], subjects[j])
			}
		}
	}
	encoded, err := json.Marshal(raw)
	require.NoError(t, err)
	interpreter, err := exec.LookPath("python3")
	require.NoError(t, err, "install it with: apt-get install python3")
	python := exec.Command(interpreter, "-c", `import json, re, sys
patterns, subjects = json.loads(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps([[bool(re.search(re.compile(p, re.ASCII), s)) for s in subjects] for p in patterns]))`, string(encoded), string(list))
	check("Python", python)
	if _, err := exec.LookPath("node"); err == nil {
		check("JavaScript", exec.Command("node", "-e", "const subjects = "+string(list)+";\nconsole.log(JSON.stringify(["+
			strings.Join(scripts, ",\n")+"].map((p) => subjects.map((s) => p.test(s)))))"))
	}
}
