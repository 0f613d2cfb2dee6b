package crash_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func TestLibrariesOfACrashProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := fmt.Sprintf("/crash-projects/%d", w.project)
	libraries := func(answer tree) any { return answer["crash_project"].(tree)["libraries"] }
	require.Equal(t, []any{}, libraries(w.must(200, w.org, "GET", path, nil)))
	changed := w.must(200, w.org, "PUT", path, tree{"libraries": []string{" acme ", "vendor/acme", "libacme.so", "acme"}})
	require.Equal(t, []any{"acme", "vendor/acme", "libacme.so"}, libraries(changed))
	require.Equal(t, libraries(changed), libraries(w.must(200, w.org, "PUT", path, tree{"name": "renamed"})), "what is not named stays")
	for _, text := range []string{"a", "//", "a\nb", strings.Repeat("a", 201)} {
		require.Contains(t, w.must(400, w.org, "PUT", path, tree{"libraries": []string{"acme", text}})["error"], "libraries[1]", "%q", text)
	}
	require.Contains(t, w.must(400, w.org, "PUT", path, tree{"libraries": make([]string, 101)})["error"], "libraries")
	require.Equal(t, []any{}, libraries(w.must(200, w.org, "PUT", path, tree{"libraries": []string{}})))
	made := w.must(201, w.org, "POST", "/crash-projects", tree{"name": "with libraries", "libraries": []string{"com.acme"}})
	require.Equal(t, []any{"com.acme"}, libraries(made))
}

func TestRegroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := fmt.Sprintf("/crash-projects/%d/regroup", w.project)
	require.Equal(t, 403, w.callAs(w.org, account.Member, "POST", path, "").Code)
	require.Equal(t, 404, w.call(w.other, "POST", path, "").Code)
	require.Contains(t, w.tree(w.call(w.org, "POST", path+"?dry_run=perhaps", ""), 400)["error"], "dry_run")
	count := func(query string, args ...any) (n int) {
		require.NoError(t, w.db.GetContext(t.Context(), &n, query, args...))
		return n
	}
	audited := func() int {
		return count(`select count(*) from audit_events where type = $1`, account.CrashProjectRegrouped)
	}
	post := func(path string) tree { return w.tree(w.call(w.org, "POST", path, ""), 202) }
	dry := post(path + "?dry_run=1")
	require.Equal(t, true, dry["dry_run"])
	require.Zero(t, audited(), "a preview changes nothing")
	done := post(path)
	require.Equal(t, false, done["dry_run"])
	require.Equal(t, 1, audited())
	require.Equal(t, 2, count(`select count(*) from tasks where kind = 'crash:regroup' and organization_id = $1
		and (payload ->> 'crash_project_id')::bigint = $2`, w.org, w.project))
	require.NotEqual(t, dry["task_id"], done["task_id"])
}
