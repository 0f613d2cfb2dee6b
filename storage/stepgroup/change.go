package stepgroup

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// NewGroup is a group to create. Steps are those that step.Validate has checked.
type NewGroup struct {
	TeamID      int64 // that the writer may write for
	Name        string
	Description string
	Parameters  []group.Parameter
	Steps       []step.Step
}

// Change is what of a group to change; nil members stay. Other steps, parameters or another
// description make a new revision.
type Change struct {
	Name        *string
	Description *string
	Parameters  *[]group.Parameter
	Steps       *[]step.Step
}

// checkParameters refuses names that are none or stand twice, and long defaults.
func checkParameters(list []group.Parameter) error {
	if len(list) > step.MaxParameters {
		return storage.Invalid("parameters", "must be at most %d", step.MaxParameters)
	}
	seen := map[string]bool{}
	for i, p := range list {
		at := fmt.Sprintf("parameters[%d]", i)
		switch {
		case !step.IsParameterName(p.Name):
			return storage.Invalid(at+".name", "must be 1 to 64 lower-case letters, digits and underscores")
		case seen[p.Name]:
			return storage.Invalid(at+".name", "is the name of another parameter too")
		case p.Default != nil && (len(*p.Default) > step.MaxText || !utf8.ValidString(*p.Default) || storage.HoldsNUL(*p.Default)):
			return storage.Invalid(at+".default", "must be UTF-8 text of at most %d bytes", step.MaxText)
		}
		seen[p.Name] = true
	}
	return nil
}

// revise checks a revision of a group, which holds the lock alone, and writes it as the
// latest one.
func revise(ctx context.Context, tx *storage.Tx, organizationID int64, id uuid.UUID, name string, v *Revision) error {
	if utf8.RuneCountInString(v.Description) > MaxDescription || !utf8.ValidString(v.Description) || storage.HoldsNUL(v.Description) {
		return storage.Invalid("description", "must be UTF-8 text of at most %d characters", MaxDescription)
	}
	if err := checkParameters(v.Parameters); err != nil {
		return err
	}
	g := &group.Group{ID: id.String(), RevisionID: v.ID.String(), Name: name, Parameters: v.Parameters, Steps: v.Steps}
	if err := named("steps", g.Own()); err != nil {
		return err
	}
	ids := group.IDs(v.Steps)
	if err := checkInside(ctx, tx, organizationID, g, ids); err != nil {
		return err
	}
	steps, err := document("steps", v.Steps)
	if err != nil {
		return err
	}
	parameters, err := document("parameters", v.Parameters)
	if err != nil {
		return err
	}
	uses, err := parse(ids)
	if err != nil {
		return err
	}
	err = tx.GetContext(ctx, &v.Number, insertRevision, v.ID, id, v.Description, parameters, steps, storage.UUIDs(uses))
	if err != nil {
		return storage.Wrap(err, "write a revision of step group "+id.String())
	}
	_, err = tx.ExecContext(ctx, deleteOldRevisions, id, v.Number, MaxRevisions)
	return storage.Wrap(err, "delete old revisions of step group "+id.String())
}

// around is how deep the groups around one stand, 0 where no group runs it.
const around = `
with recursive above(id, depth) as (
	select user_group_id, 1 from step_group_uses where group_id = $1 and user_group_id is not null
	union
	select u.user_group_id, x.depth + 1 from above x join step_group_uses u on u.group_id = x.id
	where u.user_group_id is not null and x.depth <= $2
)
select coalesce(max(depth), 0) from above`

// checkInside refuses groups in a group that cannot be run: also one that runs the group
// itself, and those that would be too deep in a group that runs it.
func checkInside(ctx context.Context, tx *storage.Tx, organizationID int64, g *group.Group, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	groups, err := Latest(ctx, tx, organizationID, ids)
	if err != nil {
		return err
	}
	groups[g.ID] = g
	if err := named("steps", g.CheckInside(groups)); err != nil {
		return err
	}
	above := 0
	if err := tx.GetContext(ctx, &above, around, g.ID, group.MaxDepth+1); err != nil {
		return storage.Wrap(err, "depth of step group "+g.ID)
	}
	if deep := g.Depth(groups); above+deep > group.MaxDepth {
		return storage.Invalid("steps", "run step groups in step groups: with those that run this one they would be %d deep, and %d is the most",
			above+deep, group.MaxDepth)
	}
	return nil
}

// insertRevision also stores the uses of a group, which are those of its latest revision.
const insertRevision = `
with gone as (
	delete from step_group_uses where user_group_id = $2 and not group_id = any($6::uuid[])
), added as (
	insert into step_group_uses (group_id, user_group_id) select id, $2 from unnest($6::uuid[]) as id
	on conflict do nothing
)
insert into step_group_revisions (id, group_id, number, description, parameters, steps)
values ($1, $2, 1 + coalesce((select max(number) from step_group_revisions where group_id = $2), 0), $3, $4, $5)
returning number`

// deleteOldRevisions leaves the revisions that a run is going to play.
const deleteOldRevisions = `
delete from step_group_revisions v where v.group_id = $1 and v.number <= $2::integer - $3::integer
	and not exists (select from test_runs r join step_groups g on g.id = $1
		where r.organization_id = g.organization_id and r.state in ('QUEUED', 'RUNNING') and v.id = any(r.group_revisions))`

