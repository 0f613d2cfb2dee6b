package group_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestGroupTestersChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group("crew", w.Org.Team.ID)
	path := p("/api/v3/groups/%d/testers", g)
	outside := w.Rival.NewUser("ann", account.Tester)

	for _, text := range []string{"", "{}", `{"email":""}`, `{"emails":[]}`, "email=+,+,", `{"user_ids":[]}`} {
		w.refused(w.owner, 400, "POST", path, text, "email")
	}
	for text, says := range map[string]string{
		`{"email":"nobody"}`: "nobody", `{"email":"a@b.c\r\nBcc: d@e.f"}`: "email",
		`{"emails":["a@example.com","Ann <b@example.com>"]}`:         "Ann <b",
		`{"email":"` + strings.Repeat("x", 1<<20) + `@example.com"}`: "email",
		`{"user_ids":["x"]}`: "user_ids", `{"user_id":"x"}`: "user_id",
	} {
		w.refused(w.owner, 400, "POST", path, text, says)
	}
	w.refused(w.owner, 404, "POST", path, p(`{"user_ids":[%d]}`, outside.ID))
	w.refused(w.owner, 404, "POST", path, `{"user_ids":[999999]}`)
	require.Zero(t, w.Count(`select count(*) from tester_group_members`))
	require.Zero(t, w.Count(`select count(*) from users where email like '%@example.com'`), "a refused call adds nobody")

	// Known people only: the entry is of the group.
	got := w.ok(w.owner, 200, "POST", path, p(`{"email":"TESTER@acme.example.com","user_ids":[%d,"%d"]}`, w.member.UserID, w.tester.UserID))
	require.Equal(t, 2.0, at(got, "group", "testers_count"))
	require.Equal(t, []int{1, 0}, []int{w.Audited(account.GroupMemberAdded), w.Audited(account.TestersInvited)})
	w.ok(w.owner, 200, "POST", path, p(`{"user_id":%d}`, w.tester.UserID))
	require.Equal(t, 1, w.Audited(account.GroupMemberAdded), "nothing changed")

	// Unknown ones, in other case, and a person of another organization.
	got = w.ok(w.owner, 200, "POST", path, "email=a%2Bb@example.com,+A%2Bb@Example.com&emails[]=c@xn--bcher-kva.example&email="+*outside.Email)
	require.Equal(t, 5.0, at(got, "group", "testers_count"))
	require.Contains(t, members(at(got, "group", "testers"), "email"), "a+b@example.com")
	require.Equal(t, 1, w.Audited(account.TestersInvited))
	require.Equal(t, "member", w.roleOf(w.member.UserID), "who is more than a tester stays so")

	require.Nil(t, w.ok(w.owner, 204, "DELETE", p("%s/%d", path, w.tester.UserID), ""))
	for _, user := range []any{w.tester.UserID, w.owner.UserID, 999, "x", 0} {
		w.refused(w.owner, 404, "DELETE", p("%s/%v", path, user), "")
	}
	w.Exec(`delete from tester_group_members where user_id <> $1`, w.member.UserID)
	w.ok(w.owner, 204, "DELETE", p("%s/%d", path, w.member.UserID), "")
	require.Equal(t, 0.0, at(w.ok(w.owner, 200, "GET", p("/api/v3/groups/%d", g), ""), "group", "testers_count"), "an empty group stays")
}

func (w *world) roleOf(user int64) (role string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(w.T.Context(), &role,
		`select role from memberships where organization_id = $1 and user_id = $2`, w.Org.ID, user))
	return role
}

func TestLegacyGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, text := range []string{"", "groupName=", "groupName=+++", "{}"} {
		w.refused1(w.owner, 400, 1, "POST", "/api/1/testers/groups", text, "groupName")
	}
	made := w.ok(w.owner, 200, "POST", "/api/1/testers/groups", "groupName=Crew+%26+friends")
	require.ElementsMatch(t, []string{"status", "id", "name"}, keys(made))
	require.Equal(t, []any{"ok", "Crew & friends"}, []any{made["status"], made["name"]})
	require.IsType(t, "", made["id"])
	w.refused1(w.owner, 400, 2, "POST", "/api/1/testers/groups", `{"groupName":"crew & FRIENDS"}`, "groupName")
	path := "/api/1/testers/groups/" + made["id"].(string)

	w.refused1(w.owner, 400, 1, "POST", path, "", "email")
	w.refused1(w.owner, 400, 1, "DELETE", path, "", "email")
	w.refused1(w.owner, 400, 1, "POST", path, "email=a@example.com,b", `"b"`)
	w.refused1(w.owner, 404, 404, "POST", "/api/1/testers/groups/999999", "email=a@example.com")
	w.refused1(w.owner, 404, 404, "POST", "/api/1/testers/groups/x", "email=a@example.com")
	w.refused1(w.owner, 404, 404, "DELETE", path, "email=a@example.com", "email")

	got := w.ok(w.owner, 200, "POST", path, "email=a@example.com, B@example.com,b@example.com")
	require.ElementsMatch(t, []string{"status", "testers"}, keys(got))
	require.ElementsMatch(t, []any{"a@example.com", "B@example.com"}, members(got["testers"], "email"))
	require.ElementsMatch(t, []string{"email"}, keys(at(got, "testers", 0)))
	got = w.ok(w.owner, 200, "POST", path, `{"email":"c@example.com"}`)
	require.Len(t, got["testers"], 3)
	got = w.ok(w.owner, 200, "DELETE", path, "email=A@example.com,nobody@example.com")
	require.ElementsMatch(t, []any{"B@example.com", "c@example.com"}, members(got["testers"], "email"))
	got = w.ok(w.owner, 200, "DELETE", path+"?email=b@example.com", "")
	require.ElementsMatch(t, []any{"c@example.com"}, members(got["testers"], "email"))
	got = w.ok(w.owner, 200, "DELETE", path, `{"email":["C@example.com"]}`)
	require.Equal(t, []any{}, got["testers"])
	require.Zero(t, w.Count(`select count(*) from tester_groups`), "the last member takes the group along")
	require.Equal(t, 1, w.Audited(account.GroupDeleted))
	w.refused1(w.owner, 404, 404, "DELETE", path, "email=c@example.com")
}

