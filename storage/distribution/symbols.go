package distribution

import (
	"context"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// buildsOfImages has as its second condition that of the index. It locks in the order of the
// ids, as all do who lock several builds.
const buildsOfImages = `
select b.id from builds b join projects p on p.id = b.project_id and p.deleted_at is null
where b.organization_id = $1 and b.image_uuids && $2 and b.image_uuids <> '{}'
	and b.deleted_at is null and b.symbols_file_id is null and ($3::boolean or p.team_id = any($4))
order by b.id limit $5 for no key update of b`

const attachSymbols = `
update builds set symbols_file_id = $2, symbols_name = $3, symbols = $4, updated_at = now() where id = any($1)`

const buildsByID = `
select ` + BuildColumns + `
from builds b` + BuildTables + `
where b.organization_id = $1 and b.id = any($2) and b.deleted_at is null
order by b.id desc`

// AttachSymbols adds the symbols file, whose row is fileID, to every build of the
// organization that the writer may change, has one of the image UUIDs and has no symbols
// of its own; it returns those builds. LockImages must have been called: a build that
// arrives at the same time finds the symbols, or is found.
func AttachSymbols(ctx context.Context, tx *storage.Tx, w account.Writer, fileID int64, s NewSymbols) ([]Build, error) {
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
	what, err := storage.Document(s.What)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, attachSymbols, pq.Array(ids), fileID, text.FileName(s.Name), what); err != nil {
		return nil, storage.Wrap(err, "attach symbols")
	}
	if err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildSymbolsAttached,
		Actor: w.Actor, Subject: fmt.Sprintf("%d builds", len(ids)), Detail: map[string]any{"builds": ids,
			"file_name": text.FileName(s.Name), "sha256": s.File.SHA256}}); err != nil {
		return nil, err
	}
	return ReadBuilds(ctx, tx, buildsByID, w.OrganizationID, pq.Array(ids))
}

const buildsOfSymbols = `
select b.id from builds b join symbols s on s.file_id = b.symbols_file_id
where s.id = $2 and s.organization_id = $1 and b.organization_id = $1 and b.deleted_at is null
order by b.id desc limit $3`

// BuildsOfSymbols returns the builds that have the file of symbols, the newest first, and
// whether it waits for builds: none has it, and its images are known.
func BuildsOfSymbols(ctx context.Context, q storage.Querier, organizationID, symbolID int64) (ids []int64, waiting bool, err error) {
	ids = []int64{}
	if err := q.SelectContext(ctx, &ids, buildsOfSymbols, organizationID, symbolID, storage.MaxPage); err != nil {
		return nil, false, storage.Wrap(err, "builds of symbols")
	}
	if len(ids) > 0 {
		return ids, false, nil
	}
	err = q.GetContext(ctx, &waiting, `select exists (select from symbol_images where symbol_id = $1)`, symbolID)
	return ids, waiting, storage.Wrap(err, "images of symbols")
}

// LockImages keeps uploads of symbols and of builds that have an image in common from
// passing each other unseen, until the transaction ends.
func LockImages(ctx context.Context, tx *storage.Tx, organizationID int64, images []artifact.Image) error {
	ids := imageUUIDs(images)
	slices.Sort(ids)
	var keys []string
	for _, id := range slices.Compact(ids) {
		keys = append(keys, lockKey("image", organizationID, id))
	}
	if len(keys) == 0 {
		return nil
	}
	return lockKeys(ctx, tx, "image", keys)
}

const insertImages = `
insert into symbol_images (organization_id, image_uuid, symbol_id)
select $1, image, $2 from unnest($3::text[]) as image on conflict do nothing`

// RecordImages stores the images of symbols, by which builds that arrive later find them.
func RecordImages(ctx context.Context, tx *storage.Tx, organizationID, symbolID int64, images []artifact.Image) error {
	_, err := tx.ExecContext(ctx, insertImages, organizationID, symbolID, pq.Array(imageUUIDs(images)))
	return storage.Wrap(err, "record images of symbols")
}

// waitingSymbols keeps the file from being removed, by its lock; one that is gone meanwhile is
// skipped.
const waitingSymbols = `
select f.id as file_id, s.name, s.description
from symbol_images i
join symbols s on s.id = i.symbol_id and s.description is not null and (s.teams is null or $3 = any(s.teams))
join files f on f.id = s.file_id
where i.organization_id = $1 and i.image_uuid = any($2)
order by s.id desc limit 1 for key share of f`

// waiting are symbols that came before their build.
type waiting struct {
	FileID      int64  `db:"file_id"`
	Name        string `db:"name"`
	Description []byte `db:"description"`
}

// findWaiting returns the newest symbols that have an image of the build and may be used
// by its team; nil when there are none.
func findWaiting(ctx context.Context, tx *storage.Tx, organizationID, teamID int64, images []artifact.Image) (*waiting, error) {
	if len(images) == 0 {
		return nil, nil
	}
	var list []waiting
	err := tx.SelectContext(ctx, &list, waitingSymbols, organizationID, pq.Array(imageUUIDs(images)), teamID)
	if err != nil || len(list) == 0 {
		return nil, storage.Wrap(err, "look for symbols of a build")
	}
	return &list[0], nil
}
