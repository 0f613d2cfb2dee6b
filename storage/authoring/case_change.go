package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// CaseChange is what of a case to change; nil members stay.
type CaseChange struct {
	Name *string
	Tags *[]string
	// Settings returns the settings from those that are stored.
	Settings func(capability.RunSettings) capability.RunSettings
	// Steps, Data, Intent and Description make a new revision unless they are those of the latest.
	Steps               *[]step.Step
	SetUp, TearDown     *[]step.Step
	Data                *DataChange
	Intent, Description *string
	// BaseRevision and BaseUpdate are the latest revision and the time of update, in
	// milliseconds, that the change was made from: ErrCaseChanged where the case has others.
	// "" and nil: whatever they are.
	BaseRevision string
	BaseUpdate   *time.Time
}

// madeFrom refuses a change of a case that is not in the state that it was made from.
func (c *CaseChange) madeFrom(e *editedCase) error {
	if c.BaseRevision != "" && c.BaseRevision != e.latest.ID ||
		c.BaseUpdate != nil && !c.BaseUpdate.Truncate(time.Millisecond).Equal(e.UpdatedAt.Truncate(time.Millisecond)) {
		return ErrCaseChanged
	}
	return nil
}

// editedCase is a case that is being changed, locked, with its latest revision.
type editedCase struct {
	*Case
	latest *Revision // without steps and id in a case that has none
	detail map[string]any
}

// editCase locks a case that the writer may change and reads it.
func editCase(ctx context.Context, tx *storage.Tx, w account.Writer, id string) (*editedCase, error) {
	if _, err := LockCase(ctx, tx, w, id, "no key update"); err != nil {
		return nil, err
	}
	c, err := CaseByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	latest, err := RevisionByID(ctx, tx, id, "")
	if errors.Is(err, storage.ErrNotFound) {
		latest, err = &Revision{CaseID: id}, nil
	}
	return &editedCase{Case: c, latest: latest, detail: map[string]any{}}, err
}

// add stores a revision as the latest one.
func (e *editedCase) add(ctx context.Context, tx *storage.Tx, v Revision) error {
	if err := addRevision(ctx, tx, e.OrganizationID, e.ID, &v); err != nil {
		return err
	}
	e.latest, e.detail["revision"] = &v, v.ID
	return nil
}

const updateCase = `
update test_cases set name = $2, tags = $3, run_settings = $4, runnable = $5, modifier_uuid = $6, updated_at = now()
where id = $1`

// save writes the case, when anything of it has changed, with an audit row.
func (e *editedCase) save(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType) (*Case, error) {
	if len(e.detail) == 0 {
		return e.Case, nil
	}
	settings, err := document("runSettings", e.Settings, maxSettings)
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, updateCase, e.ID, e.Name, pq.Array(e.Tags), settings, len(e.latest.Steps) > 0 && e.Runnable(), w.UserUUID)
	if err != nil {
		return nil, storage.Wrap(err, "update test case "+e.ID)
	}
	e.detail["name"] = e.Name
	if err := auditCase(ctx, tx, w, what, e.ID, e.detail); err != nil {
		return nil, err
	}
	return CaseByID(ctx, tx, w.OrganizationID, e.ID)
}

