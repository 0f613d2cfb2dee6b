package trace

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outlineOf reads the answer of a page and returns its outline.
func outlineOf(t *testing.T, tokens ...string) *Document {
	t.Helper()
	d := &reader{redact: func(text string) string { return strings.ReplaceAll(text, "secret", "***") }, seed: maphash.MakeSeed(),
		sheets: map[string]string{}}
	text, err := json.Marshal(map[string]any{"frames": []any{map[string]any{"id": "f", "tokens": tokens}}})
	require.NoError(t, err)
	doc, err := d.read("page", string(text))
	require.NoError(t, err)
	return doc
}

func TestOutline(t *testing.T) {
	t.Parallel()
	doc := outlineOf(t, "EHTML", "EHEAD", "ETITLE", "Tno", "/", "/", "EBODY",
		"EDIV", "EH1", "T  The\n shop ", "/", "/",
		"EBUTTON", "Aid", "buy", "Adisabled", "", "TBuy ", "EB", "Tnow", "/", "/",
		"EINPUT", "Aplaceholder", "Your name", "A__playwright_value_", "typed", "/",
		"EIMG", "/", "EP", "/", "EP", "Ttell no secret", "/", "ESTYLE", "T.a{}", "/",
		"EDIV", "Etemplate", "A__playwright_shadow_root_", "open", "EA", "Aaria-label", "Help", "/", "/", "/",
		"ESPAN", "Arole", "alert", "T"+strings.Repeat("ä", 100), "/", "/", "/")
	require.Equal(t, []string{`h1 "The shop"`, `button#buy "Buy" disabled`, `b "now"`, `input "Your name"`, `img`,
		`p "tell no ***"`, `a "Help"`,
		`span alert "` + strings.Repeat("ä", 40) + `…"`}, doc.Outline(100))
	require.Len(t, doc.Outline(3), 3)
	require.Empty(t, (*Document)(nil).Outline(3))
}
