package tester_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

func TestInvite1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Group("QA", w.annID)
	beta := w.Group("Beta", w.annID, w.bobID)
	w.Group("Empty")
	path := p("/api/1/projects/%d/builds/%d/invites", w.project, w.build)
	tree := w.ok(w.owner, 200, "POST", path, p("groups=qa,%d,nobody&comment=Please+look&notify=on", beta))
	task := tree["task_id"]
	require.Equal(t, object{"status": "ok", "build_id": float64(w.build), "invited": 2.0, "groups": []any{"Beta", "QA"},
		"invalid_groups": []any{"nobody"}, "task_id": task}, tree)
	require.Equal(t, 1, w.Count(`select count(*) from tasks where id = $1::uuid and kind = 'build:invite'`, task))
	require.Equal(t, 1, w.Count(`select count(*) from tester_mailings where comment = 'Please look' and build_id = $1`, w.build))
	require.Equal(t, []int{1, 1}, []int{w.Audited(account.BuildInvited), w.Audited(account.DistributionChanged)})
	require.Equal(t, 2, w.Count(`select count(*) from build_groups where build_id = $1`, w.build))

	// A second call adds, mails nobody, and changes no invitation.
	tree = w.ok(w.owner, 200, "POST", path, `{"groups":["Empty"]}`)
	require.Equal(t, []any{0.0, []any{}, nil}, []any{tree["invited"], tree["invalid_groups"], tree["task_id"]})
	require.Equal(t, 3, w.Count(`select count(*) from build_groups where build_id = $1`, w.build))
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = 'build:invite'`))

	for _, shown := range items(w.ok(w.member, 200, "GET", p("/api/1/testers?buildId=%d", w.build), ""), "testers")[:2] {
		require.Contains(t, shown["appDownloadLink"], "https://qa.example.com/install/", "a personal link is for those who may invite")
	}
	shown := items(w.ok(w.owner, 200, "GET", p("/api/1/testers?buildId=%d", w.build), ""), "testers")
	require.Equal(t, []any{true, true, false}, texts(shown, "isInvitedToBuild"))
	require.Equal(t, []any{"created", "created", ""}, texts(shown, "buildInviteStatus"))
	requireTime(t, shown[0]["buildInviteTime"])
	require.Equal(t, []any{"", ""}, []any{shown[2]["buildInviteTime"], shown[2]["appDownloadLink"]})
	link := shown[1]["appDownloadLink"].(string)
	secret, found := strings.CutPrefix(link, "https://qa.example.com/invite/")
	require.True(t, found, link)
	invite, err := tester.InviteBySecret(fixture.Context(t), w.DB, secret)
	require.NoError(t, err)
	require.Equal(t, w.annID, invite.UserID)
	single := w.ok(w.owner, 200, "GET", p("/api/1/testers/%d?buildId=%d", w.ann, w.build), "")["tester"].(object)
	require.Equal(t, shown[1], single)

	w.ok(w.owner, 200, "POST", p("/api/1/testers/%d/block", w.ann), "")
	require.Equal(t, "", w.ok(w.owner, 200, "GET", p("/api/1/testers/%d?buildId=%d", w.ann, w.build),
		"")["tester"].(object)["appDownloadLink"])
	w.ok(w.owner, 200, "DELETE", p("/api/1/testers/%d/block", w.ann), "")
	require.Equal(t, single, w.ok(w.owner, 200, "GET", p("/api/1/testers/%d?buildId=%d", w.ann, w.build), "")["tester"],
		"invitations are restored")

	invites := w.Count(`select count(*) from build_invites`)
	for text, says := range map[string]string{"": "groups", "comment=x": "groups", "groups=": "groups", "groups=nobody": "groups",
		"groups=QA&notify=x": "notify", "groups=QA&comment=" + strings.Repeat("x", 4001): "comment"} {
		w.refused(w.owner, 400, 1, "POST", path, text, says)
	}
	w.refused(w.owner, 404, 404, "POST", p("/api/1/projects/%d/builds/%d/invites", w.project, w.theirBuild), "groups=QA")
	w.refused(w.owner, 404, 404, "POST", p("/api/1/projects/%d/builds/%d/invites", w.project+1, w.build), "groups=QA")
	w.refused(w.stranger, 404, 404, "POST", path, "groups=QA")
	w.refused(w.member, 403, 5, "POST", path, "groups=QA")
	w.refused(w.demoted, 403, 133, "POST", path, "groups=QA")
	w.Exec(`update builds set state = 'disabled' where id = $1`, w.build)
	w.refused(w.owner, 400, 1, "POST", path, "groups=QA")
	w.refused(w.owner, 409, 0, "POST", p("/api/v3/builds/%d/invites", w.build), "groups=QA")
	require.Equal(t, invites, w.Count(`select count(*) from build_invites`))
}

func TestInviteEveryTester(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tree := w.ok(w.owner, 201, "POST", p("/api/v3/builds/%d/invites", w.build), `{"groups":"all"}`)
	require.Equal(t, object{"build_id": float64(w.build), "invited": 3.0, "groups": []any{}, "invalid_groups": []any{}}, tree)
	require.Equal(t, 1, w.Count(`select count(*) from builds where id = $1 and all_testers`, w.build))
}

func TestInvites3(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Group("QA", w.annID, w.bobID)
	path := p("/api/v3/builds/%d/invites", w.build)
	w.ok(w.owner, 201, "POST", path, `{"groups":["QA"]}`)
	tree := w.ok(w.member, 200, "GET", path, "")
	invites := items(tree, "invites")
	require.Equal(t, object{"page": 1.0, "per_page": 25.0, "total": 2.0, "total_pages": 1.0}, tree["pagination"])
	require.Equal(t, []any{float64(w.annID), float64(w.bobID)}, texts(invites, "user_id"))
	require.ElementsMatch(t, []string{"tester_id", "user_id", "email", "name", "blocked", "status", "invited_by",
		"invited_at", "sent_at", "opened_at",
		"installed_at", "used_at", "revoked_at", "download_link"}, keys(invites[0]))
	require.Equal(t, []any{"owner@acme.example.com", "created", nil}, []any{invites[0]["invited_by"], invites[0]["status"],
		invites[0]["sent_at"]})
	require.Equal(t, "private, no-store", w.call(w.member, "GET", path, "").Header().Get("Cache-Control"))

	one := p("%s/%d", path, w.annID)
	w.ok(w.owner, 204, "DELETE", one, "")
	w.refused(w.owner, 404, 0, "DELETE", one, "")
	require.Equal(t, 1, w.Audited(account.InviteRevoked))
	revoked := items(w.ok(w.owner, 200, "GET", path+"?status=revoked", ""), "invites")
	require.Equal(t, []any{""}, texts(revoked, "download_link"))
	require.Len(t, items(w.ok(w.owner, 200, "GET", path+"?status=created", ""), "invites"), 1)
	shown := w.ok(w.owner, 200, "GET", p("/api/v3/testers/%d?build_id=%d", w.ann, w.build), "")["tester"].(object)["invite"].(object)
	require.Equal(t, []any{"revoked", ""}, []any{shown["status"], shown["download_link"]})
	none := items(w.ok(w.owner, 200, "GET", p("/api/v3/testers?build_id=%d&search=demoted", w.build), ""), "testers")[0]
	require.Contains(t, none, "invite")
	require.Nil(t, none["invite"])

	w.refused(w.owner, 400, 0, "GET", path+"?status=lost", "")
	w.refused(w.owner, 400, 0, "GET", path+"?page=0", "")
	w.refused(w.owner, 404, 0, "GET", p("/api/v3/builds/%d/invites", w.theirBuild), "")
	w.refused(w.stranger, 404, 0, "GET", path, "")
	w.refused(w.stranger, 404, 0, "DELETE", p("%s/%d", path, w.bobID), "")
	w.refused(w.lead, 403, 0, "DELETE", p("%s/%d", path, w.bobID), "")
	w.refused(w.member, 403, 0, "DELETE", p("%s/%d", path, w.bobID), "")
	w.refused(w.owner, 404, 0, "DELETE", path+"/x", "")
}
