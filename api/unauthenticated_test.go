package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/account"
)

// public is the list of routes that ask for no credentials. A new one fails the
// test until it stands here too.
var public = map[string]bool{
	"GET /openapi.json": true, "GET /docs": true, "GET /docs/:file": true, "POST /post": true, "OPTIONS /post": true,
	"POST /api/post": true, "OPTIONS /api/post": true,
	"POST /api/unique-events/submit": true, "OPTIONS /api/unique-events/submit": true,
	"POST /api/summed-events/submit": true, "OPTIONS /api/summed-events/submit": true,
	"POST /api/tunnel": true, "OPTIONS /api/tunnel": true, "POST /api/v3/crashes/:id/feedback": true,
	"OPTIONS /api/v3/crashes/:id/feedback": true,
	"POST /:universe/:token/:format":       true, "OPTIONS /:universe/:token/:format": true,
	"GET /api/v3/builds/:id/gate/badge.svg": true, "GET /objects/*key": true, "HEAD /objects/*key": true, "GET /healthz": true,
	"GET /readyz": true, "GET /metrics": true,
	"POST /api/upload": true, "POST /upload": true, "POST /api/upload/dsym": true, "POST /upload/dsym": true,
	"POST /api/v3/builds/upload":   true,
	"GET /mail/unsubscribe/:token": true, "POST /mail/unsubscribe/:token": true,
	"GET /install/:name": true, "GET /install/:name/icon": true, "GET /install/:name/qr": true, "GET /install/:name/download": true,
	"GET /install/:name/manifest.plist": true, "POST /install/:name/sign-in": true, "POST /install/:name/password": true,
	"GET /session/:link": true, "POST /session/:link": true,
	"POST /sign-out":  true,
	"GET /ops/queues": true, "GET /ops/queues/*any": true, // to the console, which asks
	// The pages of a person ask for a session themselves.
	"GET /sign-in": true, "POST /sign-in": true, "GET /invite/:secret": true, "POST /invite/:secret": true, "GET /me": true,
	"GET /me/apps/:id": true, "POST /me/organization": true, "POST /me/mail": true, "GET /me/feedback": true, "POST /me/feedback": true,
	"GET /me/leave": true, "POST /me/leave": true, "GET /me/devices": true, "POST /me/devices/:id/remove": true,
	"GET /udid": true, "GET /udid/register": true, "POST /udid/answer": true, "GET /udid/done": true,
	// Of SDKs: the handler checks the token of the app.
	"POST /api/1/sdk/sessions": true, "POST /api/1/sdk/sessions/:session/events": true, "POST /api/1/sdk/sessions/:session/end": true,
	"POST /api/1/sdk/feedbacks": true, "GET /api/1/sdk/update": true, "OPTIONS /api/1/sdk/sessions": true,
	"OPTIONS /api/1/sdk/sessions/:session/events": true,
	"OPTIONS /api/1/sdk/sessions/:session/end":    true, "OPTIONS /api/1/sdk/feedbacks": true, "OPTIONS /api/1/sdk/update": true,
	// Of symbol files: the form has the key, or the path.
	"POST /api/v3/symbols": true, "GET /buildid/*path": true, "GET /debuginfod/*path": true, "GET /symbolserver/*path": true,
}

// address fills a route's parameters in.
func address(r route.Route) string {
	path := strings.NewReplacer("/:universe/:token/:format", "/u/t/json", "*key", "a/b", "*any", "static/x.js").Replace(r.Path)
	return parameter.ReplaceAllStringFunc(path, func(name string) string {
		if name == ":attachment" || name == ":id" && (strings.HasPrefix(path, "/api/v3/tasks") || strings.HasPrefix(path, "/api/v3/crashes")) {
			return uuid.NewString()
		}
		return "1"
	})
}

// requireRefusal checks status and shape of a refusal.
func requireRefusal(t *testing.T, of respond.Interface, what string, status int, body []byte, allowed ...int) {
	t.Helper()
	require.Contains(t, allowed, status, what)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(body, &answer), what)
	switch of {
	case respond.InterfaceV3:
		require.Len(t, answer, 1, what)
		require.IsType(t, "", answer["error"], what)
	case respond.InterfaceLegacy:
		require.Equal(t, "fail", answer["status"], what)
		require.IsType(t, float64(0), answer["code"], what)
		require.IsType(t, "", answer["message"], what)
	case respond.InterfaceAuthoring:
		failure, ok := answer["error"].(map[string]any)
		require.True(t, ok, what)
		require.IsType(t, "", failure["code"], what)
	case respond.InterfaceCrash:
		failure, ok := answer["error"].(map[string]any)
		require.True(t, ok, what)
		require.IsType(t, float64(0), failure["code"], what)
	}
}

