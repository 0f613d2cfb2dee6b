// Package ops is what operators and their machines ask of a process: is it
// alive (/healthz), may it get work (/readyz), what is it doing (/metrics), and how
// the installation works (/api/v3/operate): the ledger's side of the queues with
// Redis's beside it, the organizations, and the webhooks that fail.
//
// All of it but the mail is plain net/http, for workers and schedulers serve it too,
// on a listener of their own (Mux). The api mounts the same handlers (Routes).
//
// Alive is never made dependent on anything: a process that is restarted because
// its database is down helps nobody. Ready runs the checks of the process's
// tiers (Process), in parallel, two seconds at most for each (those that only
// degrade: 0.75, which every probe waits for), and keeps the answer for a second, so that a storm of probes costs the dependencies one look
// a second. What a tier can do without only degrades it: an api without Redis
// still accepts, because rows wait in PostgreSQL; and no backlog, however long,
// makes an api unready.
//
// Metrics live in a registry of their own. Counters are fed by Observer, which
// the parts of a process know by interfaces of their own; the ledger's and
// Redis's numbers are read at the scrape, each source by itself: one that fails
// shows as slipway_collector_up 0 and leaves the others alone. Every label that
// comes from outside this package is bounded.
//
// A dependency that hangs and ignores its deadline holds one goroutine, not one
// for each probe: as long as a call has not returned, no other is started.
//
// Error texts in answers are a few fixed words; the whole error goes to the log,
// once when a check fails and once when it recovers.
package ops

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/quota"
)

// The paths, for the api's router and for Mux.
const (
	HealthPath  = "/healthz"
	ReadyPath   = "/readyz"
	MetricsPath = "/metrics"
	// queuesPath was the address of a console of Redis's queues; the console's own page has
	// taken its place.
	queuesPath = "/ops/queues"
)

// Handlers are what the api serves of this package. All but ProtectMetrics are
// required.
type Handlers struct {
	Health  http.Handler
	Ready   *Readiness
	Metrics *Metrics
	Queues  *Queues         // Redis's side of them
	DB      storage.Querier // keeps the mail, the organizations and the webhooks
	Ledger  *ledger.Store   // the tasks of all organizations
	Quotas  *quota.Quotas
	// MailFrom is the sender of mail; where it is no address, mail has no head to show.
	MailFrom string
	// QueuesPage is the console's page of the queues, where bookmarks of /ops/queues lead.
	QueuesPage string
	// Version is the program's, and Settings are those in force; for operators.
	Version  string
	Settings []Setting
	// ProtectMetrics opens MetricsPath to operators only.
	ProtectMetrics bool
}

const (
	publicProbe   = "probes have no credentials; the answer is a word"
	publicMoved   = "a redirect to a page that asks for credentials"
	publicMetrics = "opened by setting, for scrapers without credentials; counts only, no name or content of an organization"
)

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	metrics := route.Route{Method: http.MethodGet, Path: MetricsPath, Public: publicMetrics, Handler: h.metrics}
	if h.ProtectMetrics {
		metrics.Public, metrics.Action = "", auth.ReadMetrics
	}
	pages := []string{"page", "per_page"}
	return []route.Route{
		{Method: http.MethodGet, Path: HealthPath, Public: publicProbe, Handler: h.health, Quiet: true},
		{Method: http.MethodGet, Path: ReadyPath, Public: publicProbe, Handler: h.ready, Quiet: true},
		metrics,
		{Method: http.MethodGet, Path: MailPath, Action: auth.ReadMail, Handler: h.mail},
		{Method: http.MethodGet, Path: MailPath + "/:id", Interface: respond.InterfaceV3, Query: route.NoQuery(),
			Action: auth.ReadMail, Handler: h.oneMail},
		{Method: http.MethodGet, Path: OperatePath, Interface: respond.InterfaceV3, Query: []string{"window"},
			Action: auth.ReadQueues, Handler: h.operate},
		{Method: http.MethodGet, Path: OperatePath + "/organizations", Interface: respond.InterfaceV3, Query: pages,
			Action: auth.ReadQueues, Handler: h.organizations},
		{Method: http.MethodGet, Path: OperatePath + "/webhooks", Interface: respond.InterfaceV3, Query: pages,
			Action: auth.ReadQueues, Handler: h.webhooks},
		{Method: http.MethodGet, Path: queuesPath, Public: publicMoved, Handler: h.moved},
		{Method: http.MethodGet, Path: queuesPath + "/*any", Public: publicMoved, Handler: h.moved},
	}
}

func (h *Handlers) health(c *gin.Context) error  { return plain(c, h.Health) }
func (h *Handlers) ready(c *gin.Context) error   { return plain(c, h.Ready) }
func (h *Handlers) metrics(c *gin.Context) error { return plain(c, h.Metrics.Handler()) }

// moved leads to the page of the queues. What it had below has no place of its own there.
func (h *Handlers) moved(c *gin.Context) error {
	c.Redirect(http.StatusMovedPermanently, h.QueuesPage)
	return nil
}

// plain runs a handler that writes its failures itself.
func plain(c *gin.Context, h http.Handler) error {
	h.ServeHTTP(c.Writer, c.Request)
	return nil
}

// Mux serves health, readiness and metrics without credentials, for the
// listener of a worker or scheduler, which belongs on a private address. On the
// api's public listener the metrics tell outsiders the load and the names of
// kinds and routes: its routes ask for the operator's
// credentials there, unless the setting SLIPWAY_METRICS_PUBLIC opens it.
func Mux(version string, ready *Readiness, metrics *Metrics) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+HealthPath, Health(version)) // GET includes HEAD
	mux.Handle("GET "+ReadyPath, ready)
	mux.Handle("GET "+MetricsPath, metrics.Handler())
	return mux
}
