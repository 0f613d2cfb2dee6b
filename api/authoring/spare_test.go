package authoring_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// What a body has too much is refused with its path inside of a member, and where the name
// means something elsewhere; else the answer says that it was ignored.
func TestSpareMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite", id)
	schedule := "/test-schedules/" + w.newSchedule(w.member, nil)["id"].(string)
	one := func(step string) string { return `{"steps":[{"tool":{"type":"finish","args":{}}},` + step + `]}` }
	assert := func(members string) string {
		return one(`{"tool":{"type":"assert","args":{"selector":{"type":"css","value":"a"},"matcher":{"name":"visible"}` + members + `}}}`)
	}
	for _, r := range []struct{ method, path, text, says string }{
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"assert","args":{"selector":"a","matcher":{"name":"visible","not":true}}}}`), "steps[1].tool.args.matcher.not: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"assert","args":{"selector":"a","matcher":{"name":"text","args":{"value":"x","ignoreCase":true}}}}}`),
			"steps[1].tool.args.matcher.args.ignoreCase: "},
		{"POST", "/testcases/" + id, one(`{"tool":{"type":"click","args":{"selector":"a","offset":{"x":1,"y":2}}}}`),
			"steps[1].tool.args.offset: "},
		{"POST", "/testcases/" + id, one(`{"tool":{"type":"click","args":{"selector":"a","key_code":"right"}}}`),
			"steps[1].tool.args.key_code: "},
		{"POST", "/testcases/" + id, one(`{"tool":{"type":"click","args":{"selector":"a","keys":["Alt"]}}}`), "steps[1].tool.args.keys: "},
		{"POST", "/testcases/" + id, one(`{"soft":true,"tool":{"type":"finish","args":{}}}`), "steps[1].soft: "},
		{"POST", "/testcases/" + id, one(`{"screenshotId":"x","tool":{"type":"finish","args":{}}}`), "steps[1].screenshotId: "},
		{"POST", "/testcases/" + id, one(`{"tool":{"type":"click","args":{"selector":{"type":"css","value":"a","frame":"b"}}}}`),
			"steps[1].tool.args.selector.frame: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"click","args":{"selector":{"type":"css","value":"a","within":{"type":"css","value":"b","strict":true}}}}}`),
			"steps[1].tool.args.selector.within.strict: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"click","args":{"selector":{"type":"role","value":"button","state":{"focused":true}}}}}`),
			"steps[1].tool.args.selector.state: has no member \"focused\""},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"in_frame","args":{"selector":"f","tool":{"type":"click","delay":1,"args":{"selector":"a"}}}}}`),
			"steps[1].tool.args.tool.delay: "},
		{"POST", "/testcases/" + id,
			one(`{"when":{"matcher":{"name":"visible"},"selector":"a","else":1},"tool":{"type":"finish","args":{}}}`), "steps[1].when.else: "},
		{"POST", "/testcases/" + id, assert(`,"message":"m"`), "steps[1].tool.args.message: "},
		{"POST", "/testcases/" + id, assert(`,"when":1`), "steps[1].tool.args.when: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"assert","args":{"selector":"a","matcher":{"name":"toHaveText","args":["x",{"ignoreCase":null}]}}}}`),
			"steps[1].tool.args.matcher.args[1].ignoreCase: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"click","args":{"selector":{"type":"css","value":"a","fingerprint":{"tag":"a","attributes.id":"x"}}}}}`),
			"steps[1].tool.args.selector.fingerprint.attributes.id: "},
		{"POST", "/testcases/" + id,
			one(`{"tool":{"type":"click","args":{"selector":{"type":"css","value":"a","fingerprint":{"tag":"a","attributes_foo":{"deep":1}}}}}}`),
			"steps[1].tool.args.selector.fingerprint.attributes_foo: "},
		{"POST", "/testcases/" + id, `{"runSettings":{"lastBuildName":{"x":1}}}`, "runSettings.lastBuildName: must be a string"},
		{"POST", "/testcases", importText(t, "x", tree{"runSettings": tree{"lastBuildName": 7}}), "runSettings.lastBuildName: must be a string"},
		{"POST", "/testcases/generate", generateText(t, tree{"runSettings": tree{"testUrl": "https://a.example/", "lastBuildName": []any{},
			"target": tree{"capabilities": tree{"browserName": "chrome"}}}}), "runSettings.lastBuildName: must be a string"},
		{"POST", "/testcases/" + id, `{"runSettings":{"viewport":{"width":1}}}`, "runSettings.viewport: "},
		{"POST", "/testcases/" + id, `{"runSettings":{"target":{"capabilities":{"browserName":"chrome"},"browser":"x"}}}`,
			"runSettings.target.browser: "},
		{"POST", "/testcases/" + id, `{"sideTest":"x"}`, "sideTest: "},
		{"POST", "/testcases/" + id, `{"teamId":"` + noUUID + `"}`, "teamId: cannot be changed"},
		{"POST", "/testcases/" + id + "/run", `{"targets":[{"capabilities":{"browserName":"chrome"},"name":"x"}]}`, "targets[0].name: "},
		{"POST", "/testcases/" + id + "/run", `{"steps":[]}`, "steps: "},
		{"POST", "/testcases/" + id + "/rename", `{"name":"x","variables":{"a":"b"}}`, "variables: "},
		{"POST", "/testsuites/" + suite + "/run", `{"targets":[{"capabilities":{"browserName":"chrome"},"name":"x"}]}`, "targets[0].name: "},
		{"POST", "/testcases/" + id + "/generate", `{"promptSettings":{"intent":"x","model":"y"}}`, "promptSettings.model: "},
		{"POST", "/testsuites/" + suite + "/run", `{"scTunnelName":"x"}`, "scTunnelName: "},
		{"POST", "/testsuites/" + suite + "/run", `{"HEADLESS":true}`, "HEADLESS: "},
		{"POST", "/testsuites/" + suite + "/run", `{"env":"qa"}`, "env: "},
		{"POST", "/testsuites/" + suite, `{"description":"x"}`, "description: "},
		{"POST", "/testsuites", `{"name":"x","addTestCases":["` + id + `"]}`, "addTestCases: "},
		{"DELETE", "/testsuites/" + suite, `{"deleteTestCase":true}`, "deleteTestCase: "},
		{"DELETE", "/testcases/" + id, `{"force":true}`, "force: "},
		{"POST", schedule, `{"settings":{"crno":"@daily"}}`, "settings.crno: "},
		{"POST", schedule + "/run", `{"buildName":"x"}`, "buildName: "},
		{"POST", "/variables", `{"scope":"org","name":"a","value":"","version":3}`, "version: "},
		{"POST", "/testcases", importText(t, "x", tree{"sideTest": "one"}), "sideTest: "},
		{"POST", "/testcases/generate", generateText(t, tree{"runSettings": tree{"testUrl": "https://a.example/", "runTargets": []any{},
			"target": tree{"capabilities": tree{"browserName": "chrome"}}}}), "by target"},
	} {
		w.refused(w.owner, 400, "INVALID_BODY", r.method, r.path, r.text, r.says)
	}
	for _, r := range []struct {
		status             int
		method, path, text string
		warnings           []any
	}{
		{200, "POST", "/testcases/" + id + "/rename?dry=1&_=2", `{"name":"new","nickname":"x"}`, []any{
			`"dry" is no parameter of this request and was ignored`, `"nickname" is no member of this request and was ignored`}},
		{200, "POST", "/testsuites/" + suite + "/run", `{"note":{"targets":[1]}}`, []any{`"note" is no member of this request and was ignored`}},
		{200, "POST", schedule + "/disable", `{"by":"x"}`, []any{`"by" is no member of this request and was ignored`}},
		{201, "POST", "/testsuites", `{"name":"b","color":"red"}`, []any{`"color" is no member of this request and was ignored`}},
		{200, "POST", "/testcases/" + id, `{"runSettings":{"lastBuildName":"b9"}}`,
			[]any{"runSettings.lastBuildName is changed by runs alone and was ignored"}},
		{201, "POST", "/testcases", importText(t, "x", tree{"runSettings": tree{"lastBuildName": "of another case"}}),
			[]any{"runSettings.lastBuildName is changed by runs alone and was ignored"}},
		{202, "POST", "/testcases/generate", generateText(t, tree{"runSettings": tree{"testUrl": "https://a.example/", "lastBuildName": "b9",
			"target": tree{"capabilities": tree{"browserName": "chrome"}}}}),
			[]any{"runSettings.lastBuildName is changed by runs alone and was ignored"}},
		{200, "POST", "/testcases/" + id,
			one(`{"tool":{"type":"assert","args":{"selector":"a","matcher":{"name":"toHaveTitle","args":["x",{"message":"m"}]}}}}`), []any{
				"steps[1].tool.args.selector has no effect in this matcher and was ignored",
				"steps[1].tool.args.matcher.args[1].message has no effect in this matcher and was ignored"}},
		{201, "POST", "/testcases", importText(t, "x",
			tree{"steps": nil, "side": json.RawMessage(`{"flags":1,"url":"https://shop.example.com","tests":[{"id":"t","name":"t",
			"commands":[{"command":"clickAt","target":"id=a","value":"10,20","skip":false,"foo":1}]}]}`)}), []any{
			"a selector that finds several elements takes the first, as in Selenium IDE: runSettings.strict is false",
			"flags is no member that Selenium IDE writes and was ignored",
			"tests[0].commands[0].foo is no member that Selenium IDE writes and was ignored",
			"tests[0].commands[0].value: the position 10,20 is not kept: clickAt takes the middle of the element"}},
		{200, "PATCH", "/variables/" + w.newVariable(`{"scope":"team","teamId":"` + w.one.UUID.String() +
			`","name":"v","value":""}`)["id"].(string), `{"note":1}`,
			[]any{`"note" is no member of this request and was ignored`}},
	} {
		require.Equal(t, r.warnings, w.ok(w.member, r.status, r.method, r.path, r.text)["warnings"], r.path)
	}
	run := w.ok(w.member, 200, "POST", "/testcases/"+id+"/run", "")["id"].(string)
	suiteRun := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", "")["id"].(string)
	for _, path := range []string{"/testcases/" + id + "/runs/" + run, "/testsuites/" + suite + "/runs/" + suiteRun} {
		require.Equal(t, []any{`"by" is no member of this request and was ignored`}, w.ok(w.member, 200, "POST",
			path+"/cancel", `{"by":"x"}`)["warnings"])
	}
	many := `{"name":"new"`
	for i := range 40 {
		many += p(`,"x%d":1`, i)
	}
	warnings := w.ok(w.member, 200, "POST", "/testcases/"+id+"/rename", many+`}`)["warnings"].([]any)
	require.Len(t, warnings, 21)
	require.Equal(t, "there were more warnings than these", warnings[20])
	require.NotContains(t, w.ok(w.member, 200, "GET", "/testcases/"+id+"?_=1", ""), "warnings")
}

