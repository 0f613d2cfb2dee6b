package command

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

const (
	aSym    = "MODULE Linux x86_64 C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0 shop\nFUNC 1000 10 0 main\n"
	aScript = "let a=1\n//# sourceMappingURL=app.js.map\n"
	aMap    = `{"version":3,"file":"app.js","sources":["app.ts"],"names":[],"mappings":"AAAA"}`
)

func TestSymbolsThatTheServerHasAreNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("web/app.js", []byte(aScript))
	w.file("web/sub/app.js.map", []byte(aMap))
	w.file("lib/shop.sym", []byte(aSym))
	w.server.answer("POST /api/v3/symbols/known",
		answer{body: map[string]any{"known": []string{"C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0"}, "unknown": []string{}}})
	w.server.answer("POST /api/v3/symbols", answer{body: map[string]any{"symbol": map[string]any{"sha256": fileDigest,
		"id": 7, "name": "app.js", "state": "pending", "task_id": "t1"}}})
	r := w.run("symbols", "upload", "web", "lib", "--dry-run")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.Contains(t, r.out, "known")
	require.Equal(t, 2, strings.Count(r.out, "would be sent"))
	require.Empty(t, w.server.to("POST /api/v3/symbols"))

	r = w.run("symbols", "upload", "web", "lib", "--project", "9", "--json")
	require.Equal(t, outcome.Passed, r.code, r.err)
	calls := w.server.to("POST /api/v3/symbols")
	require.Len(t, calls, 1)
	texts, files := form(t, calls[0])
	require.Equal(t, map[string]string{"crash_project_id": "9"}, texts)
	name, content, _ := strings.Cut(files["file"], ": ")
	require.Equal(t, "app.js-and-1-more.zip", name)
	require.Equal(t, map[string]string{"app.js": aScript, "sub/app.js.map": aMap}, unzipped(t, content),
		"scripts keep their place in the folder")
	var asked struct {
		Identifiers, SHA256 []string
		Project             int64  `json:"crash_project_id"`
		Name                string `json:"crash_project"`
	}
	require.NoError(t, json.Unmarshal(w.server.to("POST /api/v3/symbols/known")[1].body, &asked))
	require.Len(t, asked.SHA256, 3)
	require.Equal(t, []string{"C6A7FB7B6B4B4C3D8E5F2A1B0C9D8E7F0"}, asked.Identifiers)
	require.EqualValues(t, 9, asked.Project)
	require.Equal(t, outcome.Passed, w.run("symbols", "upload", "lib", "--project", "Shop crashes", "--dry-run").code)
	require.NoError(t, json.Unmarshal(w.server.to("POST /api/v3/symbols/known")[2].body, &asked))
	require.Equal(t, "Shop crashes", asked.Name, "a project that is named is looked for too")
	var document struct {
		Files []struct{ Name, State string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &document), r.out)
	require.Len(t, document.Files, 3)

	require.Equal(t, outcome.Passed, w.run("symbols", "upload", "web", "lib", "--project", "9").code)
	_, again := form(t, w.server.to("POST /api/v3/symbols")[1])
	require.Equal(t, files, again, "the same files are the same bytes")

	require.Equal(t, outcome.Passed, w.run("symbols", "upload", "web", "--release", "1.4.2", "--url-prefix", "~/static").code)
	texts, _ = form(t, w.server.to("POST /api/v3/symbols")[2])
	require.Equal(t, map[string]string{"release": "1.4.2", "url_prefix": "~/static"}, texts)
	require.Len(t, w.server.to("POST /api/v3/symbols/known"), 4, "under another release they may be missing")
}

func unzipped(t *testing.T, content string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader([]byte(content)), int64(len(content)))
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		all[f.Name] = string(text)
	}
	return all
}

func TestSymbolsThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("empty/readme.md", []byte("hello"))
	w.file("zero.sym", nil)
	r := w.run("symbols", "upload", "empty")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "empty: there are no symbol files in it: neither debug information, nor a mapping, nor a source map")
	r = w.run("symbols", "upload", "empty/readme.md")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, "readme.md is no symbol file: it is a text")
	r = w.run("symbols", "upload", "zero.sym")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, "it has 0 bytes")
	require.Equal(t, outcome.Misused, w.run("symbols", "upload", "none").code)
	require.Equal(t, outcome.Misused, w.run("symbols", "upload", "empty", "--inject-debug-ids", "--dry-run").code)
	require.Empty(t, w.server.to("POST /api/v3/symbols"))
}

func TestSymbolsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("shop.sym", []byte(aSym))
	w.server.answer("POST /api/v3/symbols/known", answer{body: map[string]any{"known": []string{}}})
	w.server.answer("POST /api/v3/symbols", answer{body: map[string]any{"symbol": map[string]any{"sha256": fileDigest,
		"id": 7, "name": "shop.sym", "state": "pending", "task_id": "t1"}}})
	w.server.answer("GET /api/v3/tasks/t1", answer{body: map[string]any{"task": map[string]any{"id": "t1", "state": "succeeded"}}})
	w.server.answer("GET /api/v3/symbols/7", answer{body: map[string]any{"symbol": map[string]any{"sha256": fileDigest,
		"id": 7, "name": "shop.sym", "state": "failed", "error": map[string]any{"code": "truncated", "reason": "it is cut off"}}}})
	r := w.run("symbols", "upload", "shop.sym", "--wait")
	require.Equal(t, outcome.Failed, r.code, r.err)
	require.Contains(t, r.err, "the server cannot read 1 of the symbol files: shop.sym: it is cut off")
	_, files := form(t, w.server.to("POST /api/v3/symbols")[0])
	require.Equal(t, "shop.sym: "+aSym, files["file"], "one file is sent as it is")
	w.server.answer("POST /api/v3/symbols", answer{status: 400, body: map[string]any{"status": "fail", "message": "it cannot be unpacked"}})
	require.Equal(t, outcome.Failed, w.run("symbols", "upload", "shop.sym").code, "a file that the server refuses")
	w.server.answer("POST /api/v3/symbols", answer{body: map[string]any{"symbol": map[string]any{"id": 7, "sha256": "other"}}})
	r = w.run("symbols", "upload", "shop.sym")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "the server has another file under this Idempotency-Key")
}

func TestSymbolsWithDebugIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file("web/app.js", []byte(aScript))
	w.file("web/app.js.map", []byte(aMap))
	w.server.answer("POST /api/v3/symbols/known", answer{body: map[string]any{"known": []string{}}})
	w.server.answer("POST /api/v3/symbols", answer{body: map[string]any{"symbol": map[string]any{"sha256": fileDigest, "id": 7}}})
	r := w.run("symbols", "upload", "web", "--inject-debug-ids")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.Regexp(t, `app.js: debug id [0-9a-f-]{36}`, r.err)
	_, files := form(t, w.server.to("POST /api/v3/symbols")[0])
	_, content, _ := strings.Cut(files["file"], ": ")
	sent := unzipped(t, content)
	require.Regexp(t, `(?m)^//# debugId=[0-9a-f-]{36}$`, sent["app.js"])
	require.Regexp(t, `^{"debugId":"[0-9a-f-]{36}","version":3,`, sent["app.js.map"])
}
