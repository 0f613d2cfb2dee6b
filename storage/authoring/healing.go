package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// HealingState is what people decided on a healing.
type HealingState string

// The states of healings. An accepted one is open again when a later revision needs
// it again; a refused one stays refused until somebody accepts it.
const (
	HealingOpen     HealingState = "OPEN"
	HealingAccepted HealingState = "ACCEPTED" // a revision has the selector
	HealingRefused  HealingState = "REFUSED"  // no run applies or suggests it
)

// HealingStates are all states.
var HealingStates = []HealingState{HealingOpen, HealingAccepted, HealingRefused}

// The kinds of healings.
const (
	// KindHealing is a selector that found the element of a step whose own selector
	// found nothing.
	KindHealing = "healing"
	// KindDrift is the element that a step's own selector found in place of the recorded
	// one: To is the same selector, with the fingerprint of that element.
	KindDrift = "drift"
)

// HealingKinds are all kinds.
var HealingKinds = []string{KindHealing, KindDrift}

// CheckDrift refuses what is no mode of drift; "" is none.
func CheckDrift(field, mode string) error {
	if mode == "" || slices.Contains(capability.DriftModes, mode) {
		return nil
	}
	return storage.Invalid(field, "must be %s or null", strings.Join(capability.DriftModes, ", "))
}

// CheckTrace refuses what is no mode of traces; "" is none.
func CheckTrace(field, mode string) error {
	if mode == "" || slices.Contains(capability.TraceModes, mode) {
		return nil
	}
	return storage.Invalid(field, "must be %s or null", strings.Join(capability.TraceModes, ", "))
}

// CheckHealing refuses what is no mode of healing; "" is none.
func CheckHealing(field, mode string) error {
	if mode == "" || slices.Contains(capability.HealModes, mode) {
		return nil
	}
	return storage.Invalid(field, "must be %s or null", strings.Join(capability.HealModes, ", "))
}

// Healing is a selector that found the element of a step whose own selector found
// nothing, or a drift: one for each case, step and selector (and for a drift, element),
// however many runs saw it.
type Healing struct {
	ID       uuid.UUID
	Kind     string
	CaseID   string
	StepID   string
	State    HealingState
	From, To step.Selector
	Applied  bool // by the run that saw it last; else suggested
	Score    float64
	Reason   string
	// RevisionID and RunID are of the run that saw it last; both may be gone.
	RevisionID          string
	RunID               uuid.UUID
	Seen                int // jobs
	FirstSeen, LastSeen time.Time
	// Decider is the user who accepted or refused it; nil while it is open.
	Decider            *uuid.UUID
	DecidedAt          *time.Time
	AcceptedRevisionID string // "" unless it is accepted, or needed no revision
}

const healingColumns = `id, kind, case_id, step_id, state, selector_from, selector_to, applied, score, reason, revision_id, run_id,
	seen, first_seen_at, last_seen_at, decider_uuid, decided_at, coalesce(accepted_revision_id, '') as accepted_revision_id`

type healingRow struct {
	ID                 uuid.UUID    `db:"id"`
	Kind               string       `db:"kind"`
	CaseID             string       `db:"case_id"`
	StepID             string       `db:"step_id"`
	State              HealingState `db:"state"`
	From               []byte       `db:"selector_from"`
	To                 []byte       `db:"selector_to"`
	Applied            bool         `db:"applied"`
	Score              float64      `db:"score"`
	Reason             string       `db:"reason"`
	RevisionID         string       `db:"revision_id"`
	RunID              uuid.UUID    `db:"run_id"`
	Seen               int          `db:"seen"`
	FirstSeen          time.Time    `db:"first_seen_at"`
	LastSeen           time.Time    `db:"last_seen_at"`
	Decider            *uuid.UUID   `db:"decider_uuid"`
	DecidedAt          *time.Time   `db:"decided_at"`
	AcceptedRevisionID string       `db:"accepted_revision_id"`
}

func (r *healingRow) healing() (Healing, error) {
	h := Healing{ID: r.ID, Kind: r.Kind, CaseID: r.CaseID, StepID: r.StepID, State: r.State, Applied: r.Applied,
		Score: r.Score, Reason: r.Reason,
		RevisionID: r.RevisionID, RunID: r.RunID, Seen: r.Seen, FirstSeen: r.FirstSeen, LastSeen: r.LastSeen,
		Decider: r.Decider, DecidedAt: r.DecidedAt, AcceptedRevisionID: r.AcceptedRevisionID}
	if err := json.Unmarshal(r.From, &h.From); err != nil {
		return h, fmt.Errorf("healing %s: %w", r.ID, err)
	}
	if err := json.Unmarshal(r.To, &h.To); err != nil {
		return h, fmt.Errorf("healing %s: %w", r.ID, err)
	}
	return h, nil
}

