package distribution

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
)

// upsertFolder updates nothing: that makes the statement return the row that is there.
const upsertFolder = `
insert into folders (team_id, path) values ($1, $2)
on conflict (team_id, lower(path)) do update set path = folders.path
returning id`

// ensureFolder returns the id of a team's folder, which it creates if need be; nil
// for the path "".
func ensureFolder(ctx context.Context, tx *storage.Tx, teamID int64, path string) (*int64, error) {
	if path == "" {
		return nil, nil
	}
	var id int64
	err := tx.GetContext(ctx, &id, `select id from folders where team_id = $1 and lower(path) = lower($2)`, teamID, path)
	if err == nil {
		return &id, nil
	}
	if err := tx.GetContext(ctx, &id, upsertFolder, teamID, path); err != nil {
		return nil, storage.Wrap(err, "make folder "+path)
	}
	return &id, nil
}

// TeamOf is ErrNotFound when the organization has no such team.
func TeamOf(ctx context.Context, q storage.Querier, organizationID, teamID int64) error {
	var id int64
	err := q.GetContext(ctx, &id, `select id from teams where organization_id = $1 and id = $2`, organizationID, teamID)
	return storage.Wrap(err, fmt.Sprintf("team %d", teamID))
}
