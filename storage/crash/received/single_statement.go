package received

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// acceptSingleStatement stores a batch, its uuids and its task in one statement.
// The usual commit (one organization, no files, every uuid new) then costs one
// round trip instead of five, each of which waits for a processor of a busy machine.
//
// The statement reads which of the uuids are there already. Where any is, it writes
// nothing and returns those rows: when every report is a resend, their receipts are
// complete; else Accept opens a transaction, as it does for commits of another form
// (done is false). Two processes that store one uuid at the same moment do not see
// each other's row; the unique index then refuses one of the statements, and
// its transaction finds the row of the other.
func (s *Store) acceptSingleStatement(ctx context.Context, a *acceptance, task TaskOf) (made []*ledger.NewTask, done bool, err error) {
	if len(a.batches) != 1 || !a.plain() {
		return nil, false, nil
	}
	b := a.batches[0]
	t := task(b.organization, b.id, b.size)
	t.RequestID = a.in[b.members[0]].RequestID
	insertTask, args, err := ledger.Statement(t, singleStatementParameters+1, "not exists (select from seen)")
	if err != nil {
		return nil, false, err
	}
	projects, uuids, digests, ids := a.uuidArrays(b.members)
	args = append([]any{projects, uuids, digests, ids, b.id, b.organization, string(b.entries), b.body}, args...)
	var seen []uuidRow
	err = s.db.SelectSingleStatement(ctx, &seen, fmt.Sprintf(singleStatement, insertTask), args...)
	err = storage.Wrap(err, "accept crash reports")
	switch {
	case errors.Is(err, storage.ErrConflict):
		return nil, false, nil
	case err != nil:
		// Delivered if the commit took effect after all.
		return []*ledger.NewTask{t}, false, err
	case len(seen) == 0:
		return []*ledger.NewTask{t}, true, nil
	}
	return nil, a.allResent(seen), nil
}

// plain reports whether no report has files and no uuid comes twice.
func (a *acceptance) plain() bool {
	type key struct {
		project int64
		uuid    uuid.UUID
	}
	keys := make(map[key]bool, len(a.in))
	for i := range a.in {
		r := &a.in[i]
		k := key{r.ProjectID, r.UUID}
		if len(r.Attachments) > 0 || keys[k] {
			return false
		}
		keys[k] = true
	}
	return true
}

// allResent writes the receipts when each report is the first body under its uuid,
// sent again.
func (a *acceptance) allResent(seen []uuidRow) bool {
	receipts := make([]Receipt, len(a.in))
	for i := range a.in {
		for n := range seen {
			if seen[n].resentBy(&a.in[i]) {
				receipts[i] = Receipt{ID: seen[n].CrashID, Outcome: Resent}
			}
		}
		if receipts[i].Outcome != Resent {
			return false
		}
	}
	a.receipts = receipts
	return true
}

const singleStatementParameters = 8

// singleStatement inserts rows in sorted order: see the package's doc. The limit keeps the
// look-up a probe of the index for each report: as a join it was planned as a scan of the
// whole table while that was small, which cost half the throughput.
const singleStatement = `
with incoming as (
	select unnest($1::bigint[]) as crash_project_id, unnest($2::uuid[]) as uuid, unnest($3::bytea[]) as digest,
		unnest($4::uuid[]) as crash_id
), seen as (
	select i.crash_project_id, i.uuid, u.digest, u.crash_id, u.conflict
	from incoming i cross join lateral (
		select digest, crash_id, conflict from crash_uuids
		where crash_project_id = i.crash_project_id and uuid = i.uuid and not conflict limit 1
	) u
), reserved as (
	insert into crash_uuids (crash_project_id, uuid, digest, crash_id)
	select crash_project_id, uuid, digest, crash_id from incoming
	where not exists (select from seen) order by crash_project_id, uuid
), batch as (
	insert into crash_batches (id, organization_id, entries, body)
	select $5::uuid, $6::bigint, $7::jsonb, $8::bytea where not exists (select from seen)
), task as (%s)
select * from seen`
