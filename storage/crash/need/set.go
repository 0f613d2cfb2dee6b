package need

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
)

// Crashes of one bug lack the same files: what they lack is stored once, as a set of needs,
// and each crash has the number of its set. A crash of a script with twenty files would
// otherwise write twenty rows, which took most of the time of its processing.
//
// Reports whose stacks run through ever other files have ever other sets. Above
// maxSetsOfProject of a project, a crash whose set is not there has a row for each need.

// maxSetsOfProject bounds the sets of a crash project: more save nothing.
const maxSetsOfProject = 20_000

// needSet are the needs of a crash, by their ids.
type needSet struct {
	project int64
	needs   []int64
}

// setKey names a set.
type setKey struct {
	project int64
	digest  [32]byte
}

// key sorts the needs and returns the name of their set.
func (s *needSet) key() setKey {
	slices.Sort(s.needs)
	buf := make([]byte, 0, 8*len(s.needs))
	for _, id := range s.needs {
		buf = binary.BigEndian.AppendUint64(buf, uint64(id))
	}
	return setKey{s.project, sha256.Sum256(buf)}
}

// hasOneOf reports whether one of some needs is in the set.
func (s *needSet) hasOneOf(needs []int64) bool {
	return slices.ContainsFunc(s.needs, func(id int64) bool { return slices.Contains(needs, id) })
}

// recordSets returns the set of each crash, and makes those that are not there. Crashes
// that get none have their needs one by one.
func recordSets(ctx context.Context, tx *storage.Tx, lacking map[uuid.UUID]*needSet) (map[uuid.UUID]int64, error) {
	if len(lacking) == 0 {
		return nil, nil
	}
	keys, distinct := make(map[uuid.UUID]setKey, len(lacking)), map[setKey]*needSet{}
	for id, set := range lacking {
		key := set.key()
		keys[id], distinct[key] = key, set
	}
	have, err := ensureSets(ctx, tx, distinct)
	if err != nil {
		return nil, err
	}
	sets := make(map[uuid.UUID]int64, len(lacking))
	var needs []int64
	var ids []string
	for id, key := range keys {
		if set, there := have[key]; there {
			sets[id] = set
			continue
		}
		for _, need := range lacking[id].needs {
			needs, ids = append(needs, need), append(ids, id.String())
		}
	}
	if len(ids) == 0 {
		return sets, nil
	}
	_, err = tx.ExecContext(ctx, `insert into crash_needs (need_id, crash_id)
		select need_id, crash_id from unnest($1::bigint[], $2::uuid[]) as n(need_id, crash_id) order by 1, 2
		on conflict do nothing`, pq.Array(needs), pq.Array(ids))
	return sets, storage.Wrap(err, "insert needs of crashes")
}

// ensureSets returns the numbers of sets; those beyond the bound of their project have none.
func ensureSets(ctx context.Context, tx *storage.Tx, want map[setKey]*needSet) (map[setKey]int64, error) {
	have, err := readSets(ctx, tx, want)
	if err != nil || len(have) == len(want) {
		return have, err
	}
	fresh := map[setKey]*needSet{}
	for key, set := range want {
		if _, there := have[key]; !there {
			fresh[key] = set
		}
	}
	if err := insertSets(ctx, tx, fresh); err != nil {
		return nil, err
	}
	return readSets(ctx, tx, want)
}

// sortedSets are the names of sets by project and digest: all who write sets do it in this
// order.
func sortedSets(sets map[setKey]*needSet) []setKey {
	keys := make([]setKey, 0, len(sets))
	for key := range sets {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b setKey) int {
		return cmp.Or(cmp.Compare(a.project, b.project), bytes.Compare(a.digest[:], b.digest[:]))
	})
	return keys
}

func readSets(ctx context.Context, tx *storage.Tx, want map[setKey]*needSet) (map[setKey]int64, error) {
	var projects []int64
	var digests []string
	for _, key := range sortedSets(want) {
		projects, digests = append(projects, key.project), append(digests, array.Bytea(key.digest[:]))
	}
	var rows []struct {
		ID        int64  `db:"id"`
		ProjectID int64  `db:"crash_project_id"`
		Digest    []byte `db:"digest"`
	}
	err := tx.SelectContext(ctx, &rows, `select s.id, s.crash_project_id, s.digest from crash_need_sets s
		join unnest($1::bigint[], $2::bytea[]) as w(project, digest) on s.crash_project_id = w.project and s.digest = w.digest`,
		pq.Array(projects), pq.Array(digests))
	have := make(map[setKey]int64, len(rows))
	for _, r := range rows {
		have[setKey{r.ProjectID, [32]byte(r.Digest)}] = r.ID
	}
	return have, storage.Wrap(err, "read sets of needs")
}

// insertSet inserts sets and their members. A set that another transaction made first has its
// members from there.
const insertSet = `
with held as (
	select p.id, (select count(*) from crash_need_sets s where s.crash_project_id = p.id) as n
	from (select distinct unnest($1::bigint[]) as id) p
), new as (
	select w.*, row_number() over (partition by w.crash_project_id order by w.digest) as turn
	from unnest($1::bigint[], $2::bytea[]) as w(crash_project_id, digest)
), made as (
	insert into crash_need_sets (crash_project_id, digest)
	select new.crash_project_id, digest from new join held on held.id = new.crash_project_id where held.n + new.turn <= $5
	order by new.crash_project_id, digest
	on conflict do nothing
	returning id, digest
)
insert into crash_need_set_members (need_id, set_id)
select m.need_id, made.id from unnest($3::bytea[], $4::bigint[]) as m(digest, need_id) join made on made.digest = m.digest`

func insertSets(ctx context.Context, tx *storage.Tx, sets map[setKey]*needSet) error {
	var projects, needs []int64
	var digests, of []string
	for _, key := range sortedSets(sets) {
		digest := array.Bytea(key.digest[:])
		projects, digests = append(projects, key.project), append(digests, digest)
		for _, need := range sets[key].needs {
			of, needs = append(of, digest), append(needs, need)
		}
	}
	_, err := tx.ExecContext(ctx, insertSet, pq.Array(projects), pq.Array(digests), pq.Array(of), pq.Array(needs), maxSetsOfProject)
	return storage.Wrap(err, "insert sets of needs")
}

// ExpireSets removes up to limit sets that no crash has, and returns the last that it
// looked at.
func ExpireSets(ctx context.Context, tx *storage.Tx, after int64, limit int) (last int64, err error) {
	var rows []unusedRow
	err = tx.SelectContext(ctx, &rows, `select id, crash_project_id from crash_need_sets s
		where id > $1 and not exists (select from crash_symbolications c where c.need_set_id = s.id)
		order by id limit $2`, after, limit)
	if err != nil || len(rows) == 0 {
		return 0, storage.Wrap(err, "find sets of needs that no crash has")
	}
	ids, err := lockUnused(ctx, tx, rows)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `delete from crash_need_sets s where s.id = any($1)
		and not exists (select from crash_symbolications c where c.need_set_id = s.id)`, pq.Array(ids))
	return ids[len(ids)-1], storage.Wrap(err, "remove sets of needs")
}
