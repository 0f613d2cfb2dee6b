// Package oidc serves the settings by which an organization lets requests sign in with
// tokens of an issuer of its own (OpenID Connect), over version 3 of the distribution
// interface. Package auth accepts the tokens.
//
// An organization has one configuration. Saving one creates it, or changes the members
// that the body has. It comes with a service account, as which the requests act, and a
// configuration key, which names the configuration in requests: it is in the answer
// that made it and nowhere else. The key is not what protects the organization, for
// jobs of a CI service show it: the signature of the issuer and the required claims
// are.
//
// A test fetches the issuer's discovery document and keys and reports what it found; an
// issuer that does not respond as it should is no failure of the request.
//
// Requests that come by OIDC themselves may read and test, and change nothing: a token
// of some minutes must not decide which tokens are accepted from now on. Where an
// organization accepts OIDC only, the API key of an owner still reaches these routes.
//
// Failures are 400 for a member that breaks a rule or an address that is refused, 403,
// and 404 without a configuration.
package oidc

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// Config is what the handlers need.
type Config struct {
	DB    *storage.DB
	Keys  *account.Issuer
	Guard *outbound.Guard // of the issuers' addresses
}

// Handlers are the handlers of the room's routes.
type Handlers struct {
	cfg     Config
	client  *issuer.Client
	testing sync.Map // organizations whose issuer is being tested
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Keys == nil || cfg.Guard == nil {
		return nil, errors.New("OIDC handlers: database, issuer of keys and guard are required")
	}
	return &Handlers{cfg: cfg, client: issuer.NewClient(cfg.Guard)}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/settings/oidc", Interface: v3, Query: route.NoQuery(), Action: auth.ManageOIDC, Handler: h.Get},
		{Method: http.MethodPost, Path: "/api/v3/settings/oidc", Interface: v3, Action: auth.ManageOIDC, Handler: h.Save},
		{Method: http.MethodDelete, Path: "/api/v3/settings/oidc", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageOIDC, Handler: h.Delete},
		{Method: http.MethodPost, Path: "/api/v3/settings/oidc/test", Interface: v3, Action: auth.ManageOIDC, Handler: h.Test},
		{Method: http.MethodPost, Path: "/api/v3/settings/oidc/key", Interface: v3, Bare: true, Action: auth.ManageOIDC, Handler: h.Regenerate},
	}
}

// inTx runs a use case in its transaction.
func (h *Handlers) inTx(c *gin.Context, work func(context.Context, *storage.Tx) error) error {
	ctx := c.Request.Context()
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return work(ctx, tx) })
}

// byKey refuses callers who came by OIDC.
func byKey(c *gin.Context) error {
	if auth.CallerOf(c.Request.Context()).Token == nil {
		return nil
	}
	return &respond.Problem{Status: http.StatusForbidden, Text: "an OIDC token cannot change which tokens are accepted; use an API key"}
}
