package tester_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestListTesters1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	qa := w.Group("QA", w.annID)
	w.Exec(`update memberships set last_login_at = now() where id = $1`, w.ann)
	tree := w.ok(w.member, 200, "GET", "/api/1/testers", "")
	require.Equal(t, "ok", tree["status"])
	testers := items(tree, "testers")
	require.Equal(t, []any{"bob@acme.example.com", "ann@acme.example.com", "demoted@acme.example.com"}, texts(testers, "email"))
	ann := testers[1]
	require.ElementsMatch(t, []string{"id", "email", "name", "groups", "isBlocked", "lastLogin", "createdAt"}, keys(ann))
	require.Equal(t, []any{object{"id": float64(qa), "name": "QA"}}, ann["groups"])
	requireTime(t, ann["lastLogin"])
	requireTime(t, ann["createdAt"])
	require.Equal(t, "", testers[0]["lastLogin"])

	one := w.ok(w.member, 200, "GET", p("/api/1/testers/%d", w.ann), "")
	require.Equal(t, object{"status": "ok", "tester": ann}, one)
	w.refused(w.owner, 404, 404, "GET", "/api/1/testers/"+w.theirs, "")
	w.refused(w.owner, 404, 404, "GET", p("/api/1/testers?buildId=%d", w.theirBuild), "")
	w.refused(w.demoted, 403, 133, "GET", "/api/1/testers", "")
}

func TestAddTesters1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, object{"status": "ok"}, w.ok(w.owner, 200, "POST", "/api/1/testers",
		"email=a@example.com, B@example.com,b@EXAMPLE.com&group=New+group&notify=1"))
	require.Equal(t, 2, w.Count(`select testers_count from tester_groups where name = 'New group'`))
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = 'tester:welcome'`))
	require.Equal(t, 1, w.Audited(account.TestersInvited))
	require.Equal(t, object{"status": "ok"}, w.ok(w.owner, 200, "POST", "/api/1/testers",
		`{"email":["ann@acme.example.com"],"group":"new GROUP","notify":"off"}`))
	require.Equal(t, 3, w.Count(`select testers_count from tester_groups where name = 'New group'`))
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = 'tester:welcome'`), "mail is off by default")

	groups := w.Count(`select count(*) from tester_groups`)
	w.refused(w.owner, 400, 1, "POST", "/api/1/testers", "", "email")
	w.refused(w.owner, 400, 1, "POST", "/api/1/testers", "group=x", "email")
	w.refused(w.owner, 400, 1, "POST", "/api/1/testers", "email=a@example.com,wrong&group=another", `"wrong"`)
	w.refused(w.owner, 400, 1, "POST", "/api/1/testers", "email=a@example.com&notify=x", "notify")
	w.refused(w.member, 403, 5, "POST", "/api/1/testers", "email=a@example.com")
	w.refused(w.demoted, 403, 133, "POST", "/api/1/testers", "email=a@example.com")
	require.Equal(t, groups, w.Count(`select count(*) from tester_groups`), "a refused call leaves no group")
}

func TestBlockAndRemove1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	done := object{"status": "ok"}
	path := p("/api/1/testers/%d", w.ann)
	blocked := func() any { return w.ok(w.owner, 200, "GET", path, "")["tester"].(object)["isBlocked"] }
	require.Equal(t, done, w.ok(w.owner, 200, "POST", path+"/block", ""))
	require.Equal(t, true, blocked())
	require.Equal(t, done, w.ok(w.owner, 200, "DELETE", path+"/block", ""))
	require.Equal(t, done, w.ok(w.owner, 200, "DELETE", path+"/block", ""), "nothing happens")
	require.Equal(t, false, blocked())
	require.Equal(t, done, w.ok(w.owner, 200, "DELETE", path, ""))
	w.refused(w.owner, 404, 404, "GET", path, "")
}
