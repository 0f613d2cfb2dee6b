package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// buildScript is a text that must be shown as one.
const buildScript = "<script>alert(1)</script>"

// buildsWorld is a console with an app, a build in it, and a group with a tester.
type buildsWorld struct {
	*surface
	*visitor
	app, build, group string // ids
}

func newBuildsWorld(t *testing.T) *buildsWorld {
	w := newSurface(t)
	b := &buildsWorld{surface: w}
	for _, r := range []request{
		{method: put, path: v3 + "/settings/organization", body: `{"generic_files":true}`},
		{method: post, path: v3 + "/groups", body: `{"name":"qa","team_id":{{team}}}`, save: "group=group.id"},
		{method: post, path: v3 + "/groups/{id:group}/testers", body: `{"email":"ann@example.com"}`},
		{method: post, path: v3 + "/builds/upload", files: withSymbols(uploadOf("shop.zip")), save: "build=build.id;app=build.project_id"},
	} {
		b.make(r)
	}
	installable(w)
	b.app, b.build, b.group = w.ids["app"], w.ids["build"], w.ids["group"]
	b.visitor = w.console(w.boot.Owner.Email, w.key)
	return b
}

func (b *buildsWorld) make(r request) {
	code, answer := b.surface.send(r)
	require.Less(b.t, code, 300, "%s %s: %.600s", r.method, r.path, answer)
	b.keep(r.save, answer)
}

// see opens a page that must be there.
func (b *buildsWorld) see(path string, texts ...string) *page {
	b.t.Helper()
	p := b.visitor.open("/console/builds" + path)
	require.Equal(b.t, http.StatusOK, p.status, "%s: %.2000s", path, p.text)
	for _, text := range texts {
		assert.Contains(b.t, p.text, text, path)
	}
	return p
}

// done submits a form of a page, which must say on the next what was done.
func (b *buildsWorld) done(from *page, action string, values url.Values, said string) *page {
	b.t.Helper()
	p := b.submit(from, action, values)
	require.Equal(b.t, http.StatusOK, p.status, "%s: %.2000s", action, p.text)
	assert.Contains(b.t, p.text, `class="notice good" role="status">`+said, "%s", action)
	return p
}

// shows is a value that the api shows.
func (b *buildsWorld) shows(path, name string) string {
	b.t.Helper()
	code, answer := b.surface.send(request{method: http.MethodGet, path: v3 + path})
	require.Equal(b.t, http.StatusOK, code, "%.600s", answer)
	return fmt.Sprint(member(answer, name))
}

