package stepgroup

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// Filter selects groups of a list.
type Filter struct {
	OrganizationID int64
	Search         string // part of the name, in any case
	storage.Page
}

const (
	groupColumns = `g.id, g.team_id, t.uuid as team_uuid, g.name, g.creator_uuid, g.modifier_uuid, g.created_at, g.updated_at,
	v.id as revision_id, v.number, v.description, v.parameters, v.created_at as revised_at, jsonb_array_length(v.steps) as step_count,
	(select count(*) from step_group_uses u where u.group_id = g.id) as users`
	fromGroups = `
from step_groups g join teams t on t.id = g.team_id join step_group_revisions v on v.id = g.revision_id
where g.organization_id = $1 and g.deleted_at is null`
)

type groupRow struct {
	ID           uuid.UUID `db:"id"`
	TeamID       int64     `db:"team_id"`
	TeamUUID     uuid.UUID `db:"team_uuid"`
	Name         string    `db:"name"`
	CreatorUUID  uuid.UUID `db:"creator_uuid"`
	ModifierUUID uuid.UUID `db:"modifier_uuid"`
	CreatedAt    time.Time `db:"created_at"`
	UpdatedAt    time.Time `db:"updated_at"`
	revisionRow
	Users     int `db:"users"`
	StepCount int `db:"step_count"`
}

type revisionRow struct {
	RevisionID  uuid.UUID `db:"revision_id"`
	Number      int       `db:"number"`
	Description string    `db:"description"`
	Parameters  []byte    `db:"parameters"`
	Steps       []byte    `db:"steps"`
	RevisedAt   time.Time `db:"revised_at"`
}

func (r *revisionRow) revision() (Revision, error) {
	v := Revision{ID: r.RevisionID, Number: r.Number, Description: r.Description, Parameters: []group.Parameter{}, Steps: []step.Step{},
		CreatedAt: r.RevisedAt}
	if err := json.Unmarshal(r.Parameters, &v.Parameters); err != nil {
		return v, fmt.Errorf("parameters of step group revision %s: %w", r.RevisionID, err)
	}
	if err := json.Unmarshal(r.Steps, &v.Steps); err != nil {
		return v, fmt.Errorf("steps of step group revision %s: %w", r.RevisionID, err)
	}
	return v, nil
}

func (r *groupRow) group() (Group, error) {
	g := Group{ID: r.ID, TeamID: r.TeamID, TeamUUID: r.TeamUUID, Name: r.Name, CreatorUUID: r.CreatorUUID, ModifierUUID: r.ModifierUUID,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, UserCount: r.Users, StepCount: r.StepCount}
	var err error
	g.Revision, err = r.revision()
	return g, err
}

const (
	ofList     = ` and ($2::text = '' or lower(g.name) like lower($2::text))`
	listGroups = `select ` + groupColumns + `, '[]' as steps` + fromGroups + ofList + `
order by g.created_at desc, g.id desc limit $3 offset $4`
	countGroups = `select count(*) from step_groups g where g.organization_id = $1 and g.deleted_at is null` + ofList
)

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// List returns a page of groups, newest first, and the number of all that match.
func List(ctx context.Context, q storage.Querier, f Filter) ([]Group, int, error) {
	part := ""
	if f.Search != "" {
		part = "%" + likeEscapes.Replace(f.Search) + "%"
	}
	var total int
	if err := q.GetContext(ctx, &total, countGroups, f.OrganizationID, part); err != nil {
		return nil, 0, storage.Wrap(err, "count step groups")
	}
	var rows []groupRow
	if err := q.SelectContext(ctx, &rows, listGroups, f.OrganizationID, part, f.RowLimit(), f.RowOffset()); err != nil {
		return nil, 0, storage.Wrap(err, "list step groups")
	}
	list := make([]Group, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].group(); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

// ByID reads one group; ErrNotFound also for another organization's and for one that was
// deleted.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Group, error) {
	var row groupRow
	if err := q.GetContext(ctx, &row, `select `+groupColumns+`, v.steps`+fromGroups+` and g.id = $2`, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "step group "+id.String())
	}
	g, err := row.group()
	if err != nil {
		return nil, err
	}
	return &g, nil
}

const revisionsOf = `
select v.id as revision_id, v.number, v.description, v.parameters, v.steps, v.created_at as revised_at
from step_group_revisions v where v.group_id = $1 order by v.number desc limit $2 offset $3`

