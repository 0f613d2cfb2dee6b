package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

const hostileText = "<script>alert(1)</script>"

// crashReport is a report of a function that failed, with changes to its members.
func crashReport(function, class, version string, at time.Time, change func(report map[string]any)) string {
	report := map[string]any{"uuid": uuid.NewString(), "timestamp": at.Unix(), "lang": "python", "langVersion": "3.12", "agent": "test",
		"agentVersion": "1", "mainThread": "main", "classifiers": []string{class},
		"attributes": map[string]any{"error.message": hostileText, "application.version": version, "hostname": "web-" + version},
		"threads": map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": []any{
			map[string]any{"funcName": function, "library": "shop.py", "line": 12},
			map[string]any{"funcName": "get_response", "library": "/usr/lib/python3/dist-packages/django/base.py", "line": 3}}}}}
	if change != nil {
		change(report)
	}
	text, err := json.Marshal(report)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// sendReport sends a crash report, with attachments by name.
func (w *surface) sendReport(text string, attachments ...string) {
	w.t.Helper()
	r := request{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", body: text, as: "none"}
	if len(attachments) > 0 {
		r.files = map[string]string{"upload_file": "report.json|" + text}
		for _, name := range attachments {
			r.files["attachment_"+name] = name + "|the text of " + name
		}
	}
	code, answer := w.send(r)
	require.Equal(w.t, http.StatusOK, code, "%s", answer)
}

// crashed sends four reports of two bugs, and one that lacks its mapping.
func (w *surface) crashed() {
	w.t.Helper()
	now := time.Now().Truncate(time.Second)
	for i, version := range []string{"1.0", "1.0", "2.0"} {
		w.sendReport(crashReport("work", hostileText, version, now.Add(time.Duration(i-3)*time.Minute), func(r map[string]any) {
			r["attributes"].(map[string]any)["user.id"] = "ann"
			step := map[string]any{"timestamp": now.Unix(), "type": "click", "level": "info", "message": "Pay " + hostileText}
			r["annotations"] = map[string]any{"breadcrumbs": []any{step}}
		}), "log.txt")
	}
	w.sendReport(crashReport("pay", "ValueError", "2.0", now, nil))
	w.sendReport(crashReport("a.b.a", "java.lang.ArithmeticException", "3.0", now, func(r map[string]any) {
		r["lang"], r["symbolication"] = "java", "proguard"
		r["attributes"].(map[string]any)["symbolication_id"] = "7a3f'; rm -rf ~ #"
	}))
	w.wait("group", `select id::text from crash_groups where count = 3`)
	w.wait("pay", `select id::text from crash_groups where culprit like 'pay%' or title like 'ValueError%'`)
	w.wait("lacking", `select id::text from crash_groups where title like 'java.lang.Arithmetic%'`)
	w.wait("need", `select id::text from symbol_needs limit 1`)
}

// holds checks that a page is there, has the texts, and no text of a user as HTML.
func (p *page) holds(t *testing.T, texts ...string) *page {
	t.Helper()
	require.Equal(t, http.StatusOK, p.status, "%.300s: %.9000s", p.path, p.text[max(0, strings.Index(p.text, "<main")):])
	checkPage(t, p.path, p)
	require.NotContains(t, p.text, hostileText, p.path)
	require.NotContains(t, p.text, "ZgotmplZ", p.path)
	for _, text := range texts {
		require.Contains(t, p.text, text, p.path)
	}
	return p
}

func TestConsoleCrashesGroups(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	owner.open("/console/crashes").holds(t, "No crash has come in yet")
	w.crashed()
	states := func() string {
		return w.one(`select string_agg(state, ' ' order by id) from crash_groups where id in ($1::bigint, $2::bigint)`,
			w.ids["group"], w.ids["pay"])
	}

	list := owner.open("/console/crashes?sort=count").holds(t, "&lt;script&gt;alert(1)&lt;/script&gt;", "3 groups", "user.id")
	owner.open("/console/crashes?facet=user.id").holds(t, "?attribute.user.id=ann")
	owner.open("/console/crashes?attribute.user.id=ann&state=open").holds(t, "1 group", "user.id: ann ×")
	list.holds(t, "Crashes by day: 0, 0, 0", "These groups", "?sort=count&amp;version=1.0")
	owner.open("/console/crashes?regressed_from=2001-01-01").holds(t, "No group is as the filters say")
	owner.open("/console/crashes?first_seen_from=2001-01-01").holds(t, "3 groups")
	owner.open("/console/crashes?search=nothing+has+it").holds(t, "No group is as the filters say")
	for _, query := range []string{"colour=red", "state=broken", "from=then", "regressed_from=then", "version=" + strings.Repeat("x", 300)} {
		p := owner.open("/console/crashes?" + query)
		assert.Equal(t, http.StatusBadRequest, p.status, query)
		assert.Contains(t, p.text, "The filters cannot be read", query)
		checkPage(t, query, p)
	}

	both := []string{w.ids["group"], w.ids["pay"]}
	p := owner.submit(list, "/crashes/change", url.Values{"do": {"resolve"}, "group": both}).holds(t, "2 of 2 groups resolved.")
	require.Equal(t, "/console/crashes?sort=count", p.path)
	require.Equal(t, "resolved resolved", states())
	unknown := append(both, "987654321")
	owner.submit(p, "/crashes/change", url.Values{"do": {"reopen"}, "group": unknown}).holds(t, "2 of 3 groups reopened. 1 refused")
	require.Equal(t, "open open", states())
	owner.submit(p, "/crashes/change", url.Values{"do": {"ignore"}}).holds(t, "Select the groups first.")

	member := w.console(w.member("mel", "member"))
	member.open("/console/crashes").holds(t, "3 groups")
	require.Equal(t, http.StatusForbidden, member.open("/console/crashes/groups/"+w.ids["group"]+"/history").status)
	require.NotContains(t, member.open("/console/crashes/groups/"+w.ids["group"]).holds(t, "Trend").text, "/history")
}

func TestConsoleCrashesGroup(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.crashed()
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	at := "/console/crashes/groups/" + w.ids["group"]
	group := owner.open(at).holds(t, "&lt;script&gt;", "3 reports kept", "data-key=\"e\"", "web-1.0", "Reports by day")
	one := func(column string) string {
		return w.one(`select coalesce(`+column+`::text, '') from crash_groups where id = $1::bigint`, w.ids["group"])
	}
	change := func(form string, values url.Values, texts ...string) *page {
		t.Helper()
		return owner.submit(owner.open(at), form, values).holds(t, texts...)
	}
	change("/state", url.Values{"in_version": {"2.1"}}, "The group is resolved.", "in 2.1")
	require.Equal(t, "resolved", one("state"))
	change("/state", url.Values{}, "The group is open.")
	require.Equal(t, "open", one("state"))
	change("/state", url.Values{"do": {"ignore"}, "until_count": {"7"}, "until": {"2199-01-02T03:04"}},
		"The group is ignored.", "for 7 more", "2199-01-02 03:04")
	change("/state", url.Values{"do": {"ignore"}, "until": {"2001-01-02T03:04"}}, "Until")
	change("/state", url.Values{"do": {"ignore"}, "until_count": {"many"}}, "Further crashes: must be a number.")
	change("/state", url.Values{"do": {"ignore"}, "until_users": {"many"}}, "Further users: must be a number.")
	change("/state", url.Values{"do": {"ignore"}, "until_users": {"5"}}, "for 5 more users", "Users", "by hour")
	change("/state", url.Values{"do": {"reopen"}}, "The group is open.")
	change("/assignee", url.Values{}, "The group is assigned.", w.boot.Owner.Email)
	change("/assignee", url.Values{"assignee": {"nobody@nowhere.example"}}, "Assignee")
	change("/assignee", url.Values{"assignee": {""}}, "assigned to nobody")
	require.Empty(t, one("assignee_id"))
	change("/issue", url.Values{"issue_url": {"https://issues.example.com/7"}}, "The issue is linked.", `href="https://issues.example.com/7"`)
	change("/issue", url.Values{"issue_url": {"javascript:alert(1)"}}, "Issue_url")
	require.Equal(t, "https://issues.example.com/7", one("issue_url"))

	change("/comments", url.Values{"text": {"seen " + hostileText}}, "The comment was added.", "seen &lt;script&gt;")
	comment := w.one(`select id::text from crash_group_comments`)
	change("/comments/"+comment, url.Values{"text": {"fixed"}}, "The comment was changed.", "fixed")
	change("/comments/"+comment+"/delete", nil, "The comment was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from crash_group_comments`))

	owner.open(at+"?version=2.0").holds(t, "1 report kept")
	owner.open(at+"?attribute.user.id=ann&from=2001-01-01&to=2001-01-02").holds(t, "No report that is kept")
	require.Equal(t, http.StatusBadRequest, owner.open(at+"?from=then").status)
	owner.open(at+"/attributes?facet=application.version").holds(t, "attribute.application.version=2.0#reports", "33.3 %", "which are all")
	owner.open(at+"/history").holds(t, "in version: 2.1", "main@example.com")
	require.Equal(t, http.StatusNotFound, owner.open("/console/crashes/groups/987654321").status)

	// Merged, taken out, and split by both ways.
	p := owner.submit(group, "/merge", url.Values{"merge_into": {w.ids["pay"]}}).holds(t, "Merged", "Merged into it")
	require.Equal(t, "/console/crashes/groups/"+w.ids["pay"], p.path)
	require.Equal(t, p.path, owner.open(at).path, "the part leads to its group")
	p = owner.submit(p, "/unmerge", nil).holds(t, "Taken out")
	require.Equal(t, at, p.path)
	p = owner.open(at+"/split?facet=application.version").holds(t, "1 whole stack", "33.3 %")
	p = owner.submit(p, "/split#attribute", url.Values{"key": {"application.version"}, "value": {"2.0"}})
	p.holds(t, "Split: this is the new group.")
	require.NotEqual(t, at, p.path)
	owner.submit(owner.open(at+"/split"), "/split", url.Values{"stack": {strings.Repeat("ab", 16)}}).holds(t, "Split off before")
	require.Equal(t, "1", w.one(`select count(*)::text from crash_group_splits`))
}

// All groups of a list are changed by a task, whose page says how far it is.
func TestConsoleCrashesAll(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.crashed()
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	states := func(state string) string {
		return w.one(`select count(*)::text from crash_groups where state = $1`, state)
	}
	list := owner.open("/console/crashes?attribute.user.id=ann&state=open&sort=count").holds(t, "Change all that match: 1 group")
	ask := func(values url.Values) *page {
		t.Helper()
		form := fields(list.form("/crashes/all"))
		for name, value := range values {
			form[name] = value
		}
		return owner.open("/console/crashes/all?" + form.Encode())
	}
	require.Equal(t, http.StatusBadRequest, ask(url.Values{"do": {"explode"}}).status)
	require.Equal(t, http.StatusBadRequest, ask(url.Values{"do": {"ignore"}, "until": {"2001-01-02T03:04"}}).status)
	require.Equal(t, http.StatusBadRequest, ask(url.Values{"do": {"assign"}, "to_assignee": {hostileText}}).status)
	ask(url.Values{"do": {"ignore"}, "until_count": {"7"}}).holds(t, "ignore until 7 further crashes", "1 group")
	p := ask(url.Values{"do": {"resolve"}, "in_version": {"2.1" + hostileText}}).holds(t, "resolve in version 2.1&lt;script&gt;",
		"Change 1 group", "ann")
	require.Equal(t, "3", states("open"), "nothing is done yet")

	require.NotEmpty(t, fields(p.form("&state=open")).Get("made_until"))
	p = owner.submit(p, "&state=open", nil).holds(t, "The change has begun.")
	require.Contains(t, p.path, "/console/crashes/all/")
	w.relay()
	require.Eventually(t, func() bool {
		p = owner.open(p.path)
		return !strings.Contains(p.text, "data-live")
	}, time.Minute, 50*time.Millisecond)
	p.holds(t, "1 of 1 groups changed", "succeeded")
	require.Equal(t, "resolved", w.one(`select state from crash_groups where id = $1::bigint`, w.ids["group"]))
	require.Equal(t, "2", states("open"))
	require.Equal(t, "1", w.one(`select count(*)::text from audit_events where action = 'crash_groups.changed'`))
	require.Equal(t, "0", w.one(`select count(*)::text from audit_events where action = 'crash_group.updated'`))
	owner.open("/console/crashes/groups/"+w.ids["group"]).holds(t, "What happened to it", "with many others",
		"in version: 2.1&lt;script&gt;", "former state: open")
	require.Equal(t, http.StatusNotFound, owner.open("/console/crashes/all/"+uuid.NewString()).status)
	require.Equal(t, "0", w.one(`select count(*)::text from tasks where payload::text like '%"ann"%'`), "the value is not kept")

	other := w.organization("other")
	rival := w.console(other.Owner.Username, other.Owner.AccessKey)
	require.Equal(t, http.StatusNotFound, rival.open(p.path).status)
}

// A view of the list is kept, for oneself or a team.
func TestConsoleCrashesSavedSearches(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	w.crashed()
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	member := w.console(w.member("mel", "member"))
	at := "/console/crashes?assignee=none&state=open&page=1"
	p := owner.submit(owner.open(at), "/crashes/searches", url.Values{"name": {"Nobody's " + hostileText}}).holds(t, "is saved.",
		"?assignee=none&amp;state=open", "Nobody&#39;s &lt;script&gt;")
	owner.submit(p, "/crashes/searches", url.Values{"name": {"Nobody's " + hostileText}}).holds(t, "A search of this name is saved")
	require.NotContains(t, member.open("/console/crashes").text, "Nobody&#39;s")
	owner.submit(p, "/crashes/searches", url.Values{"name": {"Of the team"}, "team": {w.ids["team"]}}).holds(t, "is saved.")
	theirs := member.open("/console/crashes").holds(t, "Of the team")
	member.submit(theirs, "/delete", nil).holds(t, "The saved view was deleted.")
	require.Equal(t, "1", w.one(`select count(*)::text from saved_searches`))
	owner.submit(owner.open("/console/crashes"), "/delete", nil).holds(t, "The saved view was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from saved_searches`))
}

func TestConsoleCrashesReport(t *testing.T) {
	t.Parallel()
	w := newSurface(t, func(s *setting.Settings) { s.WorkerPools += ";1:bulk=1" })
	w.crashed()
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	var ids []string
	require.NoError(t, w.db.SelectContext(t.Context(), &ids, `select id::text from crashes
		where version in ('1.0', '2.0') and classifier <> 'ValueError' order by occurred_at`))
	require.Len(t, ids, 3)
	at := "/console/crashes/reports/" + ids[1]
	p := owner.open(at).holds(t, `class="fault own"`, `class="library"`, "get_response", "shop.py", "Newer report", "Older report",
		"log.txt", "Made from: stack", "Steps before the crash", "Pay &lt;script&gt;", " after")
	require.Contains(t, p.links(), "/console/crashes/reports/"+ids[2])
	require.Contains(t, p.links(), "/console/crashes/reports/"+ids[0])
	require.NotContains(t, owner.open("/console/crashes/reports/"+ids[2]).holds(t, "Older report").text, "Newer report")
	owner.open(at+"/annotations").holds(t, "Pay &lt;script&gt;", "click")
	require.Contains(t, owner.open(at+"/raw").text, `"langVersion"`)
	for _, link := range p.links() {
		if strings.Contains(link, "/attachments/") {
			require.Equal(t, "the text of log.txt", owner.open(link).text)
		}
	}
	owner.open("/console/crashes/reports?version=1.0").holds(t, "2 reports")
	require.Equal(t, http.StatusBadRequest, owner.open("/console/crashes/reports?uuid=none").status)

	owner.open("/console/crashes/groups/"+w.ids["lacking"]).holds(t, "Missing symbol files", "mapping.txt")
	owner.open("/console/crashes/symbols/missing").holds(t, "--form-string", "rm -rf ~ #&#39;", "java.lang.ArithmeticException")
	require.Equal(t, http.StatusBadRequest, owner.open("/console/crashes/symbols/missing?kind=odd").status)

	// A person's reports are looked for, then removed.
	p = owner.open("/console/crashes/removal?key=user.id&value=ann").holds(t, ">3 reports</a>")
	p = owner.submit(p, "/removal/begin", nil).holds(t, "The removal has begun.", "data-live")
	w.relay()
	_, task, _ := strings.Cut(p.path, "task=")
	require.NotEmpty(t, task, "%.2000s", p.text)
	require.Eventually(t, func() bool {
		p = owner.open("/console/crashes/removal?task=" + task)
		return !strings.Contains(p.text, "data-live")
	}, time.Minute, 50*time.Millisecond)
	p.holds(t, "3 reports were removed")
	require.Equal(t, "2", w.one(`select count(*)::text from crashes`))
}

// relay delivers the tasks that their writers leave to it.
func (w *surface) relay() {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	relay := dispatch.NewRelay(w.services.Redis, ledger.New(w.db), w.services.Log)
	go func() { defer close(done); relay.Run(ctx, func() {}) }()
	w.t.Cleanup(func() { cancel(); <-done })
}

// Names of any length break no page, and a crash without any is there too.
func TestConsoleCrashesOddNames(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	long := strings.Repeat("längst"+hostileText, 500)
	w.sendReport(crashReport(long, long, long, time.Now(), func(r map[string]any) {
		r["attributes"].(map[string]any)[strings.Repeat("key", 50)] = long
	}))
	w.sendReport(crashReport("", "", "", time.Now(), func(r map[string]any) {
		r["attributes"], r["threads"] = map[string]any{"comma,and&": ",?&="}, map[string]any{"main": map[string]any{"stack": []any{}}}
	}))
	w.wait("both", `select 'x' from crash_groups having count(*) = 2`)
	for _, start := range []string{"/console/crashes", "/console/crashes/reports"} {
		for _, link := range owner.open(start).holds(t).links() {
			if !strings.HasPrefix(link, start+"/") && !strings.HasPrefix(link, "/console/crashes/groups/") {
				continue
			}
			p := owner.open(link).holds(t)
			for _, below := range p.links() {
				to, err := url.Parse(w.base + p.path)
				require.NoError(t, err)
				to, err = to.Parse(below)
				require.NoError(t, err, "%.200s", below)
				if strings.HasPrefix(to.Path, "/console/crashes") && !strings.HasSuffix(to.Path, "/raw") {
					owner.open(to.RequestURI()).holds(t)
				}
			}
		}
	}
}

func TestConsoleCrashesProjects(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := owner.open("/console/crashes/projects").holds(t)
	made := owner.submit(p, "/crashes/projects", url.Values{"name": {"shop " + hostileText}})
	require.Equal(t, http.StatusCreated, made.status, "%.2000s", made.text)
	require.Contains(t, made.text, "the only time that the token is shown")
	require.NotContains(t, made.text, hostileText)
	_, secret, _ := strings.Cut(made.text, "<code>")
	secret, _, _ = strings.Cut(secret, "</code>")
	w.ids["crashtoken"] = secret
	id := w.one(`select id::text from crash_projects where name like 'shop%'`)
	at := "/console/crashes/projects/" + id
	project := owner.open(at).holds(t, "shop &lt;script&gt;", "error:post")
	require.NotContains(t, project.text, secret)

	owner.submit(project, at, url.Values{"name": {"shop 2"}}).holds(t, "The crash project was changed.", "shop 2")
	token := owner.submit(project, "/tokens", url.Values{"name": {"ci"}, "scopes": {"symbol:post"}, "quota_per_minute": {"5"}})
	require.Contains(t, token.text, "format=symbols")
	owner.submit(project, "/tokens", url.Values{"quota_per_minute": {"some"}}).holds(t, "Reports a minute: must be a number.")
	ended := w.one(`select id::text from crash_tokens where name = 'ci'`)
	owner.submit(owner.open(at), "/tokens/"+ended+"/end", nil).holds(t, "The token has ended")
	require.Equal(t, "1", w.one(`select count(*)::text from crash_tokens where id = $1::bigint and revoked_at is not null`, ended))

	owner.submit(p, "/crashes/projects", url.Values{"name": {"for a moment"}})
	brief := w.one(`select id::text from crash_projects where name = 'for a moment'`)
	owner.submit(owner.open("/console/crashes/projects/"+brief), "/delete", nil).holds(t, "The crash project was deleted.")

	w.sendReport(crashReport("work", "KeyError", "4.2", time.Now(), nil))
	w.wait("seen", `select version from crash_versions where version = '4.2'`)
	p = owner.open(at+"/versions?days=7").holds(t, "4.2", "Last 7 days")
	require.Equal(t, http.StatusBadRequest, owner.open(at+"/versions?days=no").status)
	for _, link := range p.links() {
		if strings.Contains(link, "/crashes/reports?") {
			owner.open(link).holds(t, "1 report,")
		}
	}
	owner.submit(owner.open(at), "/delete", nil).holds(t, "crash project has reports; revoke")
	require.Equal(t, http.StatusForbidden, w.console(w.member("mel", "member")).open(at).status)
}

func TestConsoleCrashesSymbols(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	owner.open("/console/crashes/symbols").holds(t, "There is no symbol file.")
	mapping := "com.example.Shop -> a.a:\n    void run() -> a\n"
	code, answer := w.send(request{method: post, path: v3 + "/symbols", files: map[string]string{"file": "<img src=x>|" + mapping}})
	require.Equal(t, http.StatusCreated, code, "%s", answer)
	w.keep("symbol=symbol.id", answer)
	w.wait("indexed", `select id::text from symbols where state = 'indexed'`)
	at := "/console/crashes/symbols/" + w.ids["symbol"]
	list := owner.open("/console/crashes/symbols?state=indexed&kind=proguard").holds(t, "1 file", "&lt;img src=x&gt;")
	require.Equal(t, http.StatusBadRequest, owner.open("/console/crashes/symbols?state=odd").status)
	p := owner.open(at).holds(t, "proguard", "&lt;img src=x&gt;")
	require.Equal(t, mapping, owner.open(at+"/download").text)
	owner.submit(list, "/symbols/"+w.ids["symbol"]+"/index", nil).holds(t, "The file is read anew.")
	require.Equal(t, "1", w.one(`select count(*)::text from audit_events where action = 'symbols.reindexed'`))
	owner.submit(p, at+"/delete", nil).holds(t, "The file was deleted.")
	require.Equal(t, "0", w.one(`select count(*)::text from symbols`))
}

// uploadFile sends the form of a page that carries a file.
func (c *visitor) uploadFile(from *page, name, content string) *page {
	c.w.t.Helper()
	form := from.uploadForm()
	require.NotNil(c.w.t, form, "%.2000s", from.text)
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	require.NoError(c.w.t, parts.WriteField("csrf", fields(form).Get("csrf")))
	for field, values := range fields(form) {
		if field != "file" && field != "csrf" {
			require.NoError(c.w.t, parts.WriteField(field, values[0]))
		}
	}
	part, err := parts.CreateFormFile("file", name)
	require.NoError(c.w.t, err)
	_, err = fmt.Fprint(part, content)
	require.NoError(c.w.t, err)
	require.NoError(c.w.t, parts.Close())
	r, err := http.NewRequestWithContext(c.w.t.Context(), post, c.w.base+attribute(form, "action"), &body)
	require.NoError(c.w.t, err)
	r.Header.Set("Content-Type", parts.FormDataContentType())
	return c.send(r)
}

func TestConsoleCrashesUpload(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := owner.open("/console/crashes/symbols")
	p = owner.uploadFile(p, "mapping.txt", "com.example.Shop -> a.a:\n").holds(t, "The file is stored", "mapping.txt")
	require.Equal(t, "/console/crashes/symbols/"+w.one(`select id::text from symbols`), p.path)
	p = owner.open("/console/crashes/symbols")
	refused := owner.uploadFile(p, "empty.txt", "")
	require.Equal(t, http.StatusBadRequest, refused.status)
	require.Contains(t, refused.text, "is empty")
}