func TestConsoleBuildsApp(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	app := "/apps/" + b.app
	p := b.see("", ">shop<", "/console/builds/apps/"+b.app, "/console/builds/builds/"+b.build)
	p = b.done(p, "/builds/create", url.Values{"name": {buildScript + strings.Repeat("x", 200)}, "package": {"com.example.hostile"},
		"platform": {"Android"}}, "The app was created")
	require.NotContains(t, p.text, buildScript)
	require.Contains(t, p.text, "&lt;script&gt;")
	require.Contains(t, p.text, "The app has no build yet")
	made := strings.TrimPrefix(p.path, "/console/builds/apps/")
	require.Equal(t, "com.example.hostile", b.shows("/projects/"+made, "project.package_name"))
	require.NotContains(t, b.see("").text, buildScript)
	require.Contains(t, b.submit(b.see(""), "/builds/create", url.Values{"name": {"again"}, "package": {"com.example.hostile"},
		"platform": {"Android"}}).text,
		`class="notice bad"`)

	// A filter narrows, one that there is none of is said, and so is one that is not valid.
	require.Contains(t, b.see("?search=hostile").text, "com.example.hostile")
	require.Contains(t, b.see("?search=nothing-is-called-so").text, "No app is like that")
	for query, text := range map[string]string{"?nonsense=1": "nonsense: is no parameter", "?platform=Toaster": "platform",
		"?page=0": "page"} {
		p := b.visitor.open("/console/builds" + query)
		require.Equal(t, http.StatusBadRequest, p.status, query)
		require.Contains(t, p.text, text)
		require.Contains(t, p.text, "Create an app", "the page is there all the same")
	}

	for _, to := range b.see(app, " shop</h1>", "<td>apk</td>", "Install page").links() {
		if strings.HasPrefix(to, "/console/builds") {
			require.Equal(t, http.StatusOK, b.visitor.open(to).status, to)
		}
	}
	settings := b.see(app + "/settings")
	settings = b.done(settings, app+"/change", url.Values{"name": {"Shop"}, "slug": {"the-shop"}, "mode": {"open"},
		"description": {"Line 1\r\nLine 2"}}, "The settings were saved.")
	require.Equal(t, "Line 1\nLine 2", b.shows("/projects/"+b.app, "project.description"))
	require.Equal(t, "the-shop", b.shows("/projects/"+b.app, "project.landing_page_slug"))
	b.done(settings, app+"/change", nil, "Nothing was changed.")
	settings = b.done(settings, app+"/page", url.Values{"expires": {"2031-02-03T04:05"}, "installs": {"7"},
		"password": {"correct horse"}}, "The install page was changed.")
	require.Equal(t, "2031-02-03T04:05:00Z", b.shows("/projects/"+b.app, "project.landing_page_expires_at"))
	require.Equal(t, "true", b.shows("/projects/"+b.app, "project.landing_page_has_password"))
	settings = b.done(settings, app+"/page", url.Values{"expires": {""}, "installs": {""}, "open": {"1"}}, "The install page was changed.")
	require.Equal(t, "false", b.shows("/projects/"+b.app, "project.landing_page_has_password"))
	require.Equal(t, "<nil>", b.shows("/projects/"+b.app, "project.landing_page_max_installs"))
	settings = b.done(settings, app+"/everyone", nil, "Every tester may have it now.")
	require.Equal(t, "true", b.shows("/projects/"+b.app, "project.all_testers"))
	settings = b.done(settings, app+"/everyone", nil, "Its groups and testers alone may have it now.")
	require.Equal(t, "false", b.shows("/projects/"+b.app, "project.all_testers"))
	require.Contains(t, settings.text, "No group has it.")
	settings = b.done(settings, app+"/groups/add", url.Values{"group": {b.group}}, "The group was given the app.")
	require.Nil(t, settings.form("/groups/add"), "every group has it")
	require.Equal(t, "qa", b.shows("/projects/"+b.app+"/groups", "groups.name"))
	settings = b.done(settings, "/groups/"+b.group+"/remove", nil, "The app was taken from the group.")
	b.done(settings, app+"/groups/add", nil, "The group was given the app.")
	b.see(app+"/testers", "ann@example.com", "qa")

	testers := b.done(b.see(app+"/testers"), "/testers/add", url.Values{"emails": {"bo@example.com\r\ncy@example.com, "}},
		"The app was given to 2 testers.")
	bo := b.surface.one(`select id::text from users where email = 'bo@example.com'`)
	testers = b.done(testers, "/testers/"+bo+"/remove", nil, "The app was taken back from the tester.")
	require.NotContains(t, testers.text, "bo@example.com")
	ann := b.surface.one(`select id::text from users where email = 'ann@example.com'`)
	require.Contains(t, b.submit(testers, "/testers/"+ann+"/remove", nil).text, "but by a group", "what a group gives stays")

	retention := b.done(b.see(app+"/retention", "No build goes now"), "/retention/change", url.Values{"builds": {"1"}, "days": {""}},
		"The retention was changed.")
	require.Equal(t, "1", b.shows("/projects/"+b.app, "project.retention_builds"))
	require.Contains(t, b.submit(retention, "/retention/change", url.Values{"builds": {"many"}}).text, "must be a whole number")

	copied := b.done(b.see(app+"/settings"), app+"/copy", url.Values{"name": {"Copy"}}, "The app was copied.")
	require.NotEqual(t, "/console/builds/apps/"+b.app, copied.path)
	id := strings.TrimPrefix(copied.path, "/console/builds/apps/")
	p = b.done(b.see("/apps/"+id+"/settings"), "/delete", nil, "The app was deleted.")
	require.Equal(t, "/console/builds", p.path)
	require.Equal(t, http.StatusNotFound, b.visitor.open("/console/builds/apps/"+id).status)
}