// HealingFilter selects healings of a case.
type HealingFilter struct {
	CaseID string
	State  HealingState // "": all
	Kind   string       // "": all
	storage.Page
}

const healingsOfCase = ` from test_healings where case_id = $1 and ($2::text = '' or state = $2::text)
	and ($3::text = '' or kind = $3::text)`

// Healings returns a page of a case's healings, the one seen last first, and the
// number of all that match. The caller knows that the case is the organization's.
func Healings(ctx context.Context, q storage.Querier, f HealingFilter) ([]Healing, int, error) {
	var total int
	if err := q.GetContext(ctx, &total, `select count(*)`+healingsOfCase, f.CaseID, f.State, f.Kind); err != nil {
		return nil, 0, storage.Wrap(err, "count healings")
	}
	var rows []healingRow
	err := q.SelectContext(ctx, &rows, `select `+healingColumns+healingsOfCase+`
		order by last_seen_at desc, id desc limit $4 offset $5`, f.CaseID, f.State, f.Kind, f.RowLimit(), f.RowOffset())
	if err != nil {
		return nil, 0, storage.Wrap(err, "list healings")
	}
	list := make([]Healing, len(rows))
	for i := range rows {
		if list[i], err = rows[i].healing(); err != nil {
			return nil, 0, err
		}
	}
	return list, total, nil
}

const healingByID = `select ` + healingColumns + ` from test_healings where case_id = $1 and id = $2`

// HealingByID reads a healing of a case.
func HealingByID(ctx context.Context, q storage.Querier, caseID string, id uuid.UUID) (*Healing, error) {
	return readHealing(ctx, q, healingByID, caseID, id)
}

func readHealing(ctx context.Context, q storage.Querier, query, caseID string, id uuid.UUID) (*Healing, error) {
	var row healingRow
	if err := q.GetContext(ctx, &row, query, caseID, id); err != nil {
		return nil, storage.Wrap(err, "healing "+id.String())
	}
	h, err := row.healing()
	if err != nil {
		return nil, err
	}
	return &h, nil
}

const refusedHealings = `
select step_id, selector_to from test_healings where case_id = $1 and state = 'REFUSED' and kind = 'healing'
order by last_seen_at desc, id desc limit $2`

// RefusedHealings returns the selectors, by step id, that nobody wants as healings of
// a case; nil without any.
func RefusedHealings(ctx context.Context, q storage.Querier, caseID string) (map[string][]step.Selector, error) {
	var rows []struct {
		StepID string `db:"step_id"`
		To     []byte `db:"selector_to"`
	}
	if err := q.SelectContext(ctx, &rows, refusedHealings, caseID, maxHealings); err != nil {
		return nil, storage.Wrap(err, "refused healings of test case "+caseID)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	refused := make(map[string][]step.Selector, len(rows))
	for _, row := range rows {
		var to step.Selector
		if err := json.Unmarshal(row.To, &to); err != nil {
			return nil, fmt.Errorf("refused healing of test case %s: %w", caseID, err)
		}
		refused[row.StepID] = append(refused[row.StepID], to)
	}
	return refused, nil
}

// healingSpace is the name space of the ids of healings.
var healingSpace = uuid.MustParse("6f0c5a5e-4b52-4a4c-9b8e-6d1f7a1d9c33")

// HealingID is the id of a healing, which follows from what it is: so every run of a
// case finds the same row, and its record can name it before that is written.
func HealingID(caseID, stepID string, to *step.Selector) (uuid.UUID, error) {
	text, err := json.Marshal(step.WithoutFingerprints(to))
	if err != nil {
		return uuid.Nil, fmt.Errorf("id of a healing: %w", err)
	}
	return uuid.NewSHA1(healingSpace, []byte(strings.Join([]string{caseID, stepID, string(text)}, "\x00"))), nil
}

// DriftID is that of a drift, which depends on the element that was found as well.
func DriftID(caseID, stepID string, d *playback.Drifted) (uuid.UUID, error) {
	text, err := json.Marshal([]any{step.WithoutFingerprints(&d.To), d.Found})
	if err != nil {
		return uuid.Nil, fmt.Errorf("id of a drift: %w", err)
	}
	return uuid.NewSHA1(healingSpace, []byte(strings.Join([]string{caseID, stepID, KindDrift, string(text)}, "\x00"))), nil
}
