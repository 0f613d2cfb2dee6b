package distribution

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// The second condition is that of the index. Locked in the order of the ids, as
// by all who lock several builds.
const buildsOfImages = `
select b.id from builds b join projects p on p.id = b.project_id and p.deleted_at is null
where b.organization_id = $1 and b.image_uuids && $2 and b.image_uuids <> '{}'
	and b.deleted_at is null and b.symbols_file_id is null and ($3::boolean or p.team_id = any($4))
order by b.id limit $5 for no key update of b`

const attachSymbols = `
update builds set symbols_file_id = $2, symbols_name = $3, symbols = $4, updated_at = now() where id = any($1)`

const buildsByID = `
select ` + buildColumns + `
from builds b` + buildTables + `
where b.organization_id = $1 and b.id = any($2) and b.deleted_at is null
order by b.id desc`

// AttachSymbols adds the symbols file to every build of the organization that
// the writer may change, has one of the image UUIDs and has no symbols of its
// own; it returns those builds. The file gets a row only when there are some.
func AttachSymbols(ctx context.Context, tx *storage.Tx, w account.Writer, s NewSymbols) ([]Build, error) {
	if s.What == nil || len(s.What.Images) == 0 {
		return []Build{}, nil
	}
	var ids []int64
	err := tx.SelectContext(ctx, &ids, buildsOfImages, w.OrganizationID, pq.Array(imageUUIDs(s.What.Images)), w.AllTeams,
		pq.Array(w.Teams), storage.MaxPage)
	if err != nil {
		return nil, storage.Wrap(err, "look for builds of symbols")
	}
	if len(ids) == 0 {
		return []Build{}, nil
	}
	fileID, err := insertFile(ctx, tx, w.OrganizationID, s.File)
	if err != nil {
		return nil, err
	}
	what, err := document(s.What)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, attachSymbols, pq.Array(ids), fileID, baseName(s.Name), what); err != nil {
		return nil, storage.Wrap(err, "attach symbols")
	}
	if err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildSymbolsAttached,
		Actor: w.Actor, Subject: fmt.Sprintf("%d builds", len(ids)), Detail: map[string]any{"builds": ids,
			"file_name": baseName(s.Name), "sha256": s.File.SHA256}}); err != nil {
		return nil, err
	}
	return readBuilds(ctx, tx, buildsByID, w.OrganizationID, pq.Array(ids))
}
