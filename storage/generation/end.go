package generation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// Result is how the writing of a test ended. Code is "" when it was written.
type Result struct {
	Code, Detail     string
	Steps            []step.Step
	Reasoning        []authoring.Reason
	DiscoveredIntent string
	Description      string
	Changes          any // as JSON; nil without
	Model            any // as JSON; nil without
	Findings         *Findings
	Files            []File // that were not named before
}

// Ending is what End did.
type Ending struct {
	// Did is false when the generation had ended before, or is gone: nothing was written.
	Did bool
	// Code is that of the end: another than the result's when the case could not be
	// stored.
	Code   string
	CaseID string
	// Unused are the keys of objects that nobody can reach any more, to delete after the
	// commit.
	Unused []string
}

const lockOpen = `
select id from test_generations where id = $1 and state in ('QUEUED', 'IN_PROGRESS') for update`

const endGeneration = `
update test_generations set state = $2, error_code = $3, error = $4, steps = $5, reasoning = $6, discovered_intent = $7,
	description = $8, changes = $9, model = $10, case_id = nullif($11, ''), revision_id = nullif($12, ''), finished_at = now(),
	draft_case_id = nullif($13, ''), findings = $14
where id = $1`

// End ends a generation. When the test was written it stores the case, or the revision
// of the case that was refined; what keeps it from being stored is a failure with a
// code.
func End(ctx context.Context, tx *storage.Tx, w *Work, r Result) (e Ending, err error) {
	err = storage.Wrap(tx.GetContext(ctx, new(uuid.UUID), lockOpen, w.ID), "generation "+w.ID.String())
	if errors.Is(err, storage.ErrNotFound) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	if err := addFiles(ctx, tx, w.ID, r.Files); err != nil {
		return e, err
	}
	var made stored
	var draft stored
	switch {
	case r.Code == "":
		made, err = store(ctx, tx, w, &r)
	case w.KeepDraft && len(r.Steps) > 0:
		draft, err = keepDraft(ctx, tx, w, r)
	}
	if err != nil {
		return e, err
	}
	steps, reasoning, err := capturedDocuments(r.Steps, r.Reasoning)
	if err != nil {
		return e, err
	}
	state := Completed
	if r.Code != "" {
		state, r.Changes = Failed, nil
	}
	_, err = tx.ExecContext(ctx, endGeneration, w.ID, string(state), r.Code, Message(r.Detail), steps, reasoning, prose(r.DiscoveredIntent),
		prose(r.Description), optionalDocument(r.Changes, maxCaptured), optionalDocument(r.Model, maxModel), made.caseID, made.revisionID,
		draft.caseID, optionalDocument(r.Findings.bounded(), maxCaptured))
	return Ending{Did: true, Code: r.Code, CaseID: made.caseID, Unused: append(made.unused, draft.unused...)},
		storage.Wrap(err, "end generation "+w.ID.String())
}

// stored is what became of a test that was written.
type stored struct {
	caseID, revisionID string
	unused             []string
}

// store stores the test of a result, or gives the result the code of why it cannot be.
func store(ctx context.Context, tx *storage.Tx, w *Work, r *Result) (made stored, err error) {
	v := authoring.Revision{Intent: w.Intent, Steps: r.Steps, DiscoveredIntent: prose(r.DiscoveredIntent), Description: prose(r.Description),
		Reasoning: reasons(r.Reasoning)}
	err = tx.Savepoint(ctx, func() (err error) {
		if w.Base != nil {
			made, err = refine(ctx, tx, w, v)
		} else {
			made, err = create(ctx, tx, w, v)
		}
		return err
	})
	if r.Code, r.Detail = refusal(err); r.Code != "" {
		return stored{}, nil
	}
	if err != nil {
		return made, err
	}
	if err := moveFiles(ctx, tx, w.ID, made.caseID, r.Steps); err != nil {
		return made, err
	}
	made.unused, err = dropUnshown(ctx, tx, made.caseID)
	return made, err
}

// keepDraft stores the steps that were written before a generation failed as a case of the tag
// draft. It is in no suite: what is not whole is not to be run with others. One that cannot be
// stored is left out: the generation has failed for another reason.
func keepDraft(ctx context.Context, tx *storage.Tx, w *Work, r Result) (stored, error) {
	draft := *w
	draft.SuiteID = nil
	if !slices.Contains(w.Tags, DraftTag) {
		draft.Tags = append(slices.Clone(w.Tags[:min(len(w.Tags), authoring.MaxTags-1)]), DraftTag)
	}
	return store(ctx, tx, &draft, &r) // a copy: the code of the generation stays
}

