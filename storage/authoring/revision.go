package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
)

// Reason is a thought of the author of a revision.
type Reason struct {
	Title       string `json:"title"`
	Description string `json:"description"`
}

// Revision is one state of a case's steps.
type Revision struct {
	ID               string // 24 hexadecimal digits
	CaseID           string
	Number           int
	Intent           string
	Steps            []step.Step
	DiscoveredIntent string
	Description      string
	Reasoning        []Reason
	DataID           *uuid.UUID // the data rows that the steps are run with; nil for none
	CreatedAt        time.Time
}

const revisions = `
select ` + revisionColumns + ` from (
	select ` + revisionColumns + ` from test_revisions where case_id = $1 order by number desc limit $2
) newest order by number`

// Revisions returns all revisions of a case, oldest first.
func Revisions(ctx context.Context, q storage.Querier, caseID string) ([]Revision, error) {
	rows, list := []revisionRow{}, []Revision{}
	if !isID(caseID) {
		return list, nil
	}
	if err := q.SelectContext(ctx, &rows, revisions, caseID, MaxRevisions); err != nil {
		return nil, storage.Wrap(err, "revisions of test case "+caseID)
	}
	for i := range rows {
		v, err := rows[i].revision()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

const revisionByID = `
select ` + revisionColumns + ` from test_revisions where case_id = $1 and ($2::text = '' or id = $2::text)
order by number desc limit 1`

// RevisionByID returns one revision of a case; with id "" the latest.
func RevisionByID(ctx context.Context, q storage.Querier, caseID, id string) (*Revision, error) {
	if !isID(caseID) || id != "" && !isID(id) {
		return nil, fmt.Errorf("revision: %w", storage.ErrNotFound)
	}
	var row revisionRow
	if err := q.GetContext(ctx, &row, revisionByID, caseID, id); err != nil {
		return nil, storage.Wrap(err, "revision of test case "+caseID)
	}
	v, err := row.revision()
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// check refuses what cannot be stored and returns the documents.
func (v *Revision) check() (steps, reasoning string, err error) {
	for _, text := range []struct{ field, text string }{{"intent", v.Intent},
		{"discoveredIntent", v.DiscoveredIntent}, {"description", v.Description}} {
		if err := prose(text.field, text.text); err != nil {
			return "", "", err
		}
	}
	if v.Steps == nil {
		v.Steps = []step.Step{}
	}
	if v.Reasoning == nil {
		v.Reasoning = []Reason{}
	}
	if len(v.Steps) > step.MaxSteps {
		return "", "", storage.Invalid("steps", "must be at most %d", step.MaxSteps)
	}
	if steps, err = document("steps", v.Steps, maxRevision); err != nil {
		return "", "", err
	}
	reasoning, err = document("reasoning", v.Reasoning, maxRevision)
	return steps, reasoning, err
}

const insertRevision = `
insert into test_revisions (id, case_id, number, intent, steps, discovered_intent, description, reasoning, data_id)
values ($1, $2, 1 + coalesce((select max(number) from test_revisions where case_id = $2), 0), $3, $4, $5, $6, $7, $8)
returning number`

// Revisions that a run is going to play stay.
const deleteOldRevisions = `
delete from test_revisions v where v.case_id = $1 and v.number <= $2::integer - $3::integer
	and not exists (select from test_runs r where r.case_id = v.case_id and r.revision_id = v.id and r.state in ('QUEUED', 'RUNNING'))`

// addRevision writes a revision as the latest of its case, which is new or locked, and
// sets its id and number. Of more than MaxRevisions the oldest go.
func addRevision(ctx context.Context, tx *storage.Tx, caseID string, v *Revision) error {
	steps, reasoning, err := v.check()
	if err != nil {
		return err
	}
	if v.ID, err = newID(); err != nil {
		return err
	}
	err = tx.GetContext(ctx, &v.Number, insertRevision, v.ID, caseID, v.Intent, steps, v.DiscoveredIntent, v.Description, reasoning, v.DataID)
	if err != nil || v.Number <= MaxRevisions {
		return storage.Wrap(err, "create revision of test case "+caseID)
	}
	_, err = tx.ExecContext(ctx, deleteOldRevisions, caseID, v.Number, MaxRevisions)
	return storage.Wrap(err, "delete old revisions of test case "+caseID)
}

// maxFingerprint bounds a fingerprint in bytes of JSON: its texts come from a page.
const maxFingerprint = 16 << 10

// AddFingerprints puts fingerprints, by step id, into the steps of a revision
// that have none: at the selector of the step's tool, or of the innermost tool of
// in_shadow_root and in_frame. It changes nothing else. A revision that is gone,
// and a fingerprint that is too large, are skipped: neither may fail the run
// that brought it.
func AddFingerprints(ctx context.Context, tx *storage.Tx, revisionID string, of map[string]step.Fingerprint) error {
	if len(of) == 0 || !isID(revisionID) {
		return nil
	}
	var docs [][]byte
	if err := tx.SelectContext(ctx, &docs, `select steps from test_revisions where id = $1 for no key update`, revisionID); err != nil {
		return storage.Wrap(err, "steps of revision "+revisionID)
	}
	if len(docs) == 0 {
		return nil
	}
	var steps []step.Step
	if err := json.Unmarshal(docs[0], &steps); err != nil {
		return fmt.Errorf("steps of revision %s: %w", revisionID, err)
	}
	changed := false
	for i := range steps {
		if f, ok := of[steps[i].ID]; ok && setFingerprint(&steps[i].Tool, f) {
			changed = true
		}
	}
	if !changed {
		return nil
	}
	doc, err := document("steps", steps, 2*maxRevision)
	if err != nil {
		return nil // as before: steps that grew too large keep what they have
	}
	_, err = tx.ExecContext(ctx, `update test_revisions set steps = $2 where id = $1`, revisionID, doc)
	return storage.Wrap(err, "write steps of revision "+revisionID)
}

// setFingerprint sets a selector's first whole fingerprint, in place of hints that an
// import may have left, and reports whether it did.
func setFingerprint(tool *step.Tool, f step.Fingerprint) bool {
	for (tool.Type == step.InShadowRoot || tool.Type == step.InFrame) && tool.Args.Tool != nil {
		tool = tool.Args.Tool
	}
	s := tool.Args.Selector
	if s == nil || !s.Fingerprint.Partial() || s.Fingerprint != nil && f.Partial() {
		return false
	}
	if _, err := document("fingerprint", f, maxFingerprint); err != nil {
		return false
	}
	s.Fingerprint = &f
	return true
}
