package distribution

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/setting"
)

// Upload is a build to store. The objects are there already.
type Upload struct {
	Writer account.Writer
	Via    string // "upload", "v3"
	Client string // the program that sends, which stands in place of Via in what is shown; ""

	// Where: the project; else the app of the package in TeamID (0: found among
	// the writer's teams) and Folder (nil: any folder, a new app in none).
	ProjectID int64
	TeamID    int64
	// TeamRequired: without ProjectID and TeamID the organization must have one
	// team only (v3), else ErrNoTeam. Otherwise (v1) the package is looked for in
	// all the writer's teams (ErrSeveralTeams), and a new app goes to the first.
	TeamRequired bool
	Folder       *string

	Package  *artifact.Package // with the request's overrides applied
	File     storedfile.NewFile
	FileName string
	Icon     *storedfile.NewFile
	Symbols  *NewSymbols

	AppName      string // "" : the package's
	ReleaseNotes string
	Description  *string // of the project
	Tags         []string
	Metadata     map[string]string
	// Warnings are what the caller shortened or left out; they are stored with those of
	// the package, behind what is shortened here.
	Warnings        []string
	AutoUpdate      bool
	Options         string
	LandingPageMode string // "" : unchanged, for a new app the organization's default
	Slug            string // "" : unchanged
	// ProjectGroups replaces the project's grants (v3); BuildGroups grants the
	// build (v1).
	ProjectGroups  grant.Groups
	BuildGroups    grant.Groups
	IdempotencyKey string
}

// NewSymbols is the symbols file of a build.
type NewSymbols struct {
	File storedfile.NewFile
	Name string
	What *artifact.Symbols
}

// Uploaded is what an upload created.
type Uploaded struct {
	Project       *Project
	Build         *Build
	NewProject    bool
	InvalidGroups []string // names that no group has
	Policy        bool     // the app has a gate policy
}

// CreateBuild stores an upload: the project (found or created), the build, its
// files, grants and audit row. Uploads of one package into one organization that
// run at once create one project.
func CreateBuild(ctx context.Context, tx *storage.Tx, u Upload) (*Uploaded, error) {
	n, err := u.draft()
	if err != nil {
		return nil, err
	}
	settings, err := setting.Of(ctx, tx, u.Writer.OrganizationID)
	if err != nil {
		return nil, err
	}
	if err := settings.CheckMode(u.LandingPageMode); err != nil {
		return nil, err
	}
	key := uploadKey(u.Writer.OrganizationID, u.IdempotencyKey)
	if err := claimKey(ctx, tx, key); err != nil {
		return nil, err
	}
	if u.Symbols == nil {
		if err := LockImages(ctx, tx, u.Writer.OrganizationID, u.Package.Images); err != nil {
			return nil, err
		}
	}
	d := destination{tx: tx, w: u.Writer, app: n.app, projectID: u.ProjectID, teamID: u.TeamID,
		teamRequired: u.TeamRequired, folder: u.Folder, slug: u.Slug, mode: settings.NewAppMode()}
	p, err := d.find(ctx)
	if err != nil {
		return nil, err
	}
	made := p.ID == 0
	if err := n.settle(ctx, tx, u.Writer.Actor, p, &u); err != nil {
		return nil, err
	}
	if err := n.insert(ctx, tx, p); err != nil {
		return nil, err
	}
	bad, err := u.grant(ctx, tx, u.Writer.Actor, p, n.made.ID)
	if err != nil {
		return nil, err
	}
	if err := recount(ctx, tx, p.ID, 1); err != nil {
		return nil, err
	}
	if err := setKeyResult(ctx, tx, key, n.made.ID); err != nil {
		return nil, err
	}
	err = account.Audit(ctx, tx, account.Event{OrganizationID: p.OrganizationID, Type: account.BuildUploaded, Actor: u.Writer.Actor,
		Subject: BuildSubject(n.made.ID, n.appName, n.version), Detail: map[string]any{"id": n.made.ID, "project_id": p.ID,
			"file_name": n.fileName, "size": u.File.Size, "sha256": u.File.SHA256, "via": n.via}})
	if err != nil {
		return nil, err
	}
	result := &Uploaded{NewProject: made, InvalidGroups: bad, Policy: n.made.Policy}
	if result.Project, err = ProjectByID(ctx, tx, p.OrganizationID, p.ID); err != nil {
		return nil, err
	}
	result.Build, err = BuildByID(ctx, tx, p.OrganizationID, p.ID, n.made.ID)
	return result, err
}

// settle writes the project with what the upload changes: a new one, or what
// changes of one that is locked.
func (n *draft) settle(ctx context.Context, tx *storage.Tx, actor account.Actor, p *projectRow, u *Upload) error {
	var before projectRow
	if p.ID != 0 {
		before = *p
	}
	if err := n.app.join(p); err != nil {
		return err
	}
	if u.LandingPageMode != "" {
		p.LandingPageMode = u.LandingPageMode
	}
	if u.Slug != "" {
		p.Slug = u.Slug
	}
	if n.description != nil {
		p.Description = *n.description
	}
	return p.save(ctx, tx, actor, &before)
}

// grant opens the project and the new build to groups.
func (u *Upload) grant(ctx context.Context, tx *storage.Tx, actor account.Actor, p *projectRow, buildID int64) ([]string, error) {
	bad, err := grant.ToProject(p.OrganizationID, p.ID).Replace(ctx, tx, actor, u.ProjectGroups, p.AllTesters)
	if err != nil {
		return nil, err
	}
	more, err := grant.ToBuild(p.OrganizationID, buildID).Replace(ctx, tx, actor, u.BuildGroups, false)
	if err != nil {
		return nil, err
	}
	for _, name := range more {
		if !slices.Contains(bad, name) {
			bad = append(bad, name)
		}
	}
	return bad, nil
}
