package tester_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestListTesters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	qa := w.Group("QA", w.annID)
	tree := w.ok(w.member, 200, "GET", "/api/v3/testers", "")
	testers := items(tree, "testers")
	require.Equal(t, []any{"bob@acme.example.com", "ann@acme.example.com", "demoted@acme.example.com"}, texts(testers, "email"))
	require.Equal(t, object{"page": 1.0, "per_page": 25.0, "total": 3.0, "total_pages": 1.0}, tree["pagination"])
	require.ElementsMatch(t, []string{"id", "user_id", "email", "name", "role", "groups", "blocked", "last_login", "created_at"},
		keys(testers[0]))
	require.EqualValues(t, []any{float64(w.ann), float64(w.annID), "ann", "tester", false, nil},
		[]any{testers[1]["id"], testers[1]["user_id"], testers[1]["name"], testers[1]["role"], testers[1]["blocked"], testers[1]["last_login"]})
	require.Equal(t, []any{object{"id": float64(qa), "name": "QA"}}, testers[1]["groups"])
	require.Equal(t, []any{}, testers[0]["groups"])

	for query, want := range map[string][]any{
		"search=ANN%40": {"ann@acme.example.com"}, "search=nobody": nil, "blocked=true": nil,
		"group=qa": {"ann@acme.example.com"}, p("group=%d&blocked=false", qa): {"ann@acme.example.com"},
		"page=2&per_page=1": {"ann@acme.example.com"},
	} {
		require.Equal(t, want, texts(items(w.ok(w.owner, 200, "GET", "/api/v3/testers?"+query, ""), "testers"), "email"), query)
	}
	for _, bad := range []string{"page=0", "per_page=-1", "per_page=x", "blocked=maybe", "search=" + strings.Repeat("a", 256),
		"search=%ff", "build_id=x"} {
		w.refused(w.owner, 400, 0, "GET", "/api/v3/testers?"+bad, "", strings.Split(bad, "=")[0])
		w.refused(w.owner, 400, 1, "GET", "/api/1/testers?"+strings.Replace(bad, "build_id", "buildId", 1), "")
	}
	w.refused(w.owner, 404, 0, "GET", p("/api/v3/testers?build_id=%d", w.theirBuild), "")
	w.refused(w.owner, 404, 0, "GET", "/api/v3/testers?group=nobody", "")
	require.Equal(t, []any{"carl@rival.example.com"}, texts(items(w.ok(w.stranger, 200, "GET", "/api/v3/testers", ""), "testers"), "email"))
	w.refused(w.demoted, 403, 0, "GET", "/api/v3/testers", "")

	one := w.ok(w.member, 200, "GET", p("/api/v3/testers/%d-ann", w.ann), "")["tester"].(object)
	require.Equal(t, testers[1], one)
	for _, id := range []string{"0", "x", "-1", "99999999999999999999", w.theirs, p("%d", w.membership(w.Org.Owner.ID))} {
		w.refused(w.owner, 404, 0, "GET", "/api/v3/testers/"+id, "")
	}
}

func TestAddTesters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	qa := w.Group("QA")
	tree := w.ok(w.owner, 201, "POST", "/api/v3/testers", `{"email":"New+x@Example.com","name":"New","groups":["qa"],"role":"tester"}`)
	require.Equal(t, []any{1.0, 1.0, nil}, []any{tree["invited"], tree["created"], tree["task_id"]})
	made := tree["tester"].(object)
	require.Equal(t, []any{"New+x@Example.com", "New", "tester", []any{object{"id": float64(qa), "name": "QA"}}},
		[]any{made["email"], made["name"], made["role"], made["groups"]})
	again := w.ok(w.owner, 200, "POST", "/api/v3/testers", "email=NEW%2Bx@example.com")
	require.Equal(t, made, again["tester"], "who is a tester stays one")

	tree = w.ok(w.owner, 201, "POST", "/api/v3/testers", p("emails[]=a@example.com&emails[]=b@example.com&groups=%d&notify=on", qa))
	require.Equal(t, []any{2.0, 2.0, nil}, []any{tree["invited"], tree["created"], tree["tester"]})
	require.Equal(t, 1, w.Count(`select count(*) from tasks where id = $1::uuid and kind = 'tester:welcome'`, tree["task_id"]))
	require.Equal(t, 1, w.Count(`select count(*) from tester_mailings where cardinality(user_ids) = 2 and groups = array['QA']`))
	require.Equal(t, 3, w.Audited(account.TestersInvited))

	// The owner is put into the group and keeps the role; the tester of others is no news.
	owner := w.ok(w.owner, 200, "POST", "/api/v3/testers", `{"email":"owner@acme.example.com","groups":"QA"}`)["tester"].(object)
	require.Equal(t, []any{"owner", []any{object{"id": float64(qa), "name": "QA"}}}, []any{owner["role"], owner["groups"]})
	w.ok(w.owner, 201, "POST", "/api/v3/testers", `{"email":"carl@rival.example.com","name":"Mine"}`)

	before := w.Count(`select count(*) from users`)
	for text, says := range map[string]string{
		`{}`: "email", `{"email":"nobody"}`: `"nobody"`, `{"email":["a@example.com","no body@example.com"]}`: "no body@example.com",
		`{"email":"z@example.com","role":"admin"}`: "role", `{"email":"z@example.com","role":""}`: "role",
		`{"email":"z@example.com","groups":["nobody"]}`:                        "nobody",
		`{"email":"z@example.com\r\nBcc: y@example.com"}`:                      "email",
		`{"email":"y@example.com,z@example.com","name":"x"}`:                   "name",
		`{"email":"` + strings.Repeat("z", 1<<20) + `@example.com"}`:           "email",
		`{"email":"z@example.com","name":"` + strings.Repeat("z", 5000) + `"}`: "name",
		`{"email":7}`: "email",
		`{"email":"z@example.com","notify":"perhaps"}`: "notify",
	} {
		w.refused(w.owner, 400, 0, "POST", "/api/v3/testers", text, says)
	}
	w.refused(w.owner, 404, 0, "POST", "/api/v3/testers", p(`{"email":"z@example.com","groups":[%d]}`, qa+1000))
	require.Equal(t, before, w.Count(`select count(*) from users`), "what is refused does nothing")
	for _, as := range []struct {
		status int
		who    string
	}{{403, "member"}, {403, "tester"}} {
		c := w.member
		if as.who == "tester" {
			c = w.demoted
		}
		w.refused(c, as.status, 0, "POST", "/api/v3/testers", `{"email":"z@example.com"}`)
	}
}

