package oidc

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/oidc"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// testRequest names an issuer to try out; without one it is that of the configuration.
type testRequest struct {
	IssuerURL      *string `json:"issuer_url"`
	ExpectedIssuer string  `json:"expected_issuer"`
}

// outcome is what a test found.
type outcome struct {
	OK         bool     `json:"ok"`
	Error      string   `json:"error,omitempty"` // why not
	Issuer     string   `json:"issuer"`          // as the discovery document names it
	JWKSURI    string   `json:"jwks_uri"`
	KeyCount   int      `json:"key_count"`  // keys that the set has
	Algorithms []string `json:"algorithms"` // that the issuer signs with, as far as it says
	// UsableAlgorithms are those that may be allowed, or of the configuration are, and
	// for which there is a key.
	UsableAlgorithms []string `json:"usable_algorithms"`
}

// Test serves POST /api/v3/settings/oidc/test.
func (h *Handlers) Test(c *gin.Context) error {
	var req testRequest
	if err := body.Read(c, &req); err != nil {
		return err
	}
	organization := auth.Organization(c)
	from, allowed := issuer.Source{Issuer: req.ExpectedIssuer}, oidc.Algorithms()
	if req.IssuerURL == nil && req.ExpectedIssuer != "" {
		return storage.Invalid("expected_issuer", "goes with issuer_url: without one the stored settings are tested")
	}
	if req.IssuerURL == nil {
		stored, err := oidc.Of(c.Request.Context(), h.cfg.DB, organization)
		if err != nil {
			return err
		}
		from, allowed = issuer.Source{URL: stored.IssuerURL, Issuer: stored.ExpectedIssuer}, stored.AllowedAlgorithms
	} else {
		from.URL = *req.IssuerURL
		if err := h.checkAddress(c.Request.Context(), from.URL); err != nil && !errors.Is(err, outbound.ErrUnresolved) {
			return storage.Invalid("issuer_url", "%s", err)
		}
	}
	if _, running := h.testing.LoadOrStore(organization, true); running {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "a test of this organization is running", RetryAfter: time.Second}
	}
	defer h.testing.Delete(organization)
	found, err := h.discover(c.Request.Context(), from, allowed)
	if err != nil {
		return err
	}
	err = h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return account.Audit(ctx, tx, account.Event{OrganizationID: organization, Type: account.OIDCTested, Actor: auth.Actor(c),
			Subject: "OIDC configuration", Detail: map[string]any{"issuer_url": from.URL, "ok": found.OK, "error": found.Error}})
	})
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, found)
}

// discover fetches the keys; what is wrong with the issuer is an outcome.
func (h *Handlers) discover(ctx context.Context, from issuer.Source, allowed []string) (*outcome, error) {
	found := &outcome{Algorithms: []string{}, UsableAlgorithms: []string{}}
	set, err := h.client.Fetch(ctx, from)
	var failed *issuer.FetchError
	switch {
	case errors.As(err, &failed):
		found.Error = failed.Text
		return found, nil
	case err != nil:
		return nil, err
	}
	found.Issuer, found.JWKSURI, found.KeyCount = set.Issuer, set.URI, set.Published
	found.UsableAlgorithms = set.Usable(allowed)
	found.Algorithms = append(found.Algorithms, set.Algorithms...)
	if len(set.Algorithms) == 0 {
		found.Algorithms = set.Usable(oidc.Algorithms())
	}
	found.OK = len(found.UsableAlgorithms) > 0
	if !found.OK {
		found.Error = "the issuer has no key for an algorithm that is allowed"
	}
	return found, nil
}
