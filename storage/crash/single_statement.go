package crash

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// acceptSingleStatement writes a batch, its uuids and its task in one statement. The usual
// commit (one organization, no files, every uuid new) then costs one round trip
// instead of five, each of which waits for its turn on a busy machine.
//
// A uuid that is refused makes the statement divide by zero, which undoes all of
// it; the answer is false then, as for commits of another form, and Accept goes
// the long way.
func (s *Store) acceptSingleStatement(ctx context.Context, a *acceptance, task TaskOf) (*ledger.NewTask, bool, error) {
	if len(a.batches) != 1 {
		return nil, false, nil
	}
	for i := range a.in {
		if len(a.in[i].Attachments) > 0 {
			return nil, false, nil
		}
	}
	b := a.batches[0]
	t := task(b.organization, b.id, b.size)
	t.RequestID = a.in[b.members[0]].RequestID
	insert, args, err := ledger.Statement(t, singleStatementParameters+1)
	if err != nil {
		return nil, false, err
	}
	projects, uuids, digests, ids := a.uuidArrays(b.members)
	err = s.db.ExecSingleStatement(ctx, fmt.Sprintf(singleStatement, insert), append([]any{projects, uuids, digests, ids,
		b.id, b.organization, string(b.entries), b.body, len(b.members)}, args...)...)
	var refused *pq.Error
	if errors.As(err, &refused) && refused.Code == divisionByZero {
		return nil, false, nil
	}
	return t, err == nil, storage.Wrap(err, "accept crash reports")
}

const (
	singleStatementParameters = 9
	divisionByZero            = "22012"
)

const singleStatement = `
with booked as (
	insert into crash_uuids (crash_project_id, uuid, digest, crash_id)
	select * from (
		select unnest($1::bigint[]) as crash_project_id, unnest($2::uuid[]) as uuid, unnest($3::bytea[]),
			unnest($4::uuid[])
	) r
	order by crash_project_id, uuid
	on conflict do nothing
	returning 1
), batch as (
	insert into crash_batches (id, organization_id, entries, body) values ($5, $6, $7, $8)
), task as (%s)
select 1 / case when (select count(*) from booked) = $9 then 1 else 0 end`