// TestTenThousandIntoAGroup: in one call, with one entry.
func TestTenThousandIntoAGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group("crew", w.Org.Team.ID)
	const many = 10_000
	emails := make([]string, many)
	for i := range emails {
		emails[i] = fmt.Sprintf("tester%d@example.com", i)
	}
	got := w.ok(w.owner, 200, "POST", p("/api/1/testers/groups/%d", g), "email="+strings.Join(emails, ","))
	require.Len(t, got["testers"], many)
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where type in ($1, $2) and jsonb_array_length(detail->'emails') > 0`,
		int(account.TestersInvited), int(account.GroupMemberAdded)))
	require.Equal(t, many, w.Count(`select jsonb_array_length(detail->'emails') from audit_events where type = $1`,
		int(account.TestersInvited)))
	got = w.ok(w.owner, 200, "POST", p("/api/v3/groups/%d/testers", g), `{"emails":["`+strings.Join(emails, `","`)+`"]}`)
	require.EqualValues(t, many, at(got, "group", "testers_count"))
	require.Len(t, at(got, "group", "testers"), 100, "the first of them")
	list := w.ok(w.owner, 200, "GET", p("/api/v3/groups/%d/testers?page=400", g), "")
	require.Len(t, at(list, "testers"), 25)
	require.EqualValues(t, many, at(list, "pagination", "total"))
	got = w.ok(w.owner, 200, "DELETE", p("/api/1/testers/groups/%d", g), "email="+strings.Join(emails[1:], ","))
	require.Equal(t, []any{"tester0@example.com"}, members(got["testers"], "email"))
	w.refused1(w.owner, 400, 1, "POST", p("/api/1/testers/groups/%d", g), "email="+strings.Join(emails, ",")+","+
		strings.ReplaceAll(strings.Join(emails, ","), "tester", "x")+",one@example.com", "email")
}

func TestProjectTesters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.App("com.example.app").Project.ID
	path := p("/api/v3/projects/%d/testers", app)
	ann := w.Org.NewUser("ann", account.Tester)
	g := w.group("crew", w.Org.Team.ID, ann.ID, w.tester.UserID)
	w.ok(w.owner, 200, "PUT", p("/api/v3/groups/%d", g), p(`{"projects":[%d]}`, app))

	got := w.ok(w.lead, 200, "POST", path, `{"email":"ann@acme.example.com,new@example.com"}`)
	require.Equal(t, []any{2.0, float64(app)}, []any{got["added"], at(got, "project", "id")})
	require.Equal(t, 0.0, w.ok(w.lead, 200, "POST", path, p(`{"user_ids":[%d]}`, ann.ID))["added"])
	w.refused(w.lead, 400, "POST", path, "{}", "email")
	w.refused(w.lead, 404, "POST", path, p(`{"user_ids":[%d]}`, w.stranger.UserID))
	w.Exec(`update memberships set blocked_at = now() where user_id = $1`, ann.ID)

	list := w.ok(w.member, 200, "GET", path, "")
	require.ElementsMatch(t, []any{"ann@acme.example.com", "tester@acme.example.com", "new@example.com"},
		members(at(list, "testers"), "email"))
	require.ElementsMatch(t, testerMembers, keys(at(list, "testers", 0)))
	require.Equal(t, 3.0, at(list, "pagination", "total"))
	found := w.ok(w.member, 200, "GET", path+"?search=ann", "")
	require.Equal(t, []any{true}, members(at(found, "testers"), "blocked"))

	old := w.ok(w.member, 200, "GET", p("/api/2/projects/%d/testers", app), "")
	require.Equal(t, "ok", old["status"])
	require.ElementsMatch(t, []string{"id", "email"}, keys(at(old, "testers", 0)))
	require.ElementsMatch(t, members(at(list, "testers"), "id"), members(old["testers"], "id"))
	require.Equal(t, map[string]any{"page": 1.0, "per_page": 50.0, "total": 3.0, "total_pages": 1.0}, old["pagination"])
	require.Equal(t, 200.0, at(w.ok(w.member, 200, "GET", p("/api/2/projects/%d/testers?per_page=900", app), ""), "pagination", "per_page"))
	w.refused1(w.member, 400, 1, "GET", p("/api/2/projects/%d/testers?page=-1", app), "", "page")

	w.ok(w.lead, 204, "DELETE", p("%s/%d", path, ann.ID), "")
	w.refused(w.lead, 404, "DELETE", p("%s/%d", path, ann.ID), "")
	require.Equal(t, 3.0, at(w.ok(w.member, 200, "GET", path, ""), "pagination", "total"), "by the group still")
	w.Exec(`update projects set all_testers = true where id = $1`, app)
	w.Org.NewUser("extra", account.Tester)
	require.Equal(t, 4.0, at(w.ok(w.member, 200, "GET", path, ""), "pagination", "total"), "every tester")
}

func TestProjectTestersOfBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	build := w.App("com.example.app")
	app := build.Project.ID
	ann := w.Org.NewUser("ann", account.Tester)
	g := w.group("beta", w.Org.Team.ID, ann.ID, w.tester.UserID)
	w.Exec(`insert into build_groups (build_id, tester_group_id) values ($1, $2)`, build.Build.ID, g)
	for _, path := range []string{"/api/v3/projects/%d/testers", "/api/2/projects/%d/testers"} {
		list := w.ok(w.member, 200, "GET", p(path, app), "")
		require.ElementsMatch(t, []any{"ann@acme.example.com", "tester@acme.example.com"}, members(at(list, "testers"), "email"), path)
		require.Equal(t, 2.0, at(list, "pagination", "total"), path)
	}
	path := p("/api/v3/projects/%d/testers", app)
	found := w.ok(w.member, 200, "GET", path+"?search=ANN", "")
	require.Equal(t, []any{"ann@acme.example.com"}, members(at(found, "testers"), "email"))
	w.Org.NewUser("extra", account.Tester)
	w.Exec(`update builds set all_testers = true where id = $1`, build.Build.ID)
	require.Equal(t, 3.0, at(w.ok(w.member, 200, "GET", path, ""), "pagination", "total"), "a build for all testers")
	w.Exec(`update builds set deleted_at = now() where id = $1`, build.Build.ID)
	require.Equal(t, 0.0, at(w.ok(w.member, 200, "GET", path, ""), "pagination", "total"), "the build is deleted")
}
