package authoring

import (
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
)

// maxCase lets a Selenium IDE project of some thousand commands through, and data rows: 4 MiB of
// CSV, with its quotes and ends of lines escaped.
const maxCase = 8 << 20

// byPage are the parameters of a list: its own and those of the page.
func byPage(names ...string) []string { return append(names, "skip", "limit") }

// Routes are the room's routes. Each names the resource whose code the error of a
// path gets that leads to nothing.
func (h *Handlers) Routes() []route.Route {
	const tests, cases, suites = respond.InterfaceAuthoring, basePath + "/testcases", basePath + "/testsuites"
	const schedules = basePath + "/test-schedules"
	ofRuns, ofRun := byPage("startDate", "endDate", "userId", "teamId", "healed", "buildId", "environment"), []string{"wait", "format"}
	return []route.Route{
		// Cases.
		{Method: http.MethodGet, Path: cases, Interface: tests, Query: byPage("search", "startDate", "endDate", "userId",
			"teamId", "testSuiteId[]", "runBy", "lastStatus", "tag[]", "content", "quarantined", "sort"), Action: auth.ReadTests,
			Handler: testCase.of(h.cases.list)},
		{Method: http.MethodGet, Path: cases + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: testCase.of(h.cases.get)},
		{Method: http.MethodDelete, Path: cases + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.DeleteTests, Handler: testCase.of(h.cases.delete)},
		{Method: http.MethodPost, Path: cases + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: testCase.of(h.runs.start)},
		{Method: http.MethodPost, Path: cases + "/:id/run/:revisionId", Interface: tests, Action: auth.RunTests,
			Handler: testCase.of(h.runs.startOf)},
		{Method: http.MethodPost, Path: cases + "/:id/rename", Interface: tests, Action: auth.ChangeTests, Handler: testCase.of(h.cases.rename)},
		{Method: http.MethodPost, Path: cases + "/:id", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(h.cases.update), Body: maxCase},
		{Method: http.MethodPost, Path: cases + "/:id/duplicate", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(h.cases.duplicate)},
		{Method: http.MethodPost, Path: cases + "/:id/revisions/:revisionId/restore", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(bare(h.cases.restore))},
		{Method: http.MethodPost, Path: cases + "/:id/quarantine", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(h.cases.quarantine)},
		{Method: http.MethodDelete, Path: cases + "/:id/quarantine", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.ChangeTests, Handler: testCase.of(h.cases.endQuarantine)},
		{Method: http.MethodGet, Path: cases + "/:id/healings", Interface: tests, Query: byPage("state", "kind"),
			Action: auth.ReadTests, Handler: testCase.of(h.healings.list)},
		{Method: http.MethodGet, Path: cases + "/:id/healings/:healingId", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: caseHealing.of(h.healings.get)},
		{Method: http.MethodPost, Path: cases + "/:id/healings/:healingId", Interface: tests, Action: auth.ChangeTests,
			Handler: caseHealing.of(h.healings.decide)},
		{Method: http.MethodGet, Path: cases + "/generate", Interface: tests, Query: byPage("status"), Action: auth.ReadTests,
			Handler: generationTask.of(h.generations.list)},
		{Method: http.MethodPost, Path: cases + "/generate", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(h.generations.start)},
		{Method: http.MethodGet, Path: cases + "/generate/:taskId", Interface: tests, Query: []string{"wait", "detail"},
			Action: auth.ReadTests, Handler: generationTask.of(h.generations.get), Deadline: wait.Deadline},
		{Method: http.MethodDelete, Path: cases + "/generate/:taskId", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeTests, Handler: generationTask.of(h.generations.cancel)},
		{Method: http.MethodPost, Path: cases + "/:id/generate", Interface: tests, Action: auth.ChangeTests,
			Handler: testCase.of(h.generations.refine)},
		{Method: http.MethodGet, Path: cases + "/tags", Interface: tests, Query: byPage("search"), Action: auth.ReadTests,
			Handler: testCase.of(h.cases.tags)},
		{Method: http.MethodGet, Path: cases + "/history", Interface: tests, Query: []string{"ids[]", "limit", "endDate"},
			Action: auth.ReadTests, Handler: testCase.of(h.runs.histories)},
		{Method: http.MethodPost, Path: cases, Interface: tests, Action: auth.ChangeTests, Handler: testCase.of(h.cases.create), Body: maxCase},
		{Method: http.MethodGet, Path: cases + "/:id/runs", Interface: tests, Query: ofRuns, Action: auth.ReadTests,
			Handler: testCase.of(h.runs.list)},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId", Interface: tests, Query: append(ofRun[:2:2], "jobsSkip",
			"jobsLimit", "jobsStatus"), Action: auth.ReadTests, Handler: caseRun.of(h.runs.get), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests,
			Handler: caseRun.of(bare(h.runs.cancel))},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId/trace", Interface: tests,
			Query: []string{"job", "attempt", "content"}, Action: auth.ReadTests, Handler: caseRun.of(h.runs.trace)},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/rerun", Interface: tests, Action: auth.RunTests,
			Handler: caseRun.of(h.runs.rerun)},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId/comparison", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: caseRun.of(h.runs.comparison)},
		{Method: http.MethodGet, Path: basePath + "/runs", Interface: tests, Query: byPage("status", "startDate",
			"endDate", "buildId", "environment", "browser", "tag[]"), Action: auth.ReadTests, Handler: caseRun.of(h.runs.all)},
		{Method: http.MethodGet, Path: cases + "/:id/data", Interface: tests, Query: byPage("revisionId", "format"),
			Action: auth.ReadTests, Handler: testCase.of(h.cases.data)},
		{Method: http.MethodGet, Path: cases + "/:id/code", Interface: tests, Query: []string{"target", "revisionId", "download"},
			Action: auth.ReadTests, Handler: testCase.of(h.cases.code)},
		{Method: http.MethodGet, Path: cases + "/:id/code/targets", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: testCase.of(h.cases.codeTargets)},
		{Method: http.MethodGet, Path: basePath + "/files/:id", Interface: tests, Query: []string{"content"},
			Action: auth.ReadTests, Handler: runFile.of(h.runs.file)},

		// Suites.
		{Method: http.MethodGet, Path: suites, Interface: tests, Query: byPage("ids[]", "search", "tag[]", "startDate",
			"endDate", "userId", "teamId"), Action: auth.ReadTests, Handler: testSuite.of(h.suites.list)},
		{Method: http.MethodPost, Path: suites, Interface: tests, Action: auth.ChangeTests, Handler: testSuite.of(h.suites.create)},
		{Method: http.MethodGet, Path: suites + "/history", Interface: tests, Query: []string{"ids[]", "limit"},
			Action: auth.ReadTests, Handler: testSuite.of(h.suiteRuns.histories)},
		{Method: http.MethodGet, Path: suites + "/:id/matrix", Interface: tests, Query: byPage("runs"), Action: auth.ReadTests,
			Handler: testSuite.of(h.suiteRuns.matrix)},
		{Method: http.MethodGet, Path: suites + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: testSuite.of(h.suites.get)},
		{Method: http.MethodPost, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: testSuite.of(h.suites.update)},
		{Method: http.MethodDelete, Path: suites + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.DeleteTests,
			Handler: testSuite.of(h.suites.delete)},
		{Method: http.MethodPost, Path: suites + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: testSuite.of(h.suiteRuns.start)},
		{Method: http.MethodGet, Path: suites + "/:id/runs", Interface: tests, Query: ofRuns, Action: auth.ReadTests,
			Handler: testSuite.of(h.suiteRuns.list)},
		{Method: http.MethodGet, Path: suites + "/:id/runs/:runId", Interface: tests, Query: ofRun, Action: auth.ReadTests,
			Handler: suiteRun.of(h.suiteRuns.get), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests,
			Handler: suiteRun.of(bare(h.suiteRuns.cancel))},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/rerun", Interface: tests, Action: auth.RunTests,
			Handler: suiteRun.of(h.suiteRuns.rerun)},

		// Schedules.
		{Method: http.MethodGet, Path: schedules, Interface: tests, Query: byPage("ids[]", "search", "startDate",
			"endDate", "userId", "teamId", "testSuiteIds[]"), Action: auth.ReadTests, Handler: testSchedule.of(h.schedules.list)},
		{Method: http.MethodPost, Path: schedules, Interface: tests, Action: auth.ManageSchedules, Handler: testSchedule.of(h.schedules.create)},
		{Method: http.MethodGet, Path: schedules + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: testSchedule.of(h.schedules.get)},
		{Method: http.MethodPost, Path: schedules + "/:id", Interface: tests, Action: auth.ManageSchedules,
			Handler: testSchedule.of(h.schedules.update)},
		{Method: http.MethodDelete, Path: schedules + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.ManageSchedules, Handler: testSchedule.of(h.schedules.delete)},
		{Method: http.MethodPost, Path: schedules + "/:id/enable", Interface: tests, Action: auth.ManageSchedules,
			Handler: testSchedule.of(bare(h.schedules.enable))},
		{Method: http.MethodPost, Path: schedules + "/:id/disable", Interface: tests, Action: auth.ManageSchedules,
			Handler: testSchedule.of(bare(h.schedules.disable))},
		{Method: http.MethodPost, Path: schedules + "/:id/run", Interface: tests, Action: auth.RunTests,
			Handler: testSchedule.of(bare(h.schedules.start))},
		{Method: http.MethodGet, Path: schedules + "/:id/runs", Interface: tests, Query: byPage("startDate", "endDate"),
			Action: auth.ReadTests, Handler: testSchedule.of(h.schedules.firings)},

		// Variables and tunnels.
		{Method: http.MethodGet, Path: basePath + "/variables", Interface: tests, Query: byPage("scope", "teamId",
			"testSuiteId", "testCaseId", "search"), Action: auth.ReadTests, Handler: ofVariables(h.variables.list)},
		{Method: http.MethodPost, Path: basePath + "/variables", Interface: tests, Action: auth.ChangeVariables,
			Handler: ofVariables(h.variables.create)},
		{Method: http.MethodGet, Path: basePath + "/variables/:id", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: ofVariables(h.variables.get)},
		{Method: http.MethodPatch, Path: basePath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables,
			Handler: ofVariables(h.variables.update)},
		{Method: http.MethodDelete, Path: basePath + "/variables/:id", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeVariables, Handler: ofVariables(h.variables.delete)},
		{Method: http.MethodGet, Path: basePath + "/tunnels", Interface: tests, Query: byPage("search"), Action: auth.ReadTests,
			Handler: tunnel.of(h.tunnels.list)},
		{Method: http.MethodPost, Path: basePath + "/tunnels", Interface: tests, Action: auth.ManageTunnels,
			Handler: tunnel.of(h.tunnels.create)},
		{Method: http.MethodGet, Path: basePath + "/tunnels/:name", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: tunnel.of(h.tunnels.get)},
		{Method: http.MethodDelete, Path: basePath + "/tunnels/:name", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ManageTunnels, Handler: tunnel.of(h.tunnels.delete)},
	}
}
