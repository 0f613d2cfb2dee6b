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
	// regressed_in or ignore_ended; of a merge merged_into, or merged and what the group took
	// over from the part; of a part that was taken out taken_from, or unmerged.
	Detail json.RawMessage `db:"detail"`
	TaskID *uuid.UUID      `db:"task_id"` // of a change of many groups
	At     time.Time       `db:"created_at"`
}

// HistoryEntry is a change that is to be written.
type HistoryEntry struct {
	Group  int64
	state  GroupState // "": it stayed as it was
	Detail map[string]any
}

// entries are the history of what c did to groups, as details say it.
func (c *GroupChange) entries(groups []int64, details []map[string]any) []HistoryEntry {
	list := make([]HistoryEntry, len(groups))
	for i, detail := range details {
		list[i] = HistoryEntry{Group: groups[i], Detail: detail}
		if c.State != nil && detail["former_state"] != *c.State {
			list[i].state = *c.State
		}
	}
	return list
}

// mergeEntries are the history of a group that becomes a part of another, and of this one.
func mergeEntries(part, root int64) []HistoryEntry {
	return []HistoryEntry{{Group: part, Detail: map[string]any{"merged_into": root}}, {Group: root, Detail: map[string]any{"merged": part}}}
}

// RecordHistory writes the history of groups that somebody changed. The task is that of a change of
// many; uuid.Nil: none.
func RecordHistory(ctx context.Context, tx *storage.Tx, who account.Actor, task uuid.UUID, entries ...HistoryEntry) error {
	groups, states, details := make([]int64, len(entries)), make([]string, len(entries)), make([]string, len(entries))
	for i, e := range entries {
		text, err := json.Marshal(e.Detail)
		if err != nil {
			return err
		}
		groups[i], states[i], details[i] = e.Group, string(e.state), string(text)
	}
	var made *uuid.UUID
	if task != uuid.Nil {
		made = &task
	}
	// A user may be gone by the time that a task writes it.
	_, err := tx.ExecContext(ctx, `insert into crash_group_changes (group_id, state, actor_id, actor, detail, task_id)
		select n.id, n.state, (select u.id from users u where u.id = $4), $5, n.detail::jsonb, $6
		from unnest($1::bigint[], $2::text[], $3::text[]) as n(id, state, detail) order by n.id`,
		pq.Array(groups), pq.Array(states), pq.Array(details), who.UserID, who.Name, made)
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
