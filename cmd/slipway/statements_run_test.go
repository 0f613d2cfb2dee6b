package main

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// cases makes test cases and a suite of them.
func (w *counted) cases(n int) {
	w.t.Helper()
	const body = `{"name":"log in","runSettings":{"testUrl":"https://shop.example.com/","target":{"capabilities":{"browserName":"chrome"}}},
		"steps":[{"id":"s1","tool":{"type":"go_to_url","args":{"url":"/login"}}}]}`
	for range n {
		w.must(request{method: post, path: ai + "/testcases", body: body, save: "case=data.id"})
	}
	w.must(request{method: post, path: ai + "/testsuites", body: `{"name":"smoke","testCases":["{{case}}"]}`, save: "suite=data.id"})
	w.exec(`update test_cases set suite_id = $1::uuid where organization_id = $2`, w.ids["suite"], w.boot.Organization.ID)
}

// schedules makes schedules that are due, of one suite each.
func (w *counted) schedules(n int) {
	w.t.Helper()
	w.cases(1)
	w.must(request{method: post, path: ai + "/test-schedules", save: "schedule=data.id",
		body: `{"name":"nightly","testSuiteIds":["{{suite}}"],"settings":{"cron":"0 0 1 1 *","timezone":"UTC","runningUserId":"{{owneruuid}}"}}`})
	w.more("test_suites", "t.id = '"+w.ids["suite"]+"'", `'id', gen_random_uuid(), 'name', 'smoke ' || i`, n-1)
	w.more("test_schedules", "t.id = '"+w.ids["schedule"]+"'", `'id', gen_random_uuid(), 'name', 'nightly ' || i`, n-1)
	w.exec(`insert into test_schedule_suites (schedule_id, suite_id, position)
		select s.id, u.id, 0 from (select id, row_number() over (order by id) as place from test_schedules where organization_id = $1) s
		join (select id, row_number() over (order by id) as place from test_suites where organization_id = $1) u on u.place = s.place
		on conflict do nothing`, w.boot.Organization.ID)
	w.exec(`update test_schedules set next_run_at = now() - interval '1 second' where organization_id = $1`, w.boot.Organization.ID)
}

func runUseCases() []useCase {
	return []useCase{
		{name: "start a run", numbers: []int{1}, of: asks{statements: 13, commands: 1}, run: func(w *counted, _ int) {
			w.cases(1)
			w.count(func() { w.must(request{method: post, path: ai + "/testcases/{id:case}/run", body: `{}`}) })
		}},
		{name: "start the runs of a suite", numbers: []int{10, 100}, of: asks{statements: 29, commands: 1}, each: asks{statements: 11}, step: 100,
			run: func(w *counted, n int) {
				w.cases(n)
				w.count(func() {
					w.must(request{method: post, path: ai + "/testsuites/{id:suite}/run", body: `{}`})
					w.work(tasks.SuiteRun)
				})
				w.wantRows(n, `select count(*)::text from test_jobs where organization_id = $1`)
			}},
		{name: "start the runs of a suite whose tests need one", numbers: []int{10, 100}, of: asks{statements: 35, commands: 1},
			each: asks{statements: 12}, step: 100, run: func(w *counted, n int) {
				w.cases(n)
				w.exec(`update test_suites set depends_on = (select jsonb_object_agg(id, jsonb_build_array($1::text)) from test_cases
					where organization_id = $2 and id <> $1) where organization_id = $2`, w.ids["case"], w.boot.Organization.ID)
				w.count(func() {
					w.must(request{method: post, path: ai + "/testsuites/{id:suite}/run", body: `{"maxDuration":600}`})
					w.work(tasks.SuiteRun)
				})
				w.wantRows(n-1, `select count(*)::text from test_runs where organization_id = $1 and needs is not null`)
			}},
		{name: "start a shard of a suite", numbers: []int{10, 100}, of: asks{statements: 34, commands: 1}, each: asks{statements: 12}, step: 100,
			run: func(w *counted, n int) {
				w.cases(n)
				w.count(func() {
					w.must(request{method: post, path: ai + "/testsuites/{id:suite}/run", body: `{"shard":{"index":1,"of":2,"key":"4711"}}`})
					w.work(tasks.SuiteRun)
				})
				w.wantRows(n/2, `select count(*)::text from test_jobs where organization_id = $1`)
			}},
		{name: "cancel the runs of a suite", numbers: []int{10, 100}, of: asks{statements: 20}, run: func(w *counted, n int) {
			w.cases(n)
			w.must(request{method: post, path: ai + "/testsuites/{id:suite}/run", body: `{}`, save: "run=data.id"})
			w.work(tasks.SuiteRun)
			w.count(func() { w.must(request{method: post, path: ai + "/testsuites/{id:suite}/runs/{runId:run}/cancel"}) })
		}},
		{name: "delete a suite", numbers: []int{2, 100}, of: asks{statements: 9}, run: func(w *counted, n int) {
			w.cases(n)
			w.count(func() { w.must(request{method: remove, path: ai + "/testsuites/{id:suite}"}) })
		}},
		{name: "fire schedules", numbers: []int{10, 500}, of: asks{statements: 5}, each: asks{statements: 18}, step: 500,
			run: func(w *counted, n int) {
				w.schedules(n)
				w.insert(tasks.NewPeriodic(tasks.ScheduleTick, 0))
				w.count(func() { w.work(tasks.ScheduleTick) })
				w.wantRows(n, `select count(*)::text from test_schedule_firings where organization_id = $1`)
			}},
		{name: "fire schedules for the last time", numbers: []int{10, 500}, of: asks{statements: 5}, each: asks{statements: 16}, step: 500,
			run: func(w *counted, n int) {
				w.schedules(n)
				w.exec(`update test_schedules set running_user_uuid = gen_random_uuid(), failures = 4 where organization_id = $1`,
					w.boot.Organization.ID)
				w.insert(tasks.NewPeriodic(tasks.ScheduleTick, 0))
				w.count(func() { w.work(tasks.ScheduleTick) })
				w.wantRows(n, `select count(*)::text from audit_events where organization_id = $1 and action = 'test_schedule.errored'`)
			}},
	}
}

