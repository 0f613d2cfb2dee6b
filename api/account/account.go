// Package account serves what belongs to callers themselves over version 3 of the
// distribution interface: the exchange of a key for a Bearer token, the caller's
// own keys, service accounts and their keys, crash projects and their tokens, and
// the settings of the organization with its connection to the vendor's app
// storage (decisions, parts 0 and 3).
//
// A secret is in the answer that made it and nowhere else. Nobody makes a service
// account of a higher role than their own, or a key for one. The secret of the
// storage connection is kept encrypted under the installation's signing key, and
// is never answered.
//
// Failures are answered by respond.V3: 400 for a member that breaks a rule, 403,
// 404 also for what belongs to another organization, 409 for a name that is taken
// and for what cannot be deleted.
package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// Config is what the handlers need.
type Config struct {
	DB    *storage.DB
	Keys  *account.Issuer
	Guard *outbound.Guard // of addresses that an admin gives
	// SigningKey encrypts the secret of the storage connection; without one of 32
	// bytes no connection can be stored.
	SigningKey []byte
	Now        func() time.Time // default time.Now
}

// Handlers are the handlers of the routes. The router puts auth.Require before
// each of them.
type Handlers struct{ cfg Config }

// New makes the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Keys == nil || cfg.Guard == nil {
		return nil, errors.New("account handlers: database, issuer of keys and guard are required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{cfg: cfg}, nil
}

// caller is who asks; the table of package auth keeps operators out.
func caller(c *gin.Context) *auth.Caller { return auth.CallerOf(c.Request.Context()) }

// paged reads the page and its rows of the account store.
func paged(c *gin.Context) (pagination.Request, storage.Page, error) {
	r, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	return r, storage.Page{Limit: r.Limit(), Offset: r.Offset()}, err
}

// inTx runs a use case in its transaction.
func (h *Handlers) inTx(c *gin.Context, work func(context.Context, *storage.Tx) error) error {
	ctx := c.Request.Context()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return work(ctx, tx) })
}

// Token answers POST /api/v3/auth/token.
func (h *Handlers) Token(c *gin.Context) {
	who := caller(c)
	if who.KeyID == 0 {
		respond.V3(c, &respond.Problem{Status: http.StatusForbidden, Text: "only an API key can be exchanged for a token"})
		return
	}
	secret, expires, err := account.IssueBearer(c.Request.Context(), h.cfg.DB, h.cfg.Keys, who.OrganizationID, who.UserID, h.cfg.Now())
	if err != nil {
		respond.V3(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	respond.JSON(c, http.StatusOK, gin.H{"token": secret.Text, "expires_at": expires})
}
