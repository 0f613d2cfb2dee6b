package crash

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// What people decided about a group must not be lost when its last crash goes to another
// group. The other group takes over
//
//   - state, version, conditions and regressions, if nobody ever decided about it: a group
//     that was resolved or ignored itself keeps its own;
//   - assignee and issue link, each where it has none.
//
// Comments are those of the part, which are shown with the group. What the other group's
// reports would have done to a resolved group they do then: a crash after the resolution is
// a regression. The crashes that moved did it when they arrived.

const inheritDecisions = `
update crash_groups t set
	assignee_id = coalesce(t.assignee_id, f.assignee_id),
	issue_url = case when t.issue_url = '' then f.issue_url else t.issue_url end,
	state = case when u.undecided then f.state else t.state end,
	resolved_at = case when u.undecided then f.resolved_at else t.resolved_at end,
	resolved_in = case when u.undecided then f.resolved_in else t.resolved_in end,
	resolved_next = case when u.undecided then f.resolved_next else t.resolved_next end,
	reopened_at = case when u.undecided then f.reopened_at else t.reopened_at end,
	regressed_in = case when u.undecided then f.regressed_in else t.regressed_in end,
	regressions = case when u.undecided then f.regressions else t.regressions end,
	ignored_at = case when u.undecided then f.ignored_at else t.ignored_at end,
	ignored_until = case when u.undecided then f.ignored_until else t.ignored_until end,
	ignored_until_count = case when u.undecided then f.ignored_until_count else t.ignored_until_count end,
	ignored_until_users = case when u.undecided then f.ignored_until_users - f.users + t.users else t.ignored_until_users end,
	ignored_until_version = case when u.undecided then f.ignored_until_version else t.ignored_until_version end,
	ignore_ended = case when u.undecided then f.ignore_ended else t.ignore_ended end,
	ignore_ended_at = case when u.undecided then f.ignore_ended_at else t.ignore_ended_at end
from crash_groups f,
	lateral (select o.state, o.assignee_id, o.issue_url, o.state = 'open'
	and o.resolved_at is null and o.reopened_at is null and o.regressions = 0
		and o.ignored_at is null and o.ignore_ended = '' as undecided from crash_groups o where o.id = $2) u
where t.id = $2 and f.id = $1
returning u.undecided and f.state = 'resolved' as resolved, t.state, u.state as former_state,
	case when t.assignee_id is distinct from u.assignee_id then t.assignee_id end as assignee_id,
	case when t.issue_url <> u.issue_url then t.issue_url else '' end as issue_url`

// inherited is what a group took over.
type inherited struct {
	Resolved    bool       `db:"resolved"` // it is resolved by that
	State       GroupState `db:"state"`
	FormerState GroupState `db:"former_state"`
	AssigneeID  *int64     `db:"assignee_id"` // nil: it keeps its own
	IssueURL    string     `db:"issue_url"`   // "": it keeps its own
}

// history are the entries of a merge in which root took it over from part.
func (i *inherited) history(part, root int64) []HistoryEntry {
	entries := mergeEntries(part, root)
	of := &entries[1]
	if i.State != i.FormerState {
		of.state, of.Detail["state"], of.Detail["former_state"] = i.State, i.State, i.FormerState
	}
	if i.AssigneeID != nil {
		of.Detail["assignee"] = *i.AssigneeID
	}
	if i.IssueURL != "" {
		of.Detail["issue_url"] = i.IssueURL
	}
	return entries
}

// inherit passes the decisions about a group on to one that is shown, of which it is made a
// part, and writes the history of both, by who. Both are locked.
func inherit(ctx context.Context, tx *storage.Tx, who account.Actor, from, to int64) error {
	var taken []inherited
	err := tx.SelectContext(ctx, &taken, inheritDecisions, from, to)
	if err != nil || len(taken) == 0 {
		return storage.Wrap(err, "pass decisions on")
	}
	if err := RecordHistory(ctx, tx, who, uuid.Nil, taken[0].history(from, to)...); err != nil || !taken[0].Resolved {
		return err
	}
	standings, err := lockStandings(ctx, tx, []int64{to})
	if err != nil {
		return err
	}
	var parts []int64
	err = tx.SelectContext(ctx, &parts, `select id from crash_groups where id = $1 or root_id = $1 order by id limit $2`, to, maxParts)
	if err != nil {
		return storage.Wrap(err, "parts of a crash group")
	}
	return regressByGroups(ctx, tx, standings, to, parts)
}

// regressByGroups applies to a group that is shown what the newest reports of groups would
// have done, had they come to it at once.
func regressByGroups(ctx context.Context, tx *storage.Tx, standings []standing, root int64, groups []int64) error {
	var gone []deletedCrash
	err := tx.SelectContext(ctx, &gone, `select c.* from crash_group_keys k cross join lateral (
			select `+goneColumns+` from crashes where key_id = k.id order by occurred_at desc, id desc limit $2) c
		where k.group_id = any($1) order by c.occurred_at desc, c.id desc limit $2`, pq.Array(groups), maxRegressing)
	if err != nil || len(gone) == 0 {
		return storage.Wrap(err, "crashes of a part")
	}
	keys := map[int64]keyRow{}
	for i := range gone {
		keys[*gone[i].KeyID] = keyRow{GroupID: root, RootID: root}
	}
	var of []standing
	for _, s := range standings {
		if s.ID == root {
			of = append(of, s)
		}
	}
	return transitGroups(ctx, tx, of, tallyGone(keys, gone), nil)
}
