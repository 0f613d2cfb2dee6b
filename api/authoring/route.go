package authoring

import (
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/variable"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
)

// maxCase lets a Selenium IDE project of some thousand commands through, and data rows: 4 MiB of
// CSV, with its quotes and ends of lines escaped.
const maxCase = 8 << 20

// byPage are the parameters of a list: its own and those of the page.
func byPage(names ...string) []string { return append(names, "skip", "limit") }

// Routes are the routes of the interface. Each names the resource whose code the error of a
// path gets that leads to nothing.
func (h *Handlers) Routes() []route.Route {
	const tests, cases, suites = respond.InterfaceAuthoring, answer.BasePath + "/testcases", answer.BasePath + "/testsuites"
	const schedules = answer.BasePath + "/test-schedules"
	ofRuns, ofRun := byPage("startDate", "endDate", "userId", "teamId", "healed", "buildId", "environment"), []string{"wait", "format"}
	return []route.Route{
		// Cases.
		{Method: http.MethodGet, Path: cases, Interface: tests, Query: byPage("search", "startDate", "endDate", "userId",
			"teamId", "testSuiteId[]", "runBy", "lastStatus", "tag[]", "content", "quarantined", "sort"), Action: auth.ReadTests,
			Handler: problem.TestCase.Of(h.cases.List)},
		{Method: http.MethodGet, Path: cases + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: problem.TestCase.Of(h.cases.Get)},
		{Method: http.MethodDelete, Path: cases + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.DeleteTests, Handler: problem.TestCase.Of(h.cases.Delete)},
		{Method: http.MethodPost, Path: cases + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: problem.TestCase.Of(h.runs.Start)},
		{Method: http.MethodPost, Path: cases + "/:id/run/:revisionId", Interface: tests, Action: auth.RunTests,
			Handler: problem.TestCase.Of(h.runs.StartOf)},
		{Method: http.MethodPost, Path: cases + "/:id/rename", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.cases.Rename)},
		{Method: http.MethodPost, Path: cases + "/:id", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.cases.Update), Body: maxCase},
		{Method: http.MethodPost, Path: cases + "/:id/duplicate", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.cases.Duplicate)},
		{Method: http.MethodPost, Path: cases + "/:id/revisions/:revisionId/restore", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.base.Bare(h.cases.Restore))},
		{Method: http.MethodPost, Path: cases + "/:id/quarantine", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.cases.Quarantine)},
		{Method: http.MethodDelete, Path: cases + "/:id/quarantine", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.ChangeTests, Handler: problem.TestCase.Of(h.cases.EndQuarantine)},
		{Method: http.MethodGet, Path: cases + "/:id/healings", Interface: tests, Query: byPage("state", "kind"),
			Action: auth.ReadTests, Handler: problem.TestCase.Of(h.healings.List)},
		{Method: http.MethodGet, Path: cases + "/:id/healings/:healingId", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: problem.CaseHealing.Of(h.healings.Get)},
		{Method: http.MethodPost, Path: cases + "/:id/healings/:healingId", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.CaseHealing.Of(h.healings.Decide)},
		{Method: http.MethodGet, Path: cases + "/generate", Interface: tests, Query: byPage("status"), Action: auth.ReadTests,
			Handler: problem.GenerationTask.Of(h.generations.List)},
		{Method: http.MethodPost, Path: cases + "/generate", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.generations.Start)},
		{Method: http.MethodGet, Path: cases + "/generate/:taskId", Interface: tests, Query: []string{"wait", "detail"},
			Action: auth.ReadTests, Handler: problem.GenerationTask.Of(h.generations.Get), Deadline: wait.Deadline},
		{Method: http.MethodDelete, Path: cases + "/generate/:taskId", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeTests, Handler: problem.GenerationTask.Of(h.generations.Cancel)},
		{Method: http.MethodPost, Path: cases + "/:id/generate", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.generations.Refine)},
		{Method: http.MethodGet, Path: cases + "/tags", Interface: tests, Query: byPage("search"), Action: auth.ReadTests,
			Handler: problem.TestCase.Of(h.cases.Tags)},
		{Method: http.MethodGet, Path: cases + "/history", Interface: tests, Query: []string{"ids[]", "limit", "endDate"},
			Action: auth.ReadTests, Handler: problem.TestCase.Of(h.runs.Histories)},
		{Method: http.MethodPost, Path: cases, Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestCase.Of(h.cases.Create), Body: maxCase},
		{Method: http.MethodGet, Path: cases + "/:id/runs", Interface: tests, Query: ofRuns, Action: auth.ReadTests,
			Handler: problem.TestCase.Of(h.runs.List)},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId", Interface: tests, Query: append(ofRun[:2:2], "jobsSkip",
			"jobsLimit", "jobsStatus"), Action: auth.ReadTests, Handler: problem.CaseRun.Of(h.runs.Get), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests,
			Handler: problem.CaseRun.Of(h.base.Bare(h.runs.Cancel))},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId/trace", Interface: tests,
			Query: []string{"job", "attempt", "content"}, Action: auth.ReadTests, Handler: problem.CaseRun.Of(h.runs.Trace)},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/rerun", Interface: tests, Action: auth.RunTests,
			Handler: problem.CaseRun.Of(h.runs.Rerun)},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId/comparison", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: problem.CaseRun.Of(h.runs.Comparison)},
		{Method: http.MethodGet, Path: answer.BasePath + "/runs", Interface: tests, Query: byPage("status", "startDate",
			"endDate", "buildId", "environment", "browser", "tag[]"), Action: auth.ReadTests, Handler: problem.CaseRun.Of(h.runs.All)},
		{Method: http.MethodGet, Path: cases + "/:id/data", Interface: tests, Query: byPage("revisionId", "format"),
			Action: auth.ReadTests, Handler: problem.TestCase.Of(h.cases.Data)},
		{Method: http.MethodGet, Path: cases + "/:id/code", Interface: tests, Query: []string{"target", "revisionId", "download"},
			Action: auth.ReadTests, Handler: problem.TestCase.Of(h.cases.Code)},
		{Method: http.MethodGet, Path: cases + "/:id/code/targets", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: problem.TestCase.Of(h.cases.CodeTargets)},
		{Method: http.MethodGet, Path: answer.BasePath + "/files/:id", Interface: tests, Query: []string{"content"},
			Action: auth.ReadTests, Handler: problem.RunFile.Of(h.runs.File)},

		// Suites.
		{Method: http.MethodGet, Path: suites, Interface: tests, Query: byPage("ids[]", "search", "tag[]", "startDate",
			"endDate", "userId", "teamId"), Action: auth.ReadTests, Handler: problem.TestSuite.Of(h.suites.List)},
		{Method: http.MethodPost, Path: suites, Interface: tests, Action: auth.ChangeTests, Handler: problem.TestSuite.Of(h.suites.Create)},
		{Method: http.MethodGet, Path: suites + "/history", Interface: tests, Query: []string{"ids[]", "limit"},
			Action: auth.ReadTests, Handler: problem.TestSuite.Of(h.suiteRuns.Histories)},
		{Method: http.MethodGet, Path: suites + "/:id/matrix", Interface: tests, Query: byPage("runs"), Action: auth.ReadTests,
			Handler: problem.TestSuite.Of(h.suiteRuns.Matrix)},
		{Method: http.MethodGet, Path: suites + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: problem.TestSuite.Of(h.suites.Get)},
		{Method: http.MethodPost, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests,
			Handler: problem.TestSuite.Of(h.suites.Update)},
		{Method: http.MethodDelete, Path: suites + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.DeleteTests,
			Handler: problem.TestSuite.Of(h.suites.Delete)},
		{Method: http.MethodPost, Path: suites + "/:id/run", Interface: tests, Action: auth.RunTests,
			Handler: problem.TestSuite.Of(h.suiteRuns.Start)},
		{Method: http.MethodGet, Path: suites + "/:id/runs", Interface: tests, Query: ofRuns, Action: auth.ReadTests,
			Handler: problem.TestSuite.Of(h.suiteRuns.List)},
		{Method: http.MethodGet, Path: suites + "/:id/runs/:runId", Interface: tests, Query: ofRun, Action: auth.ReadTests,
			Handler: problem.SuiteRun.Of(h.suiteRuns.Get), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests,
			Handler: problem.SuiteRun.Of(h.base.Bare(h.suiteRuns.Cancel))},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/rerun", Interface: tests, Action: auth.RunTests,
			Handler: problem.SuiteRun.Of(h.suiteRuns.Rerun)},

		// Schedules.
		{Method: http.MethodGet, Path: schedules, Interface: tests, Query: byPage("ids[]", "search", "startDate",
			"endDate", "userId", "teamId", "testSuiteIds[]"), Action: auth.ReadTests, Handler: problem.TestSchedule.Of(h.schedules.List)},
		{Method: http.MethodPost, Path: schedules, Interface: tests, Action: auth.ManageSchedules,
			Handler: problem.TestSchedule.Of(h.schedules.Create)},
		{Method: http.MethodGet, Path: schedules + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests,
			Handler: problem.TestSchedule.Of(h.schedules.Get)},
		{Method: http.MethodPost, Path: schedules + "/:id", Interface: tests, Action: auth.ManageSchedules,
			Handler: problem.TestSchedule.Of(h.schedules.Update)},
		{Method: http.MethodDelete, Path: schedules + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.ManageSchedules, Handler: problem.TestSchedule.Of(h.schedules.Delete)},
		{Method: http.MethodPost, Path: schedules + "/:id/enable", Interface: tests, Action: auth.ManageSchedules,
			Handler: problem.TestSchedule.Of(h.base.Bare(h.schedules.Enable))},
		{Method: http.MethodPost, Path: schedules + "/:id/disable", Interface: tests, Action: auth.ManageSchedules,
			Handler: problem.TestSchedule.Of(h.base.Bare(h.schedules.Disable))},
		{Method: http.MethodPost, Path: schedules + "/:id/run", Interface: tests, Action: auth.RunTests,
			Handler: problem.TestSchedule.Of(h.base.Bare(h.schedules.Start))},
		{Method: http.MethodGet, Path: schedules + "/:id/runs", Interface: tests, Query: byPage("startDate", "endDate"),
			Action: auth.ReadTests, Handler: problem.TestSchedule.Of(h.schedules.Firings)},

		// Variables and tunnels.
		{Method: http.MethodGet, Path: answer.BasePath + "/variables", Interface: tests, Query: byPage("scope", "teamId",
			"testSuiteId", "testCaseId", "search"), Action: auth.ReadTests, Handler: variable.Of(h.variables.List)},
		{Method: http.MethodPost, Path: answer.BasePath + "/variables", Interface: tests, Action: auth.ChangeVariables,
			Handler: variable.Of(h.variables.Create)},
		{Method: http.MethodGet, Path: answer.BasePath + "/variables/:id", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: variable.Of(h.variables.Get)},
		{Method: http.MethodPatch, Path: answer.BasePath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables,
			Handler: variable.Of(h.variables.Update)},
		{Method: http.MethodDelete, Path: answer.BasePath + "/variables/:id", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeVariables, Handler: variable.Of(h.variables.Delete)},
		{Method: http.MethodGet, Path: answer.BasePath + "/tunnels", Interface: tests, Query: byPage("search"), Action: auth.ReadTests,
			Handler: problem.Tunnel.Of(h.tunnels.List)},
		{Method: http.MethodPost, Path: answer.BasePath + "/tunnels", Interface: tests, Action: auth.ManageTunnels,
			Handler: problem.Tunnel.Of(h.tunnels.Create)},
		{Method: http.MethodGet, Path: answer.BasePath + "/tunnels/:name", Interface: tests, Query: route.NoQuery(),
			Action: auth.ReadTests, Handler: problem.Tunnel.Of(h.tunnels.Get)},
		{Method: http.MethodDelete, Path: answer.BasePath + "/tunnels/:name", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ManageTunnels, Handler: problem.Tunnel.Of(h.tunnels.Delete)},
	}
}
