package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
)

// surfaceChanges are the requests, in an order in which each finds what it changes.
func surfaceChanges() []request {
	var all []request
	for _, part := range []func() []request{accountChanges, oidcChanges, siteChanges, buildChanges, uploadChanges, teamChanges,
		sessionChanges, pageChanges, webhookChanges, statusChanges, crashChanges, agentChanges, symbolChanges, testChanges,
		taskChanges, peopleRemovals, removalChanges} {
		all = append(all, part()...)
	}
	return all
}

const (
	post, put, patch, remove = http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
	v3, ai                   = "/api/v3", "/v1/ai-authoring"
)

func accountChanges() []request {
	return []request{
		{method: post, path: v3 + "/auth/token", want: 200,
			unaudited: "a token is a short form of its key: it does nothing that the key does not, and CI jobs make thousands"},
		{method: post, path: v3 + "/me/keys", body: `{"name":"ci"}`, want: 201, wrote: "key.created", save: "key=key.id", before: consoleSession},
		{method: remove, path: v3 + "/me/keys/{id:key}", want: 204, wrote: "key.revoked"},
		{method: remove, path: v3 + "/me/sessions/{id:consolesession}", want: 204, wrote: "console.session_ended"},
		{method: post, path: v3 + "/service-accounts", body: `{"username":"robot","role":"admin"}`, want: 201,
			wrote: "service_account.created", save: "service=service_account.id"},
		{method: post, path: v3 + "/service-accounts/{id:service}/keys", body: `{}`, want: 201, wrote: "key.created", save: "servicekey=key.id"},
		{method: remove, path: v3 + "/service-accounts/{id:service}/keys/{key:servicekey}", want: 204, wrote: "key.revoked"},
		{method: put, path: v3 + "/members/{id:colleague}", body: `{"role":"admin"}`, want: 200, wrote: "user.role_changed", before: colleague},
		{method: put, path: v3 + "/settings/organization", body: `{"generic_files":true,"audit_retention_days":3650}`,
			want: 200, wrote: "settings.changed"},
		{method: put, path: v3 + "/settings/storage",
			body: `{"kind":"s3","endpoint":"https://8.8.8.8","bucket":"apps","access_key":"AK","secret":"hidden"}`,
			want: 200, wrote: "storage_connection.changed"},
		{method: remove, path: v3 + "/settings/storage", want: 204, wrote: "storage_connection.changed"},
		{method: post, path: v3 + "/crash-projects", body: `{"name":"shop"}`, want: 201, wrote: "crash_project.created",
			save: "crashproject2=crash_project.id"},
		{method: post, path: v3 + "/crash-projects/{id:crashproject2}/regroup", want: 202, wrote: "crash_project.regrouped"},
		{method: put, path: v3 + "/crash-projects/{id:crashproject2}", body: `{"name":"shop 2"}`, want: 200, wrote: "crash_project.updated"},
		{method: put, path: v3 + "/crash-projects/{id:crashproject2}/owners",
			body: `{"owners":[{"pattern":"src/checkout/","assignee":"me"}]}`, want: 200, wrote: "crash_project.updated"},
		{method: post, path: v3 + "/crash-rules", body: `{"name":"new","trigger":"new","mail":["me"]}`, want: 201,
			wrote: "crash_rule.created", save: "crashrule=crash_rule.id"},
		{method: put, path: v3 + "/crash-rules/{id:crashrule}",
			body: `{"name":"often","trigger":"users","above":100,"minutes":60,"mail":["me"]}`, want: 200, wrote: "crash_rule.updated"},
		{method: remove, path: v3 + "/crash-rules/{id:crashrule}", want: 204, wrote: "crash_rule.deleted"},
		{method: post, path: v3 + "/crash-projects/{id:crashproject2}/tokens", body: `{}`, want: 201, wrote: "crash_token.created",
			save: "token=crash_token.id"},
		{method: remove, path: v3 + "/crash-projects/{id:crashproject2}/tokens/{token}", want: 204, wrote: "crash_token.revoked"},
	}
}

