package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// TestResponse checks the success member by member.
func TestResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	app := ipa("com.example.demo", "1.2.3")
	got := w.upload(file("file", "Demo.ipa", app), w.key(), textField("tags", "nightly, ci"), textField("metadata.commit", "abc & <def>"),
		textField("metadata_branch", "main"), textField("app_description", "*Demo*"), textField("landing_page_mode", "closed"),
		file("symbols_file", "demo.dSYM.zip", dSYM()), textField("options", "log"))
	for member, want := range map[string]any{
		"status": "ok", "app_name": "Demo", "app_version": "1.2.3", "file_size": float64(len(app)), "platform": "iOS",
		"options": "log", "tags": []any{"nightly", "ci"}, "attachments": nil, "landing_page_mode": "closed",
		"app_description": "*Demo*", "has_slipway_sdk": false, "verification": "pending", "simulator": false, "invalid_groups": []any{},
		"task_id": "", "task_ids": []any{}, "version_code": "45", "package_name": "com.example.demo",
		"metadata": []any{map[string]any{"key": "branch", "value": "main"}, map[string]any{"key": "commit", "value": "abc & <def>"}},
	} {
		require.Contains(t, got, member)
		require.Equal(t, want, got[member], member)
	}
	require.NotContains(t, got, "message")
	id := got["build_id"].(string)
	require.Regexp(t, `^[0-9]+$`, got["project_id"])
	page := got["build_url"].(string)
	require.Regexp(t, `^https://qa\.test/install/[a-z0-9]+$`, page)
	for member, want := range map[string]string{"download_page_url": page, "invite_testers_url": page,
		"build_specific_landing_page_url": page, "app_url": page + "/download", "icon_url": page + "/icon",
		"symbols_download_url": "https://qa.test/api/v3/builds/" + id + "/symbols/download"} {
		require.Equal(t, want, got[member], member)
	}
	require.Regexp(t, `^https://qa\.test/install/[a-z0-9]+$`, got["landing_page_url"])
	require.NotEqual(t, page, got["landing_page_url"])

	sum := sha256.Sum256(app)
	require.Equal(t, hex.EncodeToString(sum[:]), got["sha256"])
	require.Len(t, w.objects(), 3) // file, symbols, icon
	require.Zero(t, w.unfinished())
	var key string
	require.NoError(t, w.db.GetContext(t.Context(), &key, `select object_key from files where sha256 = $1`, got["sha256"]))
	content, info, err := w.store.Open(t.Context(), key, 0, -1)
	require.NoError(t, err)
	defer content.Close()
	stored, err := io.ReadAll(content)
	require.NoError(t, err)
	require.Equal(t, app, stored)
	require.EqualValues(t, len(app), info.Size)

	// Unknown texts are "", also without anything beside the file.
	got = w.upload(w.key(), file("file", "Demo.ipa", ipa("com.example.other", "2")))
	for _, member := range []string{"options", "symbols_download_url", "app_description", "task_id"} {
		require.Equal(t, "", got[member], member)
	}
	require.Equal(t, []any{}, got["metadata"])
	require.Equal(t, []any{}, got["tags"])
}

// TestClients sends what CI jobs send today.
func TestClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := testergroup.Create(ctx, tx, account.CLI(), w.boot.Organization.ID, "QA", false)
		return err
	})
	app := ipa("com.example.demo", "1.0")
	for name, fields := range map[string][]field{
		"shell, key last":  {file("file", "app.ipa", app), textField("comment", "hello"), w.key()},
		"shell, key first": {w.key(), textField("release_notes", "hello"), file("file", "app.ipa", app)},
		"fastlane": {w.key(), file("apk_file", "app-release.ipa", app), textField("comment", "hello"),
			textField("testers_groups", "QA"), textField("notify", "off"), textField("auto-update", "0"),
			textField("options", ""), textField("custom", "")},
		"Bitrise": {textField("api_key", w.boot.Owner.APIKey+"\n"), file("file", "app.ipa", app), textField("notify", "off"),
			textField("testers-groups", "QA"), textField("changelog", "hello"), textField("tags", ""), textField("folder_name", ""),
			textField("upload_to_saucelabs", "off"), textField("landing_page_mode", "")},
		"Gradle": {textField("ipa", "/builds/app.ipa"), textField("apk", "/builds/app.apk"), textField("api_key", w.boot.Owner.APIKey),
			file("file", "app.ipa", app), textField("release_notes", "hello"), textField("groups[]", "QA"), textField("notify", "false"),
			textField("video", "on"), textField("max-duration", "10m"), textField("metrics", "cpu")},
		"Jenkins": {w.key(), file("apk_file", `C:\Jenkins\ws\my app.ipa`, app), textField("tester_groups", "QA"), textField("comment", "hello"),
			textField("notify_testers", "off"), textField("auto_update", "off"), file("unknown_file", "x.bin", noise(1000, 1))},
	} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.t = t
			got := w.upload(fields...)
			require.Equal(t, "1.0", got["app_version"])
			require.Equal(t, []any{}, notes(got))
			require.Equal(t, []any{}, got["invalid_groups"])
			require.Equal(t, "hello", w.text(`select release_notes from builds where id = $1::bigint`, got["build_id"]))
			name := w.text(`select file_name from builds where id = $1::bigint`, got["build_id"])
			require.True(t, strings.HasSuffix(name, ".ipa") && !strings.ContainsAny(name, `\/`), name)
		})
	}
	require.Equal(t, 1, w.count(`select count(*) from projects`))
	require.Equal(t, 6, w.count(`select count(*) from builds`))
}

