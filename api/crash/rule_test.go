package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	eve := w.user(w.org, "eve", account.Member)
	send := func(method, path, body string, status int) map[string]any {
		t.Helper()
		return w.tree(w.callAs(w.org, account.Admin, method, "/crash-rules"+path, body), status)
	}
	require.Empty(t, send("GET", "", "", 200)["crash_rules"])
	made := send("POST", "", fmt.Sprintf(`{"name":"often","crash_project_id":%d,"trigger":"users","above":100,"minutes":60,
		"conditions":[{"subject":"attribute","key":"environment","values":["prod*"]},{"subject":"place","values":["src/cart/"]}],
		"mail":[%d,%q],"webhook":true,"assignee":%d,"repeat_hours":24}`, w.project, eve.ID, eve.Label(), eve.ID),
		201)["crash_rule"].(map[string]any)
	require.Equal(t, true, made["enabled"])
	require.Len(t, made["mail"], 1, "each person once")
	require.Len(t, made["conditions"], 2)
	require.EqualValues(t, eve.ID, made["assignee"].(map[string]any)["id"])
	path := fmt.Sprintf("/%.0f", made["id"])
	require.Equal(t, made, send("GET", path, "", 200)["crash_rule"])
	require.Len(t, send("GET", fmt.Sprint("?project=", w.project), "", 200)["crash_rules"], 1)
	require.Empty(t, send("GET", "?project=999999", "", 200)["crash_rules"])
	for _, wrong := range []struct{ body, member string }{
		{`{}`, "name"},
		{`{"name":"a"}`, "trigger"},
		{`{"name":"a","trigger":"new"}`, "mail"},
		{`{"name":"a","trigger":"new","mail":["nobody@example.com"]}`, "mail[0]"},
		{`{"name":"a","trigger":"new","mail":[null]}`, "mail[0]"},
		{`{"name":"a","trigger":"new","webhook":true,"assignee":"nobody@example.com"}`, "assignee"},
		{`{"name":"a","trigger":"new","webhook":true,"above":1}`, "above"},
		{`{"name":"a","trigger":"new","webhook":true,"minutes":1}`, "minutes"},
		{`{"name":"a","trigger":"users","webhook":true,"above":1}`, "minutes"},
		{`{"name":"a","trigger":"users","webhook":true,"above":1001,"minutes":1}`, "above"},
		{`{"name":"a","trigger":"new","webhook":true,"repeat_hours":-1}`, "repeat_hours"},
		{`{"name":"a","trigger":"new","webhook":true,"crash_project_id":999999}`, "crash_project_id"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"user","values":["a"]}]}`, "conditions[0].subject"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"attribute","values":["a"]}]}`, "conditions[0].key"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"version","key":"a","values":["a"]}]}`, "conditions[0].key"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"version","values":[]}]}`, "conditions[0].values"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"severity","values":["bad"]}]}`, "conditions[0].values[0]"},
		{`{"name":"a","trigger":"new","webhook":true,"conditions":[{"subject":"place","values":["*"]}]}`, "conditions[0].values[0]"},
		{`{"name":"a","trigger":"new","webhook":true,"threshold":1}`, "threshold"},
	} {
		answer := w.callAs(w.org, account.Admin, "POST", "/crash-rules", wrong.body)
		require.Equal(t, 400, answer.Code, wrong.body)
		require.True(t, strings.Contains(answer.Body.String(), wrong.member), "%s: %s", wrong.body, answer.Body)
	}
	require.Equal(t, 403, w.callAs(w.org, account.Member, "GET", "/crash-rules", "").Code)
	require.Equal(t, 404, w.callAs(w.other, account.Admin, "GET", "/crash-rules"+path, "").Code)
	require.Equal(t, 404, w.callAs(w.other, account.Admin, "PUT", "/crash-rules"+path, `{"name":"a","trigger":"new","webhook":true}`).Code)
	require.Equal(t, 404, w.callAs(w.other, account.Admin, "DELETE", "/crash-rules"+path, "").Code)

	changed := w.tree(w.by(eve, account.Admin, "PUT", "/crash-rules"+path,
		`{"name":"new","enabled":false,"trigger":"new","mail":["me"]}`), 200)["crash_rule"].(map[string]any)
	require.EqualValues(t, eve.ID, changed["mail"].([]any)[0].(map[string]any)["id"])
	require.Equal(t, []any{"new", false, nil, nil, false}, []any{changed["name"], changed["enabled"], changed["crash_project_id"],
		changed["assignee"], changed["webhook"]})
	for range 49 {
		send("POST", "", `{"name":"a","trigger":"regressed","webhook":true}`, 201)
	}
	send("POST", "", `{"name":"a","trigger":"regressed","webhook":true}`, 409)
	require.Equal(t, 204, w.callAs(w.org, account.Admin, "DELETE", "/crash-rules"+path, "").Code)
	require.Equal(t, 404, w.callAs(w.org, account.Admin, "DELETE", "/crash-rules"+path, "").Code)
	send("GET", path, "", 404)
}