// document returns a value as a text for jsonb.
func document(field string, v any) (string, error) {
	doc, err := json.Marshal(v)
	switch {
	case err != nil:
		return "", storage.Invalid(field, "cannot be written as JSON")
	case len(doc) > maxSteps:
		return "", storage.Invalid(field, "is too large: at most %d KiB", maxSteps>>10)
	case storage.HoldsNUL(string(doc)):
		return "", storage.Invalid(field, "must not hold the character U+0000")
	}
	return string(doc), nil
}

const (
	insertGroup = `
insert into step_groups (id, organization_id, team_id, name, revision_id, creator_uuid, modifier_uuid)
select $1, $2, $3, $4, $5, $6, $6
where (select count(*) from step_groups where organization_id = $2 and deleted_at is null) < $7`
	updateGroup = `
update step_groups set name = $2, revision_id = $3, modifier_uuid = $4, updated_at = now() where id = $1`
	deleteGroup = `update step_groups set deleted_at = now(), modifier_uuid = $2 where id = $1`
)

// Create inserts a group with its first revision. The errors are *storage.InvalidError,
// ErrTooMany and those of the database.
func Create(ctx context.Context, tx *storage.Tx, w account.Writer, n NewGroup) (*Group, error) {
	name, err := storage.Name("name", n.Name, MaxName)
	if err != nil {
		return nil, err
	}
	if err := lock(ctx, tx, lockAlone, w.OrganizationID); err != nil {
		return nil, err
	}
	id, v := storage.NewID(), Revision{ID: storage.NewID(), Description: n.Description, Parameters: n.Parameters, Steps: n.Steps}
	v.fill()
	made, err := storage.Affected(tx.ExecContext(ctx, insertGroup, id, w.OrganizationID, n.TeamID, name, v.ID, w.UserUUID, maxGroups))
	switch {
	case err != nil:
		return nil, err
	case made == 0:
		return nil, ErrTooMany
	}
	if err := revise(ctx, tx, w.OrganizationID, id, name, &v); err != nil {
		return nil, err
	}
	if err := audit(ctx, tx, w, account.StepGroupCreated, id, map[string]any{"name": name}); err != nil {
		return nil, err
	}
	return ByID(ctx, tx, w.OrganizationID, id)
}

// fill puts empty lists where there are none.
func (v *Revision) fill() {
	if v.Parameters == nil {
		v.Parameters = []group.Parameter{}
	}
	if v.Steps == nil {
		v.Steps = []step.Step{}
	}
}

func audit(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, id uuid.UUID, detail any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "step group " + id.String(), Detail: detail})
}

// edit takes the lock alone and reads a group that the writer may change.
func edit(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (*Group, error) {
	if err := lock(ctx, tx, lockAlone, w.OrganizationID); err != nil {
		return nil, err
	}
	g, err := ByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	if !w.May(g.TeamID) {
		return nil, ErrForbidden
	}
	return g, nil
}

// Update changes a group, and returns it with who uses it. A change of nothing leaves the
// time of update and the modifier. ErrNotFound, ErrForbidden, *storage.InvalidError.
func Update(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, c Change) (*Group, error) {
	g, err := edit(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	name, next := g.Name, g.Revision
	if c.Name != nil {
		if name, err = storage.Name("name", *c.Name, MaxName); err != nil {
			return nil, err
		}
	}
	if c.Description != nil {
		next.Description = *c.Description
	}
	if c.Parameters != nil {
		next.Parameters = *c.Parameters
	}
	if c.Steps != nil {
		next.Steps = *c.Steps
		step.KeepRecorded(g.Revision.Steps, next.Steps)
	}
	next.fill()
	changed := map[string]any{"name": name}
	if name != g.Name {
		changed["from"] = g.Name
	}
	if !step.SameJSON(content(&next), content(&g.Revision)) {
		if next.ID, err = uuid.NewV7(); err != nil {
			return nil, fmt.Errorf("make an id: %w", err)
		}
		if err := revise(ctx, tx, w.OrganizationID, id, name, &next); err != nil {
			return nil, err
		}
		changed["revision"] = next.Number
	}
	if len(changed) == 1 {
		return g, nil
	}
	if _, err := tx.ExecContext(ctx, updateGroup, id, name, next.ID, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "update step group "+id.String())
	}
	if err := audit(ctx, tx, w, account.StepGroupUpdated, id, changed); err != nil {
		return nil, err
	}
	return ByID(ctx, tx, w.OrganizationID, id)
}

// content is what of a revision makes another one.
func content(v *Revision) []any { return []any{v.Description, v.Parameters, v.Steps} }

// Delete deletes a group that nobody uses. ErrNotFound, ErrForbidden, *InUseError.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	g, err := edit(ctx, tx, w, id)
	if err != nil {
		return err
	}
	users, err := UsersOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if users.Count() > 0 {
		return &InUseError{users}
	}
	if _, err := tx.ExecContext(ctx, `delete from step_group_uses where user_group_id = $1`, id); err != nil {
		return storage.Wrap(err, "delete the uses of step group "+id.String())
	}
	if _, err := tx.ExecContext(ctx, deleteGroup, id, w.UserUUID); err != nil {
		return storage.Wrap(err, "delete step group "+id.String())
	}
	return audit(ctx, tx, w, account.StepGroupDeleted, id, map[string]any{"name": g.Name})
}