func TestConsoleBuildsBuild(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	build, view := "/builds/"+b.build, "/builds/"+b.build
	p := b.see(build, "shop.zip", "mapping.txt", `alt="QR code of the install page"`, "/console/crashes/symbols?build_id="+b.build)
	for node := range p.root.Descendants() {
		if node.Data == "img" {
			require.Equal(t, http.StatusOK, b.visitor.open(attribute(node, "src")).status, attribute(node, "src"))
		}
	}
	for _, to := range p.links() {
		if strings.HasPrefix(to, "/console/builds") {
			require.Equal(t, http.StatusOK, b.visitor.open(to).status, to)
		}
	}
	p = b.done(p, "/notes", url.Values{"notes": {buildScript + "\r\nsecond"}}, "The notes were saved.")
	require.NotContains(t, p.text, buildScript)
	require.Equal(t, buildScript+"\nsecond", b.shows(view, "build.release_notes"))
	p = b.done(p, build+"/change", url.Values{"tags": {"red, blue"}, "keep": {"1"}, "status": {"disabled"}}, "The build was changed.")
	require.Equal(t, "[red blue]", b.shows(view, "build.tags"))
	require.Equal(t, "true", b.shows(view, "build.keep"))
	require.Equal(t, "disabled", b.shows(view, "build.status"))
	preview := b.see(build+"/notify", "No mail can go out: the build is disabled.")
	require.Nil(t, preview.form("/notify"))
	refused := b.post("/console/builds"+build+"/notify", url.Values{"csrf": {fields(p.form("/notes")).Get("csrf")}})
	require.Contains(t, refused.text, `class="notice bad"`, "a disabled build is not announced")
	require.Contains(t, b.visitor.open("/console/builds"+build+"/download").text, `class="notice bad"`)
	p = b.done(b.see(build), build+"/change", url.Values{"status": {"enabled"}}, "The build was changed.")
	require.Equal(t, "[red blue]", b.shows(view, "build.tags"))
	p = b.done(p, "/metadata", url.Values{"key": {"channel"}, "value": {"beta=1"}}, "The key was set.")
	require.Equal(t, "beta=1", b.shows(view, "build.metadata.channel"))
	p = b.done(p, "/metadata", nil, "The key was removed.") // the first of the page's forms is that of the row
	require.Equal(t, "<nil>", b.shows(view, "build.metadata.channel"))
	p = b.done(p, build+"/page", url.Values{"expires": {"2031-02-03T04:05"}, "installs": {"3"}, "password": {"correct horse"}},
		"The install page was changed.")
	require.Equal(t, "3", b.shows(view, "build.landing_page_max_installs"))
	require.Contains(t, b.submit(p, build+"/page", url.Values{"expires": {"tomorrow"}}).text, "must be a time such as")
	p = b.done(b.see(build), build+"/groups/add", nil, "The group was given the build.")
	p = b.done(p, build+"/everyone", nil, "Every tester may have it now.")
	require.Equal(t, "true", b.shows(view, "build.all_testers"))
	require.NotNil(t, p.form("/groups/"+b.group+"/remove"), "the group stays")
	p = b.done(p, build+"/everyone", nil, "Its groups and testers alone may have it now.")
	p = b.done(p, "/groups/"+b.group+"/remove", nil, "The build was taken from the group.")
	require.Equal(t, "false", b.shows(view, "build.all_testers"))
	require.Contains(t, b.see(build+"/notify").text, "Nobody with a mail address may have this build")
	b.done(p, build+"/groups/add", nil, "The group was given the build.")
	preview = b.see(build+"/notify", "ann@example.com", "this mail", "<dt>Subject</dt><dd>", "second")
	require.NotContains(t, preview.text, buildScript)
	require.Equal(t, "0", b.surface.one(`select count(*)::text from tasks where kind = 'build:notify'`), "looking sends nothing")
	b.done(b.see(build), "/groups/"+b.group+"/remove", nil, "The build was taken from the group.") // who is mailed is invited
	p = b.done(preview, "/notify", nil, "The testers are being mailed.")
	require.Equal(t, "/console/builds"+build, p.path)
	require.Equal(t, "1", b.surface.one(`select count(*)::text from tasks where kind = 'build:notify'`))

	invites := b.done(b.see(build+"/invites", "Nobody was invited"), "/invites/add", url.Values{"group": {b.group},
		"comment": {"Look"}}, "1 person was invited.")
	require.Contains(t, invites.text, "ann@example.com")
	require.Contains(t, b.see(build+"/invites?status=installed").text, "No invitation is in that state")
	require.Equal(t, http.StatusBadRequest, b.visitor.open("/console/builds"+build+"/invites?status=lost").status)
	ann := b.surface.one(`select id::text from users where email = 'ann@example.com'`)
	invites = b.done(invites, "/invites/"+ann+"/revoke", nil, "The invitation was revoked.")
	require.Nil(t, invites.form("/revoke"))

	const fetched = `select coalesce(sum(count), 0)::text from build_installs where channel = 'api'`
	before := b.surface.one(fetched)
	file := b.visitor.open("/console/builds" + build + "/download")
	require.Equal(t, http.StatusOK, file.status)
	require.NotEqual(t, before, b.surface.one(fetched))
	b.see(build+"/installs", b.boot.Owner.Email, "api", "downloaded")
	require.Equal(t, "shop.zip", file.text, "the content of the file")
	require.Contains(t, b.visitor.open("/console/builds"+build+"/symbols").text, "com.example.Shop")
	p = b.done(b.see(build), "/copy", nil, "The build was copied.")
	require.NotEqual(t, "/console/builds"+build, p.path)
	require.Contains(t, p.text, "the same size")
	require.Contains(t, p.text, `>Build `+b.build+`</a> is the one compared with`)
	require.Contains(t, b.visitor.open(p.path+"?with=987654321").text, "there is no build 987654321")
	require.Contains(t, b.see(build).text, "No build of the same app, kind and channel is before this one.")
	require.Contains(t, b.see("/apps/"+b.app).text, "the same size")
	require.Contains(t, b.see("/apps/"+b.app+"?per_page=1").text, "the same size", "measured by the first of the next page")
	p = b.done(p, "/delete", nil, "The build was deleted.")
	require.Equal(t, "/console/builds/apps/"+b.app, p.path)
	require.Equal(t, http.StatusNotFound, b.visitor.open("/console/builds/builds/987654321").status)
}

