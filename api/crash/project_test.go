package crash_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

type tree = map[string]any

// must sends a request with a body in JSON that must be answered with the status.
func (w *world) must(status int, org int64, method, path string, body tree) tree {
	w.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(w.t, err)
	rec := w.call(org, method, path, string(text))
	require.Equal(w.t, status, rec.Code, "%s %s: %s", method, path, rec.Body)
	answer := tree{}
	if rec.Body.Len() > 0 {
		require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer))
	}
	return answer
}

func number(of tree, members ...string) string {
	var v any = of
	for _, m := range members {
		v = v.(tree)[m]
	}
	return fmt.Sprint(int64(v.(float64)))
}

func TestCrashProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, 403, w.callAs(w.org, account.Member, "GET", "/crash-projects", "").Code)
	w.must(400, w.org, "POST", "/crash-projects", tree{})
	made := w.must(201, w.org, "POST", "/crash-projects", tree{"name": "iOS app"})
	require.True(t, strings.HasPrefix(made["secret"].(string), "slp_local_crash_"))
	w.must(409, w.org, "POST", "/crash-projects", tree{"name": "iOS app"})
	require.Len(t, w.must(200, w.org, "GET", "/crash-projects", nil)["crash_projects"], 2)
	path := "/crash-projects/" + number(made, "crash_project", "id")
	w.must(404, w.other, "GET", path, nil)
	w.must(200, w.org, "GET", path+"-ios-app", nil)
	require.Equal(t, "renamed", w.must(200, w.org, "PUT", path, tree{"name": "renamed"})["crash_project"].(tree)["name"])
	require.Equal(t, []any{"*"}, made["crash_project"].(tree)["allowed_origins"])
	origins := []string{"https://shop.example", "https://*.shop.example"}
	require.Equal(t, []any{origins[0], origins[1]}, w.must(200, w.org, "PUT", path,
		tree{"allowed_origins": origins})["crash_project"].(tree)["allowed_origins"])
	require.Equal(t, []any{}, w.must(200, w.org, "PUT", path, tree{"allowed_origins": []string{}})["crash_project"].(tree)["allowed_origins"])
	require.Contains(t, w.must(400, w.org, "PUT", path, tree{"allowed_origins": []string{"shop.example"}})["error"], "allowed_origins")
	require.Contains(t, w.must(400, w.org, "PUT", path, tree{"alowed_origins": origins})["error"], "was allowed_origins meant?")
	other := w.must(201, w.org, "POST", "/crash-projects", tree{"name": "web", "allowed_origins": origins[:1]})
	require.Equal(t, []any{origins[0]}, other["crash_project"].(tree)["allowed_origins"])
	w.must(204, w.org, "DELETE", "/crash-projects/"+number(other, "crash_project", "id"), nil)
	w.must(400, w.org, "PUT", path, tree{"project_id": 999})
	w.must(404, w.other, "PUT", path, tree{"name": "x"})

	token := w.must(201, w.org, "POST", path+"/tokens", tree{"name": "beta", "scopes": []string{"symbol:post"}, "quota_per_minute": 60})
	require.Len(t, w.must(200, w.org, "GET", path+"/tokens", nil)["crash_tokens"], 2)
	w.must(400, w.org, "POST", path+"/tokens", tree{"scopes": []string{"all"}})
	tokenPath := "/tokens/" + number(token, "crash_token", "id")
	w.must(404, w.org, "DELETE", "/crash-projects/"+fmt.Sprint(w.project)+tokenPath, nil)
	w.must(204, w.org, "DELETE", path+tokenPath, nil)
	w.must(404, w.org, "DELETE", path+tokenPath, nil)

	// One that has received something stays.
	id := number(made, "crash_project", "id")
	_, err := w.db.ExecContext(t.Context(),
		`insert into crash_uuids (crash_project_id, uuid, digest, crash_id) values ($1, gen_random_uuid(), '\x00', gen_random_uuid())`, id)
	require.NoError(t, err)
	w.must(409, w.org, "DELETE", path, nil)
	w.must(404, w.other, "DELETE", path, nil)
	// One whose reports were all removed goes, with what is remembered of them.
	_, err = w.db.ExecContext(t.Context(),
		`insert into crash_purged (crash_id, crash_project_id, uuid) select crash_id, crash_project_id, uuid from crash_uuids where crash_project_id = $1`, id)
	require.NoError(t, err)
	// While a token is in force, more reports may come.
	require.Contains(t, w.must(409, w.org, "DELETE", path, nil)["error"], "is in force")
	w.must(204, w.org, "DELETE", path+"/tokens/"+number(made, "crash_token", "id"), nil)
	w.must(204, w.org, "DELETE", path, nil)
	w.must(404, w.org, "GET", path, nil)
	var left int
	require.NoError(t, w.db.GetContext(t.Context(), &left,
		`select (select count(*) from crash_uuids where crash_project_id = $1) + (select count(*) from crash_purged where crash_project_id = $1)`,
		id))
	require.Zero(t, left)
}
