package crash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/need"
)

// SymbolState says how much of a crash reads as the developer wrote the code.
type SymbolState string

// The states. A crash without a stored one is SymbolsNone, too.
const (
	SymbolsPending  SymbolState = "pending"  // a task looks its symbols up
	SymbolsComplete SymbolState = "complete" // all files that were looked for were there
	SymbolsPartial  SymbolState = "partial"  // some of them
	SymbolsMissing  SymbolState = "missing"  // none of them
	SymbolsNone     SymbolState = "none"     // there was nothing to look for
)

// Symbolication is what symbols made of a crash. Frames is a document of package
// storage/symbolication, Report a crash report that was read out of a dump, Explanation that
// of a key that was computed anew; nil where there is none.
type Symbolication struct {
	State       SymbolState
	Missing     int // files that were looked for and are not there
	At          time.Time
	Frames      []byte
	Report      []byte
	Explanation []byte
	// Needs are the files that are missing; they are written and not read.
	Needs []need.Need
	// Late is set by Record and ReadAgain when one of the needs can be served by a file that
	// arrived since it was looked for: the crash is to be read again.
	Late bool

	packed *packedSymbolication
}

// packedSymbolication are the documents, compressed, as texts for arrays. Crashes whose
// documents are equal share the text of the frames: the database receives it once.
type packedSymbolication struct {
	frames              *string // nil: none
	report, explanation string
}

// PackSymbolications compresses what symbols made of crashes. It is a step of its own so
// that no transaction, with the locks that it has, waits for it.
func (s *Store) PackSymbolications(crashes []Crash) {
	frames := map[string]*string{} // crashes of one bug come together and have the same frames
	for i := range crashes {
		y := crashes[i].Symbols
		if y == nil {
			continue
		}
		packed, known := frames[string(y.Frames)]
		if !known {
			if len(y.Frames) > 0 {
				text := s.packText(y.Frames)
				packed = &text
			}
			frames[string(y.Frames)] = packed
		}
		y.packed = &packedSymbolication{packed, s.packText(y.Report), s.packText(y.Explanation)}
	}
}

func (s *Store) packText(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	return array.Bytea(s.codec.Pack(nil, p))
}

// insertSymbolications spreads the distinct documents over their crashes by a join.
const insertSymbolications = `
insert into crash_symbolications as s (crash_id, organization_id, state, missing, frames, report, explanation, need_set_id)
select new.id, $1, new.state, new.missing, d.frames, nullif(new.report, ''), nullif(new.explanation, ''), nullif(new.need_set, 0)
from unnest($2::uuid[], $3::text[], $4::int[], $5::int[], $6::bytea[], $7::bytea[], $8::bigint[])
	as new(id, state, missing, document, report, explanation, need_set)
left join unnest($9::bytea[]) with ordinality as d(frames, n) on d.n = new.document
order by new.id`

// replaceSymbolications lets a crash that is read again keep what the new reading does not
// have.
const replaceSymbolications = insertSymbolications + `
on conflict (crash_id) do update set state = excluded.state, missing = excluded.missing, symbolicated_at = now(),
	frames = excluded.frames, need_set_id = excluded.need_set_id, report = coalesce(excluded.report, s.report),
	explanation = coalesce(excluded.explanation, s.explanation)`

// recordSymbolications writes what symbols made of the crashes, with one of the two
// statements above, and which files they lack. The projects are locked or shared;
// PackSymbolications came before.
func recordSymbolications(ctx context.Context, tx *storage.Tx, statement string, organization int64, crashes []Crash) error {
	sets, err := recordNeeds(ctx, tx, organization, crashes)
	if err != nil {
		return err
	}
	var ids, states, reports, explanations, documents []string
	var missing, document, needSets []int64
	numbers := map[*string]int64{} // of documents, from 1; 0: none
	for i := range crashes {
		y := crashes[i].Symbols
		if y == nil {
			continue
		}
		p := y.packed
		if p == nil {
			p = &packedSymbolication{}
		}
		if p.frames != nil && numbers[p.frames] == 0 {
			documents = append(documents, *p.frames)
			numbers[p.frames] = int64(len(documents))
		}
		ids, states = append(ids, crashes[i].ID.String()), append(states, string(y.State))
		missing, document = append(missing, int64(y.Missing)), append(document, numbers[p.frames])
		reports, explanations = append(reports, p.report), append(explanations, p.explanation)
		needSets = append(needSets, sets[crashes[i].ID])
	}
	if len(ids) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, statement, organization, pq.Array(ids), pq.Array(states), pq.Array(missing),
		pq.Array(document), pq.Array(reports), pq.Array(explanations), pq.Array(needSets), pq.Array(documents))
	return storage.Wrap(err, "insert symbolications")
}

