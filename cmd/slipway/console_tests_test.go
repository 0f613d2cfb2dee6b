package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
	testrun "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

const (
	hostile      = `<script>alert(1)</script>`
	hostileShown = `&lt;script&gt;alert(1)&lt;/script&gt;`
	typedSteps   = `[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"/login"}}},
		{"id":"s2","tool":{"type":"click","args":{"selector":{"type":"role","value":"button","name":"Save"}}},"optional":true},
		{"id":"s3","tool":{"type":"assert","args":{"selector":{"type":"css","value":"h1"},"matcher":{"name":"text","args":{"value":"Saved"}}}}}]`
)

// says holds that the page has a text.
func (p *page) says(t *testing.T, text string) {
	t.Helper()
	_, shown, _ := strings.Cut(p.text, "<main")
	require.True(t, strings.Contains(p.text, text), "%s does not say %q:\n%.6000s", p.path, text, shown)
}

// importedCase pastes steps into the import and returns the page of the case, and its id.
func (c *visitor) importedCase(name string) (p *page, id string) {
	c.w.t.Helper()
	p = c.submit(c.open("/console/tests/generate"), "/tests/import", url.Values{"document": {typedSteps}, "name": {name}})
	require.Contains(c.w.t, p.text, "The test was imported.", "%.2000s", p.text)
	return p, p.path[strings.LastIndexByte(p.path, '/')+1:]
}

// targeted gives a case targets by the form.
func (c *visitor) targeted(id, address string) {
	c.w.t.Helper()
	p := c.submit(c.open("/console/tests/cases/"+id+"/edit"), "/edit", url.Values{"url": {address}, "tags": {"smoke, shop"}, "targets": {
		`[{"capabilities":{"browserName":"chrome"}},{"capabilities":{"browserName":"firefox"}}]`}})
	require.Contains(c.w.t, p.text, "The test was changed.", "%.3000s", p.text)
}

