package crash

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

const (
	// maxNeeds bounds the files that one crash lacks; no more are looked for. The stacks of a
	// desktop program run through some dozen modules.
	maxNeeds = 64
	// maxProjectNeeds bounds those of a crash project: a client that makes an id up for
	// each report must not fill the table. What is above is read with the next symbols that
	// serve another need of the crash.
	maxProjectNeeds = 10_000
	// maxLookedFor bounds the identifiers of one need, which are those that were looked for: a
	// script has two dozen spellings, each in two releases and without one.
	maxLookedFor = 96
	// needAge is how old the time at which a need was last seen may be before it is
	// written again: it is shown in minutes, and each writing locks a row that many share.
	needAge = time.Minute
)

// Need is a file that a crash lacks.
type Need struct {
	Kind string // native, proguard or sourcemap
	// Name is the module, script or application that it is for.
	Name, Version, Arch string
	// LookedFor are the names under which it was looked for, in order.
	LookedFor []symbol.Identifier
	// Found: a file has these names and lacks what the crash needs. Only one that comes later
	// serves it, so that the crash is not read again for the one that is there.
	Found bool
	// Digest is what DigestNeed returns, for needs that many crashes have; zero: it is
	// computed when the need is written.
	Digest [32]byte
}

// DigestNeed returns the digest of kind, name and the identifiers: a row for each.
func DigestNeed(n *Need) [32]byte {
	var buf []byte
	add := func(texts ...string) {
		for _, t := range texts {
			buf = binary.AppendUvarint(buf, uint64(len(t)))
			buf = append(buf, t...)
		}
	}
	add(n.Kind, n.Name)
	for _, id := range n.LookedFor[:min(len(n.LookedFor), maxLookedFor)] {
		add(string(id.Type), id.Value, id.Release)
	}
	return sha256.Sum256(buf)
}

// needKey is a need of a project.
type needKey struct {
	project int64
	digest  [32]byte
}

// wantedNeed is a need with the crashes that have it.
type wantedNeed struct {
	needKey
	need    *Need
	first   time.Time
	last    time.Time
	crashes []uuid.UUID // in the order of the crashes
}

// wantedNeeds sums the needs of crashes, ordered by project and digest: all who write needs do
// it in this order.
func wantedNeeds(crashes []Crash) []*wantedNeed {
	byKey := map[needKey]*wantedNeed{}
	var all []*wantedNeed
	for i := range crashes {
		c := &crashes[i]
		if c.Symbols == nil {
			continue
		}
		for j := range c.Symbols.Needs[:min(len(c.Symbols.Needs), maxNeeds)] {
			n := &c.Symbols.Needs[j]
			n.LookedFor = n.LookedFor[:min(len(n.LookedFor), maxLookedFor)]
			if n.Digest == ([32]byte{}) {
				n.Digest = DigestNeed(n)
			}
			key := needKey{c.ProjectID, n.Digest}
			w := byKey[key]
			if w == nil {
				w = &wantedNeed{needKey: key, need: n, first: c.ReceivedAt, last: c.ReceivedAt}
				byKey[key], all = w, append(all, w)
			}
			w.first, w.last = earlier(w.first, c.ReceivedAt), later(w.last, c.ReceivedAt)
			if len(w.crashes) == 0 || w.crashes[len(w.crashes)-1] != c.ID {
				w.crashes = append(w.crashes, c.ID)
			}
		}
	}
	slices.SortFunc(all, func(a, b *wantedNeed) int {
		return cmp.Or(cmp.Compare(a.project, b.project), bytes.Compare(a.digest[:], b.digest[:]))
	})
	return all
}

type needRow struct {
	ID        int64     `db:"id"`
	ProjectID int64     `db:"crash_project_id"`
	Digest    []byte    `db:"digest"`
	LastSeen  time.Time `db:"last_seen"`
}

