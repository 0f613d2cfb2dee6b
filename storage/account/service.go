package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

const serviceAccounts = `
select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
	m.id as membership_id, m.role, m.blocked_at
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and u.kind = 'service'
order by m.id desc limit $2 offset $3`

const countServiceAccounts = `
select count(*) from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and u.kind = 'service'`

// ServiceAccounts lists an organization's service accounts, newest first, with
// their number.
func ServiceAccounts(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Membership, int, error) {
	list := []Membership{}
	if err := q.SelectContext(ctx, &list, serviceAccounts, organizationID, p.RowLimit(), p.RowOffset()); err != nil {
		return nil, 0, storage.Wrap(err, "list service accounts")
	}
	var total int
	err := q.GetContext(ctx, &total, countServiceAccounts, organizationID)
	return list, total, storage.Wrap(err, "count service accounts")
}

const serviceAccountByID = `
select u.id, u.uuid, u.kind, u.username, u.email, u.name, u.created_at,
	m.id as membership_id, m.role, m.blocked_at
from memberships m join users u on u.id = m.user_id
where m.organization_id = $1 and u.id = $2 and u.kind = 'service'`

// ServiceAccountByID reads a service account of the organization.
func ServiceAccountByID(ctx context.Context, q storage.Querier, organizationID, userID int64) (*Membership, error) {
	var m Membership
	err := q.GetContext(ctx, &m, serviceAccountByID, organizationID, userID)
	return &m, storage.Wrap(err, fmt.Sprintf("service account %d", userID))
}

// deleteServiceAccount deletes an account; its memberships, keys and tokens go with it.
const deleteServiceAccount = `
delete from users u using memberships m
where m.user_id = u.id and m.organization_id = $1 and u.id = $2 and u.kind = 'service'
returning u.id`

// DeleteServiceAccount removes a service account; its keys end at once.
// ErrConflict when the organization would be left without an owner.
func DeleteServiceAccount(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, userID int64) error {
	m, err := ServiceAccountByID(ctx, tx, organizationID, userID)
	if err != nil {
		return err
	}
	if _, err := lockMember(ctx, tx, organizationID, userID); err != nil {
		return err
	}
	var id int64
	if err := tx.GetContext(ctx, &id, deleteServiceAccount, organizationID, userID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("delete service account %d", userID))
	}
	if err := KeepOwner(ctx, tx, organizationID); err != nil {
		return err
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: ServiceAccountDeleted, Actor: actor,
		Subject: m.Label(), Detail: map[string]any{"id": userID}})
}

const keyOf = `
select ` + keyColumns + ` from api_keys where organization_id = $1 and user_id = $2 and id = $3`

// KeyOf reads a key of a user of the organization.
func KeyOf(ctx context.Context, q storage.Querier, organizationID, userID, keyID int64) (*KeyRow, error) {
	var row KeyRow
	err := q.GetContext(ctx, &row, keyOf, organizationID, userID, keyID)
	return &row, storage.Wrap(err, fmt.Sprintf("key %d", keyID))
}

const countKeys = `select count(*) from api_keys where organization_id = $1 and user_id = $2`

// CountKeys counts a user's keys, ended ones too.
func CountKeys(ctx context.Context, q storage.Querier, organizationID, userID int64) (int, error) {
	var n int
	err := q.GetContext(ctx, &n, countKeys, organizationID, userID)
	return n, storage.Wrap(err, "count keys")
}

const teamsOfUser = `
select t.id, t.name from team_memberships tm join teams t on t.id = tm.team_id
where t.organization_id = $1 and tm.user_id = $2 order by t.id`

// TeamName is a team as lists of somebody's teams have it.
type TeamName struct {
	ID   int64  `db:"id" json:"id"`
	Name string `db:"name" json:"name"`
}

// TeamsOfUser are the teams that somebody is in, by id.
func TeamsOfUser(ctx context.Context, q storage.Querier, organizationID, userID int64) ([]TeamName, error) {
	list := []TeamName{}
	err := q.SelectContext(ctx, &list, teamsOfUser, organizationID, userID)
	return list, storage.Wrap(err, fmt.Sprintf("teams of user %d", userID))
}

// namedTeams is how many teams an error names.
const namedTeams = 10

// inSomeTeam gives a machine that was put into no team the default one. One that could
// change nothing is refused: it would only show in its first job.
func inSomeTeam(ctx context.Context, tx *storage.Tx, actor Actor, n NewServiceAccount, userID int64) error {
	teams, err := TeamsOfUser(ctx, tx, n.OrganizationID, userID)
	if err != nil || len(teams) > 0 {
		return err
	}
	if n.DefaultTeam != 0 {
		return joinTeam(ctx, tx, actor, n.OrganizationID, userID, n.DefaultTeam)
	}
	err = tx.SelectContext(ctx, &teams, `select id, name from teams where organization_id = $1 order by id limit $2`,
		n.OrganizationID, namedTeams)
	if err != nil {
		return storage.Wrap(err, "teams of the organization")
	}
	names := make([]string, 0, len(teams))
	for _, t := range teams {
		names = append(names, fmt.Sprintf("%d (%s)", t.ID, t.Name))
	}
	return &storage.InvalidError{Field: "team_id", Msg: "is required, since the organization does not have exactly one team: " +
		strings.Join(names, ", ")}
}