func TestConsoleTestsCase(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := c.open("/console/tests")
	require.Equal(t, http.StatusOK, p.status, "%.600s", p.text)
	p.says(t, "There is no test yet.")
	p = c.open("/console/tests?nothing=1")
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "This filter was not understood: nothing")

	p, id := c.importedCase(hostile)
	p.says(t, hostileShown)
	require.NotContains(t, p.text, hostile)
	for _, words := range []string{"Open", "/login", `button &#34;Save&#34;`, "soft: may fail", "css h1", `text equals &#34;Saved&#34;`} {
		p.says(t, words)
	}
	at := "/console/tests/cases/" + id
	require.Equal(t, at, p.path)
	require.Contains(t, c.open("/console/tests?search=alert").text, hostileShown)
	require.Contains(t, c.open("/console/tests?search=nowhere").text, "No test fits these filters.")

	// Editing: what is refused is said, and what was typed is there still.
	edit := c.open(at + "/edit")
	require.NotContains(t, edit.text, "screenshotUrl")
	p = c.submit(edit, "/edit", url.Values{"steps": {"[\n{]"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "The steps are no JSON, in line 2")
	p.says(t, "{]</textarea>")
	p = c.submit(edit, "/edit", url.Values{"steps": {`[{"tool":{"type":"jump","args":{}}}]`}})
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "steps[0].tool.type: must be one of")
	p.says(t, "jump")
	c.targeted(id, "https://shop.example.com/")
	require.Equal(t, "1", w.one(`select count(*)::text from test_revisions where case_id = $1`, id),
		"steps that are what they were make no revision")
	p = c.submit(c.open(at+"/edit"), "/edit", url.Values{"steps": {`[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"/other"}}}]`}})
	p.says(t, "The test was changed.")
	p.says(t, "/other")
	require.Equal(t, "2", w.one(`select count(*)::text from test_revisions where case_id = $1`, id))
	p = c.submit(p, "/restore", nil)
	p.says(t, "in a new revision")
	p.says(t, "/login")

	p = c.submit(p, "/rename", url.Values{"name": {"sign in"}})
	require.Equal(t, "sign in", w.one(`select name from test_cases where id = $1`, id))
	p = c.submit(p, "/rename", url.Values{"name": {strings.Repeat("n", 10_000)}})
	require.Equal(t, at, p.path)
	p.says(t, "Name: must have at most 255 characters")
	copied := c.submit(p, "/duplicate", url.Values{"name": {"its copy"}})
	require.Contains(t, copied.text, "This is the copy.")
	gone := c.submit(copied, "/delete", nil)
	require.Contains(t, gone.text, "The test was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_cases where name = 'its copy'`))

	p = c.open(at + "/code")
	p.says(t, "Download")
	require.Contains(t, c.open(at+"/code/file?target=javascript_playwright").text, "login")
	p = c.open(at + "/code?target=nothing")
	require.Equal(t, http.StatusBadRequest, p.status)

	// A sentence more: the task has a page that lives, and can be cancelled.
	p = c.submit(c.open(at), "/refine", url.Values{"intent": {"Sign out again"}, "target": {"1"}})
	require.Contains(t, p.path, "/console/tests/generate/", "%.2000s", p.text)
	p.says(t, "data-live=")
	p.says(t, "queued")
	p = c.submit(p, "/cancel", nil)
	require.NotContains(t, p.text, "data-live=")
	p.says(t, "Back to the test")

	// Healings.
	w.ids["case"], w.ids["revision"] = id, w.one(`select id from test_revisions where case_id = $1 limit 1`, id)
	heal(w)
	p = c.open(at + "/healings")
	p.says(t, "css #b")
	p = c.submit(p, "/healings/"+w.ids["healing"], url.Values{"action": {"refuse"}})
	p.says(t, "It was refused")
	require.Contains(t, c.open(at+"/healings?state=OPEN").text, "No healing fits these filters.")
	require.Contains(t, c.open(at+"/healings?state=odd").text, "This filter was not understood")
}

func TestConsoleTestsGenerate(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := c.submit(c.open("/console/tests/generate"), "/tests/generate", url.Values{"intent": {"Click on " + hostile},
		"url": {"file:///etc/passwd"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "testUrl")
	p.says(t, "Click on "+hostileShown+"</textarea>")
	p = c.submit(p, "/tests/generate", url.Values{"url": {"https://shop.example.com/"}})
	require.Contains(t, p.path, "/console/tests/generate/", "%.3000s", p.text)
	p.says(t, "The test is being written.")
	p.says(t, "data-live=")
	p.says(t, "Generation of Click on "+hostileShown)
	task := p.path[strings.LastIndexByte(p.path, '/')+1:]
	_, err := w.db.ExecContext(t.Context(), `update test_generations set state = 'FAILED', error_code = 'NO_SESSION',
		error = 'no browser was free', finished_at = now() where id = $1`, task)
	require.NoError(t, err)
	p = c.open(p.path)
	p.says(t, "no browser was free")
	require.NotContains(t, p.text, "data-live=")

	// A file: a project of Selenium IDE, and a case as the interface shows it.
	side := `{"id":"p","version":"2.0","name":"from the IDE","url":"https://shop.example.com",
		"tests":[{"id":"t","name":"one","commands":[{"id":"c","command":"open","target":"/","value":""}]}],"suites":[],"urls":[],"plugins":[]}`
	p = c.sendFile(c.open("/console/tests/generate"), "/tests/import/file", side)
	p.says(t, "The test was imported.")
	p.says(t, "from the IDE")
	w.ids["id"] = p.path[strings.LastIndexByte(p.path, '/')+1:]
	_, whole := w.send(request{method: http.MethodGet, path: ai + "/testcases/{id}"})
	p = c.sendFile(c.open("/console/tests/generate"), "/tests/import/file", string(whole))
	p.says(t, "The test was imported.")
	require.Equal(t, "2", w.one(`select count(*)::text from test_cases where name = 'from the IDE'`))
	p = c.sendFile(c.open("/console/tests/generate"), "/tests/import/file", "no JSON")
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "in line 1")
}

// sendFile sends a form with a file.
func (c *visitor) sendFile(from *page, action, content string) *page {
	c.w.t.Helper()
	to := from.uploadForm()
	require.NotNil(c.w.t, to)
	require.Equal(c.w.t, "/console"+action, attribute(to, "action"))
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(c.w.t, form.WriteField("csrf", fields(to).Get("csrf")))
	part, err := form.CreateFormFile("document", "test.json")
	require.NoError(c.w.t, err)
	_, err = part.Write([]byte(content))
	require.NoError(c.w.t, err)
	require.NoError(c.w.t, form.Close())
	r, err := http.NewRequestWithContext(c.w.t.Context(), http.MethodPost, c.w.base+attribute(to, "action"), &body)
	require.NoError(c.w.t, err)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return c.send(r)
}

// endedJob ends a job as a worker does that found a healed step and then a wrong title.
func (w *surface) endedJob(job string) {
	w.t.Helper()
	ctx, id, picture, console := w.t.Context(), uuid.MustParse(job), uuid.New(), uuid.New()
	for _, one := range []struct {
		file          uuid.UUID
		kind, content string
	}{{picture, "image/png", "\x89PNG\r\n\x1a\n"}, {console, "text/plain; charset=utf-8", "a message of the console"}} {
		_, err := object.Put(ctx, w.services.Objects, testrun.FileKey(id, one.file), strings.NewReader(one.content),
			int64(len(one.content)), object.WriteOptions{ContentType: one.kind})
		require.NoError(w.t, err)
	}
	healed := &playback.Healed{From: step.Selector{Type: step.ByRole, Value: "button", Name: "Save"},
		To: step.Selector{Type: step.CSS, Value: "#new"}, Score: 0.9, Reason: "same name"}
	title := &step.Matcher{Name: step.TitleIs, Args: step.MatcherArgs{Value: "Shop"}}
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error {
		_, err := testrun.EndJob(ctx, tx, id, testrun.JobEnd{Status: testrun.Failed, ErrorCode: "ASSERTION_FAILED",
			Error: "the title is another " + hostile,
			Records: []playback.Record{
				{StepID: "s2", Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &healed.From}}, Status: playback.Passed,
					Result: step.Outcome{Success: true}, Healed: healed, TookMS: 1200, ScreenshotID: picture.String()},
				{StepID: "s3", Tool: step.Tool{Type: step.Assert, Args: step.Args{Matcher: title}}, Status: playback.Failed,
					Result: step.Outcome{Message: "the title is another"}, StartMS: 1200},
			},
			Files: []testrun.NewFile{{ID: picture, Kind: testrun.Screenshot, Key: testrun.FileKey(id, picture), ContentType: "image/png", Size: 8},
				{ID: console, Kind: testrun.Console, Step: 1, Key: testrun.FileKey(id, console), ContentType: "text/plain; charset=utf-8", Size: 24}}})
		return err
	}))
}