func taskUseCases() []useCase {
	return []useCase{
		{name: "retry dead tasks", numbers: []int{2, 100}, of: asks{statements: 6}, run: func(w *counted, n int) {
			w.exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, finished_at)
				select gen_random_uuid(), 'crash:purge', 'bulk', '{}', 'dead', 1, $1, now() from generate_series(1, $2::int)`,
				w.boot.Organization.ID, n)
			w.count(func() { w.must(request{method: post, path: v3 + "/tasks/retry", as: "operator"}) })
		}},
		{name: "cancel open tasks", numbers: []int{2, 100}, of: asks{statements: 7}, run: func(w *counted, n int) {
			w.exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, run_at)
				select gen_random_uuid(), 'crash:purge', 'bulk', '{}', 'queued', 1, $1, now() + interval '1 hour' from generate_series(1, $2::int)`,
				w.boot.Organization.ID, n)
			w.count(func() { w.must(request{method: post, path: v3 + "/tasks/cancel", as: "operator"}) })
		}},
		{name: "run waiting tasks now", numbers: []int{2, 100}, of: asks{statements: 7}, run: func(w *counted, n int) {
			w.exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id, run_at)
				select gen_random_uuid(), 'crash:purge', 'bulk', '{}', 'queued', 1, $1, now() + interval '1 hour' from generate_series(1, $2::int)`,
				w.boot.Organization.ID, n)
			w.count(func() { w.must(request{method: post, path: v3 + "/tasks/run", as: "operator"}) })
		}},
		// The count, the tasks themselves and, in the first round of a process, the epoch.
		{name: "hand tasks over to Redis", numbers: []int{10, 200}, of: asks{statements: 4, commands: 3}, each: asks{commands: 1},
			run: func(w *counted, n int) {
				w.exec(`insert into tasks (id, kind, queue, payload, state, max_attempts, organization_id)
					select gen_random_uuid(), 'crash:purge', 'bulk', '{}', 'queued', 1, $1 from generate_series(1, $2::int)`, w.boot.Organization.ID, n)
				relay := dispatch.NewRelay(w.services.Redis, ledger.New(w.db), w.services.Log)
				ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
				defer cancel()
				w.count(func() { relay.Run(ctx, cancel) })
				require.ErrorIs(w.t, ctx.Err(), context.Canceled, "one round")
			}},
	}
}
