package crash

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
)

// filledReports bounds the reports that are read of a group from before there were users.
const filledReports = 100_000

// UncountedUsers returns groups from before users were counted.
func UncountedUsers(ctx context.Context, q storage.Querier, limit int) ([]int64, error) {
	var ids []int64
	err := q.SelectContext(ctx, &ids, `select id from crash_groups where users_since is null order by id limit $1`, limit)
	return ids, storage.Wrap(err, "find crash groups without users")
}

// CountUsers counts the users of a group from before they were, in its reports that are kept,
// at most filledReports. Locks as Merge: the project, alone, then the groups.
func CountUsers(ctx context.Context, tx *storage.Tx, group int64) error {
	var at struct {
		OrganizationID int64 `db:"organization_id"`
	}
	err := storage.Wrap(tx.GetContext(ctx, &at, `select organization_id from crash_groups where id = $1`, group), "crash group")
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := lockPlace(ctx, tx, at.OrganizationID, group)
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := lockGroups(ctx, tx, []int64{group, p.RootID}); err != nil {
		return err
	}
	of, err := keptReach(ctx, tx, []int64{group}, filledReports)
	if err != nil {
		return err
	}
	kept, all := of[0].reachRow, of[0].all
	rows, err := readReach(ctx, tx, []int64{group})
	if err != nil {
		return err
	}
	if had := rows[group]; had != nil {
		kept.sample.Add(had.sample...)
		kept.Shown, kept.shown = had.Shown, had.shown
		if had.FirstBuild != nil {
			kept.built(*had.FirstBuild, *had.LastBuild)
		}
	}
	if err := writeReach(ctx, tx, []*reachRow{kept}); err != nil {
		return err
	}
	if err := recountReach(ctx, tx, p.RootID); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		update crash_groups g set
			users_since = coalesce(case when $2 and g.count <= kept.n then g.created_at end, kept.first, now())
		from (select coalesce(sum(c.duplicates), 0) as n, min(c.received_at) as first from (
			select c.duplicates, c.received_at from crash_group_keys k cross join lateral (
				select duplicates, received_at from crashes where key_id = k.id order by occurred_at desc, id desc limit $3) c
			where k.group_id = $1 limit $3) c) kept where g.id = $1`, group, all, filledReports)
	return storage.Wrap(err, "note since when users of a crash group are counted")
}
