// Package crashproject stores the crash projects of organizations: what receives the crash
// reports of an app, with its tokens, the libraries that are not its own code, and the web
// origins that may post.
//
// A project with reports cannot be deleted, for the reports would belong to nobody; the error
// of Delete names what is in the way.
package crashproject

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// Project receives crash reports by its tokens.
type Project struct {
	ID             int64  `db:"id" json:"id"`
	OrganizationID int64  `db:"organization_id" json:"organization_id"`
	Name           string `db:"name" json:"name"`
	// ProjectID is the app whose crashes it receives; nil: none.
	ProjectID *int64 `db:"project_id" json:"project_id"`
	// Libraries are what is not its own code, beside the libraries that are known: see CleanLibraries.
	Libraries pq.StringArray `db:"libraries" json:"libraries"`
	// AllowedOrigins are those of the pages that may post to it; *: all.
	AllowedOrigins pq.StringArray `db:"allowed_origins" json:"allowed_origins"`
	CreatedAt      time.Time      `db:"created_at" json:"created_at"`
}

const crashProjectColumns = `id, organization_id, name, project_id, libraries, allowed_origins, created_at`

const insertCrashProject = `
insert into crash_projects (organization_id, name) values ($1, $2)
returning ` + crashProjectColumns

// Create creates a project without tokens. ErrConflict when the
// organization has one of that name.
func Create(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID int64, name string) (*Project, error) {
	name, err := account.CleanName("name", name)
	if err != nil {
		return nil, err
	}
	if err := account.LockOrganization(ctx, tx, organizationID); err != nil {
		return nil, err
	}
	var p Project
	if err := tx.GetContext(ctx, &p, insertCrashProject, organizationID, name); err != nil {
		return nil, storage.Wrap(err, "create crash project "+name)
	}
	return &p, account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.CrashProjectCreated, Actor: actor,
		Subject: p.Name, Detail: map[string]any{"id": p.ID}})
}

const crashProjects = `
select ` + crashProjectColumns + ` from crash_projects where organization_id = $1
order by id limit $2 offset $3`

// List lists an organization's crash projects, oldest first.
func List(ctx context.Context, q storage.Querier, organizationID int64, p storage.Page) ([]Project, error) {
	list := []Project{}
	err := q.SelectContext(ctx, &list, crashProjects, organizationID, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list crash projects")
}

const countCrashProjects = `select count(*) from crash_projects where organization_id = $1`

// Count counts an organization's crash projects.
func Count(ctx context.Context, q storage.Querier, organizationID int64) (int, error) {
	var n int
	err := q.GetContext(ctx, &n, countCrashProjects, organizationID)
	return n, storage.Wrap(err, "count crash projects")
}

const crashProjectByID = `
select ` + crashProjectColumns + ` from crash_projects where organization_id = $1 and id = $2`

// ByID reads a crash project of the organization.
func ByID(ctx context.Context, q storage.Querier, organizationID, id int64) (*Project, error) {
	var p Project
	err := q.GetContext(ctx, &p, crashProjectByID, organizationID, id)
	return &p, storage.Wrap(err, fmt.Sprintf("crash project %d", id))
}

// Change changes the members that are not nil.
type Change struct {
	Name      *string
	ProjectID *int64 // an app of the organization; 0: none
	Libraries *[]string
	// Origins are those of the pages that may post; none: only what is no page may.
	Origins *[]string
}

// updateCrashProject needs an app of the organization: no row comes back else.
const updateCrashProject = `
update crash_projects c set name = coalesce($3, c.name),
	project_id = case when $4::bigint is null then c.project_id else nullif($4, 0) end,
	libraries = coalesce($5::text[], c.libraries),
	allowed_origins = coalesce($6::text[], c.allowed_origins)
where c.organization_id = $1 and c.id = $2
returning ` + crashProjectColumns

const appExists = `
select count(*) from projects where organization_id = $1 and id = $2 and deleted_at is null`

// Update renames a crash project, ties it to an app or names its libraries. ErrConflict
// when another one has the name.
func Update(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64, c Change) (*Project, error) {
	if c.Name != nil {
		name, err := account.CleanName("name", *c.Name)
		if err != nil {
			return nil, err
		}
		c.Name = &name
	}
	if c.ProjectID != nil && *c.ProjectID != 0 {
		var n int
		if err := tx.GetContext(ctx, &n, appExists, organizationID, *c.ProjectID); err != nil {
			return nil, storage.Wrap(err, "app of a crash project")
		}
		if n == 0 {
			return nil, &storage.InvalidError{Field: "project_id", Msg: "is no app of the organization"}
		}
	}
	var libraries, origins any // nil: as they are
	if c.Libraries != nil {
		list, err := CleanLibraries(*c.Libraries)
		if err != nil {
			return nil, err
		}
		libraries = pq.Array(list)
	}
	if c.Origins != nil {
		list, err := cleanOrigins(*c.Origins)
		if err != nil {
			return nil, err
		}
		origins = pq.Array(list)
		tx.TokensChanged() // what is remembered of tokens has the origins
	}
	var p Project
	if err := tx.GetContext(ctx, &p, updateCrashProject, organizationID, id, c.Name, c.ProjectID, libraries, origins); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("update crash project %d", id))
	}
	return &p, account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.CrashProjectUpdated, Actor: actor,
		Subject: p.Name, Detail: map[string]any{"id": p.ID, "project_id": p.ProjectID, "libraries": len(p.Libraries),
			"allowed_origins": p.AllowedOrigins}})
}

