package crash

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Change is an entry of a group's history: what somebody decided, or what reports did to it.
type Change struct {
	ID      int64      `db:"id"`
	GroupID int64      `db:"group_id"` // the group, or a part of it
	State   GroupState `db:"state"`    // "": it stayed as it was
	ActorID *int64     `db:"actor_id"` // nil: nobody, or gone
	Actor   string     `db:"actor"`    // "": a report
	// Detail has the members of the change as the audit log has them; of a report
	// regressed_in or ignore_ended.
	Detail json.RawMessage `db:"detail"`
	TaskID *uuid.UUID      `db:"task_id"` // of a change of many groups
	At     time.Time       `db:"created_at"`
}

// record writes the history of groups that were changed.
func (c *GroupChange) record(ctx context.Context, tx *storage.Tx, who account.Actor, groups []int64, details []map[string]any, task uuid.UUID) error {
	texts := make([]string, len(details))
	for i, detail := range details {
		text, err := json.Marshal(detail)
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	var state GroupState
	if c.State != nil {
		state = *c.State
	}
	var made *uuid.UUID
	if task != uuid.Nil {
		made = &task
	}
	// A user may be gone by the time that a task writes it.
	_, err := tx.ExecContext(ctx, `insert into crash_group_changes (group_id, state, actor_id, actor, detail, task_id)
		select n.id, $3, (select u.id from users u where u.id = $4), $5, n.detail::jsonb, $6
		from unnest($1::bigint[], $2::text[]) as n(id, detail) order by n.id`,
		pq.Array(groups), pq.Array(texts), string(state), who.UserID, who.Name, made)
	return storage.Wrap(err, "write the history of crash groups")
}

// History returns a page of the history of a group that is shown and of its parts, newest
// first, and how many entries there are, at most CountReach.
func History(ctx context.Context, q storage.Querier, organization, group int64, p storage.Page) ([]Change, storage.Total, error) {
	c := &conditions{}
	rows := `select h.* from crash_groups g join crash_group_changes h on h.group_id = g.id
		where g.organization_id = ` + c.arg(organization) + ` and (g.id = ` + c.arg(group) + ` or g.root_id = $2)`
	total, err := countTotal(ctx, q, &conditions{args: c.args}, rows, storage.CountReach)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "count the history of a crash group")
	}
	list := []Change{}
	rows += " order by h.id desc limit " + c.arg(p.Limit+1) + " offset " + c.arg(p.Offset)
	if err := q.SelectContext(ctx, &list, rows, c.args...); err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "history of a crash group")
	}
	return cut(list, p.Limit, &total), total, nil
}
