package distribution_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/distribution"
)

func TestVersion2(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	folder := "games"
	first := w.build(func(u *distribution.Upload) { u.Folder = &folder })
	second := w.build(version("2.0", "30"), func(u *distribution.Upload) { u.ProjectID = first.Project.ID })
	empty := w.ok(w.member, 201, "POST", "/api/v3/projects", p(`{"name":"Empty","package_name":"e","platform":"iOS","team_id":%d}`,
		w.one))["project"].(map[string]any)

	tree := w.ok(w.neighbor, 200, "GET", "/api/2/projects", "")
	require.Equal(t, "ok", tree["status"])
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 25.0, "total": 2.0, "total_pages": 1.0}, tree["pagination"])
	require.Equal(t, []any{empty["id"], float64(first.Project.ID)}, names(tree["projects"], "id"))
	require.Equal(t, map[string]any{"id": float64(first.Project.ID), "name": "GroupShot", "packageName": "com.groupshot",
		"platform": "Android", "icon": ""}, tree["projects"].([]any)[1])

	one := w.ok(w.neighbor, 200, "GET", p("/api/2/projects/%d-groupshot", first.Project.ID), "")
	require.Equal(t, "ok", one["status"])
	require.Equal(t, map[string]any{"id": float64(first.Project.ID), "name": "GroupShot", "packageName": "com.groupshot",
		"platform": "Android", "icon": "", "folderName": "games", "landingPageMode": "open"}, one["project"])

	path := p("/api/2/projects/%d-groupshot/builds", first.Project.ID)
	builds := w.ok(w.neighbor, 200, "GET", path+"?per_page=1", "")
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 1.0, "total": 2.0, "total_pages": 2.0}, builds["pagination"])
	item := builds["builds"].([]any)[0].(map[string]any)
	requireTime(t, item["uploadDate"])
	delete(item, "uploadDate")
	require.Equal(t, map[string]any{"id": float64(second.Build.ID), "appName": "GroupShot", "appVersion": "2.0",
		"appVersionCode": "30", "iconUrl": ""}, item)
	require.Equal(t, []any{float64(first.Build.ID)}, names(w.ok(w.neighbor, 200, "GET", path+"?per_page=1&page=2", "")["builds"], "id"))
	require.Equal(t, []any{}, w.ok(w.neighbor, 200, "GET", path+"?page=9", "")["builds"])

	for _, list := range []string{"/api/2/projects", path} {
		require.EqualValues(t, 100, w.ok(w.member, 200, "GET", list+"?per_page=99999", "")["pagination"].(map[string]any)["per_page"])
		for _, query := range []string{"per_page=0", "per_page=-1", "per_page=x", "page=0"} {
			w.refused1(w.member, 400, 1, "GET", list+"?"+query, "", "page")
		}
	}
	require.Empty(t, w.ok(w.stranger, 200, "GET", "/api/2/projects", "")["projects"])
	for _, bad := range []string{p("/api/2/projects/%d", first.Project.ID), path} {
		w.refused1(w.stranger, 404, 404, "GET", bad, "")
	}
	for _, bad := range []string{"/api/2/projects/x", "/api/2/projects/0", "/api/2/projects/999", "/api/2/projects/999/builds",
		"/api/2/projects/x/builds"} {
		w.refused1(w.member, 404, 404, "GET", bad, "")
	}
}

