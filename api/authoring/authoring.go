// Package authoring serves test cases, their generation, test suites, their runs,
// schedules, variables and tunnels.
//
// Every success that has a body is {"data": ...}. Handlers return the errors of the
// stores; the line of a route names the resource of its path, and problem gives the
// errors the codes of the interface. What is wrong in a path is INVALID_PARAMS, in a
// query INVALID_QUERY, and in a body INVALID_BODY with the path of the member. The
// members that the interface names are always there, with the type that it names.
//
// Bodies are JSON objects. A member that is not known is refused with its path, or named
// in the answer's warnings (spare.go). A test comes from outside: its steps and settings are bounded and checked by package step,
// its addresses by CheckURL, before anything is stored. Addresses that hold
// variables are known only when a step executes and are checked then.
//
// Reads see the whole organization. Changes are made by account.Writer in one
// transaction with their audit row, and a change that ends runs cancels their
// ledger tasks in it. A run is started in four steps: read the caller and the
// request, resolve targets and tunnel (targeting), write run, jobs and tasks in one
// transaction, deliver the tasks.
package authoring

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// Config is what the handlers need.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	// Watcher ends the waits for runs and suite runs.
	Watcher *wait.Watcher
	// Generations ends the waits for generations.
	Generations *wait.Watcher
	// Quotas bound the runs of a day; nil: nothing does.
	Quotas *quota.Quotas
	// Queue inserts tasks; nil leaves their delivery to the relay.
	Queue *dispatch.Enqueuer
	// Guard checks the addresses of tunnels.
	Guard *outbound.Guard
	// SealKeys seals secrets.
	SealKeys  seal.Ring
	PublicURL string
	Vendor    string
	// CheckURL refuses test addresses that no run may open (file:, metadata
	// services); its *storage.InvalidError-free text is shown.
	CheckURL func(ctx context.Context, address string) error
	// UnsafeCapabilities is true when some hub takes any capability. The worker checks
	// then, which knows the hub of a target.
	UnsafeCapabilities bool
	Log                *slog.Logger
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cases       cases
	healings    healings
	generations generations
	runs        runs
	suites      suites
	suiteRuns   suiteRuns
	schedules   schedules
	variables   variables
	tunnels     tunnels
}

// room is what the handlers share.
type room struct{ cfg Config }

// checkTarget checks a target of a request.
func (h *room) checkTarget(t *step.Target) error {
	if err := step.CheckTarget(t); err != nil || h.cfg.UnsafeCapabilities {
		return err
	}
	return step.CheckPermitted(t, h.cfg.Vendor)
}

// basePath begins the paths of the interface and the links that answers hold.
// The same paths are served below aliasPath.
const (
	basePath  = "/v1/ai-authoring"
	aliasPath = "/ai-authoring/v1"
)

// New returns the handlers. Without CheckURL it refuses: tests that may open any
// address are no default.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.CheckURL == nil {
		return nil, errors.New("authoring: DB and CheckURL are needed")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	r := &room{cfg: cfg}
	return &Handlers{cases{r}, healings{r}, generations{r}, runs{r}, suites{r}, suiteRuns{r}, schedules{r}, variables{r}, tunnels{r}}, nil
}

// change runs a change with its audit row in one transaction.
func (h *room) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) })
}

// stop cancels the ledger tasks of jobs and suite runs that a change has ended.
// One that has ended by itself, or was removed since, needs nothing.
func stop(ctx context.Context, tx *storage.Tx, organizationID int64, jobs []uuid.UUID) error {
	_, err := ledger.CancelAll(ctx, tx, ledger.Scope{OrganizationID: organizationID}, jobs)
	return err
}
