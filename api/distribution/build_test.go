package distribution_test

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	api "github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestGetBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build(func(u *distribution.Upload) {
		u.Package.ABIs, u.Package.Warnings = []string{"arm64-v8a"}, []string{"no icon"}
		u.Package.Signer = &artifact.Signer{Scheme: "v2", SHA256: "ab", Expires: time.Now()}
		u.ReleaseNotes, u.Tags, u.Metadata = "*notes*", []string{"rc"}, map[string]string{"branch": "main"}
	})
	for _, path := range []string{p("/api/v3/builds/%d", up.Build.ID), p("/api/v3/builds/%d-groupshot", up.Build.ID)} {
		got := w.ok(w.neighbor, 200, "GET", path, "")["build"].(map[string]any)
		for member, want := range map[string]any{"id": float64(up.Build.ID), "project_id": float64(up.Project.ID), "version": "1.2",
			"version_code": "20", "platform": "Android", "package_name": "com.groupshot", "release_notes": "*notes*", "tags": []any{"rc"},
			"metadata": map[string]any{"branch": "main"}, "file_name": "GroupShot.apk", "file_size": float64(up.Build.File.Size),
			"sha256": up.Build.File.SHA256, "min_os_version": "24", "abis": []any{"arm64-v8a"}, "provisioning": nil, "status": "enabled",
			"installs": 0.0, "crashes": 0.0, "sessions": 0.0, "install_url": base + "/install/" + up.Build.Token,
			"uploaded_by": "member@example.com", "uploaded_via": "upload", "app_name": "GroupShot", "kind": "apk", "icon": "",
			"warnings": []any{"no icon"}, "landing_page_mode": "open", "has_symbols": false} {
			require.Equal(t, want, got[member], member)
		}
		require.Equal(t, "v2", got["signer"].(map[string]any)["scheme"])
		for _, member := range []string{"created_at", "updated_at"} {
			at, err := time.Parse(time.RFC3339, got[member].(string))
			require.NoError(t, err)
			require.Equal(t, time.UTC, at.Location())
		}
	}
	w.refused(w.stranger, 404, "GET", p("/api/v3/builds/%d", up.Build.ID), "")
	for _, id := range []string{"0", "x", "999", "-1", "99999999999999999999"} {
		w.refused(w.member, 404, "GET", "/api/v3/builds/"+id, "")
	}
}

func TestUpdateBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build(func(u *distribution.Upload) { u.Metadata = map[string]string{"gone": "1", "kept": "2"} })
	other := w.build(of("com.other"), w.inTwo)
	w.ok(w.neighbor, 200, "PUT", p("/api/v3/builds/%d", other.Build.ID), `{"landing_page_slug":"taken.slug"}`)
	w.group("qa")
	path := p("/api/v3/builds/%d-x", up.Build.ID)
	tree := w.ok(w.member, 200, "PUT", path,
		`{"release_notes":"n","tags":["a"," b ","a"],"landing_page_slug":"my.slug","landing_page_mode":"closed",
		"metadata":{"gone":"","new":"3"},"metadata_flat":"4","status":"disabled","auto_update":true,"groups":["qa","nobody"]}`)
	got := tree["build"].(map[string]any)
	require.Equal(t, []any{"nobody"}, tree["invalid_groups"])
	for member, want := range map[string]any{"release_notes": "n", "tags": []any{"a", "b"}, "landing_page_mode": "closed",
		"landing_page_url": base + "/install/my.slug", "status": "disabled", "auto_update": true, "version": "1.2",
		"metadata": map[string]any{"kept": "2", "new": "3", "flat": "4"}} {
		require.Equal(t, want, got[member], member)
	}
	require.Equal(t, "my.slug", w.ok(w.member, 200, "GET", p("/api/v3/projects/%d", up.Project.ID),
		"")["project"].(map[string]any)["landing_page_slug"])
	require.Equal(t, 1, w.count(`select count(*) from build_groups where build_id = $1`, up.Build.ID))

	got = w.ok(w.member, 200, "PUT", path, "tags=x,y&status=enabled&auto_update=off&api_key=k")["build"].(map[string]any)
	require.Equal(t, []any{[]any{"x", "y"}, "enabled", false, "n"}, []any{got["tags"], got["status"], got["auto_update"],
		got["release_notes"]})
	require.Equal(t, []any{}, w.ok(w.member, 200, "PUT", path, `{"tags":[]}`)["build"].(map[string]any)["tags"])
	require.Equal(t, "n", w.ok(w.member, 200, "PUT", path, "")["build"].(map[string]any)["release_notes"], "nothing sent, nothing changed")

	w.refused(w.neighbor, 403, "PUT", path, `{"release_notes":"x"}`)
	w.refused(w.stranger, 404, "PUT", path, `{"release_notes":"x"}`)
	w.refused(w.member, 404, "PUT", "/api/v3/builds/999", `{"release_notes":"x"}`)
	w.refused(w.member, 409, "PUT", path, `{"landing_page_slug":"Taken.Slug"}`)
	for _, bad := range []string{`{"landing_page_slug":"short"}`, `{"landing_page_mode":"ajar"}`, `{"landing_page_mode":""}`,
		`{"status":"invalid"}`,
		`{"tags":5}`, `{"auto_update":"maybe"}`, `{"metadata":{"k":5}}`, `{"release_notes":{}}`, `{`} {
		w.refused(w.member, 400, "PUT", path, bad)
	}
	w.requireLogin()
	w.refused(w.member, 400, "PUT", path, `{"landing_page_mode":"open"}`, "login")
}

func TestDeleteBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/v3/builds/%d", up.Build.ID)
	w.refused(w.member, 403, "DELETE", path, "")
	w.refused(w.neighbor, 403, "DELETE", path, "")
	w.refused(w.stranger, 404, "DELETE", path, "")
	require.Zero(t, w.count(`select count(*) from tasks`))
	rec := w.call(w.lead, "DELETE", path+"-x", "")
	require.Equal(t, 204, rec.Code)
	require.Empty(t, rec.Body.String())
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'build:delete' and organization_id = $1
		and payload = jsonb_build_object('build_id', $2::bigint)`, w.ours, up.Build.ID))
	w.refused(w.lead, 404, "DELETE", path, "")
	w.refused(w.lead, 404, "GET", path, "")
	project := w.ok(w.member, 200, "GET", p("/api/v3/projects/%d", up.Project.ID), "")["project"].(map[string]any)
	require.Nil(t, project["latest_build"])
	require.Equal(t, 204, w.call(w.owner, "DELETE", p("/api/v3/builds/%d", w.build().Build.ID), "").Code)
}

func TestCopyBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/v3/builds/%d-x/copy", up.Build.ID)
	got := w.ok(w.member, 201, "POST", path, "")["build"].(map[string]any)
	require.NotEqualValues(t, up.Build.ID, got["id"])
	require.EqualValues(t, up.Project.ID, got["project_id"])
	require.Equal(t, up.Build.File.SHA256, got["sha256"])
	require.Equal(t, 1, w.count(`select count(distinct file_id) from builds`), "the copy references the same file")
	w.refused(w.neighbor, 403, "POST", path, "")
	w.refused(w.stranger, 404, "POST", path, "")
	w.refused(w.member, 404, "POST", "/api/v3/builds/x/copy", "")
}

func TestDownloadBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.buildOf([]byte("the package"))
	path := p("/api/v3/builds/%d-x/download", up.Build.ID)
	tree := w.ok(w.neighbor, 200, "GET", path, "")
	require.Equal(t, 1, w.count(`select downloads from builds where id = $1`, up.Build.ID))
	expires, err := time.Parse(time.RFC3339, tree["expires_at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Hour), expires, time.Minute)
	signed, err := url.Parse(tree["url"].(string))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(tree["url"].(string), base+"/objects/builds/"), tree["url"])
	rec := httptest.NewRecorder()
	w.objects.ServeSigned().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", signed.RequestURI(), nil))
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "the package", rec.Body.String())
	require.Equal(t, "application/vnd.android.package-archive", rec.Header().Get("Content-Type"))
	require.Contains(t, rec.Header().Get("Content-Disposition"), "GroupShot.apk")
	require.Equal(t, 200, w.call(w.member, "HEAD", path, "").Code)
	require.Equal(t, 1, w.count(`select downloads from builds where id = $1`, up.Build.ID), "HEAD is no download")

	bare := w.router(api.Config{DB: w.db, Links: link.New(base), Vendor: "acme"})
	tree = w.tree(w.callOn(bare, w.member, "GET", path, ""), 200)
	require.Equal(t, map[string]any{"url": base + "/install/" + up.Build.Token}, tree)

	w.state(up.Build.ID, distribution.Disabled, "recalled")
	w.refused(w.member, 409, "GET", path, "", "recalled")
	w.refused(w.stranger, 404, "GET", path, "")
	w.refused(w.member, 404, "GET", "/api/v3/builds/999/download", "")
}

func TestDownloadSymbols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	without := w.build()
	with := w.build(func(u *distribution.Upload) {
		u.Symbols = &distribution.NewSymbols{File: w.file([]byte("a -> b:")), Name: "mapping.txt",
			What: &artifact.Symbols{Kind: artifact.Mapping}}
	})
	tree := w.ok(w.neighbor, 200, "GET", p("/api/v3/builds/%d-x/symbols/download", with.Build.ID), "")
	require.Contains(t, tree["url"], base+"/objects/builds/")
	require.Contains(t, tree["url"], "mapping.txt")
	require.Equal(t, true, w.ok(w.member, 200, "GET", p("/api/v3/builds/%d", with.Build.ID), "")["build"].(map[string]any)["has_symbols"])
	w.refused(w.member, 404, "GET", p("/api/v3/builds/%d/symbols/download", without.Build.ID), "", "no symbols")
	w.refused(w.stranger, 404, "GET", p("/api/v3/builds/%d/symbols/download", with.Build.ID), "")
	w.refused(w.member, 404, "GET", "/api/v3/builds/999/symbols/download", "")
}

func TestNotify(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/v3/builds/%d-x/notify-testers", up.Build.ID)
	tree := w.ok(w.lead, 202, "POST", path, "")
	require.Equal(t, "queued", tree["status"])
	require.Equal(t, 1, w.count(`select count(*) from tasks where id = $1 and kind = 'build:notify' and organization_id = $2
		and payload = jsonb_build_object('build_id', $3::bigint)`, tree["task_id"], w.ours, up.Build.ID))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where action = 'testers.notified' and detail ->> 'task_id' = $1`,
		tree["task_id"]))
	w.ok(w.owner, 202, "POST", path, "")

	w.refused(w.member, 403, "POST", path, "")
	w.refused(w.neighbor, 403, "POST", path, "")
	w.refused(w.stranger, 404, "POST", path, "")
	w.refused(w.owner, 404, "POST", "/api/v3/builds/999/notify-testers", "")
	bundle := w.build(of("com.bundle"), func(u *distribution.Upload) { u.Package.Kind = artifact.AAB })
	w.refused(w.owner, 409, "POST", p("/api/v3/builds/%d/notify-testers", bundle.Build.ID), "", "aab")
	for state, reason := range map[distribution.State]string{distribution.Disabled: "recalled", distribution.CertificateExpired: "",
		distribution.Invalid: "broken"} {
		w.state(up.Build.ID, state, reason)
		says := reason
		if says == "" {
			says = string(state)
		}
		w.refused(w.owner, 409, "POST", path, "", says)
	}
	require.Equal(t, 2, w.count(`select count(*) from tasks`))
}

// Testers do not hear of a build whose gate holds them, also not when it is moved to another channel.
func TestNotifyIsHeld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.build()
	most := int64(1)
	policy := gate.Policy{HoldNotifications: true, Channels: []string{"beta"},
		Conditions: []gate.Condition{{Name: "small", Type: gate.Size, MaxBytes: &most}}}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return gate.SavePolicy(ctx, tx, w.writer(w.owner), first.Project.ID, &policy)
	})
	up := w.build(version("1.3", "21"), func(u *distribution.Upload) { u.Metadata = map[string]string{"channel": "beta"} })
	path := p("/api/v3/builds/%d/notify-testers", up.Build.ID)
	w.refused(w.owner, 409, "POST", path, "", "the gate of the build is unknown")
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `update builds set metadata = '{"channel":"mine"}' where id = $1`, up.Build.ID)
		return err
	})
	w.refused(w.owner, 409, "POST", path, "", "somebody overrides it")
	require.Zero(t, w.count(`select count(*) from tasks where kind = 'build:notify'`))
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := gate.SetOverride(ctx, tx, w.writer(w.owner), up.Build.ID, gate.Pass, "go")
		return err
	})
	w.ok(w.owner, 202, "POST", path, "")
}
