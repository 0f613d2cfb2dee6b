package commitstatus

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const settingOf = `
select ` + columns + `, p.team_id from commit_status_settings s
join projects p on p.id = s.project_id and p.deleted_at is null
where s.organization_id = $1 and s.project_id = $2`

// owned is a setting and the team of its app.
type owned struct {
	Setting
	TeamID int64 `db:"team_id"`
}

// ForProject reads the setting of an app, for an admin of its team; storage.ErrNotFound when
// the app is not there or has none.
func ForProject(ctx context.Context, q storage.Querier, w account.Writer, projectID int64) (*Setting, error) {
	var row owned
	if err := q.GetContext(ctx, &row, settingOf, w.OrganizationID, projectID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("commit status of project %d", projectID))
	}
	if !w.May(row.TeamID) {
		return nil, distribution.ErrNotTeamAdmin
	}
	return &row.Setting, nil
}

const lockTeamOf = `
select team_id from projects where organization_id = $1 and id = $2 and deleted_at is null for no key update`

// lockProject locks an app whose setting is to be changed; storage.ErrNotFound, then
// distribution.ErrNotTeamAdmin.
func lockProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) error {
	var team int64
	if err := tx.GetContext(ctx, &team, lockTeamOf, w.OrganizationID, projectID); err != nil {
		return storage.Wrap(err, fmt.Sprintf("project %d", projectID))
	}
	if !w.May(team) {
		return distribution.ErrNotTeamAdmin
	}
	return nil
}

const upsertSetting = `
insert into commit_status_settings as s (project_id, organization_id, revision, provider, url, repository, context, sealed_token)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (project_id) do update set revision = excluded.revision, provider = excluded.provider, url = excluded.url,
	repository = excluded.repository, context = excluded.context, sealed_token = excluded.sealed_token,
	last_sent_at = null, last_error = '', last_error_at = null, updated_at = now()
returning ` + columns

// Save creates or replaces the setting of an app; the setting is complete. A setting without
// a token keeps that of before, while provider and address stay: a token must not go to
// another server than it was given for.
func Save(ctx context.Context, tx *storage.Tx, w account.Writer, s Setting) (*Setting, error) {
	if err := lockProject(ctx, tx, w, s.ProjectID); err != nil {
		return nil, err
	}
	kept := s.Token == nil
	if kept {
		var err error
		if s.Token, err = keptToken(ctx, tx, &s); err != nil {
			return nil, err
		}
	}
	var after Setting
	err := tx.GetContext(ctx, &after, upsertSetting, s.ProjectID, w.OrganizationID, storage.NewID(), s.Provider, s.URL,
		s.Repository, s.Context, s.Token)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("save commit status of project %d", s.ProjectID))
	}
	return &after, audit(ctx, tx, w, s.ProjectID, account.CommitStatusChanged, map[string]any{"provider": after.Provider, "url": after.URL,
		"repository": after.Repository, "context": after.Context, "token_kept": kept})
}

func keptToken(ctx context.Context, tx *storage.Tx, s *Setting) ([]byte, error) {
	var before []Setting
	err := tx.SelectContext(ctx, &before, `select `+columns+` from commit_status_settings s where s.project_id = $1`, s.ProjectID)
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("commit status of project %d", s.ProjectID))
	}
	if len(before) == 0 {
		return nil, storage.Invalid("token", "is required")
	}
	if before[0].Provider != s.Provider || before[0].URL != s.URL {
		return nil, storage.Invalid("token", "is required when provider or url change")
	}
	return before[0].Token, nil
}

// Delete deletes the setting of an app with its token; storage.ErrNotFound without one.
// Statuses that were not sent yet are dropped.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) error {
	if err := lockProject(ctx, tx, w, projectID); err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `delete from commit_status_settings where project_id = $1`, projectID))
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("commit status of project %d: %w", projectID, storage.ErrNotFound)
	}
	return audit(ctx, tx, w, projectID, account.CommitStatusChanged, map[string]any{"deleted": true})
}

// Test reads the setting of an app for a test, and writes to the audit log that somebody
// makes one.
func Test(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) (*Setting, error) {
	s, err := ForProject(ctx, tx, w, projectID)
	if err != nil {
		return nil, err
	}
	return s, audit(ctx, tx, w, projectID, account.CommitStatusTested, map[string]any{"provider": s.Provider, "url": s.URL,
		"repository": s.Repository})
}

func audit(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64, of account.AuditType, detail map[string]any) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: of, Actor: w.Actor,
		Subject: fmt.Sprintf("project %d", projectID), Detail: detail})
}
