package crash

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
)

// A newer algorithm gives other keys to the reports of a bug that has a group already.
// The group keeps its key and its reports. Where its stored reports agree on one newer
// key, that becomes a second key of the same group; each key is looked at once for each
// version of the algorithm.

// OldKey is a key of an older algorithm that was not looked at yet.
type OldKey struct {
	ID             int64 `db:"id"`
	OrganizationID int64 `db:"organization_id"`
}

// unchecked are the keys of p, a crash project, that were not looked at for version $1;
// the index crash_group_keys_unchecked serves it.
const unchecked = `select from crash_group_keys k where k.crash_project_id = p.id and k.algorithm > 0
	and greatest(k.algorithm, k.checked_version) < $1`

// HasOldKeys reports whether there is a key that was not looked at for a version.
func HasOldKeys(ctx context.Context, q storage.Querier, version int) (bool, error) {
	var there bool
	err := q.GetContext(ctx, &there, `select exists (select from crash_projects p where exists (`+unchecked+`))`, version)
	return there, storage.Wrap(err, "look for old crash group keys")
}

// selectOldKeys gives the next organization its turn with its first crash project that has
// such keys; the oldest go first, so that the oldest of several groups gets the newer key.
const selectOldKeys = `
with turn as (
	select p.id, p.organization_id from crash_projects p
	where p.organization_id > $2 and exists (` + unchecked + `)
	order by p.organization_id, p.id limit 1
)
select k.id, t.organization_id
from turn t cross join generate_series(1, $1::int - 1) as v(version) cross join lateral (
	select k.id from crash_group_keys k where k.crash_project_id = t.id and k.algorithm > 0
		and greatest(k.algorithm, k.checked_version) = v.version
	order by k.id limit $3) k
order by k.id limit $3`

// OldKeys returns up to limit keys, all of one organization: the first after one that
// has any. None at the end of the organizations.
func OldKeys(ctx context.Context, q storage.Querier, version int, afterOrganization int64, limit int) ([]OldKey, error) {
	var keys []OldKey
	err := q.SelectContext(ctx, &keys, selectOldKeys, version, afterOrganization, limit)
	return keys, storage.Wrap(err, "list old crash group keys")
}

// NewestOfKey returns the newest crashes of a key.
func NewestOfKey(ctx context.Context, q storage.Querier, organization, key int64, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, `select id from crashes where key_id = $1 and organization_id = $2
		order by occurred_at desc, id desc limit $3`, key, organization, limit)
	return ids, storage.Wrap(err, "newest crashes of a key")
}

// Rekeyed is what Rekey did.
type Rekeyed struct {
	Joined bool // the group has the newer key
	Merged bool // by taking in the group that had it
}

// Rekey notes that a key was looked at for a version, and makes newer a second key of
// its group; nil when its reports do not agree on one. Where newer has a group already
// that is younger and that nobody touched, one that was made between the upgrade and
// now, that becomes a part of the old group; any other keeps its key.
func Rekey(ctx context.Context, tx *storage.Tx, old OldKey, version int, newer *[32]byte) (Rekeyed, error) {
	at, there, err := lockOldKey(ctx, tx, old, version)
	if err != nil || !there {
		return Rekeyed{}, err
	}
	_, err = tx.ExecContext(ctx, `update crash_group_keys set checked_version = $2 where id = $1`, old.ID, version)
	if err != nil || newer == nil {
		return Rekeyed{}, storage.Wrap(err, "mark an old crash group key")
	}
	res, err := tx.ExecContext(ctx, `insert into crash_group_keys (crash_project_id, key, algorithm, group_id, checked_version)
		values ($1, $2, $3, $4, $3) on conflict do nothing`, at.ProjectID, newer[:], version, at.GroupID)
	if err != nil {
		return Rekeyed{}, storage.Wrap(err, "add a key to a crash group")
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return Rekeyed{Joined: n == 1}, storage.Wrap(err, "add a key to a crash group")
	}
	merged, err := takeIn(ctx, tx, old.OrganizationID, at, version, newer[:], account.ActorUpgrade)
	return Rekeyed{Joined: merged, Merged: merged}, err
}

// lockOldKey locks the project of a key alone and reads the key; false when it is gone or
// was looked at meanwhile.
func lockOldKey(ctx context.Context, tx *storage.Tx, old OldKey, version int) (keyRow, bool, error) {
	var rows []keyRow
	read := func() error {
		rows = nil
		return tx.SelectContext(ctx, &rows, `
			select k.id, k.crash_project_id, k.key, k.group_id, coalesce(g.root_id, g.id) as root_id
			from crash_group_keys k join crash_groups g on g.id = k.group_id
			where k.id = $1 and g.organization_id = $2 and k.algorithm > 0 and greatest(k.algorithm, k.checked_version) < $3`,
			old.ID, old.OrganizationID, version)
	}
	if err := read(); err != nil || len(rows) == 0 {
		return keyRow{}, false, storage.Wrap(err, "read an old crash group key")
	}
	if err := projectlock.Take(ctx, tx, rows[0].ProjectID); err != nil {
		return keyRow{}, false, err
	}
	if err := read(); err != nil || len(rows) == 0 {
		return keyRow{}, false, storage.Wrap(err, "read an old crash group key")
	}
	return rows[0], true, nil
}

