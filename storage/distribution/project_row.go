package distribution

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/change"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
)

// projectRow is a project with what only changes of it need.
type projectRow struct {
	Project
	FolderID   *int64 `db:"folder_id"`
	IconFileID *int64 `db:"icon_file_id"`
}

// ProjectColumns are those of a Project, of projects p with ProjectTables.
const ProjectColumns = `p.id, p.organization_id, p.team_id, coalesce(pf.path, '') as folder_path, p.name,
	p.package_name, p.platform, p.description, p.token, coalesce(p.landing_page_slug, '') as slug,
	p.landing_page_mode, p.all_testers, p.retention_builds, p.retention_days, coalesce(pi.object_key, '') as icon_key, p.build_count,
	coalesce(p.latest_build_id, 0) as latest_build_id, coalesce(p.duplicate_of, 0) as duplicate_of, p.created_at, p.updated_at,
	coalesce(pl.installs, 0) as page_installs, pl.expires_at as page_expires_at, pl.max_installs as page_max_installs,
	coalesce(pl.password_hash, '') as page_password`

// ProjectTables are joined to projects p.
const ProjectTables = `
left join folders pf on pf.id = p.folder_id
left join files pi on pi.id = p.icon_file_id
left join page_limits pl on pl.project_id = p.id`

const projectByID = `
select ` + ProjectColumns + `
from projects p` + ProjectTables + `
where p.organization_id = $1 and p.id = $2 and p.deleted_at is null`

// ProjectByID reads a project of the organization.
func ProjectByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Project, error) {
	var p Project
	if err := q.GetContext(ctx, &p, projectByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("project %d", id))
	}
	return &p, nil
}

// projectForChange takes a lock that lets rows that name the project be written, but not its
// counters.
const projectForChange = `
select ` + ProjectColumns + `, p.folder_id, p.icon_file_id
from projects p` + ProjectTables + `
where p.organization_id = $1 and p.id = $2 and p.deleted_at is null
for no key update of p`

// lockProject reads a project to change it; ErrNotFound, then ErrNoAccess.
func lockProject(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) (*projectRow, error) {
	var p projectRow
	if err := tx.GetContext(ctx, &p, projectForChange, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("project %d", id))
	}
	if !w.May(p.TeamID) {
		return nil, ErrNoAccess
	}
	return &p, nil
}

// MayChangeProject locks an app that the writer may change; ErrNotFound, then
// ErrNoAccess.
func MayChangeProject(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	_, err := lockProject(ctx, tx, w, id)
	return err
}

const insertProject = `
insert into projects (organization_id, team_id, folder_id, name, package_name, platform, description, token,
	landing_page_slug, landing_page_mode, all_testers, icon_file_id, duplicate_of,
	retention_builds, retention_days)
values ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, ''), $10, $11, $12, nullif($13::bigint, 0), $14, $15)
returning id`

// insert writes a new project and returns its id.
func (p *projectRow) insert(ctx context.Context, tx *storage.Tx) error {
	err := tx.GetContext(ctx, &p.ID, insertProject, p.OrganizationID, p.TeamID, p.FolderID, p.Name, p.PackageName,
		p.Platform, p.Description, newToken(), p.Slug, p.LandingPageMode, p.AllTesters, p.IconFileID, p.DuplicateOf,
		p.RetentionBuilds, p.RetentionDays)
	return projectError(err, "create project "+p.Name)
}

// sameApp finds the app that uploads go to; a copy stands beside it.
const sameApp = `
select id from projects
where organization_id = $1 and team_id = $2 and coalesce(folder_id, 0) = coalesce($3::bigint, 0) and package_name = $4
	and lower(platform) = lower($5) and package_name <> '' and deleted_at is null and duplicate_of is null
limit 1`

// markCopy finds the app that a copy is a second one of; the copy is not written yet.
func (p *projectRow) markCopy(ctx context.Context, tx *storage.Tx) error {
	var ids []int64
	err := tx.SelectContext(ctx, &ids, sameApp, p.OrganizationID, p.TeamID, p.FolderID, p.PackageName, p.Platform)
	p.DuplicateOf = 0
	if len(ids) > 0 {
		p.DuplicateOf = ids[0]
	}
	return storage.Wrap(err, "look for the app of a copy")
}

