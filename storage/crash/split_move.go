package crash

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// moveSplit moves those of the crashes to a key that are still with a group from which
// the key was split, with all that they added to it, and returns their number. The
// project is locked alone.
func moveSplit(ctx context.Context, tx *storage.Tx, organization, target int64, crashes []uuid.UUID) (int, error) {
	var rows []keyRow
	err := tx.SelectContext(ctx, &rows, `
		select k.id, k.crash_project_id, k.key, k.group_id, coalesce(g.root_id, g.id) as root_id, g.facets_at
		from crash_group_keys k join crash_groups g on g.id = k.group_id
		where k.id = $1 or k.group_id in (select s.group_id from crash_group_splits s where s.target_key_id = $1)`, target)
	if err != nil {
		return 0, storage.Wrap(err, "keys of a split")
	}
	keys := make(map[int64]keyRow, len(rows))
	var sources, groups []int64
	for _, k := range rows {
		keys[k.ID] = k
		groups = append(groups, k.RootID)
		if k.ID != target {
			sources = append(sources, k.ID)
		}
	}
	if _, there := keys[target]; !there {
		return 0, nil
	}
	if err := lockGatedBuilds(ctx, tx, array.UUIDs(crashes)); err != nil {
		return 0, err
	}
	if err := lockGroups(ctx, tx, groups); err != nil {
		return 0, err
	}
	var moved []deletedCrash
	err = tx.SelectContext(ctx, &moved, `select `+goneColumns+` from crashes
		where id = any($1::uuid[]) and organization_id = $2 and key_id = any($3) order by id for update`,
		storage.UUIDs(crashes), organization, pq.Array(sources))
	if err != nil || len(moved) == 0 {
		return 0, storage.Wrap(err, "lock crashes to split off")
	}
	ids := make([]string, len(moved))
	touched := map[int64]bool{keys[target].RootID: true}
	for i := range moved {
		ids[i] = moved[i].ID.String()
		touched[keys[*moved[i].KeyID].RootID] = true
	}
	_, err = tx.ExecContext(ctx, `update crashes set key_id = $2 where id = any($1::uuid[])`, pq.Array(ids), target)
	if err != nil {
		return 0, storage.Wrap(err, "split crashes off")
	}
	if err := moveCounts(ctx, tx, organization, keys, moved, slices.Repeat([]int64{target}, len(moved))); err != nil {
		return 0, err
	}
	groups = groups[:0]
	for id := range touched {
		groups = append(groups, id)
	}
	return len(moved), recount(ctx, tx, groups...)
}

// moveCounts moves what crashes added to the groups of their keys to those of other keys:
// targets has the id of each crash's. keys has all of them.
func moveCounts(ctx context.Context, tx *storage.Tx, organization int64, keys map[int64]keyRow, moved []deletedCrash,
	targets []int64) error {
	from := tallyGone(keys, moved)
	if err := uncountValues(ctx, tx, from); err != nil {
		return err
	}
	if err := uncountMessages(ctx, tx, from); err != nil {
		return err
	}
	if err := uncountDays(ctx, tx, from); err != nil {
		return err
	}
	if err := dropFacets(ctx, tx, organization, keys, moved); err != nil {
		return err
	}
	crashes := make([]Crash, len(moved))
	byKey := map[projectKey]keyRow{}
	for i := range moved {
		to := keys[targets[i]]
		moved[i].KeyID = &targets[i]
		crashes[i] = Crash{ProjectID: to.ProjectID, Attributes: moved[i].Attributes, Group: &Grouping{Key: [32]byte(to.Key)}}
		byKey[projectKey{to.ProjectID, [32]byte(to.Key)}] = to
	}
	tallies := tallyGone(keys, moved)
	if err := countValues(ctx, tx, tallies); err != nil {
		return err
	}
	if err := countDays(ctx, tx, tallies); err != nil {
		return err
	}
	if err := raiseSeverities(ctx, tx, tallies); err != nil {
		return err
	}
	if err := moveReach(ctx, tx, from, tallies); err != nil {
		return err
	}
	if err := countMessages(ctx, tx, organization, tallies); err != nil {
		return err
	}
	Facets(organization, crashes)
	return writeFacets(ctx, tx, nil, byKey, crashes)
}