// selectUntouched finds, for keys and the groups that would take theirs in, the groups that nobody
// touched: as reports make them, without a decision, a comment, a merge or a split. n counts the
// keys from 1.
const selectUntouched = `
select w.n, g.id
from unnest($1::bigint[], $2::bytea[], $3::int[], $4::bigint[]) with ordinality as w(project, key, algorithm, old, n)
join crash_group_keys k on k.crash_project_id = w.project and k.key = w.key
join crash_groups g on g.id = k.group_id join crash_groups old on old.id = w.old
where g.algorithm = w.algorithm and g.id <> old.id and g.created_at > old.created_at
	and g.merged_into is null and g.state = 'open' and g.resolved_at is null and g.reopened_at is null
	and g.regressions = 0 and g.ignored_at is null and g.ignore_ended = '' and g.assignee_id is null and g.issue_url = ''
	and not exists (select from crash_group_comments c where c.group_id = g.id)
	and not exists (select from crash_groups p where p.merged_into = g.id)
	and not exists (select from crash_group_merges m where m.group_id = g.id)
	and not exists (select from crash_group_splits s where s.group_id = g.id or s.target_key_id = k.id)`

// newerKey is a key of an algorithm, and the group that would take in the group that has it.
type newerKey struct {
	project   int64
	key       [32]byte
	algorithm int
	old       int64
}

// untouched returns the groups of those of the keys whose groups may be taken in.
func untouched(ctx context.Context, q storage.Querier, keys []newerKey) (map[newerKey]int64, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	var projects, old []int64
	var algorithms []int
	var texts []string
	for _, k := range keys {
		projects, texts = append(projects, k.project), append(texts, array.Bytea(k.key[:]))
		algorithms, old = append(algorithms, k.algorithm), append(old, k.old)
	}
	var rows []struct {
		N  int   `db:"n"`
		ID int64 `db:"id"`
	}
	err := q.SelectContext(ctx, &rows, selectUntouched, pq.Array(projects), pq.Array(texts), pq.Array(algorithms), pq.Array(old))
	if err != nil {
		return nil, storage.Wrap(err, "groups that nobody touched")
	}
	young := make(map[newerKey]int64, len(rows))
	for _, r := range rows {
		young[keys[r.N-1]] = r.ID
	}
	return young, nil
}

// takeIn makes the group that has a newer key a part of the group of an old one, if
// nobody touched it. What it was split by holds for the part too. actor is whom the history
// and the audit log name.
func takeIn(ctx context.Context, tx *storage.Tx, organization int64, at keyRow, version int, newer []byte, actor string) (bool, error) {
	var groups []int64
	err := tx.SelectContext(ctx, &groups, `select group_id from crash_group_keys where crash_project_id = $1 and key = $2`,
		at.ProjectID, newer)
	if err != nil || len(groups) == 0 {
		return false, storage.Wrap(err, "the group of a newer key")
	}
	standings, err := lockStandings(ctx, tx, append(groups, at.RootID))
	if err != nil {
		return false, err
	}
	key := newerKey{at.ProjectID, [32]byte(newer), version, at.GroupID}
	found, err := untouched(ctx, tx, []newerKey{key}) // now that it is locked
	if err != nil || len(found) == 0 {
		return false, err
	}
	young := found[key]
	if err := attach(ctx, tx, young, at.GroupID, at.RootID); err != nil {
		return false, err
	}
	if err := recount(ctx, tx, at.RootID); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `
		insert into crash_group_splits (crash_project_id, group_id, target_key_id, kind, stack, attribute, value)
		select crash_project_id, $2, target_key_id, kind, stack, attribute, value
		from crash_group_splits where group_id = $1 order by id`, at.GroupID, young)
	if err != nil {
		return false, storage.Wrap(err, "pass on what was split off")
	}
	who := account.Actor{Name: actor}
	if err := RecordHistory(ctx, tx, who, uuid.Nil, mergeEntries(young, at.RootID)...); err != nil {
		return false, err
	}
	if err := regressByGroups(ctx, tx, standings, at.RootID, []int64{young}); err != nil {
		return false, err
	}
	return true, account.Audit(ctx, tx, account.Event{OrganizationID: organization, Type: account.CrashGroupMerged,
		Actor: who, Subject: groupSubject(young),
		Detail: map[string]any{"merged_into": at.RootID, "algorithm": version}})
}

// maxRegressing bounds the crashes of a part that are read to find a regression.
const maxRegressing = 1000
