package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/task"
)

// Route is a line of the list. Exactly one of Action and Public is set.
type Route struct {
	Method    string
	Path      string // gin's pattern
	Interface respond.Interface
	Action    auth.Action
	// Public is the reason why the api asks for no credentials.
	Public  string
	Handler gin.HandlerFunc
	// Deadline is when the request's context ends; 0: the configured one.
	Deadline time.Duration
	// Body is the most bytes of a body; 0: the configured bound, -1: the
	// handler keeps its own.
	Body int64
	// Quiet routes are hot: a success is logged at debug level.
	Quiet bool
}

const ownBound = -1

// authoringPath begins the authoring interface's paths; /ai-authoring/v1 is
// another spelling of it.
const authoringPath = "/v1/ai-authoring"

// importBody lets a Selenium IDE project of some thousand commands through.
const importBody = 4 << 20

const (
	// waitDeadline covers ?wait= at its longest and the reads around it.
	waitDeadline = task.MaxWait + 15*time.Second
	// streamDeadline lets 512 MiB through at 1 MiB/s.
	streamDeadline = 10 * time.Minute
	// uploadDeadline lets 4 GiB through at 0.6 MiB/s, in and out.
	uploadDeadline = 2 * time.Hour
)

const (
	publicToken = "the crash token in the address is checked by the handler"
	publicSign  = "the link is signed"
	publicForm  = "the key may come in the form, also after the file; the handler authenticates"
	publicPage  = "testers have no key; the handler asks for a sign-in where a page is closed"
	publicProbe = "probes have no credentials; the answer is a word"
)

