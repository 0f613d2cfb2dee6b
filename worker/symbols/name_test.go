package symbols

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, reference, want string }{
		{"~/static/a.js", "a.js.map", "~/static/a.js.map"},
		{"~/static/a.js", "../maps/a.js.map", "~/maps/a.js.map"},
		{"~/a.js", "../../../a.js.map", "~/a.js.map"},
		{"~/static/a.js", "/maps/a.js.map", "~/maps/a.js.map"},
		{"https://cdn.example.com/s/a.js", "a.js.map", "https://cdn.example.com/s/a.js.map"},
		{"https://cdn.example.com/s/a.js", "https://maps.example.com/a.js.map", "https://maps.example.com/a.js.map"},
		{"app:///s/a.js", "a.js.map", "app:///s/a.js.map"},
		{"://", "a.map", "a.map"},
	} {
		require.Equal(t, c.want, resolve(c.from, c.reference), "%s from %s", c.reference, c.from)
	}
}

const (
	aMap = `{"version":3,"file":"bundle.js","sources":["a.ts"],"names":[],"mappings":"AAAA","sourcesContent":["let a"],` +
		`"debugId":"85314830-023f-4cf1-a267-535f4e37bb17"}`
	aScript = "function a(){}\n//# sourceMappingURL=main.js.map\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n"
)

// Scripts and maps are found by their debugId, else by release and address.
func TestScripts(t *testing.T) {
	t.Parallel()
	const debugID = "debugId=85314830-023f-4cf1-a267-535f4e37bb17"
	w := newWorld(t)
	u := w.index(w.upload(zipped(t, "static/main.js", aScript, "static/main.js.map", aMap),
		func(n *symbolfile.New) { n.Release = "1.2" }))
	require.Equal(t, []string{
		"static/main.js " + debugID, "static/main.js url=~/static/main.js@1.2",
		"static/main.js.map " + debugID, "static/main.js.map url=~/static/bundle.js@1.2", "static/main.js.map url=~/static/main.js.map@1.2",
	}, w.identifiers(u))
	kinds := map[symbol.Kind][]string{}
	for _, f := range w.files(u) {
		kinds[f.Kind] = f.Features
	}
	require.Equal(t, map[symbol.Kind][]string{symbol.Source: {parse.Text}, symbol.SourceMap: {parse.Lines, parse.Sources}}, kinds)

	// With the address that the sender says; the bytes have their index already.
	u = w.index(w.upload(zipped(t, "static/main.js.map", aMap), func(n *symbolfile.New) { n.URLPrefix = "https://cdn.example.com/app" }))
	require.Equal(t, []string{"static/main.js.map " + debugID, "static/main.js.map url=https://cdn.example.com/app/static/bundle.js",
		"static/main.js.map url=https://cdn.example.com/app/static/main.js.map"}, w.identifiers(u))
	require.Len(t, w.indexes(), 2)

	// Alone, under its own name, with an id.
	u = w.index(w.upload(`{"version":3,"sources":[],"names":[],"mappings":""}`, func(n *symbolfile.New) {
		n.Name, n.GivenID = "other.js.map", "95314830-023F-4CF1-A267-535F4E37BB17"
	}))
	require.Equal(t, []string{" debugId=95314830-023f-4cf1-a267-535f4e37bb17", " url=~/other.js.map"}, w.identifiers(u))

	// What the manifest of a bundle says.
	manifest := `{"release":"7","files":{
		"files/a.js":{"url":"~/x/a.min.js","headers":{"sourcemap":"a.map","debug-id":"75314830-023f-4cf1-a267-535f4e37bb17"}},
		"files/a.map":{"url":"~/x/a.map"}}}`
	u = w.index(w.upload(zipped(t, "manifest.json", manifest, "files/a.js", "a()", "files/a.map",
		`{"version":3,"sources":[],"names":[],"mappings":";"}`), nil))
	require.Equal(t, []string{"files/a.js debugId=75314830-023f-4cf1-a267-535f4e37bb17", "files/a.js url=~/x/a.min.js@7",
		"files/a.map url=~/x/a.map@7", "files/a.map url=~/x/a.min.js@7"}, w.identifiers(u))
}

// A map within a script is a file of its own.
func TestInlineMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	script := "a()\n//# debugId=85314830-023f-4cf1-a267-535f4e37bb17\n//# sourceMappingURL=data:application/json;base64," +
		base64.StdEncoding.EncodeToString([]byte(`{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}`)) + "\n"
	for range 2 { // the second time the bytes are known
		u := w.index(w.upload(script, func(n *symbolfile.New) { n.Name = "main.js"; n.Release = string(rune('a' + len(w.indexes()))) }))
		files := w.files(u)
		require.Len(t, files, 2)
		require.Equal(t, symbol.Source, files[0].Kind)
		require.Equal(t, symbol.SourceMap, files[1].Kind)
		require.Equal(t, "main.js.map", files[1].Path)
		require.Contains(t, w.identifiers(u), "main.js.map debugId=85314830-023f-4cf1-a267-535f4e37bb17")
		require.Contains(t, w.identifiers(u), "main.js.map url=~/main.js.map@"+u.Release)
		require.Contains(t, w.identifiers(u), " url=~/main.js@"+u.Release)
	}
}
