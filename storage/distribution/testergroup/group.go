// Package testergroup has groups of testers: who is in them, and which apps and builds they have.
//
// A group belongs to a team, whose admins may change it; what it is given may belong to any
// team of the organization, and takes the rights on that. Members are any number in two
// statements with one audit entry. Beside the groups, a tester may be given an app by itself
// (AddProjectTesters), so the people of an app are found in all of these (ProjectTesters).
//
// Lists of people are read in the order of the users, each table by an index that begins with
// what bounds it, and counted up to a bound: a page costs what it shows.
//
// Failures are storage.ErrNotFound, storage.ErrConflict for a name that is taken, ErrNoAccess
// for a group of another team, and distribution.ErrNoAccess for an app of one.
package testergroup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/text"
	"github.com/slipway-qa/slipway/storage/setting"
)

// ErrNoAccess means that the group belongs to a team that the caller is no admin of.
var ErrNoAccess = errors.New("this takes admin rights on the group's team")

// maxTries bounds how often a group is looked for that others create or delete meanwhile.
const maxTries = 5

// Group is a group of testers. Its team's admins may change it; what it is granted
// may belong to any team of the organization.
type Group struct {
	ID            int64     `db:"id" json:"id"`
	Name          string    `db:"name" json:"name"`
	TeamID        int64     `db:"team_id" json:"team_id"` // 0: the organization had no team
	Private       bool      `db:"private" json:"private"`
	TestersCount  int       `db:"testers_count" json:"testers_count"`
	ProjectsCount int       `db:"projects_count" json:"projects_count"`
	CreatedAt     time.Time `db:"created_at" json:"created_at"`
	UpdatedAt     time.Time `db:"updated_at" json:"updated_at"`
}

const groupColumns = `g.id, g.name, coalesce(g.team_id, 0) as team_id, g.private, g.testers_count,
	(select count(*) from project_groups pg join projects p on p.id = pg.project_id and p.deleted_at is null
		where pg.tester_group_id = g.id) as projects_count, g.created_at, g.updated_at`

const groupByID = `
select ` + groupColumns + ` from tester_groups g where g.organization_id = $1 and g.id = $2`

// ByID reads a group of the organization.
func ByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Group, error) {
	var g Group
	if err := q.GetContext(ctx, &g, groupByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("group %d", id))
	}
	return &g, nil
}

// ByRef finds a group by its name (in any case) or id. A group whose name is
// the id of another goes first.
func ByRef(ctx context.Context, q storage.Querier, organizationID int64, ref string) (*Group, error) {
	refs, err := grant.FindGroups(ctx, q, organizationID, []string{ref})
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 || refs[0].ID == 0 {
		return nil, fmt.Errorf("group %q: %w", ref, storage.ErrNotFound)
	}
	return ByID(ctx, q, organizationID, refs[0].ID)
}

// NewGroup is a group to create.
type NewGroup struct {
	Name    string
	Private bool
	// TeamID is the team whose admins may change the group; 0: the only team of the
	// organization, and where there are several ErrNoTeam, or with AnyTeam the
	// writer's first.
	TeamID  int64
	AnyTeam bool
	// Projects are the apps that the group may install.
	Projects []int64
}

// CreateInTeam creates a group without testers. ErrConflict when the name is taken
// in the organization, ErrNoAccess for a team of others.
func CreateInTeam(ctx context.Context, tx *storage.Tx, w account.Writer, n NewGroup) (*Group, error) {
	name, err := storage.Name("name", n.Name, text.MaxLine)
	if err != nil {
		return nil, err
	}
	g := Group{Name: name, Private: n.Private}
	if g.TeamID, err = groupTeam(ctx, tx, w, n); err != nil {
		return nil, err
	}
	if err := mayGrant(ctx, tx, w, n.Projects, 0); err != nil {
		return nil, err
	}
	if g.ID, err = g.insert(ctx, tx, w); err != nil {
		return nil, err
	}
	if g.ID == 0 {
		return nil, fmt.Errorf("group %q: %w", name, storage.ErrConflict)
	}
	if err := grantProjects(ctx, tx, g.ID, n.Projects); err != nil {
		return nil, err
	}
	err = account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GroupCreated, Actor: w.Actor,
		Subject: g.Name, Detail: map[string]any{"id": g.ID, "team_id": g.TeamID, "private": g.Private, "projects": listed(n.Projects)}})
	if err != nil {
		return nil, err
	}
	return ByID(ctx, tx, w.OrganizationID, g.ID)
}

