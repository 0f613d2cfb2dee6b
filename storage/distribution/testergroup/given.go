package testergroup

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
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

// OfProject lists the groups that have an app, by name, with their number.
func OfProject(ctx context.Context, q storage.Querier, organizationID, projectID int64, p storage.Page) ([]Group, int, error) {
	if _, err := distribution.ProjectByID(ctx, q, organizationID, projectID); err != nil {
		return nil, 0, err
	}
	return groupsThatHave(ctx, q, projectIsOf, organizationID, projectID, p)
}

// OfBuild lists the groups that have a build by itself, beside those of its app.
func OfBuild(ctx context.Context, q storage.Querier, organizationID, buildID int64, p storage.Page) ([]Group, int, error) {
	if _, err := distribution.BuildByID(ctx, q, organizationID, 0, buildID); err != nil {
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
	if err := distribution.MayChangeProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	return grant.ToProject(w.OrganizationID, projectID).Give(ctx, tx, w.Actor, groupID)
}

// TakeProject takes an app from a group. ErrNotFound, also where the group does not have it;
// ErrNoAccess.
func TakeProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, groupID int64) error {
	if err := distribution.MayChangeProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	return grant.ToProject(w.OrganizationID, projectID).Take(ctx, tx, w.Actor, groupID)
}

// GiveBuild is GiveProject of a build by itself.
func GiveBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID, groupID int64) error {
	to, err := lockGrantedBuild(ctx, tx, w, buildID)
	if err != nil {
		return err
	}
	return to.Give(ctx, tx, w.Actor, groupID)
}

// TakeBuild is TakeProject of a build by itself.
func TakeBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID, groupID int64) error {
	to, err := lockGrantedBuild(ctx, tx, w, buildID)
	if err != nil {
		return err
	}
	return to.Take(ctx, tx, w.Actor, groupID)
}

func lockGrantedBuild(ctx context.Context, tx *storage.Tx, w account.Writer, buildID int64) (grant.Grantee, error) {
	b, err := distribution.BuildByID(ctx, tx, w.OrganizationID, 0, buildID)
	if err != nil {
		return grant.Grantee{}, err
	}
	_, err = distribution.LockBuild(ctx, tx, w, b.ProjectID, buildID)
	return grant.ToBuild(w.OrganizationID, buildID), err
}
