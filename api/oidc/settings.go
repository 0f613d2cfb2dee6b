package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
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

// view is a configuration as answers show it.
type view struct {
	Enabled           bool                `json:"enabled"`
	Mode              oidc.Mode           `json:"mode"`
	IssuerURL         string              `json:"issuer_url"`
	ExpectedIssuer    string              `json:"expected_issuer"`
	Audience          string              `json:"audience"`
	AllowedAlgorithms []string            `json:"allowed_algorithms"`
	RequiredScopes    []string            `json:"required_scopes"`
	RequiredClaims    map[string][]string `json:"required_claims"`
	JWKSCacheSeconds  int                 `json:"jwks_cache_seconds"`
	ClockSkewSeconds  int                 `json:"clock_skew_seconds"`
	Role              account.Role        `json:"role"`
	AllTeams          bool                `json:"all_teams"`
	TeamIDs           []int64             `json:"team_ids"`
	UserID            int64               `json:"user_id"`
	Username          string              `json:"username"`
	ConfigKey         string              `json:"config_key,omitempty"` // of the answer that made it
	ConfigKeyHint     string              `json:"config_key_hint"`
	CreatedAt         time.Time           `json:"created_at"`
	UpdatedAt         time.Time           `json:"updated_at"`
}

func viewOf(o *oidc.Configuration) view {
	v := view{Enabled: o.Enabled, Mode: o.Mode, IssuerURL: o.IssuerURL, ExpectedIssuer: o.ExpectedIssuer, Audience: o.Audience,
		AllowedAlgorithms: o.AllowedAlgorithms, RequiredScopes: o.RequiredScopes, RequiredClaims: o.RequiredClaims,
		JWKSCacheSeconds: o.JWKSCacheSeconds, ClockSkewSeconds: o.ClockSkewSeconds, Role: o.Role, AllTeams: o.AllTeams,
		TeamIDs: []int64{}, UserID: o.UserID, Username: o.Username, ConfigKeyHint: o.KeyHint, CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt}
	v.TeamIDs = append(v.TeamIDs, o.TeamIDs...)
	return v
}

// answer writes a configuration, with the text of its key when it is new.
func answer(c *gin.Context, o *oidc.Configuration, secret *account.Secret) error {
	v := viewOf(o)
	if secret != nil {
		v.ConfigKey = secret.Text
		c.Header("Cache-Control", "no-store")
	}
	return respond.JSON(c, http.StatusOK, gin.H{"oidc": v})
}

// Get serves GET /api/v3/settings/oidc.
func (h *Handlers) Get(c *gin.Context) error {
	o, err := oidc.Of(c.Request.Context(), h.cfg.DB, auth.Organization(c))
	if err != nil {
		return err
	}
	return answer(c, o, nil)
}

// claimsText is an object in JSON as it came; a form has it as a text.
type claimsText string

// UnmarshalJSON keeps the text.
func (t *claimsText) UnmarshalJSON(text []byte) error {
	*t = claimsText(text)
	return nil
}

// read returns the patterns of each claim: one, or several of which any does.
func (t claimsText) read() (map[string][]string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(t), &members); err != nil {
		return nil, storage.Invalid("required_claims", "must be an object")
	}
	patterns := make(map[string][]string, len(members))
	for name, text := range members {
		var one string
		if json.Unmarshal(text, &one) == nil && string(text) != "null" {
			patterns[name] = []string{one}
			continue
		}
		var several []string
		if err := json.Unmarshal(text, &several); err != nil {
			return nil, storage.Invalid("required_claims."+name, "must be a string or an array of strings")
		}
		patterns[name] = several
	}
	return patterns, nil
}

// request are the members to change; those that are absent stay.
type request struct {
	Enabled           *body.Switch  `json:"enabled"`
	Mode              *string       `json:"mode"`
	IssuerURL         *string       `json:"issuer_url"`
	ExpectedIssuer    *string       `json:"expected_issuer"`
	Audience          *string       `json:"audience"`
	AllowedAlgorithms body.List     `json:"allowed_algorithms"`
	RequiredScopes    body.List     `json:"required_scopes"`
	RequiredClaims    *claimsText   `json:"required_claims"`
	JWKSCacheSeconds  *int64        `json:"jwks_cache_seconds"`
	ClockSkewSeconds  *int64        `json:"clock_skew_seconds"`
	Role              *account.Role `json:"role"`
	AllTeams          *body.Switch  `json:"all_teams"`
	TeamIDs           body.List     `json:"team_ids"`
	// Answers have these, and may be sent back.
	UserID        *int64  `json:"user_id"`
	Username      *string `json:"username"`
	ConfigKeyHint *string `json:"config_key_hint"`
	// These say nothing that could be changed.
	ConfigKey *string `json:"config_key"`
	CreatedAt *string `json:"created_at"`
	UpdatedAt *string `json:"updated_at"`
}