func agentChanges() []request {
	return []request{
		{method: post, path: v3 + "/agent-calls",
			body: `{"tool":"get_run","outcome":"done","arguments":["run_id","test_id"],"digest":"9f86d081884c7d65","took_ms":120}`,
			want: 204, wrote: "agent.called"},
		{method: post, path: "/mcp",
			body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_apps","arguments":{"limit":2}}}`,
			want: 200, wrote: "agent.called"},
	}
}

// colleague is a member beside our owner.
func colleague(w *surface) {
	w.member("colleague", account.Member)
	w.ids["colleague"] = w.one(`select id::text from users where username = 'colleague'`)
}

// consoleSession signs our owner in to the console, and keeps the session's id.
func consoleSession(w *surface) {
	w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	w.ids["consolesession"] = w.one(`select max(id)::text from console_sessions where user_id = $1`, w.boot.Owner.ID)
}

func siteChanges() []request {
	return []request{
		{method: post, path: "/api/1/site", body: "name=berlin", want: 200, wrote: "site.created"},
		{method: post, path: "/api/1/sites", body: "name=paris", want: 200, wrote: "site.created"},
	}
}

// genericFile is a file that is no app, which the organization allows.
func genericFile(name string) string { return name + "|" + name }

func uploadOf(name string) map[string]string {
	return map[string]string{"file": genericFile(name), "platform": "windows", "team_id": "{{team}}"}
}

func withSymbols(form map[string]string) map[string]string {
	form["symbols_file"] = "mapping.txt|com.example.Shop -> a.a:\n"
	return form
}

func buildChanges() []request {
	return []request{
		{method: post, path: v3 + "/projects", body: `{"name":"shop","platform":"android","package_name":"com.example.shop"}`,
			want: 201, wrote: "project.created", save: "project=project.id"},
		{method: put, path: v3 + "/projects/{id:project}", body: `{"description":"of the shop"}`, want: 200, wrote: "project.updated"},
		{method: post, path: v3 + "/builds/upload", files: withSymbols(uploadOf("shop.zip")), want: 201, wrote: "build.uploaded",
			save: "build=build.id;built=build.project_id"},
		{method: put, path: v3 + "/builds/{id:build}", body: `{"release_notes":"new"}`, want: 200, wrote: "build.updated"},
		{method: put, path: v3 + "/builds/{id:build}/commits",
			body: `{"commits":[{"id":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","author":{"name":"Ann","email":"ann@example.com"},` +
				`"committed_at":"2026-01-02T03:04:05Z","message":"Charge a cart once","paths":["app/src/main/java/com/shop/cart/Cart.java"]}]}`,
			want: 200, wrote: "build.updated"},
		{method: http.MethodGet, path: v3 + "/builds/{id:build}/download", want: 200, wrote: "build.downloaded"},
		{method: http.MethodGet, path: "/api/1/projects/{id:built}/builds/{build}/download", want: 200, wrote: "build.downloaded"},
		{method: post, path: v3 + "/builds/{id:build}/copy", want: 201, wrote: "build.copied", save: "build2=build.id"},
		{method: patch, path: "/api/1/projects/{id:built}/builds", body: "comment=x", want: 400, unaudited: "a refusal: the build is missing"},
		{method: patch, path: "/api/1/projects/{id:built}/builds/{build}", body: "comment=notes", want: 200, wrote: "build.updated"},
		{method: post, path: "/api/1/projects/{id:built}/builds/{build}/copy", body: "folder_name=old", want: 200,
			wrote: "build.copied", save: "build3=build_id"},
		{method: post, path: v3 + "/projects/{id:built}/copy", body: `{"team_id":{{team}},"name":"copy","folder_name":"copies"}`,
			want: 201, wrote: "project.copied", save: "project2=project.id"},
		{method: post, path: v3 + "/builds/{id:build}/notify-testers", want: 202, wrote: "testers.notified",
			save: "task=task_id", before: installable},
		{method: put, path: v3 + "/projects/{id:project}/gate-policy",
			body: `{"conditions":[{"name":"Size","type":"size","max_bytes":100000000}],"hold_notifications":true}`,
			want: 200, wrote: "gate_policy.changed"},
		{method: put, path: v3 + "/projects/{id:built}/gate-policy",
			body: `{"conditions":[{"name":"Crashes","type":"crash_groups","max_reports":2,"hours":48}]}`, want: 200, wrote: "gate_policy.changed"},
		{method: post, path: v3 + "/builds/{id:build}/gate/override", body: `{"state":"pass","reason":"The shop needs it today."}`,
			want: 200, wrote: "gate.overridden"},
	}
}

