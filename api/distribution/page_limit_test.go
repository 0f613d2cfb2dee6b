package distribution_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPageLimitsOfTheInterface: what closes a page is set, shown and removed; its password
// is never shown.
func TestPageLimitsOfTheInterface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	for member, path := range map[string]string{"project": p("/api/v3/projects/%d", up.Project.ID),
		"build": p("/api/v3/builds/%d", up.Build.ID)} {
		shown := func(tree map[string]any) []any {
			got := tree[member].(map[string]any)
			require.NotContains(t, got, "landing_page_password")
			return []any{got["landing_page_expires_at"], got["landing_page_max_installs"], got["landing_page_installs"],
				got["landing_page_has_password"]}
		}
		none := []any{nil, nil, 0.0, false}
		require.Equal(t, none, shown(w.ok(w.member, 200, "GET", path, "")))
		set := w.ok(w.member, 200, "PUT", path,
			`{"landing_page_expires_at":"2036-12-31T19:00:00+01:00","landing_page_max_installs":10,"landing_page_password":"open sesame"}`)
		all := []any{"2036-12-31T18:00:00Z", 10.0, 0.0, true}
		require.Equal(t, all, shown(set))
		require.Equal(t, all, shown(w.ok(w.member, 200, "PUT", path, `{"landing_page_mode":"open"}`)), "what is not sent stays")
		for _, bad := range []string{`{"landing_page_expires_at":"tomorrow"}`, `{"landing_page_expires_at":7}`, `{"landing_page_max_installs":0}`,
			`{"landing_page_max_installs":-1}`, `{"landing_page_max_installs":1.5}`, `{"landing_page_max_installs":"many"}`,
			`{"landing_page_password":"short"}`,
			`{"landing_page_password":"` + strings.Repeat("x", 201) + `"}`} {
			name, _, _ := strings.Cut(strings.TrimPrefix(bad, `{"`), `"`)
			w.refused(w.member, 400, "PUT", path, bad, name)
		}
		for _, bad := range []string{`{"landing_page_password":{}}`, `{"landing_page_max_installs":[]}`, `{"landing_page_expires_at":true}`} {
			w.refused(w.member, 400, "PUT", path, bad)
		}
		w.refused(w.neighbor, 403, "PUT", path, `{"landing_page_password":"of another team"}`)
		w.refused(w.stranger, 404, "PUT", path, `{"landing_page_password":"of nobody"}`)
		require.Equal(t, []any{nil, 10.0, 0.0, true}, shown(w.ok(w.member, 200, "PUT", path, `{"landing_page_expires_at":null}`)))
		require.Equal(t, none, shown(w.ok(w.member, 200, "PUT", path, "landing_page_max_installs=&landing_page_password=")))
	}
	require.Zero(t, w.count(`select count(*) from audit_events where detail::text like '%sesame%' or detail::text like '%pbkdf2%'`))
	require.Equal(t, 3, w.count(`select count(*) from audit_events where action = 'project.updated' and detail::text like '%landing_page_%'`))

	// A copy keeps what closes its original, with a count of its own.
	w.ok(w.member, 200, "PUT", p("/api/v3/projects/%d", up.Project.ID),
		`{"landing_page_max_installs":5,"landing_page_password":"open sesame"}`)
	copied := w.ok(w.member, 201, "POST", p("/api/v3/projects/%d/copy", up.Project.ID), "")["project"].(map[string]any)
	require.Equal(t, []any{5.0, true}, []any{copied["landing_page_max_installs"], copied["landing_page_has_password"]})
	require.EqualValues(t, up.Project.ID, copied["duplicate_of"])
}

// TestPlatformsOfTheInterface: any case comes in, one goes out, and what is none is refused.
func TestPlatformsOfTheInterface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := func(name, platform string) string {
		return p(`{"name":"App","package_name":%q,"platform":%q,"team_id":%d}`, name, platform, w.one)
	}
	got := w.ok(w.member, 201, "POST", "/api/v3/projects", body("com.app", "ios"))["project"].(map[string]any)
	require.Equal(t, "iOS", got["platform"])
	require.Nil(t, got["duplicate_of"])
	w.refused(w.member, 409, "POST", "/api/v3/projects", body("com.app", "IOS"))
	w.refused(w.member, 400, "POST", "/api/v3/projects", body("com.b", "Amiga"), "platform: must be one of Android, iOS")
	require.Len(t, w.ok(w.member, 200, "GET", "/api/v3/projects?platform=iOs", "")["projects"], 1)
	w.refused(w.member, 400, "GET", "/api/v3/projects?platform=Amiga", "", "platform")
	w.build(of("com.app"))
	require.Len(t, w.ok(w.member, 200, "GET", "/api/v3/projects?platform=android", "")["projects"], 1)
}
