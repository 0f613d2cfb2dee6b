package authoring_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	store "github.com/slipway-qa/slipway/storage/run"
)

// A wrong byte is refused wherever a client can put one, by the name of the member, and
// never stored as another character.
func TestWrongBytesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, suite := w.newCase(w.member, "case", nil), w.newSuite(w.member, "smoke")
	w.play(id, store.Passed, healedAs("s1", "#a", "#b"))
	variable := w.ok(w.owner, 201, "POST", "/variables", `{"scope":"org","name":"a","value":"b","isSecret":false}`)["id"]
	for _, tc := range []struct{ method, path, text, member string }{
		{"POST", "/testcases", "{\"name\":\"a\xffb\",\"steps\":[]}", "name: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"intent\":\"\xe4\",\"steps\":[]}", "intent: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"runSettings\":{\"target\":{\"capabilities\":{\"a:b\":\"\xff\"}}},\"steps\":[]}",
			"runSettings.target.capabilities.a:b: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"steps\":[{\"tool\":{\"type\":\"click\",\"args\":{\"selector\":\"\xff\"}}}]}",
			"steps[0].tool.args.selector: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"side\":{\"tests\":[{\"name\":\"\xff\"}]}}", "side.tests[0].name: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"side\":\"{\xff}\"}", "side: "},
		{"POST", p("/testcases/%s/rename", id), "{\"name\":\"\xc3\"}", "name: "},
		{"POST", p("/testcases/%s/duplicate", id), "{\"name\":\"\xed\xa0\x80\"}", "name: "},
		{"POST", p("/testcases/%s/run", id), "{\"buildName\":\"\xff\"}", "buildName: "},
		{"POST", p("/testcases/%s/healings/%s", id, noUUID), "{\"action\":\"\xff\"}", "action: "},
		{"POST", "/testsuites", "{\"name\":\"\xff\"}", "name: "},
		{"POST", "/testsuites/" + suite, "{\"tags\":[\"a\",\"\xff\"]}", "tags[1]: "},
		{"POST", "/test-schedules", "{\"name\":\"\xff\"}", "name: "},
		{"POST", "/test-schedules", "{\"settings\":{\"cron\":\"\xff\"}}", "settings.cron: "},
		{"POST", "/variables", "{\"scope\":\"org\",\"name\":\"x\",\"value\":\"\xff\"}", "value: "},
		{"PATCH", p("/variables/%s", variable), "{\"value\":\"\xff\"}", "value: "},
		{"POST", "/tunnels", "{\"name\":\"\xff\",\"url\":\"http://proxy.example.com:3128\"}", "name: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"unknown\":\"\xff\",\"steps\":[]}", "unknown: "},
		{"POST", "/testcases", "{\"name\":\"a\",\"steps\":[]}\xff", "body: "},
	} {
		as := w.member
		if strings.HasPrefix(tc.path, "/variables") || tc.path == "/tunnels" {
			as = w.owner
		}
		w.refused(as, 400, "INVALID_BODY", tc.method, tc.path, tc.text, tc.member+"must be UTF-8 text")
	}
	for path, member := range map[string]string{
		"/testcases?search=a%ff": "search", "/testsuites?search=%c3": "search", "/test-schedules?search=%ff": "search",
		"/testcases?userId=%ff": "userId", "/testcases?startDate=%ff": "startDate", "/testcases?limit=%ff": "limit",
		"/testcases?testSuiteId=%ff": "testSuiteId", "/testsuites?ids=%ff": "ids", "/test-schedules?ids[]=%ff": "ids",
		p("/testcases/%s/runs?healed=%%ff", id): "healed", p("/testcases/%s/healings?state=%%ff", id): "state",
		p("/testcases/%s/runs/%s?format=%%ff", id, uuid.New()): "format", p("/testcases/%s/runs/%s?wait=%%ff", id, uuid.New()): "wait",
	} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", path, "", member)
	}
	for _, path := range []string{"/testcases/%ff", "/testsuites/%ff", p("/testcases/%s/runs/%%ff", id), p("/testcases/%s/healings/%%ff", id),
		"/variables/%ff", "/files/%ff", "/tunnels/%ff"} {
		w.refused(w.owner, 400, "INVALID_PARAMS", "GET", path, "")
	}
	w.refused(w.member, 400, "CODE_GENERATION_TARGET_INVALID", "GET", p("/testcases/%s/code?target=%%ff", id), "")
}
