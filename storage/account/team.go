package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// ErrTeamAccess means that the writer is neither admin of the organization nor of the team.
var ErrTeamAccess = errors.New("this takes admin rights on the team")

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

const teamByID = `select ` + teamColumns + ` from teams where organization_id = $1 and id = $2`

// lockTeam reads a team to change it; ErrNotFound, then ErrTeamAccess. What names the
// team may be written meanwhile.
func lockTeam(ctx context.Context, tx *storage.Tx, w Writer, id int64) (*Team, error) {
	var t Team
	if err := tx.GetContext(ctx, &t, teamByID+` for no key update`, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("team %d", id))
	}
	if !w.May(id) {
		return nil, ErrTeamAccess
	}
	return &t, nil
}

// RenameTeam changes a team's name. ErrConflict when another one has it.
func RenameTeam(ctx context.Context, tx *storage.Tx, w Writer, id int64, name string) error {
	t, err := lockTeam(ctx, tx, w, id)
	if err != nil {
		return err
	}
	if name, err = CleanName("name", name); err != nil || name == t.Name {
		return err
	}
	if _, err := tx.ExecContext(ctx, `update teams set name = $2 where id = $1`, id, name); err != nil {
		return storage.Wrap(err, fmt.Sprintf("rename team %d", id))
	}
	return Audit(ctx, tx, Event{OrganizationID: w.OrganizationID, Type: TeamUpdated, Actor: w.Actor, Subject: name,
		Detail: map[string]any{"id": id, "from": map[string]any{"name": t.Name}, "to": map[string]any{"name": name}}})
}

// TeamInUseError reports what a team still has, so that it is not deleted: ErrConflict.
type TeamInUseError struct{ Has []string }

func (e *TeamInUseError) Error() string { return "the team still has " + strings.Join(e.Has, ", ") }

// Unwrap returns ErrConflict.
func (e *TeamInUseError) Unwrap() error { return storage.ErrConflict }

// ErrLastTeam means that an organization keeps one team, which its apps and cases belong to.
var ErrLastTeam = fmt.Errorf("the organization's only team: %w", storage.ErrConflict)

// teamHas counts what a team has. An app that was deleted counts until its task has removed
// it.
const teamHas = `
select (select count(*) from projects where team_id = $1) as apps,
	(select count(*) from test_cases where team_id = $1) as cases,
	(select count(*) from test_suites where team_id = $1) as suites,
	(select count(*) from test_schedules where team_id = $1) as schedules,
	(select count(*) from test_variables where team_id = $1) as variables,
	(select count(*) from test_environments where team_id = $1) as environments,
	(select count(*) from tester_groups where team_id = $1) as groups,
	(select count(*) from teams where organization_id = $2) as teams`

// DeleteTeam removes a team that has nothing but members, who stay in the organization.
// *TeamInUseError, ErrLastTeam.
func DeleteTeam(ctx context.Context, tx *storage.Tx, w Writer, id int64) error {
	if err := LockOrganization(ctx, tx, w.OrganizationID); err != nil {
		return err
	}
	var t Team
	// What is about to name the team waits, and finds it gone.
	if err := tx.GetContext(ctx, &t, teamByID+` for update`, w.OrganizationID, id); err != nil {
		return storage.Wrap(err, fmt.Sprintf("team %d", id))
	}
	if !w.May(id) {
		return ErrTeamAccess
	}
	var has struct{ Apps, Cases, Suites, Schedules, Variables, Environments, Groups, Teams int }
	if err := tx.GetContext(ctx, &has, teamHas, id, w.OrganizationID); err != nil {
		return storage.Wrap(err, "what a team has")
	}
	inUse := &TeamInUseError{}
	for _, part := range []struct {
		n    int
		name string
	}{{has.Apps, "apps"}, {has.Groups, "tester groups"}, {has.Cases, "test cases"}, {has.Suites, "test suites"},
		{has.Schedules, "test schedules"}, {has.Variables, "variables"}, {has.Environments, "environments"}} {
		if part.n > 0 {
			inUse.Has = append(inUse.Has, fmt.Sprintf("%d %s", part.n, part.name))
		}
	}
	if len(inUse.Has) > 0 {
		return inUse
	}
	if has.Teams <= 1 {
		return ErrLastTeam
	}
	if _, err := tx.ExecContext(ctx, `delete from teams where id = $1`, id); err != nil {
		return storage.Wrap(err, fmt.Sprintf("delete team %d", id))
	}
	return Audit(ctx, tx, Event{OrganizationID: w.OrganizationID, Type: TeamDeleted, Actor: w.Actor, Subject: t.Name,
		Detail: map[string]any{"id": id}})
}

// MayChangeTeam locks a team that the writer may change; ErrNotFound, then ErrTeamAccess.
func MayChangeTeam(ctx context.Context, tx *storage.Tx, w Writer, id int64) error {
	_, err := lockTeam(ctx, tx, w, id)
	return err
}
