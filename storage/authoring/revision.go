package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/stepgroup"
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
	SetUp            []step.Step // before the steps; nil without any
	TearDown         []step.Step // after them, whatever came of them; nil without any
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

// documents are the lists of a revision as they are stored.
type documents struct {
	steps, reasoning string
	setUp, tearDown  *string // nil without any steps
}

// check refuses what cannot be stored and returns the documents.
func (v *Revision) check() (d documents, err error) {
	for _, text := range []struct{ field, text string }{{"intent", v.Intent},
		{"discoveredIntent", v.DiscoveredIntent}, {"description", v.Description}} {
		if err := prose(text.field, text.text); err != nil {
			return d, err
		}
	}
	if v.Steps == nil {
		v.Steps = []step.Step{}
	}
	if v.Reasoning == nil {
		v.Reasoning = []Reason{}
	}
	if len(v.Steps) > step.MaxSteps {
		return d, storage.Invalid("steps", "must be at most %d", step.MaxSteps)
	}
	if d.steps, err = document("steps", v.Steps, maxRevision); err != nil {
		return d, err
	}
	if d.setUp, err = optionalSteps("setUp", v.SetUp); err != nil {
		return d, err
	}
	if d.tearDown, err = optionalSteps("tearDown", v.TearDown); err != nil {
		return d, err
	}
	d.reasoning, err = document("reasoning", v.Reasoning, maxRevision)
	return d, err
}

// optionalSteps returns steps as they are stored: null for none.
func optionalSteps(field string, steps []step.Step) (*string, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	if len(steps) > step.MaxSteps {
		return nil, storage.Invalid(field, "must be at most %d", step.MaxSteps)
	}
	doc, err := document(field, steps, maxRevision)
	return &doc, err
}

// parts are the lists of steps of a revision.
func (v *Revision) parts() []stepgroup.Part {
	return []stepgroup.Part{{Path: "steps", Steps: v.Steps}, {Path: "setUp", Steps: v.SetUp}, {Path: "tearDown", Steps: v.TearDown}}
}

// insertRevision also stores the uses of step groups: those of a case are what its latest
// revision uses.
const insertRevision = `
with gone as (
	delete from step_group_uses where case_id = $2 and not group_id = any($10::uuid[])
), added as (
	insert into step_group_uses (group_id, case_id) select id, $2 from unnest($10::uuid[]) as id
	on conflict do nothing
)
insert into test_revisions (id, case_id, number, intent, steps, discovered_intent, description, reasoning, set_up, tear_down, group_ids,
	data_id)
values ($1, $2, 1 + coalesce((select max(number) from test_revisions where case_id = $2), 0), $3, $4, $5, $6, $7, $8, $9,
	nullif($10::uuid[], '{}'), $11)
returning number`

// deleteOldRevisions leaves the revisions that a run is going to play.
const deleteOldRevisions = `
delete from test_revisions v where v.case_id = $1 and v.number <= $2::integer - $3::integer
	and not exists (select from test_runs r where r.case_id = v.case_id and r.revision_id = v.id and r.state in ('QUEUED', 'RUNNING'))`

// addRevision writes a revision as the latest of its case, which is new or locked, and
// sets its id and number. Of more than MaxRevisions the oldest go. Step groups that it
// cannot run are an InvalidError.
func addRevision(ctx context.Context, tx *storage.Tx, organizationID int64, caseID string, v *Revision) error {
	d, err := v.check()
	if err != nil {
		return err
	}
	if v.ID, err = newID(); err != nil {
		return err
	}
	groups, err := stepgroup.Hold(ctx, tx, organizationID, v.parts()...)
	if err != nil {
		return err
	}
	err = tx.GetContext(ctx, &v.Number, insertRevision, v.ID, caseID, v.Intent, d.steps, v.DiscoveredIntent, v.Description, d.reasoning,
		d.setUp, d.tearDown, storage.UUIDs(groups), v.DataID)
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
// in_shadow_root and in_frame. It changes nothing else. Those of the steps before and after
// have the prefix of their phase (setUp:s1). A revision that is gone,
// and a fingerprint that is too large, are skipped: neither may fail the run
// that brought it.
func AddFingerprints(ctx context.Context, tx *storage.Tx, revisionID string, of map[string]step.Fingerprint) error {
	if len(of) == 0 || !isID(revisionID) {
		return nil
	}
	var rows []revisionSteps
	err := tx.SelectContext(ctx, &rows, `select steps, set_up, tear_down from test_revisions where id = $1 for no key update`, revisionID)
	if err != nil {
		return storage.Wrap(err, "steps of revision "+revisionID)
	}
	if len(rows) == 0 {
		return nil
	}
	changed := false
	for _, part := range []struct {
		prefix string
		doc    **string
	}{{"", &rows[0].Steps}, {step.SetUp + ":", &rows[0].SetUp}, {step.TearDown + ":", &rows[0].TearDown}} {
		learnt, ok, err := learn(*part.doc, part.prefix, of)
		if err != nil {
			return fmt.Errorf("steps of revision %s: %w", revisionID, err)
		}
		if ok {
			*part.doc, changed = learnt, true
		}
	}
	if !changed {
		return nil
	}
	_, err = tx.ExecContext(ctx, `update test_revisions set steps = $2, set_up = $3, tear_down = $4 where id = $1`, revisionID,
		rows[0].Steps, rows[0].SetUp, rows[0].TearDown)
	return storage.Wrap(err, "write steps of revision "+revisionID)
}

type revisionSteps struct {
	Steps    *string `db:"steps"`
	SetUp    *string `db:"set_up"`
	TearDown *string `db:"tear_down"`
}

// learn puts fingerprints into stored steps; ok is false where that changes nothing. Steps
// that would grow too large keep what they have.
func learn(doc *string, prefix string, of map[string]step.Fingerprint) (learnt *string, ok bool, err error) {
	if doc == nil {
		return nil, false, nil
	}
	var steps []step.Step
	if err := json.Unmarshal([]byte(*doc), &steps); err != nil {
		return nil, false, err
	}
	for i := range steps {
		if f, known := of[prefix+steps[i].ID]; known && step.LearnFingerprint(&steps[i].Tool, f, maxFingerprint) {
			ok = true
		}
	}
	if !ok {
		return nil, false, nil
	}
	text, err := document("steps", steps, 2*maxRevision)
	return &text, err == nil, nil
}
