// Package baseline stores what people accepted of the looks and the accessibility of a case:
// the pictures that assertions compare a page with, and the findings that fail no run.
//
// A Baseline is a picture that a run saw, of a step on one kind of target (browser, platform,
// viewport and scale) in one environment. The first is UNREVIEWED and is compared with until somebody decides;
// one that differs is a CANDIDATE. Accepting one makes the others FORMER. There is one
// ACCEPTED at most. The same picture is the same row, however many runs see it: its id
// follows from the pixels.
//
// The pictures are objects below Prefix, which are stored before a row names them. Of a step
// and target the newest 20 stay, beside the one that is compared with, and of a case 2,000.
// Rows go with their case; the sweep finds the objects.
//
// Locks are taken after those of cases, in the order of the ids.
package baseline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// Prefix begins the keys of all pictures: baselines/ID/FILE.
const Prefix = "baselines/"

// State is what is known of a picture.
type State string

// The states.
const (
	Unreviewed State = "UNREVIEWED"
	Candidate  State = "CANDIDATE"
	Accepted   State = "ACCEPTED"
	Rejected   State = "REJECTED"
	Former     State = "FORMER"
)

// States are all of them.
var States = []State{Unreviewed, Candidate, Accepted, Rejected, Former}

const (
	// keptOfStep and keptOfCase bound what is kept beside the pictures that are compared with.
	keptOfStep = 20
	keptOfCase = 2000
	maxText    = 200
)

// Place is what the baselines of a step are for.
type Place struct {
	CaseID, StepID, Name string
	Target               string // looks.Rendering.Key, and the name of the environment behind it
}

// Baseline is a picture with what is known of it.
type Baseline struct {
	ID             uuid.UUID  `db:"id"`
	CaseID         string     `db:"case_id"`
	StepID         string     `db:"step_id"`
	Name           string     `db:"name"`
	Target         string     `db:"target"`
	State          State      `db:"state"`
	BrowserVersion string     `db:"browser_version"`
	Fonts          string     `db:"fonts"`
	Digest         string     `db:"digest"`
	Width          int        `db:"width"`
	Height         int        `db:"height"`
	Key            string     `db:"object_key"`
	Size           int64      `db:"size"`
	RunID          uuid.UUID  `db:"run_id"`
	CreatedAt      time.Time  `db:"created_at"`
	SeenAt         time.Time  `db:"seen_at"`
	Decider        *uuid.UUID `db:"decider_uuid"`
	DecidedAt      *time.Time `db:"decided_at"`
}

const columns = `id, case_id, step_id, name, target, state, browser_version, fonts, digest, width, height, object_key, size,
	run_id, created_at, seen_at, decider_uuid, decided_at`

// New is a picture that a run saw.
type New struct {
	Place
	BrowserVersion, Fonts, Digest string
	Width, Height                 int
	Key                           string
	Size                          int64
}

var space = uuid.MustParse("b2a4f8f0-31b2-4c7b-9d57-0b9a2a6f51c4")

// ID is the id of a picture, which follows from its place and its pixels.
func ID(at Place, digest string) uuid.UUID {
	return uuid.NewSHA1(space, []byte(strings.Join([]string{at.CaseID, at.StepID, at.Name, at.Target, digest}, "\x00")))
}

// NewKey returns the key of the object of a picture.
func NewKey(id uuid.UUID) string { return Prefix + id.String() + "/" + uuid.NewString() }

// current reads test_baselines_step.
const current = `
select ` + columns + ` from test_baselines where case_id = $1 and step_id = $2 and name = $3 and target = $4
	and state in ('ACCEPTED', 'UNREVIEWED', 'REJECTED')
order by array_position(array['ACCEPTED', 'UNREVIEWED', 'REJECTED'], state),
	case when state = 'REJECTED' then null else created_at end, decided_at desc, id limit 1`

// Current returns what a picture is compared with: the accepted one, else the first that
// nobody has decided on, else the one that was rejected last. ErrNotFound without any.
func Current(ctx context.Context, q storage.Querier, at Place) (*Baseline, error) {
	var b Baseline
	err := q.GetContext(ctx, &b, current, at.CaseID, at.StepID, at.Name, at.Target)
	if err != nil {
		return nil, storage.Wrap(err, "baseline of step "+at.StepID)
	}
	return &b, nil
}