// installable makes the build one that testers can install, for the upload of a real
// package is not the subject here.
func installable(w *surface) {
	_, err := w.db.ExecContext(w.t.Context(), `update builds set kind = 'apk', platform = 'Android' where id = $1::bigint`, w.ids["build"])
	require.NoError(w.t, err)
}

func uploadChanges() []request {
	const inParts = "bytes of a file that is nobody's yet: the upload of the build, or of the symbols, that takes it is audited"
	mapping := "mapping.txt|com.example.A -> a.a:\n    void run() -> a\n"
	dsym := func(class string) func(w *surface) {
		return func(w *surface) {
			var buf bytes.Buffer
			z := zip.NewWriter(&buf)
			f, err := z.Create("mapping.txt")
			require.NoError(w.t, err)
			_, err = f.Write([]byte("com.example." + class + " -> a.a:\n"))
			require.NoError(w.t, err)
			require.NoError(w.t, z.Close())
			w.ids["zip"] = "App.dSYM.zip|" + buf.String()
		}
	}
	return []request{
		{method: post, path: "/upload", files: uploadOf("shop2.zip"), want: 200, wrote: "build.uploaded"},
		{method: post, path: "/api/upload", files: uploadOf("shop3.zip"), want: 200, wrote: "build.uploaded"},
		{method: post, path: v3 + "/symbols", files: map[string]string{"file": mapping}, want: 201, wrote: "symbols.uploaded",
			save: "symbols=symbols.id"},
		{method: post, path: v3 + "/symbols/known", body: `{"identifiers":["c0ffee01-2345-6789-0123-456789abcdef"],"sha256":["` +
			strings.Repeat("0f", 32) + `"]}`, want: 200, unaudited: "it reads, and has a body as a list of a thousand does not fit an address"},
		{method: post, path: v3 + "/uploads", body: `{"file_name":"shop.ipa","file_size":5}`, want: 201, unaudited: inParts,
			save: "upload=upload.id"},
		{method: put, path: v3 + "/uploads/{id:upload}/parts/{number:part}", body: "parts", kind: "application/octet-stream",
			want: 200, unaudited: inParts,
			before: func(w *surface) { w.ids["part"] = "1" }},
		{method: remove, path: v3 + "/uploads/{id:upload}", want: 204, unaudited: inParts},
		{method: post, path: "/upload/dsym", before: dsym("A"), files: map[string]string{"dsym": "{{zip}}"}, want: 200,
			wrote: "symbols.uploaded"},
		{method: post, path: "/api/upload/dsym", before: dsym("B"), files: map[string]string{"dsym": "{{zip}}"}, want: 200,
			wrote: "symbols.uploaded"},
	}
}

// report is a crash report.
func report() string {
	return fmt.Sprintf(`{"uuid":%q,"timestamp":1767225600,"lang":"python","langVersion":"3.12","agent":"test","agentVersion":"1","mainThread":"main",
		"classifiers":["Error"],"attributes":{"error.message":"it broke","application.version":"1.0"},
		"threads":{"main":{"name":"main","fault":true,"stack":[{"funcName":"work","library":"work.py","line":12}]}}}`, uuid.NewString())
}

