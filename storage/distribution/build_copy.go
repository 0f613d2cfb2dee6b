package distribution

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/distribution/text"
	"github.com/slipway-qa/slipway/storage/setting"
)

// BuildCopy states where a copy goes. Without Folder and AppName it stays in the
// project (v3); with Folder it goes to the app of the package in that folder of
// the same team, which is created if need be (v1). An AppName that the app in the
// folder does not have creates a new app of that name beside it.
type BuildCopy struct {
	Folder        *string // "": no folder
	AppName       string
	BuildGroups   grant.Groups
	ProjectGroups grant.Groups
	AllTesters    *bool
}

// CopiedBuild is a copy, with the names of the groups it has and those that no
// group has.
type CopiedBuild struct {
	Build                *Build
	Project              *Project
	Groups               []string
	InvalidGroups        []string
	ProjectGroups        []string
	InvalidProjectGroups []string
}

// CopyBuild creates a build that names the same files.
func CopyBuild(ctx context.Context, tx *storage.Tx, w account.Writer, projectID, id int64, c BuildCopy) (*CopiedBuild, error) {
	from, err := BuildByID(ctx, tx, w.OrganizationID, projectID, id)
	if err != nil {
		return nil, err
	}
	if !w.May(from.TeamID) {
		return nil, ErrNoAccess
	}
	if c.AppName, err = storage.Line("app_name", c.AppName, text.MaxLine); err != nil {
		return nil, err
	}
	p, err := c.target(ctx, tx, w, from)
	if err != nil {
		return nil, err
	}
	copyID, err := duplicate(ctx, tx, w, id, p.ID, c.AppName)
	if err != nil {
		return nil, err
	}
	result := &CopiedBuild{}
	if err := c.grant(ctx, tx, w.Actor, from, p, copyID, result); err != nil {
		return nil, err
	}
	if result.Groups, err = grant.BuildGroups(ctx, tx, copyID); err != nil {
		return nil, err
	}
	if result.ProjectGroups, err = grant.ProjectGroups(ctx, tx, p.ID); err != nil {
		return nil, err
	}
	if result.Project, err = ProjectByID(ctx, tx, w.OrganizationID, p.ID); err != nil {
		return nil, err
	}
	if result.Build, err = BuildByID(ctx, tx, w.OrganizationID, p.ID, copyID); err != nil {
		return nil, err
	}
	return result, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildCopied,
		Actor: w.Actor, Subject: BuildSubject(copyID, result.Build.AppName, from.Version),
		Detail: map[string]any{"id": copyID, "from": id, "project_id": p.ID, "from_project_id": from.ProjectID}})
}

// copyTargets finds, of the team's apps of the package in the folder, the build's own, then
// one of its own's name, then the oldest.
const copyTargets = `
select p.id from projects p left join folders f on f.id = p.folder_id
where p.organization_id = $1 and p.deleted_at is null and p.team_id = $2
	and p.package_name = $3 and p.platform = $4 and lower(coalesce(f.path, '')) = lower($5)
	and (($3 <> '' and $6 = '') or lower(p.name) = lower(coalesce(nullif($6, ''), $7)))
order by p.id <> $8, lower(p.name) <> lower($7), p.id limit 1`

// target returns the project of the copy, locked or new.
func (c *BuildCopy) target(ctx context.Context, tx *storage.Tx, w account.Writer, from *Build) (*projectRow, error) {
	if c.Folder == nil && c.AppName == "" {
		return lockProject(ctx, tx, w, from.ProjectID)
	}
	source, err := ProjectByID(ctx, tx, w.OrganizationID, from.ProjectID)
	if err != nil {
		return nil, err
	}
	folder := source.FolderPath
	if c.Folder != nil {
		if folder, err = text.Folder(*c.Folder); err != nil {
			return nil, err
		}
	}
	d := destination{tx: tx, w: w, folder: &folder, app: &app{packageName: source.PackageName,
		platform: source.Platform, name: cmp.Or(c.AppName, source.Name)}}
	if err := d.locks(ctx); err != nil {
		return nil, err
	}
	for range maxTries {
		var ids []int64
		err := tx.SelectContext(ctx, &ids, copyTargets, w.OrganizationID, source.TeamID, source.PackageName,
			source.Platform, folder, c.AppName, source.Name, source.ID)
		if err != nil {
			return nil, storage.Wrap(err, "look for the app in the folder")
		}
		if len(ids) == 0 {
			return c.newApp(ctx, &d, w.Actor, source)
		}
		p, err := lockProject(ctx, tx, w, ids[0])
		if !errors.Is(err, storage.ErrNotFound) {
			return p, err
		}
	}
	return nil, fmt.Errorf("app in folder %q: %w", folder, storage.ErrConflict)
}

