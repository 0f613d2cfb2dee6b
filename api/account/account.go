// Package account serves what belongs to callers themselves over version 3 of the
// distribution interface: the exchange of a key for a Bearer token, the caller's
// own keys and sessions of the console, the members, service accounts and their keys, and the
// settings of the organization with its connection to the vendor's app storage.
//
// A secret is in the answer that made it and nowhere else. Nobody makes a service
// account of a higher role than their own, or a key for one; nobody gives a member such a
// role, or changes or removes one who has it. The secret of the
// storage connection is kept encrypted under the installation's signing key, and
// no answer shows it.
//
// Failures are 400 for a member that breaks a rule, 403, 404 also for what belongs
// to another organization, 409 for a name that is taken and for what cannot be
// deleted.
package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// Config is what the handlers need.
type Config struct {
	DB    *storage.DB
	Keys  *account.Issuer
	Guard *outbound.Guard // of addresses that an admin gives
	// Quotas are what is shown at /api/v3/settings/quotas; nil shows no bounds.
	Quotas *quota.Quotas
	// SealKeys encrypts the secret of the storage connection; without one of 32
	// bytes no connection can be stored.
	SealKeys seal.Ring
	Now      func() time.Time // default time.Now
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Keys == nil || cfg.Guard == nil {
		return nil, errors.New("account handlers: database, issuer of keys and guard are required")
	}
	if cfg.Quotas == nil {
		cfg.Quotas = &quota.Quotas{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Handlers{cfg: cfg}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodPost, Path: "/api/v3/auth/token", Interface: v3, Action: auth.ExchangeToken, Handler: h.Token},
		{Method: http.MethodGet, Path: "/api/v3/me", Interface: v3, Query: route.NoQuery(), Action: auth.ReadSelf, Handler: h.Self},
		{Method: http.MethodGet, Path: "/api/v3/me/keys", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ManageOwnKeys, Handler: h.Keys},
		{Method: http.MethodPost, Path: "/api/v3/me/keys", Interface: v3, Action: auth.ManageOwnKeys, Handler: h.CreateKey},
		{Method: http.MethodDelete, Path: "/api/v3/me/keys/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageOwnKeys, Handler: h.DeleteKey},
		{Method: http.MethodGet, Path: "/api/v3/me/sessions", Interface: v3, Query: route.NoQuery(), Action: auth.ManageOwnKeys,
			Handler: h.Sessions},
		{Method: http.MethodDelete, Path: "/api/v3/me/sessions/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageOwnKeys, Handler: h.DeleteSession},
		{Method: http.MethodGet, Path: "/api/v3/members", Interface: v3, Query: []string{"page", "per_page", "search", "role"},
			Action: auth.ReadMembers, Handler: h.Members},
		{Method: http.MethodGet, Path: "/api/v3/members/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadMembers, Handler: h.Member},
		{Method: http.MethodPut, Path: "/api/v3/members/:id", Interface: v3, Action: auth.ManageMembers, Handler: h.UpdateMember},
		{Method: http.MethodDelete, Path: "/api/v3/members/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageMembers, Handler: h.DeleteMember},
		{Method: http.MethodGet, Path: "/api/v3/service-accounts", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ManageServiceAccounts, Handler: h.ServiceAccounts},
		{Method: http.MethodPost, Path: "/api/v3/service-accounts", Interface: v3, Action: auth.ManageServiceAccounts,
			Handler: h.CreateServiceAccount},
		{Method: http.MethodDelete, Path: "/api/v3/service-accounts/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageServiceAccounts, Handler: h.DeleteServiceAccount},
		{Method: http.MethodGet, Path: "/api/v3/service-accounts/:id/keys", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ManageServiceAccounts, Handler: h.ServiceKeys},
		{Method: http.MethodPost, Path: "/api/v3/service-accounts/:id/keys", Interface: v3, Action: auth.ManageServiceAccounts,
			Handler: h.CreateServiceKey},
		{Method: http.MethodDelete, Path: "/api/v3/service-accounts/:id/keys/:key", Interface: v3, Bare: true,
			Query: route.NoQuery(), Action: auth.ManageServiceAccounts, Handler: h.DeleteServiceKey},
		{Method: http.MethodGet, Path: "/api/v3/settings/organization", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageSettings, Handler: h.Settings},
		{Method: http.MethodPut, Path: "/api/v3/settings/organization", Interface: v3, Action: auth.ManageSettings, Handler: h.UpdateSettings},
		{Method: http.MethodGet, Path: "/api/v3/settings/quotas", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageSettings, Handler: h.Quotas},
		{Method: http.MethodGet, Path: "/api/v3/settings/storage", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageSettings, Handler: h.Storage},
		{Method: http.MethodPut, Path: "/api/v3/settings/storage", Interface: v3, Action: auth.ManageSettings, Handler: h.UpdateStorage},
		{Method: http.MethodDelete, Path: "/api/v3/settings/storage", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageSettings, Handler: h.DeleteStorage},
	}
}

// callerOf is who calls; the table of package auth keeps operators out.
func callerOf(c *gin.Context) *auth.Caller { return auth.CallerOf(c.Request.Context()) }

// inTx runs a use case in its transaction.
func (h *Handlers) inTx(c *gin.Context, work func(context.Context, *storage.Tx) error) error {
	ctx := c.Request.Context()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return work(ctx, tx) })
}

// Token serves POST /api/v3/auth/token. The member is read by the authentication.
func (h *Handlers) Token(c *gin.Context) error {
	var in struct {
		APIKey *string `json:"api_key"`
	}
	if err := body.Read(c, &in); err != nil {
		return err
	}
	caller := callerOf(c)
	if caller.KeyID == 0 {
		return &respond.Problem{Status: http.StatusForbidden, Text: "only an API key can be exchanged for a token"}
	}
	secret, expires, err := account.IssueBearer(c.Request.Context(), h.cfg.DB, h.cfg.Keys, caller.OrganizationID, caller.UserID, h.cfg.Now())
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store")
	return respond.JSON(c, http.StatusOK, gin.H{"token": secret.Text, "expires_at": expires})
}
