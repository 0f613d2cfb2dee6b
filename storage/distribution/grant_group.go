package distribution

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// The primary keys of project_groups and build_groups begin with what the groups have.
const (
	projectIsOf = `
from project_groups have join tester_groups g on g.id = have.tester_group_id and g.organization_id = $1
where have.project_id = $2`
	buildIsOf = `
from build_groups have join tester_groups g on g.id = have.tester_group_id and g.organization_id = $1
where have.build_id = $2`
)

// GroupsOfProject lists the groups that have an app, by name, with their number.
func GroupsOfProject(ctx context.Context, q storage.Querier, organizationID, projectID int64, p storage.Page) ([]Group, int, error) {
	if _, err := ProjectByID(ctx, q, organizationID, projectID); err != nil {
		return nil, 0, err
	}
	return groupsThatHave(ctx, q, projectIsOf, organizationID, projectID, p)
}

// GroupsOfBuild lists the groups that have a build by itself, beside those of its app.
func GroupsOfBuild(ctx context.Context, q storage.Querier, organizationID, buildID int64, p storage.Page) ([]Group, int, error) {
	if _, err := BuildByID(ctx, q, organizationID, 0, buildID); err != nil {
		return nil, 0, err
	}
	return groupsThatHave(ctx, q, buildIsOf, organizationID, buildID, p)
}

func groupsThatHave(ctx context.Context, q storage.Querier, from string, organizationID, id int64, p storage.Page) ([]Group, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+from, organizationID, id); err != nil {
		return nil, 0, storage.Wrap(err, "count groups")
	}
	list := []Group{}
	err := q.SelectContext(ctx, &list, `select `+groupColumns+from+` order by lower(g.name), g.id limit $3 offset $4`,
		organizationID, id, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list groups")
}

// GiveProject gives a group an app; nothing changes where it has it already. ErrNotFound,
// ErrNoAccess.
func GiveProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, groupID int64) error {
	if _, err := lockProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	return projectGrantee(w.OrganizationID, projectID).give(ctx, tx, w.Actor, groupID)
}

// TakeProject takes an app from a group. ErrNotFound, also where the group does not have it;
// ErrNoAccess.
func TakeProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, groupID int64) error {
	if _, err := lockProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	return projectGrantee(w.OrganizationID, projectID).take(ctx, tx, w.Actor, groupID)
}

// GiveBuild is GiveProject of a build by itself.
func GiveBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID, groupID int64) error {
	to, err := lockGrantedBuild(ctx, tx, w, buildID)
	if err != nil {
		return err
	}
	return to.give(ctx, tx, w.Actor, groupID)
}

// TakeBuild is TakeProject of a build by itself.
func TakeBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID, groupID int64) error {
	to, err := lockGrantedBuild(ctx, tx, w, buildID)
	if err != nil {
		return err
	}
	return to.take(ctx, tx, w.Actor, groupID)
}

func lockGrantedBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID int64) (grantee, error) {
	b, err := BuildByID(ctx, tx, w.OrganizationID, 0, buildID)
	if err != nil {
		return grantee{}, err
	}
	_, _, err = lockBuild(ctx, tx, w, b.ProjectID, buildID)
	return buildGrantee(w.OrganizationID, buildID), err
}

// give grants it to a group; the caller holds the row's lock.
func (to grantee) give(ctx context.Context, tx *storage.Tx, actor account.Actor, groupID int64) error {
	name, err := holdGroup(ctx, tx, to.organizationID, groupID)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.add, to.id, pq.Array([]int64{groupID})))
	if err != nil || n == 0 {
		return storage.Wrap(err, "grant "+to.subject)
	}
	return to.auditGroup(ctx, tx, actor, "added", name)
}

// take revokes it from a group; the caller holds the row's lock.
func (to grantee) take(ctx context.Context, tx *storage.Tx, actor account.Actor, groupID int64) error {
	name, err := holdGroup(ctx, tx, to.organizationID, groupID)
	if err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, to.removeOne, to.id, groupID))
	if err != nil {
		return storage.Wrap(err, "revoke "+to.subject)
	}
	if n == 0 {
		return fmt.Errorf("%s of group %d: %w", to.subject, groupID, storage.ErrNotFound)
	}
	return to.auditGroup(ctx, tx, actor, "removed", name)
}

// holdGroup returns the name of a group of the organization and keeps the group until the
// transaction ends.
func holdGroup(ctx context.Context, tx *storage.Tx, organizationID, groupID int64) (name string, err error) {
	err = tx.GetContext(ctx, &name, `select name from tester_groups where organization_id = $1 and id = $2 for key share`,
		organizationID, groupID)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("group %d: %w", groupID, storage.ErrNotFound)
	}
	return name, storage.Wrap(err, "hold a group")
}

func (to grantee) auditGroup(ctx context.Context, tx *storage.Tx, actor account.Actor, what, name string) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: to.organizationID, Type: account.DistributionChanged,
		Actor: actor, Subject: to.subject, Detail: map[string]any{what: map[string]any{"groups": []string{name}}}})
}
