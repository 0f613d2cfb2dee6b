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

const lockProjectOf = `
select team_id, name, platform from projects where organization_id = $1 and id = $2 and deleted_at is null for no key update`

// app is what a setting needs to know of its app.
type app struct {
	TeamID   int64  `db:"team_id"`
	Name     string `db:"name"`
	Platform string `db:"platform"`
}

// lockProject locks an app whose setting is to be changed; storage.ErrNotFound, then
// distribution.ErrNotTeamAdmin.
func lockProject(ctx context.Context, tx *storage.Tx, w account.Writer, projectID int64) (*app, error) {
	var a app
	if err := tx.GetContext(ctx, &a, lockProjectOf, w.OrganizationID, projectID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("project %d", projectID))
	}
	if !w.May(a.TeamID) {
		return nil, distribution.ErrNotTeamAdmin
	}
	return &a, nil
}

const upsertSetting = `
insert into commit_status_settings as s (project_id, organization_id, revision, provider, url, repository, context, sealed_token)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (project_id) do update set revision = excluded.revision, provider = excluded.provider, url = excluded.url,
	repository = excluded.repository, context = excluded.context, sealed_token = excluded.sealed_token,
	last_sent_at = null, last_error = '', last_error_at = null, updated_at = now()
returning ` + columns

// Save creates or replaces the setting of an app; the setting is complete, but for the context,
// which is named after the app where it is empty. A setting without
// a token keeps that of before, while provider and address stay: a token must not go to
// another server than it was given for.
func Save(ctx context.Context, tx *storage.Tx, w account.Writer, s Setting) (*Setting, error) {
	a, err := lockProject(ctx, tx, w, s.ProjectID)
	if err != nil {
		return nil, err
	}
	if s.Context == "" {
		s.Context = defaultContext(a.Name, a.Platform)
	}
	kept := s.Token == nil
	if kept {
		if s.Token, err = keptToken(ctx, tx, &s); err != nil {
			return nil, err
		}
	}
	var after Setting
	err = tx.GetContext(ctx, &after, upsertSetting, s.ProjectID, w.OrganizationID, storage.NewID(), s.Provider, s.URL,
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
	if _, err := lockProject(ctx, tx, w, projectID); err != nil {
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
