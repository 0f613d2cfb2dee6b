package authoring

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

const (
	healingForUpdate = healingByID + ` for no key update`
	decideHealing    = `
update test_healings set state = $2, decider_uuid = $3, decided_at = now(), accepted_revision_id = nullif($4::text, ''),
	accepted_number = $5
where id = $1`
)

// AcceptHealing stores a new revision, in which the step has the selector that found its
// element, or for a drift the fingerprint of the element that was found. A healing that is
// accepted already stays as it is. ErrHealingOutdated when the step is gone from the latest
// revision or has another selector there.
func AcceptHealing(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) (*Healing, error) {
	e, err := editCase(ctx, tx, w, caseID)
	if err != nil {
		return nil, err
	}
	h, err := readHealing(ctx, tx, healingForUpdate, caseID, id)
	if err != nil || h.State == HealingAccepted {
		return h, err
	}
	changed, err := e.accept(ctx, tx, w, h)
	if err != nil {
		return nil, err
	}
	if changed {
		if err := e.add(ctx, tx, *e.latest); err != nil {
			return nil, err
		}
		e.detail["step"], e.detail["healing"] = h.StepID, id
		if _, err := e.save(ctx, tx, w, account.TestHealingAccepted); err != nil {
			return nil, err
		}
	}
	if _, err := tx.ExecContext(ctx, decideHealing, id, HealingAccepted, w.UserUUID, e.latest.ID, e.latest.Number); err != nil {
		return nil, storage.Wrap(err, "accept healing "+id.String())
	}
	return HealingByID(ctx, tx, caseID, id)
}

// accept puts a healed selector into its step: of the case, which it reports, or of a step
// group, which gets a revision.
func (e *editedCase) accept(ctx context.Context, tx *storage.Tx, w account.Writer, h *Healing) (changed bool, err error) {
	steps, path := e.latest.Steps, h.StepID
	for phase, list := range map[string][]step.Step{step.SetUp: e.latest.SetUp, step.TearDown: e.latest.TearDown} {
		if rest, ok := strings.CutPrefix(h.StepID, phase+":"); ok {
			steps, path = list, rest
		}
	}
	ids := strings.Split(path, "/")
	own := *h
	own.StepID = ids[len(ids)-1]
	if len(ids) == 1 {
		changed, ok := accept(steps, &own)
		if !ok {
			return false, ErrHealingOutdated
		}
		return changed, nil
	}
	id, err := stepgroup.Find(ctx, tx, e.OrganizationID, steps, ids)
	if err != nil {
		return false, ofGroup(err)
	}
	ok, err := stepgroup.Mend(ctx, tx, w, id, func(steps []step.Step) (bool, bool) { return accept(steps, &own) })
	if err != nil {
		return false, ofGroup(err)
	}
	if !ok {
		return false, ErrHealingOutdated
	}
	return false, nil
}

// ofGroup makes an error of a step group one of this package.
func ofGroup(err error) error {
	switch {
	case errors.Is(err, stepgroup.ErrForbidden):
		return ErrForbidden
	case errors.Is(err, storage.ErrNotFound):
		return ErrHealingOutdated
	}
	return err
}

// accept puts a healed selector into its step. ok is false when the step is gone or
// has neither the selector that was healed nor, already, the healed one.
func accept(steps []step.Step, h *Healing) (changed, ok bool) {
	for i := range steps {
		if steps[i].ID != h.StepID {
			continue
		}
		args := &step.Inner(&steps[i].Tool).Args
		for _, s := range []*step.Selector{args.Selector, args.Target} {
			switch {
			case s == nil:
			case step.SameSelector(s, &h.From):
				*s = h.To
				if h.Kind == KindHealing {
					unwrap(&steps[i])
				}
				// The screenshot and the result are of the step as it was.
				steps[i].Result, steps[i].ScreenshotID = nil, ""
				return true, step.Validate([]step.Step{steps[i]}) == nil
			case step.SameSelector(s, &h.To):
				return false, true
			}
		}
	}
	return false, false
}

// unwrap takes a step out of the shadow roots around its element: a healed selector
// finds the element from the document, through them, and may name what is outside of
// them. Frames stay, and roots that are searched for something else too.
func unwrap(s *step.Step) {
	at := &s.Tool
	for tool := at; tool.Args.Tool != nil; tool = tool.Args.Tool {
		if tool.Type == step.InFrame {
			at = tool.Args.Tool
		}
	}
	inner := step.Inner(at)
	if s.When != nil && s.When.Selector != nil || inner.Args.Target != nil {
		return
	}
	*at = *inner
}

// RefuseHealing keeps runs from healing the step so again. The revision of one that
// was accepted stays.
func RefuseHealing(ctx context.Context, tx *storage.Tx, w account.Writer, caseID string, id uuid.UUID) (*Healing, error) {
	if _, err := LockCase(ctx, tx, w, caseID, "no key update"); err != nil {
		return nil, err
	}
	h, err := readHealing(ctx, tx, healingForUpdate, caseID, id)
	if err != nil || h.State == HealingRefused {
		return h, err
	}
	if _, err := tx.ExecContext(ctx, decideHealing, id, HealingRefused, w.UserUUID, "", nil); err != nil {
		return nil, storage.Wrap(err, "refuse healing "+id.String())
	}
	err = auditCase(ctx, tx, w, account.TestHealingRefused, caseID, map[string]any{"step": h.StepID, "healing": id})
	if err != nil {
		return nil, err
	}
	return HealingByID(ctx, tx, caseID, id)
}