// insertGroup has no row for one of two who create one name at once.
const insertGroup = `
insert into tester_groups (organization_id, team_id, name, private) values ($1, nullif($2::bigint, 0), $3, $4)
on conflict (organization_id, lower(name)) do nothing returning id`

// insert writes a new group and returns its id; 0 when the name is taken.
func (g *Group) insert(ctx context.Context, tx *storage.Tx, w account.Writer) (int64, error) {
	var made []int64
	err := tx.SelectContext(ctx, &made, insertGroup, w.OrganizationID, g.TeamID, g.Name, g.Private)
	if err != nil || len(made) == 0 {
		return 0, storage.Wrap(err, "create group "+g.Name)
	}
	return made[0], nil
}

// groupTeam settles the team of a new group; 0 where the organization has none and
// the writer may change everything in it.
func groupTeam(ctx context.Context, tx *storage.Tx, w account.Writer, n NewGroup) (int64, error) {
	if _, err := setting.Of(ctx, tx, w.OrganizationID); err != nil { // there is the organization
		return 0, err
	}
	if n.TeamID != 0 {
		return n.TeamID, mayOwnGroup(ctx, tx, w, n.TeamID)
	}
	var teams []int64
	err := tx.SelectContext(ctx, &teams, `select id from teams where organization_id = $1 order by id limit 2`, w.OrganizationID)
	switch {
	case err != nil:
		return 0, storage.Wrap(err, "teams of the organization")
	case len(teams) == 0 && w.AllTeams:
		return 0, nil
	case len(teams) == 1 && w.May(teams[0]):
		return teams[0], nil
	case len(teams) == 1:
		return 0, ErrNoAccess
	case n.AnyTeam:
		return distribution.DefaultTeam(ctx, tx, w)
	}
	return 0, distribution.ErrNoTeam
}

// mayOwnGroup checks a team that a group is to belong to.
func mayOwnGroup(ctx context.Context, q storage.Querier, w account.Writer, teamID int64) error {
	err := distribution.TeamOf(ctx, q, w.OrganizationID, teamID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return storage.Invalid("team_id", "is no team of the organization")
	case err == nil && !w.May(teamID):
		return ErrNoAccess
	}
	return err
}

// Ensure returns the group that a text names (its name in any case, or id), and
// creates one of that name in the writer's first team where there is none. It is kept
// from being deleted. ErrNoAccess when it belongs to a team of others.
func Ensure(ctx context.Context, tx *storage.Tx, w account.Writer, ref string) (*Group, error) {
	name, err := storage.Name("group", ref, text.MaxLine)
	if err != nil {
		return nil, err
	}
	for range maxTries {
		refs, err := grant.FindGroups(ctx, tx, w.OrganizationID, []string{name})
		if err != nil {
			return nil, err
		}
		if refs[0].ID != 0 {
			g, err := lockGroup(ctx, tx, w, refs[0].ID, groupStays)
			if !errors.Is(err, storage.ErrNotFound) {
				return g, err
			}
			continue // deleted meanwhile
		}
		g, err := CreateInTeam(ctx, tx, w, NewGroup{Name: name, AnyTeam: true})
		if !errors.Is(err, storage.ErrConflict) {
			return g, err
		}
	}
	return nil, fmt.Errorf("group %q: %w", name, storage.ErrConflict)
}

// How a group is locked. Who only needs it to stay, such as to add members, takes the
// first lock, which all may hold at once; the second keeps others from changing it, the
// third from naming it. Nobody goes from one lock to a stronger one, but for members
// that are added.
const (
	groupStays   = ` for key share of g`
	groupChanges = ` for no key update of g`
	groupGoes    = ` for update of g`
)

// lockGroup reads a group to change it; ErrNotFound, then ErrNoAccess.
func lockGroup(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, lock string) (*Group, error) {
	var g Group
	if err := tx.GetContext(ctx, &g, groupByID+lock, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("group %d", id))
	}
	if !w.May(g.TeamID) {
		return nil, ErrNoAccess
	}
	return &g, nil
}