// refusal returns the code and the text of why a test cannot be stored; "" when it was,
// or when the database is the reason.
func refusal(err error) (code, detail string) {
	var wrong *storage.InvalidError
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, authoring.ErrCaseChanged):
		return CodeCaseChanged, "the test case got another revision while this one was written; refine it again"
	case errors.Is(err, storage.ErrNotFound):
		return CodeCaseNotFound, "the test case was deleted while it was refined"
	case errors.As(err, &wrong):
		return CodeNotStored, "the test was written and cannot be stored: " + wrong.Error()
	}
	return "", ""
}

// create stores a new case. A suite that was deleted meanwhile is what it is to cases
// that were in it: they are in none afterwards.
func create(ctx context.Context, tx *storage.Tx, w *Work, v authoring.Revision) (made stored, err error) {
	n := authoring.NewCase{SuiteID: w.SuiteID, Name: w.Name, Tags: w.Tags, Settings: w.Settings, Revision: v}
	if n.SuiteID != nil {
		err := authoring.KeepSuite(ctx, tx, w.Writer, *n.SuiteID)
		if errors.Is(err, authoring.ErrSuiteNotFound) {
			n.SuiteID, err = nil, nil
		}
		if err != nil {
			return made, err
		}
	}
	if n.Team, err = teamOf(ctx, tx, w); err != nil {
		return made, err
	}
	c, err := authoring.CreateCase(ctx, tx, w.Writer, n)
	if err != nil {
		return made, err
	}
	latest, err := authoring.RevisionByID(ctx, tx, c.ID, "")
	if err != nil {
		return made, err
	}
	return stored{caseID: c.ID, revisionID: latest.ID}, nil
}

func teamOf(ctx context.Context, tx *storage.Tx, w *Work) (*uuid.UUID, error) {
	var team uuid.UUID
	err := storage.Wrap(tx.GetContext(ctx, &team, `select uuid from teams where organization_id = $1 and id = $2`,
		w.OrganizationID, w.TeamID), "team of a generation")
	if errors.Is(err, storage.ErrNotFound) {
		return nil, storage.Invalid("teamId", "the team was deleted meanwhile")
	}
	return &team, err
}

// refine stores a revision of the case that was refined.
func refine(ctx context.Context, tx *storage.Tx, w *Work, v authoring.Revision) (made stored, err error) {
	v.Intent = refinedIntent(w.Base.Intent, w.Intent)
	c, latest, err := authoring.RefineCase(ctx, tx, w.Writer, w.Base.CaseID, w.Base.ID, v)
	if err != nil {
		return made, err
	}
	return stored{caseID: c.ID, revisionID: latest.ID}, nil
}

// refinedIntent is what the whole test is for: a further sentence follows what was said
// before, as long as both fit.
func refinedIntent(before, further string) string {
	both := before + "\n" + further
	if before == "" || len([]rune(both)) > MaxIntent {
		return further
	}
	return both
}

const moveShownFiles = `
update generation_files set in_case = true, case_id = $2
where generation_id = $1 and id = any($3::uuid[])`

// moveFiles makes the screenshots that the steps show files of the case.
func moveFiles(ctx context.Context, tx *storage.Tx, id uuid.UUID, caseID string, steps []step.Step) error {
	var shown []uuid.UUID
	for i := range steps {
		if file, err := uuid.Parse(steps[i].ScreenshotID); err == nil {
			shown = append(shown, file)
		}
	}
	_, err := tx.ExecContext(ctx, moveShownFiles, id, caseID, storage.UUIDs(shown))
	return storage.Wrap(err, "move screenshots to test case "+caseID)
}

// unshownFiles are of a case whose oldest revisions have gone: only that one can have files
// that none shows.
const unshownFiles = `case_id = $1
	and (select max(number) from test_revisions where case_id = $1) > $2
	and not exists (
		select from test_revisions v cross join jsonb_array_elements(v.steps) as s(step)
		where v.case_id = $1 and s.step ->> 'screenshotId' = generation_files.id::text)`

// dropUnshown removes the files of a case that no revision of it shows any more, and
// returns their keys.
func dropUnshown(ctx context.Context, tx *storage.Tx, caseID string) ([]string, error) {
	return forgetRows(ctx, tx, unshownFiles, caseID, authoring.MaxRevisions)
}

// Fail ends a generation whose work could not even be read; see End.
func Fail(ctx context.Context, tx *storage.Tx, id uuid.UUID, code, detail string) (bool, error) {
	if code == "" {
		return false, fmt.Errorf("end of generation %s: no code", id)
	}
	n, err := storage.Affected(tx.ExecContext(ctx,
		`update test_generations set state = 'FAILED', error_code = $2, error = $3, finished_at = now()
		where id = $1 and state in ('QUEUED', 'IN_PROGRESS')`, id, code, Message(detail)))
	return n == 1, err
}