// Routes is the whole surface of the api, in the order of the documents. The
// router serves each path with and without a trailing slash, and /api/v3 also as
// /api/3.
func (cfg *Config) Routes() []Route {
	const v3, crash = respond.InterfaceV3, respond.InterfaceCrash
	metrics := Route{Method: http.MethodGet, Path: ops.MetricsPath, Handler: cfg.Ops.Metrics,
		Public: "opened by setting, for scrapers without credentials; counts only, no name or content of an organization"}
	if cfg.ProtectMetrics {
		metrics.Public, metrics.Action = "", auth.ReadMetrics
	}
	const v1 = respond.InterfaceLegacy // version 2 as well
	t, r, in, a := cfg.Tasks, cfg.Crashes, cfg.Intake, cfg.Accounts
	p, b, l, u, i := cfg.Projects, cfg.Builds, cfg.Legacy, cfg.Uploads, cfg.Pages
	const tests, cases, suites = respond.InterfaceAuthoring, authoringPath + "/testcases", authoringPath + "/testsuites"
	const schedules = authoringPath + "/test-schedules"
	tc, ts, sc, va, tu := cfg.Cases, cfg.Suites, cfg.Schedules, cfg.Variables, cfg.Tunnels
	return []Route{
		{Method: http.MethodGet, Path: "/openapi.json", Handler: description, Public: "the description of the interfaces is no secret"},

		// Tasks.
		{Method: http.MethodGet, Path: "/api/v3/tasks", Interface: v3, Action: auth.ReadTasks, Handler: t.List},
		{Method: http.MethodGet, Path: "/api/v3/tasks/:id", Interface: v3, Action: auth.ReadTasks, Handler: t.Get, Deadline: waitDeadline},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/retry", Interface: v3, Action: auth.ChangeTasks, Handler: t.Retry},
		{Method: http.MethodPost, Path: "/api/v3/tasks/:id/cancel", Interface: v3, Action: auth.ChangeTasks, Handler: t.Cancel},

		// Crashes, read.
		{Method: http.MethodGet, Path: "/api/v3/crash-groups", Interface: v3, Action: auth.ReadCrashes, Handler: r.Groups},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id", Interface: v3, Action: auth.ReadCrashes, Handler: r.Group},
		{Method: http.MethodPatch, Path: "/api/v3/crash-groups/:id", Interface: v3, Action: auth.ChangeCrashes, Handler: r.UpdateGroup},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/crashes", Interface: v3, Action: auth.ReadCrashes, Handler: r.GroupCrashes},
		{Method: http.MethodGet, Path: "/api/v3/crashes", Interface: v3, Action: auth.ReadCrashes, Handler: r.List},
		{Method: http.MethodDelete, Path: "/api/v3/crashes", Interface: v3, Action: auth.PurgeCrashes, Handler: r.Purge},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id", Interface: v3, Action: auth.ReadCrashes, Handler: r.Crash},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/raw", Interface: v3, Action: auth.ReadCrashes, Handler: r.Raw},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments", Interface: v3, Action: auth.ReadCrashes, Handler: r.Attachments},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments/:attachment", Interface: v3, Action: auth.ReadCrashes, Handler: r.Attachment, Deadline: streamDeadline},

		// Crashes, submitted.
		{Method: http.MethodPost, Path: "/post", Interface: crash, Public: publicToken, Handler: in.Submit, Body: ownBound, Deadline: streamDeadline, Quiet: true},
		{Method: http.MethodOptions, Path: "/post", Interface: crash, Public: publicToken, Handler: in.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: "/api/post", Interface: crash, Public: publicToken, Handler: in.Submit, Body: ownBound, Deadline: streamDeadline, Quiet: true},
		{Method: http.MethodOptions, Path: "/api/post", Interface: crash, Public: publicToken, Handler: in.Preflight, Quiet: true},
		{Method: http.MethodPost, Path: crashPath, Interface: crash, Public: publicToken, Handler: in.SubmitPath, Body: ownBound, Deadline: streamDeadline, Quiet: true},
		{Method: http.MethodOptions, Path: crashPath, Interface: crash, Public: publicToken, Handler: in.Preflight, Quiet: true},

		// Version 3: authentication and what belongs to it.
		{Method: http.MethodPost, Path: "/api/v3/auth/token", Interface: v3, Action: auth.ExchangeToken, Handler: a.Token},
		{Method: http.MethodGet, Path: "/api/v3/me/keys", Interface: v3, Action: auth.ManageOwnKeys, Handler: a.Keys},
		{Method: http.MethodPost, Path: "/api/v3/me/keys", Interface: v3, Action: auth.ManageOwnKeys, Handler: a.CreateKey},
		{Method: http.MethodDelete, Path: "/api/v3/me/keys/:id", Interface: v3, Action: auth.ManageOwnKeys, Handler: a.DeleteKey},
		{Method: http.MethodGet, Path: "/api/v3/service-accounts", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.ServiceAccounts},
		{Method: http.MethodPost, Path: "/api/v3/service-accounts", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.CreateServiceAccount},
		{Method: http.MethodDelete, Path: "/api/v3/service-accounts/:id", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.DeleteServiceAccount},
		{Method: http.MethodGet, Path: "/api/v3/service-accounts/:id/keys", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.ServiceKeys},
		{Method: http.MethodPost, Path: "/api/v3/service-accounts/:id/keys", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.CreateServiceKey},
		{Method: http.MethodDelete, Path: "/api/v3/service-accounts/:id/keys/:key", Interface: v3, Action: auth.ManageServiceAccounts, Handler: a.DeleteServiceKey},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.CrashProjects},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.CreateCrashProject},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.CrashProject},
		{Method: http.MethodPut, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.UpdateCrashProject},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.DeleteCrashProject},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.CrashTokens},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.CreateCrashToken},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id/tokens/:token", Interface: v3, Action: auth.ManageCrashProjects, Handler: a.DeleteCrashToken},
		{Method: http.MethodGet, Path: "/api/v3/settings/organization", Interface: v3, Action: auth.ManageSettings, Handler: a.Settings},
		{Method: http.MethodPut, Path: "/api/v3/settings/organization", Interface: v3, Action: auth.ManageSettings, Handler: a.UpdateSettings},
		{Method: http.MethodGet, Path: "/api/v3/settings/storage", Interface: v3, Action: auth.ManageSettings, Handler: a.Storage},
		{Method: http.MethodPut, Path: "/api/v3/settings/storage", Interface: v3, Action: auth.ManageSettings, Handler: a.UpdateStorage},
		{Method: http.MethodDelete, Path: "/api/v3/settings/storage", Interface: v3, Action: auth.ManageSettings, Handler: a.DeleteStorage},

		// Version 3: apps and builds.
		{Method: http.MethodGet, Path: "/api/v3/projects", Interface: v3, Action: auth.ReadProjects, Handler: p.List},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id", Interface: v3, Action: auth.ReadProjects, Handler: p.Get},
		{Method: http.MethodPost, Path: "/api/v3/projects", Interface: v3, Action: auth.ChangeProjects, Handler: p.Create},
		{Method: http.MethodPut, Path: "/api/v3/projects/:id", Interface: v3, Action: auth.ChangeProjects, Handler: p.Update},
		{Method: http.MethodDelete, Path: "/api/v3/projects/:id", Interface: v3, Action: auth.DeleteProjects, Handler: p.Delete},
		{Method: http.MethodPost, Path: "/api/v3/projects/:id/copy", Interface: v3, Action: auth.ChangeProjects, Handler: p.Copy},
		{Method: http.MethodGet, Path: "/api/v3/projects/:id/builds", Interface: v3, Action: auth.ReadBuilds, Handler: p.Builds},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id", Interface: v3, Action: auth.ReadBuilds, Handler: b.Get},
		{Method: http.MethodPost, Path: "/api/v3/builds/upload", Interface: v3, Public: publicForm, Handler: u.V3, Body: ownBound, Deadline: uploadDeadline},
		{Method: http.MethodPut, Path: "/api/v3/builds/:id", Interface: v3, Action: auth.ChangeBuilds, Handler: b.Update},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/download", Interface: v3, Action: auth.ReadBuilds, Handler: b.Download},
		{Method: http.MethodDelete, Path: "/api/v3/builds/:id", Interface: v3, Action: auth.DeleteBuilds, Handler: b.Delete},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/copy", Interface: v3, Action: auth.ChangeBuilds, Handler: b.Copy},
		{Method: http.MethodPost, Path: "/api/v3/builds/:id/notify-testers", Interface: v3, Action: auth.NotifyTesters, Handler: b.Notify},
		{Method: http.MethodGet, Path: "/api/v3/builds/:id/symbols/download", Interface: v3, Action: auth.ReadBuilds, Handler: b.Symbols},

		// Versions 2 and 1.
		{Method: http.MethodGet, Path: "/api/2/projects", Interface: v1, Action: auth.ReadProjects, Handler: l.Projects2},
		{Method: http.MethodGet, Path: "/api/2/projects/:id", Interface: v1, Action: auth.ReadProjects, Handler: l.Project2},
		{Method: http.MethodGet, Path: "/api/2/projects/:id/builds", Interface: v1, Action: auth.ReadBuilds, Handler: l.Builds2},
		{Method: http.MethodGet, Path: "/api/1/projects", Interface: v1, Action: auth.ReadProjects, Handler: l.Projects1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds", Interface: v1, Action: auth.ReadBuilds, Handler: l.Builds1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ReadBuilds, Handler: l.Build1},
		{Method: http.MethodDelete, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ChangeBuilds, Handler: l.Delete1},
		{Method: http.MethodPatch, Path: "/api/1/projects/:id/builds", Interface: v1, Action: auth.ChangeBuilds, Handler: l.Update1}, // answers that the build is missing
		{Method: http.MethodPatch, Path: "/api/1/projects/:id/builds/:build", Interface: v1, Action: auth.ChangeBuilds, Handler: l.Update1},
		{Method: http.MethodPost, Path: "/api/1/projects/:id/builds/:build/copy", Interface: v1, Action: auth.ChangeBuilds, Handler: l.Copy1},
		{Method: http.MethodGet, Path: "/api/1/projects/:id/builds/:build/download", Interface: v1, Action: auth.ReadBuilds, Handler: l.Download1, Deadline: uploadDeadline},

		// Upload.
		{Method: http.MethodPost, Path: "/api/upload", Interface: v1, Public: publicForm, Handler: u.Upload, Body: ownBound, Deadline: uploadDeadline},
		{Method: http.MethodPost, Path: "/upload", Interface: v1, Public: publicForm, Handler: u.Upload, Body: ownBound, Deadline: uploadDeadline},
		{Method: http.MethodPost, Path: "/api/upload/dsym", Interface: v1, Public: publicForm, Handler: u.Symbols, Body: ownBound, Deadline: uploadDeadline},
		{Method: http.MethodPost, Path: "/upload/dsym", Interface: v1, Public: publicForm, Handler: u.Symbols, Body: ownBound, Deadline: uploadDeadline},

		// Tests: cases.
		{Method: http.MethodGet, Path: cases, Interface: tests, Action: auth.ReadTests, Handler: tc.List},
		{Method: http.MethodGet, Path: cases + "/:id", Interface: tests, Action: auth.ReadTests, Handler: tc.Get},
		{Method: http.MethodDelete, Path: cases + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: tc.Delete},
		{Method: http.MethodPost, Path: cases + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: tc.Start},
		{Method: http.MethodPost, Path: cases + "/:id/run/:revisionId", Interface: tests, Action: auth.RunTests, Handler: tc.StartRevision},
		{Method: http.MethodPost, Path: cases + "/:id/rename", Interface: tests, Action: auth.ChangeTests, Handler: tc.Rename},
		{Method: http.MethodPost, Path: cases, Interface: tests, Action: auth.ChangeTests, Handler: tc.Create, Body: importBody},
		{Method: http.MethodGet, Path: cases + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: tc.Runs},
		{Method: http.MethodGet, Path: cases + "/:id/runs/:runId", Interface: tests, Action: auth.ReadTests, Handler: tc.Run, Deadline: waitDeadline},
		{Method: http.MethodPost, Path: cases + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests, Handler: tc.CancelRun},
		{Method: http.MethodGet, Path: cases + "/:id/code", Interface: tests, Action: auth.ReadTests, Handler: tc.Code},
		{Method: http.MethodGet, Path: cases + "/:id/code/targets", Interface: tests, Action: auth.ReadTests, Handler: tc.CodeTargets},
		{Method: http.MethodGet, Path: authoringPath + "/files/:id", Interface: tests, Action: auth.ReadTests, Handler: tc.File},

		// Tests: suites.
		{Method: http.MethodGet, Path: suites, Interface: tests, Action: auth.ReadTests, Handler: ts.List},
		{Method: http.MethodPost, Path: suites, Interface: tests, Action: auth.ChangeTests, Handler: ts.Create},
		{Method: http.MethodGet, Path: suites + "/:id", Interface: tests, Action: auth.ReadTests, Handler: ts.Get},
		{Method: http.MethodPost, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: ts.Update},
		{Method: http.MethodDelete, Path: suites + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: ts.Delete},
		{Method: http.MethodPost, Path: suites + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: ts.Start},
		{Method: http.MethodGet, Path: suites + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: ts.Runs},
		{Method: http.MethodGet, Path: suites + "/:id/runs/:runId", Interface: tests, Action: auth.ReadTests, Handler: ts.Run, Deadline: waitDeadline},
		{Method: http.MethodPost, Path: suites + "/:id/runs/:runId/cancel", Interface: tests, Action: auth.RunTests, Handler: ts.CancelRun},

		// Tests: schedules.
		{Method: http.MethodGet, Path: schedules, Interface: tests, Action: auth.ReadTests, Handler: sc.List},
		{Method: http.MethodPost, Path: schedules, Interface: tests, Action: auth.ChangeTests, Handler: sc.Create},
		{Method: http.MethodGet, Path: schedules + "/:id", Interface: tests, Action: auth.ReadTests, Handler: sc.Get},
		{Method: http.MethodPost, Path: schedules + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: sc.Update},
		{Method: http.MethodDelete, Path: schedules + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: sc.Delete},
		{Method: http.MethodPost, Path: schedules + "/:id/enable", Interface: tests, Action: auth.ChangeTests, Handler: sc.Enable},
		{Method: http.MethodPost, Path: schedules + "/:id/disable", Interface: tests, Action: auth.ChangeTests, Handler: sc.Disable},
		{Method: http.MethodPost, Path: schedules + "/:id/run", Interface: tests, Action: auth.RunTests, Handler: sc.Start},
		{Method: http.MethodGet, Path: schedules + "/:id/runs", Interface: tests, Action: auth.ReadTests, Handler: sc.Fires},

		// Tests: variables and tunnels.
		{Method: http.MethodGet, Path: authoringPath + "/variables", Interface: tests, Action: auth.ReadTests, Handler: va.List},
		{Method: http.MethodPost, Path: authoringPath + "/variables", Interface: tests, Action: auth.ChangeVariables, Handler: va.Create},
		{Method: http.MethodGet, Path: authoringPath + "/variables/:id", Interface: tests, Action: auth.ReadTests, Handler: va.Get},
		{Method: http.MethodPatch, Path: authoringPath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables, Handler: va.Update},
		{Method: http.MethodDelete, Path: authoringPath + "/variables/:id", Interface: tests, Action: auth.ChangeVariables, Handler: va.Delete},
		{Method: http.MethodGet, Path: authoringPath + "/tunnels", Interface: tests, Action: auth.ReadTests, Handler: tu.List},
		{Method: http.MethodPost, Path: authoringPath + "/tunnels", Interface: tests, Action: auth.ManageTunnels, Handler: tu.Create},
		{Method: http.MethodGet, Path: authoringPath + "/tunnels/:name", Interface: tests, Action: auth.ReadTests, Handler: tu.Get},
		{Method: http.MethodDelete, Path: authoringPath + "/tunnels/:name", Interface: tests, Action: auth.ManageTunnels, Handler: tu.Delete},

		// Install pages.
		{Method: http.MethodGet, Path: "/install/:name", Public: publicPage, Handler: i.Landing},
		{Method: http.MethodGet, Path: "/install/:name/icon", Public: publicPage, Handler: i.Icon},
		{Method: http.MethodGet, Path: "/install/:name/qr", Public: publicPage, Handler: i.QR},
		{Method: http.MethodGet, Path: "/install/:name/download", Public: publicPage, Handler: i.Download, Deadline: uploadDeadline},
		{Method: http.MethodGet, Path: "/install/:name/manifest.plist", Public: publicPage, Handler: i.Manifest},
		{Method: http.MethodPost, Path: "/install/:name/sign-in", Public: publicPage, Handler: i.SignIn},
		{Method: http.MethodGet, Path: "/session/:link", Public: publicPage, Handler: i.Session},
		{Method: http.MethodPost, Path: "/session/:link", Public: publicPage, Handler: i.Confirm},
		{Method: http.MethodPost, Path: "/sign-out", Public: publicPage, Handler: i.SignOut},

		// Objects of the folder store.
		{Method: http.MethodGet, Path: "/objects/*key", Public: publicSign, Handler: cfg.objects(), Deadline: uploadDeadline},
		{Method: http.MethodHead, Path: "/objects/*key", Public: publicSign, Handler: cfg.objects()},

		// Operation.
		{Method: http.MethodGet, Path: ops.HealthPath, Public: publicProbe, Handler: cfg.Ops.Health, Quiet: true},
		{Method: http.MethodGet, Path: ops.ReadyPath, Public: publicProbe, Handler: cfg.Ops.Ready, Quiet: true},
		metrics,
		{Method: http.MethodGet, Path: ops.MailPath, Action: auth.ReadMail, Handler: cfg.Ops.Mail},
		{Method: http.MethodGet, Path: ops.ConsolePath, Action: auth.ReadQueues, Handler: cfg.Ops.Console},
		{Method: http.MethodGet, Path: ops.ConsolePath + "/*any", Action: auth.ReadQueues, Handler: cfg.Ops.Console},
	}
}