// stays refuses other values of what answers have and requests do not change.
func (r *request) stays(o *oidc.Configuration) error {
	switch {
	case r.UserID != nil && *r.UserID != o.UserID:
		return storage.Invalid("user_id", "cannot be changed")
	case r.Username != nil && *r.Username != o.Username:
		return storage.Invalid("username", "cannot be changed")
	case r.ConfigKeyHint != nil && *r.ConfigKeyHint != o.KeyHint:
		return storage.Invalid("config_key_hint", "cannot be changed")
	}
	return nil
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// apply changes the settings by the members of the request.
func (r *request) apply(c *oidc.Change) error {
	set(&c.Enabled, r.Enabled.Bool())
	set(&c.Mode, (*oidc.Mode)(r.Mode))
	set(&c.IssuerURL, r.IssuerURL)
	set(&c.ExpectedIssuer, r.ExpectedIssuer)
	set(&c.Audience, r.Audience)
	set(&c.Role, r.Role)
	if r.AllowedAlgorithms != nil {
		c.AllowedAlgorithms = r.AllowedAlgorithms
	}
	if r.RequiredScopes != nil {
		c.RequiredScopes = r.RequiredScopes
	}
	if r.RequiredClaims != nil {
		claims, err := r.RequiredClaims.read()
		if err != nil {
			return err
		}
		c.RequiredClaims = claims
	}
	if err := setSeconds("jwks_cache_seconds", &c.JWKSCacheSeconds, r.JWKSCacheSeconds); err != nil {
		return err
	}
	if err := setSeconds("clock_skew_seconds", &c.ClockSkewSeconds, r.ClockSkewSeconds); err != nil {
		return err
	}
	return r.applyTeams(c)
}

// maxSeconds keeps the conversion exact on every machine; the store knows the bounds.
const maxSeconds = 1 << 30

func setSeconds(field string, to *int, value *int64) error {
	if value == nil {
		return nil
	}
	if *value < 0 || *value > maxSeconds {
		return storage.Invalid(field, "must be a number of seconds")
	}
	*to = int(*value)
	return nil
}

// applyTeams takes teams that are named for all there are, unless the request says
// otherwise.
func (r *request) applyTeams(c *oidc.Change) error {
	if r.TeamIDs != nil {
		c.TeamIDs = make([]int64, 0, len(r.TeamIDs))
		for _, text := range r.TeamIDs {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil || id < 1 {
				return storage.Invalid("team_ids", "must be ids of teams")
			}
			c.TeamIDs = append(c.TeamIDs, id)
		}
		c.AllTeams = len(c.TeamIDs) == 0
	}
	set(&c.AllTeams, r.AllTeams.Bool())
	return nil
}

// Save serves POST /api/v3/settings/oidc.
func (h *Handlers) Save(c *gin.Context) error {
	if err := byKey(c); err != nil {
		return err
	}
	var req request
	if err := body.Read(c, &req); err != nil {
		return err
	}
	if req.IssuerURL != nil {
		// A name that nobody knows yet may be one that is about to be set up; every
		// connection is checked again.
		if err := h.checkAddress(c.Request.Context(), *req.IssuerURL); err != nil && !errors.Is(err, outbound.ErrUnresolved) {
			return storage.Invalid("issuer_url", "%s", err)
		}
	}
	var saved *oidc.Configuration
	var secret *account.Secret
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		if saved, secret, err = oidc.Save(ctx, tx, auth.Actor(c), h.cfg.Keys, auth.Organization(c), req.apply); err != nil {
			return err
		}
		return req.stays(saved)
	})
	if err != nil {
		return err
	}
	return answer(c, saved, secret)
}

// checkAddress refuses addresses that no issuer may have.
func (h *Handlers) checkAddress(ctx context.Context, address string) error {
	if _, err := h.cfg.Guard.CheckURL(ctx, address); err != nil {
		return err
	}
	return issuer.CheckPlain(h.cfg.Guard, address)
}

// Regenerate serves POST /api/v3/settings/oidc/key.
func (h *Handlers) Regenerate(c *gin.Context) error {
	if err := byKey(c); err != nil {
		return err
	}
	var changed *oidc.Configuration
	var secret account.Secret
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) (err error) {
		changed, secret, err = oidc.RotateKey(ctx, tx, auth.Actor(c), h.cfg.Keys, auth.Organization(c))
		return err
	})
	if err != nil {
		return err
	}
	return answer(c, changed, &secret)
}

// Delete serves DELETE /api/v3/settings/oidc.
func (h *Handlers) Delete(c *gin.Context) error {
	if err := byKey(c); err != nil {
		return err
	}
	err := h.inTx(c, func(ctx context.Context, tx *storage.Tx) error {
		return oidc.Delete(ctx, tx, auth.Actor(c), auth.Organization(c))
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
