package distribution

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// deleteBuildsOf locks rows in the order of their ids, as all do who lock several.
const deleteBuildsOf = `
with rows as (select id from builds where project_id = $1 and deleted_at is null order by id for no key update)
update builds b set deleted_at = now(), updated_at = now() from rows where b.id = rows.id`

// DeleteProject marks an app and its builds deleted. What belongs to them is
// removed by the task project:delete, which the caller inserts.
func DeleteProject(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	p, err := lockProject(ctx, tx, w, id)
	if err != nil {
		return err
	}
	builds, err := storage.Affected(tx.ExecContext(ctx, deleteBuildsOf, id))
	if err != nil {
		return err
	}
	tx.TokensChanged()
	_, err = tx.ExecContext(ctx, `update projects set deleted_at = now(), updated_at = now(), build_count = 0,
		latest_build_id = null where id = $1`, id)
	if err != nil {
		return storage.Wrap(err, "delete project")
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.ProjectDeleted,
		Actor: w.Actor, Subject: projectSubject(id, p.Name), Detail: map[string]any{"id": id, "builds": builds,
			"package_name": p.PackageName, "platform": p.Platform}})
}
