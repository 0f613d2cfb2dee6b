package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Cause is why the state of a gate changed.
type Cause string

// The causes.
const (
	ByConditions   Cause = "conditions" // a fact changed, or time passed
	ByPolicy       Cause = "policy"     // another policy was set
	ByOverride     Cause = "override"
	ByOverrideGone Cause = "override_removed"
)

// Past is a change in the history of a gate.
type Past struct {
	ID         int64     `db:"id"`
	At         time.Time `db:"at"`
	State      State     `db:"state"`
	Former     State     `db:"former"`
	Cause      Cause     `db:"cause"`
	Actor      string    `db:"actor"` // "" for what facts changed
	Reason     string    `db:"reason"`
	Conditions []Result  `db:"-"`
	Doc        []byte    `db:"conditions"`
}

// maxHistory bounds the changes of a gate that are kept: what changes more often hovers at a
// limit, and its last changes say so.
const maxHistory = 500

// History returns a page of the changes of a build's gate, newest first, with the number of all.
func History(ctx context.Context, q storage.Querier, organizationID, buildID int64, p storage.Page) ([]Past, int, error) {
	var total int
	err := q.GetContext(ctx, &total, `select count(*) from gate_changes where build_id = $2 and organization_id = $1`, organizationID, buildID)
	if err != nil {
		return nil, 0, storage.Wrap(err, "count changes of a gate")
	}
	list := []Past{}
	err = q.SelectContext(ctx, &list, `
		select id, at, state, former, cause, actor, reason, conditions from gate_changes
		where build_id = $2 and organization_id = $1 order by id desc limit $3 offset $4`, organizationID, buildID, p.RowLimit(), p.RowOffset())
	if err != nil {
		return nil, 0, storage.Wrap(err, "changes of a gate")
	}
	for i := range list {
		if err := json.Unmarshal(list[i].Doc, &list[i].Conditions); err != nil {
			return nil, 0, fmt.Errorf("change %d of a gate: %w", list[i].ID, err)
		}
	}
	return list, total, nil
}

// changeRow is a row of gate_changes to insert.
type changeRow struct {
	organization, build int64
	state, former       State
	cause               Cause
	actor, reason, doc  string
}

const insertChanges = `
insert into gate_changes (organization_id, build_id, state, former, cause, actor, reason, conditions)
select n.organization_id, n.build_id, n.state, n.former, n.cause, n.actor, n.reason, n.conditions::jsonb
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
	as n(organization_id, build_id, state, former, cause, actor, reason, conditions)
order by n.build_id`

const trimChanges = `
delete from gate_changes c using unnest($1::bigint[]) as n(build_id)
where c.build_id = n.build_id and c.id <= (
	select id from gate_changes where build_id = n.build_id order by id desc offset $2 limit 1)`

// record writes changes of gates, whose rows are locked.
func record(ctx context.Context, tx *storage.Tx, rows []changeRow) error {
	if len(rows) == 0 {
		return nil
	}
	var organizations, builds []int64
	var states, formers, causes, actors, reasons, docs []string
	for _, r := range rows {
		organizations, builds = append(organizations, r.organization), append(builds, r.build)
		states, formers, causes = append(states, string(r.state)), append(formers, string(r.former)), append(causes, string(r.cause))
		actors, reasons, docs = append(actors, r.actor), append(reasons, storage.WithoutNUL(r.reason)), append(docs, r.doc)
	}
	_, err := tx.ExecContext(ctx, insertChanges, ids(organizations), ids(builds), pq.Array(states), pq.Array(formers), pq.Array(causes),
		pq.Array(actors), pq.Array(reasons), pq.Array(docs))
	if err != nil {
		return storage.Wrap(err, "record changes of gates")
	}
	_, err = tx.ExecContext(ctx, trimChanges, ids(builds), maxHistory)
	return storage.Wrap(err, "trim the history of gates")
}
