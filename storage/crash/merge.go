package crash

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// Merge makes one group a part of another of the same project; its id leads to the
// target from then on. State, title and regressions are the target's. A group that is a
// part already moves alone, out of the group that it was merged into. It writes the
// history and the audit row, and returns the target's id. A merge that was done before is done: nothing
// changes, and the second result is false. ErrNotFound for the source,
// *storage.InvalidError for a target that does not exist or is the source or a part of
// it, ErrConflict for groups of two projects.
//
// Locks: the project, alone, which waits for every report that is being counted
// and lets none begin, so that no key changes its root under a report; then the
// groups, against a change of their state.
func Merge(ctx context.Context, tx *storage.Tx, w account.Writer, source, target int64) (int64, bool, error) {
	if source == target {
		return 0, false, &storage.InvalidError{Field: "merge_into", Msg: "a group cannot be merged into itself"}
	}
	from, err := lockPlace(ctx, tx, w.OrganizationID, source)
	if err != nil {
		return 0, false, err
	}
	to, err := placeOf(ctx, tx, w.OrganizationID, target)
	switch {
	case isNotFound(err):
		return 0, false, &storage.InvalidError{Field: "merge_into", Msg: "no such group"}
	case err != nil:
		return 0, false, err
	case from.ProjectID != to.ProjectID:
		return 0, false, fmt.Errorf("merge groups of two projects: %w", storage.ErrConflict)
	case from.RootID == to.RootID && (from.isPart() || from.Former):
		return to.RootID, false, nil // merged before
	case from.RootID == to.RootID:
		return 0, false, &storage.InvalidError{Field: "merge_into", Msg: "the target was merged into this group"}
	case from.Former:
		return 0, false, &storage.InvalidError{Field: "merge_into",
			Msg: fmt.Sprintf("this group is no part of group %d any more: merge that one", from.RootID)}
	}
	if err := lockGroups(ctx, tx, []int64{from.ID, from.RootID, to.RootID}); err != nil {
		return 0, false, err
	}
	if err := attach(ctx, tx, from.ID, to.RootID, to.RootID); err != nil {
		return 0, false, err
	}
	recounted, history := []int64{to.RootID}, mergeEntries(from.ID, to.RootID)
	if from.isPart() {
		recounted = append(recounted, from.RootID)
		history = append(history, HistoryEntry{Group: from.RootID, Detail: map[string]any{"unmerged": from.ID}})
	}
	if err := recount(ctx, tx, recounted...); err != nil {
		return 0, false, err
	}
	if err := RecordHistory(ctx, tx, w.Actor, uuid.Nil, history...); err != nil {
		return 0, false, err
	}
	return to.RootID, true, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupMerged,
		Actor: w.Actor, Subject: groupSubject(source), Detail: map[string]any{"merged_into": to.RootID}})
}

// Unmerge shows a part as a group again, with what was merged into it, with all
// reports of its keys, and in the state that it had. It writes the history and the audit
// row, and returns the id of the group that it was taken from. ErrNotFound for an unknown group,
// *storage.InvalidError for one that is no part.
func Unmerge(ctx context.Context, tx *storage.Tx, w account.Writer, part int64) (int64, error) {
	p, err := lockPlace(ctx, tx, w.OrganizationID, part)
	switch {
	case err != nil:
		return 0, err
	case p.Former:
		return 0, &storage.InvalidError{Field: "unmerge", Msg: "this group was merged before parts were kept"}
	case !p.isPart():
		return 0, &storage.InvalidError{Field: "unmerge", Msg: "this group was not merged into another"}
	}
	if err := lockGroups(ctx, tx, []int64{p.ID, p.RootID}); err != nil {
		return 0, err
	}
	if err := attach(ctx, tx, p.ID, 0, p.ID); err != nil {
		return 0, err
	}
	if err := recount(ctx, tx, p.ID, p.RootID); err != nil {
		return 0, err
	}
	err = RecordHistory(ctx, tx, w.Actor, uuid.Nil, HistoryEntry{Group: p.ID, Detail: map[string]any{"taken_from": p.RootID}},
		HistoryEntry{Group: p.RootID, Detail: map[string]any{"unmerged": p.ID}})
	if err != nil {
		return 0, err
	}
	return p.RootID, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupUnmerged,
		Actor: w.Actor, Subject: groupSubject(part), Detail: map[string]any{"taken_from": p.RootID}})
}

// UnmergePart is Unmerge for a part of a certain group: *storage.InvalidError for any
// other. The group may be named by the id of one of its parts.
func UnmergePart(ctx context.Context, tx *storage.Tx, w account.Writer, group, part int64) (int64, error) {
	of, err := lockPlace(ctx, tx, w.OrganizationID, group)
	if err != nil {
		return 0, err
	}
	p, err := placeOf(ctx, tx, w.OrganizationID, part)
	if isNotFound(err) || err == nil && p.RootID != of.RootID {
		return 0, &storage.InvalidError{Field: "unmerge", Msg: "this group has no such part"}
	}
	if err != nil {
		return 0, err
	}
	return Unmerge(ctx, tx, w, part)
}

// lockPlace locks the project of a group alone and finds where the group stands.
func lockPlace(ctx context.Context, tx *storage.Tx, organization, id int64) (place, error) {
	p, err := placeOf(ctx, tx, organization, id)
	if err != nil {
		return p, err
	}
	if err := projectlock.Take(ctx, tx, p.ProjectID); err != nil {
		return p, err
	}
	return placeOf(ctx, tx, organization, id) // again, for another merge may have been faster
}

// lockGroups locks groups. The projects must be locked.
func lockGroups(ctx context.Context, tx *storage.Tx, groups []int64) error {
	_, err := tx.ExecContext(ctx, `select 1 from crash_groups where id = any($1) order by id for update`, pq.Array(groups))
	return storage.Wrap(err, "lock crash groups")
}
