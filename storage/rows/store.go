package rows

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// maxKept is bytes of data that an organization keeps: some thousand cases with the rows
	// that people have, or 256 with as many as there may be.
	maxKept = 1 << 30
	// keptVersions of a case are kept, so that an earlier revision can be restored.
	keptVersions = 10
	// insertStep rows are written by one statement.
	insertStep = 1000
)

const (
	keptBytes  = `select coalesce(sum(size), 0) from test_data where organization_id = $1`
	sameData   = `select id from test_data where case_id = $1 and digest = $2 order by id desc limit 1`
	insertData = `
insert into test_data (id, organization_id, case_id, columns, secret, row_name, row_count, size, sealed_key, digest)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	// insertRows inserts rows. An array of bytea has no null: what is empty stands for it.
	insertRows = `
insert into test_data_rows (data_id, place, cells, hidden)
select $1, $2::integer + r.n - 1, r.cells, nullif(r.hidden, '')
from unnest($3::jsonb[], $4::bytea[]) with ordinality as r(cells, hidden, n)`
)

// Insert stores data for a case, which is new or locked, and returns their id: that of the
// same data where the case has them already. *storage.InvalidError when the organization
// keeps too much.
func Insert(ctx context.Context, tx *storage.Tx, organizationID int64, caseID string, s *Sealed) (uuid.UUID, error) {
	if s.digest != "" {
		var same []uuid.UUID
		if err := tx.SelectContext(ctx, &same, sameData, caseID, s.digest); err != nil || len(same) > 0 {
			return first(same), storage.Wrap(err, "data of test case "+caseID)
		}
	}
	if err := checkRoom(ctx, tx, organizationID, s.Size); err != nil {
		return uuid.Nil, err
	}
	id := storage.NewID()
	_, err := tx.ExecContext(ctx, insertData, id, organizationID, caseID, pq.Array(s.Columns), texts(s.Secret), s.RowName,
		s.Count, s.Size, s.key, s.digest)
	if err != nil {
		return uuid.Nil, storage.Wrap(err, "create data of test case "+caseID)
	}
	for from := 0; from < s.Count; from += insertStep {
		to := min(from+insertStep, s.Count)
		hidden := make([][]byte, to-from)
		if s.hidden != nil {
			copy(hidden, s.hidden[from:to])
		}
		if _, err := tx.ExecContext(ctx, insertRows, id, from, pq.Array(s.cells[from:to]), pq.ByteaArray(hidden)); err != nil {
			return uuid.Nil, storage.Wrap(err, "create data rows of test case "+caseID)
		}
	}
	return id, nil
}

// checkRoom refuses data that are too much for what the organization keeps.
func checkRoom(ctx context.Context, q storage.Querier, organizationID int64, size int) error {
	var kept int64
	if err := q.GetContext(ctx, &kept, keptBytes, organizationID); err != nil {
		return storage.Wrap(err, "sum of data rows")
	}
	if kept+int64(size) > maxKept {
		return storage.Invalid("data",
			"the organization keeps at most %d MiB of data rows, the earlier ones of its cases among them", maxKept>>20)
	}
	return nil
}

func first(ids []uuid.UUID) uuid.UUID {
	if len(ids) == 0 {
		return uuid.Nil
	}
	return ids[0]
}

// texts is a parameter for an array that is never null.
func texts(list []string) any {
	if list == nil {
		list = []string{}
	}
	return pq.Array(list)
}

// forgetData leaves data that the latest revision has, or an open run, whatever their age. The
// rows go with the data, and revisions lose them.
const forgetData = `
delete from test_data d where d.case_id = $1
	and d.id not in (select id from test_data where case_id = $1 order by id desc limit $2)
	and d.id is distinct from (select data_id from test_revisions where case_id = $1 order by number desc limit 1)
	and not exists (select from test_runs r where r.case_id = d.case_id and r.data_id = d.id and r.state in ('QUEUED', 'RUNNING'))`

// Forget deletes the data of a case but for the newest and those in use; the case is locked.
func Forget(ctx context.Context, tx *storage.Tx, caseID string) error {
	_, err := tx.ExecContext(ctx, forgetData, caseID, keptVersions)
	return storage.Wrap(err, "delete old data of test case "+caseID)
}

// headerRow is a row of test_data.
type headerRow struct {
	ID      uuid.UUID      `db:"id"`
	Columns pq.StringArray `db:"columns"`
	Secret  pq.StringArray `db:"secret"`
	RowName string         `db:"row_name"`
	Count   int            `db:"row_count"`
	Size    int            `db:"size"`
}

func (r *headerRow) header() Header {
	return Header{Columns: r.Columns, Secret: r.Secret, RowName: r.RowName, Count: r.Count, Size: r.Size}
}

const headers = `
select id, columns, secret, row_name, row_count, size from test_data where id = any($1::uuid[])`

// Headers returns what data have besides their rows, by their ids. Those that are gone are
// not in the map. The caller bounds their number.
func Headers(ctx context.Context, q storage.Querier, ids []uuid.UUID) (map[uuid.UUID]Header, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var list []headerRow
	if err := q.SelectContext(ctx, &list, headers, storage.UUIDs(ids)); err != nil {
		return nil, storage.Wrap(err, "data of test cases")
	}
	of := make(map[uuid.UUID]Header, len(list))
	for i := range list {
		of[list[i].ID] = list[i].header()
	}
	return of, nil
}

// HeaderOf returns what data have besides their rows; ErrNotFound when they are gone.
func HeaderOf(ctx context.Context, q storage.Querier, id uuid.UUID) (Header, error) {
	of, err := Headers(ctx, q, []uuid.UUID{id})
	if err != nil {
		return Header{}, err
	}
	if h, ok := of[id]; ok {
		return h, nil
	}
	return Header{}, fmt.Errorf("data %s: %w", id, storage.ErrNotFound)
}

const (
	rowsPage = `
select place, cells from test_data_rows where data_id = $1 and place >= $2 order by place limit $3`
	rowsAt = `
select place, cells from test_data_rows where data_id = $1 and place = any($2::integer[])`
)

type cellsRow struct {
	Place int    `db:"place"`
	Cells []byte `db:"cells"`
}

// List returns a page of rows in their order: their values in the order of the columns, ""
// for those of secret columns.
func List(ctx context.Context, q storage.Querier, id uuid.UUID, skip, limit int) ([][]string, error) {
	var found []cellsRow
	if err := q.SelectContext(ctx, &found, rowsPage, id, skip, limit); err != nil {
		return nil, storage.Wrap(err, "data rows")
	}
	list := make([][]string, len(found))
	for i := range found {
		if err := json.Unmarshal(found[i].Cells, &list[i]); err != nil {
			return nil, fmt.Errorf("data row %d: %w", found[i].Place, err)
		}
	}
	return list, nil
}

// At returns the values of rows by their places, as List does. The caller bounds their
// number; those that are gone are not in the map.
func At(ctx context.Context, q storage.Querier, id uuid.UUID, places []int64) (map[int][]string, error) {
	var found []cellsRow
	if err := q.SelectContext(ctx, &found, rowsAt, id, pq.Array(places)); err != nil {
		return nil, storage.Wrap(err, "data rows")
	}
	at := make(map[int][]string, len(found))
	for i := range found {
		var cells []string
		if err := json.Unmarshal(found[i].Cells, &cells); err != nil {
			return nil, fmt.Errorf("data row %d: %w", found[i].Place, err)
		}
		at[found[i].Place] = cells
	}
	return at, nil
}

const (
	copyData = `
insert into test_data (id, organization_id, case_id, columns, secret, row_name, row_count, size, sealed_key, digest)
select $2, $3, $4, columns, secret, row_name, row_count, size, sealed_key, digest from test_data where id = $1`
	copyRows = `
insert into test_data_rows (data_id, place, cells, hidden)
select $2, place, cells, hidden from test_data_rows where data_id = $1`
)

// Copy stores the data of one case for another one, which is new. Errors as of Insert.
func Copy(ctx context.Context, tx *storage.Tx, id uuid.UUID, organizationID int64, caseID string) (uuid.UUID, error) {
	made := storage.NewID()
	h, err := HeaderOf(ctx, tx, id)
	if err != nil {
		return made, err
	}
	if err := checkRoom(ctx, tx, organizationID, h.Size); err != nil {
		return made, err
	}
	if _, err := tx.ExecContext(ctx, copyData, id, made, organizationID, caseID); err != nil {
		return made, storage.Wrap(err, "copy data to test case "+caseID)
	}
	_, err = tx.ExecContext(ctx, copyRows, id, made)
	return made, storage.Wrap(err, "copy data rows to test case "+caseID)
}
