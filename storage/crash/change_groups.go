package crash

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// Following is the change of many groups that a part of them is changed for.
type Following struct {
	// Still returns those groups that are still to be changed; it is called when all are locked.
	Still func() ([]int64, error)
	// AfterVersions are the versions behind which the next one is, by crash project; those that
	// were needed are added.
	AfterVersions map[int64]string
	TaskID        uuid.UUID
}

// ChangeGroups changes groups for a change of many, as ChangeGroup does it but for the audit
// row, and returns how many that were.
func ChangeGroups(ctx context.Context, tx *storage.Tx, w account.Writer, groups []int64, c GroupChange, of Following) (int, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	var projects []int64
	err := tx.SelectContext(ctx, &projects, `select distinct crash_project_id from crash_groups where organization_id = $1 and id = any($2)`,
		w.OrganizationID, pq.Array(groups))
	if err != nil {
		return 0, storage.Wrap(err, "crash projects of groups")
	}
	// The projects before the groups, and these in the order of their ids, as all do it.
	if err := projectlock.Share(ctx, tx, projects...); err != nil {
		return 0, err
	}
	var rows []standing
	err = tx.SelectContext(ctx, &rows, `
		with locked as materialized (
			select `+standingColumns+` from crash_groups g where g.organization_id = $1 and g.id = any($2) and g.root_id is null
			order by g.id for no key update
		) select * from locked order by id`, w.OrganizationID, pq.Array(groups))
	if err != nil {
		return 0, storage.Wrap(err, "lock crash groups")
	}
	still, err := of.Still()
	if err != nil {
		return 0, err
	}
	selected := make(map[int64]bool, len(still))
	for _, id := range still {
		selected[id] = true
	}
	var changed []standing
	for _, row := range rows {
		if selected[row.ID] {
			changed = append(changed, row)
		}
	}
	if len(changed) == 0 {
		return 0, nil
	}
	_, err = c.apply(ctx, tx, w, changed, of.AfterVersions, of.TaskID)
	return len(changed), err
}
