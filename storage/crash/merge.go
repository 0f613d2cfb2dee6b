package crash

import (
	"context"
	"fmt"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Merge moves all keys, counts, days, versions and hosts of one group into
// another of the same project and deletes it; its id leads to the target from
// then on. State, title and regressions are the target's. It writes the audit row and
// returns the target's id. A merge that was done before is done: nothing changes, and
// the second result is false. ErrNotFound for the source, *storage.InvalidError for a target that
// does not exist or is the source, ErrConflict for groups of two projects.
//
// Locks: the project, alone, which waits for every report that is being counted
// and lets none begin, so that no key changes its group under a report; then the
// groups, against a change of their state.
func Merge(ctx context.Context, tx *storage.Tx, w account.Writer, source, target int64) (int64, bool, error) {
	if source == target {
		return 0, false, &storage.InvalidError{Field: "merge_into", Msg: "a group cannot be merged into itself"}
	}
	from, err := placeOf(ctx, tx, w.OrganizationID, source)
	if err != nil {
		return 0, false, err
	}
	if err := lockProjects(ctx, tx, []int64{from.ProjectID}); err != nil {
		return 0, false, err
	}
	// Again, for another merge may have been faster.
	if from, err = placeOf(ctx, tx, w.OrganizationID, source); err != nil {
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
	case from.ID == to.ID && from.ID != source:
		return to.ID, false, nil // merged before
	case from.ID == to.ID:
		return 0, false, &storage.InvalidError{Field: "merge_into",
			Msg: "the target was merged into this group"}
	}
	if err := lockGroups(ctx, tx, []int64{from.ID, to.ID}); err != nil {
		return 0, false, err
	}
	for _, statement := range mergeStatements {
		if _, err := tx.ExecContext(ctx, statement.query, append([]any{from.ID, to.ID}, statement.more...)...); err != nil {
			return 0, false, storage.Wrap(err, statement.doing)
		}
	}
	if _, err := tx.ExecContext(ctx, `delete from crash_groups where id = $1`, from.ID); err != nil {
		return 0, false, storage.Wrap(err, "delete the merged crash group")
	}
	return to.ID, true, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.CrashGroupMerged,
		Actor: w.Actor, Subject: groupSubject(source), Detail: map[string]any{"merged_into": to.ID}})
}

type mergeStatement struct {
	doing, query string
	more         []any
}

// mergeStatements take the source as $1 and the target as $2. A constant table.
var mergeStatements = []mergeStatement{
	{"move keys", `update crash_group_keys set group_id = $2 where group_id = $1`, nil},
	{"add up counts", `
		update crash_groups t set count = t.count + s.count,
			first_seen = least(t.first_seen, s.first_seen), last_seen = greatest(t.last_seen, s.last_seen)
		from crash_groups s where s.id = $1 and t.id = $2`, nil},
	{"add up days", `
		insert into crash_group_days as d (group_id, day, count)
		select $2::bigint, day, count from crash_group_days where group_id = $1
		on conflict (group_id, day) do update set count = d.count + excluded.count`, nil},
	{"add up versions and hosts", `
		with ranked as (
			select s.*, t.value is not null as known,
				row_number() over (partition by s.kind, t.value is null order by s.count desc, s.value) as turn
			from crash_group_values s
			left join crash_group_values t on t.group_id = $2 and t.kind = s.kind and t.value = s.value
			where s.group_id = $1
		), held as (
			select kind, count(*) as n from crash_group_values where group_id = $2 group by kind
		)
		insert into crash_group_values as v (group_id, kind, value, count, first_seen, last_seen)
		select $2::bigint, r.kind, r.value, r.count, r.first_seen, r.last_seen
		from ranked r left join held using (kind)
		where r.known or coalesce(held.n, 0) + r.turn <= $3
		on conflict (group_id, kind, value) do update set count = v.count + excluded.count,
			first_seen = least(v.first_seen, excluded.first_seen),
			last_seen = greatest(v.last_seen, excluded.last_seen)`, []any{maxValues}},
	{"follow former merges", `update crash_group_merges set group_id = $2 where group_id = $1`, nil},
	{"remember the merge", `insert into crash_group_merges (old_id, group_id) values ($1, $2)`, nil},
}

type groupPlace struct {
	ID        int64 `db:"id"`
	ProjectID int64 `db:"crash_project_id"`
}

func placeOf(ctx context.Context, tx storage.Querier, organization, id int64) (groupPlace, error) {
	var p groupPlace
	err := tx.GetContext(ctx, &p, `
		select id, crash_project_id from crash_groups where organization_id = $1
			and id = coalesce((select m.group_id from crash_group_merges m where m.old_id = $2), $2)`,
		organization, id)
	return p, storage.Wrap(err, fmt.Sprintf("crash group %d", id))
}

// lockGroups locks groups. The projects must be locked.
func lockGroups(ctx context.Context, tx *storage.Tx, groups []int64) error {
	_, err := tx.ExecContext(ctx, `select 1 from crash_groups where id = any($1) order by id for update`, pq.Array(groups))
	return storage.Wrap(err, "lock crash groups")
}
