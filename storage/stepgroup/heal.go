package stepgroup

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
)

// AddFingerprints puts fingerprints into the steps of revisions that have none: by the
// revisions' ids, and by the ids of the steps in these. Revisions that are gone are skipped,
// and those whose steps would grow too large: neither may fail the run that brought them.
func AddFingerprints(ctx context.Context, tx *storage.Tx, of map[string]map[string]step.Fingerprint) error {
	for _, id := range slices.Sorted(maps.Keys(of)) {
		if err := learn(ctx, tx, id, of[id]); err != nil {
			return err
		}
	}
	return nil
}

func learn(ctx context.Context, tx *storage.Tx, id string, of map[string]step.Fingerprint) error {
	if _, err := uuid.Parse(id); err != nil {
		return nil // of no revision
	}
	var docs [][]byte
	if err := tx.SelectContext(ctx, &docs, `select steps from step_group_revisions where id = $1 for no key update`, id); err != nil {
		return storage.Wrap(err, "steps of step group revision "+id)
	}
	if len(docs) == 0 {
		return nil
	}
	var steps []step.Step
	if err := json.Unmarshal(docs[0], &steps); err != nil {
		return fmt.Errorf("steps of step group revision %s: %w", id, err)
	}
	changed := false
	for i := range steps {
		if f, ok := of[steps[i].ID]; ok && step.LearnFingerprint(&steps[i].Tool, f, maxFingerprint) {
			changed = true
		}
	}
	if !changed {
		return nil
	}
	doc, err := document("steps", steps)
	if err != nil {
		return nil // as before
	}
	_, err = tx.ExecContext(ctx, `update step_group_revisions set steps = $2 where id = $1`, id, doc)
	return storage.Wrap(err, "write steps of step group revision "+id)
}

// Find returns the id of the group that a step stands in, and of the step there: path leads
// from a run_group in steps through its groups, as they are now. ErrNotFound where it leads
// nowhere.
func Find(ctx context.Context, q storage.Querier, organizationID int64, steps []step.Step, path []string) (id uuid.UUID, err error) {
	for ; len(path) > 1; path = path[1:] {
		at := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == path[0] && s.Tool.Type == step.RunGroup })
		if at < 0 {
			return id, fmt.Errorf("step group of step %s: %w", path[0], storage.ErrNotFound)
		}
		if id, err = uuid.Parse(steps[at].Tool.Args.GroupID); err != nil {
			return id, fmt.Errorf("step group of step %s: %w", path[0], storage.ErrNotFound)
		}
		g, err := ByID(ctx, q, organizationID, id)
		if err != nil {
			return id, err
		}
		steps = g.Revision.Steps
	}
	return id, nil
}

// Mend changes a step of a group's latest revision by a function, which reports whether
// it did and whether the step is still what it is to change; a change is a new revision. It
// returns false when the step is another one or gone. ErrNotFound, ErrForbidden.
func Mend(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, change func([]step.Step) (changed, ok bool)) (bool, error) {
	g, err := edit(ctx, tx, w, id)
	if err != nil {
		return false, err
	}
	next := g.Revision
	changed, ok := change(next.Steps)
	if !ok || !changed {
		return ok, nil
	}
	if next.ID, err = uuid.NewV7(); err != nil {
		return false, fmt.Errorf("make an id: %w", err)
	}
	if err := revise(ctx, tx, w.OrganizationID, id, g.Name, &next); err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, updateGroup, id, g.Name, next.ID, w.UserUUID); err != nil {
		return false, storage.Wrap(err, "update step group "+id.String())
	}
	return true, audit(ctx, tx, w, account.StepGroupUpdated, id, map[string]any{"name": g.Name, "revision": next.Number, "healed": true})
}