// SplitCursor is how far the crashes of a split were looked through: by key, and each
// key's from the newest to the oldest.
type SplitCursor struct {
	KeyID int64     `json:"key_id"`
	At    time.Time `json:"at"`
	ID    uuid.UUID `json:"id"`
}

// splitPage is how many crashes one query looks through.
const splitPage = 2000

// SplitMatches looks from a place on for crashes that are to be moved to a key, and
// returns up to SplitStep of them with the place after them. more is false at the end;
// also when the key is gone, and with it the rules.
func SplitMatches(ctx context.Context, q storage.Querier, organization, target int64, from SplitCursor) (ids []uuid.UUID,
	next SplitCursor, more bool, err error) {
	by, key, err := splitSource(ctx, q, organization, target, from.KeyID)
	if err != nil || key == 0 {
		return nil, from, false, err
	}
	c := &condition.List{}
	c.Add("c.organization_id = " + c.Arg(organization))
	c.Add("c.key_id = " + c.Arg(key))
	if key == from.KeyID {
		c.Add("(c.occurred_at, c.id) < (" + c.Arg(from.At) + "::timestamptz, " + c.Arg(from.ID) + "::uuid)")
	}
	var page []struct {
		ID    uuid.UUID `db:"id"`
		At    time.Time `db:"occurred_at"`
		Match bool      `db:"match"`
	}
	match := by.condition(c)
	err = q.SelectContext(ctx, &page, `select c.id, c.occurred_at, (`+match+`) is true as match from crashes c`+c.Where()+
		` order by c.occurred_at desc, c.id desc limit `+c.Arg(splitPage), c.Args...)
	if err != nil {
		return nil, from, false, storage.Wrap(err, "find crashes to split off")
	}
	next = from
	for _, row := range page {
		next = SplitCursor{KeyID: key, At: row.At, ID: row.ID}
		if row.Match {
			ids = append(ids, row.ID)
		}
		if len(ids) == SplitStep {
			return ids, next, true, nil
		}
	}
	if len(page) < splitPage {
		next = SplitCursor{KeyID: key + 1, At: endOfTime()}
	}
	return ids, next, true, nil
}

// endOfTime is later than every crash: with it a cursor stands before a key's newest.
func endOfTime() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// splitSource returns by what a key was split off, and the first key at or after one that
// it was split from; 0 when there is none.
func splitSource(ctx context.Context, q storage.Querier, organization, target, after int64) (by SplitBy, key int64, err error) {
	var rules []Split
	err = q.SelectContext(ctx, &rules, `select distinct s.stack, s.attribute, s.value
		from crash_group_splits s join crash_groups g on g.id = s.group_id
		where s.target_key_id = $1 and g.organization_id = $2`, target, organization)
	if err != nil || len(rules) == 0 {
		return by, 0, storage.Wrap(err, "rules of a split")
	}
	for _, r := range rules {
		if r.Attribute != nil {
			by.Attribute = &condition.Attribute{Key: *r.Attribute, Value: *r.Value}
		} else {
			by.Stacks = append(by.Stacks, r.Stack)
		}
	}
	err = q.GetContext(ctx, &key, `
		select coalesce(min(k.id), 0) from crash_group_keys k
		where k.id >= $2 and k.group_id in (select s.group_id from crash_group_splits s where s.target_key_id = $1)`, target, after)
	return by, key, storage.Wrap(err, "keys of a split")
}

// MoveSplit moves crashes that SplitMatches found, and returns the number of those that
// were still to be moved.
func MoveSplit(ctx context.Context, tx *storage.Tx, organization, target int64, crashes []uuid.UUID) (int, error) {
	if len(crashes) == 0 {
		return 0, nil
	}
	var projects []int64
	err := tx.SelectContext(ctx, &projects, `select k.crash_project_id from crash_group_keys k
		join crash_projects p on p.id = k.crash_project_id where k.id = $1 and p.organization_id = $2`, target, organization)
	if err != nil || len(projects) == 0 {
		return 0, storage.Wrap(err, "project of a split")
	}
	if err := projectlock.Take(ctx, tx, projects...); err != nil {
		return 0, err
	}
	return moveSplit(ctx, tx, organization, target, crashes)
}
