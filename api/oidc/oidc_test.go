package oidc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{AllowPrivate: true})
	owner := byKey(w.ours.Owner.APIKey)
	for _, c := range [][]string{{"GET", ""}, {"DELETE", ""}, {"POST", "/test"}, {"POST", "/key"}} {
		w.must(t, 404, owner, c[0], c[1], nil)
	}
	require.Contains(t, w.must(t, 400, owner, "POST", "", object{})["error"], "issuer_url")

	made := w.must(t, 200, owner, "POST", "", object{"issuer_url": w.URL})
	key := made["config_key"].(string)
	require.Regexp(t, `^oidc_[0-9a-f]{48}$`, key)
	defaults := object{"enabled": true, "mode": "oidc_or_key", "issuer_url": w.URL, "expected_issuer": "", "audience": "",
		"allowed_algorithms": []any{"RS256"}, "required_scopes": []any{}, "required_claims": object{}, "jwks_cache_seconds": 86400.0,
		"clock_skew_seconds": 60.0, "role": "member", "all_teams": true, "team_ids": []any{}, "config_key_hint": key[len(key)-4:]}
	for name, want := range defaults {
		require.Equal(t, want, made[name], name)
	}
	got := w.must(t, 200, owner, "GET", "", nil)
	require.NotContains(t, got, "config_key")
	var stored string
	require.NoError(t, w.db.Get(&stored, `select row_to_json(c)::text from oidc_configurations c`))
	require.NotContains(t, stored, key[5:])
	require.NotContains(t, string(w.lastAudit(t, account.SecurityChanged).Detail), key[5:])

	// Members that are not sent stay.
	changed := w.must(t, 200, owner, "POST", "", object{"audience": "slipway", "allowed_algorithms": []string{"ES256", "RS512"},
		"required_scopes": []string{"builds:write"}, "required_claims": object{"repository": "acme/app",
			"ref": []string{"refs/heads/main", "refs/tags/*"}},
		"jwks_cache_seconds": 3600, "clock_skew_seconds": 0, "role": "admin", "team_ids": []int64{w.ours.Team.ID}, "expected_issuer": "x"})
	require.NotContains(t, changed, "config_key")
	require.Equal(t, w.URL, changed["issuer_url"])
	require.Equal(t, object{"repository": []any{"acme/app"}, "ref": []any{"refs/heads/main", "refs/tags/*"}}, changed["required_claims"])
	require.Equal(t, []any{float64(w.ours.Team.ID)}, changed["team_ids"])
	require.Equal(t, false, changed["all_teams"])
	require.Equal(t, "admin", changed["role"])
	require.Equal(t, made["user_id"], changed["user_id"])
	entry := w.lastAudit(t, account.SecurityChanged)
	var detail struct{ From, To struct{ OIDC object } }
	require.NoError(t, json.Unmarshal(entry.Detail, &detail))
	require.Equal(t, "", detail.From.OIDC["audience"])
	require.Equal(t, "slipway", detail.To.OIDC["audience"])
	require.NotContains(t, detail.To.OIDC, "issuer_url")
	require.Equal(t, w.ours.Owner.Email, entry.Actor)
	require.Equal(t, changed, w.must(t, 200, owner, "GET", "", nil))

	// Nothing changed, nothing audited; what was read can be sent back.
	delete(changed, "created_at")
	delete(changed, "updated_at")
	again := w.must(t, 200, owner, "POST", "", changed)
	require.Equal(t, entry.ID, w.lastAudit(t, account.SecurityChanged).ID)
	require.Equal(t, changed["required_claims"], again["required_claims"])
	w.must(t, 400, owner, "POST", "", object{"username": "another"})
	w.must(t, 400, owner, "POST", "", object{"issuer": "https://example.com"})

	// Forms do the same.
	form := url.Values{"mode": {"oidc_only"}, "enabled": {"off"}, "allowed_algorithms": {"RS256,ES256"}, "required_scopes": {""},
		"required_claims": {`{"repository":"acme/other"}`}, "all_teams": {"1"}, "clock_skew_seconds": {"5"}}
	got = w.must(t, 200, owner, "POST", "", form.Encode())
	require.Equal(t, []any{"RS256", "ES256"}, got["allowed_algorithms"])
	require.Equal(t, []any{}, got["required_scopes"])
	require.Equal(t, object{"repository": []any{"acme/other"}}, got["required_claims"])
	require.Equal(t, []any{}, got["team_ids"])
	require.Equal(t, false, got["enabled"])

	renewed := w.must(t, 200, owner, "POST", "/key", nil)
	require.NotEqual(t, key, renewed["config_key"])
	require.NotContains(t, string(w.lastAudit(t, account.SecurityChanged).Detail), renewed["config_key"].(string)[5:])

	w.must(t, 404, byKey(w.theirs.Owner.APIKey), "GET", "", nil)
	w.must(t, 404, byKey(w.theirs.Owner.APIKey), "DELETE", "", nil)
	w.must(t, 204, owner, "DELETE", "", nil)
	w.must(t, 404, owner, "GET", "", nil)
	var left int
	require.NoError(t, w.db.Get(&left, `select count(*) from users where kind = 'service'`))
	require.Zero(t, left, "its service account goes with it")
	require.Equal(t, account.SecurityChanged, w.lastAudit(t, account.SecurityChanged).Type)
	require.NotEmpty(t, w.must(t, 200, owner, "POST", "", object{"issuer_url": w.URL})["config_key"], "a new one, a new key")
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{})
	owner := byKey(w.ours.Owner.APIKey)
	long := strings.Repeat("x", 3000)
	several := make([]string, 60)
	for i := range several {
		several[i] = fmt.Sprint("s", i)
	}
	for _, c := range []struct {
		change object
		want   string
	}{
		{object{"issuer_url": ""}, "issuer_url"},
		{object{"issuer_url": nil, "enabled": true}, "issuer_url"},
		{object{"issuer_url": 5}, "issuer_url"},
		{object{"issuer_url": "8.8.8.8"}, "issuer_url"},
		{object{"issuer_url": "http://8.8.8.8"}, "must be https"},
		{object{"issuer_url": "ftp://8.8.8.8"}, "issuer_url"},
		{object{"issuer_url": "https://127.0.0.1"}, "loopback"},
		{object{"issuer_url": "https://10.0.0.1/realm"}, "private"},
		{object{"issuer_url": "https://169.254.169.254/"}, "metadata"},
		{object{"issuer_url": "https://[::ffff:127.0.0.1]/"}, "issuer_url"},
		{object{"issuer_url": "https://2130706433/"}, "issuer_url"},
		{object{"issuer_url": "https://localhost/"}, "loopback"},
		{object{"issuer_url": "https://u:secret@8.8.8.8/"}, "issuer_url"},
		{object{"issuer_url": "https://8.8.8.8/?a=b"}, "issuer_url"},
		{object{"issuer_url": "https://8.8.8.8/#x"}, "issuer_url"},
		{object{"issuer_url": "https://8.8.8.8/\r\nX: y"}, "issuer_url"},
		{object{"issuer_url": "https://8.8.8.8/" + long}, "issuer_url"},
		{object{"mode": "key_only"}, "mode"},
		{object{"mode": true}, "mode"},
		{object{"enabled": "perhaps"}, "enabled"},
		{object{"expected_issuer": long}, "expected_issuer"},
		{object{"expected_issuer": "a\nb"}, "expected_issuer"},
		{object{"audience": " a"}, "audience"},
		{object{"audience": "a\x00b"}, "audience"},
		{object{"allowed_algorithms": []string{}}, "allowed_algorithms"},
		{object{"allowed_algorithms": []string{"HS256"}}, "allowed_algorithms"},
		{object{"allowed_algorithms": []string{"RS256", "none"}}, "allowed_algorithms"},
		{object{"allowed_algorithms": []string{"rs256"}}, "allowed_algorithms"},
		{object{"allowed_algorithms": object{}}, "allowed_algorithms"},
		{object{"required_scopes": []string{"a b"}}, "required_scopes"},
		{object{"required_scopes": []string{long}}, "required_scopes"},
		{object{"required_scopes": several}, "required_scopes"},
		{object{"required_claims": []string{"a"}}, "required_claims"},
		{object{"required_claims": object{"ref": 5}}, "required_claims.ref"},
		{object{"required_claims": object{"ref": nil}}, "required_claims.ref"},
		{object{"required_claims": object{"ref": []string{}}}, "required_claims.ref"},
		{object{"required_claims": object{"ref": ""}}, "required_claims.ref"},
		{object{"required_claims": object{"ref": long}}, "required_claims.ref"},
		{object{"required_claims": object{"": "x"}}, "required_claims"},
		{object{"required_claims": object{"a\u0000": "x"}}, "required_claims"},
		{object{"jwks_cache_seconds": 0}, "jwks_cache_seconds"},
		{object{"jwks_cache_seconds": 604801}, "jwks_cache_seconds"},
		{object{"jwks_cache_seconds": 1e15}, "jwks_cache_seconds"},
		{object{"jwks_cache_seconds": "soon"}, "jwks_cache_seconds"},
		{object{"clock_skew_seconds": -1}, "clock_skew_seconds"},
		{object{"clock_skew_seconds": 601}, "clock_skew_seconds"},
		{object{"role": "owner"}, "role"},
		{object{"role": "tester"}, "role"},
		{object{"role": "root"}, "role"},
		{object{"team_ids": []int64{w.theirs.Team.ID}}, "team_ids"},
		{object{"team_ids": []string{"x"}}, "team_ids"},
		{object{"team_ids": []int64{-1}}, "team_ids"},
		{object{"all_teams": false}, "team_ids"},
	} {
		body := object{"issuer_url": "https://8.8.8.8"}
		maps.Copy(body, c.change)
		answer := w.must(t, 400, owner, "POST", "", body)
		require.Contains(t, answer["error"], c.want, "%v", c.change)
		require.NotContains(t, answer["error"], "secret")
	}
	w.must(t, 404, owner, "GET", "", nil)
	// A name that cannot be resolved yet may be set up later.
	require.Equal(t, "https://idp.invalid/", w.must(t, 200, owner, "POST", "", object{"issuer_url": "https://idp.invalid/"})["issuer_url"])
}