// recordNeeds writes which files crashes lack, and marks those crashes as late whose file
// arrived meanwhile. It returns the set of each crash, which the row of its symbolication
// has, but for those whose project has too many sets. Whoever adds files looks for the crashes
// that lack them: the lock lets one of the two see what the other wrote.
func recordNeeds(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (map[uuid.UUID]int64, error) {
	wanted := wantedNeeds(crashes)
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := symbolfile.ShareNeeds(ctx, tx, organization); err != nil {
		return nil, err
	}
	rows, err := ensureNeeds(ctx, tx, organization, wanted)
	if err != nil {
		return nil, err
	}
	var old, open []int64
	lacking := map[uuid.UUID]*needSet{}
	for _, w := range wanted {
		r := rows[w.needKey]
		if r == nil {
			continue // beyond the bound
		}
		if w.last.Sub(r.LastSeen) > needAge {
			old = append(old, r.ID)
		}
		if !w.need.Found {
			open = append(open, r.ID)
		}
		for _, id := range w.crashes {
			set := lacking[id]
			if set == nil {
				set = &needSet{project: w.project}
				lacking[id] = set
			}
			set.needs = append(set.needs, r.ID)
		}
	}
	sets, err := recordSets(ctx, tx, lacking)
	if err != nil {
		return nil, err
	}
	if err := markLate(ctx, tx, organization, open, lacking, crashes); err != nil || len(old) == 0 {
		return sets, err
	}
	_, err = tx.ExecContext(ctx, `
		update symbol_needs set last_seen = greatest(last_seen, now()) where id in (
			select id from symbol_needs where id = any($1) order by id for no key update skip locked)`, pq.Array(old))
	return sets, storage.Wrap(err, "touch needs of symbols")
}

// ensureNeeds returns the rows of needs; those beyond the bound of their project have none.
func ensureNeeds(ctx context.Context, tx *storage.Tx, organization int64, wanted []*wantedNeed) (map[needKey]*needRow, error) {
	rows, err := readNeeds(ctx, tx, wanted)
	if err != nil {
		return nil, err
	}
	var fresh []*wantedNeed
	for _, w := range wanted {
		if rows[w.needKey] == nil {
			fresh = append(fresh, w)
		}
	}
	if len(fresh) == 0 {
		return rows, nil
	}
	if err := insertNeeds(ctx, tx, organization, fresh); err != nil {
		return nil, err
	}
	return readNeeds(ctx, tx, wanted)
}

// markLate marks the crashes that have one of some needs which a file serves.
func markLate(ctx context.Context, tx *storage.Tx, organization int64, needs []int64, lacking map[uuid.UUID]*needSet,
	crashes []Crash) error {
	served, err := symbolfile.ServedNeeds(ctx, tx, organization, needs)
	if err != nil || len(served) == 0 {
		return err
	}
	for i := range crashes {
		set := lacking[crashes[i].ID]
		if y := crashes[i].Symbols; y != nil && set != nil && set.hasOneOf(served) {
			y.Late = true
		}
	}
	return nil
}

func readNeeds(ctx context.Context, tx *storage.Tx, wanted []*wantedNeed) (map[needKey]*needRow, error) {
	var projects []int64
	var digests []string
	for _, w := range wanted {
		projects, digests = append(projects, w.project), append(digests, array.Bytea(w.digest[:]))
	}
	var rows []needRow
	err := tx.SelectContext(ctx, &rows, `select n.id, n.crash_project_id, n.digest, n.last_seen from symbol_needs n
		join unnest($1::bigint[], $2::bytea[]) as w(project, digest) on n.crash_project_id = w.project and n.digest = w.digest`,
		pq.Array(projects), pq.Array(digests))
	if err != nil {
		return nil, storage.Wrap(err, "read needs of symbols")
	}
	byKey := make(map[needKey]*needRow, len(rows))
	for i := range rows {
		byKey[needKey{rows[i].ProjectID, [32]byte(rows[i].Digest)}] = &rows[i]
	}
	return byKey, nil
}

const insertNeed = `
with held as (
	select p.id, (select count(*) from symbol_needs n where n.crash_project_id = p.id) as n
	from (select distinct unnest($2::bigint[]) as id) p
), new as (
	select w.*, row_number() over (partition by w.crash_project_id order by w.digest) as turn
	from unnest($2::bigint[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[],
		$9::timestamptz[], $10::timestamptz[])
		as w(crash_project_id, digest, kind, name, version, arch, looked_for, first, last)
), made as (
	insert into symbol_needs (organization_id, crash_project_id, digest, kind, name, version, arch, looked_for, first_seen, last_seen)
	select $1, new.crash_project_id, digest, kind, name, version, arch, looked_for, first, last
	from new join held on held.id = new.crash_project_id where held.n + new.turn <= $11
	order by new.crash_project_id, digest
	on conflict do nothing
	returning id, looked_for
)
insert into symbol_need_identifiers (organization_id, type, value, release, need_id)
select distinct $1::bigint, i.type, i.value, coalesce(i.release, ''), made.id
from made cross join lateral jsonb_to_recordset(made.looked_for) as i(type text, value text, release text)
on conflict do nothing`

func insertNeeds(ctx context.Context, tx *storage.Tx, organization int64, fresh []*wantedNeed) error {
	var projects []int64
	var digests, kinds, names, versions, arches, lookedFor, first, last []string
	for _, w := range fresh {
		list, err := json.Marshal(w.need.LookedFor)
		if err != nil {
			return fmt.Errorf("identifiers of a need: %w", err)
		}
		projects, digests = append(projects, w.project), append(digests, array.Bytea(w.digest[:]))
		kinds, names = append(kinds, w.need.Kind), append(names, w.need.Name)
		versions, arches = append(versions, w.need.Version), append(arches, w.need.Arch)
		lookedFor = append(lookedFor, string(list))
		first, last = append(first, TimeText(w.first)), append(last, TimeText(w.last))
	}
	_, err := tx.ExecContext(ctx, insertNeed, organization, pq.Array(projects), pq.Array(digests), pq.Array(kinds),
		pq.Array(names), pq.Array(versions), pq.Array(arches), pq.Array(lookedFor), pq.Array(first), pq.Array(last), maxProjectNeeds)
	return storage.Wrap(err, "insert needs of symbols")
}

// forgetNeeds forgets the rows by which crashes lack files, but for the sets of those that
// keep their symbolication, and returns what all of them needed.
func forgetNeeds(ctx context.Context, tx *storage.Tx, crashes []string) (neededBefore, error) {
	var rows []struct {
		NeedID int64  `db:"need_id"`
		SetID  *int64 `db:"set_id"`
	}
	err := tx.SelectContext(ctx, &rows, `with gone as (delete from crash_needs where crash_id = any($1::uuid[]) returning need_id)
		select distinct need_id, null::bigint as set_id from gone
		union all
		select m.need_id, m.set_id from crash_need_set_members m where m.set_id in (
			select need_set_id from crash_symbolications where crash_id = any($1::uuid[]))`, pq.Array(crashes))
	var before neededBefore
	for _, r := range rows {
		before.needs = append(before.needs, r.NeedID)
		if r.SetID != nil {
			before.sets = append(before.sets, *r.SetID)
		}
	}
	slices.Sort(before.needs)
	slices.Sort(before.sets)
	before.needs, before.sets = slices.Compact(before.needs), slices.Compact(before.sets)
	return before, storage.Wrap(err, "forget needs of crashes")
}

// neededBefore are needs that crashes had, and the sets by which they had them.
type neededBefore struct{ needs, sets []int64 }

// dropUnused removes those of the needs ($1) and of the sets ($2) that no crash has, and with a need
// all sets that it is in, which no crash has either. The other sets of the needs are not looked at:
// crashes of a project may share a need by thousands of sets. "offset 0" looks for one crash of each
// need, where a join would read those of all.
const dropUnused = `
with unused as materialized (
	select n.id from symbol_needs n where n.id = any($1) and not exists (select from crash_lacks c where c.need_id = n.id offset 0)
), sets as (
	delete from crash_need_sets s
	where s.id in (select unnest($2::bigint[]) union select m.set_id from crash_need_set_members m join unused u on u.id = m.need_id)
		and not exists (select from crash_symbolications c where c.need_set_id = s.id)
)
delete from symbol_needs n using unused u where n.id = u.id`

// dropNeeds removes what no crash needs any more. The projects are locked alone, so that none gets
// it meanwhile.
func dropNeeds(ctx context.Context, tx *storage.Tx, before neededBefore) error {
	if len(before.needs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, dropUnused, pq.Array(before.needs), pq.Array(before.sets))
	return storage.Wrap(err, "remove needs of symbols")
}

// ExpireNeeds removes up to limit needs that were last seen before a time and that no crash
// has any more, and returns the last that it looked at.
func ExpireNeeds(ctx context.Context, tx *storage.Tx, before time.Time, after int64, limit int) (last int64, err error) {
	var rows []unusedRow
	err = tx.SelectContext(ctx, &rows, `select id, crash_project_id from symbol_needs n
		where id > $1 and last_seen < $2 and not exists (select from crash_lacks c where c.need_id = n.id)
		order by id limit $3`, after, before, limit)
	if err != nil || len(rows) == 0 {
		return 0, storage.Wrap(err, "find old needs of symbols")
	}
	ids, err := lockUnused(ctx, tx, rows)
	if err != nil {
		return 0, err
	}
	return ids[len(ids)-1], dropNeeds(ctx, tx, neededBefore{needs: ids})
}

// unusedRow is a need, or a set, that no crash has.
type unusedRow struct {
	ID        int64 `db:"id"`
	ProjectID int64 `db:"crash_project_id"`
}

// lockUnused locks the projects of rows, alone, and returns the ids.
func lockUnused(ctx context.Context, tx *storage.Tx, rows []unusedRow) ([]int64, error) {
	var ids, projects []int64
	for _, r := range rows {
		ids, projects = append(ids, r.ID), append(projects, r.ProjectID)
	}
	return ids, lockProjects(ctx, tx, projects)
}

// crashesWithNeeds reads the newest crashes that lack one of some files: those of the sets
// whose newest crash is among the newest, for no more of these than crashes are wanted.
const crashesWithNeeds = `
with sets as (
	select m.set_id from (select distinct set_id from crash_need_set_members where need_id = any($1)) m
	cross join lateral (
		select crash_id from crash_symbolications where need_set_id = m.set_id and crash_id < $2 order by crash_id desc limit 1) newest
	order by newest.crash_id desc limit $3
)
select crash_id from sets cross join lateral (
	select crash_id from crash_symbolications where need_set_id = sets.set_id and crash_id < $2 order by crash_id desc limit $3) c
union
select crash_id from unnest($1::bigint[]) as n(id) cross join lateral (
	select crash_id from crash_needs where need_id = n.id and crash_id < $2 order by crash_id desc limit $3) c
order by crash_id desc limit $3`

// CrashesWithNeeds returns up to limit crashes that lack one of some files, the newest first:
// those before an id.
func CrashesWithNeeds(ctx context.Context, q storage.Querier, needs []int64, before uuid.UUID, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, crashesWithNeeds, pq.Array(needs), before, limit)
	return ids, storage.Wrap(err, "crashes that lack symbols")
}

// CountWithNeeds counts the crashes that lack one of some files, before an id.
func CountWithNeeds(ctx context.Context, q storage.Querier, needs []int64, before uuid.UUID) (n int, err error) {
	err = q.GetContext(ctx, &n, `select count(distinct crash_id) from crash_lacks where need_id = any($1) and crash_id < $2`,
		pq.Array(needs), before)
	return n, storage.Wrap(err, "count crashes that lack symbols")
}
