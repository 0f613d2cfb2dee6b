package generation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// begin drops what an attempt before has found out: this one begins anew.
const begin = `
update test_generations set state = 'IN_PROGRESS', started_at = coalesce(started_at, now()), steps = '[]', reasoning = '[]',
	discovered_intent = '', description = '', changes = null, model = null, findings = null
where id = $1 and state in ('QUEUED', 'IN_PROGRESS')
returning organization_id, team_id, user_uuid, coalesce(actor_user_id, 0) as actor_user_id, actor_name, name, tags, suite_id,
	run_settings, target, tunnel, intent, max_steps, coalesce(base_case_id, '') as base_case_id, keep_draft,
	coalesce(nullif(explore, ''), (select generation_explore from organizations o where o.id = test_generations.organization_id)) as explore,
	extract(epoch from deadline - clock_timestamp())::float8 as left_seconds`

type workRow struct {
	OrganizationID int64          `db:"organization_id"`
	TeamID         int64          `db:"team_id"`
	UserUUID       uuid.UUID      `db:"user_uuid"`
	ActorUserID    int64          `db:"actor_user_id"`
	ActorName      string         `db:"actor_name"`
	Name           string         `db:"name"`
	Tags           pq.StringArray `db:"tags"`
	SuiteID        *uuid.UUID     `db:"suite_id"`
	Settings       []byte         `db:"run_settings"`
	Target         []byte         `db:"target"`
	Tunnel         string         `db:"tunnel"`
	Intent         string         `db:"intent"`
	MaxSteps       int            `db:"max_steps"`
	BaseCaseID     string         `db:"base_case_id"`
	Explore        string         `db:"explore"`
	KeepDraft      bool           `db:"keep_draft"`
	Left           float64        `db:"left_seconds"`
}

// Begin marks a generation as IN_PROGRESS and returns what a worker needs. It returns
// ErrConflict when the generation has ended, and ErrNotFound when it, or the case that
// it refines, is gone. The files of an attempt that was lost are dropped; the keys of
// their objects are returned, to delete after the commit.
func Begin(ctx context.Context, tx *storage.Tx, id uuid.UUID) (w *Work, lost []string, err error) {
	var row workRow
	err = storage.Wrap(tx.GetContext(ctx, &row, begin, id), "begin generation "+id.String())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil, endedOrGone(ctx, tx, id)
	}
	if err != nil {
		return nil, nil, err
	}
	if w, err = row.work(id); err != nil {
		return nil, nil, err
	}
	if row.BaseCaseID != "" {
		if w.Base, err = startFromLatest(ctx, tx, id, row.OrganizationID, row.BaseCaseID); err != nil {
			return nil, nil, err
		}
	}
	lost, err = forgetRows(ctx, tx, `generation_id = $1`, id)
	return w, lost, err
}

func endedOrGone(ctx context.Context, tx *storage.Tx, id uuid.UUID) error {
	var there bool
	err := tx.GetContext(ctx, &there, `select exists (select from test_generations where id = $1)`, id)
	switch {
	case err != nil:
		return storage.Wrap(err, "generation "+id.String())
	case there:
		return fmt.Errorf("generation %s has ended: %w", id, storage.ErrConflict)
	}
	return fmt.Errorf("generation %s: %w", id, storage.ErrNotFound)
}

// startFromLatest notes the latest revision of a case as the one that is refined.
func startFromLatest(ctx context.Context, tx *storage.Tx, id uuid.UUID, organizationID int64, caseID string) (*authoring.Revision, error) {
	if _, err := authoring.CaseByID(ctx, tx, organizationID, caseID); err != nil {
		return nil, err
	}
	base, err := authoring.RevisionByID(ctx, tx, caseID, "")
	if errors.Is(err, storage.ErrNotFound) {
		base, err = &authoring.Revision{CaseID: caseID}, nil // a case without any
	}
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, `update test_generations set base_revision_id = $2 where id = $1`, id, base.ID)
	return base, storage.Wrap(err, "note the revision that is refined")
}

func (r *workRow) work(id uuid.UUID) (*Work, error) {
	w := &Work{ID: id, OrganizationID: r.OrganizationID, TeamID: r.TeamID, Name: r.Name, Tags: r.Tags, SuiteID: r.SuiteID,
		Tunnel: r.Tunnel, Intent: r.Intent, MaxSteps: r.MaxSteps, Explore: r.Explore, KeepDraft: r.KeepDraft,
		Left: seconds(r.Left), Writer: r.writer()}
	if err := json.Unmarshal(r.Settings, &w.Settings); err != nil {
		return nil, fmt.Errorf("settings of generation %s: %w", id, err)
	}
	if err := json.Unmarshal(r.Target, &w.Target); err != nil {
		return nil, fmt.Errorf("target of generation %s: %w", id, err)
	}
	return w, nil
}

// writer is who asked for the generation. That they may write for the team, and put
// cases into the suite, was checked when the generation was accepted.
func (r *workRow) writer() account.Writer {
	return account.Writer{OrganizationID: r.OrganizationID, UserUUID: r.UserUUID, AllTeams: true, Teams: []int64{r.TeamID},
		Actor: account.Actor{UserID: r.ActorUserID, Name: r.ActorName}}
}

// Progress is what there is so far. Files are those that were not named before.
type Progress struct {
	Steps     []step.Step
	Reasoning []authoring.Reason
	Files     []File
}

const keepProgress = `
update test_generations set steps = $2, reasoning = $3, no_session = ''
where id = $1 and state = 'IN_PROGRESS'`

// KeepProgress stores what there is so far, for callers who look while the test is
// written. It returns false, and writes nothing, when the generation has ended.
func KeepProgress(ctx context.Context, tx *storage.Tx, id uuid.UUID, p Progress) (bool, error) {
	steps, reasoning, err := capturedDocuments(p.Steps, p.Reasoning)
	if err != nil {
		return false, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, keepProgress, id, steps, reasoning))
	if err != nil || n == 0 {
		return false, err
	}
	return true, addFiles(ctx, tx, id, p.Files)
}

// NoteNoSession stores why there is no session for now, so that a generation that ends
// for want of one says so.
func NoteNoSession(ctx context.Context, tx *storage.Tx, id uuid.UUID, text string) error {
	_, err := tx.ExecContext(ctx, `update test_generations set no_session = $2 where id = $1 and state = 'IN_PROGRESS'`, id, Message(text))
	return storage.Wrap(err, "note that there is no session")
}
