package authoring_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/storage/account"
)

// Whoever holds a key with scopes does not say to which site the secrets of a team go.
func TestScopedRunsStayOnTheirSite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	target := tree{"capabilities": tree{"browserName": "chrome"}}
	id := w.newCase(w.member, "shop", tree{"runSettings": tree{"testUrl": "https://shop.example.com/login", "target": target}})
	suite := w.newSuite(w.member, "smoke", id)
	scoped := w.member.Restricted(account.ScopeRuns)
	for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
		for _, address := range []string{"https://shop.example.com/x", "https://pr-7.example.com", "https://example.com:8443/",
			"http://127.0.0.1:8000/", "http://localhost/"} {
			w.ok(scoped, 200, "POST", path, fmt.Sprintf(`{"testUrl":%q}`, address))
		}
		for _, address := range []string{"https://evil.example", "https://example.com.evil.example/",
			"https://shop.example.com@evil.example/", "http://shop.example.com/",
			"https://notexample.com/", "https://com/", "https://8.8.8.8/", "https://{{host}}/", "https://{{host}}.example.com/", "{{address}}"} {
			w.refused(scoped, 403, "FORBIDDEN", "POST", path, fmt.Sprintf(`{"testUrl":%q}`, address), "testUrl")
		}
		w.ok(w.member, 200, "POST", path, `{"testUrl":"https://evil.example","variables":{"user":"ann"}}`)
		w.refused(scoped, 403, "FORBIDDEN", "POST", path, `{"variables":{"user":"ann"}}`, "variables")
		w.ok(scoped, 200, "POST", path, `{}`)
	}
	// Of a suite all tests must be of the site.
	other := w.newCase(w.member, "other", tree{"runSettings": tree{"testUrl": "https://evil.example/", "target": target}})
	both := w.newSuite(w.member, "both", id, other)
	w.refused(scoped, 403, "FORBIDDEN", "POST", "/testsuites/"+both+"/run", `{"testUrl":"https://evil.example"}`, "testUrl")
	// Without an address it is that of the first step.
	first := w.newCase(w.member, "first", tree{"runSettings": tree{"target": target},
		"steps": []any{tree{"tool": tree{"type": "go_to_url", "args": tree{"url": "https://shop.example.com/"}}}}})
	w.ok(scoped, 200, "POST", "/testcases/"+first+"/run", `{"testUrl":"https://pr-7.example.com"}`)
	w.refused(scoped, 403, "FORBIDDEN", "POST", "/testcases/"+first+"/run", `{"testUrl":"https://evil.example"}`, "testUrl")
}
