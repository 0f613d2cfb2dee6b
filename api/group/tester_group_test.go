package group_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

var (
	groupMembers  = []string{"id", "name", "team_id", "private", "testers_count", "projects_count", "created_at", "updated_at"}
	testerMembers = []string{"id", "user_id", "email", "name", "role", "groups", "blocked", "last_login", "created_at"}
)

func TestGroupLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main, side := w.Org.Team.ID, w.Org.Side.ID
	app, other := w.App("com.example.b").Project.ID, w.App("com.example.a").Project.ID
	w.Exec(`update projects set name = 'Beta' where id = $1`, app)
	w.Exec(`update projects set name = 'alpha' where id = $1`, other)

	w.refused(w.owner, 400, "POST", "/api/v3/groups", `{"name":"QA"}`, "team_id_required")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"team_id":%d}`, main), "name:")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"name":"QA","team_id":%d}`, w.Rival.Team.ID), "team_id: is no team")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"name":"QA","team_id":%d,"projects":[999]}`, main), "projects: 999")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"name":"QA","team_id":%d,"projects":["x"]}`, main), "projects")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"name":"QA","team_id":%d,"testers":["no address"]}`, main), "testers", "no address")
	w.refused(w.owner, 400, "POST", "/api/v3/groups", p(`{"name":"%s","team_id":%d}`, strings.Repeat("x", 256), main), "name:")

	made := w.ok(w.owner, 201, "POST", "/api/v3/groups",
		p(`{"name":" QA ","team_id":%d,"private":true,"projects":[%d],"testers":["New@Example.com","new@example.com","tester@acme.example.com"]}`,
			main, app))
	g := at(made, "group")
	require.ElementsMatch(t, append([]string{"testers", "projects"}, groupMembers...), keys(g))
	require.Equal(t, []any{"QA", float64(main), true, float64(2), float64(1)},
		[]any{at(g, "name"), at(g, "team_id"), at(g, "private"), at(g, "testers_count"), at(g, "projects_count")})
	require.ElementsMatch(t, testerMembers, keys(at(g, "testers", 0)))
	require.ElementsMatch(t, []any{"New@Example.com", "tester@acme.example.com"}, members(at(g, "testers"), "email"))
	require.Equal(t, []any{"tester", "tester"}, members(at(g, "testers"), "role"))
	require.Equal(t, []any{"Beta"}, members(at(g, "projects"), "name"))
	id := at(g, "id")
	path := p("/api/v3/groups/%v", id)
	w.refused(w.owner, 409, "POST", "/api/v3/groups", p(`{"name":"qa","team_id":%d}`, side), "name")

	require.Equal(t, made, w.ok(w.member, 200, "GET", path, ""))
	require.Equal(t, made, w.ok(w.member, 200, "GET", path+"-groupshot", ""))
	changed := at(w.ok(w.owner, 200, "PUT", path, p(`{"name":"Crew","private":false,"team_id":%d,"projects":[%d,%d]}`,
		side, app, other)), "group")
	require.Equal(t, []any{"Crew", float64(side), false, float64(2)},
		[]any{at(changed, "name"), at(changed, "team_id"), at(changed, "private"), at(changed, "projects_count")})
	require.Equal(t, []any{"alpha", "Beta"}, members(at(changed, "projects"), "name"), "by name")
	form := at(w.ok(w.owner, 200, "PUT", path, p("name=Crew2&projects[]=%d", other)), "group")
	require.Equal(t, []any{"Crew2", float64(1)}, []any{at(form, "name"), at(form, "projects_count")})
	none := at(w.ok(w.owner, 200, "PUT", path, `{"projects":[]}`), "group")
	require.Equal(t, []any{"Crew2", float64(0), float64(2)}, []any{at(none, "name"), at(none, "projects_count"), at(none, "testers_count")})
	audits := w.Audited(account.GroupUpdated)
	w.ok(w.owner, 200, "PUT", path, `{"name":"Crew2"}`)
	require.Equal(t, audits, w.Audited(account.GroupUpdated), "nothing changed")
	w.group("other", main)
	w.refused(w.owner, 409, "PUT", path, `{"name":"OTHER"}`, "name")
	w.refused(w.owner, 400, "PUT", path, p(`{"team_id":%d}`, w.Rival.Team.ID), "team_id")
	w.refused(w.owner, 400, "PUT", path, `{"team_id":-1}`, "team_id")

	require.Nil(t, w.ok(w.owner, 204, "DELETE", path, ""))
	w.refused(w.owner, 404, "DELETE", path, "")
	w.refused(w.owner, 404, "GET", path, "")
	require.Equal(t, 1, w.Count(`select count(*) from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and u.email = 'New@Example.com'`, w.Org.ID), "testers stay")
}

func TestGroupLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main, side := w.Org.Team.ID, w.Org.Side.ID
	var users []int64
	for i := range 30 {
		users = append(users, w.Org.NewUser(fmt.Sprintf("ann%02d", i), account.Tester).ID)
	}
	crew := w.group("crew", main, users...)
	w.group("Alpha", side)
	w.group("beta", main)
	app := w.App("com.example.app").Project.ID
	w.ok(w.owner, 200, "PUT", p("/api/v3/groups/%d", crew), p(`{"projects":[%d]}`, app))

	list := w.ok(w.member, 200, "GET", "/api/v3/groups", "")
	require.Equal(t, []any{"Alpha", "beta", "crew"}, members(at(list, "groups"), "name"))
	require.ElementsMatch(t, groupMembers, keys(at(list, "groups", 0)))
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 25.0, "total": 3.0, "total_pages": 1.0}, at(list, "pagination"))
	require.Equal(t, []any{"beta", "crew"}, members(at(w.ok(w.member, 200, "GET", p("/api/v3/groups?team_id=%d", main), ""),
		"groups"), "name"))
	require.Equal(t, []any{"Alpha"}, members(at(w.ok(w.member, 200, "GET", "/api/v3/groups?search=ALP", ""), "groups"), "name"))
	require.Empty(t, at(w.ok(w.member, 200, "GET", "/api/v3/groups?search=%25", ""), "groups"))
	second := w.ok(w.member, 200, "GET", "/api/v3/groups?per_page=2&page=2", "")
	require.Equal(t, []any{"crew"}, members(at(second, "groups"), "name"))
	require.Empty(t, at(w.ok(w.stranger, 200, "GET", "/api/v3/groups", ""), "groups"))
	for _, query := range []string{"?page=0", "?per_page=0", "?per_page=x", "?team_id=x", "?team_id=-1", "?search=%ff"} {
		w.refused(w.member, 400, "GET", "/api/v3/groups"+query, "")
	}

	testers := w.ok(w.member, 200, "GET", p("/api/v3/groups/%d/testers", crew), "")
	require.Len(t, at(testers, "testers"), 25)
	require.ElementsMatch(t, testerMembers, keys(at(testers, "testers", 0)))
	require.Equal(t, []any{map[string]any{"id": float64(crew), "name": "crew"}}, at(testers, "testers", 0, "groups"))
	require.Equal(t, 30.0, at(testers, "pagination", "total"))
	capped := w.ok(w.member, 200, "GET", p("/api/v3/groups/%d/testers?per_page=1000", crew), "")
	require.Equal(t, 100.0, at(capped, "pagination", "per_page"))
	found := w.ok(w.member, 200, "GET", p("/api/v3/groups/%d/testers?search=ANN07@", crew), "")
	require.Equal(t, []any{"ann07@acme.example.com"}, members(at(found, "testers"), "email"))
	apps := w.ok(w.member, 200, "GET", p("/api/v3/groups/%d/projects", crew), "")
	require.Equal(t, []any{float64(app)}, members(at(apps, "projects"), "id"))
	require.Equal(t, 1.0, at(apps, "pagination", "total"))

	// Version 1.
	whole := w.ok(w.member, 200, "GET", "/api/1/testers/groups", "")
	require.Equal(t, "ok", whole["status"])
	require.Equal(t, []any{"Alpha", "beta", "crew"}, members(at(whole, "groups"), "name"))
	require.Equal(t, []any{[]any{}}, at(whole, "groups", 0, "testers"))
	require.Len(t, at(whole, "groups", 2, "testers"), 1)
	require.Len(t, at(whole, "groups", 2, "testers", 0), 30)
	require.Equal(t, map[string]any{"email": "ann00@acme.example.com"}, at(whole, "groups", 2, "testers", 0, 0))
	require.IsType(t, 0.0, at(whole, "groups", 0, "id"))
	plain := w.ok(w.member, 200, "GET", "/api/1/groups", "")
	require.Equal(t, map[string]any{"id": float64(crew), "name": "crew", "private": false}, at(plain, "groups", 2))
	single := w.ok(w.member, 200, "GET", p("/api/1/groups/%d", crew), "")
	require.Equal(t, map[string]any{"status": "ok", "group": at(plain, "groups", 2)}, single)
	of := w.ok(w.member, 200, "GET", p("/api/1/groups/%d/testers?per_page=500", crew), "")
	require.Equal(t, map[string]any{"email": "ann00@acme.example.com"}, at(of, "testers", 0))
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 200.0, "total": 30.0, "total_pages": 1.0}, at(of, "pagination"))
	require.Equal(t, 50.0, at(w.ok(w.member, 200, "GET", p("/api/1/groups/%d/testers", crew), ""), "pagination", "per_page"))
	of = w.ok(w.member, 200, "GET", p("/api/1/groups/%d/projects", crew), "")
	require.ElementsMatch(t, []string{"id", "name"}, keys(at(of, "projects", 0)))
	require.Equal(t, 25.0, at(of, "pagination", "per_page"))
	w.refused1(w.member, 400, 1, "GET", p("/api/1/groups/%d/projects?per_page=-1", crew), "")
}

// TestWhoMayChangeGroups: admins of the organization all, an admin of a team those of the
// team, nobody those of another organization.
func TestWhoMayChangeGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main, side := w.Org.Team.ID, w.Org.Side.ID
	ours, theirs := w.group("ours", main, w.tester.UserID), w.group("theirs", side, w.tester.UserID)
	app := w.App("com.example.app").Project.ID // of team main
	user := w.tester.UserID

	for _, r := range []struct{ method, path, text string }{
		{"PUT", p("/api/v3/groups/%d", theirs), `{"name":"mine"}`},
		{"DELETE", p("/api/v3/groups/%d", theirs), ""},
		{"POST", p("/api/v3/groups/%d/testers", theirs), `{"email":"x@example.com"}`},
		{"DELETE", p("/api/v3/groups/%d/testers/%d", theirs, user), ""},
		{"POST", "/api/v3/groups", p(`{"name":"new","team_id":%d}`, side)},
		{"PUT", p("/api/v3/groups/%d", ours), p(`{"team_id":%d}`, side)},
		{"POST", p("/api/v3/projects/%d/testers", app), ""},
	} {
		if r.text == "" && r.method == "POST" {
			w.refused(w.neighbor, 403, r.method, r.path, `{"email":"x@example.com"}`)
			continue
		}
		w.refused(w.lead, 403, r.method, r.path, r.text, "team")
		w.refused(w.member, 403, r.method, r.path, r.text, "role")
		w.refused(w.tester, 403, r.method, r.path, r.text)
	}
	w.refused1(w.lead, 403, 5, "POST", p("/api/1/testers/groups/%d", theirs), "email=x@example.com")
	w.refused1(w.lead, 403, 5, "DELETE", p("/api/1/testers/groups/%d", theirs), "email=tester@acme.example.com")
	w.refused1(w.member, 403, 5, "POST", "/api/1/testers/groups", "groupName=x")
	w.refused1(w.tester, 403, 133, "GET", "/api/1/testers/groups", "")
	w.refused(w.neighbor, 403, "PUT", p("/api/v3/groups/%d", theirs), p(`{"projects":[%d]}`, app), "app")
	require.Zero(t, w.Count(`select count(*) from users where email = 'x@example.com'`), "a refusal invites nobody")

	w.ok(w.lead, 200, "PUT", p("/api/v3/groups/%d", ours), p(`{"name":"mine","projects":[%d]}`, app))
	w.ok(w.lead, 200, "POST", p("/api/v3/groups/%d/testers", ours), `{"email":"x@example.com"}`)
	w.ok(w.lead, 201, "POST", "/api/v3/groups", p(`{"name":"new","team_id":%d}`, main))
	created := w.ok(w.lead, 200, "POST", "/api/1/testers/groups", "groupName=legacy")
	require.Equal(t, int(main), w.Count(`select team_id from tester_groups where id::text = $1`, created["id"]))
	// An app's grants are the app's business, whatever team the group belongs to.
	w.ok(w.owner, 200, "PUT", p("/api/v3/groups/%d", theirs), p(`{"projects":[%d]}`, app))
	w.ok(w.neighbor, 200, "PUT", p("/api/v3/groups/%d", theirs), p(`{"name":"still","projects":[%d]}`, app))

	for _, path := range []string{"/api/v3/groups/%d", "/api/v3/groups/%d/testers", "/api/v3/groups/%d/projects"} {
		w.refused(w.stranger, 404, "GET", p(path, ours), "")
	}
	w.refused(w.stranger, 404, "PUT", p("/api/v3/groups/%d", ours), `{"name":"x"}`)
	w.refused(w.stranger, 404, "DELETE", p("/api/v3/groups/%d", ours), "")
	w.refused(w.stranger, 404, "POST", p("/api/v3/groups/%d/testers", ours), `{"email":"x@example.com"}`)
	w.refused(w.stranger, 404, "DELETE", p("/api/v3/groups/%d/testers/%d", ours, user), "")
	w.refused(w.stranger, 404, "GET", p("/api/v3/projects/%d/testers", app), "")
	w.refused(w.stranger, 404, "POST", p("/api/v3/projects/%d/testers", app), `{"email":"x@example.com"}`)
	w.refused(w.stranger, 404, "DELETE", p("/api/v3/projects/%d/testers/%d", app, user), "")
	w.refused1(w.stranger, 404, 404, "GET", p("/api/2/projects/%d/testers", app), "")
	for _, path := range []string{"/api/1/groups/%d", "/api/1/groups/%d/testers", "/api/1/groups/%d/projects"} {
		w.refused1(w.stranger, 404, 404, "GET", p(path, ours), "")
	}
	w.refused1(w.stranger, 404, 404, "POST", p("/api/1/testers/groups/%d", ours), "email=x@example.com")
	w.refused1(w.stranger, 404, 404, "DELETE", p("/api/1/testers/groups/%d", ours), "email=tester@acme.example.com")
}
