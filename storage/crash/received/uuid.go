package received

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
)

// UUIDRef is the uuid of a report of a project, and the crash that has it.
type UUIDRef struct {
	Project int64
	UUID    uuid.UUID
	Crash   uuid.UUID
}

// A client keeps what it could not send, and sends it again days later: after a
// person was forgotten, too. The uuids and digests of purged reports, which say
// nothing of the person, therefore stay known for as long as reports are kept. A
// report that comes again is a resend, and nothing of it is stored.

const insertPurged = `
insert into crash_purged (crash_id, crash_project_id, uuid)
select * from unnest($1::uuid[], $2::bigint[], $3::uuid[]) as p(crash_id, crash_project_id, uuid)
order by crash_id on conflict do nothing`

// KeepUUIDs remembers that the reports of these uuids were purged.
func KeepUUIDs(ctx context.Context, tx *storage.Tx, refs []UUIDRef) error {
	if len(refs) == 0 {
		return nil
	}
	projects, uuids, crashes := uuidColumns(refs)
	_, err := tx.ExecContext(ctx, insertPurged, crashes, projects, uuids)
	return storage.Wrap(err, "keep uuids of purged crashes")
}

// uuidColumns are the columns of some refs, as arrays.
func uuidColumns(refs []UUIDRef) (projects, uuids, crashes any) {
	p, u, c := make([]int64, len(refs)), make([]string, len(refs)), make([]string, len(refs))
	for i, r := range refs {
		p[i], u[i], c[i] = r.Project, r.UUID.String(), r.Crash.String()
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
	refs := make([]UUIDRef, len(rows))
	for i, r := range rows {
		refs[i] = UUIDRef{r.ProjectID, r.UUID, r.CrashID}
	}
	return len(rows), DeleteUUIDs(ctx, tx, refs)
}

// deleteUUIDRows ends with a condition: each of the two partial unique indexes needs its own.
const deleteUUIDRows = `
delete from crash_uuids u
using unnest($1::bigint[], $2::uuid[], $3::uuid[]) as d(crash_project_id, uuid, crash_id)
where u.crash_project_id = d.crash_project_id and u.uuid = d.uuid and u.crash_id = d.crash_id and `

// DeleteUUIDs forgets the uuids of reports that are gone.
func DeleteUUIDs(ctx context.Context, tx *storage.Tx, refs []UUIDRef) error {
	if len(refs) == 0 {
		return nil
	}
	projects, uuids, crashes := uuidColumns(refs)
	for _, kind := range []string{"not u.conflict", "u.conflict"} {
		_, err := tx.ExecContext(ctx, deleteUUIDRows+kind, projects, uuids, crashes)
		if err != nil {
			return storage.Wrap(err, "delete crash uuids")
		}
	}
	return nil
}

// Unrecorded reads the uuids of a batch that was never processed.
func (s *Store) Unrecorded(ctx context.Context, tx *storage.Tx, id uuid.UUID) ([]UUIDRef, error) {
	var row batchRow
	err := tx.GetContext(ctx, &row, `select id, organization_id, received_at, entries, body
		from crash_batches where id = $1`, id)
	if err != nil {
		return nil, storage.Wrap(err, "read old crash batch")
	}
	b, err := s.inflate(&row)
	if err != nil {
		// A broken batch must not keep all others from being deleted.
		return nil, nil // its uuids stay reserved, nothing more
	}
	var refs []UUIDRef
	for n := range b.Entries {
		doc, err := b.Document(n)
		if err != nil {
			continue
		}
		if p, err := report.Parse(doc); err == nil {
			refs = append(refs, UUIDRef{b.Entries[n].ProjectID, p.UUID, EntryID(id, n)})
		}
	}
	return refs, nil
}
