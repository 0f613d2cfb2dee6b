package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Change changes a configuration, or begins one: settings are those of the request
// over the ones that are stored.
type Change struct {
	Settings
	Role account.Role // of the service account: member or admin
}

// NewSettings are the settings of a configuration that says nothing but its issuer.
func NewSettings() Change {
	return Change{Role: account.Member, Settings: Settings{Enabled: true, Mode: OrKey, AllowedAlgorithms: []string{"RS256"},
		RequiredClaims: map[string][]string{}, JWKSCacheSeconds: 86_400, ClockSkewSeconds: 60, AllTeams: true}}
}

// Save applies change to the settings that are stored, or to those of
// NewSettings, and stores the outcome. The secret is the configuration key of a
// configuration that is new; nil otherwise. The service account is created with it.
func Save(ctx context.Context, tx *storage.Tx, actor account.Actor, keys *account.Issuer, organizationID int64,
	change func(*Change) error) (*Configuration, *account.Secret, error) {
	if err := account.LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, nil, err
	}
	old, err := Of(ctx, tx, organizationID)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, nil, err
	}
	c := NewSettings()
	if old != nil {
		c = Change{Settings: old.Settings, Role: old.Role}
	}
	if err := change(&c); err != nil {
		return nil, nil, err
	}
	if err := c.checkAll(); err != nil {
		return nil, nil, err
	}
	var secret *account.Secret
	var userID int64
	if old == nil {
		userID, secret, err = create(ctx, tx, actor, keys, organizationID, c)
	} else {
		userID, err = old.UserID, update(ctx, tx, actor, old, c)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := setTeams(ctx, tx, organizationID, userID, c.TeamIDs); err != nil {
		return nil, nil, err
	}
	saved, err := Of(ctx, tx, organizationID)
	if err != nil {
		return nil, nil, err
	}
	from, to := differences(old.auditMembers(), saved.auditMembers())
	if old != nil && len(to) == 0 {
		return saved, nil, nil
	}
	return saved, secret, audit(ctx, tx, actor, organizationID, from, to)
}

func (c *Change) checkAll() error {
	if c.Role != account.Member && c.Role != account.Admin {
		return storage.Invalid("role", "must be member or admin")
	}
	if c.AllTeams {
		c.TeamIDs = nil
	}
	if !c.AllTeams && (len(c.TeamIDs) == 0 || len(c.TeamIDs) > maxTeams) {
		return storage.Invalid("team_ids", "must name 1 to %d teams, unless all_teams is true", maxTeams)
	}
	if c.RequiredClaims == nil {
		c.RequiredClaims = map[string][]string{}
	}
	return c.check()
}

const insertConfiguration = `
insert into oidc_configurations (organization_id, user_id, enabled, mode, issuer_url, expected_issuer, audience,
	allowed_algorithms, required_scopes, required_claims, jwks_cache_seconds, clock_skew_seconds, all_teams,
	key_digest, key_hint)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`

// arguments are the columns that an insert and an update share, in their order.
func (s *Settings) arguments() ([]any, error) {
	claims, err := json.Marshal(s.RequiredClaims)
	if err != nil {
		return nil, fmt.Errorf("required claims: %w", err)
	}
	return []any{s.Enabled, s.Mode, s.IssuerURL, s.ExpectedIssuer, s.Audience, pq.Array(s.AllowedAlgorithms),
		pq.Array(append([]string{}, s.RequiredScopes...)), string(claims), s.JWKSCacheSeconds, s.ClockSkewSeconds, s.AllTeams}, nil
}

func create(ctx context.Context, tx *storage.Tx, actor account.Actor, keys *account.Issuer, organizationID int64, c Change) (int64,
	*account.Secret, error) {
	secret, err := keys.NewOIDC()
	if err != nil {
		return 0, nil, err
	}
	u, err := account.CreateServiceAccount(ctx, tx, actor, account.NewServiceAccount{OrganizationID: organizationID,
		Username: "oidc-" + uuid.NewString()[:13], Name: "OIDC", Role: c.Role, Teamless: true})
	if err != nil {
		return 0, nil, err
	}
	arguments, err := c.arguments()
	if err != nil {
		return 0, nil, err
	}
	arguments = append(append([]any{organizationID, u.ID}, arguments...), secret.Digest[:], secret.Hint)
	if _, err := tx.ExecContext(ctx, insertConfiguration, arguments...); err != nil {
		return 0, nil, storage.Wrap(err, "create OIDC configuration")
	}
	return u.ID, &secret, nil
}

const changeConfiguration = `
update oidc_configurations set enabled = $2, mode = $3, issuer_url = $4, expected_issuer = $5, audience = $6,
	allowed_algorithms = $7, required_scopes = $8, required_claims = $9, jwks_cache_seconds = $10,
	clock_skew_seconds = $11, all_teams = $12, updated_at = now()
where organization_id = $1`

func update(ctx context.Context, tx *storage.Tx, actor account.Actor, old *Configuration, c Change) error {
	if c.Role != old.Role {
		if err := account.SetRole(ctx, tx, actor, old.OrganizationID, old.UserID, c.Role); err != nil {
			return err
		}
	}
	arguments, err := c.arguments()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, changeConfiguration, append([]any{old.OrganizationID}, arguments...)...)
	return storage.Wrap(err, "change OIDC configuration")
}

const leaveTeams = `
delete from team_memberships tm using teams t
where t.id = tm.team_id and t.organization_id = $1 and tm.user_id = $2 and tm.team_id <> all($3)`

const joinTeams = `
insert into team_memberships (team_id, user_id)
select t.id, $2 from teams t where t.organization_id = $1 and t.id = any($3)
on conflict (team_id, user_id) do nothing`

const countTeams = `select count(*) from teams where organization_id = $1 and id = any($2)`

// setTeams puts the service account into the teams, and out of all others.
func setTeams(ctx context.Context, tx *storage.Tx, organizationID, userID int64, teams []int64) error {
	teams = slices.Compact(slices.Sorted(slices.Values(teams)))
	ids := pq.Array(append([]int64{}, teams...))
	var found int
	if err := tx.GetContext(ctx, &found, countTeams, organizationID, ids); err != nil {
		return storage.Wrap(err, "teams of the OIDC account")
	}
	if found != len(teams) {
		return storage.Invalid("team_ids", "must be teams of the organization")
	}
	if _, err := tx.ExecContext(ctx, leaveTeams, organizationID, userID, ids); err != nil {
		return storage.Wrap(err, "take the OIDC account out of teams")
	}
	_, err := tx.ExecContext(ctx, joinTeams, organizationID, userID, ids)
	return storage.Wrap(err, "put the OIDC account into teams")
}

const deleteConfiguration = `delete from oidc_configurations where organization_id = $1`

// Delete removes the configuration with its service account: tokens are refused at
// once, API keys accepted. ErrNotFound when there is none.
func Delete(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64) error {
	if err := account.LockOrganization(ctx, tx, organizationID); err != nil {
		return err
	}
	old, err := Of(ctx, tx, organizationID)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, deleteConfiguration, organizationID); err != nil {
		return storage.Wrap(err, "delete OIDC configuration")
	}
	if err := account.DeleteServiceAccount(ctx, tx, actor, organizationID, old.UserID); err != nil {
		return err
	}
	return audit(ctx, tx, actor, organizationID, old.auditMembers(), nil)
}