const (
	// A case that is being deleted needs no baselines. Waiting for it would be a deadlock:
	// whoever deletes a case waits for its jobs to end.
	keepCase = `select id from test_cases where id = $1 for key share skip locked`
	insert   = `
insert into test_baselines (id, organization_id, case_id, step_id, name, target, state, browser_version, fonts, digest, width, height,
	object_key, size, run_id)
select n.id, $1, $2, n.step_id, n.name, n.target,
	case when exists (select from test_baselines b where b.case_id = $2 and b.step_id = n.step_id and b.name = n.name and b.target = n.target
		and b.state in ('ACCEPTED', 'UNREVIEWED')) then 'CANDIDATE' else 'UNREVIEWED' end,
	n.version, n.fonts, n.digest, n.width, n.height, n.object_key, n.size, $3
from unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::int[], $12::int[], $13::text[],
	$14::bigint[])
	as n(id, step_id, name, target, version, fonts, digest, width, height, object_key, size)
order by n.id
on conflict (id) do update set run_id = excluded.run_id, seen_at = now(),
	state = case when test_baselines.state = 'FORMER' then excluded.state else test_baselines.state end
returning object_key`
	prune = `
delete from test_baselines where id in (
	select id from (
		select id, row_number() over (partition by step_id, name, target order by seen_at desc, id) as of_step,
			row_number() over (order by seen_at desc, id) as of_case
		from test_baselines where case_id = $1 and state not in ('ACCEPTED', 'UNREVIEWED')
	) old where of_step > $2 or of_case > $3
)
returning object_key`
)

// Store writes the pictures that a job of a run saw, in the transaction that ends the job. It
// returns the keys of objects that no row names, to delete after the commit: of pictures that
// are known already, and of those that are too many.
func Store(ctx context.Context, tx *storage.Tx, organizationID int64, caseID string, runID uuid.UUID, list []New) (unnamed []string,
	err error) {
	if len(list) == 0 {
		return nil, nil
	}
	byID := map[uuid.UUID]New{}
	given := make([]string, 0, len(list))
	for _, n := range list {
		byID[ID(n.Place, n.Digest)] = n
		given = append(given, n.Key)
	}
	var kept []string
	if err := tx.SelectContext(ctx, &kept, keepCase, caseID); err != nil || len(kept) == 0 {
		return given, storage.Wrap(err, "test case of baselines")
	}
	var (
		ids                                                   []uuid.UUID
		steps, names, targets, versions, fonts, digests, keys []string
		widths, heights, sizes                                []int64
	)
	for id := range byID {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range ids {
		n := byID[id]
		steps, names, targets = append(steps, n.StepID), append(names, n.Name), append(targets, storage.Cut(n.Target, maxText))
		versions, fonts, digests = append(versions, storage.Cut(n.BrowserVersion, maxText)),
			append(fonts, storage.Cut(n.Fonts, maxText)), append(digests, n.Digest)
		keys, sizes = append(keys, n.Key), append(sizes, n.Size)
		widths, heights = append(widths, int64(n.Width)), append(heights, int64(n.Height))
	}
	var named, gone []string
	err = tx.SelectContext(ctx, &named, insert, organizationID, caseID, runID, storage.UUIDs(ids), pq.Array(steps),
		pq.Array(names), pq.Array(targets),
		pq.Array(versions), pq.Array(fonts), pq.Array(digests), pq.Array(widths), pq.Array(heights), pq.Array(keys), pq.Array(sizes))
	if err != nil {
		return nil, storage.Wrap(err, "write baselines")
	}
	if err := tx.SelectContext(ctx, &gone, prune, caseID, keptOfStep, keptOfCase); err != nil {
		return nil, storage.Wrap(err, "delete old baselines")
	}
	for _, key := range given {
		if !slices.Contains(named, key) {
			unnamed = append(unnamed, key)
		}
	}
	return append(unnamed, gone...), nil
}

// Filter selects baselines of a case.
type Filter struct {
	CaseID string
	StepID string // "": all
	State  State  // "": all
	storage.Page
}

const ofCase = ` from test_baselines where case_id = $1 and ($2::text = '' or step_id = $2::text) and ($3::text = '' or state = $3::text)`

// List returns a page of a case's baselines, the one seen last first, and the number of all
// that match. The caller knows that the case is the organization's.
func List(ctx context.Context, q storage.Querier, f Filter) ([]Baseline, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+ofCase, f.CaseID, storage.WithoutNUL(f.StepID), f.State); err != nil {
		return nil, 0, storage.Wrap(err, "count baselines")
	}
	list := []Baseline{}
	err := q.SelectContext(ctx, &list, `select `+columns+ofCase+` order by seen_at desc, id limit $4 offset $5`,
		f.CaseID, storage.WithoutNUL(f.StepID), f.State, f.RowLimit(), f.RowOffset())
	return list, total, storage.Wrap(err, "list baselines")
}

