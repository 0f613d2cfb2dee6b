// Package oidc stores how organizations sign in with tokens of issuers of their own (OpenID Connect):
// one configuration for each, with the service account that such requests act as.
//
// A configuration names the issuer, its audience, and what claims and scopes a token must have; who
// verifies tokens by it is api/auth/issuer. Its key, whose digest alone is stored, tells whose
// configuration a request means. Save creates the configuration with its service account, or changes
// both; Delete removes both.
//
// Everything that changes takes the lock of the organization, and writes one event of the audit log
// with the members that differ, in the same transaction.
//
// Failures are storage.ErrNotFound for an organization without a configuration, and
// *storage.InvalidError, also for an issuer that signs for everybody without a claim that says who
// may.
package oidc

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Mode says whether an organization's API keys are accepted beside its OIDC tokens.
type Mode string

// The modes.
const (
	Only  Mode = "oidc_only"
	OrKey Mode = "oidc_or_key"
)

// Configuration is an organization's configuration for requests that sign in with tokens of an
// issuer of its own (OpenID Connect Core 1.0, part 2).
type Configuration struct {
	OrganizationID int64
	UserID         int64 // the service account that such requests act as
	Username       string
	Role           account.Role
	Settings
	KeyHint   string // the last characters of the configuration key
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Settings is what an admin sets.
type Settings struct {
	Enabled bool
	Mode    Mode
	// IssuerURL is where the discovery document is, exact: with or without a final
	// slash.
	IssuerURL string
	// ExpectedIssuer is the claim iss where it is not the IssuerURL; "" where it is.
	ExpectedIssuer    string
	Audience          string // one that the claim aud must have; "" is not checked
	AllowedAlgorithms []string
	RequiredScopes    []string // any one of them; none is required when empty
	// RequiredClaims are patterns for claims by their names: each claim must match one
	// of its patterns, in which * stands for any text.
	RequiredClaims   map[string][]string
	JWKSCacheSeconds int // how long keys of the issuer are used without asking again
	ClockSkewSeconds int // what clocks may differ by at exp, nbf and iat
	AllTeams         bool
	TeamIDs          []int64 // that the account works in; empty with AllTeams
}

// Issuer is what the claim iss must be.
func (s *Settings) Issuer() string {
	if s.ExpectedIssuer != "" {
		return s.ExpectedIssuer
	}
	return s.IssuerURL
}

type row struct {
	OrganizationID   int64          `db:"organization_id"`
	UserID           int64          `db:"user_id"`
	Username         string         `db:"username"`
	Role             account.Role   `db:"role"`
	Enabled          bool           `db:"enabled"`
	Mode             Mode           `db:"mode"`
	IssuerURL        string         `db:"issuer_url"`
	ExpectedIssuer   string         `db:"expected_issuer"`
	Audience         string         `db:"audience"`
	Algorithms       pq.StringArray `db:"allowed_algorithms"`
	Scopes           pq.StringArray `db:"required_scopes"`
	Claims           []byte         `db:"required_claims"`
	JWKSCacheSeconds int            `db:"jwks_cache_seconds"`
	ClockSkewSeconds int            `db:"clock_skew_seconds"`
	AllTeams         bool           `db:"all_teams"`
	TeamIDs          pq.Int64Array  `db:"team_ids"`
	Digest           []byte         `db:"key_digest"`
	KeyHint          string         `db:"key_hint"`
	CreatedAt        time.Time      `db:"created_at"`
	UpdatedAt        time.Time      `db:"updated_at"`
}

func (r *row) configuration() (*Configuration, error) {
	c := &Configuration{OrganizationID: r.OrganizationID, UserID: r.UserID, Username: r.Username, Role: r.Role, KeyHint: r.KeyHint,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Settings: Settings{Enabled: r.Enabled, Mode: r.Mode, IssuerURL: r.IssuerURL, ExpectedIssuer: r.ExpectedIssuer,
			Audience: r.Audience, AllowedAlgorithms: r.Algorithms, RequiredScopes: r.Scopes,
			JWKSCacheSeconds: r.JWKSCacheSeconds, ClockSkewSeconds: r.ClockSkewSeconds, AllTeams: r.AllTeams}}
	if !r.AllTeams {
		c.TeamIDs = r.TeamIDs
	}
	if err := json.Unmarshal(r.Claims, &c.RequiredClaims); err != nil {
		return nil, fmt.Errorf("required claims of organization %d: %w", r.OrganizationID, err)
	}
	return c, nil
}

const configurations = `
select c.organization_id, c.user_id, u.username, m.role, c.enabled, c.mode, c.issuer_url, c.expected_issuer,
	c.audience, c.allowed_algorithms, c.required_scopes, c.required_claims, c.jwks_cache_seconds,
	c.clock_skew_seconds, c.all_teams, c.key_digest, c.key_hint, c.created_at, c.updated_at,
	array(select tm.team_id from team_memberships tm join teams t on t.id = tm.team_id
		where tm.user_id = c.user_id and t.organization_id = c.organization_id order by tm.team_id) as team_ids
from oidc_configurations c
join users u on u.id = c.user_id
join memberships m on m.organization_id = c.organization_id and m.user_id = c.user_id
`

// Of reads an organization's configuration; ErrNotFound when it has none.
func Of(ctx context.Context, q storage.Querier, organizationID int64) (*Configuration, error) {
	var row row
	if err := q.GetContext(ctx, &row, configurations+`where c.organization_id = $1`, organizationID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("OIDC configuration of organization %d", organizationID))
	}
	return row.configuration()
}

// ByKey finds the configuration of a key, enabled or not; ErrNotFound when no
// configuration has it. Reads oidc_configurations_key_digest_key.
func ByKey(ctx context.Context, q storage.Querier, digest account.Digest) (*Configuration, error) {
	var row row
	if err := q.GetContext(ctx, &row, configurations+`where c.key_digest = $1`, digest[:]); err != nil {
		return nil, storage.Wrap(err, "OIDC configuration of a key")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("OIDC configuration of a key: %w", storage.ErrNotFound)
	}
	return row.configuration()
}
