// Package need keeps the files with symbols that crashes lack, so that a crash is read again
// once one of them arrives.
//
// A need is a file by its names: an identifier of a build, a path of a script and its release. Many
// crashes share a need, and crashes of one bug share a set of them: each is one row, whatever the
// number of crashes. Needs of a crash, of a project and sets of a project are bounded, since
// clients name what they like.
//
// Needs go with the last crash that has them. Who records them shares the lock of the project
// (package projectlock), and who removes those that no crash has takes it alone.
package need

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
	"github.com/slipway-qa/slipway/storage/crash/projectlock"
	"github.com/slipway-qa/slipway/storage/crash/span"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

const (
	// maxOfCrash bounds the files that one crash lacks; no more are looked for. The stacks of a
	// desktop program run through some dozen modules.
	maxOfCrash = 64
	// maxOfProject bounds those of a crash project: a client that makes an id up for
	// each report must not fill the table. What is above is read with the next symbols that
	// serve another need of the crash.
	maxOfProject = 10_000
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
	// Digest is what Digest returns, for needs that many crashes have; zero: it is
	// computed when the need is written.
	Digest [32]byte
}

// Crash is a crash with the files that it lacks.
type Crash struct {
	ID         uuid.UUID
	ProjectID  int64
	ReceivedAt time.Time
	// Needs get their digests from Record, which cuts LookedFor to its bound.
	Needs []Need
}

// Recorded is what Record wrote.
type Recorded struct {
	// Sets is the set of each crash, but of those whose project has too many sets.
	Sets map[uuid.UUID]int64
	// Late are the crashes that lack a file which arrived since it was looked for: they are to
	// be read again.
	Late map[uuid.UUID]bool
}

// Digest returns the digest of kind, name and the identifiers: a row for each.
func Digest(n *Need) [32]byte {
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
	seen    span.Span
	crashes []uuid.UUID // in the order of the crashes
}

