package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// scriptName is a name that would be run as a script, were it not shown as text.
const scriptName = `<script>alert(1)</script>`

// does submits a form of a page, and wants the page that follows to say so.
func (c *visitor) does(from *page, action string, values url.Values, says string) *page {
	c.w.t.Helper()
	p := c.submit(from, action, values)
	require.True(c.w.t, strings.Contains(p.text, says), "%s does not say %q: %d: %.1500s", action, says, p.status, p.main())
	checkPage(c.w.t, p.path, p)
	return p
}

// shows opens a page that is sound, and wants it to have texts.
func (c *visitor) shows(path string, texts ...string) *page {
	c.w.t.Helper()
	p := c.open(path)
	require.Equal(c.w.t, http.StatusOK, p.status, "%s: %.2000s", path, p.text)
	checkPage(c.w.t, path, p)
	for _, text := range texts {
		require.True(c.w.t, strings.Contains(p.text, text), "%s does not show %q: %.1500s", path, text, p.main())
	}
	return p
}

// main is the text of the page without what all pages have before it.
func (p *page) main() string {
	_, text, found := strings.Cut(p.text, "<main")
	if !found {
		return p.text
	}
	return text
}

func TestConsolePeople(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	code, answer := w.send(request{method: post, path: v3 + "/projects",
		body: `{"name":"shop","platform":"android","package_name":"com.example.shop"}`})
	require.Equal(t, http.StatusCreated, code, "%s", answer)
	w.keep("app=project.id", answer)

	// Without anybody the pages say what to do.
	c.shows("/console/people", "There are no testers yet")
	c.shows("/console/people/devices", "No device is registered yet")
	p := c.shows("/console/people/groups", "There are no groups yet")
	p = c.shows(p.linkTo(t, "/groups/new"))

	// A group with an app and two testers, one of whom is called by a script.
	p = c.submit(p, "/groups/new", url.Values{"name": {""}, "testers": {"ann@example.com"}})
	require.Equal(t, http.StatusBadRequest, p.status, "a group without a name")
	require.Contains(t, p.text, "ann@example.com", "what was typed is still there")
	p = c.does(p, "/groups/new", url.Values{"name": {scriptName}, "apps": {w.ids["app"]},
		"testers": {"ann@example.com, bob@example.com"}}, "The group was created.")
	group := strings.TrimPrefix(p.path, "/console/people/groups/")
	require.NotContains(t, p.text, scriptName)
	require.Contains(t, p.text, "&lt;script&gt;alert(1)&lt;/script&gt;")
	require.Equal(t, "2", w.one(`select count(*)::text from tester_group_members where tester_group_id = $1::bigint`, group))
	p = c.does(p, "/groups/"+group+"/change", url.Values{"name": {"QA " + strings.Repeat("x", 200)}, "private": {"on"}},
		"The group was changed.")
	require.Equal(t, "true", w.one(`select private::text from tester_groups where id = $1::bigint`, group))
	p = c.does(p, "/apps/"+w.ids["app"]+"/remove", nil, "may no longer install")
	require.Contains(t, p.text, "may install no app yet")
	p = c.does(p, "/apps/add", url.Values{"app": {w.ids["app"]}}, "may install the app.")
	require.Contains(t, p.text, "/console/builds/apps/"+w.ids["app"])
	p = c.does(p, "/testers/add", url.Values{"emails": {"eve@example.com\nfinn@example.com"}}, "has more testers")
	c.does(p, "/remove", nil, "no longer in the group")
	require.Equal(t, "3", w.one(`select count(*)::text from tester_group_members where tester_group_id = $1::bigint`, group))
	c.shows("/console/people/groups/"+group+"?search=eve", "eve@example.com")
	require.Equal(t, http.StatusBadRequest, c.open("/console/people/groups/"+group+"?colour=red").status)

	// Testers.
	p = c.shows("/console/people/testers/new")
	p = c.submit(p, "/testers/new", url.Values{"emails": {"no address"}})
	require.Equal(t, http.StatusBadRequest, p.status)
	require.Contains(t, p.text, "no address")
	p = c.does(p, "/testers/new", url.Values{"emails": {"gus@example.com"}, "name": {scriptName}, "group": {group}},
		"1 added, of whom 1 are new")
	require.NotContains(t, p.text, scriptName)
	gus := strings.TrimPrefix(p.path, "/console/people/testers/")
	require.Contains(t, p.text, "/console/builds/apps/"+w.ids["app"], "what the tester may install")
	gusUser := w.one(`select user_id::text from memberships where id = $1::bigint`, gus)
	p = c.does(p, "/groups/"+group+"/testers/"+gusUser+"/remove", nil, "no longer in the group")
	p = c.does(p, "/testers/"+gus+"/groups", url.Values{"group": {group}}, "The tester is in the group.")
	p = c.does(p, "/testers/"+gus+"/block", nil, "is blocked")
	require.Equal(t, "true", w.one(`select (blocked_at is not null)::text from memberships where id = $1::bigint`, gus))
	c.shows("/console/people?blocked=true", "gus@example.com")
	require.NotContains(t, c.shows("/console/people?blocked=false").text, "gus@example.com")
	c.does(p, "/testers/"+gus+"/unblock", nil, "no longer blocked")
	c.shows("/console/people?group="+group, "gus@example.com")
	for _, query := range []string{"blocked=perhaps", "build_id=x", "group=nowhere", "colour=red", "page=0"} {
		wrong := c.open("/console/people?" + query)
		require.Equal(t, http.StatusBadRequest, wrong.status, query)
		require.Contains(t, wrong.text, `role="alert"`, query)
	}

	// Devices.
	p = c.shows("/console/people/devices")
	p = c.does(p, "/devices/add", url.Values{"udid": {"x"}, "email": {"gus@example.com"}}, `role="alert"`)
	p = c.does(p, "/devices/add", url.Values{"udid": {"00008030-001A35E11A88802E"}, "email": {"gus@example.com"},
		"name": {scriptName}, "platform": {"ios"}}, "is in the list")
	require.NotContains(t, p.text, scriptName)
	c.shows("/console/people/testers/"+gus, "00008030-001A35E11A88802E")
	file := c.open("/console/people/devices/export")
	require.Contains(t, file.text, "Device ID\tDevice Name\tDevice Platform")
	require.Contains(t, file.text, "00008030-001A35E11A88802E")
	c.does(p, "/remove", nil, "removed from the list")
	require.Equal(t, "0", w.one(`select count(*)::text from tester_devices`))

	p = c.shows("/console/people/testers/" + gus)
	p = c.does(p, "/testers/"+gus+"/remove", nil, "removed from the organization")
	require.NotContains(t, p.text, "gus@example.com")

	// Teams.
	username, key := w.member("helper", account.Member)
	p = c.shows("/console/people/teams", "New team")
	p = c.does(p, "/teams/create", url.Values{"name": {scriptName}}, "The team was created")
	require.NotContains(t, p.text, scriptName)
	team := strings.TrimPrefix(p.path, "/console/people/teams/")
	p = c.does(p, "/members/add", url.Values{"email": {"nobody@example.com"}}, `role="alert"`)
	p = c.does(p, "/members/add", url.Values{"email": {"helper@example.com"}}, "new member")
	user := w.one(`select id::text from users where username = $1`, username)
	p = c.does(p, "/members/"+user+"/admin", nil, "is an admin of the team")
	require.Equal(t, "true", w.one(`select admin::text from team_memberships where team_id = $1::bigint and user_id = $2::bigint`, team, user))
	p = c.does(p, "/members/"+user+"/admin", nil, "no longer an admin")
	p = c.does(p, "/teams/"+team+"/change", url.Values{"name": {"Berlin"}}, "new name")
	p = c.does(p, "/members/"+user+"/remove", nil, "no longer in the team")
	p = c.does(p, "/teams/"+team+"/delete", nil, "The team was deleted")
	require.NotContains(t, p.text, "Berlin")

	// A group that goes; and a member who reads and is offered no change.
	p = c.shows("/console/people/groups/" + group)
	c.does(p, "/groups/"+group+"/delete", nil, "The group was deleted")
	member := w.console(username, key)
	p = member.shows("/console/people")
	require.NotContains(t, p.text, "/testers/new")
	require.Equal(t, http.StatusForbidden, member.open("/console/people/devices").status)
	require.Equal(t, http.StatusNotFound, member.open(fmt.Sprintf("/console/people/groups/%s", group)).status)
}

// linkTo is the address of the first link of a page that ends so.
func (p *page) linkTo(t *testing.T, end string) string {
	t.Helper()
	for _, to := range p.links() {
		if strings.HasSuffix(to, end) {
			return to
		}
	}
	require.Fail(t, "no link leads to "+end, "%.3000s", p.text)
	return ""
}