// maxForgotten bounds the reports that one deletion of a project forgets: a transaction of
// some hundred milliseconds.
const maxForgotten = 20_000

// crashProjectUse reads what keeps a project of an organization from being deleted: a group,
// or a report that no purge removed; more removed reports than one deletion forgets; and, of
// one that has received something, a token that may send more. Each of the two partial indexes
// needs its own condition.
const crashProjectUse = `
with known as (
	(select crash_id from crash_uuids where crash_project_id = $1 and not conflict limit $2 + 1)
	union all
	(select crash_id from crash_uuids where crash_project_id = $1 and conflict limit $2 + 1))
select exists (select from crash_groups where organization_id = $3 and crash_project_id = $1)
	or exists (select from known k where not exists (select from crash_purged p where p.crash_id = k.crash_id)) as reports,
	(select count(*) from known) > $2 as many,
	exists (select from known) and exists (select from crash_tokens
		where crash_project_id = $1 and revoked_at is null and $4 = any(scopes)) as token`

// forgetProjectUUIDs removes what is remembered of the reports of a project that were purged:
// without the project nobody can send them again. Others stay, for projectUUIDsLeft to find.
const forgetProjectUUIDs = `
with first as (delete from crash_uuids u where crash_project_id = $1 and not conflict
		and exists (select from crash_purged p where p.crash_id = u.crash_id) returning crash_id),
	other as (delete from crash_uuids u where crash_project_id = $1 and conflict
		and exists (select from crash_purged p where p.crash_id = u.crash_id) returning crash_id)
delete from crash_purged where crash_id in (select crash_id from first union all select crash_id from other)`

const projectUUIDsLeft = `
select exists (select from crash_uuids where crash_project_id = $1 and not conflict)
	or exists (select from crash_uuids where crash_project_id = $1 and conflict)`

// What keeps a crash project from being deleted. Each is a storage.ErrConflict.
var (
	ErrHasReports   = fmt.Errorf("the crash project has reports: %w", storage.ErrConflict)
	ErrManyPurged   = fmt.Errorf("more than %d reports of the crash project were removed lately: %w", maxForgotten, storage.ErrConflict)
	ErrTokenInForce = fmt.Errorf("a token of the crash project for reports is in force: %w", storage.ErrConflict)
)

const lockCrashProject = `select true from crash_projects where organization_id = $1 and id = $2 for update`

const deleteCrashProject = `delete from crash_projects where organization_id = $1 and id = $2`

// Delete removes a crash project that has no reports: it has received none, or a purge
// removed all of them, at most maxForgotten, and its tokens for reports are revoked. Else it
// returns ErrHasReports, ErrManyPurged or ErrTokenInForce: reports would have no owner.
// Revoking its tokens ends it, and reports go with their age. Its symbols go with it: the keys of
// their objects are returned, which the caller deletes after the commit.
func Delete(ctx context.Context, tx *storage.Tx, actor account.Actor, organizationID, id int64) ([]string, error) {
	p, err := ByID(ctx, tx, organizationID, id)
	if err != nil {
		return nil, err
	}
	tx.TokensChanged()
	var locked bool
	// Symbols and tokens that are made now have a foreign key to the project, and wait for its
	// lock. Reports have none: one that is accepted meanwhile is found behind the deletion of
	// what was purged, and only a token that was in force a moment ago sends one later.
	if err := tx.GetContext(ctx, &locked, lockCrashProject, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("lock crash project %d", id))
	}
	if err := mayDelete(ctx, tx, organizationID, id); err != nil {
		return nil, err
	}
	objects, err := symbolfile.DeleteOfProject(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if err := forgetUUIDs(ctx, tx, id); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, deleteCrashProject, organizationID, id); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("delete crash project %d", id))
	}
	return objects, account.Audit(ctx, tx, account.Event{OrganizationID: organizationID, Type: account.CrashProjectDeleted, Actor: actor,
		Subject: p.Name, Detail: map[string]any{"id": p.ID}})
}

func mayDelete(ctx context.Context, tx *storage.Tx, organizationID, id int64) error {
	var use struct {
		Reports bool `db:"reports"`
		Many    bool `db:"many"`
		Token   bool `db:"token"`
	}
	if err := tx.GetContext(ctx, &use, crashProjectUse, id, maxForgotten, organizationID, ScopeErrorPost); err != nil {
		return storage.Wrap(err, "use of a crash project")
	}
	switch {
	case use.Reports:
		return ErrHasReports
	case use.Many:
		return ErrManyPurged
	case use.Token:
		return ErrTokenInForce
	}
	return nil
}

func forgetUUIDs(ctx context.Context, tx *storage.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, forgetProjectUUIDs, id); err != nil {
		return storage.Wrap(err, fmt.Sprintf("forget the reports of crash project %d", id))
	}
	var left bool
	if err := tx.GetContext(ctx, &left, projectUUIDsLeft, id); err != nil {
		return storage.Wrap(err, fmt.Sprintf("reports of crash project %d", id))
	}
	if left {
		return ErrHasReports
	}
	return nil
}
