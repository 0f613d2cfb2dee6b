package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth/issuer"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/oidc"
)

// OIDCHeader names the configuration of an organization's own sign-in; the token comes
// as Bearer token.
const OIDCHeader = "X-OIDC-Config-Key"

// retryIssuer is what a client should wait while an issuer is away.
const retryIssuer = 10 * time.Second

// oidc is a token that the organization's issuer signed: the caller is the service
// account of the configuration. A request that says it comes by OIDC gets in by no
// other way, so nil, nil is for requests without the header only.
func (a *Authenticator) oidc(ctx context.Context, r *http.Request) (*Caller, error) {
	values, ok := r.Header[http.CanonicalHeaderKey(OIDCHeader)]
	if !ok {
		return nil, nil
	}
	configuration, err := a.oidcConfiguration(ctx, values)
	if err != nil {
		return nil, err
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, problemInvalid("Authorization header with a Bearer token required", nil)
	}
	claims, err := a.issuers.Verify(ctx, configuration, token)
	if err != nil {
		return nil, explainRefusal(err)
	}
	id, err := account.OIDCIdentity(ctx, a.db, configuration.OrganizationID)
	if errors.Is(err, storage.ErrNotFound) { // deleted since
		return nil, problemInvalid("Invalid config key", err)
	}
	if err != nil {
		return nil, err
	}
	caller := callerOf(id)
	caller.Token = claims
	return caller, nil
}

// oidcConfiguration finds the configuration that the header names.
func (a *Authenticator) oidcConfiguration(ctx context.Context, values []string) (*oidc.Configuration, error) {
	digest, err := account.ParseOIDCKey(values[0])
	if err != nil || len(values) > 1 {
		return nil, problemInvalid("Invalid config key", err)
	}
	configuration, err := oidc.ByKey(ctx, a.db, digest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, problemInvalid("Invalid config key", err)
	}
	if err != nil {
		return nil, err
	}
	if !configuration.Enabled {
		return nil, problemInvalid("OIDC not enabled for this organization", nil)
	}
	return configuration, nil
}

// explainRefusal is 401, but 503 while the issuer is away, which is no fault of the
// token: clients that try again get in.
func explainRefusal(err error) error {
	var refused *issuer.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	if refused.Temporary {
		return &respond.Problem{Status: http.StatusServiceUnavailable, Text: refused.Text, RetryAfter: retryIssuer, Err: err}
	}
	return problemInvalid(refused.Text, err)
}

// allowKey refuses the keys of an organization that accepts OIDC tokens only, and the
// tokens that were exchanged for them. Access keys are the authoring interface's own, and
// stay. An owner's key keeps the configuration of OIDC
// itself: otherwise one wrong member of it would lock out everybody.
func (a *Authenticator) allowKey(c *gin.Context, action Action, caller *Caller) error {
	if !caller.oidcOnly || action == ManageOIDC && caller.Role == account.Owner && caller.KeyID != 0 {
		return nil
	}
	return a.refused(c, problemInvalid("this organization accepts OIDC tokens only, no API keys: send the headers Authorization and "+
		OIDCHeader, nil))
}
