package group_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

func TestTeams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.ok(w.member, 200, "GET", "/api/v3/teams", "")
	require.Equal(t, []any{"main", "side"}, members(at(list, "teams"), "name"))
	teamMembers := []string{"id", "uuid", "name", "members_count", "projects_count", "groups_count", "created_at"}
	require.ElementsMatch(t, teamMembers, keys(at(list, "teams", 0)))
	require.Equal(t, []any{2.0, 2.0}, members(at(list, "teams"), "members_count"))
	require.Equal(t, []any{"side"}, members(at(w.ok(w.member, 200, "GET", "/api/v3/teams?search=SID", ""), "teams"), "name"))
	require.Equal(t, []any{"side"}, members(at(w.ok(w.member, 200, "GET", "/api/v3/teams?per_page=1&page=2", ""), "teams"), "name"))
	w.refused(w.member, 400, "GET", "/api/v3/teams?page=0", "")

	w.refused(w.owner, 400, "POST", "/api/v3/teams", "{}", "name")
	w.refused(w.owner, 409, "POST", "/api/v3/teams", `{"name":"main"}`, "name")
	w.refused(w.lead, 403, "POST", "/api/v3/teams", `{"name":"x"}`)
	w.refused(w.owner, 400, "POST", "/api/v3/teams", `{"name":"x","members":[{"user_id":999}]}`, "user_id")
	made := w.ok(w.owner, 201, "POST", "/api/v3/teams",
		p(`{"name":" web ","members":[{"user_id":%d,"admin":true},{"email":"NEIGHBOR@acme.example.com"}]}`, w.member.UserID))
	team := at(made, "team")
	require.ElementsMatch(t, append([]string{"members"}, teamMembers...), keys(team))
	require.Equal(t, []any{"web", 2.0, 0.0, 0.0}, []any{at(team, "name"), at(team, "members_count"), at(team, "projects_count"),
		at(team, "groups_count")})
	require.Equal(t, []any{true, false}, members(at(team, "members"), "admin"), "admins first")
	require.ElementsMatch(t, []string{"user_id", "email", "username", "name", "role", "admin", "blocked", "added_at"},
		keys(at(team, "members", 0)))
	path := p("/api/v3/teams/%v", at(team, "id"))
	require.Equal(t, made, w.ok(w.member, 200, "GET", path, ""))

	changed := at(w.ok(w.owner, 200, "PUT", path, "name=mobile"), "team")
	require.Equal(t, []any{"mobile", 2.0}, []any{at(changed, "name"), at(changed, "members_count")})
	w.refused(w.owner, 409, "PUT", path, `{"name":"side"}`, "name")
	w.refused(w.owner, 400, "PUT", path, `{"name":" "}`, "name")
	w.refused(w.owner, 400, "PUT", path, `{"members":"x"}`)
	changed = at(w.ok(w.owner, 200, "PUT", path, p(`{"members":[{"user_id":%d}]}`, w.member.UserID)), "team")
	require.Equal(t, []any{"mobile", []any{false}}, []any{at(changed, "name"), members(at(changed, "members"), "admin")})

	require.Nil(t, w.ok(w.owner, 204, "DELETE", path, ""))
	w.refused(w.owner, 404, "GET", path, "")
	require.Equal(t, []int{1, 1, 1}, []int{w.Audited(account.TeamUpdated), w.Audited(account.TeamDeleted),
		w.Audited(account.TeamMemberRemoved)})
}

func TestTeamMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := p("/api/v3/teams/%d/members", w.Org.Team.ID)
	list := w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, []any{"lead@acme.example.com", "member@acme.example.com"}, members(list["members"], "email"))
	require.Equal(t, 2.0, at(list, "pagination", "total"))

	got := w.ok(w.lead, 200, "POST", path, `{"email":"neighbor@acme.example.com","admin":true}`)
	require.Equal(t, 3.0, at(got, "team", "members_count"))
	audits := w.Audited(account.TeamMemberAdded)
	w.ok(w.lead, 200, "POST", path, p("user_id=%d&admin=1", w.neighbor.UserID))
	require.Equal(t, audits, w.Audited(account.TeamMemberAdded), "nothing changed")
	got = w.ok(w.lead, 200, "POST", path, p(`{"user_id":%d}`, w.neighbor.UserID))
	require.Equal(t, []any{true, false, false}, members(at(got, "team", "members"), "admin"))

	for _, text := range []string{"{}", `{"email":"owner@rival.example.com"}`, `{"email":"nobody@example.com"}`,
		p(`{"user_id":%d}`, w.stranger.UserID),
		p(`{"user_id":%d}`, w.tester.UserID), p(`{"user_id":%d,"email":"member@acme.example.com"}`, w.member.UserID),
		`{"user_id":"x"}`, `{"user_id":-5}`} {
		w.refused(w.lead, 400, "POST", path, text)
	}
	require.Nil(t, w.ok(w.lead, 204, "DELETE", p("%s/%d", path, w.neighbor.UserID), ""))
	w.refused(w.lead, 404, "DELETE", p("%s/%d", path, w.neighbor.UserID), "")
	w.refused(w.lead, 404, "DELETE", p("%s/%d", path, w.stranger.UserID), "")

	// Rights: of the own team, of the other one, of another organization.
	side := p("/api/v3/teams/%d", w.Org.Side.ID)
	for _, r := range []struct{ method, path, text string }{
		{"PUT", side, `{"name":"x"}`}, {"PUT", side, "{}"}, {"POST", side + "/members", p(`{"user_id":%d}`, w.member.UserID)},
		{"DELETE", side + "/members/" + p("%d", w.neighbor.UserID), ""}, {"DELETE", side, ""},
	} {
		w.refused(w.lead, 403, r.method, r.path, r.text)
		w.refused(w.member, 403, r.method, r.path, r.text)
		w.refused(w.stranger, 404, r.method, r.path, r.text)
	}
	w.refused(w.stranger, 404, "GET", side, "")
	w.refused(w.stranger, 404, "GET", side+"/members", "")
	w.refused(w.tester, 403, "GET", "/api/v3/teams", "")
	w.ok(w.lead, 200, "PUT", p("/api/v3/teams/%d", w.Org.Team.ID), `{"name":"renamed"}`)
}

func TestTeamsInUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	main, side := p("/api/v3/teams/%d", w.Org.Team.ID), p("/api/v3/teams/%d", w.Org.Side.ID)
	w.group("crew", w.Org.Team.ID)
	w.App("com.example.app")
	w.Exec(`insert into test_suites (id, organization_id, team_id, name, tags, creator_uuid, modifier_uuid)
		values (gen_random_uuid(), $1, $2, 'suite', '{}', gen_random_uuid(), gen_random_uuid())`, w.Org.ID, w.Org.Team.ID)
	w.refused(w.owner, 409, "DELETE", main, "", "1 apps", "1 tester groups", "1 test suites")
	w.ok(w.owner, 204, "DELETE", side, "")
	w.Exec(`delete from test_suites`)
	w.Exec(`delete from tester_groups`)
	w.refused(w.owner, 409, "DELETE", main, "", "1 apps")
	w.refused(w.stranger, 409, "DELETE", p("/api/v3/teams/%d", w.Rival.Team.ID), "", "only team")
	require.Equal(t, 2, w.Count(`select count(*) from teams`))
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Org.NewUser("boss", account.Admin)
	ours := w.App("com.example.ours").Project.ID
	var theirs *distribution.Project
	writer := account.Writer{OrganizationID: w.Org.ID, AllTeams: true, Actor: account.CLI()}
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		theirs, err = distribution.CreateProject(ctx, tx, writer, distribution.NewProject{TeamID: w.Org.Side.ID, Name: "Side"})
		return err
	})
	got := w.ok(w.owner, 200, "GET", "/api/1/cpanel/permissions", "")
	require.Equal(t, "ok", got["status"])
	side := []any{p("%d:rw", theirs.ID), p("%d:r", ours)}
	require.Equal(t, []any{
		map[string]any{"email": "owner@acme.example.com", "role": "account-owner", "permissions": []any{"*:rw"}},
		map[string]any{"email": "boss@acme.example.com", "role": "account-manager", "permissions": []any{"*:rw"}},
		map[string]any{"email": "lead@acme.example.com", "role": "admin", "permissions": []any{p("%d:rw", theirs.ID), p("%d:rw", ours)}},
		map[string]any{"email": "neighbor@acme.example.com", "role": "admin", "permissions": side},
	}, got["admins"])
	for _, who := range []*auth.Caller{w.lead, w.member} {
		w.refused1(who, 403, 5, "GET", "/api/1/cpanel/permissions", "")
	}
	w.refused1(w.tester, 403, 133, "GET", "/api/1/cpanel/permissions", "")
	require.Len(t, w.ok(w.stranger, 200, "GET", "/api/1/cpanel/permissions", "")["admins"], 1)
}