// Revisions returns a page of the revisions of a group, newest first, and the number of all.
// The caller knows that the group is the organization's.
func Revisions(ctx context.Context, q storage.Querier, id uuid.UUID, p storage.Page) ([]Revision, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*) from step_group_revisions where group_id = $1`, id); err != nil {
		return nil, 0, storage.Wrap(err, "count revisions of step group "+id.String())
	}
	var rows []revisionRow
	if err := q.SelectContext(ctx, &rows, revisionsOf, id, p.RowLimit(), p.RowOffset()); err != nil {
		return nil, 0, storage.Wrap(err, "revisions of step group "+id.String())
	}
	list := make([]Revision, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].revision(); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

const (
	usersOf = `
with users as (
	select 'case' as kind, c.id as id, c.name from step_group_uses u join test_cases c on c.id = u.case_id where u.group_id = $1
	union all
	select 'suite', s.id::text, s.name from step_group_uses u join test_suites s on s.id = u.suite_id where u.group_id = $1
	union all
	select 'group', g.id::text, g.name from step_group_uses u join step_groups g on g.id = u.user_group_id where u.group_id = $1
), placed as (
	select kind, id, name, row_number() over (partition by kind order by lower(name), id) as place, count(*) over (partition by kind) as total
	from users
)
select kind, id, name, total from placed where place <= $2 order by kind, place`
)

// UsersOf returns who uses a group by itself. The caller knows that the group is the
// organization's.
func UsersOf(ctx context.Context, q storage.Querier, id uuid.UUID) (u Users, err error) {
	var rows []struct {
		Kind string `db:"kind"`
		User
		Total int `db:"total"`
	}
	if err := q.SelectContext(ctx, &rows, usersOf, id, MaxUsers); err != nil {
		return u, storage.Wrap(err, "users of step group "+id.String())
	}
	u.Cases, u.Suites, u.Groups = []User{}, []User{}, []User{}
	for _, row := range rows {
		switch row.Kind {
		case "case":
			u.Cases, u.CaseCount = append(u.Cases, row.User), row.Total
		case "suite":
			u.Suites, u.SuiteCount = append(u.Suites, row.User), row.Total
		default:
			u.Groups, u.GroupCount = append(u.Groups, row.User), row.Total
		}
	}
	return u, nil
}

// latestOf follows groups in groups one step further than they may be deep, to say that they
// are too deep.
const latestOf = `
with recursive used(id, depth) as (
	select id, 1 from unnest($2::uuid[]) as id
	union
	select u.group_id, x.depth + 1 from used x join step_group_uses u on u.user_group_id = x.id where x.depth <= $3
)
select g.id::text as id, v.id::text as revision_id, g.name, v.parameters, v.steps
from (select distinct id from used) x join step_groups g on g.id = x.id join step_group_revisions v on v.id = g.revision_id
where g.organization_id = $1 and g.deleted_at is null`

// Latest returns the latest revisions of groups and of those that they run, by their ids.
// Groups that are not there are left out.
func Latest(ctx context.Context, q storage.Querier, organizationID int64, ids []string) (group.Groups, error) {
	list, err := parse(ids)
	if err != nil || len(list) == 0 {
		return group.Groups{}, err
	}
	var rows []struct {
		ID         string `db:"id"`
		RevisionID string `db:"revision_id"`
		Name       string `db:"name"`
		Parameters []byte `db:"parameters"`
		Steps      []byte `db:"steps"`
	}
	if err := q.SelectContext(ctx, &rows, latestOf, organizationID, storage.UUIDs(list), group.MaxDepth+1); err != nil {
		return nil, storage.Wrap(err, "step groups of steps")
	}
	all := make(group.Groups, len(rows))
	for _, row := range rows {
		g := &group.Group{ID: row.ID, RevisionID: row.RevisionID, Name: row.Name}
		if err := json.Unmarshal(row.Parameters, &g.Parameters); err != nil {
			return nil, fmt.Errorf("parameters of step group %s: %w", row.ID, err)
		}
		if err := json.Unmarshal(row.Steps, &g.Steps); err != nil {
			return nil, fmt.Errorf("steps of step group %s: %w", row.ID, err)
		}
		all[row.ID] = g
	}
	return all, nil
}

// Name returns the name of a group, also of one that was deleted; "" of none of the
// organization.
func Name(ctx context.Context, q storage.Querier, organizationID int64, id string) (name string, err error) {
	list, err := parse([]string{id})
	if err != nil || len(list) == 0 {
		return "", err
	}
	err = q.GetContext(ctx, &name, `select coalesce((select name from step_groups where organization_id = $1 and id = $2), '')`,
		organizationID, list[0])
	return name, storage.Wrap(err, "name of a step group")
}

// parse reads ids of run_group steps, which step.Validate has checked.
func parse(ids []string) ([]uuid.UUID, error) {
	list := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		var err error
		if list[i], err = uuid.Parse(id); err != nil {
			return nil, fmt.Errorf("id of a step group: %w", err)
		}
	}
	return list, nil
}