// recordNeeds writes which files the crashes lack, and marks those as late whose file arrived
// meanwhile. It returns the sets of needs by crash.
func recordNeeds(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (map[uuid.UUID]int64, error) {
	var lacking []need.Crash
	for i := range crashes {
		if c := &crashes[i]; c.Symbols != nil && len(c.Symbols.Needs) > 0 {
			lacking = append(lacking, need.Crash{ID: c.ID, ProjectID: c.ProjectID, ReceivedAt: c.ReceivedAt, Needs: c.Symbols.Needs})
		}
	}
	done, err := need.Record(ctx, tx, organization, lacking)
	if err != nil {
		return nil, err
	}
	for i := range crashes {
		if c := &crashes[i]; c.Symbols != nil && done.Late[c.ID] {
			c.Symbols.Late = true
		}
	}
	return done.Sets, nil
}

// Symbolications reads what symbols made of crashes; those without are left out.
func (s *Store) Symbolications(ctx context.Context, organization int64, crashes []uuid.UUID) (map[uuid.UUID]*Symbolication, error) {
	var rows []struct {
		ID          uuid.UUID   `db:"crash_id"`
		State       SymbolState `db:"state"`
		Missing     int         `db:"missing"`
		At          time.Time   `db:"symbolicated_at"`
		Frames      []byte      `db:"frames"`
		Report      []byte      `db:"report"`
		Explanation []byte      `db:"explanation"`
	}
	err := s.db.SelectContext(ctx, &rows, `select crash_id, state, missing, symbolicated_at, frames, report, explanation
		from crash_symbolications where crash_id = any($1::uuid[]) and organization_id = $2`, storage.UUIDs(crashes), organization)
	if err != nil {
		return nil, storage.Wrap(err, "read symbolications")
	}
	out := make(map[uuid.UUID]*Symbolication, len(rows))
	for i := range rows {
		r := &rows[i]
		y := &Symbolication{State: r.State, Missing: r.Missing, At: r.At}
		for _, part := range []struct {
			packed []byte
			to     *[]byte
		}{{r.Frames, &y.Frames}, {r.Report, &y.Report}, {r.Explanation, &y.Explanation}} {
			if len(part.packed) == 0 {
				continue
			}
			if *part.to, err = s.codec.Unpack(nil, part.packed); err != nil {
				return nil, err
			}
		}
		out[r.ID] = y
	}
	return out, nil
}

// SymbolStates reads the states of crashes; those that have none are left out.
func SymbolStates(ctx context.Context, q storage.Querier, organization int64, crashes []uuid.UUID) (map[uuid.UUID]SymbolState, error) {
	var rows []struct {
		ID    uuid.UUID   `db:"crash_id"`
		State SymbolState `db:"state"`
	}
	err := q.SelectContext(ctx, &rows, `select crash_id, state from crash_symbolications
		where crash_id = any($1::uuid[]) and organization_id = $2`, storage.UUIDs(crashes), organization)
	states := make(map[uuid.UUID]SymbolState, len(rows))
	for _, r := range rows {
		states[r.ID] = r.State
	}
	return states, storage.Wrap(err, "states of symbolications")
}

// selectGroupStates reads the newest crash of each group from the index crashes_key.
const selectGroupStates = `
select w.id as group_id, newest.id as crash_id, s.state
from unnest($1::bigint[]) as w(id)
cross join lateral (
	select c.id from crash_groups g join crash_group_keys k on k.group_id = g.id
	cross join lateral (select id, occurred_at from crashes where key_id = k.id order by occurred_at desc, id desc limit 1) c
	where g.id = w.id or g.root_id = w.id
	order by c.occurred_at desc, c.id desc limit 1
) newest
left join crash_symbolications s on s.crash_id = newest.id`

// Newest is the newest crash of a group that is shown.
type Newest struct {
	CrashID uuid.UUID
	State   SymbolState
}

// NewestOfGroups reads the newest crash of each of some groups that are shown, with the state
// of its symbols; groups without a crash are left out.
func NewestOfGroups(ctx context.Context, q storage.Querier, groups []int64) (map[int64]Newest, error) {
	var rows []struct {
		GroupID int64     `db:"group_id"`
		CrashID uuid.UUID `db:"crash_id"`
		State   *string   `db:"state"`
	}
	err := q.SelectContext(ctx, &rows, selectGroupStates, pq.Array(groups))
	out := make(map[int64]Newest, len(rows))
	for _, r := range rows {
		n := Newest{CrashID: r.CrashID, State: SymbolsNone}
		if r.State != nil {
			n.State = SymbolState(*r.State)
		}
		out[r.GroupID] = n
	}
	return out, storage.Wrap(err, "newest crashes of groups")
}

// dropSymbolications removes what symbols made of crashes that are removed, and that they
// lack files. With the projects locked alone, needs of no crash go, too.
func dropSymbolications(ctx context.Context, tx *storage.Tx, organization int64, ids []string, alone bool) error {
	before, err := need.Forget(ctx, tx, ids)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `delete from crash_symbolications where crash_id = any($1::uuid[]) and organization_id = $2`,
		pq.Array(ids), organization)
	if err != nil || !alone {
		return storage.Wrap(err, "delete symbolications")
	}
	return need.Drop(ctx, tx, before)
}

// expireSymbolications removes what is kept of crashes up to an id, which go with age.
func expireSymbolications(ctx context.Context, tx *storage.Tx, last uuid.UUID) error {
	if _, err := tx.ExecContext(ctx, `delete from crash_symbolications where crash_id <= $1`, last); err != nil {
		return storage.Wrap(err, "delete old symbolications")
	}
	_, err := tx.ExecContext(ctx, `delete from crash_needs where crash_id <= $1`, last)
	return storage.Wrap(err, "delete old needs of crashes")
}