func crashChanges() []request {
	const reported = "a report of a program, counted where it is: nobody changed anything, and there are thousands a second"
	return []request{
		{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", body: strings.ReplaceAll(report(),
			`"1.0"`, `"2.0"`), as: "none", want: 200, unaudited: reported},
		{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", body: report(), as: "none", want: 200, unaudited: reported},
		{method: post, path: "/api/post", query: "?format=json&token={{crashtoken}}", body: report(), as: "none", want: 200, unaudited: reported},
		{method: post, path: "/{universe:org}/{token:crashtoken}/{format:json}", body: report(), as: "none", want: 200, unaudited: reported,
			before: func(w *surface) { w.ids["org"], w.ids["json"] = "main", "json" }},
		{method: post, path: "/api/unique-events/submit", query: "?token={{crashtoken}}",
			body: `{"application":"a","appversion":"1","unique_events":[]}`, as: "none", want: 200, unaudited: reported},
		{method: post, path: "/api/summed-events/submit", query: "?token={{crashtoken}}",
			body: `{"application":"a","appversion":"1","summed_events":[]}`, as: "none", want: 200, unaudited: reported},
		{method: post, path: "/api/tunnel", body: `{"token":"{{crashtoken}}"}` + "\n" + `{"type":"unique_events"}` +
			"\n" + `{"appversion":"1","unique_events":[]}`, as: "none", want: 200, unaudited: reported},
		{method: post, path: v3 + "/crashes/{id:written}/feedback", query: "?token={{crashtoken}}",
			body: `{"name":"Ann","email":"ann@shop.example","text":"I pressed pay twice."}`,
			as:   "none", want: 201, unaudited: "what a user of a program wrote, kept where it is: nobody changed anything",
			before: func(w *surface) { w.wait("written", `select id::text from crashes order by id limit 1`) }},
		{method: patch, path: v3 + "/crash-groups/{id:group}", body: `{"state":"resolved"}`, want: 200, wrote: "crash_group.updated",
			before: func(w *surface) {
				w.wait("group", `select id::text from crash_groups where count = 4 order by id limit 1`)
			}},
		{method: post, path: v3 + "/crash-groups/{id:group}/comments", body: `{"text":"seen"}`, want: 201,
			wrote: "crash_group.commented", save: "comment=comment.id"},
		{method: patch, path: v3 + "/crash-groups/{id:group}/comments/{comment}", body: `{"text":"seen again"}`, want: 200,
			wrote: "crash_group.commented"},
		{method: remove, path: v3 + "/crash-groups/{id:group}/comments/{comment}", want: 204, wrote: "crash_group.commented"},
		{method: post, path: v3 + "/saved-searches", body: `{"area":"crash-groups","name":"mine","query":"state=open&assignee=me"}`,
			want: 201, wrote: "saved_search.created", save: "search=saved_search.id"},
		{method: remove, path: v3 + "/saved-searches/{id:search}", want: 204, wrote: "saved_search.deleted"},
		{method: post, path: v3 + "/crash-groups/change", query: "?search=no+group+has+this", body: `{"state":"resolved"}`,
			want: 202, wrote: "crash_groups.changed"},
		{method: post, path: v3 + "/crash-groups/{id:group}/split",
			body: `{"attribute":{"key":"application.version","value":"1.0"}}`, want: 202, wrote: "crash_group.split"},
		{method: remove, path: v3 + "/crashes", query: "?attribute.user.id=somebody", want: 202, wrote: "crashes.purge_requested"},
	}
}

func symbolChanges() []request {
	return []request{
		{method: post, path: v3 + "/symbols/{id:symbols}/index", want: 200, wrote: "symbols.reindexed", before: func(w *surface) {
			_, err := w.db.ExecContext(w.t.Context(), `update symbols set state = 'indexed'`)
			require.NoError(w.t, err)
		}},
		{method: remove, path: v3 + "/symbols/{id:symbols}", want: 204, wrote: "symbols.deleted"},
	}
}

const (
	aCase = `"name":"log in","runSettings":{"testUrl":"https://shop.example.com/","target":{"capabilities":{"browserName":"chrome"}}}`
	steps = `"steps":[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"/login"}}}]`
)

