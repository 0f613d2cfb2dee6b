package intent

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// reads checks that texts are read as the lines beside them say (see show).
func reads(t *testing.T, lang string, table [][2]string) {
	t.Helper()
	for _, row := range table {
		require.Equal(t, row[1], show(Read(row[0], Options{Lang: lang})), row[0])
	}
}

func TestReadFindsTheLanguage(t *testing.T) {
	t.Parallel()
	require.Equal(t, "de", Read("Klicke auf Speichern.", Options{}).Lang)
	require.Equal(t, "en", Read("Click Save.", Options{}).Lang)
	require.Equal(t, "en", Read("", Options{}).Lang)
	mixed := Read("Click Save. Klicke auf „Weiter“. Press Enter.", Options{})
	require.Equal(t, "en", mixed.Lang)
	require.Equal(t, []string{"en", "de", "en"}, []string{mixed.Clauses[0].Lang, mixed.Clauses[1].Lang, mixed.Clauses[2].Lang})
}

func TestReadKeepsWhatIsQuoted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Type "a \"b\" c"`:           `a "b" c`,
		"Type `click Save`":          "click Save",
		"Type “then press Enter.”":   "then press Enter.",
		"Type «x, y»":                "x, y",
		"Type „Gib das ein“":         "Gib das ein",
		`Type "{{team:name}} and 1"`: "{{team:name}} and 1",
		`Type ""`:                    "",
		"Type \"one\ntwo\"":          "one\ntwo",
	} {
		d := Read(text, Options{Lang: "en"})
		require.Len(t, d.Clauses, 1, text)
		require.NotEmpty(t, d.Clauses[0].Readings, text)
		in := d.Clauses[0].Readings[0].Instructions
		require.Len(t, in, 1, text)
		require.Equal(t, Fill, in[0].Kind, text)
		require.Equal(t, want, in[0].Values[0].Text, text)
	}
}

func TestReadSaysWhyItDoesNotUnderstand(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"foo bar", "Что это", "买一盏灯", "How many items are there?", "Fill in the form", "Click Save but do not click Save", "...", "🦜🦜🦜 x"} {
		for _, c := range Read(text, Options{}).Clauses {
			require.Empty(t, c.Readings, text)
			require.NotEmpty(t, c.Reason, text)
		}
	}
}

// hostile are texts that would take long if anything were read more than a few times.
func hostile() []string {
	fill := func(s string) string { return strings.Repeat(s, 20_000/utf8.RuneCountInString(s)) }
	return []string{
		fill("a"), fill("a "), fill("click "), fill("\""), fill("'a "), fill("“a "), fill("and "), fill(", "), fill("the "),
		fill("click A and "), fill("in the row of "), fill("if a is b "), fill("verify that "), fill("(("), fill("{{a "),
		fill("1. "), fill("x.y"), fill("gib x ein "), fill("klicke auf "), fill("der die das "), fill("type a into b "),
		fill("do not click A. "), fill("Click Save. "), fill("not "), fill("is is "), fill("5 May "), fill("a > "), fill("\n- "),
		fill("press a, "), fill("set a to b and "), fill("so that "), fill("to "), fill("A is B and "), fill("„"), fill("–"), fill("one two "),
	}
}

// What takes milliseconds when a text is read a few times takes minutes when it is read
// once for each of its words; the bound leaves room for a machine that is busy.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		began := time.Now()
		Read(text, Options{})
		require.Less(t, time.Since(began), time.Minute, text[:min(len(text), 20)])
	}
}

func BenchmarkRead(b *testing.B) {
	for _, text := range hostile() {
		b.Run(text[:min(len(text), 8)], func(b *testing.B) {
			for b.Loop() {
				Read(text, Options{})
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 60)])
	}
	f.Add(`Click the second "Delete" button in the row of Ann, then verify that 3 items are shown.`)
	f.Add("Gib „Ann“ in das Feld Name ein und prüfe, dass der Titel „x“ lautet.")
	f.Fuzz(func(t *testing.T, text string) {
		d := Read(text, Options{})
		for _, c := range d.Clauses {
			require.True(t, len(c.Readings) > 0 || c.Reason != "", c.Text)
			for _, r := range c.Readings {
				require.NotEmpty(t, r.Instructions)
				for _, in := range r.Instructions {
					require.NotEmpty(t, in.Kind)
					if in.Kind == Assert || in.Kind == WaitFor {
						require.NotNil(t, in.Assertion)
					}
				}
			}
		}
	})
}
