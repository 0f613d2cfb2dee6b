package main

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// teamChanges are those of teams, groups of testers and who may install.
func teamChanges() []request {
	return []request{
		{method: post, path: v3 + "/teams", body: `{"name":"mobile"}`, want: 201, wrote: "team.created", save: "team2=team.id"},
		{method: put, path: v3 + "/teams/{id:team2}", body: `{"name":"mobile 2"}`, want: 200, wrote: "team.updated"},
		{method: post, path: v3 + "/teams/{id:team2}/members", body: `{"email":"main@example.com","admin":true}`,
			want: 200, wrote: "team.member_added"},
		{method: post, path: v3 + "/testers", body: `{"email":"ann@example.com"}`, want: 201, wrote: "testers.invited",
			save: "tester=tester.id;ann=tester.user_id"},
		{method: post, path: "/api/1/testers", body: "email=bo@example.com,cy@example.com&group=friends", want: 200, wrote: "testers.invited"},
		{method: post, path: v3 + "/groups", body: `{"name":"qa","team_id":{{team}}}`, want: 201, wrote: "group.created",
			save: "testers=group.id"},
		{method: put, path: v3 + "/groups/{id:testers}", body: `{"name":"qa 2"}`, want: 200, wrote: "group.updated"},
		{method: post, path: v3 + "/groups/{id:testers}/testers", body: `{"email":"ann@example.com"}`, want: 200, wrote: "group.member_added"},
		{method: post, path: "/api/1/testers/groups", body: "groupName=older", want: 200, wrote: "group.created", save: "older=id"},
		{method: post, path: "/api/1/testers/groups/{id:older}", body: "email=ann@example.com,bo@example.com", want: 200,
			wrote: "group.member_added"},
		{method: post, path: v3 + "/projects/{id:built}/testers", body: `{"email":"ann@example.com"}`, want: 200, wrote: "distribution.changed"},
		{method: put, path: v3 + "/projects/{id:built}/groups/{group:testers}", want: 204, wrote: "distribution.changed"},
		{method: remove, path: v3 + "/projects/{id:built}/groups/{group:testers}", want: 204, wrote: "distribution.changed"},
		{method: put, path: v3 + "/builds/{id:build}/groups/{group:testers}", want: 204, wrote: "distribution.changed"},
		{method: remove, path: v3 + "/builds/{id:build}/groups/{group:testers}", want: 204, wrote: "distribution.changed"},
		{method: post, path: v3 + "/builds/{id:build}/invites", body: `{"groups":["qa 2"]}`, want: 201, wrote: "build.invited"},
		{method: post, path: "/api/1/projects/{id:built}/builds/{build}/invites", body: "groups=older", want: 200, wrote: "build.invited"},
		{method: post, path: v3 + "/testers/{id:tester}/block", want: 200, wrote: "tester.blocked"},
		{method: remove, path: v3 + "/testers/{id:tester}/block", want: 200, wrote: "tester.unblocked"},
		{method: post, path: "/api/1/testers/{id:tester}/block", want: 200, wrote: "tester.blocked"},
		{method: remove, path: "/api/1/testers/{id:tester}/block", want: 200, wrote: "tester.unblocked"},
	}
}

// sessionChanges are those of SDKs.
func sessionChanges() []request {
	const reported = "a report of a program, counted where it is: nobody changed anything, and there are thousands a second"
	return []request{
		{method: post, path: v3 + "/projects/{id:built}/sdk-tokens", body: `{"name":"beta"}`, want: 201, wrote: "sdk_token.created",
			save: "sdktoken=sdk_token.id;sdk=secret"},
		{method: post, path: "/api/1/sdk/sessions", query: "?token={{sdk}}",
			body: `{"session_id":"6f1d3a3e-0b1f-4f67-9a0b-0f6a9d3e8c11","build_id":{{build}}}`, as: "none", want: 200,
			unaudited: reported, save: "session=session_id;sessionid=id"},
		{method: post, path: "/api/1/sdk/sessions/{session}/events", query: "?token={{sdk}}",
			body: `{"seq":1,"events":[{"type":"screen","text":"Cart"}]}`, as: "none", want: 200, unaudited: reported},
		{method: post, path: "/api/1/sdk/sessions/{session}/end", query: "?token={{sdk}}", body: `{"duration":3}`,
			as: "none", want: 200, unaudited: reported},
		{method: post, path: "/api/1/sdk/feedbacks", query: "?token={{sdk}}",
			body: `{"text":"The cart is empty","session_id":"{{session}}"}`, as: "none", want: 200, wrote: "feedback.received",
			save: "feedback=feedback_id"},
		{method: remove, path: v3 + "/feedbacks/{id:feedback}", want: 204, wrote: "feedback.deleted"},
		{method: remove, path: v3 + "/projects/{id:built}/sdk-tokens/{token:sdktoken}", want: 204, wrote: "sdk_token.revoked"},
	}
}

