package authoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A suite has a case of its own team as its login, and keeps the condition as it was sent.
func TestLoginOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signIn, other := w.newCase(w.member, "sign in", nil), w.newCase(w.member, "other", nil)
	when := `{"selector":{"type":"css","value":"#go"},"matcher":{"name":"visible","args":{}},"timeoutMs":500}`
	made := w.ok(w.member, 201, "POST", "/testsuites", p(`{"name":"smoke","testCases":[%q],"login":{"testCaseId":%q,"when":%s}}`,
		other, signIn, when))
	at := "/testsuites/" + made["id"].(string)
	login := made["login"].(tree)
	require.Equal(t, signIn, login["testCaseId"])
	require.Equal(t, tree{"selector": tree{"type": "css", "value": "#go"}, "matcher": tree{"name": "visible", "args": tree{}},
		"timeoutMs": 500.0}, login["when"])
	require.Equal(t, login, w.ok(w.member, 200, "GET", at, "")["login"])
	same := w.ok(w.member, 200, "POST", at, `{"name":"renamed"}`)
	require.Equal(t, login, same["login"], "what is not sent stays")

	abroad, neighbors := w.newCase(w.stranger, "abroad", nil), w.ok(w.both, 201, "POST", "/testcases",
		p(`{"name":"x","teamId":%q,"runSettings":{"testUrl":"https://a.example.com"},"steps":[{"tool":{"type":"reload","args":{}}}]}`,
			w.two.UUID))["id"].(string)
	for text, field := range map[string]string{
		`{"login":7}`: "login", `{"login":{}}`: "login.testCaseId", `{"login":{"testCaseId":7}}`: "login.testCaseId",
		p(`{"login":{"testCaseId":%q}}`, noCase): "login.testCaseId", p(`{"login":{"testCaseId":%q}}`, abroad): "login.testCaseId",
		p(`{"login":{"testCaseId":%q}}`, neighbors):                                                             "login.testCaseId",
		p(`{"login":{"testCaseId":%q,"then":1}}`, signIn):                                                       "login.then",
		p(`{"login":{"testCaseId":%q,"when":{}}}`, signIn):                                                      "login.when.matcher",
		p(`{"login":{"testCaseId":%q,"when":{"matcher":{"name":"request"}}}}`, signIn):                          "login.when.matcher",
		p(`{"login":{"testCaseId":%q,"when":{"matcher":{"name":"visible"},"timeoutMs":9999999}}}`, signIn):      "login.when.timeoutMs",
		p(`{"login":{"testCaseId":%q,"when":{"matcher":{"name":"visible"},"selector":{"type":"x"}}}}`, signIn):  "login.when.selector",
		p(`{"login":{"testCaseId":%q,"when":{"matcher":{"name":"visible"},"selectors":{"type":"x"}}}}`, signIn): "login.when.selectors",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", at, text, field)
	}
	require.Equal(t, login, w.ok(w.member, 200, "GET", at, "")["login"])

	run := w.ok(w.member, 200, "POST", at+"/run", `{}`)
	require.EqualValues(t, 1, run["runCount"], "the login is counted when it begins")
	require.Nil(t, w.ok(w.member, 200, "POST", at, `{"login":null}`)["login"])
	w.ok(w.member, 200, "POST", at, p(`{"login":{"testCaseId":%q}}`, other))
	w.refused(w.member, 400, "TEST_SUITE_NO_RUN_JOBS", "POST", at+"/run", `{}`)
}

// A case that is the login of a suite is not deleted, alone or with a suite that it is in; with
// the suite whose login it is, it goes.
func TestLoginIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	signIn, other := w.newCase(w.member, "sign in", nil), w.newCase(w.member, "other", nil)
	smoke := w.ok(w.member, 201, "POST", "/testsuites", p(`{"name":"smoke","testCases":[%q],"login":{"testCaseId":%q}}`,
		other, signIn))["id"].(string)
	logins := w.ok(w.member, 201, "POST", "/testsuites", p(`{"name":"logins","testCases":[%q]}`, signIn))["id"].(string)
	w.refused(w.member, 409, "TEST_CASE_IN_USE", "DELETE", "/testcases/"+signIn, "", "the login of", `smoke`, smoke)
	w.refused(w.member, 409, "TEST_CASE_IN_USE", "DELETE", "/testsuites/"+logins, `{"deleteTestCases":true}`, `smoke`)
	w.ok(w.member, 200, "GET", "/testsuites/"+logins, "")
	w.ok(w.member, 204, "DELETE", "/testsuites/"+logins, "")
	w.ok(w.member, 200, "POST", "/testsuites/"+smoke, p(`{"testCases":[%q,%q]}`, other, signIn))
	w.ok(w.member, 204, "DELETE", "/testsuites/"+smoke, `{"deleteTestCases":true}`)
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+signIn, "")
}

// What the site of a case asks the browser for is stored as variables, and replaced whole.
func TestAccessOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := "/testcases/" + w.newCase(w.member, "cart", nil)
	require.NotContains(t, w.ok(w.member, 200, "GET", at, "")["runSettings"], "basicAuth")
	basic, certificate := tree{"user": "ann", "password": "{{password}}"}, tree{"certificate": "{{org:certificate}}", "key": "{{key}}"}
	settings := w.ok(w.member, 200, "POST", at, `{"runSettings":{"basicAuth":{"user":"ann","password":"{{password}}"},
		"clientCertificate":{"certificate":"{{org:certificate}}","key":"{{key}}"}}}`)["runSettings"].(tree)
	require.Equal(t, basic, settings["basicAuth"])
	require.Equal(t, certificate, settings["clientCertificate"])
	for text, field := range map[string]string{
		`{"basicAuth":{"user":"ann","password":"s3cret"}}`:               "runSettings.basicAuth.password",
		`{"basicAuth":{"user":"ann"}}`:                                   "runSettings.basicAuth.password",
		`{"basicAuth":{"password":"{{a}}"}}`:                             "runSettings.basicAuth.user",
		`{"basicAuth":{"user":7}}`:                                       "runSettings.basicAuth.user",
		`{"basicAuth":"ann"}`:                                            "runSettings.basicAuth",
		`{"basicAuth":{"user":"a","password":"{{a}}","hosts":[]}}`:       "runSettings.basicAuth.hosts",
		`{"clientCertificate":{"key":"{{a}}"}}`:                          "runSettings.clientCertificate.certificate",
		`{"clientCertificate":{"certificate":"x","key":"-----BEGIN"}}`:   "runSettings.clientCertificate.key",
		`{"clientCertificate":{"certificate":"\u0000","key":"{{key}}"}}`: "runSettings",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", at, `{"runSettings":`+text+`}`, field)
	}
	settings = w.ok(w.member, 200, "POST", at, `{"runSettings":{"basicAuth":null}}`)["runSettings"].(tree)
	require.NotContains(t, settings, "basicAuth")
	require.Equal(t, certificate, settings["clientCertificate"])
}