// The administrator of a team invites people, and into groups of that team only.
func TestTeamAdminInvites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	qa := w.Group("QA") // of the first team
	require.Equal(t, w.Org.Team.ID, w.ID(`select team_id from tester_groups where id = $1`, qa))
	w.ok(w.lead, 201, "POST", "/api/v3/testers", `{"email":"one@example.com"}`)
	w.refused(w.lead, 403, 0, "POST", "/api/v3/testers", `{"email":"two@example.com","groups":["QA"]}`)
	w.refused(w.lead, 403, 5, "POST", "/api/1/testers", "email=two@example.com&group=QA")
	require.Zero(t, w.Count(`select count(*) from users where email = 'two@example.com'`))
	w.ok(w.lead, 200, "POST", "/api/1/testers", "email=three@example.com&group=Side%20group")
	require.Equal(t, w.Org.Side.ID, w.ID(`select team_id from tester_groups where name = 'Side group'`))
	w.ok(w.lead, 200, "POST", "/api/v3/testers", `{"email":"three@example.com","groups":["side group"]}`)
	for _, method := range []string{"POST", "DELETE"} {
		w.refused(w.lead, 403, 0, method, p("/api/v3/testers/%d/block", w.ann), "")
		w.refused(w.lead, 403, 5, method, p("/api/1/testers/%d/block", w.ann), "")
	}
	w.refused(w.lead, 403, 0, "DELETE", p("/api/v3/testers/%d", w.ann), "")
	w.refused(w.lead, 403, 0, "POST", p("/api/v3/builds/%d/invites", w.build), `{"groups":"QA"}`, "team")
}

func TestBlockAndRemove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	block := p("/api/v3/testers/%d/block", w.ann)
	require.Equal(t, true, w.ok(w.owner, 200, "POST", block, "")["tester"].(object)["blocked"])
	require.Equal(t, true, w.ok(w.owner, 200, "POST", block, "")["tester"].(object)["blocked"])
	require.Equal(t, []any{"ann@acme.example.com"}, texts(items(w.ok(w.owner, 200, "GET", "/api/v3/testers?blocked=1", ""),
		"testers"), "email"))
	require.Equal(t, false, w.ok(w.owner, 200, "DELETE", block, "")["tester"].(object)["blocked"])
	require.Equal(t, false, w.ok(w.owner, 200, "DELETE", block, "")["tester"].(object)["blocked"])
	require.Equal(t, []int{1, 1}, []int{w.Audited(account.TesterBlocked), w.Audited(account.TesterUnblocked)})

	for _, id := range []string{w.theirs, p("%d", w.membership(w.Org.Owner.ID)), "x", "0"} {
		w.refused(w.owner, 404, 0, "POST", "/api/v3/testers/"+id+"/block", "")
		w.refused(w.owner, 404, 0, "DELETE", "/api/v3/testers/"+id+"/block", "")
		w.refused(w.owner, 404, 0, "DELETE", "/api/v3/testers/"+id, "")
		w.refused(w.owner, 404, 404, "POST", "/api/1/testers/"+id+"/block", "")
		w.refused(w.owner, 404, 404, "DELETE", "/api/1/testers/"+id+"/block", "")
		w.refused(w.owner, 404, 404, "DELETE", "/api/1/testers/"+id, "")
	}
	w.refused(w.member, 403, 0, "DELETE", p("/api/v3/testers/%d", w.ann), "")
	require.Equal(t, 3, w.Count(`select count(*) from memberships where organization_id = $1 and role = 'tester'`, w.Org.ID))
	w.ok(w.owner, 204, "DELETE", p("/api/v3/testers/%d", w.ann), "")
	w.refused(w.owner, 404, 0, "GET", p("/api/v3/testers/%d", w.ann), "")
	w.refused(w.owner, 404, 0, "DELETE", p("/api/v3/testers/%d", w.ann), "")
	require.Equal(t, 1, w.Audited(account.TesterRemoved))
}

func TestAddTenThousand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var list strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&list, ",Tester.%d@example.com", i)
	}
	w.ok(w.owner, 200, "POST", "/api/1/testers", "group=Everybody&email="+list.String()[1:])
	require.Equal(t, 10_000, w.Count(`select testers_count from tester_groups where name = 'Everybody'`))
	require.Equal(t, 1, w.Audited(account.TestersInvited))
	require.Zero(t, w.Audited(account.GroupMemberAdded))
	require.Equal(t, 10_000, w.Count(`select jsonb_array_length(detail->'emails') from audit_events where type = 1200`))
	tree := w.ok(w.owner, 200, "POST", "/api/v3/testers", `{"emails":["`+strings.ReplaceAll(list.String()[1:], ",", `","`)+`"]}`)
	require.Equal(t, []any{10_000.0, 0.0}, []any{tree["invited"], tree["created"]})
}
