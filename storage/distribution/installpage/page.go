// Package installpage has what install pages show, to whom, and what follows from a download.
//
// A page is found by an app's slug, or the token of an app or a build (ByName). Who may
// install: a tester who was given the app, or whose group is granted to the app or to the
// build, every tester where all_testers is set on either, and every member of the organization
// above a tester (BuildAccess). LatestBuildsFor and AppsFor have the same rule for the builds
// of an app and for all apps, and read little however many there are.
//
// RecordDownload writes the count, the install, the audit entry, the invitation and the event
// in one transaction; *landing.ClosedError when the page lets no more through.
package installpage

import (
	"context"
	"errors"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// Landing is what an install page shows.
type Landing struct {
	Project *distribution.Project
	// Build is the named one, or the project's latest, whoever may have it and
	// whatever its state (see LatestBuildsFor); nil when it has none.
	Build *distribution.Build
	// OfBuild: the name is a build's, not the project's.
	OfBuild          bool
	OrganizationName string
	// LoginRequired is the organization's setting.
	LoginRequired bool
}

// landingByName reads one unique index in each branch. Tokens are in lower case.
const landingByName = `
with named as (
	select id as project_id, 0::bigint as named_build from projects
	where lower(landing_page_slug) = lower($1) and deleted_at is null
	union all
	select id, 0 from projects where token = lower($1) and deleted_at is null
	union all
	select project_id, id from builds where token = lower($1) and deleted_at is null
)
select ` + distribution.ProjectColumns + `, named.named_build, o.name as organization_name, o.require_login
from named join projects p on p.id = named.project_id and p.deleted_at is null
join organizations o on o.id = p.organization_id` + distribution.ProjectTables + `
limit 1`

// ByName finds a page by slug (in any case), project token or build token.
func ByName(ctx context.Context, q storage.Querier, pageName string) (*Landing, error) {
	if _, err := storage.Name("name", pageName, text.MaxLine); err != nil {
		return nil, fmt.Errorf("landing page: %w", storage.ErrNotFound)
	}
	var row struct {
		distribution.Project
		NamedBuild       int64  `db:"named_build"`
		OrganizationName string `db:"organization_name"`
		RequireLogin     bool   `db:"require_login"`
	}
	if err := q.GetContext(ctx, &row, landingByName, pageName); err != nil {
		return nil, storage.Wrap(err, "landing page")
	}
	page := &Landing{Project: &row.Project, OfBuild: row.NamedBuild != 0, OrganizationName: row.OrganizationName,
		LoginRequired: row.RequireLogin}
	id := row.LatestBuildID
	if page.OfBuild {
		id = row.NamedBuild
	}
	if id == 0 {
		return page, nil
	}
	var err error
	page.Build, err = distribution.BuildByID(ctx, q, row.OrganizationID, row.Project.ID, id)
	if errors.Is(err, storage.ErrNotFound) && !page.OfBuild {
		return page, nil // deleted since
	}
	return page, err
}