// Each name that a body of the description has at some level is refused at the top of a
// body that does not have it, but for id.
func TestNamesOfOtherBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/testcases/" + w.newCase(w.member, "case", nil) + "/rename"
	description, err := openapi3.NewLoader().LoadFromFile("../openapi.json")
	require.NoError(t, err)
	names, seen := map[string]bool{"userId": true, "creatorUserId": true}, map[*openapi3.Schema]bool{}
	var walk func(of *openapi3.SchemaRef)
	walk = func(of *openapi3.SchemaRef) {
		if of == nil || seen[of.Value] {
			return
		}
		seen[of.Value] = true
		for _, part := range slices.Concat(of.Value.AllOf, of.Value.OneOf, of.Value.AnyOf, openapi3.SchemaRefs{of.Value.Items}) {
			walk(part)
		}
		for name, below := range of.Value.Properties {
			names[name] = true
			walk(below)
		}
	}
	for path, item := range description.Paths.Map() {
		for _, op := range item.Operations() {
			if strings.HasPrefix(path, "/v1/ai-authoring/") && op.RequestBody != nil {
				walk(op.RequestBody.Value.Content["application/json"].Schema)
			}
		}
	}
	require.Greater(t, len(names), 100)
	delete(names, "name") // it has this one
	delete(names, "id")
	for name := range names {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, p(`{"name":"x",%q:1}`, name), name+": ")
	}
}