func testChanges() []request {
	schedule := `{"name":"nightly","testSuiteIds":["{{suite}}"],"settings":{"cron":"0 3 * * *","timezone":"UTC","runningUserId":"{{owneruuid}}"}}`
	return []request{
		{method: post, path: ai + "/testcases", body: `{` + aCase + `,` + steps + `}`, want: 201, wrote: "test_case.created",
			save: "case=data.id;revision=data.revisions.id"},
		{method: post, path: ai + "/testcases/{id:case}", body: `{"tags":["a"]}`, want: 200, wrote: "test_case.updated"},
		{method: post, path: ai + "/testcases/{id:case}/rename", body: `{"name":"sign in"}`, want: 200, wrote: "test_case.renamed"},
		{method: post, path: ai + "/testcases/{id:case}/duplicate", body: `{}`, want: 201, wrote: "test_case.created", save: "case2=data.id"},
		{method: post, path: ai + "/testcases/{id:case}",
			body: `{"steps":[{"id":"s2","tool":{"type":"go_to_url","args":{"url":"/other"}}}]}`, want: 200, wrote: "test_case.updated"},
		{method: post, path: ai + "/testcases/{id:case}/revisions/{revisionId:revision}/restore", body: `{}`, want: 200,
			wrote: "test_case.updated"},
		{method: post, path: ai + "/testcases/generate", body: `{` + aCase + `,"promptSettings":{"intent":"Click on Log in"}}`,
			want: 202, wrote: "test_generation.started", save: "generation=data.taskId"},
		{method: remove, path: ai + "/testcases/generate/{taskId:generation}", want: 204, wrote: "test_generation.cancelled"},
		{method: post, path: ai + "/testcases/{id:case}/generate", body: `{"promptSettings":{"intent":"Click on Log out"}}`,
			want: 202, wrote: "test_generation.started"},
		{method: post, path: ai + "/testsuites", body: `{"name":"smoke","testCases":["{{case}}"]}`, want: 201,
			wrote: "test_suite.created", save: "suite=data.id"},
		{method: post, path: ai + "/testsuites/{id:suite}", body: `{"name":"smoke 2"}`, want: 200, wrote: "test_suite.updated"},
		{method: post, path: ai + "/testcases/{id:case}/run",
			body: `{"testUrl":"https://preview.example.com","variables":{"user":"ann"}}`, want: 200, wrote: "test_run.started", save: "run=data.id"},
		{method: post, path: ai + "/testcases/{id:case}/runs/{runId:run}/cancel", want: 200, wrote: "test_run.cancelled"},
		{method: post, path: ai + "/testcases/{id:case}/runs/{runId:run}/rerun", body: `{"variables":{"user":"ann"},"retries":1}`,
			want: 200, wrote: "test_run.started"},
		{method: post, path: ai + "/testcases/{id:case}/run/{revisionId:revision}", body: `{}`, want: 200, wrote: "test_run.started"},
		{method: post, path: ai + "/testsuites/{id:suite}/run",
			body: `{"testUrl":"https://preview.example.com","variables":{"user":"ann"}}`, want: 200,
			wrote: "test_suite_run.started", save: "suiterun=data.id"},
		{method: post, path: ai + "/testsuites/{id:suite}/runs/{runId:suiterun}/cancel", want: 200, wrote: "test_suite_run.cancelled"},
		{method: post, path: ai + "/testsuites/{id:suite}/runs/{runId:suiterun}/rerun",
			body: `{"only":"failed","variables":{"user":"ann"}}`, want: 200, wrote: "test_suite_run.started", before: failedCase},
		{method: post, path: ai + "/testcases/{id:case}/runs/{runId:run}/pin", want: 200, wrote: "test_run.pinned"},
		{method: remove, path: ai + "/testcases/{id:case}/runs/{runId:run}/pin", want: 204, wrote: "test_run.unpinned"},
		{method: post, path: ai + "/testsuites/{id:suite}/runs/{runId:suiterun}/pin", want: 200, wrote: "test_suite_run.pinned"},
		{method: remove, path: ai + "/testsuites/{id:suite}/runs/{runId:suiterun}/pin", want: 204, wrote: "test_suite_run.unpinned"},
		{method: post, path: ai + "/testcases/{id:case}/quarantine", body: `{"reason":"The map loads late.","until":"` +
			fortnight() + `"}`, want: 200, wrote: "test_case.quarantined"},
		{method: remove, path: ai + "/testcases/{id:case}/quarantine", want: 204, wrote: "test_case.quarantine_ended"},
		{method: post, path: ai + "/testcases/{id:case}/healings/{healingId:healing}", body: `{"action":"refuse"}`,
			want: 200, wrote: "test_healing.refused", before: heal},
		{method: post, path: ai + "/testcases/{id:case}/baselines/{baselineId:baseline}/accept", want: 200,
			wrote: "test_baseline.accepted", before: pictured},
		{method: post, path: ai + "/testcases/{id:case}/baselines/{baselineId:baseline}/reject", want: 200, wrote: "test_baseline.rejected"},
		{method: post, path: ai + "/testcases/{id:case}/runs/{runId:run}/baselines/accept", want: 200, wrote: "test_baseline.accepted"},
		{method: post, path: ai + "/testsuites/{id:suite}/runs/{runId:suiterun}/baselines/accept", want: 200,
			wrote: "test_baseline.accepted", before: picturedInSuite},
		{method: post, path: ai + "/testcases/{id:case}/accessibility/accept", body: `{"runId":"{{run}}","stepId":"s1"}`,
			want: 200, wrote: "test_findings.accepted"},
		{method: remove, path: ai + "/testcases/{id:case}/accessibility/{key:finding}", want: 204, wrote: "test_finding.removed"},
		{method: post, path: ai + "/test-schedules", body: schedule, want: 201, wrote: "test_schedule.created", save: "schedule=data.id",
			before: func(w *surface) { w.ids["owneruuid"] = w.boot.Owner.UUID.String() }},
		{method: post, path: ai + "/test-schedules/{id:schedule}", body: `{"name":"daily"}`, want: 200, wrote: "test_schedule.updated"},
		{method: post, path: ai + "/test-schedules/{id:schedule}/disable", want: 200, wrote: "test_schedule.updated"},
		{method: post, path: ai + "/test-schedules/{id:schedule}/enable", want: 200, wrote: "test_schedule.updated"},
		{method: post, path: ai + "/test-schedules/{id:schedule}/run", want: 200, wrote: "test_schedule.run"},
		{method: remove, path: ai + "/test-schedules/{id:schedule}", want: 204, wrote: "test_schedule.deleted"},
		{method: post, path: ai + "/environments",
			body: `{"name":"staging","testUrl":"https://staging.example.com","secrets":{"password":"hidden"},"headers":{"x-tenant":"shop"}}`,
			want: 201, wrote: "environment.created", save: "environment=data.id"},
		{method: patch, path: ai + "/environments/{id:environment}", body: `{"variables":{"country":"de"}}`, want: 200,
			wrote: "environment.updated"},
		{method: remove, path: ai + "/environments/{id:environment}", want: 204, wrote: "environment.deleted"},
		{method: post, path: ai + "/step-groups", body: `{"name":"open","parameters":[{"name":"path"}],` + steps + `}`,
			want: 201, wrote: "step_group.created", save: "stepgroup=data.id"},
		{method: patch, path: ai + "/step-groups/{id:stepgroup}", body: `{"description":"opens a page"}`, want: 200, wrote: "step_group.updated"},
		{method: remove, path: ai + "/step-groups/{id:stepgroup}", want: 204, wrote: "step_group.deleted"},
		{method: post, path: ai + "/variables", body: `{"name":"password","value":"hidden","scope":"org","isSecret":true}`,
			want: 201, wrote: "variable.created", save: "variable=data.id"},
		{method: patch, path: ai + "/variables/{id:variable}", body: `{"value":"hidden too"}`, want: 200, wrote: "variable.updated"},
		{method: remove, path: ai + "/variables/{id:variable}", want: 204, wrote: "variable.deleted"},
		{method: post, path: ai + "/tunnels", body: `{"name":"office","url":"http://8.8.8.8:3128"}`, want: 201,
			wrote: "tunnel.created", before: func(w *surface) { w.ids["tunnel"] = "office" }},
		{method: remove, path: ai + "/tunnels/{name:tunnel}", want: 204, wrote: "tunnel.deleted"},
		{method: remove, path: ai + "/testsuites/{id:suite}", want: 204, wrote: "test_suite.deleted"},
		{method: post, path: ai + "/testcases/{id:case}",
			body: `{"data":{"rows":[{"user":"ann","total":"3"},{"user":"bob","total":"0"}]}}`, want: 200, wrote: "test_case.updated"},
		{method: remove, path: ai + "/testcases/{id:case2}", want: 204, wrote: "test_case.deleted"},
	}
}