func (w *world) text(query string, args ...any) string {
	w.t.Helper()
	var s string
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &s, query, args...))
	return s
}

// TestCurl runs the line of the README.
func TestCurl(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	require.NoError(t, err, "install curl")
	w := newWorld(t, false, nil)
	path := filepath.Join(t.TempDir(), "my app.ipa")
	app := ipa("com.example.demo", "1.0", noise(3<<20, 1)) // large enough for Expect: 100-continue
	require.NoError(t, os.WriteFile(path, app, 0o600))
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "-w", " %{http_code}", w.url+"/api/upload/",
		"-F", "file=@"+path, "-F", "release_notes=a & b", "-F", "api_key="+w.boot.Owner.APIKey).CombinedOutput()
	require.NoError(t, err, string(out))
	require.True(t, strings.HasSuffix(string(out), " 200"), string(out))
	require.Contains(t, string(out), `"build_url":"https://qa.test/install/`)
	out, err = exec.CommandContext(t.Context(), curl, "-sS", "-w", " %{http_code}", w.url+"/api/upload/",
		"-H", "X-API-Key: wrong", "-F", "file=@"+path).CombinedOutput()
	require.NoError(t, err, string(out))
	require.True(t, strings.HasSuffix(string(out), " 401"), string(out))
}

func TestV3(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, nil)
	header := map[string]string{"X-API-Key": w.boot.Owner.APIKey}
	status, got := w.post("/api/v3/builds/upload", header, file("file", "a.ipa", ipa("com.example.demo", "1")),
		textField("groups", "nobody,all"), textField("version", "9.9"), textField("version_code", "99"),
		textField("landing_page_slug", "my_demo"))
	require.Equal(t, 201, status, got)
	require.Equal(t, "ok", got["status"])
	require.Equal(t, []any{"nobody"}, got["invalid_groups"])
	build := got["build"].(map[string]any)
	require.Equal(t, "9.9", build["version"])
	require.Equal(t, "", got["task_id"])
	require.Equal(t, 1, w.count(`select count(*) from projects where all_testers and landing_page_slug = 'my_demo'`))
	require.Equal(t, "99", w.text(`select version_code from builds`))
	project := w.text(`select id::text from projects`)

	for name, tc := range map[string]struct {
		fields []field
		status int
		text   string
	}{
		"file as text": {[]field{textField("file", "https://example.com/a.apk")}, 400, "file is required"},
		"no file":      {[]field{textField("notify", "on")}, 400, "file is required"},
		"empty field":  {[]field{file("file", "", []byte{})}, 400, "file is required"},
		"bad mode": {[]field{file("file", "a.ipa", ipa("com.example.demo", "1")), textField("landing_page_mode", "ajar")},
			400, "landing_page_mode"},
		"short slug": {[]field{file("file", "a.ipa", ipa("com.example.demo", "1")), textField("landing_page_slug", "short")},
			400, "landing_page_slug"},
		"taken slug": {[]field{file("file", "a.ipa", ipa("com.example.second", "1")), textField("landing_page_slug", "MY_demo")}, 409,
			"landing_page_slug is used by another app"},
		"unknown project": {[]field{file("file", "a.ipa", ipa("com.example.demo", "1")), textField("project_id", "4711")}, 404, "not found"},
		"bad project":     {[]field{textField("project_id", "x"), file("file", "a.ipa", ipa("com.example.demo", "1"))}, 400, "project_id"},
		"broken file":     {[]field{file("file", "a.apk", []byte("PK\x03\x04 and no more"))}, 400, "invalid file"},
		"empty file":      {[]field{file("file", "a.apk", []byte{})}, 400, "the file is empty"},
	} {
		before := w.objects()
		status, got := w.post("/api/v3/builds/upload", header, tc.fields...)
		require.Equal(t, tc.status, status, "%s: %v", name, got)
		require.Contains(t, got["error"], tc.text, name)
		require.Len(t, got, 1)
		require.Eventually(t, func() bool { return len(w.objects()) == len(before) }, waitFor, tick, name)
	}
	status, got = w.post("/api/v3/builds/upload", header, textField("project_id", project+"-demo"), textField("team_id", "4711"),
		textField("groups", "none"), file("file", "a.ipa", ipa("com.example.demo", "2")))
	require.Equal(t, 201, status, got)
	require.Equal(t, 0, w.count(`select count(*) from projects where all_testers`))

	// Several teams: version 3 must be told which.
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.boot.Organization.ID, Name: "Second"})
		return err
	})
	status, got = w.post("/api/v3/builds/upload", header, file("file", "a.ipa", ipa("com.example.demo", "3")))
	require.Equal(t, 400, status, got)
	require.Contains(t, got["error"], "team_id_required")
	status, got = w.post("/api/v3/builds/upload", nil, file("file", "a.ipa", ipa("com.example.demo", "3")))
	require.Equal(t, 401, status, got)
	status, got = w.post("/api/v3/builds/upload", nil, w.key(), textField("team_id", "999999"),
		file("file", "a.ipa", ipa("com.example.demo", "3")))
	require.NotEqual(t, 201, status, got)
	status, got = w.post("/api/v3/builds/upload", nil, file("file", "a.ipa", ipa("com.example.demo", "3")),
		textField("project_id", project), w.key())
	require.Equal(t, 201, status, got)
}