// oidcChanges are those of the organization's own sign-in.
func oidcChanges() []request {
	return []request{
		{method: post, path: v3 + "/settings/oidc", body: `{"enabled":false,"issuer_url":"https://8.8.8.8","mode":"oidc_or_key"}`,
			want: 200, wrote: "security.changed"},
		{method: post, path: v3 + "/settings/oidc/key", want: 200, wrote: "security.changed"},
		{method: post, path: v3 + "/settings/oidc/test", body: `{"issuer_url":"http://127.0.0.1:9443"}`, want: 200, wrote: "oidc.tested"},
		{method: remove, path: v3 + "/settings/oidc", want: 204, wrote: "security.changed"},
	}
}

// pageChanges are those of testers, in a browser.
func pageChanges() []request {
	const asked = "it mails a link to whoever has the address, and changes nothing before the link is used"
	return []request{
		{method: post, path: "/install/{name:page}/sign-in", body: "email=ann@example.com", as: "none", want: http.StatusOK, unaudited: asked,
			before: func(w *surface) {
				w.ids["page"] = w.one(`select token from builds where id = $1::bigint`, w.ids["build"])
			}},
		{method: post, path: "/session/{link}", as: "none", want: http.StatusSeeOther, wrote: "tester.signed_in", before: signInLink},
		{method: post, path: "/install/{name:page}/password", body: "password=open+sesame", as: "none", want: http.StatusSeeOther,
			unaudited: "a password opens a page for one browser and changes nothing"},
		{method: post, path: "/sign-in", body: "email=ann@example.com", as: "none", want: http.StatusOK, unaudited: asked},
		{method: post, path: "/sign-out", as: "none", want: http.StatusOK, unaudited: "it ends the session of a browser"},
	}
}

// signInLink makes a link as the mail has it.
func signInLink(w *surface) {
	w.ids["link"] = "slp_link_" + uuid.NewString()
	digest := account.DigestOf(w.ids["link"])
	_, err := w.db.ExecContext(w.t.Context(), `insert into sign_in_links (digest, organization_id, user_id, path, expires_at)
		values ($1, $2, $3::bigint, '/me', now() + interval '1 hour')`, digest[:], w.boot.Organization.ID, w.ids["ann"])
	require.NoError(w.t, err)
}

// statusChanges are those of statuses of commits.
func statusChanges() []request {
	const setting = `{"provider":"gitea","url":"http://127.0.0.1:9443","repository":"acme/app","token":"hidden"}`
	return []request{
		{method: put, path: v3 + "/projects/{id:built}/commit-status", body: setting, want: 200, wrote: "commit_status.changed"},
		{method: post, path: v3 + "/projects/{id:built}/commit-status/test", want: 200, wrote: "commit_status.tested"},
		{method: put, path: v3 + "/projects/{id:project}/commit-status", body: setting, want: 200, wrote: "commit_status.changed"},
		{method: remove, path: v3 + "/projects/{id:project}/commit-status", want: 204, wrote: "commit_status.changed"},
	}
}

