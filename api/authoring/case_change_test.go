package authoring_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// revisionsOf are the revisions of a case's record, the latest last.
func revisionsOf(view tree) []tree {
	var list []tree
	for _, revision := range view["revisions"].([]any) {
		list = append(list, revision.(tree))
	}
	return list
}

func latestOf(view tree) tree {
	list := revisionsOf(view)
	return list[len(list)-1]
}

// clickOn is a step that clicks, with the members of its selector.
func clickOn(id, value string, members tree) tree {
	selector := tree{"type": "css", "value": value}
	for name, member := range members {
		selector[name] = member
	}
	return tree{"id": id, "tool": tree{"type": "click", "args": tree{"selector": selector}}}
}

func TestOnlyWhatIsSentOfACaseChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", tree{"tags": []string{"a"}}))
	path := "/testcases/" + made["id"].(string)
	change := func(text string) tree { t.Helper(); return w.ok(w.both, 200, "POST", path, text) }

	got := change(`{"name":" new name "}`)
	require.Equal(t, "new name", got["name"])
	require.Equal(t, w.both.UserUUID.String(), got["lastModifierUserId"])
	require.Equal(t, w.member.UserUUID.String(), got["creatorUserId"])
	for _, name := range []string{"tags", "runSettings", "revisions", "teamId", "creationDate"} {
		require.Equal(t, made[name], got[name], name)
	}
	require.Equal(t, []any{"x", "y"}, change(`{"tags":["x"," y ","x"]}`)["tags"])
	require.Equal(t, []any{}, change(`{"tags":null}`)["tags"])
	require.Equal(t, 3, w.count(`select count(*) from audit_events where type = $1`, account.TestCaseUpdated))

	// What the interface answers changes nothing when it is sent back.
	before := w.ok(w.member, 200, "GET", path, "")
	back := change(asJSON(t, before))
	require.NotEmpty(t, back["warnings"], "id, revisions and others are not to be sent")
	delete(back, "warnings")
	require.Equal(t, before, back)
	for _, text := range []string{`{}`, ``, `{"name":null}`,
		asJSON(t, tree{"steps": latestOf(before)["steps"], "runSettings": before["runSettings"], "tags": before["tags"]})} {
		require.Equal(t, before, change(text), text)
	}
	require.Equal(t, 3, w.count(`select count(*) from audit_events where type = $1`, account.TestCaseUpdated))
}

func TestRunSettingsOfACaseChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	chrome := tree{"browserName": "chrome"}
	target := func(of tree) tree { return tree{"capabilities": of, "isRdc": false} }
	path := "/testcases/" + w.newCase(w.member, "case", nil)
	want := tree{"testUrl": "https://shop.example.com/", "scTunnelName": nil, "primaryTarget": target(chrome),
		"runTargets": []any{target(chrome)}, "lastBuildName": "", "strict": true, "healing": nil, "drift": nil, "trace": nil, "retries": nil}
	for _, tc := range []struct{ sent, want string }{
		{`{"testUrl":"https://other.example.com/"}`, `{"testUrl":"https://other.example.com/"}`},
		{`{"testUrl":null}`, `{"testUrl":""}`},
		{`{"scTunnelName":"office","healing":"suggest","strict":false}`, `{"scTunnelName":"office","healing":"suggest","strict":false}`},
		{`{"scTunnelName":null}`, `{"scTunnelName":null}`},
		{`{"healing":"off","drift":"fail"}`, `{"healing":"off","drift":"fail"}`},
		{`{"drift":null}`, `{"drift":null}`},
		{`{"trace":"on"}`, `{"trace":"on"}`},
		{`{"trace":null}`, `{"trace":null}`},
		{`{"healing":null,"strict":null}`, `{"healing":null,"strict":true}`},
		{`{"primaryTarget":{"capabilities":{"browserName":"firefox"}}}`, // those to run on were nothing else
			`{"primaryTarget":{"capabilities":{"browserName":"firefox"},"isRdc":false},"runTargets":[{"capabilities":{"browserName":"firefox"},` +
				`"isRdc":false}]}`},
		{`{"runTargets":[{"capabilities":{"browserName":"chrome"}},{"capabilities":{"browserName":"safari"}}]}`,
			`{"runTargets":[{"capabilities":{"browserName":"chrome"},"isRdc":false},{"capabilities":{"browserName":"safari"},"isRdc":false}]}`},
		{`{"primaryTarget":{"capabilities":{"browserName":"chrome"}}}`,
			`{"primaryTarget":{"capabilities":{"browserName":"chrome"},"isRdc":false}}`},
		{`{"runTargets":null}`, `{"runTargets":[{"capabilities":{"browserName":"chrome"},"isRdc":false}]}`},
		{`{"target":{"capabilities":{"browserName":"firefox"},"isRdc":true}}`,
			`{"primaryTarget":{"capabilities":{"browserName":"firefox"},"isRdc":true},"runTargets":[{"capabilities":{"browserName":"firefox"},` +
				`"isRdc":true}]}`},
		{`{"target":null}`, `{"primaryTarget":{"capabilities":{},"isRdc":false},"runTargets":[]}`},
		{`{"runTargets":[{"capabilities":{"browserName":"chrome"}}]}`,
			`{"primaryTarget":{"capabilities":{"browserName":"chrome"},"isRdc":false},"runTargets":[{"capabilities":{"browserName":"chrome"},` +
				`"isRdc":false}]}`},
		{`null`, `{"primaryTarget":{"capabilities":{},"isRdc":false},"runTargets":[]}`},
	} {
		var changed tree
		require.NoError(t, jsonOf(tc.want, &changed))
		for name, value := range changed {
			want[name] = value
		}
		got := w.ok(w.member, 200, "POST", path, `{"runSettings":`+tc.sent+`}`)
		require.Equal(t, want, got["runSettings"], tc.sent)
		require.Len(t, got["revisions"], 1, "settings are not the revision's")
	}
	w.refused(w.member, 400, "NO_RUN_TARGETS", "POST", path+"/run", ``)
	w.ok(w.member, 200, "POST", path, `{"runSettings":{"target":`+chromeTarget+`}}`)
	run := w.start(strings.TrimPrefix(path, "/testcases/"), `{"buildName":"b7"}`)
	require.Equal(t, "b7", run["build"])
	got := w.ok(w.member, 200, "POST", path, `{"runSettings":{"testUrl":"https://x.example.com/"}}`)
	require.Equal(t, "b7", got["runSettings"].(tree)["lastBuildName"])
}

func TestOtherStepsMakeARevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", tree{"intent": "buy", "description": "by hand"}))
	id := made["id"].(string)
	path := "/testcases/" + id
	got := w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": []any{clickOn("", "#one", nil), clickOn("", "#two", nil)}}))
	list := revisionsOf(got)
	require.Len(t, list, 2)
	require.Equal(t, revisionsOf(made)[0], list[0], "a revision never changes")
	require.Equal(t, "buy", list[1]["intent"])
	require.Equal(t, "by hand", list[1]["description"])
	require.Equal(t, []any{"s1", "s2"}, []any{list[1]["steps"].([]any)[0].(tree)["id"], list[1]["steps"].([]any)[1].(tree)["id"]})
	require.Equal(t, list[1]["id"], w.start(id, ``)["revisionId"], "the latest is run")
	require.Len(t, w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": list[1]["steps"]}))["revisions"], 2, "the same steps")

	// Without steps there is nothing to run, and with some again there is.
	suite := w.newSuite(w.member, "smoke", id)
	require.Equal(t, []any{}, latestOf(w.ok(w.member, 200, "POST", path, `{"steps":[]}`))["steps"])
	w.refused(w.member, 400, "TEST_CASE_EMPTY", "POST", path+"/run", ``)
	w.refused(w.member, 400, "TEST_SUITE_NO_RUN_JOBS", "POST", "/testsuites/"+suite+"/run", ``)
	w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": []any{clickOn("a", "#one", nil)}}))
	w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
}