// Changeable reads a group that the writer may change, and keeps it from being
// deleted; ErrNotFound, then ErrNoAccess.
func Changeable(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (*Group, error) {
	return lockGroup(ctx, tx, w, id, groupStays)
}

// Change changes the members that are not nil.
type Change struct {
	Name     *string
	Private  *bool
	TeamID   *int64
	Projects *[]int64 // replaces the apps that the group may install
}

const updateGroup = `
update tester_groups set name = $2, private = $3, team_id = nullif($4::bigint, 0), updated_at = now() where id = $1`

// Update changes a group. ErrConflict when the name is taken, ErrNoAccess for a
// group or team of others, ErrNoAccess for an app of others that the group did not have.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, c Change) (*Group, error) {
	before, err := lockGroup(ctx, tx, w, id, groupChanges)
	if err != nil {
		return nil, err
	}
	g := *before
	if c.Name != nil {
		if g.Name, err = storage.Name("name", *c.Name, text.MaxLine); err != nil {
			return nil, err
		}
	}
	change.Set(&g.Private, c.Private)
	if change.Set(&g.TeamID, c.TeamID); g.TeamID != before.TeamID {
		if err := mayOwnGroup(ctx, tx, w, g.TeamID); err != nil {
			return nil, err
		}
	}
	var diff change.Diff
	diff.Note("name", before.Name, g.Name)
	diff.Note("private", before.Private, g.Private)
	diff.Note("team_id", before.TeamID, g.TeamID)
	if diff.Any() {
		if _, err := tx.ExecContext(ctx, updateGroup, id, g.Name, g.Private, g.TeamID); err != nil {
			return nil, storage.Wrap(err, fmt.Sprintf("change group %d", id))
		}
	}
	if c.Projects != nil {
		from, to, err := replaceProjects(ctx, tx, w, id, *c.Projects)
		if err != nil {
			return nil, err
		}
		diff.Note("projects", from, to)
	}
	if diff.Any() {
		err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GroupUpdated,
			Actor: w.Actor, Subject: g.Name, Detail: diff})
		if err != nil {
			return nil, err
		}
	}
	return ByID(ctx, tx, w.OrganizationID, id)
}

// Remove deletes a group with its grants; its testers stay testers.
func Remove(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	g, err := lockGroup(ctx, tx, w, id, groupGoes)
	if err != nil {
		return err
	}
	return g.remove(ctx, tx, w)
}

func (g *Group) remove(ctx context.Context, tx *storage.Tx, w account.Writer) error {
	if _, err := tx.ExecContext(ctx, `delete from tester_groups where id = $1`, g.ID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("delete group %d", g.ID))
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.GroupDeleted,
		Actor: w.Actor, Subject: g.Name, Detail: map[string]any{"id": g.ID, "testers": g.TestersCount}})
}

// listed is a list that an audit row shows as [] when it is empty.
func listed(list []int64) []int64 {
	if list == nil {
		return []int64{}
	}
	return list
}

const groupNames = `
select gm.user_id, g.id, g.name from tester_group_members gm join tester_groups g on g.id = gm.tester_group_id
where g.organization_id = $1 and gm.user_id = any($2)
order by gm.user_id, lower(g.name), g.id`

// Name is a group as the record of a tester has it.
type Name struct {
	ID   int64  `db:"id" json:"id"`
	Name string `db:"name" json:"name"`
}

// OfUsers returns the groups of users in the organization, by name.
func OfUsers(ctx context.Context, q storage.Querier, organizationID int64, userIDs []int64) (map[int64][]Name, error) {
	var rows []struct {
		UserID int64 `db:"user_id"`
		Name
	}
	if err := q.SelectContext(ctx, &rows, groupNames, organizationID, pq.Array(userIDs)); err != nil {
		return nil, storage.Wrap(err, "groups of testers")
	}
	of := make(map[int64][]Name, len(userIDs))
	for _, row := range rows {
		of[row.UserID] = append(of[row.UserID], row.Name)
	}
	return of, nil
}