// fortnight is a time that a quarantine may end at.
func fortnight() string { return time.Now().Add(14 * 24 * time.Hour).UTC().Format(time.RFC3339) }

// failedCase writes the run of a case that failed in a run of its suite.
func failedCase(w *surface) {
	_, err := w.db.ExecContext(w.t.Context(), `delete from test_runs where suite_run_id = $1::uuid`, w.ids["suiterun"])
	require.NoError(w.t, err)
	_, err = w.db.ExecContext(w.t.Context(), `
		with made as (
			insert into test_runs (id, organization_id, team_id, suite_run_id, user_uuid, case_id, case_name, revision_id, build_name, state, finished_at)
			select gen_random_uuid(), s.organization_id, s.team_id, s.id, s.user_uuid, $2, 'sign in', $3, s.build_name, 'FAILED', now()
			from suite_runs s where s.id = $1::uuid returning id, organization_id
		)
		insert into test_jobs (id, organization_id, run_id, position, target, state, error_code, finished_at)
		select gen_random_uuid(), organization_id, id, 0, '{"capabilities":{"browserName":"chrome"},"isRdc":false}', 'FAILED', 'STEP_FAILED', now() from made`,
		w.ids["suiterun"], w.ids["case"], w.ids["revision"])
	require.NoError(w.t, err)
}

