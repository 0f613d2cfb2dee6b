package testergroup

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const addProjectTesters = `
with added as (
	insert into project_testers (project_id, user_id) select $1, unnest($2::bigint[])
	on conflict (project_id, user_id) do nothing returning user_id
)
select coalesce(u.email, u.username) from added join users u on u.id = added.user_id order by u.id`

// AddProjectTesters gives members of the organization access to an app by themselves and
// returns how many did not have it so. ErrNotFound for one who is no member,
// ErrNoAccess for an app of others.
func AddProjectTesters(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, userIDs []int64) (int, error) {
	if err := distribution.MayChangeProject(ctx, tx, w, projectID); err != nil {
		return 0, err
	}
	userIDs, err := mustBeMembers(ctx, tx, w.OrganizationID, userIDs)
	if err != nil {
		return 0, err
	}
	return changeProjectTesters(ctx, tx, w, projectID, addProjectTesters, "added", userIDs)
}

const removeProjectTesters = `
with removed as (
	delete from project_testers where project_id = $1 and user_id = any($2) returning user_id
)
select coalesce(u.email, u.username) from removed join users u on u.id = removed.user_id order by u.id`

// RemoveProjectTester takes a tester's own access to an app back; that by groups stays.
// ErrNotFound when the tester had none.
func RemoveProjectTester(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, userID int64) error {
	if err := distribution.MayChangeProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	n, err := changeProjectTesters(ctx, tx, w, projectID, removeProjectTesters, "removed", []int64{userID})
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("user %d of project %d: %w", userID, projectID, storage.ErrNotFound)
	}
	return nil
}

func changeProjectTesters(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, query, what string,
	userIDs []int64) (int, error) {
	emails := []string{}
	if err := tx.SelectContext(ctx, &emails, query, projectID, pq.Array(userIDs)); err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("change testers of project %d", projectID))
	}
	if len(emails) == 0 {
		return 0, nil
	}
	return len(emails), account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.DistributionChanged,
		Actor: w.Actor, Subject: fmt.Sprintf("project %d", projectID),
		Detail: map[string]any{"project_id": projectID, what: map[string]any{"emails": emails}}})
}