// A step that is sent back keeps what is known of it; one that acts on something else
// does not, or healing would act on what it acted on before.
func TestChangedStepsKeepWhatStillHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := tree{"tag": "button", "name": "Buy"}
	within := tree{"within": tree{"type": "role", "value": "dialog"}}
	id := w.newCase(w.member, "case", tree{"steps": []any{clickOn("same", "#a", nil), clickOn("other", "#b", nil),
		clickOn("renewed", "#c", nil),
		clickOn("inner", "#d", within)}})
	path := "/testcases/" + id
	_, err := w.db.ExecContext(t.Context(), `
		update test_revisions set steps = (
			select jsonb_agg(jsonb_set(jsonb_set(s, '{tool,args,selector,fingerprint}', '{"tag":"button","name":"Buy"}'),
				'{result}', '{"success":true,"message":"clicked"}') order by n)
			from jsonb_array_elements(steps) with ordinality as e(s, n))
		where case_id = $1`, id)
	require.NoError(t, err)
	before := latestOf(w.ok(w.member, 200, "GET", path, ""))["steps"].([]any)
	require.Equal(t, known, fingerprintOf(before[0]))

	got := latestOf(w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": []any{
		clickOn("same", "#a", nil),
		clickOn("other", "#another", tree{"fingerprint": known}),
		clickOn("renewed", "#new", tree{"fingerprint": tree{"tag": "a", "name": "Pay"}}),
		clickOn("inner", "#d", tree{"within": tree{"type": "role", "value": "alert"}, "fingerprint": known}),
	}})))["steps"].([]any)
	require.Equal(t, before[0], got[0], "with its fingerprint and result")
	require.Nil(t, fingerprintOf(got[1]))
	require.Equal(t, tree{"tag": "a", "name": "Pay"}, fingerprintOf(got[2]))
	require.Nil(t, fingerprintOf(got[3]), "within is a part of the selector")
	for _, changed := range got[1:] {
		require.Nil(t, changed.(tree)["result"])
	}
}

func fingerprintOf(s any) any {
	return s.(tree)["tool"].(tree)["args"].(tree)["selector"].(tree)["fingerprint"]
}

func TestStepsKeepTheirCondition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/testcases/" + w.newCase(w.member, "case", nil)
	sent := clickOn("s1", "#accept", nil)
	sent["when"] = tree{"selector": tree{"type": "role", "value": "dialog", "name": "Cookies"},
		"matcher": tree{"name": "visible", "args": tree{}}, "timeoutMs": 500}
	sent["optional"] = true
	got := latestOf(w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": []any{sent}})))["steps"].([]any)[0].(tree)
	require.Equal(t, sent["when"].(tree)["selector"], got["when"].(tree)["selector"])
	require.Equal(t, 500.0, got["when"].(tree)["timeoutMs"])
	require.Len(t, w.ok(w.member, 200, "POST", path, asJSON(t, tree{"steps": []any{got}}))["revisions"], 2, "the same again")
}

func TestChangesOfACaseRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", nil))
	path := "/testcases/" + made["id"].(string)
	for text, says := range map[string]string{
		`[]`: "object", `{"name":7}`: "name: must be a string", `{"name":""}`: "name", `{"name":"` + strings.Repeat("x", 256) + `"}`: "name",
		`{"tags":"a"}`: "tags: must be an array", `{"tags":[7]}`: "tags[0]: must be a string", `{"tags":["` +
			strings.Repeat("x", 61) + `"]}`: "tags",
		`{"steps":null}`: "steps: must be an array", `{"steps":{}}`: "steps: must be an array", `{"steps":[7]}`: "steps[0]",
		`{"steps":[{"tool":{"type":"fly"}}]}`:                                                 "steps[0].tool.type",
		`{"steps":[{"id":"a","tool":{"type":"finish"}},{"id":"a","tool":{"type":"finish"}}]}`: "steps[1].id",
		`{"steps":[{"tool":{"type":"go_to_url","args":{"url":"file:///etc/passwd"}}}]}`: "steps[0].tool.args.url: the address is " +
			"not allowed",
		`{"runSettings":[]}`:                             "runSettings: must be an object",
		`{"runSettings":{"testUrl":7}}`:                  "runSettings.testUrl: must be a string",
		`{"runSettings":{"testUrl":"` + metadata + `"}}`: "runSettings.testUrl: ",
		`{"runSettings":{"strict":"yes"}}`:               "runSettings.strict: must be true or false",
		`{"runSettings":{"healing":"always"}}`: "runSettings.healing: must be off, suggest, " +
			"apply or null",
		`{"runSettings":{"trace":"always"}}`: "runSettings.trace: must be off, " +
			"on_failure, on or null",
		`{"runSettings":{"drift":"apply"}}`:                                              "runSettings.drift: must be fail, report, off or null",
		`{"runSettings":{"healing":true}}`:                                               "runSettings.healing: must be a string",
		`{"runSettings":{"runTargets":[null]}}`:                                          "runSettings.runTargets[0]",
		`{"runSettings":{"target":` + chromeTarget + `,"runTargets":[]}}`:                "runSettings.target: does not go with",
		`{"runSettings":{"runTargets":[` + tunnelled("a") + `,` + tunnelled("b") + `]}}`: "runSettings.runTargets[1]",
		"{\"name\":\"a\xffb\"}":                                                          "name: must be UTF-8",
		"{\"tags\":[\"a\",\"\xc3\"]}":                                                    "tags[1]: must be UTF-8",
		"{\"steps\":[{\"tool\":{\"type\":\"input_text\",\"args\":{\"selector\":\"#a\",\"text\":\"\xe4\"}}}]}": "steps[0].tool.args.text: " +
			"must be UTF-8",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, says)
	}
	require.Equal(t, made, w.ok(w.member, 200, "GET", path, ""), "nothing has changed")
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, `{"name":"x"}`)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", path, `{"name":"x"}`)
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "POST", "/testcases/"+noCase, `{"name":"x"}`)
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testcases/7", `{"name":"x"}`)
}

const chromeTarget = `{"capabilities":{"browserName":"chrome"}}`

func tunnelled(name string) string {
	return `{"capabilities":{"browserName":"chrome","slipway:options":{"tunnelName":"` + name + `"}}}`
}

func TestARevisionIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", tree{"intent": "buy"}))
	path := "/testcases/" + made["id"].(string)
	first := revisionsOf(made)[0]
	changed := w.ok(w.member, 200, "POST", path, `{"steps":[]}`)
	w.refused(w.member, 400, "TEST_CASE_EMPTY", "POST", path+"/run", ``)

	got := w.ok(w.both, 200, "POST", path+"/revisions/"+strings.ToUpper(first["id"].(string))+"/restore", ``)
	list := revisionsOf(got)
	require.Len(t, list, 3)
	require.Equal(t, revisionsOf(changed), list[:2])
	require.NotEqual(t, first["id"], list[2]["id"])
	for _, name := range []string{"steps", "intent", "description", "discoveredIntent", "reasoning"} {
		require.Equal(t, first[name], list[2][name], name)
	}
	require.Equal(t, w.both.UserUUID.String(), got["lastModifierUserId"])
	w.ok(w.member, 200, "POST", path+"/run", ``)

	latest := w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, latest, w.ok(w.member, 200, "POST", path+"/revisions/"+list[2]["id"].(string)+"/restore", ``), "the latest is it already")
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "POST", path+"/revisions/"+noCase+"/restore", ``)
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", path+"/revisions/x/restore", ``)
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "POST", "/testcases/"+noCase+"/revisions/"+noCase+"/restore", ``)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path+"/revisions/"+first["id"].(string)+"/restore", ``)
	other := w.newCase(w.member, "other", nil)
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "POST", "/testcases/"+other+"/revisions/"+first["id"].(string)+"/restore", ``)
}

