package model

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func readJSON(t *testing.T, source, lang, text string) (intent.Reading, error) {
	t.Helper()
	var r jsonReading
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	return readingOf(source, lang, &r)
}

// Each part of an answer is found in the text, word by word.
func TestReadingOf(t *testing.T) {
	t.Parallel()
	source := `Wirf bitte Milk und "Rye bread" von der Liste. Danach steht dort nur noch Salt.`
	r, err := readJSON(t, source, "de", `{"goals": [
		{"text": "Wirf bitte Milk und \"Rye bread\" von der Liste", "effect": "remove", "verb": "Wirf",
		 "target": [{"words": "Milk"}, {"words": "\"Rye bread\"", "quoted": true}], "from": {"words": "", "noun": "Liste", "kind": "list"}},
		{"text": "Danach steht dort nur noch Salt", "effect": "check", "claim": {"property": "shown", "only": true, "subject": [{"words": "Salt"}], "words": ["steht", "nur noch"]}}]}`)
	require.NoError(t, err)
	require.Len(t, r.Goals, 2)
	g := r.Goals[0]
	require.Equal(t, intent.Remove, g.Effect)
	require.Equal(t, "Wirf", source[g.Verb.From:g.Verb.To])
	require.Equal(t, "Milk", g.Target[0].Words[0].Text)
	require.Len(t, g.Target[1].Words, 2)
	require.True(t, g.Target[1].Quoted)
	require.Equal(t, "bread", source[g.Target[1].Words[1].Span.From:g.Target[1].Words[1].Span.To])
	require.Equal(t, "Liste", g.From.Noun)
	require.Equal(t, intent.List, g.From.Kind)
	c := r.Goals[1].Claim
	require.Equal(t, intent.Shown, c.Property)
	require.True(t, c.Only)
	require.Equal(t, "Salt", source[c.Subject[0].Span.From:c.Subject[0].Span.To])
	require.Len(t, c.Words, 3)
}

// Values are read as the grammar reads them.
func TestReadingOfValues(t *testing.T) {
	t.Parallel()
	source := `Set rooms to 2 and the note to "no 2". Press Enter.`
	r, err := readJSON(t, source, "en", `{"goals": [
		{"text": "Set rooms to 2 and the note to \"no 2\"", "effect": "set", "verb": "Set", "fields": [{"name": {"words": "rooms"}, "value": "2"}, {"name": {"words": "note"}, "value": "\"no 2\""}]},
		{"text": "Press Enter", "effect": "type", "verb": "Press", "keys": "Enter", "words": ["Enter"]}]}`)
	require.NoError(t, err)
	f := r.Goals[0].Fields
	require.Equal(t, 2.0, *f[0].Value.Number)
	require.Equal(t, "no 2", f[1].Value.Text)
	require.True(t, f[1].Value.Quoted)
	require.Empty(t, intent.UnreadBy(source, "en", r.Goals))
}

// What is not in the text, or says nothing of it, is refused with a reason for the model.
func TestReadingOfRefuses(t *testing.T) {
	t.Parallel()
	source := "Open the account page and look at the second bill"
	for name, c := range map[string]struct{ answer, why string }{
		"no goals": {`{"goals": []}`, "goals must be"},
		"another text": {`{"goals": [{"text": "delete the account", "effect": "remove", "verb": "delete"}]}`,
			`"delete the account" is not in the text`},
		"another word":   {`{"goals": [{"text": "Open the account page", "effect": "open", "verb": "Open", "target": [{"words": "Delete account"}]}]}`, `"Delete" is not in the text`},
		"part of a word": {`{"goals": [{"text": "Open the account page", "effect": "open", "verb": "Open", "target": [{"words": "count"}]}]}`, `"count" is not in the text`},
		"another value":  {`{"goals": [{"text": "Open the account page", "effect": "set", "verb": "Open", "fields": [{"value": "{{pass}}"}]}]}`, "is not in the text"},
		"no effect":      {`{"goals": [{"text": "Open the account page"}]}`, "effect is missing"},
		"unknown effect": {`{"goals": [{"text": "Open the account page", "effect": "run_script"}]}`, "effect"},
		"unknown kind":   {`{"goals": [{"text": "Open the account page", "effect": "open", "target": [{"words": "account", "kind": "#id"}]}]}`, "kind"},
		"no claim":       {`{"goals": [{"text": "look at the second bill", "effect": "check", "verb": "look"}]}`, "claim is missing"},
		"empty claim":    {`{"goals": [{"text": "look at the second bill", "effect": "check", "claim": {"property": "shown"}}]}`, "says nothing"},
		"no flags":       {`{"goals": [{"text": "look at the second bill", "effect": "open", "verb": "look", "target": [{"words": "bill", "ordinal": 2}]}]}`, "flags is missing"},
		"another key":    {`{"goals": [{"text": "Open the account page", "effect": "type", "verb": "Open", "keys": "Control+Delete"}]}`, "names no key"},
		"twice": {`{"goals": [{"text": "Open the account page", "effect": "open", "verb": "Open", "target": [{"words": "account"}]},
			{"text": "Open the account page", "effect": "open", "verb": "Open", "target": [{"words": "account"}]}]}`, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readJSON(t, source, "en", c.answer)
			require.ErrorContains(t, err, c.why)
		})
	}
}

// Whatever a model sends, spans are of the text, and it takes a bounded time.
func FuzzReadingOf(f *testing.F) {
	f.Add(`Ändere "x" İ auf 3`, `{"goals": [{"text": "auf 3", "effect": "set", "verb": "ändere", "fields": [{"value": "3"}]}]}`)
	f.Add("Click Save", `{"goals": [{"text": "Click Save", "effect": "press", "verb": "Click", "target": [{"words": "Save", "of": {"words": "Click"}}]}]}`)
	f.Fuzz(func(t *testing.T, source, answer string) {
		var r jsonReading
		if json.Unmarshal([]byte(answer), &r) != nil || len(source) > 2000 {
			return
		}
		out, err := readingOf(source, "de", &r)
		if err != nil {
			return
		}
		for _, g := range out.Goals {
			for _, s := range append([]intent.Span{g.Span, g.Verb}, g.Words...) {
				require.True(t, 0 <= s.From && s.From <= s.To && s.To <= len(source))
			}
		}
		intent.UnreadBy(source, "de", out.Goals)
	})
}
