// Package handler is what the handlers of the authoring interface share: their configuration, the
// transaction of a change, and what several resources read, check and show.
//
// Reads see the whole organization. Changes are made by account.Writer in one transaction with
// their audit row, and a change that ends runs cancels their ledger tasks in it. Runs are counted
// against the day of the organization in the transaction that starts them.
//
// A test comes from outside: its steps are bounded and checked by package step, and its addresses
// by Config.CheckURL, before anything is stored. Addresses that hold variables are known only when
// a step executes and are checked then. Targeting refuses tunnels and apps that the organization
// does not have; the job looks again.
package handler

import (
	"context"
	"log/slog"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/capability"
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

// Base is what the handlers share.
type Base struct {
	Config
	// Words are the names that bodies of other requests have.
	Words request.Words
}

// Read fills the struct from the body; members that it does not have are refused, or named in
// the answer's warnings.
func (h *Base) Read(c *gin.Context, into any) error { return request.Read(c, into, h.Words) }

// CheckTarget checks a target of a request.
func (h *Base) CheckTarget(t *capability.Target) error {
	if err := capability.CheckTarget(t); err != nil || h.UnsafeCapabilities {
		return err
	}
	return capability.CheckPermitted(t, h.Vendor)
}

// Change runs a change with its audit row in one transaction.
func (h *Base) Change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return h.DB.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) })
}

// Stop cancels the ledger tasks of jobs and suite runs that a change has ended.
// One that has ended by itself, or was removed since, needs nothing.
func Stop(ctx context.Context, tx *storage.Tx, organizationID int64, jobs []uuid.UUID) error {
	_, err := ledger.CancelAll(ctx, tx, ledger.Scope{OrganizationID: organizationID}, jobs)
	return err
}

// CaseOf reads the case that the path names.
func (h *Base) CaseOf(c *gin.Context) (*authoring.Case, error) {
	id, err := request.CaseID(c)
	if err != nil {
		return nil, err
	}
	return authoring.CaseByID(c.Request.Context(), h.DB, auth.Organization(c), id)
}

// Bare returns the handler of a request without members.
func (h *Base) Bare(do route.Handler) route.Handler {
	return func(c *gin.Context) error {
		if err := h.Read(c, &struct{}{}); err != nil {
			return err
		}
		return do(c)
	}
}
