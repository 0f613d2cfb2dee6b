package received

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Incoming is one report that passed all checks.
type Incoming struct {
	OrganizationID int64
	ProjectID      int64
	UUID           uuid.UUID
	// Digest is the SHA-256 of the report as the client sent it: a repeated
	// uuid with the same digest is a resend.
	Digest [32]byte
	// Document is the scrubbed report.
	Document    []byte
	Format      string
	Attachments []Attachment
	// SentAt is when the client sent it, by its clock; zero: it did not say.
	SentAt time.Time
	// RequestID is the request that brought the report; the task of a batch
	// carries that of its first report.
	RequestID string
}

// Outcome states what became of an incoming report.
type Outcome int

// The outcomes.
const (
	// First: the first report under its uuid.
	First Outcome = iota
	// Resent: the same report was stored before; nothing was written.
	Resent
	// Conflict: another report has the uuid; this one is stored as well.
	Conflict
)

// Receipt is the result for one incoming report. ID is that of the stored crash, for
// Resent that of the earlier one.
type Receipt struct {
	ID      uuid.UUID
	Outcome Outcome
}

// TaskOf creates the ledger row that processes a batch; package tasks has it, and
// the caller decides whether the row is delivered right after the commit.
type TaskOf func(organization int64, batch uuid.UUID, bytes int) *ledger.NewTask

// Accept stores reports, at most MaxBatch of them, in one transaction, and gives
// a receipt for each and the ledger rows that it inserted. The receipts are
// durable when Accept returns nil. With *storage.UnknownOutcomeError the caller
// calls Accepted. Documents of one organization of more than 256 MiB together are
// refused with *storage.InvalidError, before anything is written.
func (s *Store) Accept(ctx context.Context, in []Incoming, task TaskOf) ([]Receipt, []*ledger.NewTask, error) {
	a, err := s.plan(in)
	if err != nil {
		return nil, nil, err
	}
	made, done, err := s.acceptSingleStatement(ctx, a, task)
	if done || err != nil {
		return a.receipts, made, err
	}
	err = s.db.InTx(ctx, func(tx *storage.Tx) error {
		made = nil // InTx does not repeat, but a receipt must never be double
		if err := a.reserveUUIDs(ctx, tx); err != nil {
			return err
		}
		if a.refused > 0 {
			if err := a.judgeRefused(ctx, tx); err != nil {
				return err
			}
			s.pack(a)
		}
		for _, b := range a.batches {
			if b.live == 0 {
				continue
			}
			if err := b.insert(ctx, tx); err != nil {
				return err
			}
			if err := a.insertAttachments(ctx, tx, b); err != nil {
				return err
			}
			t := task(b.organization, b.id, b.size)
			t.RequestID = in[b.members[0]].RequestID
			if _, err := ledger.Insert(ctx, tx, t); err != nil {
				return err
			}
			made = append(made, t)
		}
		return nil
	})
	return a.receipts, made, err
}

// acceptance is the work of one Accept.
type acceptance struct {
	in       []Incoming
	receipts []Receipt
	batches  []*newBatch
	conflict map[int]uuid.UUID // index in in -> crash that has the uuid
	refused  int
}

// newBatch is a batch that is being written; members are indexes into in.
type newBatch struct {
	id           uuid.UUID
	organization int64
	members      []int
	entries      []byte
	body         []byte
	size         int // of the documents
	live         int // entries that are not resends
}

// plan sorts the reports into batches and compresses them, before the
// transaction begins: nearly always every uuid is new.
func (s *Store) plan(in []Incoming) (*acceptance, error) {
	if len(in) > MaxBatch {
		return nil, fmt.Errorf("accept %d reports: at most %d", len(in), MaxBatch)
	}
	a := &acceptance{in: in, receipts: make([]Receipt, len(in)), conflict: map[int]uuid.UUID{}}
	byOrganization := map[int64]*newBatch{}
	for i := range in {
		b := byOrganization[in[i].OrganizationID]
		if b == nil {
			id, err := newBatchID()
			if err != nil {
				return nil, err
			}
			b = &newBatch{id: id, organization: in[i].OrganizationID}
			byOrganization[b.organization] = b
			a.batches = append(a.batches, b)
		}
		a.receipts[i].ID = EntryID(b.id, len(b.members))
		b.members = append(b.members, i)
		if b.size += len(in[i].Document); b.size > maxInflated {
			return nil, &storage.InvalidError{Field: "report",
				Msg: fmt.Sprintf("the reports of one commit are larger than %d bytes", maxInflated)}
		}
	}
	// Batches of several organizations are inserted in one order by everybody.
	slices.SortFunc(a.batches, func(x, y *newBatch) int { return cmp.Compare(x.organization, y.organization) })
	s.pack(a)
	return a, nil
}

