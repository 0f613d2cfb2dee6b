package reading

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Change is an entry of a group's history: what somebody decided, or what reports did to it.
type Change struct {
	ID      int64            `db:"id"`
	GroupID int64            `db:"group_id"` // the group, or a part of it
	State   crash.GroupState `db:"state"`    // "": it stayed as it was
	ActorID *int64           `db:"actor_id"` // nil: nobody, or gone
	Actor   string           `db:"actor"`    // "": a report
	// Detail has the members of the change as the audit log has them; of a report
	// regressed_in or ignore_ended; of a merge merged_into, or merged and what the group took
	// over from the part; of a part that was taken out taken_from, or unmerged.
	Detail json.RawMessage `db:"detail"`
	TaskID *uuid.UUID      `db:"task_id"` // of a change of many groups
	At     time.Time       `db:"created_at"`
}

// History returns a page of the history of a group that is shown and of its parts, newest
// first, and how many entries there are, at most CountReach.
func History(ctx context.Context, q storage.Querier, organization, group int64, p storage.Page) ([]Change, storage.Total, error) {
	c := &condition.List{}
	rows := `select h.* from crash_groups g join crash_group_changes h on h.group_id = g.id
		where g.organization_id = ` + c.Arg(organization) + ` and (g.id = ` + c.Arg(group) + ` or g.root_id = $2)`
	total, err := condition.Count(ctx, q, &condition.List{Args: c.Args}, rows, storage.CountReach)
	if err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "count the history of a crash group")
	}
	list := []Change{}
	rows += " order by h.id desc limit " + c.Arg(p.Limit+1) + " offset " + c.Arg(p.Offset)
	if err := q.SelectContext(ctx, &list, rows, c.Args...); err != nil {
		return nil, storage.Total{}, storage.Wrap(err, "history of a crash group")
	}
	return condition.Cut(list, p.Limit, &total), total, nil
}