// buildForm is the body of a form with a file.
func buildForm(t *testing.T, token, name string, content []byte, texts map[string]string) (*bytes.Buffer, string) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if token != "" {
		require.NoError(t, form.WriteField("csrf", token))
	}
	for field, text := range texts {
		require.NoError(t, form.WriteField(field, text))
	}
	part, err := form.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = part.Write(content)
	require.NoError(t, err)
	_, err = form.CreateFormFile("symbols_file", "") // what a browser sends of a field that was left empty
	require.NoError(t, err)
	require.NoError(t, form.Close())
	return &body, form.FormDataContentType()
}

func TestConsoleBuildsUpload(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	send := func(name string, content []byte, texts map[string]string) *page {
		p := b.see("/upload", "data-upload", `enctype="multipart/form-data"`)
		form := p.uploadForm()
		body, kind := buildForm(t, fields(form).Get("csrf"), name, content, texts)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+attribute(form, "action"), body)
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		return b.visitor.send(r)
	}
	apk, err := os.ReadFile("../../storage/artifact/android/testdata/bundle_shapes.apk")
	require.NoError(t, err)
	empty := map[string]string{"project_id": "", "team_id": b.ids["team"], "groups": "", "landing_page_mode": "",
		"landing_page_slug": "", "platform": "", "tags": ""}
	with := func(name, value string) map[string]string {
		texts := map[string]string{name: value}
		for field, text := range empty {
			if texts[field] == "" {
				texts[field] = text
			}
		}
		return texts
	}
	p := send("shapes.apk", apk, with("release_notes", buildScript))
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	require.Regexp(t, `^/console/builds/builds/\d+\?uploaded=1$`, p.path)
	require.Contains(t, p.text, "The build was uploaded.")
	require.NotContains(t, p.text, buildScript)
	require.Contains(t, p.text, `<dd>apk</dd>`)
	first := strings.TrimSuffix(strings.TrimPrefix(p.path, "/console/builds"), "?uploaded=1")
	require.Equal(t, buildScript, b.shows(first, "build.release_notes"))
	require.Equal(t, b.boot.Owner.Email, b.shows(first, "build.uploaded_by"))
	require.Eventually(t, func() bool {
		p := b.see(first)
		return !strings.Contains(p.text, `data-live`)
	}, time.Minute, 100*time.Millisecond, "the signature is looked at")

	// A second one is larger, and names a group that there is not.
	p = send("shapes.apk", append(apk[:len(apk):len(apk)], 0), with("groups", "qa, nobody"))
	require.Contains(t, p.path, "unknown=nobody")
	require.Contains(t, p.text, "There is no group nobody.")
	p = send("notes.txt", nil, empty)
	require.Equal(t, http.StatusBadRequest, p.status)
	main := p.text[strings.Index(p.text, "<main"):]
	require.Equal(t, strings.Index(main, `<p class="notice bad" role="alert">`), strings.Index(main, "<p"),
		"the script says the first paragraph")

	right := fields(b.see("/upload").uploadForm()).Get("csrf")
	for name, c := range map[string]struct{ query, token string }{"another token": {"", "wrong"}, "none": {"", ""},
		"in the address": {"?csrf=" + right, ""}} {
		body, kind := buildForm(t, c.token, "shapes.apk", apk, empty)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/console/builds/upload"+c.query, body)
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		require.Equal(t, http.StatusForbidden, b.visitor.send(r).status, name)
	}
	require.Equal(t, "3", b.surface.one(`select count(*)::text from builds`), "two, beside the first")
}

