package authoring

import (
	"net/http"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
)

// maxImport lets a Selenium IDE project of some thousand commands through.
const maxImport = 4 << 20

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const tests, cases, suites = respond.InterfaceAuthoring, basePath + "/testcases", basePath + "/testsuites"
	const schedules = basePath + "/test-schedules"
	return []route.Route{
		// Cases.
		{Method: http.MethodGet, Path: cases, Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Cases)},
		{Method: http.MethodGet, Path: cases + "/:id", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Case)},
		{Method: http.MethodDelete, Path: cases + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.DeleteCase)},
		{Method: http.MethodPost, Path: cases + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.RunCase)},
		{Method: http.MethodPost, Path: cases + "/:id/run/:revisionId", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.RunRevision)},
		{Method: http.MethodPost, Path: cases + "/:id/rename", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.RenameCase)},
		{Method: http.MethodPost, Path: cases, Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.CreateCase), Body: maxImport},
		{Method: http.MethodGet, Path: cases + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Runs)},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Run), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.CancelRun)},
		{Method: http.MethodGet, Path: cases + "/:id/code", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Code)},
		{Method: http.MethodGet, Path: cases + "/:id/code/targets", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.CodeTargets)},
		{Method: http.MethodGet, Path: basePath + "/files/:id", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.File)},

		// Suites.
		{Method: http.MethodGet, Path: suites, Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Suites)},
		{Method: http.MethodPost, Path: suites, Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.CreateSuite)},
		{Method: http.MethodGet, Path: suites + "/:id", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Suite)},
		{Method: http.MethodPost, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.UpdateSuite)},
		{Method: http.MethodDelete, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.DeleteSuite)},
		{Method: http.MethodPost, Path: suites + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.RunSuite)},
		{Method: http.MethodGet, Path: suites + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.SuiteRuns)},
		{Method: http.MethodGet, Path: suites + "/:id/runs/:runId", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.SuiteRun), Deadline: wait.Deadline},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.CancelSuiteRun)},

		// Schedules.
		{Method: http.MethodGet, Path: schedules, Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Schedules)},
		{Method: http.MethodPost, Path: schedules, Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.CreateSchedule)},
		{Method: http.MethodGet, Path: schedules + "/:id", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Schedule)},
		{Method: http.MethodPost, Path: schedules + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.UpdateSchedule)},
		{Method: http.MethodDelete, Path: schedules + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.DeleteSchedule)},
		{Method: http.MethodPost, Path: schedules + "/:id/enable", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.EnableSchedule)},
		{Method: http.MethodPost, Path: schedules + "/:id/disable", Interface: tests, Action: auth.ChangeTests, Handler: route.Gin(h.DisableSchedule)},
		{Method: http.MethodPost, Path: schedules + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: route.Gin(h.RunSchedule)},
		{Method: http.MethodGet, Path: schedules + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.ScheduleRuns)},

		// Variables and tunnels.
		{Method: http.MethodGet, Path: basePath + "/variables", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Variables)},
		{Method: http.MethodPost, Path: basePath + "/variables", Interface: tests, Action: auth.ChangeVariables, Handler: route.Gin(h.CreateVariable)},
		{Method: http.MethodGet, Path: basePath + "/variables/:id", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Variable)},
		{Method: http.MethodPatch, Path: basePath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables, Handler: route.Gin(h.UpdateVariable)},
		{Method: http.MethodDelete, Path: basePath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables, Handler: route.Gin(h.DeleteVariable)},
		{Method: http.MethodGet, Path: basePath + "/tunnels", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Tunnels)},
		{Method: http.MethodPost, Path: basePath + "/tunnels", Interface: tests, Action: auth.ManageTunnels, Handler: route.Gin(h.CreateTunnel)},
		{Method: http.MethodGet, Path: basePath + "/tunnels/:name", Interface: tests, Action: auth.ReadTests, Handler: route.Gin(h.Tunnel)},
		{Method: http.MethodDelete, Path: basePath + "/tunnels/:name", Interface: tests, Action: auth.ManageTunnels, Handler: route.Gin(h.DeleteTunnel)},
	}
}
