package crash_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestTrendAndSimilarGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"a", "b", "a"} {
		w.crash(w.project, key, true)
	}
	group := fmt.Sprint("/crash-groups/", w.groupID("a"))
	trend := w.get(group + "/trend?by=day")["trend"].(map[string]any)
	require.Equal(t, "day", trend["by"])
	require.Contains(t, trend, "session_share")
	for _, by := range []string{"", "?by=hour", "?by=version"} {
		require.Contains(t, w.get(group + "/trend" + by)["trend"], "points", by)
	}
	require.Equal(t, 400, w.call(w.org, "GET", group+"/trend?by=week", "").Code)
	require.Equal(t, 400, w.call(w.org, "GET", group+"/trend?by=hour&from=2001-01-01", "").Code)
	require.Equal(t, 404, w.call(w.other, "GET", group+"/trend", "").Code)

	require.NotNil(t, w.get(group + "/similar")["similar"])
	require.Equal(t, 404, w.call(w.other, "GET", group+"/similar", "").Code)
	require.Equal(t, 400, w.call(w.org, "GET", group+"/similar?page=2", "").Code)

	list := w.get("/crash-groups?sort=users")["crash_groups"].([]any)
	require.Len(t, list, 2)
	require.Contains(t, list[0], "users")
	require.Equal(t, 400, w.call(w.org, "GET", "/crash-groups?sort=people", "").Code)
	w.patch(group, `{"state":"ignored","until_users":3}`)
	require.EqualValues(t, 3, w.get(group)["crash_group"].(map[string]any)["ignored"].(map[string]any)["until_users"])
	w.refused(group, "until_users", `{"state":"ignored","until_users":0}`)
	w.refused(group, "until_users", `{"state":"open","until_users":2}`)
}

func TestOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.user(w.org, "eve", account.Member)
	path := fmt.Sprintf("/crash-projects/%d/owners", w.project)
	put := func(body string, status int) map[string]any {
		t.Helper()
		return w.tree(w.callAs(w.org, account.Admin, "PUT", path, body), status)
	}
	require.Empty(t, w.tree(w.callAs(w.org, account.Admin, "GET", path, ""), 200)["owners"])
	set := put(fmt.Sprintf(`{"owners":[{"pattern":"src/cart/","assignee":%d},{"pattern":"com.shop.*","assignee":%q}]}`,
		eve.ID, eve.Label()), 200)
	owners := set["owners"].([]any)
	require.Len(t, owners, 2)
	require.Equal(t, "src/cart/", owners[0].(map[string]any)["pattern"])
	require.EqualValues(t, eve.ID, owners[1].(map[string]any)["assignee"].(map[string]any)["id"])
	for _, wrong := range []string{`{}`, `{"owners":null}`, `{"owners":[{"pattern":"*","assignee":"me"}]}`,
		`{"owners":[{"pattern":"a","assignee":"nobody@example.com"}]}`,
		`{"owners":[{"pattern":"a"}]}`, `{"owners":[{"pattern":"a","assignee":null}]}`, `{"owners":[],"order":1}`} {
		put(wrong, 400)
	}
	require.Equal(t, 404, w.callAs(w.other, account.Admin, "GET", path, "").Code)
	require.Empty(t, put(`{"owners":[]}`, 200)["owners"])
}