// TestStrangers walks all routes with credentials that must not get through.
func TestStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, tester, testersAccess := w.memberWithKeys(t, "tester@example.com", account.Tester)
	unknown, err := w.keys.New(account.KindAPI)
	require.NoError(t, err)
	unknownOperator, err := w.keys.New(account.KindOperator)
	require.NoError(t, err)
	oursHost := host("ours." + baseDomain)

	strangers := map[string]struct {
		options []option
		status  []int
	}{
		"nobody":             {nil, []int{401}},
		"unknown key":        {[]option{key(unknown.Text)}, []int{401}},
		"garbage":            {[]option{key("' or 1=1 --")}, []int{401}},
		"unknown basic":      {[]option{basic("ours@example.com", unknown.Text)}, []int{401}},
		"unknown operator":   {[]option{basic("ours", unknownOperator.Text)}, []int{401}},
		"access key":         {[]option{key(w.ours.Owner.AccessKey)}, []int{401}},
		"crash token":        {[]option{key(w.ours.Crash.Token)}, []int{401}},
		"another's mail":     {[]option{basic("theirs@example.com", w.ours.Owner.APIKey)}, []int{401}},
		"other organization": {[]option{key(w.theirs.Owner.APIKey), oursHost}, []int{403}},
		"tester":             {[]option{key(tester)}, []int{403}},
		"foreign page":       {[]option{basic("ours@example.com", w.ours.Owner.APIKey), header("Sec-Fetch-Site", "cross-site")}, []int{403}},
	}
	// The authoring interface takes a user name with its access key, and API keys in the
	// header alone.
	authors := map[string]struct {
		options []option
		status  []int
	}{
		"nobody":             {nil, []int{401}},
		"unknown key":        {[]option{key(unknown.Text)}, []int{401}},
		"access key alone":   {[]option{key(w.ours.Owner.AccessKey)}, []int{401}},
		"crash token":        {[]option{key(w.ours.Crash.Token)}, []int{401}},
		"another's key":      {[]option{key(w.theirs.Owner.APIKey), oursHost}, []int{403}},
		"tester's key":       {[]option{key(tester)}, []int{403}},
		"api key as access":  {[]option{basic("ours", w.ours.Owner.APIKey)}, []int{401}},
		"mail address":       {[]option{basic("ours@example.com", w.ours.Owner.AccessKey)}, []int{401}},
		"another's name":     {[]option{basic("theirs", w.ours.Owner.AccessKey)}, []int{401}},
		"operator":           {[]option{operator(w.ours)}, []int{401}},
		"other organization": {[]option{basic("theirs", w.theirs.Owner.AccessKey), oursHost}, []int{403}},
		"tester":             {[]option{basic("tester", testersAccess)}, []int{403}},
		"foreign page":       {[]option{basic("ours", w.ours.Owner.AccessKey), header("Sec-Fetch-Site", "cross-site")}, []int{403}},
	}
	seen := map[string]bool{}
	for _, route := range w.cfg.Routes {
		name := route.Method + " " + route.Path
		require.False(t, seen[name], "%s stands twice", name)
		seen[name] = true
		if route.Public != "" {
			require.True(t, public[name], "%s is public: say so in this test", name)
			continue
		}
		require.False(t, public[name], name)
		refused := strangers
		if route.Interface == respond.InterfaceAuthoring {
			refused = authors
		}
		for who, s := range refused {
			if who == "foreign page" && route.Method == http.MethodGet {
				continue // reading across origins is up to the browser
			}
			for _, path := range []string{address(route), strings.NewReplacer("/api/v3/", "/api/3/", "/v1/ai-authoring/",
				"/ai-authoring/v1/").Replace(address(route))} {
				before := w.hits()
				rec := w.do(t, route.Method, path, s.options...)
				what := name + " by " + who
				requireRefusal(t, route.Interface, what, rec.Code, rec.Body.Bytes(), s.status...)
				require.Equal(t, before, w.hits(), "%s reached the handler", what)
				require.NotEmpty(t, rec.Header().Get("X-Request-Id"), what)
				if rec.Code == 401 {
					require.NotEmpty(t, rec.Header().Get("WWW-Authenticate"), what)
				}
			}
		}
	}
	for name := range public {
		require.True(t, seen[name], "%s is no route any more", name)
	}
}

// TestRolesOnRoutes walks all routes with credentials that get through, or not,
// by the table.
func TestRolesOnRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, member, access := w.memberWithKeys(t, "member@example.com", account.Member)
	for _, route := range w.cfg.Routes {
		if route.Public != "" {
			continue
		}
		name := route.Method + " " + route.Path
		operators := strings.HasPrefix(route.Path, "/ops/") || strings.HasPrefix(route.Path, "/api/v3/operate")
		isTask := strings.HasPrefix(route.Path, "/api/v3/tasks") || route.Path == "/api/v3/search"
		for who, tc := range map[string]struct {
			options []option
			allowed bool
		}{
			"owner":    {[]option{key(w.ours.Owner.APIKey)}, !operators},
			"member":   {[]option{key(member)}, auth.Table()[route.Action].Least == account.Member},
			"operator": {[]option{operator(w.ours)}, operators || isTask},
		} {
			ways := [][]option{tc.options}
			if own := map[string]option{"owner": basic("ours", w.ours.Owner.AccessKey), "member": basic("member", access)}[who]; own != nil &&
				route.Interface == respond.InterfaceAuthoring {
				ways = append(ways, []option{own})
			}
			for _, options := range ways {
				rec := w.do(t, route.Method, address(route), options...)
				if tc.allowed {
					require.NotContains(t, []int{401, 403}, rec.Code, "%s by %s: %s", name, who, rec.Body)
					continue
				}
				want := 403
				if who == "operator" && (route.Interface == respond.InterfaceLegacy || route.Interface == respond.InterfaceAuthoring) {
					want = 401 // no key of that interface
				}
				require.Equal(t, want, rec.Code, "%s by %s", name, who)
			}
		}
	}
}

func TestMetricsCanBeProtected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *api.Config) {
		for _, r := range (&ops.Handlers{ProtectMetrics: true}).Routes() {
			if r.Path == ops.MetricsPath {
				at := slices.IndexFunc(cfg.Routes, func(r route.Route) bool { return r.Path == ops.MetricsPath })
				r.Handler = cfg.Routes[at].Handler
				cfg.Routes[at] = r
			}
		}
	})
	require.Equal(t, 401, w.do(t, "GET", "/metrics").Code)
	require.Equal(t, 403, w.do(t, "GET", "/metrics", key(w.ours.Owner.APIKey)).Code)
	require.Equal(t, 200, w.do(t, "GET", "/metrics", operator(w.ours)).Code)
}