// heal writes what a run finds when a step has healed.
func heal(w *surface) {
	w.ids["healing"] = uuid.NewString()
	_, err := w.db.ExecContext(w.t.Context(),
		`insert into test_healings (id, organization_id, case_id, step_id, selector_from, selector_to, applied,
		score, reason, revision_id, run_id) values ($1, $2, $3, 's1', '{"type":"css","value":"#a"}', '{"type":"css","value":"#b"}', true, 1, 'same name', $4, $1)`,
		w.ids["healing"], w.boot.Organization.ID, w.ids["case"], w.ids["revision"])
	require.NoError(w.t, err)
}

// pictured writes what a run finds whose steps compare a picture and check accessibility.
func pictured(w *surface) {
	w.ids["baseline"], w.ids["finding"] = uuid.NewString(), "0123456789abcdef0123456789abcdef"
	const key, picture = "baselines/x/y", "no picture, which nothing here looks at"
	_, err := object.Put(w.t.Context(), w.services.Objects, key, strings.NewReader(picture), int64(len(picture)),
		object.WriteOptions{ContentType: "image/png"})
	require.NoError(w.t, err)
	_, err = w.db.ExecContext(w.t.Context(),
		`insert into test_baselines (id, organization_id, case_id, step_id, target, state, digest, width, height,
		object_key, size, run_id) values ($1, $2, $3, 's1', 'chrome/linux/1280x757@1', 'UNREVIEWED', 'd', 2, 2, $5, 0, $4)`,
		w.ids["baseline"], w.boot.Organization.ID, w.ids["case"], w.ids["run"], key)
	require.NoError(w.t, err)
	_, err = w.db.ExecContext(w.t.Context(),
		`update test_jobs set records = jsonb_build_array(jsonb_build_object('id', 's1', 'tool', jsonb_build_object('type', 'assert', 'args', '{}'::jsonb),
		'status', 'PASSED', 'result', jsonb_build_object('success', true, 'message', ''), 'startMs', 0, 'tookMs', 1,
		'look', jsonb_build_object('state', 'UNREVIEWED', 'candidateId', $2::text, 'share', 0, 'width', 2, 'height', 2),
		'findings', jsonb_build_object('total', 1, 'accepted', 0, 'failing', 1, 'list', jsonb_build_array(jsonb_build_object('key', $3::text, 'rule', 'label',
			'impact', 'critical', 'help', 'Form elements must have labels', 'helpUrl', '', 'element', '#user', 'html', '<input id="user">', 'fails', true)))))
		where run_id = $1`, w.ids["run"], w.ids["baseline"], w.ids["finding"])
	require.NoError(w.t, err)
}