// pack writes the entries and the compressed body of each batch. A resend keeps
// its place, without bytes, because the ids count places.
func (s *Store) pack(a *acceptance) {
	for _, b := range a.batches {
		b.size, b.live = 0, 0
		for _, i := range b.members {
			b.size += len(a.in[i].Document)
		}
		body := make([]byte, 0, b.size)
		entries := make([]Entry, 0, len(b.members))
		for _, i := range b.members {
			r := &a.in[i]
			e := Entry{ProjectID: r.ProjectID, Start: len(body)}
			if a.receipts[i].Outcome == Resent {
				e.Deleted = true
			} else {
				body = append(body, r.Document...)
				b.live++
			}
			e.End = len(body)
			if r.Format != "json" {
				e.Format = r.Format
			}
			if !r.SentAt.IsZero() {
				e.Sent = r.SentAt.Unix()
			}
			if of, ok := a.conflict[i]; ok {
				e.ConflictOf = &of
			}
			entries = append(entries, e)
		}
		b.entries, _ = json.Marshal(entries) // numbers, plain text and ids
		b.body = s.codec.Pack(nil, body)
		b.size = len(body)
	}
}

const insertUUIDs = `
insert into crash_uuids (crash_project_id, uuid, digest, crash_id, conflict)
select * from (
	select unnest($1::bigint[]) as crash_project_id, unnest($2::uuid[]) as uuid, unnest($3::bytea[]),
		unnest($4::uuid[]), $5::boolean
) r
order by crash_project_id, uuid
on conflict do nothing
returning crash_id`

// reserveUUIDs reserves the uuids of all reports and counts those that were refused.
func (a *acceptance) reserveUUIDs(ctx context.Context, tx *storage.Tx) error {
	all := make([]int, len(a.in))
	for i := range all {
		all[i] = i
	}
	reserved, err := a.reserve(ctx, tx, all, false)
	if err != nil {
		return err
	}
	if len(reserved) == len(all) {
		return nil
	}
	for i := range a.receipts {
		if !reserved[a.receipts[i].ID] {
			a.receipts[i].Outcome = Conflict // until judged
			a.refused++
		}
	}
	return nil
}

// uuidArrays are the columns of crash_uuids for some of the reports.
func (a *acceptance) uuidArrays(members []int) (projects, uuids, digests, ids any) {
	p := make([]int64, len(members))
	u, d, c := make([]string, len(members)), make([]string, len(members)), make([]string, len(members))
	for n, i := range members {
		r := &a.in[i]
		p[n], u[n], c[n] = r.ProjectID, r.UUID.String(), a.receipts[i].ID.String()
		d[n] = array.Bytea(r.Digest[:])
	}
	return pq.Array(p), pq.Array(u), pq.Array(d), pq.Array(c)
}

func (a *acceptance) reserve(ctx context.Context, tx *storage.Tx, members []int, conflict bool) (map[uuid.UUID]bool, error) {
	projects, uuids, digests, ids := a.uuidArrays(members)
	var got []uuid.UUID
	err := tx.SelectContext(ctx, &got, insertUUIDs, projects, uuids, digests, ids, conflict)
	if err != nil {
		return nil, storage.Wrap(err, "reserve crash uuids")
	}
	reserved := make(map[uuid.UUID]bool, len(got))
	for _, id := range got {
		reserved[id] = true
	}
	return reserved, nil
}

// selectUUIDs has two halves, each served by one of the two partial unique indexes.
const selectUUIDs = `
with p as (select distinct * from unnest($1::bigint[], $2::uuid[]) as p(crash_project_id, uuid))
select u.crash_project_id, u.uuid, u.digest, u.crash_id, u.conflict
from p join crash_uuids u on p.crash_project_id = u.crash_project_id and p.uuid = u.uuid and not u.conflict
union all
select u.crash_project_id, u.uuid, u.digest, u.crash_id, u.conflict
from p join crash_uuids u on p.crash_project_id = u.crash_project_id and p.uuid = u.uuid and u.conflict`

type uuidRow struct {
	ProjectID int64     `db:"crash_project_id"`
	UUID      uuid.UUID `db:"uuid"`
	Digest    []byte    `db:"digest"`
	CrashID   uuid.UUID `db:"crash_id"`
	Conflict  bool      `db:"conflict"`
}

