package distribution_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
)

func TestListProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.build().Project
	second := w.build(of("com.second"), w.inTwo).Project
	tree := w.ok(w.member, 200, "GET", "/api/v3/projects", "")
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 25.0, "total": 2.0, "total_pages": 1.0}, tree["pagination"])
	require.Equal(t, []any{float64(second.ID), float64(first.ID)}, names(tree["projects"], "id"), "newest first, of all teams")
	item := tree["projects"].([]any)[1].(map[string]any)
	require.Equal(t, "com.groupshot", item["package_name"])
	require.Equal(t, "Android", item["platform"])
	require.EqualValues(t, w.one, item["team_id"])
	require.EqualValues(t, 1, item["build_count"])
	require.Equal(t, map[string]any{"id": float64(first.LatestBuildID), "url": p("%s/api/v3/builds/%d", base, first.LatestBuildID)},
		item["latest_build"])
	for _, member := range []string{"name", "icon", "folder_name", "landing_page_slug", "landing_page_mode", "created_at",
		"updated_at", "description", "landing_page_url"} {
		require.IsType(t, "", item[member], member)
	}
	for query, want := range map[string]int{"search=SECOND": 1, "search=%25": 0, "search=group": 1, "platform=iOS": 0, "platform=Android": 2,
		p("team_id=%d", w.two): 1, "team_id=99999": 0, "page=2": 2, "per_page=100000": 2, "per_page=99999999999999999999": 2} {
		require.EqualValues(t, want, w.ok(w.member, 200, "GET", "/api/v3/projects?"+query, "")["pagination"].(map[string]any)["total"], query)
	}
	require.EqualValues(t, 100, w.ok(w.member, 200, "GET", "/api/v3/projects?per_page=1000", "")["pagination"].(map[string]any)["per_page"])
	for _, query := range []string{"per_page=0", "per_page=-1", "per_page=x", "page=0", "page=-1", "team_id=x", "team_id=0",
		"search=%00", "search=%ff", "platform=%00"} {
		w.refused(w.member, 400, "GET", "/api/v3/projects?"+query, "")
	}
	require.Empty(t, w.ok(w.stranger, 200, "GET", "/api/v3/projects", "")["projects"])
}

func TestGetProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	for _, id := range []string{p("%d", up.Project.ID), p("%d-groupshot", up.Project.ID)} {
		got := w.ok(w.neighbor, 200, "GET", "/api/v3/projects/"+id, "")["project"].(map[string]any)
		require.EqualValues(t, up.Project.ID, got["id"])
		latest := got["latest_build"].(map[string]any)
		require.EqualValues(t, up.Build.ID, latest["id"])
		require.Equal(t, "1.2", latest["version"])
		require.Equal(t, "20", latest["version_code"])
		require.Equal(t, "enabled", latest["status"])
		require.NotEmpty(t, latest["created_at"])
	}
	w.refused(w.stranger, 404, "GET", p("/api/v3/projects/%d", up.Project.ID), "")
	for _, id := range []string{"0", "x", "-1", "99999", "99999999999999999999", "1x"} {
		w.refused(w.member, 404, "GET", "/api/v3/projects/"+id, "")
	}
}

func TestCreateProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := p(`{"name":"App","package_name":"com.app","platform":"iOS","team_id":%d,"folder_name":"a/b","description":"*d*",
		"landing_page_mode":"closed","landing_page_slug":"my.app-1"}`, w.one)
	got := w.ok(w.member, 201, "POST", "/api/v3/projects", text)["project"].(map[string]any)
	for member, want := range map[string]any{"name": "App", "package_name": "com.app", "platform": "iOS", "folder_name": "a/b",
		"description": "*d*", "landing_page_mode": "closed", "landing_page_slug": "my.app-1", "latest_build": nil,
		"landing_page_url": base + "/install/my.app-1", "team_id": float64(w.one), "build_count": 0.0} {
		require.Equal(t, want, got[member], member)
	}
	require.Equal(t, got, w.ok(w.member, 200, "GET", p("/api/v3/projects/%.0f", got["id"]), "")["project"])
	form := p("name=Form&package_name=com.form&platform=Android&team_id=%d&folder=x&api_key=ignored", w.one)
	require.Equal(t, "x", w.ok(w.member, 201, "POST", "/api/v3/projects", form)["project"].(map[string]any)["folder_name"])

	w.refused(w.member, 409, "POST", "/api/v3/projects", text[:len(text)-1]+`,"landing_page_slug":"another"}`)
	w.refused(w.member, 409, "POST", "/api/v3/projects",
		p(`{"name":"b","package_name":"com.b","platform":"iOS","team_id":%d,"landing_page_slug":"MY.app-1"}`, w.one), "landing_page_slug")
	w.refused(w.member, 403, "POST", "/api/v3/projects", p(`{"name":"b","package_name":"com.b","platform":"iOS","team_id":%d}`, w.two))
	w.refused(w.owner, 400, "POST", "/api/v3/projects", `{"name":"b","package_name":"com.b","platform":"iOS"}`, "team_id_required")
	for _, bad := range []string{`[`, `{"name":5}`, `{"team_id":"x"}`, `{"team_id":0}`, `{"landing_page_mode":"ajar"}`, `{"name":"a\u0000"}`,
		`{"name":"x","platform":"iOS","team_id":99999}`, p(`{"name":"","team_id":%d,"platform":"iOS"}`, w.one),
		p(`{"name":"x","team_id":%d,"platform":"iOS","landing_page_slug":".short."}`, w.one)} {
		w.refused(w.member, 400, "POST", "/api/v3/projects", bad)
	}
	w.requireLogin()
	w.refused(w.member, 400, "POST", "/api/v3/projects",
		p(`{"name":"b","package_name":"com.b","platform":"iOS","team_id":%d,"landing_page_mode":"open"}`, w.one), "login")
	require.Equal(t, 2, w.count(`select count(*) from audit_events where action = 'project.created' and actor = 'member@example.com'`))
}

func TestUpdateProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	other := w.build(of("com.other"), w.inTwo)
	w.ok(w.neighbor, 200, "PUT", p("/api/v3/projects/%d", other.Project.ID), `{"landing_page_slug":"taken.slug"}`)
	w.group("qa")
	path := p("/api/v3/projects/%d-slug", up.Project.ID)
	tree := w.ok(w.member, 200, "PUT", path,
		`{"name":"New","folder_name":"f","landing_page_slug":"new.slug","description":"d","groups":"qa, nobody"}`)
	got := tree["project"].(map[string]any)
	require.Equal(t, []any{"nobody"}, tree["invalid_groups"])
	for member, want := range map[string]any{"name": "New", "folder_name": "f", "landing_page_slug": "new.slug", "description": "d",
		"package_name": "com.groupshot", "landing_page_mode": "open"} {
		require.Equal(t, want, got[member], member)
	}
	require.Equal(t, 1, w.count(`select count(*) from project_groups where project_id = $1`, up.Project.ID))
	got = w.ok(w.member, 200, "PUT", path,
		`{"folder_name":"","landing_page_slug":"","landing_page_mode":"closed"}`)["project"].(map[string]any)
	require.Equal(t, []any{"", "", "closed", "New"}, []any{got["folder_name"], got["landing_page_slug"], got["landing_page_mode"],
		got["name"]})
	require.Equal(t, 1, w.count(`select count(*) from project_groups where project_id = $1`, up.Project.ID), "groups were not sent")
	require.Equal(t, true, w.ok(w.member, 200, "PUT", path, `{"groups":["all"]}`)["project"].(map[string]any)["all_testers"])
	require.Equal(t, false, w.ok(w.member, 200, "PUT", path, "groups=none")["project"].(map[string]any)["all_testers"])
	require.Zero(t, w.count(`select count(*) from project_groups where project_id = $1`, up.Project.ID))
	moved := w.ok(w.lead, 200, "PUT", path, p(`{"team_id":%d}`, w.two))["project"].(map[string]any)
	require.EqualValues(t, w.two, moved["team_id"])

	w.refused(w.member, 403, "PUT", path, `{"name":"x"}`)
	w.refused(w.stranger, 404, "PUT", path, `{"name":"x"}`)
	w.refused(w.owner, 404, "PUT", "/api/v3/projects/x", `{"name":"x"}`)
	w.refused(w.owner, 409, "PUT", path, `{"landing_page_slug":"taken.slug"}`)
	w.refused(w.owner, 400, "PUT", path, `{"landing_page_slug":"-bad"}`)
	w.refused(w.owner, 400, "PUT", path, `{"landing_page_mode":"ajar"}`)
	w.refused(w.owner, 400, "PUT", path, `{"team_id":99999}`, "team_id")
	w.refused(w.neighbor, 403, "PUT", path, p(`{"team_id":%d}`, w.one))
	w.requireLogin()
	w.refused(w.owner, 400, "PUT", path, `{"landing_page_mode":"open"}`, "login")
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/v3/projects/%d", up.Project.ID)
	w.refused(w.member, 403, "DELETE", path, "")
	w.refused(w.neighbor, 403, "DELETE", path, "")
	w.refused(w.stranger, 404, "DELETE", path, "")
	require.Zero(t, w.count(`select count(*) from tasks`))
	rec := w.call(w.lead, "DELETE", path, "")
	require.Equal(t, 204, rec.Code)
	require.Empty(t, rec.Body.String())
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'project:delete' and organization_id = $1
		and payload = jsonb_build_object('project_id', $2::bigint)`, w.ours, up.Project.ID))
	w.refused(w.lead, 404, "DELETE", path, "")
	w.refused(w.lead, 404, "GET", path, "")
	w.refused(w.lead, 404, "GET", p("/api/v3/builds/%d", up.Build.ID), "")
	require.Empty(t, w.ok(w.owner, 200, "GET", "/api/v3/projects", "")["projects"])
	other := w.build(of("com.other"))
	require.Equal(t, 204, w.call(w.owner, "DELETE", p("/api/v3/projects/%d-x", other.Project.ID), "").Code)
	require.Equal(t, 2, w.count(`select count(*) from audit_events where action = 'project.deleted'`))
}

func TestCopyProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/v3/projects/%d/copy", up.Project.ID)
	got := w.ok(w.member, 201, "POST", path, `{"name":"Copy","folder_name":"copies"}`)["project"].(map[string]any)
	require.NotEqualValues(t, up.Project.ID, got["id"])
	require.Equal(t, "Copy", got["name"])
	require.Equal(t, "copies", got["folder_name"])
	require.Equal(t, "com.groupshot", got["package_name"])
	require.Equal(t, "1.2", got["latest_build"].(map[string]any)["version"])
	w.refused(w.neighbor, 403, "POST", path, "")
	w.refused(w.stranger, 404, "POST", path, "")
	w.refused(w.member, 404, "POST", "/api/v3/projects/999/copy", "")
	w.refused(w.member, 400, "POST", path, `{"name":1}`)
}

// TestAllTesters: an app that every tester may have, and its copies.
func TestAllTesters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	tester := w.person(w.ours, "tess", account.Tester)
	path := p("/api/v3/projects/%d", up.Project.ID)
	open := func(tree map[string]any) any { return tree["project"].(map[string]any)["all_testers"] }
	access := func(build int64) bool {
		a, err := installpage.BuildAccess(t.Context(), w.db, build, tester.UserID)
		require.NoError(t, err)
		return a.Allowed
	}
	latest := func(tree map[string]any) int64 {
		return int64(tree["project"].(map[string]any)["latest_build"].(map[string]any)["id"].(float64))
	}
	require.False(t, access(up.Build.ID))
	require.Equal(t, true, open(w.ok(w.member, 200, "PUT", path, `{"all_testers":true}`)))
	require.True(t, access(up.Build.ID))
	require.Equal(t, true, open(w.ok(w.member, 200, "PUT", path, "allowAllTesters=1&name=App")))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where action = 'distribution.changed'`), "once")
	copied := w.ok(w.member, 201, "POST", path+"/copy", `{"name":"open"}`)
	require.Equal(t, true, open(copied))
	require.True(t, access(latest(copied)))
	copied = w.ok(w.member, 201, "POST", path+"/copy", `{"name":"closed","allowAllTesters":false}`)
	require.Equal(t, false, open(copied))
	require.False(t, access(latest(copied)))
	made := w.ok(w.member, 201, "POST", "/api/v3/projects", p(`{"name":"new","team_id":%d,"all_testers":1}`, w.one))
	require.Equal(t, true, open(made))

	copy1 := func(text string) int64 {
		got := w.ok(w.member, 200, "POST", p("/api/1/projects/%d/builds/%d/copy", up.Project.ID, up.Build.ID), text)
		return int64(w.count(`select id from builds where id::text = $1`, got["build_id"]))
	}
	require.True(t, access(copy1("folder_name=a")), "as the original")
	require.False(t, access(copy1("folder_name=b&allowAllTesters=0")))
	require.Equal(t, false, open(w.ok(w.member, 200, "PUT", path, `{"all_testers":false}`)))
	require.False(t, access(up.Build.ID))
	require.True(t, access(copy1("folder_name=c&allowAllTesters=1")))
	require.False(t, access(copy1("folder_name=d")))
	w.refused(w.member, 400, "PUT", path, `{"all_testers":"maybe"}`, "all_testers")
}

func TestProjectBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.build()
	second := w.build(version("2.0", "30"))
	w.ok(w.member, 200, "PUT", p("/api/v3/builds/%d", second.Build.ID), `{"tags":["rc"],"release_notes":"Fixes Login"}`)
	path := p("/api/v3/projects/%d-x/builds", first.Project.ID)
	tree := w.ok(w.neighbor, 200, "GET", path, "")
	require.Equal(t, []any{float64(second.Build.ID), float64(first.Build.ID)}, names(tree["builds"], "id"))
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 25.0, "total": 2.0, "total_pages": 1.0}, tree["pagination"])
	for query, want := range map[string]int{"version=2.0": 1, "version=9": 0, "tag=rc": 1, "tag=x": 0, "search=login": 1, "search=1.2": 1,
		"page=2&per_page=1": 2, "per_page=500": 2} {
		require.EqualValues(t, want, w.ok(w.member, 200, "GET", path+"?"+query, "")["pagination"].(map[string]any)["total"], query)
	}
	for _, query := range []string{"per_page=0", "per_page=-1", "page=0", "version=%00", "tag=%ff", "search=%00"} {
		w.refused(w.member, 400, "GET", path+"?"+query, "")
	}
	w.refused(w.stranger, 404, "GET", path, "")
	w.refused(w.member, 404, "GET", "/api/v3/projects/999/builds", "")
}