// picturedInSuite has a job of a suite run see the picture, which waits again.
func picturedInSuite(w *surface) {
	_, err := w.db.ExecContext(w.t.Context(), `update test_baselines set state = 'CANDIDATE' where id::text = $1`, w.ids["baseline"])
	require.NoError(w.t, err)
	_, err = w.db.ExecContext(w.t.Context(), `update test_jobs set records = (select of.records from test_jobs of where of.run_id::text = $1)
		where run_id in (select id from test_runs where suite_run_id::text = $2)`, w.ids["run"], w.ids["suiterun"])
	require.NoError(w.t, err)
}

func taskChanges() []request {
	dead := func(w *surface) {
		w.ids["dead"] = uuid.NewString()
		_, err := w.db.ExecContext(w.t.Context(), `insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, finished_at)
			values ($1, 'crash:purge', 'bulk', '{}', 'dead', 1, $2, now())`, w.ids["dead"], w.boot.Organization.ID)
		require.NoError(w.t, err)
	}
	waiting := func(w *surface) {
		_, err := w.db.ExecContext(w.t.Context(), `insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, run_at)
			values (gen_random_uuid(), 'symbol:index', 'bulk', '{}', 'queued', 1, $1, now() + interval '1 hour')`, w.boot.Organization.ID)
		require.NoError(w.t, err)
	}
	return []request{
		{method: post, path: v3 + "/tasks/{id:dead}/retry", before: dead, as: "operator", want: 200, wrote: "task.retried"},
		{method: post, path: v3 + "/tasks/{id:dead}/run", as: "operator", want: 200, wrote: "task.started"},
		{method: post, path: v3 + "/tasks/{id:dead}/cancel", as: "operator", want: 200, wrote: "task.cancelled"},
		{method: post, path: v3 + "/tasks/retry", before: dead, as: "operator", want: 200, wrote: "tasks.retried"},
		{method: post, path: v3 + "/tasks/run", query: "?type=symbol:index", before: waiting, as: "operator", want: 200, wrote: "tasks.started"},
		{method: post, path: v3 + "/tasks/cancel", query: "?type=symbol:index", before: waiting, as: "operator", want: 200,
			wrote: "tasks.cancelled"},
	}
}

// removalChanges come last.
func removalChanges() []request {
	return []request{
		{method: remove, path: v3 + "/builds/{id:build}/gate/override", want: 204, wrote: "gate.override_removed"},
		{method: remove, path: v3 + "/projects/{id:built}/gate-policy", want: 204, wrote: "gate_policy.deleted"},
		{method: remove, path: "/api/1/projects/{id:built}/builds/{build}", want: 200, wrote: "build.deleted"},
		{method: remove, path: v3 + "/builds/{id:build2}", want: 204, wrote: "build.deleted"},
		{method: remove, path: v3 + "/projects/{id:project}", want: 204, wrote: "project.deleted"},
		{method: remove, path: v3 + "/crash-projects/{id:crashproject2}", want: 204, wrote: "crash_project.deleted"},
		{method: remove, path: v3 + "/members/{id:colleague}", want: 204, wrote: "user.removed"},
		{method: remove, path: v3 + "/service-accounts/{id:service}", want: 204, wrote: "service_account.deleted"},
	}
}