func TestVersion1Reads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build(func(u *distribution.Upload) { u.Package.HasSDK, u.Options = true, "video" })
	w.ok(w.member, 201, "POST", "/api/v3/projects", p(`{"name":"Empty","package_name":"e","platform":"iOS","team_id":%d}`, w.one))
	group := w.group("qa")
	tester := w.person(w.ours, "tester", "tester")
	_, err := w.db.ExecContext(t.Context(), `insert into tester_group_members (tester_group_id, user_id) values ($1, $2)`,
		group, tester.UserID)
	require.NoError(t, err)
	id, project := p("%d", up.Build.ID), p("%d", up.Project.ID)
	w.ok(w.member, 200, "PUT", "/api/v3/builds/"+id, `{"groups":"qa"}`)

	tree := w.ok(w.neighbor, 200, "GET", "/api/1/projects", "")
	require.Equal(t, "ok", tree["status"])
	require.Equal(t, []any{map[string]any{"id": project, "self": "/projects/" + project + "-groupshot", "name": "GroupShot",
		"packageName": "com.groupshot", "platform": "Android", "icon": "", "landingPageMode": "open"}}, tree["projects"],
		"only those with builds")

	path := "/api/1/projects/" + project + "-groupshot/builds"
	list := w.ok(w.neighbor, 200, "GET", path, "")
	single := w.ok(w.neighbor, 200, "GET", path+"/"+id+"-x", "")
	require.Equal(t, "ok", single["status"])
	require.Equal(t, []any{single["build"]}, list["builds"])
	b := single["build"].(map[string]any)
	requireTime(t, b["uploadedAt"])
	delete(b, "uploadedAt")
	require.Equal(t, map[string]any{"id": id, "self": "/projects/" + project + "-groupshot/builds/" + id, "projectId": project,
		"appName": "GroupShot", "appVersion": "1.2", "appVersionCode": "20", "appDisplayName": "GroupShot - 1.2 (20)", "iconUrl": "",
		"appUrl": base + "/install/" + up.Build.Token + "/download", "landingPageMode": "open", "sessions": 0.0, "crashes": 0.0,
		"testers": 1.0, "feedbacks": 0.0, "downloads": 0.0, "uploadedVia": "upload", "hasAcmeSdk": true, "insightsEnabled": false,
		"videoEnabled": true}, b)

	require.EqualValues(t, 1000, list["pagination"].(map[string]any)["per_page"])
	require.Empty(t, w.ok(w.member, 200, "GET", path+"?page=2&per_page=1", "")["builds"])
	for _, bad := range []string{"/api/1/projects", path} {
		w.refused1(w.member, 400, 1, "GET", bad+"?per_page=0", "")
		w.refused1(w.member, 400, 1, "GET", bad+"?page=-1", "")
	}
	require.Empty(t, w.ok(w.stranger, 200, "GET", "/api/1/projects", "")["projects"])
	other := w.build(of("com.other"))
	for _, bad := range []string{path, path + "/" + id} {
		w.refused1(w.stranger, 404, 404, "GET", bad, "")
	}
	for _, bad := range []string{"/api/1/projects/0/builds/" + id, p("/api/1/projects/%d/builds/%s", other.Project.ID, id),
		path + "/x", path + "/0", path + "/999", "/api/1/projects/999/builds"} {
		w.refused1(w.member, 404, 404, "GET", bad, "")
	}
}

