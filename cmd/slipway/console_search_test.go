package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/account"
)

// searchAnswer is what the operation behind the page answers.
type searchAnswer struct {
	Groups []struct {
		Kind    string
		Results []struct {
			Kind, ID, Title, Detail, URL string
			UpdatedAt                    time.Time `json:"updated_at"`
		}
		More bool
	}
}

// found searches by the api and returns the results as kind:id.
func (w *surface) found(query string) (list []string) {
	w.t.Helper()
	code, text := w.send(request{method: http.MethodGet, path: v3 + "/search", query: query})
	require.Equal(w.t, http.StatusOK, code, "%s: %.600s", query, text)
	var answer searchAnswer
	require.NoError(w.t, json.Unmarshal(text, &answer))
	for _, g := range answer.Groups {
		for _, r := range g.Results {
			assert.Equal(w.t, g.Kind, r.Kind)
			assert.True(w.t, strings.HasPrefix(r.URL, "/console/"), r.URL)
			assert.False(w.t, r.UpdatedAt.IsZero(), "%s %s", r.Kind, r.ID)
			list = append(list, r.Kind+":"+r.ID)
		}
	}
	return list
}

func TestConsoleSearch(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	w := newSurface(t, func(s *setting.Settings) { s.Watched.Database.WrapConnector = counter.Connector })
	w.makeAll()
	const hostile = `<script>alert(1)</script>`
	text, err := json.Marshal("refund " + hostile)
	require.NoError(t, err)
	code, answer := w.send(request{method: post, path: ai + "/testcases", body: strings.Replace(`{`+aCase+`,`+steps+`}`, `"log in"`,
		string(text), 1)})
	require.Equal(t, http.StatusCreated, code, "%s", answer)
	w.keep("hostile=data.id", answer)
	long := strings.Repeat("long", 2500) + " needle"
	code, answer = w.send(request{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", as: "none",
		body: strings.ReplaceAll(report(), "it broke", long)})
	require.Equal(t, http.StatusOK, code, "%s", answer)
	// A project's crashes have its versions once the worker has counted them.
	w.wait("longgroup", `select group_id::text from crash_group_messages where message like 'longlong%'`)
	w.wait("version", `select version from crash_versions where crash_project_id = $1::bigint and version = '1.0'`, w.ids["crashproject"])
	w.wait("task", `select id::text from tasks where organization_id = $1 order by id limit 1`, w.boot.Organization.ID)
	w.wait("hook", `select id::text from webhooks where organization_id = $1 order by id desc limit 1`, w.boot.Organization.ID)
	w.wait("hookname", `select name from webhooks where id = $1::bigint`, w.ids["hook"])
	w.wait("tester", `select m.id::text from memberships m where m.organization_id = $1 and m.role = 'tester' order by id limit 1`,
		w.boot.Organization.ID)
	w.wait("mail", `select u.email from users u join memberships m on m.user_id = u.id where m.id = $1::bigint`, w.ids["tester"])

	w.wait("groupname", `select name from tester_groups where id = $1::bigint`, w.ids["testers"])
	w.wait("teamname", `select name from teams where id = $1::bigint`, w.ids["team"])
	w.ids["udid"] = "00008030-001A2B3C4D5E6F70"
	_, err = w.db.ExecContext(t.Context(), `insert into tester_devices (organization_id, user_id, udid, platform, name, source, verified)
		select organization_id, user_id, $2, 'ios', 'the phone', 'admin', 'none' from memberships where id = $1::bigint`, w.ids["tester"],
		w.ids["udid"])
	require.NoError(t, err)
	_, err = w.db.ExecContext(t.Context(),
		`insert into crash_group_comments (group_id, author, text) values ($1::bigint, 'ann', 'looked into it')`, w.ids["group"])
	require.NoError(t, err)
	w.wait("map", `insert into symbols (organization_id, file_id, name, sha256, source) select organization_id, id, 'map-of-the-shop.txt', 'x', 'api' from files
		where organization_id = $1 order by id limit 1 returning id::text`, w.boot.Organization.ID)
	code, answer = w.send(request{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", as: "none",
		body: `{"uuid":"` + uuid.NewString() + `","timestamp":` + strconv.FormatInt(time.Now().Unix(), 10) +
			`,"lang":"python","langVersion":"3","agent":"a","agentVersion":"1",
			"mainThread":"0","classifiers":["E"],"attributes":{},"threads":{"0":{"stack":[{"funcName":"shop.first"},{"funcName":"shop.refundable frame"}]}}}`})
	require.Equal(t, http.StatusOK, code, "%s", answer)
	w.wait("stackgroup", `select group_id::text from crash_group_titles where text like '%refundable frame%'`)

	owner := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	p := owner.open("/console/search")
	require.Equal(t, http.StatusOK, p.status, "%.600s", p.text)
	require.Contains(t, p.text, "Type a part of a name")
	p = owner.submit(p, "/search", url.Values{"q": {"sign in"}})
	require.Equal(t, "/console/search?q=sign+in", p.path)
	require.Contains(t, p.text, "<mark>sign in</mark>")
	search := func(by *visitor, text string) *page {
		t.Helper()
		p := by.open("/console/search?q=" + url.QueryEscape(text))
		require.Equal(t, http.StatusOK, p.status, "%s: %.600s", text, p.text)
		return p
	}
	for _, c := range []struct{ text, path string }{
		{"it broke", "/crashes/groups/{group}"},
		{"{crash}", "/crashes/reports/{crash}"},
		{"1.0", "/crashes?version=1.0&project={crashproject}"},
		{"com.example.shop", "/builds/apps/{project}"},
		{"shop.zip", "/builds/builds/{build}"},
		{"SIGN IN", "/tests/cases/{case}"},
		{"{case}", "/tests/cases/{case}"},
		{"/login", "/tests/cases/{hostile}"},
		{"smoke", "/tests/suites/{suite}"},
		{"daily", "/tests/schedules/{schedule}"},
		{"{mail}", "/people/testers/{tester}"},
		{"{task}", "/operate/tasks/{task}"},
		{"{hookname}", "/settings/webhooks/{hook}"},
		{"{suiterun}", "/tests/suites/{suite}/runs/{suiterun}"},
		{"{run}", "/tests/cases/{case}/runs/{run}"},
		{"{groupname}", "/people/groups/{testers}"},
		{"{teamname}", "/people/teams/{team}"},
		{"refundable frame", "/crashes/groups/{stackgroup}"},
		{"looked into it", "/crashes/groups/{group}#comments"},
		{"{udid}", "/people/devices?search={udid}"},
		{"map-of-the-shop", "/crashes/symbols/{map}"},
	} {
		p := search(owner, w.fill(c.text))
		assert.Contains(t, p.links(), "/console"+w.fill(c.path), "%s in %s", c.text, p.text)
	}

	// Texts of people are texts, and long ones are cut to what was looked for.
	p = search(owner, "<script>")
	require.Contains(t, p.text, "refund <mark>&lt;script&gt;</mark>alert(1)&lt;/script&gt;")
	require.NotContains(t, p.text, hostile)
	require.Contains(t, p.links(), "/console/tests/cases/"+w.ids["hostile"])
	p = search(owner, "longlong")
	require.Contains(t, p.links(), "/console/crashes/groups/"+w.ids["longgroup"])
	require.Less(t, len(p.text), 20_000)
	require.Contains(t, search(owner, "nothing has this").text, "Nothing has this text")
	p = owner.open("/console/search?q=" + strings.Repeat("x", 201))
	require.Equal(t, http.StatusBadRequest, p.status)
	require.Contains(t, p.text, "The text must have at most 200 characters")
	require.NotNil(t, p.form("/search"))

	// An operator has tasks alone, and another organization nothing of ours.
	operator := w.console(w.boot.Operator.Username, w.boot.Operator.Password)
	require.Contains(t, search(operator, w.ids["task"]).links(), "/console/operate/tasks/"+w.ids["task"])
	require.Contains(t, search(operator, "sign in").text, "Operators find tasks")
	rival := w.organization("rival")
	stranger := w.console(rival.Owner.Username, rival.Owner.AccessKey)
	for _, text := range []string{"sign in", "shop", w.ids["task"], w.ids["case"], w.ids["crash"], w.ids["mail"]} {
		require.Contains(t, search(stranger, text).text, "Nothing has this text", text)
	}

	// A member finds what members may list, and no devices.
	member := w.console(w.member("looker", account.Member))
	require.Contains(t, search(member, w.ids["groupname"]).links(), "/console/people/groups/"+w.ids["testers"])
	require.Contains(t, search(member, w.ids["udid"]).text, "Nothing has this text")

	// The operation itself.
	require.Contains(t, w.found("?q=sign+in"), "test_case:"+w.ids["case"])
	require.Len(t, w.found("?q=sign+in&limit=1"), 1, "of two cases of that name")
	require.Empty(t, w.found("?q=%25"))
	both := w.found("?q=sign+in&kind=test_case")
	require.Equal(t, both[:2], append(w.found("?q=sign+in&kind[]=test_case&limit=1"), w.found("?q=sign+in&kind=test_case&limit=1&page=2")...))
	require.Empty(t, w.found("?q=sign+in&kind[]=device,team"))
	for _, query := range []string{"&kind=planet", "&page=0", "&page=x", "&limit=50&page=11"} {
		code, answer := w.send(request{method: http.MethodGet, path: v3 + "/search", query: "?q=sign+in" + query})
		require.Equal(t, http.StatusBadRequest, code, "%s: %s", query, answer)
	}
	for _, query := range []string{"", "?q=", "?q=x&limit=0", "?q=x&limit=51", "?q=x&limit=a", "?q=x&nonsense=2", "?q=a%00b"} {
		code, answer = w.send(request{method: http.MethodGet, path: v3 + "/search", query: query})
		require.Equal(t, http.StatusBadRequest, code, "%s: %s", query, answer)
	}
	asked := counter.During(func() { w.found("?q=sign+in") })
	require.LessOrEqual(t, len(asked.SQL), pageBounds()[v3+"/search"].statements, "%s", asked)
}
