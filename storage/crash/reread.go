package crash

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/need"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// Symbols that arrive after a crash was processed give it another key. Its group has a
// history: people resolved it, commented on it, merged it. So a group is never made anew:
//
//   - The first new key that the crashes of an old key get becomes an alias: a second key of
//     the same group, which takes the title of the new frames.
//   - Crashes of the old key that get yet another key leave: to the group that has it, or to
//     a new one. crash_group_successors says so.
//   - Where another group has the new key already, the crashes move there. A group that is
//     left without a crash becomes a part of it, and passes its decisions on (inherit.go).
//   - But where that group is the younger one and nobody touched it, as one that was made by
//     reports between the arrival of the symbols and the reading of older ones, it becomes a
//     part of the old group.
//   - A key that people made by a split stays: only the frames are new.
//
// Crashes that are read again are old: they reopen no group and end no ignoring.

// Reread is what the reading of crashes changed.
type Reread struct {
	Crashes int // that were there
	Changed int // that got another key
	Moved   int // of these, to another group
	Split   int // groups that were made
}

// add adds what another step changed.
func (r *Reread) add(o Reread) {
	r.Crashes, r.Changed, r.Moved, r.Split = r.Crashes+o.Crashes, r.Changed+o.Changed, r.Moved+o.Moved, r.Split+o.Split
}

