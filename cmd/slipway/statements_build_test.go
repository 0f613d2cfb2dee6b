package main

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/tasks"
)

// upload uploads a build that testers can install.
func (w *counted) upload() {
	w.t.Helper()
	w.must(request{method: put, path: v3 + "/settings/organization", body: `{"generic_files":true}`})
	w.must(request{method: post, path: v3 + "/builds/upload", files: uploadOf("shop.zip"), save: "build=build.id;project=build.project_id"})
	w.exec(`update builds set kind = 'apk', platform = 'Android', verification = $2 where id = $1::bigint`, w.ids["build"], artifact.Verified)
}

// builds uploads a build and copies it, so that the app has n.
func (w *counted) builds(n int) {
	w.t.Helper()
	w.upload()
	w.more("builds", "t.id = "+w.ids["build"], `'id', nextval('builds_id_seq'), 'token', gen_random_uuid(), 'version', i::text`, n-1)
	w.exec(`update projects set build_count = $2 where id = $1::bigint`, w.ids["project"], n)
}

func buildUseCases() []useCase {
	return []useCase{
		{name: "upload a build", numbers: []int{1}, of: asks{statements: 22, objects: 3}, run: func(w *counted, _ int) {
			w.upload() // the app and the bucket
			w.count(func() {
				w.must(request{method: post, path: v3 + "/builds/upload", files: uploadOf("shop2.zip")})
			})
		}},
		{name: "upload a build in parts", numbers: []int{1}, of: asks{statements: 44, objects: 6}, run: func(w *counted, _ int) {
			w.upload()
			w.ids["part"] = "1"
			w.count(func() {
				w.must(request{method: post, path: v3 + "/uploads", body: `{"file_name":"shop2.zip","file_size":5}`, save: "upload=upload.id"})
				w.must(request{method: put, path: v3 + "/uploads/{id:upload}/parts/{number:part}", body: "parts", kind: "application/octet-stream"})
				w.must(request{method: post, path: v3 + "/builds/upload", files: map[string]string{"upload_id": "{{upload}}",
					"platform": "windows", "team_id": "{{team}}"}})
			})
		}},
		{name: "upload a build that webhooks hear of", numbers: []int{1, 50}, of: asks{statements: 25, objects: 3}, run: func(w *counted, n int) {
			w.upload()
			w.must(request{method: post, path: v3 + "/webhooks",
				body: `{"name":"CI","url":"http://127.0.0.1:9443/hook","actions":["upload"]}`, save: "hook=webhook.id"})
			w.more("webhooks", "t.id = "+w.ids["hook"], `'id', nextval('webhooks_id_seq'), 'name', 'CI ' || i`, n-1)
			w.count(func() {
				w.must(request{method: post, path: v3 + "/builds/upload", files: uploadOf("shop2.zip")})
			})
			w.wantRows(n, `select count(*)::text from webhook_deliveries where organization_id = $1`)
		}},
		{name: "delete builds beyond their retention", numbers: []int{5, 100}, of: asks{statements: 23}, run: func(w *counted, n int) {
			w.builds(n + 1)
			w.exec(`update organizations set retention_builds = 1 where id = $1`, w.boot.Organization.ID)
			w.insert(tasks.NewMaintenance(tasks.BuildMaintenance))
			w.count(func() { w.work(tasks.BuildMaintenance) })
			w.wantRows(n, `select count(*)::text from builds where organization_id = $1 and deleted_at is not null`)
			w.wantRows(n, `select count(*)::text from tasks where organization_id = $1 and kind = 'build:delete'`)
		}},
		{name: "verify builds that nobody verified", numbers: []int{5, 100}, of: asks{statements: 15}, run: func(w *counted, n int) {
			w.builds(n)
			w.exec(`update builds set verification = '', created_at = now() - interval '1 day' where organization_id = $1`, w.boot.Organization.ID)
			w.insert(tasks.NewMaintenance(tasks.BuildMaintenance))
			w.count(func() { w.work(tasks.BuildMaintenance) })
		}},
		{name: "delete an app", numbers: []int{2, 50}, of: asks{statements: 48, commands: 1}, run: func(w *counted, n int) {
			w.builds(n)
			w.count(func() {
				w.must(request{method: remove, path: v3 + "/projects/{id:project}"})
				w.work(tasks.ProjectDelete)
			})
			w.wantRows(0, `select count(*)::text from builds where organization_id = $1`)
		}},
		{name: "notify testers", numbers: []int{10, 1000}, of: asks{statements: 8}, each: asks{statements: 15}, step: 500,
			run: func(w *counted, n int) {
				w.upload()
				w.testers(n)
				w.exec(`insert into project_testers (project_id, user_id) select $1::bigint, user_id from memberships where organization_id = $2 and role = 'tester'`,
					w.ids["project"], w.boot.Organization.ID)
				w.must(request{method: post, path: v3 + "/builds/{id:build}/notify-testers"})
				w.count(func() { w.work(tasks.BuildNotify) })
				w.wantRows(n, `select count(*)::text from mails where organization_id = $1 and kind = 'new-build'`)
			}},
		{name: "send mails", numbers: []int{4, 50}, of: asks{statements: 13, objects: 1}, run: func(w *counted, n int) {
			w.testers(n)
			w.upload()
			w.exec(`insert into project_testers (project_id, user_id) select $1::bigint, user_id from memberships where organization_id = $2 and role = 'tester'`,
				w.ids["project"], w.boot.Organization.ID)
			w.must(request{method: post, path: v3 + "/builds/{id:build}/notify-testers"})
			w.work(tasks.BuildNotify)
			w.count(func() { w.work(tasks.MailSend) })
			w.wantRows(n, `select count(*)::text from mails where organization_id = $1 and state <> 'queued'`)
		}},
		{name: "invite testers to a build", numbers: []int{2, 100}, of: asks{statements: 16}, run: func(w *counted, n int) {
			w.upload()
			w.testers(n)
			w.must(request{method: post, path: "/api/1/testers/groups", body: "groupName=friends", save: "group=id"})
			w.exec(`insert into tester_group_members (tester_group_id, user_id) select $1::bigint, user_id from memberships where organization_id = $2 and role = 'tester'`,
				w.ids["group"], w.boot.Organization.ID)
			w.count(func() {
				w.must(request{method: post, path: v3 + "/builds/{id:build}/invites", body: `{"groups":["friends"]}`})
				w.work(tasks.BuildInvite)
			})
			w.wantRows(n, `select count(*)::text from build_invites where organization_id = $1`)
		}},
	}
}

// wantRows checks that the use case did what it is counted for.
func (w *counted) wantRows(n int, query string) {
	w.t.Helper()
	if got := w.value(query, w.boot.Organization.ID); got != fmt.Sprint(n) {
		w.t.Errorf("%s: %s, not %d", strings.Join(strings.Fields(query), " "), got, n)
	}
}