// judgeRefused separates resends from conflicts, and reserves the conflicts.
func (a *acceptance) judgeRefused(ctx context.Context, tx *storage.Tx) error {
	var members []int
	for i := range a.receipts {
		if a.receipts[i].Outcome == Conflict {
			members = append(members, i)
		}
	}
	had, err := readUUIDs(ctx, tx, a.in, members)
	if err != nil {
		return err
	}
	var others []int
	for _, i := range members {
		a.receipts[i].Outcome = Conflict
		for _, b := range had {
			switch {
			case !b.of(&a.in[i]):
			case b.resentBy(&a.in[i]):
				a.receipts[i] = Receipt{ID: b.CrashID, Outcome: Resent}
			case !b.Conflict:
				a.conflict[i] = b.CrashID
			}
		}
		if a.receipts[i].Outcome == Conflict {
			others = append(others, i)
		}
	}
	if len(others) == 0 {
		return nil
	}
	reserved, err := a.reserve(ctx, tx, others, true)
	if err != nil {
		return err
	}
	var again []int // the same body twice in this commit, or at this moment in another
	for _, i := range others {
		if !reserved[a.receipts[i].ID] {
			again = append(again, i)
		}
	}
	return a.markResent(ctx, tx, again)
}

// markResent finds the reports that were reserved while these were judged.
func (a *acceptance) markResent(ctx context.Context, tx *storage.Tx, members []int) error {
	if len(members) == 0 {
		return nil
	}
	had, err := readUUIDs(ctx, tx, a.in, members)
	if err != nil {
		return err
	}
	for _, i := range members {
		at := slices.IndexFunc(had, func(b uuidRow) bool { return b.resentBy(&a.in[i]) })
		if at < 0 {
			return fmt.Errorf("uuid %s is refused but not there: %w", a.in[i].UUID, storage.ErrConflict)
		}
		a.receipts[i] = Receipt{ID: had[at].CrashID, Outcome: Resent}
	}
	return nil
}

func (b *uuidRow) of(r *Incoming) bool { return b.ProjectID == r.ProjectID && b.UUID == r.UUID }

// resentBy reports whether a report is the body that has the uuid already.
func (b *uuidRow) resentBy(r *Incoming) bool { return b.of(r) && bytes.Equal(b.Digest, r.Digest[:]) }

func readUUIDs(ctx context.Context, q storage.Querier, in []Incoming, members []int) ([]uuidRow, error) {
	projects, uuids := make([]int64, len(members)), make([]string, len(members))
	for n, i := range members {
		projects[n], uuids[n] = in[i].ProjectID, in[i].UUID.String()
	}
	var had []uuidRow
	err := q.SelectContext(ctx, &had, selectUUIDs, pq.Array(projects), pq.Array(uuids))
	return had, storage.Wrap(err, "read crash uuids")
}

func (b *newBatch) insert(ctx context.Context, tx *storage.Tx) error {
	_, err := tx.ExecContext(ctx, `insert into crash_batches (id, organization_id, entries, body)
		values ($1, $2, $3, $4)`, b.id, b.organization, string(b.entries), b.body)
	return storage.Wrap(err, "insert crash batch")
}

func (a *acceptance) insertAttachments(ctx context.Context, tx *storage.Tx, b *newBatch) error {
	var files []Attachment
	for _, i := range b.members {
		if a.receipts[i].Outcome == Resent {
			continue // the caller removes its objects
		}
		for _, at := range a.in[i].Attachments {
			at.CrashID, at.OrganizationID = a.receipts[i].ID, b.organization
			files = append(files, at)
		}
	}
	return insertAttachments(ctx, tx, files)
}

// Accepted reports, after a commit whose outcome is unknown, whether the transaction
// took effect: it looks for the uuids that it would have written.
func (s *Store) Accepted(ctx context.Context, in []Incoming, receipts []Receipt) (bool, error) {
	members := make([]int, len(in))
	for i := range members {
		members[i] = i
	}
	had, err := readUUIDs(ctx, s.db, in, members)
	if err != nil {
		return false, err
	}
	there := make(map[uuid.UUID]bool, len(had))
	for _, b := range had {
		there[b.CrashID] = true
	}
	for _, r := range receipts {
		// One transaction wrote all new ones or none.
		if r.Outcome != Resent {
			return there[r.ID], nil
		}
	}
	return true, nil
}