// webhookChanges are those of webhooks, devices and mail.
func webhookChanges() []request {
	const hook = "webhook-name=CI&webhook-url=http://127.0.0.1:9443/hook&actions=upload"
	list := []request{
		{method: post, path: v3 + "/webhooks", body: `{"name":"CI","url":"http://127.0.0.1:9443/hook","actions":["upload"]}`,
			want: 201, wrote: "webhook.created", save: "hook=webhook.id"},
		{method: put, path: v3 + "/webhooks/{id:hook}", body: `{"name":"CI 2"}`, want: 200, wrote: "webhook.updated"},
		{method: post, path: v3 + "/webhooks/{id:hook}/secret", body: `{"valid_hours":24}`, want: 200, wrote: "webhook.secret_rotated"},
		{method: remove, path: v3 + "/webhooks/{id:hook}/secret", want: 204, wrote: "webhook.secret_rotated"},
		{method: post, path: v3 + "/webhooks/{id:hook}/test", want: 200, wrote: "webhook.tested", save: "delivery=delivery.id"},
		{method: post, path: v3 + "/webhooks/{id:hook}/deliveries/{delivery}/replay", want: 202, wrote: "webhook.replayed"},
		{method: post, path: v3 + "/webhooks/{id:hook}/replay", body: `{"from":"2026-01-01","to":"2036-01-01"}`, want: 202,
			wrote: "webhook.replayed"},
		{method: post, path: v3 + "/devices", body: `{"udid":"00008030-001A2B3C4D5E6F70","name":"phone","email":"bo@example.com"}`,
			want: 201, wrote: "device.registered", save: "device=device.id"},
		{method: remove, path: v3 + "/devices/{id:device}", want: 204, wrote: "device.removed"},
		{method: put, path: v3 + "/settings/mail", body: `{"sender_name":"QA"}`, want: 200, wrote: "mail_settings.changed"},
		{method: put, path: v3 + "/settings/mail-templates/{kind}",
			body: `{"subject":"Sign in to {{app}}","text":"[Sign in]({{link}})"}`, want: 200, wrote: "mail_template.changed",
			before: func(w *surface) { w.ids["kind"] = "sign-in"; delete(w.ids, "link") }},
		{method: post, path: v3 + "/settings/mail-templates/{kind}/preview", body: `{"subject":"Hello"}`, want: 200,
			unaudited: "it shows a template and stores nothing"},
		{method: remove, path: v3 + "/settings/mail-templates/{kind}", want: 204, wrote: "mail_template.changed"},
	}
	for _, path := range []string{"/api/1/webhook", "/api/1/webhooks", "/api/1/webhhook"} {
		last := func(w *surface) { w.ids["hook1"] = w.one(`select max(id)::text from webhooks`) }
		list = append(list,
			request{method: post, path: path, body: hook, want: 200, wrote: "webhook.created"},
			request{method: post, path: path + "/{id:hook1}", body: hook + "&webhook-status=true", want: 200,
				wrote: "webhook.updated", before: last},
			request{method: remove, path: path + "/{id:hook1}", want: 200, wrote: "webhook.deleted"})
	}
	return append(list, request{method: remove, path: v3 + "/webhooks/{id:hook}", want: 204, wrote: "webhook.deleted"})
}

// surfaceElsewhere are the routes whose entries the tests of their rooms look for, because
// the request takes more than credentials.
func surfaceElsewhere() map[string]string {
	return map[string]string{
		"POST /invite/{secret}":                          "api/install: the secret of an invitation",
		"POST /me/organization":                          "api/install: a tester of two organizations",
		"POST /me/feedback":                              "api/install: the session of a tester who may install the build",
		"POST /me/mail":                                  "api/install: the session of a tester",
		"POST /me/leave":                                 "api/install: ends the session that the other pages need",
		"POST /me/devices/{id}/remove":                   "api/install: a device of the tester",
		"POST /udid/answer":                              "api/install: signed by a device",
		"POST /ops/mail/bounces":                         "api/mail: a notification of a mail server",
		"POST /mail/unsubscribe/{token}":                 "api/mail: the token of a mail",
		"DELETE /api/v3/settings/mail/suppressions/{id}": "api/mail: an address whose mail came back",
	}
}

// peopleRemovals come last.
func peopleRemovals() []request {
	return []request{
		{method: remove, path: v3 + "/builds/{id:build}/invites/{user:ann}", want: 204, wrote: "invite.revoked"},
		{method: remove, path: v3 + "/projects/{id:built}/testers/{user:ann}", want: 204, wrote: "distribution.changed"},
		{method: remove, path: v3 + "/groups/{id:testers}/testers/{user:ann}", want: 204, wrote: "group.member_removed"},
		{method: remove, path: "/api/1/testers/groups/{id:older}", query: "?email=bo@example.com", want: 200, wrote: "group.member_removed"},
		{method: remove, path: v3 + "/groups/{id:testers}", want: 204, wrote: "group.deleted"},
		{method: remove, path: v3 + "/teams/{id:team2}/members/{user:owner}", want: 204, wrote: "team.member_removed"},
		{method: remove, path: v3 + "/teams/{id:team2}", want: 204, wrote: "team.deleted"},
		{method: remove, path: v3 + "/testers/{id:tester}", want: 204, wrote: "tester.removed"},
		{method: post, path: v3 + "/testers", body: `{"email":"ann@example.com"}`, want: 201, wrote: "testers.invited",
			save: "tester=tester.id;ann=tester.user_id"},
		{method: remove, path: "/api/1/testers/{id:tester}", want: 200, wrote: "tester.removed",
			before: func(w *surface) { require.NotEmpty(w.t, w.ids["tester"]) }},
	}
}
