package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// OIDCChange changes a configuration, or begins one: settings are those of the request
// over the ones that are stored.
type OIDCChange struct {
	OIDCSettings
	Role Role // of the service account: member or admin
}

// NewOIDCSettings are the settings of a configuration that says nothing but its issuer.
func NewOIDCSettings() OIDCChange {
	return OIDCChange{Role: Member, OIDCSettings: OIDCSettings{Enabled: true, Mode: OIDCOrKey, AllowedAlgorithms: []string{"RS256"},
		RequiredClaims: map[string][]string{}, JWKSCacheSeconds: 86_400, ClockSkewSeconds: 60, AllTeams: true}}
}

// SaveOIDC applies change to the settings that are stored, or to those of
// NewOIDCSettings, and stores the outcome. The secret is the configuration key of a
// configuration that is new; nil otherwise. The service account is created with it.
func SaveOIDC(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, organizationID int64,
	change func(*OIDCChange) error) (*OIDC, *Secret, error) {
	if err := LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, nil, err
	}
	old, err := OIDCOf(ctx, tx, organizationID)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, nil, err
	}
	c := NewOIDCSettings()
	if old != nil {
		c = OIDCChange{OIDCSettings: old.OIDCSettings, Role: old.Role}
	}
	if err := change(&c); err != nil {
		return nil, nil, err
	}
	if err := c.checkAll(); err != nil {
		return nil, nil, err
	}
	var secret *Secret
	var userID int64
	if old == nil {
		userID, secret, err = createOIDC(ctx, tx, actor, keys, organizationID, c)
	} else {
		userID, err = old.UserID, updateOIDC(ctx, tx, actor, old, c)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := setOIDCTeams(ctx, tx, organizationID, userID, c.TeamIDs); err != nil {
		return nil, nil, err
	}
	saved, err := OIDCOf(ctx, tx, organizationID)
	if err != nil {
		return nil, nil, err
	}
	from, to := differences(old.auditMembers(), saved.auditMembers())
	if old != nil && len(to) == 0 {
		return saved, nil, nil
	}
	return saved, secret, auditOIDC(ctx, tx, actor, organizationID, from, to)
}

func (c *OIDCChange) checkAll() error {
	if c.Role != Member && c.Role != Admin {
		return storage.Invalid("role", "must be member or admin")
	}
	if c.AllTeams {
		c.TeamIDs = nil
	}
	if !c.AllTeams && (len(c.TeamIDs) == 0 || len(c.TeamIDs) > maxOIDCTeams) {
		return storage.Invalid("team_ids", "must name 1 to %d teams, unless all_teams is true", maxOIDCTeams)
	}
	if c.RequiredClaims == nil {
		c.RequiredClaims = map[string][]string{}
	}
	return c.check()
}

const insertOIDC = `
insert into oidc_configurations (organization_id, user_id, enabled, mode, issuer_url, expected_issuer, audience,
	allowed_algorithms, required_scopes, required_claims, jwks_cache_seconds, clock_skew_seconds, all_teams,
	key_digest, key_hint)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

// arguments are the columns that an insert and an update share, in their order.
func (s *OIDCSettings) arguments() ([]any, error) {
	claims, err := json.Marshal(s.RequiredClaims)
	if err != nil {
		return nil, fmt.Errorf("required claims: %w", err)
	}
	return []any{s.Enabled, s.Mode, s.IssuerURL, s.ExpectedIssuer, s.Audience, pq.Array(s.AllowedAlgorithms),
		pq.Array(append([]string{}, s.RequiredScopes...)), string(claims), s.JWKSCacheSeconds, s.ClockSkewSeconds, s.AllTeams}, nil
}

func createOIDC(ctx context.Context, tx *storage.Tx, actor Actor, keys *Issuer, organizationID int64, c OIDCChange) (int64,
	*Secret, error) {
	secret, err := keys.NewOIDC()
	if err != nil {
		return 0, nil, err
	}
	u, err := CreateServiceAccount(ctx, tx, actor, NewServiceAccount{OrganizationID: organizationID,
		Username: "oidc-" + uuid.NewString()[:13], Name: "OIDC", Role: c.Role, Teamless: true})
	if err != nil {
		return 0, nil, err
	}
	arguments, err := c.arguments()
	if err != nil {
		return 0, nil, err
	}
	arguments = append(append([]any{organizationID, u.ID}, arguments...), secret.Digest[:], secret.Hint)
	if _, err := tx.ExecContext(ctx, insertOIDC, arguments...); err != nil {
		return 0, nil, storage.Wrap(err, "create OIDC configuration")
	}
	return u.ID, &secret, nil
}

const changeOIDC = `
update oidc_configurations set enabled = $2, mode = $3, issuer_url = $4, expected_issuer = $5, audience = $6,
	allowed_algorithms = $7, required_scopes = $8, required_claims = $9, jwks_cache_seconds = $10,
	clock_skew_seconds = $11, all_teams = $12, updated_at = now()