// UpdateCase changes a case. A change of nothing leaves the time of update and the
// modifier. ErrCaseChanged when the case is not what the change was made from.
func UpdateCase(ctx context.Context, tx *storage.Tx, w account.Writer, id string, c CaseChange) (*Case, error) {
	e, err := editCase(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	if err := c.madeFrom(e); err != nil {
		return nil, err
	}
	if err := e.describe(c); err != nil {
		return nil, err
	}
	if err := e.revise(ctx, tx, c); err != nil {
		return nil, err
	}
	return e.save(ctx, tx, w, account.TestCaseUpdated)
}

// describe changes name, tags and settings.
func (e *editedCase) describe(c CaseChange) error {
	if c.Name != nil {
		name, err := storage.Name("name", *c.Name, MaxName)
		if err != nil {
			return err
		}
		if name != e.Name {
			e.detail["from"] = e.Name
		}
		e.Name = name
	}
	if c.Tags != nil {
		tags, err := CleanTags(*c.Tags)
		if err != nil {
			return err
		}
		if !slices.Equal(tags, e.Tags) {
			e.detail["tags"] = tags
		}
		e.Tags = tags
	}
	if c.Settings == nil {
		return nil
	}
	settings := c.Settings(e.Settings)
	if len(settings.RunTargets) > MaxTargets {
		return storage.Invalid("runSettings.runTargets", "must be at most %d", MaxTargets)
	}
	if settings.RunTargets == nil {
		settings.RunTargets = []capability.Target{}
	}
	if !step.SameJSON(settings, e.Settings) {
		e.detail["settings"] = true
	}
	e.Settings = settings
	return nil
}

// revise stores a revision when its steps or texts are not those of the latest one.
func (e *editedCase) revise(ctx context.Context, tx *storage.Tx, c CaseChange) error {
	next := Revision{Intent: e.latest.Intent, DiscoveredIntent: e.latest.DiscoveredIntent, Description: e.latest.Description,
		Steps: e.latest.Steps, SetUp: e.latest.SetUp, TearDown: e.latest.TearDown, DataID: e.latest.DataID}
	if c.Intent != nil {
		next.Intent = *c.Intent
	}
	if c.Description != nil {
		next.Description = *c.Description
	}
	for _, part := range []struct {
		given *[]step.Step
		steps *[]step.Step
	}{{c.Steps, &next.Steps}, {c.SetUp, &next.SetUp}, {c.TearDown, &next.TearDown}} {
		if part.given == nil {
			continue
		}
		steps, err := copySteps(*part.given)
		if err != nil {
			return err
		}
		step.KeepRecorded(*part.steps, steps)
		*part.steps = steps
	}
	columns, err := e.changeData(ctx, tx, c.Data, &next)
	if err != nil {
		return err
	}
	if err := checkColumns(&next, e.Settings.TestURL, columns); err != nil {
		return err
	}
	if sameID(next.DataID, e.latest.DataID) && next.Intent == e.latest.Intent && next.Description == e.latest.Description &&
		step.SameJSON(next.lists(), e.latest.lists()) {
		return nil
	}
	if err := e.add(ctx, tx, next); err != nil || sameID(next.DataID, e.latest.DataID) && c.Data == nil {
		return err
	}
	return rows.Forget(ctx, tx, e.ID)
}

// lists are the steps of a revision, none of them nil.
func (v *Revision) lists() [][]step.Step {
	return [][]step.Step{append([]step.Step{}, v.Steps...), append([]step.Step{}, v.SetUp...), append([]step.Step{}, v.TearDown...)}
}

// RestoreRevision makes an earlier revision the latest again, as a new one; the latest
// itself stays as it is.
func RestoreRevision(ctx context.Context, tx *storage.Tx, w account.Writer, id, revisionID string) (*Case, error) {
	e, err := editCase(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	v, err := RevisionByID(ctx, tx, id, revisionID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, ErrRevisionNotFound
	}
	if err != nil {
		return nil, err
	}
	if v.ID != e.latest.ID {
		if err := e.checkRows(ctx, tx, v); err != nil {
			return nil, err
		}
		if err := e.add(ctx, tx, *v); err != nil {
			return nil, err
		}
		e.detail["restored"] = revisionID
	}
	return e.save(ctx, tx, w, account.TestCaseUpdated)
}

// DuplicateCase makes a case with the tags, the settings and the latest revision of
// another one, whose steps keep their fingerprints. Results, screenshots, variables and
// healings stay with the other one. Team, SuiteID and Name are those of n.
func DuplicateCase(ctx context.Context, tx *storage.Tx, w account.Writer, id string, n NewCase) (*Case, error) {
	of, err := CaseByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	latest, err := RevisionByID(ctx, tx, id, "")
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if latest != nil {
		n.Revision = *latest
	}
	for _, steps := range [][]step.Step{n.Revision.Steps, n.Revision.SetUp, n.Revision.TearDown} {
		for i := range steps {
			steps[i].Result, steps[i].ScreenshotID = nil, ""
		}
	}
	n.Tags, n.Settings = of.Tags, of.Settings
	n.Settings.LastBuildName = ""
	return CreateCase(ctx, tx, w, n)
}

// copySteps returns steps that share nothing with those given.
func copySteps(steps []step.Step) ([]step.Step, error) {
	text, err := json.Marshal(steps)
	if err != nil {
		return nil, fmt.Errorf("copy steps: %w", err)
	}
	list := []step.Step{}
	return list, json.Unmarshal(text, &list)
}
