package distribution

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/text"
	"github.com/slipway-qa/slipway/storage/setting"
)

const copyProjectGroups = `
insert into project_groups (project_id, tester_group_id)
select $2, tester_group_id from project_groups where project_id = $1 order by tester_group_id`

const copyProjectTesters = `
insert into project_testers (project_id, user_id)
select $2, user_id from project_testers where project_id = $1 order by user_id`

// copyGrants gives a new app the groups and testers of another one.
func copyGrants(ctx context.Context, tx *storage.Tx, from, to int64) error {
	for _, query := range []string{copyProjectGroups, copyProjectTesters} {
		if _, err := tx.ExecContext(ctx, query, from, to); err != nil {
			return storage.Wrap(err, "copy grants of the project")
		}
	}
	return nil
}

// CopyProject creates a copy of an app with its builds' latest one: name, folder,
// description, mode, grants; no slug. Without a name the copy is called as the app
// with " copy" behind it, so that lists distinguish them; uploads that name only the
// package still go to the original.
func CopyProject(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, newName, folder *string,
	allTesters *bool) (*Project, error) {
	from, err := lockProject(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	settings, err := setting.Of(ctx, tx, w.OrganizationID)
	if err != nil {
		return nil, err
	}
	p := *from
	p.ID, p.Slug, p.IconFileID = 0, "", nil // the icon comes with the build
	change.Set(&p.AllTesters, allTesters)
	if settings.RequireLogin {
		p.LandingPageMode = landing.Closed
	}
	p.Name = storage.Cut(from.Name, text.MaxLine-len(copySuffix)) + copySuffix
	change := ProjectChange{Name: newName, Folder: folder}
	if err := change.apply(&p); err != nil {
		return nil, err
	}
	if p.FolderID, err = ensureFolder(ctx, tx, p.TeamID, p.FolderPath); err != nil {
		return nil, err
	}
	if err := p.markCopy(ctx, tx); err != nil {
		return nil, err
	}
	if err := p.insert(ctx, tx); err != nil {
		return nil, err
	}
	if err := copyGrants(ctx, tx, id, p.ID); err != nil {
		return nil, err
	}
	if err := landing.Copy(ctx, tx, "project_id", id, p.ID); err != nil {
		return nil, err
	}
	if from.LatestBuildID != 0 {
		if _, err := duplicate(ctx, tx, w, from.LatestBuildID, p.ID, ""); err != nil {
			return nil, err
		}
	}
	if err := account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.ProjectCopied, Actor: w.Actor,
		Subject: projectSubject(p.ID, p.Name), Detail: map[string]any{"id": p.ID, "from": id, "folder_name": p.FolderPath}}); err != nil {
		return nil, err
	}
	return ProjectByID(ctx, tx, w.OrganizationID, p.ID)
}

const copySuffix = " copy"
