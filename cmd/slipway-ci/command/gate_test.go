package command

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
)

func gateOf(state string, conditions ...map[string]any) map[string]any {
	return map[string]any{"gate": map[string]any{"state": state, "reason": "", "conditions": conditions, "overridden": nil}}
}

func condition(name, state, reason string) map[string]any {
	return map[string]any{"name": name, "type": "crash_groups", "state": state, "wanted": "at most 5 reports",
		"measured": "7 reports", "reason": reason,
		"url": "/console/crashes?version=1"}
}

func TestGate(t *testing.T) {
	t.Parallel()
	unknown, closed, open := gateOf("unknown", condition("smoke", "unknown", "the suite has not run")),
		gateOf("fail", condition("crashes", "fail", "a new group")), gateOf("pass", condition("crashes", "pass", ""))
	nothing := map[string]any{"gate": map[string]any{"state": "unknown", "reason": "no policy", "conditions": []any{}}}
	for name, c := range map[string]struct {
		answers []any
		args    []string
		code    outcome.Code
		err     string
		out     string
	}{
		"open": {[]any{open}, nil, outcome.Passed, "", "gate of build 12: pass"},
		"closed": {[]any{closed}, nil, outcome.Failed, "the gate of build 12 is closed",
			"fail     crashes: 7 reports (wanted: at most 5 reports): a new group"},
		"unknown": {[]any{unknown}, nil, outcome.Failed, "the gate of build 12 is unknown: the suite has not run",
			"gate of build 12: unknown"},
		"no policy":  {[]any{nothing}, nil, outcome.Failed, "the gate of build 12 is unknown: no policy", "gate of build 12: unknown"},
		"no waiting": {[]any{nothing}, []string{"--wait"}, outcome.Failed, "unknown: no policy", "gate of build 12: unknown"},
		"overridden": {[]any{map[string]any{"gate": map[string]any{"state": "pass", "conditions": []any{},
			"overridden": map[string]any{"state": "pass", "by": "eve", "reason": "a hot fix"}}}},
			[]string{"--wait"}, outcome.Passed, "", "gate of build 12: pass, decided by eve: a hot fix"},
		"it opens":  {[]any{unknown, open}, []string{"--wait"}, outcome.Passed, "", "gate of build 12: pass"},
		"it closes": {[]any{unknown, closed}, []string{"--wait"}, outcome.Failed, "is closed", "/console/crashes?version=1"},
		"too late": {[]any{unknown}, []string{"--wait", "--timeout", "1500ms"}, outcome.TimedOut,
			"still unknown: the time of --timeout is over: the suite has not run", "unknown  smoke"},
		"allowed":     {[]any{closed}, []string{"--allow-failure"}, outcome.Passed, "is closed", "gate of build 12: fail"},
		"as document": {[]any{open}, []string{"--json"}, outcome.Passed, "", `"build_id": "12"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var answers []answer
			for _, body := range c.answers {
				answers = append(answers, answer{body: body})
			}
			w.server.answer("GET /api/v3/builds/12/gate", answers...)
			r := w.run(append([]string{"gate", "12"}, c.args...)...)
			require.Equal(t, c.code, r.code, r.err)
			require.Contains(t, r.err, c.err)
			require.Contains(t, r.out, c.out)
			require.Equal(t, 1, w.server.most, "one request at a time")
		})
	}
}

func TestBuildsAreFoundByVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.answer("GET /api/v3/builds/12/gate", answer{body: gateOf("pass")})
	w.server.answer("GET /api/v3/projects/3/builds",
		answer{body: map[string]any{"builds": []any{map[string]any{"id": 12}, map[string]any{"id": 11}}}})
	r := w.run("gate", "1.4.2", "--app", "3")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.Contains(t, w.server.to("GET /api/v3/projects/3/builds")[0].path, "version=1.4.2")
	r = w.run("gate", "latest", "--app", "3")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.NotContains(t, w.server.to("GET /api/v3/projects/3/builds")[1].path, "version=")
	r = w.run("gate", "1.4.2")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, "name the app by --app")
	w.server.answer("GET /api/v3/projects/3/builds", answer{body: map[string]any{"builds": []any{}}})
	require.Contains(t, w.run("gate", "9", "--app", "3").err, "404")
	r = w.run("gate", "v9", "--app", "3")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, "the app 3 has no build v9")
}

func TestGatePolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(".git/HEAD", nil)
	w.file("slipway.yaml",
		[]byte("app: \"3\"\ngate:\n  hold_notifications: true\n  conditions:\n    - {name: crashes, type: crash_groups, reports: 5}\n"))
	stored := map[string]any{"hold_notifications": true, "channel": "",
		"conditions": []any{map[string]any{"name": "crashes", "type": "crash_groups", "reports": 5, "kinds": []string{"new"}}}}
	w.server.answer("GET /api/v3/projects/3/gate-policy", answer{status: http.StatusNotFound,
		body: map[string]any{"error": "none"}}, answer{body: map[string]any{"gate_policy": stored}})
	w.server.answer("PUT /api/v3/projects/3/gate-policy", answer{body: map[string]any{"gate_policy": stored}})
	r := w.run("gate", "policy", "check")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "the server has no policy for the app")
	r = w.run("gate", "policy", "push")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.JSONEq(t, `{"hold_notifications":true,"conditions":[{"name":"crashes","type":"crash_groups","reports":5}]}`,
		string(w.server.to("PUT /api/v3/projects/3/gate-policy")[0].body))
	r = w.run("gate", "policy", "check")
	require.Equal(t, outcome.Passed, r.code, r.err)
	r = w.run("gate", "policy", "get")
	require.Equal(t, outcome.Passed, r.code, r.err)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &got), r.out)
	require.Equal(t, true, got["hold_notifications"])
	w.file("slipway.yaml", []byte("app: \"3\"\ngate:\n  conditions:\n    - {name: crashes, type: crash_groups, reports: 6}\n"))
	r = w.run("gate", "policy", "check")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "gate.conditions[0].reports")
	w.server.answer("GET /v1/ai-authoring/testsuites", answer{body: map[string]any{"data": map[string]any{
		"items": []any{map[string]any{"id": "s1", "name": "Smoke"}, map[string]any{"id": "s2", "name": "Smoke 2"}}, "total": 2}}})
	w.file("slipway.yaml", []byte("app: \"3\"\ngate:\n  conditions:\n    - {name: tests, type: suites, suite_ids: [Smoke]}\n"))
	r = w.run("gate", "policy", "push")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.JSONEq(t, `{"conditions":[{"name":"tests","type":"suites","suite_ids":["s1"]}]}`,
		string(w.server.to("PUT /api/v3/projects/3/gate-policy")[1].body))
	w.file("slipway.yaml", []byte("app: \"3\"\ngate:\n  conditions:\n    - {name: tests, type: suites, suite_ids: [Smok]}\n"))
	r = w.run("gate", "policy", "push")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, `no suite has the name "Smok"`)
	w.file("slipway.yaml", []byte("app: \"3\"\n"))
	r = w.run("gate", "policy", "push")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, "write gate into")
}

func TestPolicyOfTheSettings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), settings.Name)
	require.NoError(t, os.WriteFile(path, []byte("gate:\n  conditions: [{name: crashes, type: crash_groups, reports: 5}]\n"), 0o600))
	f, err := settings.Read(path)
	require.NoError(t, err)
	policy, err := (&Session{File: f}).localPolicy(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]any{"conditions": []any{map[string]any{"name": "crashes", "type": "crash_groups", "reports": 5.0}}}, policy)
}

func group(id int, title string, more map[string]any) map[string]any {
	g := map[string]any{"id": id, "title": title, "culprit": "shop.Cart.pay", "count": 10 * id, "total_count": 10 * id,
		"state": "open", "project": map[string]any{"id": 1, "name": "Shop"},
		"first_seen": "2026-01-02T00:00:00Z", "versions": []any{map[string]any{"value": "1.4.2", "count": id,
			"first_seen": "2026-01-02T00:00:00Z"}}}
	for name, value := range more {
		g[name] = value
	}
	return g
}

func TestCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := map[string]any{"first_seen": "2025-01-01T00:00:00Z", "versions": []any{map[string]any{"value": "1.4.2", "count": 1,
		"first_seen": "2026-01-02T00:00:00Z"}, map[string]any{"value": "1.0", "count": 9, "first_seen": "2025-01-01T00:00:00Z"}}}
	back := map[string]any{"regressed_in": "1.4.2", "reopened_at": "2026-01-03T00:00:00Z"}
	for name, value := range old {
		back[name] = value
	}
	w.server.answer("GET /api/v3/crash-groups", answer{body: map[string]any{"crash_groups": []any{
		group(1, "Boom | <b>`x`\n\x1b[31m", nil), group(2, "is old", old), group(3, "is back", back),
		group(4, "of another", map[string]any{"project": map[string]any{"id": 2, "name": "Game"}}),
	}, "pagination": map[string]any{"total_pages": 1}}})
	r := w.run("crashes", "--app-version", "1.4.2", "--project", "shop")
	require.Equal(t, outcome.Passed, r.code, r.err)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	require.Len(t, lines, 3, r.out)
	require.Regexp(t, `^regressed +30 +3 +is back +shop.Cart.pay$`, lines[1])
	require.Regexp(t, `^new +10 +1 +Boom`, lines[2])
	query := w.server.to("GET /api/v3/crash-groups")[0].path
	require.Contains(t, query, "version=1.4.2")
	require.Contains(t, query, "state=open")

	r = w.run("crashes", "--app-version", "1.4.2", "--fail-on", "new,regressed", "--json")
	require.Equal(t, outcome.Failed, r.code)
	require.Contains(t, r.err, "version 1.4.2 has 2 new and 1 regressed crash groups")
	var document struct {
		Groups []struct {
			Kind, URL string
		} `json:"crash_groups"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &document))
	require.Len(t, document.Groups, 3)
	require.Equal(t, w.server.URL+"/console/crashes/groups/4", document.Groups[0].URL)

	r = w.run("crashes", "--app-version", "1.4.2", "--project", "1", "--markdown", "crashes.md", "--since", "2026-01-03", "--all")
	require.Equal(t, outcome.Passed, r.code, r.err)
	text, err := os.ReadFile(filepath.Join(w.dir, "crashes.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "is back")
	require.NotContains(t, string(text), "Boom", "it is older than that")
	r = w.run("crashes", "--app-version", "1.4.2", "--markdown", "-")
	require.Contains(t, r.out, `[Boom \| &lt;b\>\`+"`x\\`"+` \[31m]`)
	require.Equal(t, 1, strings.Count(r.out, "is back"))

	r = w.run("crashes", "--app-version", "1.4.2", "--markdown", "/dev/full")
	require.Equal(t, outcome.Failed, r.code, "a full disk")
	require.Contains(t, r.err, "no space left on device")
	r = w.run("crashes", "--app-version", "1.4.2", "--markdown", "/dev/null")
	require.Equal(t, outcome.Passed, r.code, r.err)
	info, err := os.Stat("/dev/null")
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "a device stays one")
	w.server.answer("GET /api/v3/crash-projects", answer{status: http.StatusForbidden, body: map[string]any{"error": "admin"}})
	r = w.run("crashes", "--app-version", "1.4.2", "--app", "3")
	require.Equal(t, outcome.Refused, r.code)
	require.Contains(t, r.err, "name the crash project by --project")
	require.Equal(t, outcome.Misused, w.run("crashes").code)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for words, want := range map[string]string{"": "/console", "group 7": "/console/crashes/groups/7",
		"suite a/b": "/console/tests/suites/a%2Fb", "build 12": "/console/builds/builds/12", "app 3": "/console/builds/apps/3"} {
		r := w.run(append([]string{"open"}, strings.Fields(words)...)...)
		require.Equal(t, outcome.Passed, r.code, r.err)
		require.Equal(t, w.server.URL+want+"\n", r.out)
	}
	require.Equal(t, outcome.Misused, w.run("open", "group").code)
	require.Equal(t, outcome.Misused, w.run("open", "window", "1").code)
}
