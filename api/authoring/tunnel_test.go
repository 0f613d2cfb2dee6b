package authoring_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// publicProxy has an address that anybody may reach.
const publicProxy = "http://user:opensesame@93.184.215.14:3128"

func TestTunnels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withGuard(t))
	made := w.ok(w.owner, 201, "POST", "/tunnels", p(`{"name":"Büro 1","url":%q}`, publicProxy))
	requireTime(t, made["creationDate"])
	requireMembers(t, made, tree{"name": "Büro 1", "kind": "http", "host": "93.184.215.14:3128", "creatorUserId": w.owner.UserUUID.String()})
	require.Len(t, made, 5, members(made))
	require.Equal(t, made, w.ok(w.member, 200, "GET", "/tunnels/B%C3%BCro%201", ""))
	for name, tunnel := range map[string]struct{ url, kind string }{
		"socks": {"socks5://93.184.215.14:1080", "socks5"}, "tls": {"https://93.184.215.14:8443", "http"},
		"unresolved": {"http://only-workers-know.invalid:80", "http"}} {
		got := w.ok(w.owner, 201, "POST", "/tunnels", p(`{"name":%q,"url":%q}`, name, tunnel.url))
		require.Equal(t, tunnel.kind, got["kind"], name)
	}
	for query, want := range map[string][]string{"": {"Büro 1", "socks", "tls", "unresolved"}, "search=SOCK": {"socks"},
		"skip=1&limit=1": {"socks"}, "limit=0": {}} {
		got := w.ok(w.member, 200, "GET", "/tunnels?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.NotContains(t, asJSON(t, got), "opensesame")
	}
	require.Equal(t, 0.0, w.ok(w.stranger, 200, "GET", "/tunnels", "")["total"])
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/tunnels?limit=-1", "", "limit")

	w.refused(w.owner, 409, "CONFLICT", "POST", "/tunnels", p(`{"name":"Büro 1","url":%q}`, publicProxy), "name")
	w.refused(w.member, 403, "FORBIDDEN", "POST", "/tunnels", p(`{"name":"x","url":%q}`, publicProxy))
	w.refused(w.member, 403, "FORBIDDEN", "DELETE", "/tunnels/B%C3%BCro%201", "")
	w.refused(w.stranger, 404, "SC_TUNNEL_NOT_FOUND", "GET", "/tunnels/B%C3%BCro%201", "")
	w.refused(w.stranger, 404, "SC_TUNNEL_NOT_FOUND", "DELETE", "/tunnels/B%C3%BCro%201", "")
	w.ok(w.owner, 204, "DELETE", "/tunnels/B%C3%BCro%201", "")
	w.refused(w.owner, 404, "SC_TUNNEL_NOT_FOUND", "DELETE", "/tunnels/B%C3%BCro%201", "")
	for _, method := range []string{"GET", "DELETE"} {
		w.refused(w.owner, 400, "INVALID_PARAMS", method, "/tunnels/"+strings.Repeat("x", 101), "", "name")
		w.refused(w.owner, 400, "INVALID_PARAMS", method, "/tunnels/%ff", "", "name")
	}
	require.Equal(t, 4, w.count(`select count(*) from audit_events where type = $1`, account.TunnelCreated))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TunnelDeleted))
	require.Zero(t, w.count(`select count(*) from audit_events where detail::text like '%opensesame%'`))
}

func TestCreateTunnelRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withGuard(t))
	for text, says := range map[string]string{
		`[]`:                            "object",
		`{"url":"` + publicProxy + `"}`: "name",
		`{"name":"x"}`:                  "url",
		`{"name":7,"url":""}`:           "name",
		`{"name":"x","url":7}`:          "url",
		`{"name":"","url":"` + publicProxy + `"}`:                             "name",
		`{"name":"a/b","url":"` + publicProxy + `"}`:                          "name",
		p(`{"name":%q,"url":%q}`, strings.Repeat("x", 101), publicProxy):      "name",
		`{"name":"x","url":""}`:                                               "url",
		`{"name":"x","url":"proxy:3128"}`:                                     "url",
		`{"name":"x","url":"ftp://opensesame@93.184.215.14:21"}`:              "url",
		`{"name":"x","url":"http://user:opensesame@93.184.215.14"}`:           "url",
		`{"name":"x","url":"http://user:opensesame@93.184.215.14:3128/path"}`: "url",
		`{"name":"x","url":"http://user:opensesame@127.0.0.1:3128"}`:          "url",
		`{"name":"x","url":"socks5://user:opensesame@10.0.0.1:1080"}`:         "url",
		`{"name":"x","url":"socks5://169.254.169.254:80"}`:                    "url",
		`{"name":"x","url":"http://user:opensesame@[::1]:3128"}`:              "url",
		`{"name":"x","url":"http://user:opensesame@2130706433:3128"}`:         "url",
		`{"name":"x","url":"http://user:opensesame@93.184.215.14:6379"}`:      "url",
		`{"name":"x","url":"http://user:open sesame@93.184.215.14:3128"}`:     "url",
	} {
		w.refused(w.owner, 400, "INVALID_BODY", "POST", "/tunnels", text, says)
		require.NotContains(t, w.call(w.owner, "POST", "/tunnels", text).Body.String(), "sesame", text)
	}
	require.Zero(t, w.count(`select count(*) from tunnels`))
}
