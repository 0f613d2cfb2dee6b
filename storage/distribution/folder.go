package distribution

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// cleanFolder takes a folder's path: segments joined by /, without spaces around
// them. "" stands for no folder.
func cleanFolder(path string) (string, error) {
	path, err := storage.Line("folder", path, 4*maxLine)
	if err != nil {
		return "", err
	}
	var segments []string
	for segment := range strings.SplitSeq(path, "/") {
		if segment = strings.TrimSpace(segment); segment != "" {
			segments = append(segments, segment)
		}
	}
	return storage.Line("folder", strings.Join(segments, "/"), maxLine)
}

// The update is of nothing: it makes the statement return the row that is there.
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

const folders = `
select path from folders where team_id = $1 order by lower(path) limit $2 offset $3`

// Folders lists a team's folders by path.
func Folders(ctx context.Context, q storage.Querier, organizationID, teamID int64, p storage.Page) ([]string, error) {
	if err := teamOf(ctx, q, organizationID, teamID); err != nil {
		return nil, err
	}
	list := []string{}
	err := q.SelectContext(ctx, &list, folders, teamID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list folders")
}

// teamOf is ErrNotFound when the organization has no such team.
func teamOf(ctx context.Context, q storage.Querier, organizationID, teamID int64) error {
	var id int64
	err := q.GetContext(ctx, &id, `select id from teams where organization_id = $1 and id = $2`, organizationID, teamID)
	return storage.Wrap(err, fmt.Sprintf("team %d", teamID))
}