where organization_id = $1`

func updateOIDC(ctx context.Context, tx *storage.Tx, actor Actor, old *OIDC, c OIDCChange) error {
	if c.Role != old.Role {
		if err := SetRole(ctx, tx, actor, old.OrganizationID, old.UserID, c.Role); err != nil {
			return err
		}
	}
	arguments, err := c.arguments()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, changeOIDC, append([]any{old.OrganizationID}, arguments...)...)
	return storage.Wrap(err, "change OIDC configuration")
}

const leaveOIDCTeams = `
delete from team_memberships tm using teams t
where t.id = tm.team_id and t.organization_id = $1 and tm.user_id = $2 and tm.team_id <> all($3)`

const joinOIDCTeams = `
insert into team_memberships (team_id, user_id)
select t.id, $2 from teams t where t.organization_id = $1 and t.id = any($3)
on conflict (team_id, user_id) do nothing`

const countOIDCTeams = `select count(*) from teams where organization_id = $1 and id = any($2)`

// setOIDCTeams puts the service account into the teams, and out of all others.
func setOIDCTeams(ctx context.Context, tx *storage.Tx, organizationID, userID int64, teams []int64) error {
	teams = slices.Compact(slices.Sorted(slices.Values(teams)))
	ids := pq.Array(append([]int64{}, teams...))
	var found int
	if err := tx.GetContext(ctx, &found, countOIDCTeams, organizationID, ids); err != nil {
		return storage.Wrap(err, "teams of the OIDC account")
	}
	if found != len(teams) {
		return storage.Invalid("team_ids", "must be teams of the organization")
	}
	if _, err := tx.ExecContext(ctx, leaveOIDCTeams, organizationID, userID, ids); err != nil {
		return storage.Wrap(err, "take the OIDC account out of teams")
	}
	_, err := tx.ExecContext(ctx, joinOIDCTeams, organizationID, userID, ids)
	return storage.Wrap(err, "put the OIDC account into teams")
}

const deleteOIDC = `delete from oidc_configurations where organization_id = $1`

// DeleteOIDC removes the configuration with its service account: tokens are refused at
// once, API keys accepted. ErrNotFound when there is none.
func DeleteOIDC(ctx context.Context, tx *storage.Tx, actor Actor, organizationID int64) error {
	if err := LockOrganization(ctx, tx, organizationID); err != nil {
		return err
	}
	old, err := OIDCOf(ctx, tx, organizationID)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, deleteOIDC, organizationID); err != nil {
		return storage.Wrap(err, "delete OIDC configuration")
	}
	if err := DeleteServiceAccount(ctx, tx, actor, organizationID, old.UserID); err != nil {
		return err
	}
	return auditOIDC(ctx, tx, actor, organizationID, old.auditMembers(), nil)
}