func TestACaseIsDuplicated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "smoke")
	id := w.newCase(w.member, "case", tree{"tags": []string{"a"}, "intent": "buy", "testSuiteId": suite,
		"steps": []any{clickOn("s1", "#a", tree{"fingerprint": tree{"tag": "button", "name": "Buy"}})}})
	path := "/testcases/" + id
	w.ok(w.member, 200, "POST", path, `{"runSettings":{"healing":"off","strict":false}}`)
	w.start(id, `{"buildName":"b1"}`)
	of := w.ok(w.member, 200, "GET", path, "")

	got := w.ok(w.neighbor, 201, "POST", path+"/duplicate", ``)
	require.NotEqual(t, id, got["id"])
	require.Equal(t, "Copy of case", got["name"])
	require.NotContains(t, got, "testSuiteId", "it is in no suite unless one is named")
	require.Equal(t, w.two.UUID.String(), got["teamId"], "the whole organization reads; the copy is the caller's")
	require.Equal(t, w.neighbor.UserUUID.String(), got["creatorUserId"])
	require.Equal(t, of["tags"], got["tags"])
	settings := of["runSettings"].(tree)
	require.Equal(t, "b1", settings["lastBuildName"])
	settings["lastBuildName"] = ""
	require.Equal(t, settings, got["runSettings"])
	require.Len(t, got["revisions"], 1)
	require.Equal(t, latestOf(of)["steps"], latestOf(got)["steps"], "with their fingerprints")
	require.Equal(t, "buy", latestOf(got)["intent"])

	got = w.ok(w.both, 201, "POST", path+"/duplicate", p(`{"name":"second","testSuiteId":%q,"teamId":%q}`, suite, w.one.UUID))
	require.Equal(t, "second", got["name"])
	require.Equal(t, suite, got["testSuiteId"])
	w.ok(w.member, 200, "POST", p("/testcases/%s/run", got["id"]), ``)

	longest := strings.Repeat("ä", 255)
	got = w.ok(w.member, 201, "POST", "/testcases/"+w.newCase(w.member, longest, nil)+"/duplicate", `{}`)
	require.Equal(t, "Copy of "+strings.Repeat("ä", 247), got["name"])
	w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "POST", path+"/duplicate", `{"testSuiteId":"`+noUUID+`"}`)
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/duplicate", `{"name":""}`, "name")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/duplicate", `{"testSuiteId":7}`, "testSuiteId")
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path+"/duplicate", p(`{"testSuiteId":%q}`, suite))
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", path+"/duplicate", ``)
}

// Changes of a case at once lose none of each other's members.
func TestChangesOfACaseAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	bodies := []string{`{"name":"new"}`, `{"tags":["x"]}`, `{"runSettings":{"healing":"off"}}`, `{"runSettings":{"strict":false}}`,
		`{"runSettings":{"testUrl":"https://x.example.com/"}}`, asJSON(t, tree{"steps": []any{clickOn("a", "#a", nil)}}),
		asJSON(t, tree{"steps": []any{clickOn("b", "#b", nil)}})}
	done := make(chan int, len(bodies))
	for _, text := range bodies {
		go func() { done <- w.call(w.member, "POST", "/testcases/"+id, text).Code }()
	}
	for range bodies {
		require.Equal(t, 200, <-done)
	}
	got := w.ok(w.member, 200, "GET", "/testcases/"+id, "")
	require.Equal(t, "new", got["name"])
	require.Equal(t, []any{"x"}, got["tags"])
	requireMembers(t, got["runSettings"].(tree), tree{"healing": "off", "strict": false, "testUrl": "https://x.example.com/"})
	require.Len(t, got["revisions"], 3)
}

