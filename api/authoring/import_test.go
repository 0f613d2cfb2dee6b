package authoring_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestImportPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, w.one.UUID.String(), w.ok(w.both, 201, "POST", "/testcases", importText(t, "x", nil))["teamId"], "the default team")
	suite := w.newSuite(w.both, "suite")
	made := w.ok(w.both, 201, "POST", "/testcases", importText(t, "x", tree{"teamId": bare(w.two.UUID), "testSuiteId": suite}))
	require.Equal(t, w.two.UUID.String(), made["teamId"])
	require.Equal(t, suite, made["testSuiteId"])
	require.Equal(t, 1.0, w.ok(w.both, 200, "GET", "/testsuites/"+suite, "")["testCaseCount"])
	require.NotContains(t, w.ok(w.both, 201, "POST", "/testcases", importText(t, "x", tree{"testSuiteId": json.RawMessage("null"),
		"teamId": json.RawMessage("null"), "side": json.RawMessage("null")})), "testSuiteId", "it is in none")

	require.Equal(t, w.two.UUID.String(), w.ok(w.owner, 201, "POST", "/testcases", importText(t, "x", tree{"teamId": w.two.UUID}))["teamId"],
		"an admin is in every team")
	require.Equal(t, w.one.UUID.String(), w.ok(w.owner, 201, "POST", "/testcases", importText(t, "x", nil))["teamId"])

	abroad := w.newSuite(w.stranger, "abroad")
	for _, id := range []string{noUUID, abroad} {
		w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "POST", "/testcases", importText(t, "x", tree{"testSuiteId": id}))
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "x", tree{"testSuiteId": noCase}), "testSuiteId")
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "x", tree{"teamId": noUUID}), "teamId")
	w.refused(w.member, 403, "FORBIDDEN", "POST", "/testcases", importText(t, "x", tree{"teamId": w.two.UUID}))
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", "/testcases", importText(t, "x", tree{"testSuiteId": w.newSuite(w.member, "one's")}))
	require.Equal(t, 5, w.count(`select count(*) from test_cases`))
	require.Equal(t, 5, w.count(`select count(*) from audit_events where type = $1`, account.TestCaseCreated))
}

func TestImportSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chrome, firefox := tree{"browserName": "chrome"}, tree{"browserName": "firefox", "slipway:options": tree{"name": "n"}}
	shown := func(capabilities tree, rdc bool) tree { return tree{"capabilities": capabilities, "isRdc": rdc} }
	for name, tc := range map[string]struct {
		settings any
		want     tree
	}{
		"none": {nil, tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(tree{}, false), "runTargets": []any{},
			"lastBuildName": ""}},
		"as generated": {
			tree{"target": tree{"capabilities": chrome, "isRdc": true}, "testUrl": "https://a.example/{{path}}", "scTunnelName": "office"},
			tree{"testUrl": "https://a.example/{{path}}", "scTunnelName": "office", "primaryTarget": shown(chrome, true),
				"runTargets": []any{shown(chrome, true)}, "lastBuildName": ""}},
		"as answered": {
			tree{"testUrl": "https://a.example/", "scTunnelName": nil, "primaryTarget": shown(chrome, false),
				"runTargets": []any{shown(chrome, false), shown(firefox, true)}, "lastBuildName": "of another case"},
			tree{"testUrl": "https://a.example/", "scTunnelName": nil, "primaryTarget": shown(chrome, false),
				"runTargets": []any{shown(chrome, false), shown(firefox, true)}, "lastBuildName": ""}},
		"as answered without a target": {
			tree{"testUrl": "", "scTunnelName": "", "primaryTarget": shown(tree{}, false), "runTargets": []any{}},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(tree{}, false), "runTargets": []any{}, "lastBuildName": ""}},
		"empty targets": {
			tree{"primaryTarget": tree{}, "runTargets": []any{shown(tree{}, true), tree{"capabilities": nil}, tree{}}},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(tree{}, false), "runTargets": []any{}, "lastBuildName": ""}},
		"an empty target": {
			tree{"target": shown(tree{}, false)},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(tree{}, false), "runTargets": []any{}, "lastBuildName": ""}},
		"one target is empty": {
			tree{"runTargets": []any{tree{}, shown(firefox, false)}},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(firefox, false),
				"runTargets": []any{shown(firefox, false)}, "lastBuildName": ""}},
		"a primary target alone": {
			tree{"primaryTarget": shown(chrome, false)},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(chrome, false),
				"runTargets": []any{shown(chrome, false)}, "lastBuildName": ""}},
		"targets to run alone": {
			tree{"runTargets": []any{shown(firefox, false)}},
			tree{"testUrl": "", "scTunnelName": nil, "primaryTarget": shown(firefox, false),
				"runTargets": []any{shown(firefox, false)}, "lastBuildName": ""}},
	} {
		made := w.ok(w.member, 201, "POST", "/testcases", importText(t, name, tree{"runSettings": tc.settings}))
		tc.want["strict"], tc.want["healing"], tc.want["drift"], tc.want["trace"], tc.want["retries"] = true, nil, nil, nil, nil
		require.Equal(t, tc.want, made["runSettings"], name)
	}
}

