package main

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks"
)

// sixConditions are one of each kind that needs no suite.
const sixConditions = `{"hold_notifications":true,"conditions":[{"name":"crashes","type":"crash_groups","max_users":3},
	{"name":"sessions","type":"crash_free","min_percent":99,"max_drop_points":1},{"name":"signature","type":"signature","same_signer":true,"verified":true},
	{"name":"size","type":"size","max_growth_percent":10},{"name":"symbols","type":"symbols"},{"name":"people","type":"testers"}]}`

// versions makes a build of each version that reports name, of an app that has the crash
// project of the organization.
func (w *counted) versions() {
	w.t.Helper()
	w.upload()
	for n := range 3 {
		w.more("builds", "t.id = "+w.ids["build"],
			fmt.Sprintf(`'id', nextval('builds_id_seq'), 'token', gen_random_uuid(), 'version', '1.%d'`, n), 1)
	}
	w.exec(`update crash_projects set project_id = $2::bigint where id = $1::bigint`, w.ids["crashproject"], w.ids["project"])
}

// gatePolicy sets a policy of six conditions.
func (w *counted) gatePolicy() {
	w.t.Helper()
	w.must(request{method: put, path: v3 + "/projects/{id:project}/gate-policy", body: sixConditions})
}

// evaluate evaluates all gates that are due.
func (w *counted) evaluate() {
	w.t.Helper()
	w.insert(tasks.NewPeriodic(tasks.GateEvaluate, 0))
	w.work(tasks.GateEvaluate)
}

func gateUseCases() []useCase {
	const ofBuilds = 35 // statements of a claim of reports whose builds are found
	return []useCase{
		{name: "process reports of builds", numbers: []int{1, 64}, of: asks{statements: ofBuilds}, run: func(w *counted, n int) {
			w.versions()
			processing(pythonReports)(w, n)
			require.Equal(w.t, "0", w.value(`select count(*)::text from gate_due where organization_id = $1`, w.boot.Organization.ID))
		}},
		{name: "process reports of builds with a gate", numbers: []int{1, 64}, of: asks{statements: ofBuilds + 1}, run: func(w *counted, n int) {
			w.gatePolicyOfNewBuilds()
			processing(pythonReports)(w, n)
			require.NotEqual(w.t, "0",
				w.value(`select count(*)::text from gate_crashes c join gates g using (build_id) where g.organization_id = $1`,
					w.boot.Organization.ID))
		}},
		{name: "upload a build that has a gate", numbers: []int{1}, of: asks{statements: 24, objects: 3}, run: func(w *counted, _ int) {
			w.upload()
			w.gatePolicy()
			w.count(func() {
				w.must(request{method: post, path: v3 + "/builds/upload", files: uploadOf("shop2.zip")})
			})
		}},
		{name: "evaluate gates", numbers: []int{1, 150}, of: asks{statements: 21}, run: func(w *counted, n int) {
			w.upload()
			w.gatePolicy()
			w.evaluate()
			w.more("builds", "t.id = "+w.ids["build"], `'id', nextval('builds_id_seq'), 'token', gen_random_uuid(), 'version', i::text`, n)
			w.insert(tasks.NewPeriodic(tasks.GateEvaluate, 0))
			w.count(func() { w.work(tasks.GateEvaluate) })
			w.wantRows(n+1, `select count(*)::text from gates where organization_id = $1 and jsonb_array_length(conditions) = 6`)
		}},
		{name: "evaluate gates that change", numbers: []int{1, 150}, of: asks{statements: 24}, run: func(w *counted, n int) {
			w.upload()
			w.must(request{method: put, path: v3 + "/projects/{id:project}/gate-policy",
				body: `{"conditions":[{"name":"size","type":"size","max_bytes":1}]}`})
			w.evaluate()
			w.more("builds", "t.id = "+w.ids["build"], `'id', nextval('builds_id_seq'), 'token', gen_random_uuid(), 'version', i::text`, n)
			w.insert(tasks.NewPeriodic(tasks.GateEvaluate, 0))
			w.count(func() { w.work(tasks.GateEvaluate) })
			w.wantRows(n+1, `select count(*)::text from gates where organization_id = $1 and state = 'fail'`)
		}},
		{name: "evaluate one gate of many", numbers: []int{1, 150}, of: asks{statements: 21}, run: func(w *counted, n int) {
			w.upload()
			w.gatePolicy()
			w.more("builds", "t.id = "+w.ids["build"], `'id', nextval('builds_id_seq'), 'token', gen_random_uuid(), 'version', i::text`, n)
			w.evaluate()
			w.exec(`update gates set evaluated_at = now() - interval '1 hour' where organization_id = $1`, w.boot.Organization.ID)
			w.exec(`insert into build_installs (organization_id, build_id, user_id, channel) values ($1, $2::bigint, $3::bigint, 'page')`,
				w.boot.Organization.ID, w.ids["build"], w.ids["owner"])
			w.insert(tasks.NewPeriodic(tasks.GateEvaluate, 0))
			w.count(func() { w.work(tasks.GateEvaluate) })
			w.wantRows(1, `select count(*)::text from gates where organization_id = $1 and evaluated_at > now() - interval '10 minutes'`)
		}},
	}
}

// gatePolicyOfNewBuilds sets a policy before the builds of versions come.
func (w *counted) gatePolicyOfNewBuilds() {
	w.t.Helper()
	w.upload()
	w.gatePolicy()
	w.versions()
	w.evaluate()
}
