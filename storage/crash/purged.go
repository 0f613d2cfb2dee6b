package crash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// A client keeps what it could not send, and sends it again days later: after a
// person was forgotten, too. The uuids and digests of purged reports, which say
// nothing of the person, therefore stay known for as long as reports are kept. A
// report that comes again is a resend, and nothing of it is stored.

const insertPurged = `
insert into crash_purged (crash_id, crash_project_id, uuid)
select * from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as p(crash_id, crash_project_id, uuid)
order by crash_id on conflict do nothing`

// keepUUIDs remembers that the reports of these uuids were purged.
func keepUUIDs(ctx context.Context, tx *storage.Tx, refs []uuidRef) error {
	if len(refs) == 0 {
		return nil
	}
	projects, uuids, crashes := uuidColumns(refs)
	_, err := tx.ExecContext(ctx, insertPurged, crashes, projects, uuids)
	return storage.Wrap(err, "keep uuids of purged crashes")
}

// uuidColumns are the columns of some refs, as arrays.
func uuidColumns(refs []uuidRef) (projects, uuids, crashes any) {
	p, u, c := make([]int64, len(refs)), make([]string, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		p[i], u[i], c[i] = r.project, r.uuid.String(), r.crash.String()
	}
	return pq.Array(p), pq.Array(u), pq.Array(c)
}

// ExpirePurged forgets up to limit uuids of reports that were purged before a time,
// oldest first, and returns their number.
func ExpirePurged(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (int, error) {
	var rows []struct {
		CrashID   uuid.UUID `db:"crash_id"`
		ProjectID int64     `db:"crash_project_id"`
		UUID      uuid.UUID `db:"uuid"`
	}
	err := tx.SelectContext(ctx, &rows, `
		delete from crash_purged where crash_id in (
			select crash_id from crash_purged where purged_at < $1 order by purged_at limit $2)
		returning crash_id, crash_project_id, uuid`, before, limit)
	if err != nil {
		return 0, storage.Wrap(err, "find old purged crashes")
	}
	refs := make([]uuidRef, len(rows))
	for i, r := range rows {
		refs[i] = uuidRef{r.ProjectID, r.UUID, r.CrashID}
	}
	return len(rows), deleteUUIDs(ctx, tx, refs)
}