// TestImportOfAnswer: what a get answers can be imported as it is.
func TestImportOfAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.ok(w.member, 201, "POST", "/testcases", importText(t, "first", nil))
	revision := first["revisions"].([]any)[0].(tree)
	second := w.ok(w.member, 201, "POST", "/testcases", importText(t, "second", tree{
		"runSettings": first["runSettings"], "steps": revision["steps"]}))
	require.Equal(t, first["runSettings"], second["runSettings"])
	require.Equal(t, revision["steps"], second["revisions"].([]any)[0].(tree)["steps"])
	require.NotEqual(t, revision["id"], second["revisions"].([]any)[0].(tree)["id"])

	claimed := []any{tree{"id": "s1", "tool": tree{"type": "finish", "args": tree{}},
		"result": tree{"success": true, "message": "says who?"}, "screenshotUrl": "x"}}
	third := w.ok(w.member, 201, "POST", "/testcases", importText(t, "third", tree{"steps": claimed}))
	require.Equal(t, []any{tree{"id": "s1", "tool": tree{"type": "finish", "args": tree{}}, "result": nil, "screenshotUrl": ""}},
		third["revisions"].([]any)[0].(tree)["steps"])
}

func TestImportRefusesBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	steps := func(text string) tree { return tree{"steps": raw(text)} }
	settings := func(text string) tree { return tree{"runSettings": raw(text)} }
	finish := `{"tool":{"type":"finish","args":{}}}`
	for _, tc := range []struct {
		members tree
		field   string
	}{
		{tree{"name": nil}, "name: is required"}, {tree{"name": ""}, "name:"}, {tree{"name": strings.Repeat("x", 256)}, "name:"},
		{tree{"name": 7}, "name:"}, {tree{"intent": []int{1}}, "intent:"}, {tree{"intent": strings.Repeat("x", 20_001)}, "intent:"},
		{tree{"description": strings.Repeat("x", 20_001)}, "description:"}, {tree{"tags": "x"}, "tags:"},
		{tree{"tags": []string{strings.Repeat("x", 61)}}, "tags"}, {tree{"teamId": 1}, "teamId:"},
		{tree{"testSuiteId": 1}, "testSuiteId:"}, {tree{"sideTest": 1}, "sideTest:"},

		{tree{"steps": nil}, "steps"}, {tree{"side": tree{}}, "steps"}, {steps(`{}`), "steps: must be an array"},
		{steps(`[7]`), "steps[0]:"}, {steps(`[null]`), "steps[0]:"}, {steps(`[` + finish + `,{"tool":7}]`), "steps[1].tool: must be an object"},
		{steps(`[{"tool":{"type":"fly","args":{}}}]`), "steps[0].tool.type"},
		{steps(`[` + finish + `,{"tool":{"type":"go_to_url","args":{}}}]`), "steps[1].tool.args.url"},
		{steps(`[{"tool":{"type":"go_to_url","args":{"url":7}}}]`), "steps[0].tool.args.url: must be a string"},
		{steps(`[{"tool":{"type":"pause","args":{"time":"1"}}}]`), "steps[0].tool.args.time: must be a whole number"},
		{steps(`[{"tool":{"type":"click","args":{"selector":{"type":"css","value":["a"]}}}}]`), "steps[0].tool.args.selector.value"},
		{steps(`[{"id":"a\u0000","tool":{"type":"finish","args":{}}}]`), "NUL"},
		{steps(`[` + strings.Repeat(finish+",", 1000) + finish + `]`), "steps:"},
		{steps(`[{"tool":` + strings.Repeat(`{"type":"in_frame","args":{"tool":`, 40) + `{}` + strings.Repeat(`}}`, 40) + `}]`), "body:"},

		{settings(`7`), "runSettings: must be an object"}, {settings(`{"testUrl":7}`), "runSettings.testUrl: must be a string"},
		{settings(`{"testUrl":"shop"}`), "runSettings.testUrl"},
		{settings(`{"testUrl":"https://x/` + strings.Repeat("x", 2048) + `"}`), "runSettings.testUrl"},
		{settings(`{"scTunnelName":[]}`), "runSettings.scTunnelName:"},
		{settings(`{"scTunnelName":"` + strings.Repeat("x", 101) + `"}`), "runSettings.scTunnelName"},
		{settings(`{"target":[]}`), "runSettings.target:"},
		{settings(`{"target":{"capabilities":7}}`), "runSettings.target.capabilities: must be an object"},
		{settings(`{"target":{"capabilities":{"browserName":7}}}`), "runSettings.target.capabilities.browserName"},
		{settings(`{"target":{"capabilities":{"a:b":"\u0000"}}}`), "NUL"},
		{settings(`{"target":{"capabilities":{}},"primaryTarget":{"capabilities":{}}}`), "runSettings.target:"},
		{settings(`{"primaryTarget":{"capabilities":{"browserName":1}}}`), "runSettings.primaryTarget.capabilities.browserName"},
		{settings(`{"target":{"capabilities":{},"isRdc":1}}`), "runSettings.target.isRdc: must be true or false"},
		{settings(`{"runTargets":[null]}`), "runSettings.runTargets[0]: must be an object"},
		{settings(`{"runTargets":{}}`), "runSettings.runTargets: must be an array"},
		{settings(`{"runTargets":[{"capabilities":{}},{"capabilities":1}]}`), "runSettings.runTargets[1].capabilities"},
		{settings(`{"runTargets":[{"capabilities":{"browserName":[]}}]}`), "runSettings.runTargets[0].capabilities.browserName"},
		{settings(`{"runTargets":[` + strings.Repeat(`{"capabilities":{}},`, 20) + `{"capabilities":{}}]}`), "runSettings.runTargets:"},
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "x", tc.members), tc.field)
	}
	for _, text := range []string{``, `[]`, `{"name":"x"`, `{"name":"x"} x`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", text)
	}
	require.Zero(t, w.count(`select count(*) from test_cases`))
}

func TestImportRefusesAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := func(address string) any {
		return []any{tree{"tool": tree{"type": "finish", "args": tree{}}},
			tree{"tool": tree{"type": "go_to_url", "args": tree{"url": address}}}}
	}
	start := func(address string) tree {
		return tree{"testUrl": address, "target": tree{"capabilities": tree{"browserName": "chrome"}}}
	}
	for _, tc := range []struct {
		members tree
		field   string
	}{
		{tree{"runSettings": start(metadata)}, "runSettings.testUrl: the address is not allowed"},
		{tree{"runSettings": start("file:///etc/passwd")}, "runSettings.testUrl"},
		{tree{"steps": open(metadata)}, "steps[1].tool.args.url: the address is not allowed"},
		{tree{"steps": open("file:///etc/passwd")}, "steps[1].tool.args.url"},
		{tree{"steps": open("javascript:alert(1)")}, "steps[1].tool.args.url"},
		{tree{"steps": open("//169.254.169.254/latest/meta-data/")}, "steps[1].tool.args.url"},
	} {
		if tc.members["runSettings"] == nil {
			tc.members["runSettings"] = start("http://shop.example.com/")
		}
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "x", tc.members), tc.field)
	}
	for _, address := range []string{"{{base}}/login", "http://{{host}}/", "/login", "https://shop.example.com/a?b#c"} {
		w.newCase(w.member, "x", tree{"steps": open(address)})
	}
	w.newCase(w.member, "relative to nothing", tree{"steps": open("/login"), "runSettings": nil})
}

func TestImportLooksUpEachOriginOnce(t *testing.T) {
	t.Parallel()
	asked := map[string]int{}
	w := newWorld(t, func(cfg *handler.Config) {
		cfg.CheckURL = func(_ context.Context, address string) error {
			asked[address]++
			return nil
		}
	})
	var steps []any
	for i := range 200 {
		steps = append(steps, tree{"tool": tree{"type": "go_to_url", "args": tree{"url": p("https://host%d.example/%d", i%50, i)}}})
	}
	w.newCase(w.member, "many", tree{"steps": steps})
	require.Len(t, asked, 20)
	for address, times := range asked {
		require.Equal(t, 1, times, address)
	}
	require.Contains(t, asked, "https://shop.example.com/")
}

// project is a Selenium IDE project of two tests.
func project(url string) string {
	return `{"id":"p","version":"2.0","name":"shop","url":"` + url + `","tests":[
		{"id":"t1","name":"log in","commands":[{"id":"1","comment":"","command":"open","target":"/login","targets":[],"value":""},
			{"id":"2","comment":"","command":"click","target":"id=go","targets":[],"value":""}]},
		{"id":"t2","name":"log out","commands":[{"id":"3","comment":"","command":"click","target":"id=out","targets":[],"value":""}]}],
		"suites":[],"urls":[],"plugins":[]}`
}

func TestImportOfProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	object := json.RawMessage(project("https://shop.example.com"))
	side := func(value any, which string, more tree) string {
		members := tree{"steps": nil, "runSettings": nil, "side": value, "sideTest": which}
		for name, value := range more {
			members[name] = value
		}
		return importText(t, "imported", members)
	}
	tools := func(made tree) (types []string) {
		for _, step := range made["revisions"].([]any)[0].(tree)["steps"].([]any) {
			types = append(types, step.(tree)["tool"].(tree)["type"].(string))
		}
		return types
	}
	made := w.ok(w.member, 201, "POST", "/testcases", side(object, "log in", nil))
	require.Equal(t, "imported", made["name"])
	require.Equal(t, []string{"go_to_url", "click"}, tools(made))
	require.Equal(t, "https://shop.example.com", made["runSettings"].(tree)["testUrl"])
	require.Equal(t, false, made["runSettings"].(tree)["strict"], "as Selenium IDE")
	require.Contains(t, made["warnings"].([]any)[0], "runSettings.strict is false")
	require.NotContains(t, w.ok(w.member, 200, "GET", "/testcases/"+made["id"].(string), ""), "warnings")
	strict := w.ok(w.member, 201, "POST", "/testcases", side(object, "log in", tree{"runSettings": tree{"strict": true}}))
	require.Equal(t, true, strict["runSettings"].(tree)["strict"])
	require.NotContains(t, strict, "warnings")
	made = w.ok(w.member, 201, "POST", "/testcases", side(project("https://shop.example.com"), "t2",
		tree{"runSettings": tree{"testUrl": "https://other.example/"}}))
	require.Equal(t, []string{"click"}, tools(made))
	require.Equal(t, "https://other.example/", made["runSettings"].(tree)["testUrl"], "the body's own address comes first")

	for _, tc := range []struct {
		text, field string
	}{
		{side(object, "", nil), "side"}, {side(object, "no such test", nil), "side"}, {side(7, "", nil), "side"},
		{side("no JSON", "", nil), "side"}, {side([]int{1}, "", nil), "side"}, {side(tree{}, "", nil), "side"},
		{side(strings.Replace(project("https://shop.example.com"), `"command":"click"`, `"command":"fly"`, 1), "t1", nil),
			"side.tests[0].commands[1]"},
		{side(strings.Replace(project("https://shop.example.com"), `id=go`, `id=\u0000`, 1), "t1", nil), "NUL"},
		{side(json.RawMessage(project("file:///etc")), "t1", nil), "side"},
		{side(json.RawMessage(project(strings.TrimSuffix(metadata, "/"))), "t1", nil), "side"},
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", tc.text, tc.field)
	}
}

// A recording of another tool is a case, and what cannot be taken is named by its line or path.
func TestImportOfRecordings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code := func(lines string) string {
		return importText(t, "recorded", tree{"steps": nil, "runSettings": nil,
			"playwright": "test('x', async ({ page }) => {\n  await page.goto('https://shop.example.com/');\n" + lines + "\n});\n"})
	}
	made := w.ok(w.member, 201, "POST", "/testcases",
		code("  await page.getByRole('button', { name: 'Buy' }).click({ position: { x: 1, y: 2 } });"))
	require.Equal(t, "https://shop.example.com/", made["runSettings"].(tree)["testUrl"])
	require.Len(t, made["revisions"].([]any)[0].(tree)["steps"], 2)
	require.Equal(t, []any{"line 3: the position is not kept: click takes the middle of the element"}, made["warnings"])
	recorded := tree{"title": "x", "steps": []any{tree{"type": "navigate", "url": "https://shop.example.com/"},
		tree{"type": "click", "selectors": []any{[]any{"#buy"}}}}}
	recorder := func(value any) string {
		return importText(t, "recorded", tree{"steps": nil, "runSettings": nil, "chromeRecorder": value})
	}
	made = w.ok(w.member, 201, "POST", "/testcases", recorder(recorded))
	require.Len(t, made["revisions"].([]any)[0].(tree)["steps"], 2)
	text, err := json.Marshal(recorded)
	require.NoError(t, err)
	w.ok(w.member, 201, "POST", "/testcases", recorder(string(text)))
	for _, tc := range []struct{ text, field string }{
		{code("  await page.evaluate(() => 1);"), "playwright: line 3: evaluate has no counterpart"},
		{code("  await page.goto('" + metadata + "');"), "playwright"},
		{importText(t, "x", tree{"steps": nil, "playwright": ""}), "playwright: holds no step"},
		{importText(t, "x", tree{"playwright": "x"}), "exactly one of steps, side, playwright and chromeRecorder"},
		{recorder(tree{"steps": []any{tree{"type": "customStep"}}}), "chromeRecorder.steps[0].type: customStep has no counterpart"},
		{recorder(7), "chromeRecorder"},
		{recorder("no JSON"), "chromeRecorder"},
		{recorder(tree{"steps": []any{tree{"type": "navigate", "url": "file:///etc/passwd"}}}), "chromeRecorder"},
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", tc.text, tc.field)
	}
}