func TestConsoleTestsFilm(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase("sign in")
	at := "/console/tests/cases/" + id
	p := c.submit(c.open(at), "/run", nil)
	require.Equal(t, at, p.path)
	p.says(t, "names a target to run on")
	c.targeted(id, "https://shop.example.com/")

	p = c.createdSuite("smoke " + hostile)
	p.says(t, "smoke "+hostileShown)
	suite := p.path
	p = c.submit(p, "/add", nil)
	p.says(t, "Choose at least one test.")
	p = c.submit(p, "/add", url.Values{"case": {id}})
	p.says(t, "The tests are in the suite.")
	require.Equal(t, "1", w.one(`select count(*)::text from test_cases where suite_id is not null`))
	p = c.submit(p, "/remove", url.Values{"case": {id}})
	p.says(t, "no longer in the suite")
	p = c.submit(c.open(at), "/suite", url.Values{"suite": {suite[strings.LastIndexByte(suite, '/')+1:]}})
	p.says(t, "The test is in the suite.")
	require.Contains(t, c.open(suite+"?find=sign").text, "No other test has this in its name.")

	// A run on one of the two targets.
	p = c.submit(c.open(at), "/run", url.Values{"build": {"build 7"}, "target": {"1"}})
	p.says(t, "The run was started.")
	p.says(t, "data-live=")
	p.says(t, "build 7")
	require.Equal(t, "firefox", w.one(`select string_agg(target->'capabilities'->>'browserName', ',') from test_jobs`))
	first := p.path
	w.endedJob(w.one(`select id::text from test_jobs`))
	p = c.open(first)
	require.NotContains(t, p.text, "data-live=")
	for _, text := range []string{"assertion failed", "the title is another " + hostileShown, `button &#34;Save&#34;`,
		"css #new", "90 %", "Console messages", "title equals &#34;Shop&#34;"} {
		p.says(t, text)
	}
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "img" {
			require.Equal(t, "\x89PNG\r\n\x1a\n", c.open(attribute(node, "src")).text)
		}
	}
	require.Contains(t, c.open(first+"/junit").text, "<testsuite")
	decided := c.submit(p, "/healings/"+w.one(`select id::text from test_healings`), url.Values{"action": {"accept"}})
	decided.says(t, "It was accepted")
	decided.says(t, "What was decided")
	require.Equal(t, "2", w.one(`select count(*)::text from test_revisions where case_id = $1`, id))

	p = c.submit(decided, "/again", nil)
	p.says(t, "The run was started.")
	p = c.submit(p, "/cancel", nil)
	p.says(t, "The run was cancelled.")
	require.Contains(t, c.open(at+"/runs?healed=true").text, "build 7")
	require.Contains(t, c.open(at+"/runs?healed=odd").text, "This filter was not understood")

	// A run of the suite: a row for the case, a column for each target.
	p = c.submit(c.open(suite), "/run", url.Values{"build": {"build 8"}})
	p.says(t, "The run was started.")
	ofSuite := p.path
	w.wait("job", `select j.id::text from test_jobs j join test_runs r on r.id = j.run_id
		where r.suite_run_id is not null and j.state = 'QUEUED' order by j.position limit 1`)
	w.endedJob(w.ids["job"])
	p = c.open(ofSuite)
	p.says(t, "data-live=")
	for _, text := range []string{"<th>chrome</th>", "<th>firefox</th>", "sign in", "the title is another"} {
		p.says(t, text)
	}
	p = c.submit(p, "/cancel", nil)
	p.says(t, "The run was cancelled.")
	require.NotContains(t, p.text, "data-live=")
	require.Contains(t, c.open(ofSuite+"?status=PASSED").text, "No test is in this state.")
	require.Equal(t, http.StatusBadRequest, c.open(ofSuite+"?status=odd").status)
	require.Contains(t, c.open(ofSuite+"/junit").text, "<testsuite")
	require.Contains(t, c.open(suite+"/runs").text, "build 8")
	for _, address := range []string{"/console/tests", at, at + "/edit", at + "/runs", at + "/healings", at + "/code",
		first, ofSuite, "/console/tests/suites", suite, suite + "/runs", "/console/tests/generate",
		"/console/tests/schedules", "/console/tests/variables", "/console/tests/tunnels"} {
		checkPage(t, address, c.open(address))
	}

	p = c.submit(c.open(suite), "/change", url.Values{"name": {"smoke 2"}, "healing": {"off"}, "tags": {"a, b"}})
	require.Equal(t, "smoke 2 off", w.one(`select name || ' ' || healing from test_suites`))
	p = c.submit(p, "/suites/"+suite[strings.LastIndexByte(suite, '/')+1:]+"/delete", url.Values{"cases": {"1"}})
	p.says(t, "The suite was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_cases`))
}

