package authoring_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// newEnvironment makes an environment of the organization.
func (w *world) newEnvironment(n environment.New) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := environment.Create(ctx, tx, account.Writer{OrganizationID: w.member.OrganizationID, UserUUID: w.member.UserUUID,
			Admin: true, AllTeams: true, Actor: account.CLI()},
			seal.Ring{make([]byte, 32)}, n)
		return err
	})
}

func textOf(text string) *string { return &text }

func TestRunTakesAnEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newEnvironment(environment.New{Name: "staging", Change: environment.Change{TestURL: textOf("https://staging.example.com"),
		Variables: map[string]*string{"country": textOf("de")},
		Targets:   &[]capability.Target{{Capabilities: capability.Capabilities{"browserName": "firefox"}}}}})
	w.newEnvironment(environment.New{Name: "production"})
	id := w.newCase(w.member, "case", tree{"tags": []string{"smoke", "shop"},
		"runSettings": tree{"testUrl": "https://shop.example.com/cart", "target": tree{"capabilities": tree{"browserName": "chrome"}}}})
	suite := w.newSuite(w.member, "suite", id)
	browserOf := func(run tree) any { return jobOf(run, 0)["target"].(tree)["capabilities"].(tree)["browserName"] }

	run := w.start(id, `{"environment":"staging"}`)
	requireMembers(t, run, tree{"environment": "staging", "testUrl": "https://staging.example.com/cart"})
	require.Equal(t, "firefox", browserOf(run))
	require.NotContains(t, run, "variableNames")
	own := w.start(id, `{"environment":"staging","testUrl":"https://pr-7.example.com","targets":[{"capabilities":{"browserName":"chrome"}}]}`)
	requireMembers(t, own, tree{"environment": "staging", "testUrl": "https://pr-7.example.com/cart"})
	require.Equal(t, "chrome", browserOf(own))
	bare := w.start(id, `{"environment":"production"}`)
	requireMembers(t, bare, tree{"environment": "production", "testUrl": "https://shop.example.com/cart"})
	require.NotContains(t, w.start(id, `{"environment":null}`), "environment")

	started := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", `{"environment":"staging"}`)
	requireMembers(t, started, tree{"environment": "staging", "testUrl": "https://staging.example.com"})
	w.ok(w.member, 200, "POST", "/testsuites/"+suite, `{"defaultEnvironment":"staging"}`)
	requireMembers(t, w.ok(w.member, 200, "GET", "/testsuites/"+suite, ""), tree{"defaultEnvironment": "staging"})
	requireMembers(t, w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", `{}`), tree{"environment": "staging"})
	requireMembers(t, w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", `{"environment":"production"}`),
		tree{"environment": "production"})
	for _, none := range []string{`{"environment":null}`, `{"environment":""}`} {
		require.NotContains(t, w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", none), "environment")
	}

	for query, want := range map[string]float64{"environment=staging": 2, "environment=production": 1, "environment=none": 0,
		"environment=staging&tag=smoke&tag=shop": 2, "tag=smoke&tag=none": 0, "tag=smoke": 4} {
		require.Equal(t, want, w.ok(w.member, 200, "GET", "/runs?"+query, "")["total"], query)
	}
	require.Equal(t, 2.0, w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs?environment=staging", "")["total"])
	require.Equal(t, 2.0, w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/runs?environment=staging", "")["total"])
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/runs?environment=A%20B", "", "environment")
	require.Equal(t, 1.0, w.ok(w.member, 200, "GET", "/testcases?tag=smoke&tag=shop", "")["total"])
	require.Zero(t, w.ok(w.member, 200, "GET", "/testcases?tag=smoke&tag=slow", "")["total"])
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases?"+strings.Repeat("tag=a&", 21), "", "tag")

	report := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+run["id"].(string)+"?format=junit", "").Body.String()
	require.Contains(t, report, `<property name="environment" value="staging"></property>`)

	for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
		w.refused(w.member, 400, "ENVIRONMENT_NOT_FOUND", "POST", path, `{"environment":"gone"}`, "environment")
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"environment":{}}`, "environment")
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites/"+suite, `{"defaultEnvironment":"gone"}`, "defaultEnvironment")
	_, err := w.db.ExecContext(t.Context(), `update test_suites set default_environment = 'deleted' where id::text = $1`, suite)
	require.NoError(t, err)
	w.refused(w.member, 400, "ENVIRONMENT_NOT_FOUND", "POST", "/testsuites/"+suite+"/run", `{}`,
		`defaultEnvironment of the suite: the organization has no environment "deleted"`)
	requireMembers(t, w.ok(w.member, 200, "POST", "/testsuites/"+suite, `{"defaultEnvironment":null}`), tree{"defaultEnvironment": nil})
}

// The environment of a team is for its tests alone, and what is registered is checked.
func TestRefusedEnvironments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newEnvironment(environment.New{Name: "theirs", Team: &w.two.UUID})
	w.newEnvironment(environment.New{Name: "behind", Change: environment.Change{Tunnel: textOf("nowhere")}})
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite", id)
	for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
		w.refused(w.member, 403, "ENVIRONMENT_FORBIDDEN", "POST", path, `{"environment":"theirs"}`)
		w.refused(w.member, 400, "SC_TUNNEL_NOT_FOUND", "POST", path, `{"environment":"behind"}`)
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites/"+suite, `{"defaultEnvironment":"theirs"}`)
}