// wantedNeeds sums the needs of crashes, ordered by project and digest: all who write needs do
// it in this order.
func wantedNeeds(crashes []Crash) []*wantedNeed {
	byKey := map[needKey]*wantedNeed{}
	var all []*wantedNeed
	for i := range crashes {
		c := &crashes[i]
		for j := range c.Needs[:min(len(c.Needs), maxOfCrash)] {
			n := &c.Needs[j]
			n.LookedFor = n.LookedFor[:min(len(n.LookedFor), maxLookedFor)]
			if n.Digest == ([32]byte{}) {
				n.Digest = Digest(n)
			}
			key := needKey{c.ProjectID, n.Digest}
			w := byKey[key]
			if w == nil {
				w = &wantedNeed{needKey: key, need: n, seen: span.At(c.ReceivedAt)}
				byKey[key], all = w, append(all, w)
			}
			w.seen = w.seen.With(c.ReceivedAt)
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

// Record writes which files crashes lack, in the caller's transaction, and looks which of these
// arrived meanwhile. The row of a crash's symbolication keeps its set. Whoever adds files looks for
// the crashes that lack them: the lock lets one of the two see what the other wrote.
func Record(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (Recorded, error) {
	wanted := wantedNeeds(crashes)
	if len(wanted) == 0 {
		return Recorded{}, nil
	}
	if err := symbolfile.ShareNeeds(ctx, tx, organization); err != nil {
		return Recorded{}, err
	}
	rows, err := ensure(ctx, tx, organization, wanted)
	if err != nil {
		return Recorded{}, err
	}
	var old, open []int64
	lacking := map[uuid.UUID]*needSet{}
	for _, w := range wanted {
		r := rows[w.needKey]
		if r == nil {
			continue // beyond the bound
		}
		if w.seen.Last.Sub(r.LastSeen) > needAge {
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
		return Recorded{}, err
	}
	late, err := lateOf(ctx, tx, organization, open, lacking, crashes)
	done := Recorded{Sets: sets, Late: late}
	if err != nil || len(old) == 0 {
		return done, err
	}
	_, err = tx.ExecContext(ctx, `
		update symbol_needs set last_seen = greatest(last_seen, now()) where id in (
			select id from symbol_needs where id = any($1) order by id for no key update skip locked)`, pq.Array(old))
	return done, storage.Wrap(err, "touch needs of symbols")
}

// ensure returns the rows of needs; those beyond the bound of their project have none.
func ensure(ctx context.Context, tx *storage.Tx, organization int64, wanted []*wantedNeed) (map[needKey]*needRow, error) {
	rows, err := read(ctx, tx, wanted)
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
	if err := insert(ctx, tx, organization, fresh); err != nil {
		return nil, err
	}
	return read(ctx, tx, wanted)
}

// lateOf returns the crashes that have one of some needs which a file serves.
func lateOf(ctx context.Context, tx *storage.Tx, organization int64, needs []int64, lacking map[uuid.UUID]*needSet,
	crashes []Crash) (map[uuid.UUID]bool, error) {
	served, err := symbolfile.ServedNeeds(ctx, tx, organization, needs)
	if err != nil || len(served) == 0 {
		return nil, err
	}
	late := map[uuid.UUID]bool{}
	for i := range crashes {
		if set := lacking[crashes[i].ID]; set != nil && set.hasOneOf(served) {
			late[crashes[i].ID] = true
		}
	}
	return late, nil
}

func read(ctx context.Context, tx *storage.Tx, wanted []*wantedNeed) (map[needKey]*needRow, error) {
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

func insert(ctx context.Context, tx *storage.Tx, organization int64, fresh []*wantedNeed) error {
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
		first, last = append(first, array.Time(w.seen.First)), append(last, array.Time(w.seen.Last))
	}
	_, err := tx.ExecContext(ctx, insertNeed, organization, pq.Array(projects), pq.Array(digests), pq.Array(kinds),
		pq.Array(names), pq.Array(versions), pq.Array(arches), pq.Array(lookedFor), pq.Array(first), pq.Array(last), maxOfProject)
	return storage.Wrap(err, "insert needs of symbols")
}

// Forget forgets the rows by which crashes lack files, but for the sets of those that
// keep their symbolication, and returns what all of them needed.
func Forget(ctx context.Context, tx *storage.Tx, crashes []string) (Before, error) {
	var rows []struct {
		NeedID int64  `db:"need_id"`
		SetID  *int64 `db:"set_id"`
	}
	err := tx.SelectContext(ctx, &rows, `with gone as (delete from crash_needs where crash_id = any($1::uuid[]) returning need_id)
		select distinct need_id, null::bigint as set_id from gone
		union all
		select m.need_id, m.set_id from crash_need_set_members m where m.set_id in (
			select need_set_id from crash_symbolications where crash_id = any($1::uuid[]))`, pq.Array(crashes))
	var before Before
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

// Before are needs that crashes had, and the sets by which they had them.
type Before struct{ needs, sets []int64 }

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

// Drop removes what no crash needs any more. The projects are locked alone, so that none gets
// it meanwhile.
func Drop(ctx context.Context, tx *storage.Tx, before Before) error {
	if len(before.needs) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, dropUnused, pq.Array(before.needs), pq.Array(before.sets))
	return storage.Wrap(err, "remove needs of symbols")
}

// Expire removes up to limit needs that were last seen before a time and that no crash
// has any more, and returns the last that it looked at.
func Expire(ctx context.Context, tx *storage.Tx, before time.Time, after int64, limit int) (last int64, err error) {
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
	return ids[len(ids)-1], Drop(ctx, tx, Before{needs: ids})
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
	return ids, projectlock.Take(ctx, tx, projects...)
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

// Crashes returns up to limit crashes that lack one of some files, the newest first:
// those before an id.
func Crashes(ctx context.Context, q storage.Querier, needs []int64, before uuid.UUID, limit int) ([]uuid.UUID, error) {
	var ids []uuid.UUID
	err := q.SelectContext(ctx, &ids, crashesWithNeeds, pq.Array(needs), before, limit)
	return ids, storage.Wrap(err, "crashes that lack symbols")
}

// Count counts the crashes that lack one of some files, before an id.
func Count(ctx context.Context, q storage.Querier, needs []int64, before uuid.UUID) (n int, err error) {
	err = q.GetContext(ctx, &n, `select count(distinct crash_id) from crash_lacks where need_id = any($1) and crash_id < $2`,
		pq.Array(needs), before)
	return n, storage.Wrap(err, "count crashes that lack symbols")
}
