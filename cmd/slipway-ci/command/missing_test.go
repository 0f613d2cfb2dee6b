package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// aNeed is a file that crashes lack.
func aNeed(kind, name string, crashes int, seen time.Duration, ids ...string) map[string]any {
	var list []map[string]any
	for _, id := range ids {
		list = append(list, map[string]any{"type": "debug_id", "value": id})
	}
	return map[string]any{"kind": kind, "name": name, "version": "1.4", "arch": "x86_64", "crashes": crashes, "looked_for": list,
		"last_seen": time.Now().Add(-seen).UTC().Format(time.RFC3339)}
}

func pageOf(pages int, needs ...map[string]any) answer {
	return answer{body: map[string]any{"missing": needs, "pagination": map[string]any{"total_pages": pages}}}
}

func TestSymbolsThatAreStillMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("out/shop.sym", []byte(aSym))
	w.file("out/app.js.map", []byte(aMap))
	const missing = "GET /api/v3/symbols/missing"
	w.server.answer("POST /api/v3/symbols/known", answer{body: map[string]any{"known": []string{}}})
	w.server.answer("POST /api/v3/symbols", answer{body: map[string]any{"symbol": map[string]any{"sha256": fileDigest, "id": 7}}})
	w.server.answer(missing,
		pageOf(2, aNeed("native", "libpay.so", 2, time.Hour, "AA0"), aNeed("native", "shop", 9, 2*time.Hour,
			"c6a7fb7b6b4b4c3d8e5f2a1b0c9d8e7f0")),
		pageOf(2, aNeed("sourcemap", "https://shop.example/app.js", 8, time.Hour), aNeed("native", "libimage.so", 5, time.Hour, "BB0"),
			aNeed("native", "old.so", 70, 20*24*time.Hour, "CC0"), aNeed("native", "older.so", 70, 21*24*time.Hour, "DD0")))
	r := w.run("symbols", "upload", "out", "--project", "Shop crashes")
	require.Equal(t, outcome.Passed, r.code, r.err)
	_, said, found := strings.Cut(r.out, "crashes of the last 14 days still lack the symbols of 2 modules:\n")
	require.True(t, found, r.out)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	require.Len(t, lines, 2, "neither what was sent, nor what crashes of long ago lack")
	require.Regexp(t, `^native\s+libimage.so 1.4 x86_64\s+5 crashes\s+debug_id BB0$`, lines[0])
	require.Regexp(t, `^native\s+libpay.so 1.4 x86_64\s+2 crashes\s+debug_id AA0$`, lines[1])
	require.Contains(t, w.server.to(missing)[1].path, "crash_project=Shop+crashes&page=2")

	w.server.answer("POST /api/v3/symbols/known", answer{body: map[string]any{"known": []string{"C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0"}}})
	w.server.answer(missing, pageOf(1, aNeed("native", "shop", 9, time.Hour, "C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0")))
	r = w.run("symbols", "upload", "out/shop.sym", "--json")
	require.Equal(t, outcome.Passed, r.code, r.err)
	var document struct{ Missing []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(r.out), &document), r.out)
	require.Len(t, document.Missing, 1, "what the server had before has not what crashes lack")

	w.server.answer(missing, pageOf(1))
	require.Contains(t, w.run("symbols", "upload", "out").out, "no crash of the last 14 days lacks symbols of another file")
	var many []map[string]any
	for i := range 25 {
		many = append(many, aNeed("native", fmt.Sprint("lib", i), 1, time.Hour, "EE0"))
	}
	w.server.answer(missing, pageOf(1, many...))
	require.Contains(t, w.run("symbols", "upload", "out").out, "and 5 more")

	w.server.answer(missing, answer{status: 403, body: map[string]any{"status": "fail", "message": "no"}})
	r = w.run("symbols", "upload", "out")
	require.Equal(t, outcome.Passed, r.code, "the files were sent")
	require.Contains(t, r.err, "which symbols recent crashes still lack cannot be told")
}