// ReadAgain replaces what symbols made of crashes of an organization, and their keys, in the
// caller's transaction. Crashes come in the order in which they are to be read: the first
// decides which key becomes an alias. One that is gone is left out. A crash that was stored
// unread (a dump) is counted as a new one.
//
// Locks: the projects, alone; builds; groups; crashes.
func ReadAgain(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (Reread, error) {
	var out Reread
	projects := make([]int64, 0, 1)
	for i := range crashes {
		if p := crashes[i].ProjectID; !slices.Contains(projects, p) {
			projects = append(projects, p)
		}
	}
	if len(projects) == 0 {
		return out, nil
	}
	if err := projectlock.Take(ctx, tx, projects...); err != nil {
		return out, err
	}
	known, unread, err := presentCrashes(ctx, tx, organization, crashes)
	if err != nil {
		return out, err
	}
	if len(unread) > 0 {
		if err := recordUnread(ctx, tx, organization, unread); err != nil {
			return out, err
		}
		out.Crashes, out.Changed = len(unread), len(unread)
	}
	if len(known) > 0 {
		ids := make([]string, len(known))
		for i := range known {
			ids[i] = known[i].ID.String()
		}
		if err := lockGatedBuilds(ctx, tx, ids); err != nil {
			return out, err
		}
		step := rereading{tx: tx, organization: organization}
		done, err := step.run(ctx, known)
		if err != nil {
			return out, err
		}
		out.add(done)
	}
	return out, renewSymbolications(ctx, tx, organization, known, unread)
}

// knownCrash is a crash that is read again, with its row.
type knownCrash struct {
	*Crash
	row deletedCrash
}

// presentCrashes returns the crashes that have a key, with their rows, and those that were
// stored unread.
func presentCrashes(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (known []knownCrash,
	unread []Crash, err error) {
	ids := make([]string, len(crashes))
	for i := range crashes {
		ids[i] = crashes[i].ID.String()
	}
	var rows []struct {
		deletedCrash
		State State `db:"state"`
	}
	err = tx.SelectContext(ctx, &rows, `select `+goneColumns+`, state from crashes where id = any($1::uuid[]) and organization_id = $2`,
		pq.Array(ids), organization)
	if err != nil {
		return nil, nil, storage.Wrap(err, "read crashes again")
	}
	byID := make(map[uuid.UUID]int, len(rows))
	for i := range rows {
		byID[rows[i].ID] = i
	}
	for i := range crashes {
		c := &crashes[i]
		at, there := byID[c.ID]
		if !there || rows[at].ProjectID != c.ProjectID {
			continue
		}
		switch {
		case rows[at].State == Stored:
			unread = append(unread, *c)
		case rows[at].KeyID != nil && c.Group != nil:
			known = append(known, knownCrash{c, rows[at].deletedCrash})
		}
	}
	return known, unread, nil
}

// renewSymbolications replaces what symbols made of the crashes and which files they lack.
func renewSymbolications(ctx context.Context, tx *storage.Tx, organization int64, known []knownCrash, unread []Crash) error {
	all := make([]Crash, 0, len(known)+len(unread))
	for _, k := range known {
		all = append(all, *k.Crash)
	}
	all = append(all, unread...)
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID.String()
	}
	before, err := need.Forget(ctx, tx, ids)
	if err != nil {
		return err
	}
	if err := recordSymbolications(ctx, tx, replaceSymbolications, organization, all); err != nil {
		return err
	}
	if err := needGated(ctx, tx, known, unread); err != nil {
		return err
	}
	return need.Drop(ctx, tx, before)
}

// rereading is one step. Keys are by id, new keys by what they are.
type rereading struct {
	tx           *storage.Tx
	organization int64
	byID         map[int64]keyRow
	byKey        map[projectKey]keyRow
	alias        map[int64]int64     // of a key: its first new key
	chosen       map[int64]bool      // keys that people made by a split
	made         map[projectKey]bool // keys that this step made
	takes        map[newerKey]bool   // groups that may be taken in; false: it is known that they may not
	out          Reread
}

func (r *rereading) run(ctx context.Context, crashes []knownCrash) (Reread, error) {
	r.out.Crashes = len(crashes)
	if err := r.readKeys(ctx, crashes); err != nil {
		return r.out, err
	}
	var targets []keyRow // in the order of crashes
	for i := range crashes {
		to, err := r.target(ctx, &crashes[i])
		if err != nil {
			return r.out, err
		}
		targets = append(targets, to)
	}
	for i := range targets { // a group may have become a part after it was chosen
		targets[i] = r.byKey[projectKey{targets[i].ProjectID, [32]byte(targets[i].Key)}]
	}
	if err := r.followSplits(ctx, crashes, targets); err != nil {
		return r.out, err
	}
	return r.out, r.move(ctx, crashes, targets)
}

const selectKeysByID = `
select k.id, k.crash_project_id, k.key, k.group_id, coalesce(g.root_id, g.id) as root_id, g.facets_at,
	exists (select from crash_group_splits s where s.group_id = k.group_id) as split
from crash_group_keys k join crash_groups g on g.id = k.group_id where k.id = any($1)`

// readKeys reads the keys that the crashes have and those that they are to get.
func (r *rereading) readKeys(ctx context.Context, crashes []knownCrash) error {
	var ids []int64
	want := map[projectKey]*Grouping{}
	for i := range crashes {
		c := &crashes[i]
		if !slices.Contains(ids, *c.row.KeyID) {
			ids = append(ids, *c.row.KeyID)
		}
		want[projectKey{c.ProjectID, c.Group.Key}] = c.Group
	}
	var rows []keyRow
	if err := r.tx.SelectContext(ctx, &rows, selectKeysByID, pq.Array(ids)); err != nil {
		return storage.Wrap(err, "keys of crashes")
	}
	r.byID = make(map[int64]keyRow, len(rows))
	var err error
	if r.byKey, err = readKeys(ctx, r.tx, want); err != nil {
		return err
	}
	if r.byKey == nil {
		r.byKey = map[projectKey]keyRow{}
	}
	for _, k := range rows {
		r.byID[k.ID] = k
		r.byKey[projectKey{k.ProjectID, [32]byte(k.Key)}] = k
	}
	var aliases []struct {
		KeyID   int64 `db:"key_id"`
		AliasID int64 `db:"alias_key_id"`
	}
	err = r.tx.SelectContext(ctx, &aliases, `select key_id, alias_key_id from crash_group_aliases where key_id = any($1)`, pq.Array(ids))
	if err != nil {
		return storage.Wrap(err, "aliases of keys")
	}
	r.alias = map[int64]int64{}
	for _, a := range aliases {
		r.alias[a.KeyID] = a.AliasID
	}
	var chosen []int64
	err = r.tx.SelectContext(ctx, &chosen, `select distinct target_key_id from crash_group_splits where target_key_id = any($1)`,
		pq.Array(ids))
	r.chosen = map[int64]bool{}
	for _, id := range chosen {
		r.chosen[id] = true
	}
	if err != nil {
		return storage.Wrap(err, "keys of splits")
	}
	return r.readYoung(ctx, crashes)
}

// readYoung looks which of the groups that have new keys already may be taken in by those of the
// old ones: once for the step, and not for each of its crashes.
func (r *rereading) readYoung(ctx context.Context, crashes []knownCrash) error {
	want := map[newerKey]bool{}
	for i := range crashes {
		c := &crashes[i]
		from := r.byID[*c.row.KeyID]
		to, there := r.byKey[projectKey{c.ProjectID, c.Group.Key}]
		if there && to.RootID != from.RootID && r.alias[from.ID] == 0 {
			want[newerKeyOf(from, to, c.Group)] = true
		}
	}
	young, err := untouched(ctx, r.tx, slices.Collect(mapKeys(want)))
	r.made, r.takes = map[projectKey]bool{}, want
	for key := range want {
		_, r.takes[key] = young[key]
	}
	return err
}

// mayTakeIn reports whether it is worth to ask, under locks, if the group of a key is taken in: once.
// Of a key that this step made nothing was read before.
func (r *rereading) mayTakeIn(key newerKey) bool {
	may, read := r.takes[key]
	r.takes[key] = false
	return may || !read && r.made[projectKey{key.project, key.key}]
}

// newerKeyOf is the key that crashes of another one get.
func newerKeyOf(from, to keyRow, g *Grouping) newerKey {
	return newerKey{from.ProjectID, [32]byte(to.Key), g.Algorithm, from.GroupID}
}

// target returns the key that a crash gets, and makes it where it is new.
func (r *rereading) target(ctx context.Context, c *knownCrash) (keyRow, error) {
	from := r.byID[*c.row.KeyID]
	at := projectKey{c.ProjectID, c.Group.Key}
	to, there := r.byKey[at]
	switch {
	case r.chosen[from.ID] || bytes.Equal(from.Key, c.Group.Key[:]):
		return from, nil
	case there && to.RootID != from.RootID && r.alias[from.ID] == 0 && r.mayTakeIn(newerKeyOf(from, to, c.Group)):
		return r.takeInYounger(ctx, from, to, c.Group)
	case there:
		return to, nil
	}
	var err error
	if r.alias[from.ID] == 0 {
		to, err = r.makeAlias(ctx, from, c.Group)
	} else {
		to, err = r.makeGroup(ctx, c.ProjectID, c.Group)
		r.out.Split++
	}
	r.byKey[at], r.made[at] = to, true
	return to, err
}

// followSplits passes crashes that come to another group on by the rules of that group.
func (r *rereading) followSplits(ctx context.Context, crashes []knownCrash, targets []keyRow) error {
	var groups []int64
	for i := range crashes {
		to := targets[i]
		if to.Split && to.GroupID != r.byID[*crashes[i].row.KeyID].GroupID && !slices.Contains(groups, to.GroupID) {
			groups = append(groups, to.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	rules, err := readSplitRules(ctx, r.tx, groups)
	if err != nil {
		return err
	}
	for i := range crashes {
		c := &crashes[i]
		if !slices.Contains(groups, targets[i].GroupID) || targets[i].GroupID == r.byID[*c.row.KeyID].GroupID {
			continue
		}
		was := *c.Crash
		was.Attributes = c.row.Attributes
		if to, moved := follow(rules, targets[i].GroupID, &was); moved {
			targets[i] = to
		}
	}
	return nil
}

// move gives the crashes their keys, and moves what they added to other groups.
func (r *rereading) move(ctx context.Context, crashes []knownCrash, targets []keyRow) error {
	all := map[int64]keyRow{} // by id
	var roots []int64
	for _, k := range r.byID {
		all[k.ID] = k
	}
	for _, k := range targets {
		all[k.ID] = k
	}
	for _, k := range all {
		roots = append(roots, k.RootID, k.GroupID)
	}
	if err := lockGroups(ctx, r.tx, roots); err != nil {
		return err
	}
	locked, err := r.lockCrashes(ctx, crashes)
	if err != nil {
		return err
	}
	var ids, stacks, classifiers []string
	var keys []int64
	leaving := map[int64][]deletedCrash{} // by the key that they go to
	successors := map[[2]int64]int64{}
	for i := range crashes {
		c, to := &crashes[i], targets[i]
		if !locked[c.ID] {
			continue
		}
		from := r.byID[*c.row.KeyID]
		ids, keys, stacks = append(ids, c.ID.String()), append(keys, to.ID), append(stacks, array.Bytea(c.StackKey))
		classifiers = append(classifiers, c.Classifier)
		if to.ID != from.ID {
			r.out.Changed++
		}
		if to.GroupID == from.GroupID {
			continue
		}
		leaving[to.ID] = append(leaving[to.ID], c.row)
		if to.RootID != from.RootID {
			successors[[2]int64{from.GroupID, to.GroupID}]++
			r.out.Moved++
		}
	}
	_, err = r.tx.ExecContext(ctx, `
		update crashes c set key_id = new.key_id, stack_key = nullif(new.stack_key, ''), classifier = new.classifier
		from unnest($1::uuid[], $2::bigint[], $3::bytea[], $4::text[]) as new(id, key_id, stack_key, classifier) where c.id = new.id`,
		pq.Array(ids), pq.Array(keys), pq.Array(stacks), pq.Array(classifiers))
	if err != nil || len(leaving) == 0 {
		return storage.Wrap(err, "give crashes new keys")
	}
	return r.moveCounts(ctx, all, leaving, successors)
}

func (r *rereading) lockCrashes(ctx context.Context, crashes []knownCrash) (map[uuid.UUID]bool, error) {
	texts := make([]string, len(crashes))
	for i := range crashes {
		texts[i] = crashes[i].ID.String()
	}
	var ids []uuid.UUID
	err := r.tx.SelectContext(ctx, &ids, `select id from crashes where id = any($1::uuid[]) order by id for update`, pq.Array(texts))
	locked := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		locked[id] = true
	}
	return locked, storage.Wrap(err, "lock crashes to be read again")
}

// moveCounts moves what crashes added to the groups of their former keys.
func (r *rereading) moveCounts(ctx context.Context, keys map[int64]keyRow, leaving map[int64][]deletedCrash,
	successors map[[2]int64]int64) error {
	touched, left := map[int64]bool{}, map[int64]int64{} // roots; groups that lost crashes and where to
	var moved []deletedCrash
	var targets []int64
	for _, target := range slices.Sorted(mapKeys(leaving)) {
		touched[keys[target].RootID] = true
		for _, c := range leaving[target] {
			from := keys[*c.KeyID]
			touched[from.RootID] = true
			left[from.GroupID] = keys[target].GroupID
			moved, targets = append(moved, c), append(targets, target)
		}
	}
	if err := moveCounts(ctx, r.tx, r.organization, keys, moved, targets); err != nil {
		return err
	}
	if err := r.recordSuccessors(ctx, successors); err != nil {
		return err
	}
	emptied, err := r.emptied(ctx, slices.Sorted(mapKeys(left)))
	if err != nil {
		return err
	}
	for _, group := range emptied {
		if err := r.absorb(ctx, group, left[group], touched); err != nil {
			return err
		}
	}
	return recount(ctx, r.tx, slices.Sorted(mapKeys(touched))...)
}
