package api

import (
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/account"
	"github.com/slipway-qa/slipway/api/agent"
	"github.com/slipway-qa/slipway/api/audit"
	"github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/baseline"
	"github.com/slipway-qa/slipway/api/commitstatus"
	"github.com/slipway-qa/slipway/api/crash"
	"github.com/slipway-qa/slipway/api/device"
	"github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/api/environment"
	"github.com/slipway-qa/slipway/api/gate"
	"github.com/slipway-qa/slipway/api/group"
	"github.com/slipway-qa/slipway/api/history"
	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/mail"
	"github.com/slipway-qa/slipway/api/oidc"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/overview"
	"github.com/slipway-qa/slipway/api/reference"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/search"
	"github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/api/stepgroup"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/api/task"
	"github.com/slipway-qa/slipway/api/tester"
	"github.com/slipway-qa/slipway/api/upload"
	"github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/api/webhook"
	"github.com/slipway-qa/slipway/storage"
)

// Rooms are the handlers of the whole api. All but Objects are required.
type Rooms struct {
	Tasks    *task.Handlers
	Crashes  *crash.Handlers
	Symbols  *symbol.Handlers
	Intake   *intake.Receiver
	Accounts *account.Handlers
	OIDC     *oidc.Handlers
	Audits   *audit.Handlers
	Mail     *mail.Handlers
	Builds   *distribution.Handlers
	Groups   *group.Handlers
	Uploads  *upload.Handlers
	// Resumable are the uploads in parts, which Uploads takes the files of.
	Resumable *resumable.Handlers
	Testers   *tester.Handlers
	Tests     *authoring.Handlers
	// StepGroups are those of tests.
	StepGroups *stepgroup.Handlers
	Baselines  *baseline.Handlers
	Histories  *history.Handlers
	// Environments are what tests run with.
	Environments *environment.Handlers
	Pages        *install.Handlers
	Sessions     *session.Handlers
	Webhooks     *webhook.Handlers
	Statuses     *commitstatus.Handlers
	Devices      *device.Handlers
	Search       *search.Handlers
	Overview     *overview.Handlers
	Gates        *gate.Handlers
	Agents       *agent.Handlers
	Ops          *ops.Handlers
	// Objects serves the signed links of the folder store; nil when objects are
	// in S3, then the links lead there. After an error nothing is written.
	Objects func(http.ResponseWriter, *http.Request) error
}

const publicSign = "the link is signed"

// Routes is the whole surface of the api. The router serves each path with and
// without a trailing slash, and /api/v3 also as /api/3.
func (r *Rooms) Routes() []route.Route {
	description := route.Route{Method: http.MethodGet, Path: "/openapi.json", Handler: describe,
		Public: "the description of the interfaces is no secret"}
	return slices.Concat(
		[]route.Route{description},
		reference.Routes(),
		r.Tasks.Routes(),
		r.Crashes.Routes(),
		r.Symbols.Routes(),
		r.Intake.Routes(),
		r.Accounts.Routes(),
		r.OIDC.Routes(),
		r.Audits.Routes(),
		r.Mail.Routes(),
		r.Builds.Routes(),
		r.Gates.Routes(),
		r.Groups.Routes(),
		r.Uploads.Routes(),
		r.Resumable.Routes(),
		r.Testers.Routes(),
		r.Tests.Routes(),
		r.Histories.Routes(),
		r.Baselines.Routes(),
		r.Environments.Routes(),
		r.StepGroups.Routes(),
		r.Pages.Routes(),
		r.Sessions.Routes(),
		r.Webhooks.Routes(),
		r.Statuses.Routes(),
		r.Devices.Routes(),
		r.Search.Routes(),
		r.Overview.Routes(),
		r.Agents.Routes(),
		[]route.Route{
			{Method: http.MethodGet, Path: "/objects/*key", Public: publicSign, Handler: r.objects, Deadline: route.UploadDeadline},
			{Method: http.MethodHead, Path: "/objects/*key", Public: publicSign, Handler: r.objects},
		},
		r.Ops.Routes(),
	)
}

// objects is 404 where the api serves no objects.
func (r *Rooms) objects(c *gin.Context) error {
	if r.Objects == nil {
		return storage.ErrNotFound
	}
	return r.Objects(c.Writer, c.Request)
}
