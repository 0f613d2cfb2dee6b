package account

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Identity is who a key stands for: one user in one organization.
type Identity struct {
	KeyID            int64
	OrganizationID   int64
	OrganizationUUID uuid.UUID
	OrganizationSlug string
	UserID           int64
	UserUUID         uuid.UUID
	UserKind         UserKind
	Email            string // "" for a service account
	Username         string
	Role             Role
	Blocked          bool
	Teams            []TeamPlace // by id: the first is the default team
	// Stale: the key's last use should be stored again.
	Stale bool
	// OIDCOnly: the organization accepts no API keys and no tokens exchanged for them.
	OIDCOnly bool
	// Scopes are what the key is restricted to; nil: to nothing.
	Scopes []Scope
}

// TeamPlace is a team that the user belongs to.
type TeamPlace struct {
	ID    int64
	UUID  uuid.UUID
	Admin bool
}

// joinTeams joins the teams of a user u in an organization o.
const joinTeams = `cross join lateral (
	select coalesce(array_agg(t.id order by t.id), '{}') as ids,
		coalesce(array_agg(t.uuid::text order by t.id), '{}') as uuids,
		coalesce(array_agg(tm.admin order by t.id), '{}') as admins
	from team_memberships tm
	join teams t on t.id = tm.team_id and t.organization_id = o.id
	where tm.user_id = u.id
) tt`

// oidcOnly is whether an organization o accepts OIDC tokens only. It reads
// oidc_configurations_pkey.
const oidcOnly = `exists (select from oidc_configurations c
		where c.organization_id = o.id and c.enabled and c.mode = 'oidc_only') as oidc_only`

// identityByDigest reads api_keys_digest_key. The teams come as three arrays in one order, so
// that a request costs one round trip.
const identityByDigest = `
select k.id as key_id, k.digest, k.organization_id, o.uuid as organization_uuid, o.slug,
	u.id as user_id, u.uuid as user_uuid, u.kind, coalesce(u.email, '') as email, u.username,
	m.role, m.blocked_at is not null as blocked,
	k.last_used_at is null or k.last_used_at < now() - interval '5 minutes' as stale,
	` + oidcOnly + `,
	tt.ids, tt.uuids, tt.admins, k.scopes
from api_keys k
join organizations o on o.id = k.organization_id
join users u on u.id = k.user_id
join memberships m on m.organization_id = k.organization_id and m.user_id = k.user_id
` + joinTeams + `
where k.digest = $1 and k.kind = $2 and k.revoked_at is null`

type identityRow struct {
	KeyID            int64          `db:"key_id"`
	Digest           []byte         `db:"digest"`
	OrganizationID   int64          `db:"organization_id"`
	OrganizationUUID uuid.UUID      `db:"organization_uuid"`
	Slug             string         `db:"slug"`
	UserID           int64          `db:"user_id"`
	UserUUID         uuid.UUID      `db:"user_uuid"`
	Kind             UserKind       `db:"kind"`
	Email            string         `db:"email"`
	Username         string         `db:"username"`
	Role             Role           `db:"role"`
	Blocked          bool           `db:"blocked"`
	Stale            bool           `db:"stale"`
	OIDCOnly         bool           `db:"oidc_only"`
	TeamIDs          pq.Int64Array  `db:"ids"`
	TeamUUIDs        pq.StringArray `db:"uuids"`
	TeamAdmins       pq.BoolArray   `db:"admins"`
	Scopes           pq.StringArray `db:"scopes"`
}

// IdentityByKey finds who a key of the kind (KindAPI or KindAccess) stands for.
// ErrNotFound when there is no such key, it has ended, or the user left the
// organization. A blocked user is found: the caller reports why it is refused.
func IdentityByKey(ctx context.Context, q storage.Querier, kind KeyKind, digest Digest) (*Identity, error) {
	stored, err := kind.stored()
	if err != nil {
		return nil, err
	}
	var row identityRow
	if err := q.GetContext(ctx, &row, identityByDigest, digest[:], stored); err != nil {
		return nil, storage.Wrap(err, "identity of a key")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("identity of a key: %w", storage.ErrNotFound)
	}
	return row.identity()
}

func (row *identityRow) identity() (*Identity, error) {
	id := &Identity{KeyID: row.KeyID, OrganizationID: row.OrganizationID, OrganizationUUID: row.OrganizationUUID,
		OrganizationSlug: row.Slug, UserID: row.UserID, UserUUID: row.UserUUID, UserKind: row.Kind,
		Email: row.Email, Username: row.Username, Role: row.Role, Blocked: row.Blocked, Stale: row.Stale, OIDCOnly: row.OIDCOnly}
	for i, team := range row.TeamIDs {
		parsed, err := uuid.Parse(row.TeamUUIDs[i])
		if err != nil {
			return nil, fmt.Errorf("uuid of team %d: %w", team, err)
		}
		id.Teams = append(id.Teams, TeamPlace{ID: team, UUID: parsed, Admin: row.TeamAdmins[i]})
	}
	for _, scope := range row.Scopes {
		id.Scopes = append(id.Scopes, Scope(scope))
	}
	return id, nil
}

// touchKey has the condition once more, so that of many requests at once one writes.
const touchKey = `
update api_keys set last_used_at = now()
where id = $1 and (last_used_at is null or last_used_at < now() - interval '5 minutes')`

// TouchKey writes down that a key was used just now.
func TouchKey(ctx context.Context, q storage.Querier, keyID int64) error {
	_, err := q.ExecContext(ctx, touchKey, keyID)
	return storage.Wrap(err, "write a key's last use")
}

const identityByOIDC = `
select 0 as key_id, ''::bytea as digest, c.organization_id, o.uuid as organization_uuid, o.slug,
	u.id as user_id, u.uuid as user_uuid, u.kind, coalesce(u.email, '') as email, u.username,
	m.role, m.blocked_at is not null as blocked, false as stale, false as oidc_only,
	tt.ids, tt.uuids, tt.admins
from oidc_configurations c
join organizations o on o.id = c.organization_id
join users u on u.id = c.user_id
join memberships m on m.organization_id = c.organization_id and m.user_id = c.user_id
cross join lateral (
	select coalesce(array_agg(t.id order by t.id), '{}') as ids,
		coalesce(array_agg(t.uuid::text order by t.id), '{}') as uuids,
		coalesce(array_agg(coalesce(tm.admin, false) order by t.id), '{}') as admins
	from teams t left join team_memberships tm on tm.team_id = t.id and tm.user_id = u.id
	where t.organization_id = o.id and (c.all_teams or tm.user_id is not null)
) tt
where c.organization_id = $1`

// OIDCIdentity finds who the requests of an organization's configuration act as.
func OIDCIdentity(ctx context.Context, q storage.Querier, organizationID int64) (*Identity, error) {
	var row identityRow
	if err := q.GetContext(ctx, &row, identityByOIDC, organizationID); err != nil {
		return nil, storage.Wrap(err, "identity of an OIDC configuration")
	}
	return row.identity()
}