// createdSuite makes a suite by the form and returns its page.
func (c *visitor) createdSuite(name string) *page {
	c.w.t.Helper()
	list := c.open("/console/tests/suites")
	p := c.post("/console/tests/suites", c.filled(list, "name", url.Values{"name": {name}, "tags": {"nightly"}}))
	require.Contains(c.w.t, p.text, "The suite was created.", "%.3000s", p.text)
	return p
}

func TestConsoleTestsSchedule(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := c.createdSuite("smoke")
	suite := p.path[strings.LastIndexByte(p.path, '/')+1:]
	_, id := c.importedCase("sign in")
	c.targeted(id, "https://shop.example.com/")
	c.submit(c.open(p.path), "/add", url.Values{"case": {id}})
	form := url.Values{"name": {"nightly " + hostile}, "cron": {"0 3 * * 1-5"}, "timezone": {"Europe/Berlin"}, "suite": {suite}}
	wrong := url.Values{"name": form["name"], "cron": {"0 25 * * *"}, "timezone": form["timezone"]}
	p = c.open("/console/tests/schedules")
	p = c.post("/console/tests/schedules", c.filled(p, "cron", wrong))
	require.Equal(t, http.StatusBadRequest, p.status)
	p.says(t, "settings.cron")
	p.says(t, `value="0 25 * * *"`)
	p = c.post("/console/tests/schedules", c.filled(p, "cron", form))
	p.says(t, "The schedule was created.")
	p.says(t, "nightly "+hostileShown)
	at := p.path
	require.Equal(t, w.boot.Owner.UUID.String(), w.one(`select running_user_uuid::text from test_schedules`))
	p = c.submit(p, "/state", url.Values{"to": {"disable"}})
	p.says(t, "The schedule is paused.")
	require.Equal(t, "DISABLED", w.one(`select state from test_schedules`))
	p = c.submit(p, "/state", url.Values{"to": {"enable"}})
	require.Equal(t, "ENABLED", w.one(`select state from test_schedules`))
	p = c.submit(p, strings.TrimPrefix(at, "/console"), url.Values{"cron": {"30 4 * * *"}, "max_runs": {"many"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	p = c.submit(p, strings.TrimPrefix(at, "/console"), url.Values{"cron": {"30 4 * * *"}, "max_runs": {"9"}})
	p.says(t, "The schedule was changed.")
	p.says(t, "9 left")
	p = c.submit(p, "/run", nil)
	p.says(t, "The suites run now.")
	require.Equal(t, "1", w.one(`select count(*)::text from suite_runs`))
	p.says(t, "manual")
	require.Contains(t, c.open("/console/tests/schedules").text, "30 4 * * *")
	require.Contains(t, c.open("/console/tests/schedules?search=none").text, "No schedule fits")
	p = c.submit(p, "/delete", nil)
	p.says(t, "The schedule was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_schedules`))
}

// filled are the values of the page's post form that has a field, with others in their place.
func (c *visitor) filled(from *page, field string, values url.Values) url.Values {
	c.w.t.Helper()
	for node := range from.root.Descendants() {
		if node.Type != html.ElementNode || node.Data != "form" || !strings.EqualFold(attribute(node, "method"), "post") {
			continue
		}
		sent := fields(node)
		if _, ok := sent[field]; !ok {
			continue
		}
		for name, list := range values {
			sent[name] = list
		}
		return sent
	}
	require.Fail(c.w.t, "no form has the field "+field)
	return nil
}

func TestConsoleTestsVariables(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	list := c.open("/console/tests/variables")
	require.Contains(t, list.text, "There is no variable yet.")
	p := c.post("/console/tests/variables", c.filled(list, "value", url.Values{"name": {"password"}, "value": {"hidden"},
		"secret": {"1"}, "scope": {"org"}}))
	p.says(t, "The variable was created.")
	require.NotContains(t, p.text, "hidden</")
	p = c.post("/console/tests/variables", c.filled(p, "value", url.Values{"name": {"color"}, "value": {hostile}, "scope": {"team"}}))
	p.says(t, hostileShown)
	p = c.post("/console/tests/variables", c.filled(p, "value", url.Values{"name": {"color"}, "value": {""}, "scope": {"team"}}))
	p.says(t, "The scope has a variable of that name already.")
	require.Contains(t, c.open("/console/tests/variables?scope=odd").text, "This filter was not understood")

	secret := "/console/tests/variables/" + w.one(`select id::text from test_variables where name = 'password'`)
	version := func() string { return w.one(`select version::text from test_variables where name = 'password'`) }
	was := version()
	p = c.submit(c.open(secret), strings.TrimPrefix(secret, "/console"), url.Values{"name": {"password"}, "value": {"other"}})
	p.says(t, "The variable was changed.")
	require.NotContains(t, p.text, ">other<")
	require.NotEqual(t, was, version())
	p = c.submit(p, "/delete", nil)
	p.says(t, "The variable was deleted.")
	require.Equal(t, "color", w.one(`select string_agg(name, ',') from test_variables`))

	p = c.post("/console/tests/tunnels", c.filled(c.open("/console/tests/tunnels"), "url",
		url.Values{"name": {"office " + hostileTunnel}, "url": {"http://anna:hidden@8.8.8.8:3128"}}))
	p.says(t, "The tunnel was created.")
	require.NotContains(t, p.text, "hidden@")
	p = c.submit(p, "/tunnels/delete", nil)
	p.says(t, "The tunnel was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from tunnels`))

	username, key := w.member("anna", account.Member)
	p = w.console(username, key).open("/console/tests/tunnels")
	require.NotContains(t, p.text, "New tunnel", "members create none")
}

// hostileTunnel has what must be escaped in paths.
const hostileTunnel = `<b>&?%41`

// The page of a test has its first data rows, and that of a run its jobs by page and state.
func TestConsoleTestsRows(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase("sign in")
	c.targeted(id, "https://shop.example.com/")
	at := "/console/tests/cases/" + id
	require.NotContains(t, c.open(at).text, "Data rows")
	rows := []map[string]string{}
	for i := range 60 {
		rows = append(rows, map[string]string{"user": fmt.Sprintf("user %d %s", i, hostile), "password": fmt.Sprintf("secret-%d", i)})
	}
	body, err := json.Marshal(map[string]any{"data": map[string]any{"rows": rows, "secret": []string{"password"}}})
	require.NoError(t, err)
	status, answer := w.send(request{method: post, path: "/v1/ai-authoring/testcases/" + id, body: string(body)})
	require.Equal(t, http.StatusOK, status, "%s", answer)

	p := c.open(at)
	for _, text := range []string{"Data rows", "(60)", "user 0 " + hostileShown, "These are the first 10.", "secret</span>"} {
		p.says(t, text)
	}
	require.NotContains(t, p.text, "secret-0")
	require.NotContains(t, p.text, hostile)
	some := c.submit(p, "/run", url.Values{"rows": {"3, 4"}, "target": {"0"}})
	some.says(t, "Row 3: user 3")
	require.Equal(t, "3,4", w.one(`select string_agg(row_place::text, ',' order by position) from test_jobs`))
	c.submit(c.submit(some, "/cancel", nil), "/again", nil).says(t, "Row 4: user 4")
	require.Equal(t, "4", w.one(`select count(*)::text from test_jobs`), "the same rows are run again")
	c.submit(c.open(at), "/run", url.Values{"rows": {"all"}}).says(t, "Data rows are numbers from 0")

	all := c.submit(c.open(at), "/run", nil)
	all.says(t, "Row 0: user 0")
	all.says(t, "Page 1 of 6")
	require.NotContains(t, all.text, "Row 10: ")
	run := all.path
	c.open(run+"?page=2").says(t, "Row 10: user 10")
	job := w.one(`select id::text from test_jobs where run_id = $1 and row_place = 33 order by position limit 1`,
		run[strings.LastIndexByte(run, '/')+1:])
	w.endedJob(job)
	failed := c.open(run + "?status=FAILED")
	for _, text := range []string{"Row 33: user 33", "user 33 " + hostileShown, "Jobs: failed"} {
		failed.says(t, text)
	}
	require.NotContains(t, failed.text, "secret-33")
	c.open(run+"?status=ERROR").says(t, "No job is in this state.")
	require.Equal(t, http.StatusBadRequest, c.open(run+"?status=odd").status)
}
