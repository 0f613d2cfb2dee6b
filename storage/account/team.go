package account

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Team is a part of an organization that owns projects and test cases.
type Team struct {
	ID             int64     `db:"id" json:"id"`
	UUID           uuid.UUID `db:"uuid" json:"uuid"`
	OrganizationID int64     `db:"organization_id" json:"organization_id"`
	Name           string    `db:"name" json:"name"`
	CreatedAt      time.Time `db:"created_at" json:"created_at"`
}

const teamColumns = `id, uuid, organization_id, name, created_at`

// NewTeam is a team to create.
type NewTeam struct {
	UUID           uuid.UUID // zero: a new one
	OrganizationID int64
	Name           string
}

const insertTeam = `
insert into teams (uuid, organization_id, name) values ($1, $2, $3)
returning ` + teamColumns

// CreateTeam creates an empty team. ErrConflict when the organization has one of
// that name, ErrNotFound when there is no such organization.
func CreateTeam(ctx context.Context, tx *storage.Tx, actor Actor, n NewTeam) (*Team, error) {
	name, err := CleanName("name", n.Name)
	if err != nil {
		return nil, err
	}
	if err := LockOrganization(ctx, tx, n.OrganizationID); err != nil {
		return nil, err
	}
	if n.UUID == uuid.Nil {
		if n.UUID, err = newUUID(); err != nil {
			return nil, err
		}
	}
	var t Team
	if err := tx.GetContext(ctx, &t, insertTeam, n.UUID, n.OrganizationID, name); err != nil {
		return nil, storage.Wrap(err, "create team "+name)
	}
	return &t, Audit(ctx, tx, Event{OrganizationID: t.OrganizationID, Type: TeamCreated, Actor: actor,
		Subject: t.Name, Detail: map[string]any{"id": t.ID}})
}

// Both sides must belong to the organization: otherwise the select has no row.
const upsertTeamMember = `
insert into team_memberships (team_id, user_id, admin)
select t.id, m.user_id, $4 from teams t
join memberships m on m.organization_id = t.organization_id and m.user_id = $3
where t.organization_id = $1 and t.id = $2
on conflict (team_id, user_id) do update set admin = excluded.admin
returning team_id`

// AddToTeam puts a member of the organization into one of its teams, or changes
// whether the member is the team's admin.
func AddToTeam(ctx context.Context, tx *storage.Tx, actor Actor, organizationID, teamID, userID int64, admin bool) error {
	var id int64
	if err := tx.GetContext(ctx, &id, upsertTeamMember, organizationID, teamID, userID, admin); err != nil {
		return storage.Wrap(err, fmt.Sprintf("add user %d to team %d", userID, teamID))
	}
	return Audit(ctx, tx, Event{OrganizationID: organizationID, Type: TeamMemberAdded, Actor: actor,
		Subject: fmt.Sprintf("team %d", teamID), Detail: map[string]any{"user_id": userID, "admin": admin}})
}