// Of many revisions the oldest go, but for those that a run is going to play.
func TestOldRevisionsGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	run := w.start(id, ``)
	writer := account.Writer{OrganizationID: w.ours.ID, UserUUID: w.member.UserUUID, Teams: []int64{w.one.ID}, Actor: account.CLI()}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		for n := range authoring.MaxRevisions + 5 {
			steps := []step.Step{{ID: p("s%d", n), Tool: step.Tool{Type: step.Finish}}}
			if _, err := authoring.UpdateCase(ctx, tx, writer, id, authoring.CaseChange{Steps: &steps}); err != nil {
				return err
			}
		}
		return nil
	})
	require.Equal(t, authoring.MaxRevisions+1, w.count(`select count(*) from test_revisions where case_id = $1`, id))
	require.Equal(t, 1, w.count(`select count(*) from test_revisions where id = $1`, run["revisionId"]))
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], authoring.MaxRevisions)
}

// A change that says what it was made from is made only there: of two that were made from
// the same state, the second is refused and changes nothing.
func TestAChangeOfAnotherStateIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", tree{"intent": "Buy a lamp."}))
	path := "/testcases/" + made["id"].(string)
	change := func(members tree) string { t.Helper(); return asJSON(t, members) }
	first := latestOf(made)["id"].(string)

	got := w.ok(w.member, 200, "POST", path, change(tree{"intent": "Buy two lamps.", "baseRevisionId": strings.ToUpper(first),
		"baseUpdateDate": made["lastUpdateDate"]}))
	require.Equal(t, "Buy two lamps.", latestOf(got)["intent"])
	require.NotEqual(t, first, latestOf(got)["id"], "another intent is another revision")
	require.Equal(t, latestOf(made)["steps"], latestOf(got)["steps"])
	require.Equal(t, "Buy a lamp.", revisionsOf(got)[0]["intent"])

	w.refused(w.both, 409, "CASE_CHANGED", "POST", path, change(tree{"name": "other", "baseRevisionId": first}))
	w.refused(w.both, 409, "CASE_CHANGED", "POST", path, change(tree{"name": "other", "baseUpdateDate": "2026-01-02T03:04:05.678Z"}))
	require.Equal(t, got, w.ok(w.member, 200, "GET", path, ""))

	// A change of settings makes no revision, and is told by its time.
	renamed := w.ok(w.member, 200, "POST", path, change(tree{"name": "renamed", "description": "why", "baseRevisionId": latestOf(got)["id"],
		"baseUpdateDate": got["lastUpdateDate"]}))
	require.Equal(t, "why", latestOf(renamed)["description"])
	require.Equal(t, "Buy two lamps.", latestOf(renamed)["intent"])
	w.refused(w.both, 409, "CASE_CHANGED", "POST", path, change(tree{"name": "other", "baseUpdateDate": got["lastUpdateDate"]}))
	same := w.ok(w.member, 200, "POST", path, change(tree{"intent": "Buy two lamps.", "description": "why"}))
	require.Equal(t, renamed, same, "what is the same makes no revision")

	w.refused(w.member, 400, "INVALID_BODY", "POST", path, change(tree{"baseRevisionId": "mine"}), "baseRevisionId")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, change(tree{"baseUpdateDate": "yesterday"}), "baseUpdateDate")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, change(tree{"intent": strings.Repeat("x", 20_001)}), "intent")
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, change(tree{"baseRevisionId": first}))
}

// Two changes at once, made from one state: one of them is made.
func TestOfTwoChangesAtOnceOneIsMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "case", nil))
	path, base := "/testcases/"+made["id"].(string), latestOf(made)["id"].(string)
	codes := make(chan int)
	for _, name := range []string{"one", "two", "three", "four"} {
		go func() {
			codes <- w.call(w.both, "POST", path, asJSON(t, tree{"intent": name, "baseRevisionId": base})).Code
		}()
	}
	count := map[int]int{}
	for range 4 {
		count[<-codes]++
	}
	require.Equal(t, map[int]int{200: 1, 409: 3}, count)
	require.Len(t, revisionsOf(w.ok(w.member, 200, "GET", path, "")), 2)
}