// What has been read of something can be sent back to it.
func TestAnswersSentBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	schedule := "/test-schedules/" + w.newSchedule(w.member, tree{"settings": w.nightly(nil),
		"testSuiteIds": []string{w.newSuite(w.member, "of it")}})["id"].(string)
	suite := "/testsuites/" + w.newSuite(w.member, "suite")
	for _, path := range []string{schedule, suite, "/testcases/" + w.newCase(w.member, "case", nil)} {
		read := w.ok(w.member, 200, "GET", path, "")
		require.Contains(t, w.ok(w.member, 200, "POST", path, asJSON(t, read))["warnings"],
			`"creatorUserId" is no member of this request and was ignored`)
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", suite, `{"state":{}}`, "state: ")
}

// A filter that is none would select everything.
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	for _, path := range []string{"/testcases?tags=a", "/testcases?status=FAILED", "/testcases?testSuiteIds=" + noUUID,
		"/testsuites?name=x", "/test-schedules?state=ENABLED",
		"/variables?q=x", "/tunnels?name=x", "/testcases/" + id + "?expand=1", "/testcases/" + id + "/runs?status=FAILED",
		"/testcases/tags?limit=1&tag=a"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", path, "", "is no parameter of this request; there ")
	}
	w.refused(w.member, 400, "INVALID_QUERY", "DELETE", "/testcases/"+id+"?force=1", "", "force")
	w.ok(w.member, 200, "GET", "/testcases?_=123&_cache=no&testSuiteId[]=null", "")
}