func TestConsoleBuildsUse(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	app, build := "/apps/"+b.app, "/builds/"+b.build
	p := b.see(app+"/tokens", "The app has no token yet")
	p = b.submit(p, "/tokens/create", url.Values{"name": {buildScript}, "quota": {"600"}, "scope": {"session:post", "feedback:post"}})
	require.Equal(t, http.StatusOK, p.status)
	require.NotContains(t, p.text, buildScript)
	require.Contains(t, p.text, "It is shown this once")
	secret := ""
	for node := range p.root.Descendants() {
		if value := attribute(node, "data-copy"); value != "" {
			secret = value
		}
	}
	require.NotEmpty(t, secret)
	require.NotContains(t, b.see(app+"/tokens").text, secret)
	b.ids["sdk"] = secret
	for _, r := range []request{
		{method: post, path: "/api/1/sdk/sessions", query: "?token={{sdk}}", as: "none", save: "session=session_id;sessionid=id",
			body: `{"session_id":"6f1d3a3e-0b1f-4f67-9a0b-0f6a9d3e8c11","build_id":{{build}},"email":"ann@example.com","device":"Pixel 8","os":"Android","os_version":"15"}`},
		{method: post, path: "/api/1/sdk/sessions/{session}/events", query: "?token={{sdk}}", as: "none",
			body: `{"seq":1,"events":[{"type":"screen","text":"Cart"},{"type":"event","text":"<script>alert(1)</script>","data":{"price":7}}]}`},
	} {
		b.make(r)
	}
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 4, 4))))
	b.make(request{method: post, path: "/api/1/sdk/feedbacks", query: "?token={{sdk}}", as: "none", save: "feedback=feedback_id",
		files: map[string]string{"text": "The cart is empty", "session_id": b.ids["session"], "build_id": b.build,
			"screenshot": "cart.png|" + picture.String()}})

	b.see(build, "downloads that began", `href="/console/builds`+build+`/installs"`)
	p = b.see(build+"/installs", "ann@example.com", "Pixel 8, Android 15", "session of the app")
	checkPage(t, p.path, p)
	require.Contains(t, b.see(build+"/installs?channel=manifest").text, "Nobody got the build that way")
	require.Equal(t, http.StatusBadRequest, b.visitor.open("/console/builds"+build+"/installs?channel=lost").status)
	ann := b.surface.one(`select m.id::text from memberships m join users u on u.id = m.user_id where u.email = 'ann@example.com'`)
	_, err := b.surface.db.ExecContext(t.Context(), `insert into build_installs (organization_id, build_id, user_id, channel, device)
		select organization_id, $2::bigint, user_id, 'page', $3 from memberships where id = $1::bigint`, ann, b.build, buildScript)
	require.NoError(t, err)
	for _, path := range []string{"/console/builds" + build + "/installs", "/console/people/testers/" + ann} {
		p = b.visitor.shows(path, "Pixel 8, Android 15", "&lt;script&gt;alert(1)&lt;/script&gt;", "installed", "downloaded")
		require.NotContains(t, p.text, buildScript)
	}
	require.Equal(t, http.StatusBadRequest, b.visitor.open("/console/people/testers/"+ann+"?page=0").status)
	p = b.done(b.see(build+"/invites", "Nobody was invited"), "/invites/add", url.Values{"group": {b.group}}, "1 person was invited.")
	require.Contains(t, p.text, "/installs?user_id=", "the session shows that it is installed, whatever the invitation says")

	b.see(app+"/sessions", "Pixel 8, Android 15", "/console/builds/sessions/"+b.ids["sessionid"])
	b.see(build+"/sessions?crashed=true", "No session is like that")
	b.see(app+"/devices", "Pixel 8, Android 15", "/sessions?search=Pixel")
	b.see(app+"/sessions?search=Pixel+8", "Pixel 8, Android 15")
	b.see(build+"/devices", "Pixel 8, Android 15")
	p = b.see("/sessions/"+b.ids["sessionid"], "Cart", "price", "data-live")
	require.NotContains(t, p.text, buildScript)
	b.make(request{method: post, path: "/api/1/sdk/sessions/{session}/end", query: "?token={{sdk}}", body: `{"duration":3}`, as: "none"})
	require.NotContains(t, b.see("/sessions/"+b.ids["sessionid"]).text, "data-live")

	for _, query := range []string{"", "?project_id=" + b.app, "?build_id=" + b.build, "?search=cart"} {
		b.see("/feedback"+query, "The cart is empty", "/console/builds/feedback/"+b.ids["feedback"])
	}
	p = b.see("/feedback/"+b.ids["feedback"], "The cart is empty")
	shown := false
	for node := range p.root.Descendants() {
		if node.Data == "img" {
			shown = true
			require.Equal(t, picture.String()[:8], b.visitor.open(attribute(node, "src")).text[:8])
		}
	}
	require.True(t, shown)
	b.done(p, "/delete", nil, "The feedback was deleted.")
	require.Equal(t, http.StatusNotFound, b.visitor.open("/console/builds/feedback/"+b.ids["feedback"]).status)

	p = b.done(b.see(app+"/tokens"), "/revoke", nil, "The token was revoked.")
	require.Nil(t, p.form("/revoke"))
	require.NotEmpty(t, b.surface.one(`select coalesce(revoked_at::text, '') from sdk_tokens`))
}

