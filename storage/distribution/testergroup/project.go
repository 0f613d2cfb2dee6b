package testergroup

import (
	"context"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// maxGranted bounds the apps that one request grants to a group.
const maxGranted = 1000

// grantable keeps the apps until the transaction ends, by its lock.
const grantable = `
select p.id, p.team_id, exists (select from project_groups pg where pg.project_id = p.id and pg.tester_group_id = $3) as granted
from projects p where p.organization_id = $1 and p.id = any($2) and p.deleted_at is null order by p.id for key share of p`

// mayGrant checks apps that a group is to have: they are of the organization, and the
// writer may change those that the group does not have yet.
func mayGrant(ctx context.Context, tx *storage.Tx, w account.Writer, projects []int64, groupID int64) error {
	if len(projects) == 0 {
		return nil
	}
	if len(projects) > maxGranted {
		return storage.Invalid("projects", "must be at most %d", maxGranted)
	}
	var found []struct {
		ID      int64 `db:"id"`
		TeamID  int64 `db:"team_id"`
		Granted bool  `db:"granted"`
	}
	if err := tx.SelectContext(ctx, &found, grantable, w.OrganizationID, pq.Array(projects), groupID); err != nil {
		return storage.Wrap(err, "find apps")
	}
	known := map[int64]bool{}
	for _, p := range found {
		known[p.ID] = true
	}
	for _, id := range projects {
		if !known[id] {
			return storage.Invalid("projects", "%d is no app of the organization", id)
		}
	}
	for _, p := range found {
		if !p.Granted && !w.May(p.TeamID) {
			return distribution.ErrNoAccess
		}
	}
	return nil
}

const addProjects = `
insert into project_groups (project_id, tester_group_id) select unnest($2::bigint[]), $1
on conflict (project_id, tester_group_id) do nothing`

func grantProjects(ctx context.Context, tx *storage.Tx, groupID int64, projects []int64) error {
	if len(projects) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, addProjects, groupID, pq.Array(slices.Sorted(slices.Values(projects))))
	return storage.Wrap(err, "grant apps to the group")
}

const grantedProjects = `
select pg.project_id from project_groups pg join projects p on p.id = pg.project_id and p.deleted_at is null
where pg.tester_group_id = $1 order by pg.project_id`

// replaceProjects sets the apps that a group may install; the caller holds the group's
// lock. It returns those before and after.
func replaceProjects(ctx context.Context, tx *storage.Tx, w account.Writer, groupID int64, projects []int64) (before,
	after []int64, err error) {
	if err := mayGrant(ctx, tx, w, projects, groupID); err != nil {
		return nil, nil, err
	}
	before, after = []int64{}, []int64{}
	if err := tx.SelectContext(ctx, &before, grantedProjects, groupID); err != nil {
		return nil, nil, storage.Wrap(err, "apps of a group")
	}
	_, err = tx.ExecContext(ctx, `delete from project_groups where tester_group_id = $1 and project_id <> all($2)`,
		groupID, pq.Array(listed(projects)))
	if err != nil {
		return nil, nil, storage.Wrap(err, "revoke apps of a group")
	}
	if err := grantProjects(ctx, tx, groupID, projects); err != nil {
		return nil, nil, err
	}
	err = tx.SelectContext(ctx, &after, grantedProjects, groupID)
	return before, after, storage.Wrap(err, "apps of a group")
}