// An issuer that signs for everybody is trusted only for somebody's tokens.
func TestSharedIssuers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{})
	owner := byKey(w.ours.Owner.APIKey)
	save := func(want int, issuer string, claims object) {
		t.Helper()
		answer := w.must(t, want, owner, "POST", "", object{"issuer_url": issuer, "required_claims": claims, "enabled": true})
		if want == 400 {
			require.Contains(t, answer["error"], "required_claims")
		}
	}
	const github, gitlab = "https://token.actions.githubusercontent.com", "https://gitlab.com"
	save(400, github, object{})
	save(400, github, object{"ref": "refs/heads/main"})
	save(400, github, object{"repository": "*"})
	save(400, github, object{"repository": "*/app"})
	save(400, github, object{"repository": []string{"acme/app", "*"}})
	save(400, github, object{"sub": "repo:*:ref:refs/heads/main"})
	// Whoever takes the name acme-2 would be let in.
	save(400, github, object{"repository": "acme*"})
	save(400, github, object{"repository_owner": "acme*"})
	save(400, github, object{"sub": "repo*"})
	save(400, github, object{"sub": "repo:acme*"})
	save(400, github, object{"sub": "repository_owner_id:*"})
	save(400, "https://token.actions.githubusercontent.com.", object{})
	save(400, "https://TOKEN.actions.githubusercontent.com/acme", object{})
	save(200, github, object{"repository": "acme/app"})
	save(200, github, object{"repository_owner": "acme"})
	save(200, github, object{"sub": "repo:acme/app:*"})
	save(200, github, object{"sub": "repo:acme/*"})
	save(200, github, object{"repository": "acme/*"})
	save(200, "https://agent.buildkite.com", object{"sub": "organization:acme:pipeline:*"})
	save(400, gitlab, object{"repository": "acme/app"})
	save(200, gitlab, object{"project_path": "acme/app"})
	// It may be stored as long as it is not in force.
	w.must(t, 200, owner, "POST", "", object{"issuer_url": github, "required_claims": object{}, "enabled": false})
	w.must(t, 400, owner, "POST", "", object{"enabled": true})
}

func TestWhoMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{AllowPrivate: true})
	admin, member := byKey(w.member(t, "admin", account.Admin)), byKey(w.member(t, "dev", account.Member))
	all := [][2]string{{"GET", ""}, {"POST", ""}, {"DELETE", ""}, {"POST", "/test"}, {"POST", "/key"}}
	for _, c := range all {
		w.must(t, 401, nil, c[0], c[1], nil)
		w.must(t, 403, member, c[0], c[1], nil)
	}
	key := w.must(t, 200, admin, "POST", "", object{"issuer_url": w.URL, "role": "admin"})["config_key"].(string)
	byToken := byOIDC(key, w.Token(nil))
	w.must(t, 200, byToken, "GET", "", nil)
	w.must(t, 200, byToken, "POST", "/test", nil)
	require.Equal(t, "oidc:repo:acme/app:ref:refs/heads/main", w.lastAudit(t, account.OIDCTested).Actor)
	for _, c := range [][2]string{{"POST", ""}, {"DELETE", ""}, {"POST", "/key"}} {
		w.must(t, 403, byToken, c[0], c[1], map[string]object{"POST": {"issuer_url": "https://evil.example"}}[c[0]+c[1]])
	}
	// Where keys are refused, an owner's still reaches the settings.
	w.must(t, 200, admin, "POST", "", object{"mode": "oidc_only"})
	w.must(t, 401, admin, "GET", "", nil)
	owner := byKey(w.ours.Owner.APIKey)
	w.must(t, 200, owner, "POST", "", object{"mode": "oidc_or_key"})
	w.must(t, 200, admin, "GET", "", nil)
	// A regenerated key ends the former one at once.
	renewed := w.must(t, 200, owner, "POST", "/key", nil)["config_key"].(string)
	require.Contains(t, w.must(t, 401, byToken, "GET", "", nil)["error"], "Invalid config key")
	w.must(t, 200, byOIDC(renewed, w.Token(nil)), "GET", "", nil)
	// The service account stays for as long as the configuration.
	err := w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		o, err := oidc.Of(t.Context(), tx, w.ours.Organization.ID)
		require.NoError(t, err)
		return account.DeleteServiceAccount(t.Context(), tx, account.CLI(), w.ours.Organization.ID, o.UserID)
	})
	require.ErrorIs(t, err, storage.ErrConflict)
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{AllowPrivate: true})
	owner := byKey(w.ours.Owner.APIKey)
	want := object{"ok": true, "issuer": w.URL, "jwks_uri": w.URL + "/keys", "key_count": 1.0,
		"algorithms": []any{"RS256"}, "usable_algorithms": []any{"RS256"}}
	want["usable_algorithms"] = []any{"RS256"}
	require.Equal(t, want, w.must(t, 200, owner, "POST", "/test", object{"issuer_url": w.URL}), "without a configuration")
	w.must(t, 200, owner, "POST", "", object{"issuer_url": w.URL, "allowed_algorithms": []string{"ES256"}})
	none := w.must(t, 200, owner, "POST", "/test", nil)
	require.Equal(t, false, none["ok"], "no key for what is allowed")
	require.Contains(t, none["error"], "algorithm")
	w.SetKeys(w.Key(), issuertest.NewKey("curve", "ES256"))
	got := w.must(t, 200, owner, "POST", "/test", nil)
	require.Equal(t, true, got["ok"])
	require.Equal(t, 2.0, got["key_count"])
	require.Equal(t, []any{"ES256"}, got["usable_algorithms"])

	w.Serve(issuertest.KeysPath, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(500) })
	got = w.must(t, 200, owner, "POST", "/test", nil)
	require.Equal(t, false, got["ok"])
	require.Contains(t, got["error"], "status 500")
	var detail object
	require.NoError(t, json.Unmarshal(w.lastAudit(t, account.OIDCTested).Detail, &detail))
	require.Equal(t, false, detail["ok"])
	for address, text := range map[string]string{"http://169.254.169.254": "metadata", "ftp://x": "only http",
		"": "only http", "http://127.0.0.1:6379": "port"} {
		require.Contains(t, w.must(t, 400, owner, "POST", "/test", object{"issuer_url": address})["error"], text, address)
	}
	got = w.must(t, 200, owner, "POST", "/test", object{"issuer_url": "https://idp.invalid"})
	require.Equal(t, false, got["ok"])
	w.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) {
		issuertest.Discovery(rw, "https://evil.example", w.URL+"/keys")
	})
	require.Contains(t, w.must(t, 200, owner, "POST", "/test", nil)["error"], "calls itself")
}

// While one test waits for its issuer, the organization cannot begin more.
func TestOneTestAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, outbound.Config{AllowPrivate: true})
	owner := byKey(w.ours.Owner.APIKey)
	release, ended := make(chan struct{}), make(chan int, 1)
	w.Serve(issuertest.DiscoveryPath, func(rw http.ResponseWriter, _ *http.Request) {
		<-release
		issuertest.Discovery(rw, w.URL, w.URL+issuertest.KeysPath)
	})
	go func() {
		code, _ := w.do(t, owner, "POST", "/test", object{"issuer_url": w.URL})
		ended <- code
	}()
	require.Eventually(t, func() bool { return w.Count(issuertest.DiscoveryPath) == 1 }, time.Minute, time.Millisecond)
	w.must(t, 429, owner, "POST", "/test", object{"issuer_url": w.URL})
	w.must(t, 200, byKey(w.theirs.Owner.APIKey), "POST", "/test", object{"issuer_url": "https://idp.invalid"})
	close(release)
	require.Equal(t, 200, <-ended)
}
