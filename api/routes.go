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

const (
	// waitDeadline covers ?wait= at its longest and the reads around it.
	waitDeadline = task.MaxWait + 15*time.Second
	// streamDeadline lets 512 MiB through at 1 MiB/s.
	streamDeadline = 10 * time.Minute
)

const (
	publicToken = "the crash token in the address is checked by the handler"
	publicSign  = "the link is signed"
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
	t, r, in := cfg.Tasks, cfg.Crashes, cfg.Intake
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

		// Objects of the folder store.
		{Method: http.MethodGet, Path: "/objects/*key", Public: publicSign, Handler: cfg.objects(), Deadline: streamDeadline},
		{Method: http.MethodHead, Path: "/objects/*key", Public: publicSign, Handler: cfg.objects()},

		// Operation.
		{Method: http.MethodGet, Path: ops.HealthPath, Public: publicProbe, Handler: cfg.Ops.Health, Quiet: true},
		{Method: http.MethodGet, Path: ops.ReadyPath, Public: publicProbe, Handler: cfg.Ops.Ready, Quiet: true},
		metrics,
		{Method: http.MethodGet, Path: ops.ConsolePath, Action: auth.ReadQueues, Handler: cfg.Ops.Console},
		{Method: http.MethodGet, Path: ops.ConsolePath + "/*any", Action: auth.ReadQueues, Handler: cfg.Ops.Console},
	}
}