const byID = `select ` + columns + ` from test_baselines where case_id = $1 and id = $2`

// ByID reads a baseline of a case.
func ByID(ctx context.Context, q storage.Querier, caseID string, id uuid.UUID) (*Baseline, error) {
	var b Baseline
	if err := q.GetContext(ctx, &b, byID, caseID, id); err != nil {
		return nil, storage.Wrap(err, "baseline "+id.String())
	}
	return &b, nil
}

const (
	// Jobs that end write the same rows in the order of their ids.
	lockOfSteps = `
select b.id from test_baselines b join test_baselines n on n.case_id = b.case_id and n.step_id = b.step_id and n.name = b.name
	and n.target = b.target
where n.case_id = $1 and n.id = any($2::uuid[]) and (b.id = n.id or b.state in ('ACCEPTED', 'UNREVIEWED'))
order by b.id for no key update of b`
	demote = `
update test_baselines b set state = 'FORMER' from test_baselines n
where n.id = $1 and b.case_id = n.case_id and b.step_id = n.step_id and b.name = n.name and b.target = n.target and b.id <> n.id
	and b.state in ('ACCEPTED', 'UNREVIEWED')`
	decide = `update test_baselines set state = $2, decider_uuid = $3, decided_at = now() where id = $1`
)

// Accept makes a picture the baseline of its step on its target. One that is it stays as it is.
func Accept(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) (*Baseline, error) {
	list, err := AcceptAll(ctx, tx, w, caseID, []uuid.UUID{id})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("baseline %s: %w", id, storage.ErrNotFound)
	}
	return &list[0], nil
}

// AcceptAll accepts pictures, in the order given: of two of one step and target the last one
// stays. Those that are gone are left out.
func AcceptAll(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, ids []uuid.UUID) ([]Baseline, error) {
	if _, err := authoring.LockCase(ctx, tx, w, caseID, "no key update"); err != nil {
		return nil, err
	}
	var locked []uuid.UUID
	if err := tx.SelectContext(ctx, &locked, lockOfSteps, caseID, storage.UUIDs(ids)); err != nil {
		return nil, storage.Wrap(err, "lock baselines")
	}
	list := []Baseline{}
	for _, id := range ids {
		b, err := ByID(ctx, tx, caseID, id)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if b.State != Accepted {
			if _, err := tx.ExecContext(ctx, demote, id); err != nil {
				return nil, storage.Wrap(err, "replace the baseline of step "+b.StepID)
			}
			if b, err = decided(ctx, tx, w, b, Accepted, account.TestBaselineAccepted); err != nil {
				return nil, err
			}
		}
		list = append(list, *b)
	}
	return list, nil
}

// Reject marks a picture as one that the step must not look like.
func Reject(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) (*Baseline, error) {
	if _, err := authoring.LockCase(ctx, tx, w, caseID, "no key update"); err != nil {
		return nil, err
	}
	b, err := ByID(ctx, tx, caseID, id)
	if err != nil || b.State == Rejected {
		return b, err
	}
	return decided(ctx, tx, w, b, Rejected, account.TestBaselineRejected)
}

func decided(ctx context.Context, tx *storage.Tx, w account.Writer, b *Baseline, state State, what account.AuditType) (*Baseline, error) {
	if _, err := tx.ExecContext(ctx, decide, b.ID, state, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "decide on baseline "+b.ID.String())
	}
	err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "test case " + b.CaseID, Detail: map[string]any{"step": b.StepID, "baseline": b.ID, "target": b.Target}})
	if err != nil {
		return nil, err
	}
	return ByID(ctx, tx, b.CaseID, b.ID)
}

const unnamedObjects = `
select key from unnest($1::text[]) with ordinality as want(key, n)
where not exists (select from test_baselines b where b.object_key = key) order by n`

// UnnamedObjects returns those of the keys that no baseline names, for the sweep.
func UnnamedObjects(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, unnamedObjects, pq.Array(keys))
	return unnamed, storage.Wrap(err, "look for baselines of objects")
}