// newApp creates an app like the source.
func (c *BuildCopy) newApp(ctx context.Context, d *destination, actor account.Actor, source *Project) (*projectRow, error) {
	settings, err := setting.Of(ctx, d.tx, d.w.OrganizationID)
	if err != nil {
		return nil, err
	}
	d.mode = source.LandingPageMode
	if settings.RequireLogin {
		d.mode = landing.Closed
	}
	p, err := d.fresh(ctx, source.TeamID)
	if err != nil {
		return nil, err
	}
	if err := p.markCopy(ctx, d.tx); err != nil {
		return nil, err
	}
	p.Description, p.AllTesters = source.Description, source.AllTesters && (c.AllTesters == nil || *c.AllTesters)
	if err := p.save(ctx, d.tx, actor, &projectRow{}); err != nil {
		return nil, err
	}
	if err := landing.Copy(ctx, d.tx, "project_id", source.ID, p.ID); err != nil {
		return nil, err
	}
	return p, copyGrants(ctx, d.tx, source.ID, p.ID)
}

// grant opens the copy to the groups that were requested; without, it has those of
// the original.
func (c *BuildCopy) grant(ctx context.Context, tx *storage.Tx, actor account.Actor, from *Build, p *projectRow, copyID int64,
	result *CopiedBuild) error {
	var err error
	to := grant.ToBuild(p.OrganizationID, copyID)
	if result.InvalidGroups, err = to.Replace(ctx, tx, actor, c.BuildGroups, from.AllTesters); err != nil {
		return err
	}
	if err := to.Open(ctx, tx, actor, c.AllTesters); err != nil {
		return err
	}
	result.InvalidProjectGroups, err = grant.ToProject(p.OrganizationID, p.ID).Replace(ctx, tx, actor, c.ProjectGroups, p.AllTesters)
	return err
}

const copyBuild = `
insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, package_name,
	kind, min_os_version, target_os, permissions, abis, signer, provisioning, warnings, verification, simulator, cautions, image_uuids, has_sdk, state, state_reason,
	expires_at, file_id, file_name, icon_file_id, symbols_file_id, symbols_name, symbols, release_notes, tags,
	metadata, auto_update, all_testers, options, uploaded_by, uploaded_by_name, uploaded_via)
select organization_id, $2, $3, coalesce(nullif($4, ''), app_name), version, version_code, platform, package_name,
	kind, min_os_version, target_os, permissions, abis, signer, provisioning, warnings, verification, simulator, cautions, image_uuids, has_sdk, state, state_reason,
	expires_at, file_id, file_name, icon_file_id, symbols_file_id, symbols_name, symbols, release_notes, tags,
	metadata, auto_update, all_testers, options, nullif($5::bigint, 0), $6, 'copy'
from builds where id = $1
returning id`

// buildFiles takes a shared lock, which lets others copy the build, and none delete it.
const buildFiles = `
select file_id, icon_file_id, symbols_file_id from builds where id = $1 and deleted_at is null for share`

// duplicate writes a build with the files and grants of another into a project
// that is locked.
func duplicate(ctx context.Context, tx *storage.Tx, w account.Writer, id, projectID int64, appName string) (int64, error) {
	var files struct {
		File    int64  `db:"file_id"`
		Icon    *int64 `db:"icon_file_id"`
		Symbols *int64 `db:"symbols_file_id"`
	}
	if err := tx.GetContext(ctx, &files, buildFiles, id); err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("build %d", id))
	}
	if err := storedfile.ShareLock(ctx, tx, &files.File, files.Icon, files.Symbols); err != nil {
		return 0, err
	}
	var copyID int64
	err := tx.GetContext(ctx, &copyID, copyBuild, id, projectID, newToken(), appName, w.Actor.UserID, text.Scrub(w.Actor.Name, text.MaxLine))
	if err != nil {
		return 0, storage.Wrap(err, fmt.Sprintf("copy build %d", id))
	}
	_, err = tx.ExecContext(ctx, `insert into build_groups (build_id, tester_group_id)
		select $2, tester_group_id from build_groups where build_id = $1 order by tester_group_id`, id, copyID)
	if err != nil {
		return 0, storage.Wrap(err, "copy grants of the build")
	}
	if err := landing.Copy(ctx, tx, "build_id", id, copyID); err != nil {
		return 0, err
	}
	return copyID, recount(ctx, tx, projectID, 1)
}
