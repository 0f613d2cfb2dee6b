package crash

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

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