const updateProject = `
update projects set team_id = $2, folder_id = $3, name = $4, package_name = $5, platform = $6, description = $7,
	landing_page_slug = nullif($8, ''), landing_page_mode = $9, retention_builds = $10, retention_days = $11, updated_at = now()
where id = $1`

// update writes what requests may change.
func (p *projectRow) update(ctx context.Context, tx *storage.Tx) error {
	_, err := tx.ExecContext(ctx, updateProject, p.ID, p.TeamID, p.FolderID, p.Name, p.PackageName, p.Platform,
		p.Description, p.Slug, p.LandingPageMode, p.RetentionBuilds, p.RetentionDays)
	return projectError(err, fmt.Sprintf("change project %d", p.ID))
}

// save writes a new project (before has no id), or what differs from before; the
// lock of a slug is held.
func (p *projectRow) save(ctx context.Context, tx *storage.Tx, actor account.Actor, before *projectRow) error {
	c := p.differences(before)
	if before.ID != 0 && !c.Any() {
		return nil
	}
	if p.Slug != before.Slug {
		if err := slugFree(ctx, tx, p.Slug, before.ID); err != nil {
			return err
		}
	}
	event := account.Event{OrganizationID: p.OrganizationID, Type: account.ProjectUpdated, Actor: actor, Detail: c}
	var err error
	if before.ID == 0 {
		event.Type, event.Detail = account.ProjectCreated, c.To
		err = p.insert(ctx, tx)
	} else {
		err = p.update(ctx, tx)
	}
	if err != nil {
		return err
	}
	event.Subject = projectSubject(p.ID, p.Name)
	return account.Audit(ctx, tx, event)
}

func projectSubject(id int64, name string) string { return fmt.Sprintf("project %d (%s)", id, name) }

// BuildSubject is what the audit log calls a build.
func BuildSubject(id int64, name, version string) string {
	return fmt.Sprintf("build %d (%s)", id, strings.TrimSpace(name+" "+version))
}

// differences are what an audit row contains.
func (p *projectRow) differences(from *projectRow) change.Diff {
	var c change.Diff
	c.Note("team_id", from.TeamID, p.TeamID)
	c.Note("folder_name", from.FolderPath, p.FolderPath)
	c.Note("name", from.Name, p.Name)
	c.Note("package_name", from.PackageName, p.PackageName)
	c.Note("platform", from.Platform, p.Platform)
	c.Note("description", from.Description, p.Description)
	c.Note("landing_page_slug", from.Slug, p.Slug)
	c.Note("landing_page_mode", from.LandingPageMode, p.LandingPageMode)
	p.Retention.Note(&c, from.Retention)
	return c
}

// recountProject finds the newest build that is left, and its icon: the first of the newest
// hundred that has one.
const recountProject = `
update projects set build_count = build_count + $2, updated_at = now(),
	latest_build_id = (select id from builds where ` + ofProject + NewestFirst + ` limit 1),
	icon_file_id = (select icon_file_id from (select id, icon_file_id from builds
		where ` + ofProject + NewestFirst + ` limit 100) newest
		where icon_file_id is not null order by id desc limit 1)
where id = $1`

// recount keeps a project's counter, latest build and icon after builds were
// added or deleted; the caller holds the project's lock.
func recount(ctx context.Context, tx *storage.Tx, projectID int64, more int) error {
	_, err := tx.ExecContext(ctx, recountProject, projectID, more)
	return storage.Wrap(err, fmt.Sprintf("recount project %d", projectID))
}

// projectPage is the owner of the limits of an app.
func projectPage(p *Project) landing.Owner {
	return landing.Owner{OrganizationID: p.OrganizationID, ProjectID: &p.ID, Event: account.ProjectUpdated,
		Subject: projectSubject(p.ID, p.Name)}
}