// A member sees the pages without what takes more, and a stranger's ids lead nowhere.
func TestConsoleBuildsRights(t *testing.T) {
	t.Parallel()
	b := newBuildsWorld(t)
	b.make(request{method: post, path: v3 + "/service-accounts", body: `{"username":"robot","role":"member"}`, save: "robot=secret"})
	member := b.console("robot", b.ids["robot"])
	for _, path := range []string{"", "/apps/" + b.app, "/apps/" + b.app + "/testers", "/apps/" + b.app + "/retention",
		"/builds/" + b.build, "/builds/" + b.build + "/invites"} {
		p := member.open("/console/builds" + path)
		require.Equal(t, http.StatusOK, p.status, path)
		require.Nil(t, p.form("/delete"), path)
		require.NotContains(t, p.text, "/tokens", path)
	}
	require.Equal(t, http.StatusForbidden, member.open("/console/builds/apps/"+b.app+"/tokens").status)
	rival := b.organization("rival")
	stranger := b.console(rival.Owner.Email, rival.Owner.APIKey)
	for _, path := range []string{"/apps/" + b.app, "/apps/" + b.app + "/settings", "/builds/" + b.build,
		"/builds/" + b.build + "/download"} {
		require.Equal(t, http.StatusNotFound, stranger.open("/console/builds"+path).status, path)
	}
	require.NotContains(t, stranger.open("/console/builds").text, ">shop<")
}