func TestVersion1Delete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	path := p("/api/1/projects/%d-x/builds/%d-y", up.Project.ID, up.Build.ID)
	w.refused1(w.neighbor, 403, 99, "DELETE", path, "")
	w.refused1(w.stranger, 404, 404, "DELETE", path, "")
	w.refused1(w.member, 404, 404, "DELETE", p("/api/1/projects/0/builds/%d", up.Build.ID), "")
	w.refused1(w.member, 404, 404, "DELETE", p("/api/1/projects/%d/builds/x", up.Project.ID), "")
	w.refused1(w.person(w.ours, "tester", "tester"), 403, 133, "DELETE", path, "")
	require.Equal(t, map[string]any{"status": "ok"}, w.ok(w.member, 200, "DELETE", path, ""))
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'build:delete' and payload ->> 'build_id' = $1`,
		p("%d", up.Build.ID)))
	w.refused1(w.member, 404, 404, "DELETE", path, "")
	require.Empty(t, w.ok(w.member, 200, "GET", "/api/1/projects", "")["projects"], "the last build is gone")
	require.Len(t, w.ok(w.member, 200, "GET", "/api/2/projects", "")["projects"], 1)
}

func TestVersion1Update(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	w.group("QA")
	w.group("beta")
	id := p("%d", up.Build.ID)
	root := p("/api/1/projects/%d-x/builds", up.Project.ID)
	path := root + "/" + id + "-y"
	want := map[string]any{"status": "ok", "build_id": id, "tags": []any{"a", "b"}, "metadata": map[string]any{"branch": "main", "n.o": "1"},
		"changelog": "notes", "groups": []any{"beta", "QA"}, "invalid_groups": []any{"nobody"}, "landing_page_mode": "closed"}
	require.Equal(t, want, w.ok(w.member, 200, "PATCH", path,
		"comment=notes&changelog=other&tags=a,b&groups=qa,beta,nobody&landing_page_mode=closed&metadata_branch=main&metadata_n.o=1"))
	want["invalid_groups"] = []any{}
	require.Equal(t, want, w.ok(w.member, 200, "PATCH", path, ""), "only the members sent are changed")
	require.Equal(t, want, w.ok(w.member, 200, "PATCH", path, "{}"))
	want["changelog"], want["tags"], want["groups"], want["metadata"] = "json", []any{"c"}, []any{"QA"}, map[string]any{"branch": "dev"}
	require.Equal(t, want, w.ok(w.member, 200, "PATCH", path,
		`{"changelog":"json","tags":"c","app_permission_groups":"QA","metadata_branch":"dev","metadata_n.o":"","landing_page_mode":"closed"}`))
	want["groups"], want["tags"], want["changelog"] = []any{}, []any{}, "last"
	require.Equal(t, want, w.ok(w.member, 200, "PATCH", path, "groups=&tags=&release_notes=last"), "present but empty clears")
	want["groups"] = []any{"all"}
	require.Equal(t, want, w.ok(w.lead, 200, "PATCH", path, `{"groups":"all"}`))

	rec := w.call(w.member, "PATCH", path, "--x\r\nContent-Disposition: form-data; name=\"comment\"\r\n\r\nn\r\n--x--\r\n",
		"Content-Type", "multipart/form-data; boundary=x")
	refusal := w.tree(rec, 400)
	require.EqualValues(t, 1, refusal["code"])
	require.Contains(t, refusal["message"], "application/x-www-form-urlencoded or application/json")
	for _, bad := range []string{root, root + "/x", root + "/0", root + "/999", p("/api/1/projects/999/builds/%s", id)} {
		w.refused1(w.member, 400, 1, "PATCH", bad, "comment=n", "build-id")
	}
	w.refused1(w.stranger, 400, 1, "PATCH", path, "comment=n", "build-id")
	w.refused1(w.member, 404, 404, "PATCH", "/api/1/projects/x/builds/"+id, "comment=n")
	w.refused1(w.neighbor, 403, 99, "PATCH", path, "comment=n")
	w.refused1(w.person(w.ours, "tester", "tester"), 403, 133, "PATCH", path, "comment=n")
	for _, bad := range []string{"landing_page_mode=ajar", "landing_page_mode=", `{"landing_page_mode":"Open"}`} {
		w.refused1(w.member, 400, 135, "PATCH", path, bad, "landing_page_mode")
	}
	for _, bad := range []string{`{"comment":1}`, `{"metadata_x":1}`, `{`, "comment=%ff"} {
		w.refused1(w.member, 400, 1, "PATCH", path, bad)
	}
	w.requireLogin()
	w.refused1(w.member, 400, 156, "PATCH", path, "landing_page_mode=open")
	w.ok(w.member, 200, "PATCH", path, "landing_page_mode=closed")
}

func TestVersion1Copy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.build()
	w.group("qa")
	w.group("beta")
	w.ok(w.member, 200, "PUT", p("/api/v3/builds/%d", up.Build.ID), `{"groups":"qa"}`)
	path := p("/api/1/projects/%d-x/builds/%d-y/copy", up.Project.ID, up.Build.ID)

	got := w.ok(w.member, 200, "POST", path, "folder_name=release/eu&groups=")
	require.Equal(t, "ok", got["status"])
	require.Equal(t, "release/eu", got["folder_path"])
	require.Equal(t, "GroupShot", got["app_name"])
	require.Equal(t, []any{"qa"}, got["assigned_groups"], "without groups those of the original")
	for _, member := range []string{"invalid_groups", "assigned_project_groups", "invalid_project_groups"} {
		require.Equal(t, []any{}, got[member], member)
	}
	copied := w.ok(w.member, 200, "GET", "/api/v3/builds/"+got["build_id"].(string), "")["build"].(map[string]any)
	require.NotEqualValues(t, up.Project.ID, copied["project_id"])
	require.Equal(t, up.Build.File.SHA256, copied["sha256"])

	got = w.ok(w.member, 200, "POST", path,
		`{"folder_name":"other","app_name":"Renamed","groups":"beta,nobody","projectGroups":["qa","none of these"],"allowAllTesters":1}`)
	require.Equal(t, []any{"Renamed", []any{"beta"}, []any{"nobody"}, []any{"qa"}, []any{"none of these"}}, []any{got["app_name"],
		got["assigned_groups"], got["invalid_groups"], got["assigned_project_groups"], got["invalid_project_groups"]})
	require.Equal(t, 1, w.count(`select count(*) from projects where folder_id is not null and name = 'Renamed'`))

	for _, bad := range []string{"", "{}", "folder_name=", "folder_name=+", `{"folder_name":1}`} {
		w.refused1(w.member, 400, 1, "POST", path, bad, "folder_name")
	}
	w.refused1(w.member, 400, 1, "POST", path, "folder_name=x&allowAllTesters=maybe", "allowAllTesters")
	w.refused1(w.neighbor, 403, 99, "POST", path, "folder_name=x")
	w.refused1(w.stranger, 404, 404, "POST", path, "folder_name=x")
	w.refused1(w.member, 404, 404, "POST", p("/api/1/projects/%d/builds/999/copy", up.Project.ID), "folder_name=x")
}

func TestVersion1Download(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.buildOf([]byte("0123456789"), func(u *distribution.Upload) { u.FileName = "../Grüße\r\n.apk" })
	path := p("/api/1/projects/%d-x/builds/%d-y/download", up.Project.ID, up.Build.ID)
	downloads := func() int { return w.count(`select downloads from builds where id = $1`, up.Build.ID) }
	etag := `"` + up.Build.File.SHA256 + `"`

	rec := w.call(w.neighbor, "GET", path, "")
	require.Equal(t, 200, rec.Code)
	require.Equal(t, "0123456789", rec.Body.String())
	for name, want := range map[string]string{"Content-Length": "10", "ETag": etag, "Accept-Ranges": "bytes",
		"Content-Type": "application/vnd.android.package-archive", "X-Content-Type-Options": "nosniff"} {
		require.Equal(t, want, rec.Header().Get(name), name)
	}
	disposition := rec.Header().Get("Content-Disposition")
	require.Contains(t, disposition, "attachment; filename")
	require.NotContains(t, disposition, "/")
	require.Equal(t, 1, downloads())

	for _, one := range []struct {
		name    string
		headers []string
		status  int
		text    string
		counts  int
	}{
		{"range", []string{"Range", "bytes=2-4"}, 206, "234", 0},
		{"from the beginning", []string{"Range", "bytes=0-3"}, 206, "0123", 1},
		{"the end", []string{"Range", "bytes=-2"}, 206, "89", 0},
		{"beyond", []string{"Range", "bytes=10-"}, 416, "", 0},
		{"another unit", []string{"Range", "lines=1-2"}, 200, "0123456789", 1},
		{"too many", []string{"Range", "bytes=0-0" + many(",1-1", 20)}, 200, "0123456789", 1},
		{"if-range", []string{"Range", "bytes=2-4", "If-Range", etag}, 206, "234", 0},
		{"if-range of another file", []string{"Range", "bytes=2-4", "If-Range", `"x"`}, 200, "0123456789", 1},
		{"if-none-match", []string{"If-None-Match", etag}, 304, "", 0},
		{"if-none-match of another file", []string{"If-None-Match", `"x"`}, 200, "0123456789", 1},
		{"if-match of another file", []string{"If-Match", `"x"`}, 412, "", 0},
	} {
		before := downloads()
		rec := w.call(w.member, "GET", path, "", one.headers...)
		require.Equal(t, one.status, rec.Code, one.name)
		if one.status < 300 {
			require.Equal(t, one.text, rec.Body.String(), one.name)
			require.Equal(t, p("%d", len(one.text)), rec.Header().Get("Content-Length"), one.name)
		}
		if one.status >= 400 {
			require.EqualValues(t, one.status, w.tree(rec, one.status)["code"], one.name)
			require.Empty(t, rec.Header().Get("Content-Disposition"), one.name)
		}
		if one.status == 416 {
			require.Equal(t, "bytes */10", rec.Header().Get("Content-Range"), one.name)
		}
		require.Equal(t, before+one.counts, downloads(), one.name)
	}
	rec = w.call(w.member, "GET", path, "", "Range", "bytes=0-1,4-5")
	require.Equal(t, 206, rec.Code)
	require.Contains(t, rec.Header().Get("Content-Type"), "multipart/byteranges")
	require.Contains(t, rec.Body.String(), "bytes 4-5/10")
	before := downloads()
	rec = w.call(w.member, "HEAD", path, "")
	require.Equal(t, []any{200, "10", etag, before}, []any{rec.Code, rec.Header().Get("Content-Length"), rec.Header().Get("ETag"),
		downloads()})

	w.state(up.Build.ID, distribution.Disabled, "recalled")
	require.Equal(t, 200, w.call(w.member, "GET", path, "").Code, "who has credentials gets the file whatever its state")
	w.refused1(w.stranger, 404, 404, "GET", path, "")
	w.refused1(w.member, 404, 404, "GET", p("/api/1/projects/%d/builds/999/download", up.Project.ID), "")
	require.NoError(t, w.objects.Delete(t.Context(), up.Build.File.Key))
	w.refused1(w.member, 404, 404, "GET", path, "")
}

func many(text string, n int) (out string) {
	for range n {
		out += text
	}
	return out
}
