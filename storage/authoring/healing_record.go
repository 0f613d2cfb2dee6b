package authoring

import (
	"bytes"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

const (
	// maxHealings bounds the healings of a case: a page that changes its ids with each
	// run would have one more each time. People look at a handful.
	maxHealings = 200
	// maxHealed bounds a selector of a healing in bytes of JSON, with its fingerprint.
	maxHealed = maxFingerprint + 8<<10
	// maxHealingReason bounds the reason, in characters.
	maxHealingReason = 500
)

// SeenHealings are the healings of the steps of one job. The caller has ended the job.
type SeenHealings struct {
	OrganizationID int64
	CaseID         string
	RevisionID     string
	RunID          uuid.UUID
	list           []seenHealing
}

type seenHealing struct {
	id       uuid.UUID
	kind     string
	stepID   string
	from, to string
	applied  bool
	score    float64
	reason   string
}

// Add notes what a record says was healed or suggested, else that its step has drifted,
// and sets the record's HealingID. What cannot be stored is left out: it must not keep a
// job from ending.
func (s *SeenHealings) Add(r *playback.Record) {
	switch {
	case r.StepID == "" || len(s.list) == maxHealings:
	case r.Healed != nil:
		s.addHealed(r, r.Healed, true)
	case r.Suggested != nil:
		s.addHealed(r, r.Suggested, false)
	case r.Drifted != nil:
		s.addDrifted(r, r.Drifted)
	}
}

func (s *SeenHealings) addHealed(r *playback.Record, of *playback.Healed, applied bool) {
	if of.To.Type == "" {
		return
	}
	id, err := HealingID(s.CaseID, r.StepID, &of.To)
	if err != nil {
		return
	}
	s.add(r, seenHealing{id: id, kind: KindHealing, applied: applied, score: of.Score, reason: of.Reason}, &of.From, &of.To)
}

// addDrifted notes a drift. Without the fingerprint of what was found, which a secret is
// in, there is nothing to accept.
func (s *SeenHealings) addDrifted(r *playback.Record, of *playback.Drifted) {
	if of.To.Type == "" || of.To.Fingerprint == nil {
		return
	}
	id, err := DriftID(s.CaseID, r.StepID, of)
	if err != nil {
		return
	}
	s.add(r, seenHealing{id: id, kind: KindDrift, applied: of.Acted, reason: of.Reason + ": " + of.Text()}, &of.From, &of.To)
}

// add completes a healing by its step and selectors.
func (s *SeenHealings) add(r *playback.Record, h seenHealing, from, to *step.Selector) {
	if slices.ContainsFunc(s.list, func(other seenHealing) bool { return other.id == h.id }) {
		return
	}
	var err error
	if h.from, err = document("from", step.WithoutFingerprints(from), maxHealed); err != nil {
		return
	}
	if h.to, err = document("to", *to, maxHealed); err != nil {
		return
	}
	h.stepID, h.reason = r.StepID, storage.Cut(storage.WithoutNUL(h.reason), maxHealingReason)
	r.HealingID = h.id.String()
	s.list = append(s.list, h)
}

const (
	// keepCase skips a case that is being deleted: it is locked, and needs no healings.
	// Waiting for it would be a deadlock: whoever deletes a case waits for its jobs to end.
	keepCase = `select id from test_cases where id = $1 for key share skip locked`
	// An accepted healing that a later revision needed again is open again.
	reopenHealings = `
update test_healings set state = 'OPEN', decider_uuid = null, decided_at = null, accepted_revision_id = null, accepted_number = null
where id = any($1::uuid[]) and state = 'ACCEPTED'
	and accepted_number < (select number from test_revisions where id = $2)`
	upsertHealings = `
insert into test_healings (id, kind, organization_id, case_id, step_id, selector_from, selector_to, applied, score, reason,
	revision_id, run_id)
select h.id, h.kind, $1, $2, h.step_id, h.selector_from, h.selector_to, h.applied, h.score, h.reason, $3, $4
from unnest($5::uuid[], $6::text[], $7::jsonb[], $8::jsonb[], $9::boolean[], $10::float8[], $11::text[],
	$12::text[]) as h(id, step_id, selector_from, selector_to, applied, score, reason, kind)
order by h.id
on conflict (id) do update set selector_from = excluded.selector_from, selector_to = excluded.selector_to,
	applied = excluded.applied, score = excluded.score, reason = excluded.reason, revision_id = excluded.revision_id,
	run_id = excluded.run_id, seen = test_healings.seen + 1, last_seen_at = now()`
	// deleteOldHealings deletes refusals last: without them a run would heal again what it
	// must not.
	deleteOldHealings = `
delete from test_healings where id in (
	select id from test_healings where case_id = $1
	order by state = 'REFUSED' desc, last_seen_at desc, id desc offset $2 for update skip locked)`
)

// Store writes the healings: new ones, and those seen again with what is known now.
func (s *SeenHealings) Store(ctx context.Context, tx *storage.Tx) error {
	if len(s.list) == 0 {
		return nil
	}
	var kept []string
	if err := tx.SelectContext(ctx, &kept, keepCase, s.CaseID); err != nil || len(kept) == 0 {
		return storage.Wrap(err, "test case of healings")
	}
	// Jobs of a case that end at the same time take the rows in one order.
	slices.SortFunc(s.list, func(a, b seenHealing) int { return bytes.Compare(a.id[:], b.id[:]) })
	var (
		ids                             []uuid.UUID
		steps, from, to, reasons, kinds []string
		applied                         []bool
		scores                          []float64
	)
	for _, h := range s.list {
		ids, steps = append(ids, h.id), append(steps, h.stepID)
		from, to, reasons = append(from, h.from), append(to, h.to), append(reasons, h.reason)
		kinds = append(kinds, h.kind)
		applied, scores = append(applied, h.applied), append(scores, h.score)
	}
	if _, err := tx.ExecContext(ctx, reopenHealings, storage.UUIDs(ids), s.RevisionID); err != nil {
		return storage.Wrap(err, "open healings again")
	}
	if _, err := tx.ExecContext(ctx, upsertHealings, s.OrganizationID, s.CaseID, s.RevisionID, s.RunID, storage.UUIDs(ids), pq.Array(steps),
		pq.Array(from), pq.Array(to), pq.Array(applied), pq.Array(scores), pq.Array(reasons), pq.Array(kinds)); err != nil {
		return storage.Wrap(err, "write healings")
	}
	_, err := tx.ExecContext(ctx, deleteOldHealings, s.CaseID, maxHealings)
	return storage.Wrap(err, "delete old healings")
}
