package distribution

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// draft is a build that is checked and not written yet.
type draft struct {
	text.Fitter
	made struct {
		ID     int64 `db:"id"`
		Policy bool  `db:"policy"`
	}
	app          *app
	upload       *Upload
	via          string
	appName      string
	version      string
	versionCode  string
	fileName     string
	releaseNotes string
	description  *string
	tags         []string
	metadata     map[string]string
	options      string
}

// What a package contains is scrubbed, for it never rejects a build. The optional texts
// of the request are taken as far as they fit; its other members are refused where they
// break a rule.
const (
	maxWarnings = 100
	maxWarning  = 500
	maxABIs     = 100
	maxImages   = 100
	// maxPermissions is far above what packages ask for: some dozens.
	maxPermissions = 500
)

// draft checks an upload.
func (u *Upload) draft() (*draft, error) {
	n := &draft{upload: u, via: text.Scrub(cmp.Or(u.Client, u.Via), text.MaxLine), fileName: text.FileName(u.FileName)}
	pkg := u.Package
	n.appName = n.Line("app_name", u.AppName, text.MaxLine)
	n.version = n.Line("version", pkg.Version, text.MaxLine)
	n.versionCode = n.Line("version_code", pkg.VersionCode, text.MaxLine)
	n.releaseNotes = n.Prose("release_notes", u.ReleaseNotes, text.MaxProse)
	n.options = n.Prose("options", u.Options, text.MaxOptions)
	if u.Description != nil {
		description := n.Prose("app_description", *u.Description, text.MaxProse)
		n.description = &description
	}
	if u.Folder != nil {
		folder := n.Folder(*u.Folder)
		u.Folder = &folder
	}
	n.tags, n.metadata = n.Fitter.Tags(u.Tags), n.Fitter.Metadata(u.Metadata)
	if u.Slug != "" {
		// The third version's rule; the first version's community_token is free.
		if err := checkSlug(u.Slug, u.Via == "upload"); err != nil {
			return nil, err
		}
	}
	n.appName = cmp.Or(n.appName, text.Scrub(pkg.Name, text.MaxLine), text.Scrub(pkg.PackageName, text.MaxLine), n.fileName)
	n.app = appOf(pkg, n.appName)
	var err error
	if n.app.packageName, err = storage.Line("package_name", text.Scrub(pkg.PackageName, text.MaxProse), text.MaxLine); err != nil {
		return nil, err
	}
	return n, nil
}

// stateAt returns the state of a build whose profile may have ended already, why, and when the
// profile ends.
func stateAt(now time.Time, p *artifact.Provisioning) (State, string, *time.Time) {
	if p == nil || p.Expires.IsZero() {
		return Enabled, "", nil
	}
	if !p.Expires.After(now) {
		return CertificateExpired, expiredReason(p.Expires), &p.Expires
	}
	return Enabled, "", &p.Expires
}

func expiredReason(at time.Time) string {
	return "the provisioning profile expired on " + at.UTC().Format(time.DateOnly)
}

const insertBuild = `
insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, package_name,
	kind, min_os_version, abis, signer, provisioning, warnings, image_uuids, has_sdk, state, state_reason,
	expires_at, file_id, file_name, icon_file_id, symbols_file_id, symbols_name, symbols, release_notes, tags,
	metadata, auto_update, options, uploaded_by, uploaded_by_name, uploaded_via, verification, simulator, cautions, target_os, permissions)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
	$23, $24, $25, $26, $27, $28, $29, $30, nullif($31::bigint, 0), $32, $33, $34, $35, $36, nullif($37, ''), $38)
returning id, exists (select from gate_policies g where g.project_id = builds.project_id) as policy`

// insert writes the files and the build; the project is locked.
func (n *draft) insert(ctx context.Context, tx *storage.Tx, p *projectRow) error {
	u, pkg := n.upload, n.upload.Package
	fileID, err := storedfile.Create(ctx, tx, p.OrganizationID, u.File)
	if err != nil {
		return err
	}
	var iconID *int64
	if u.Icon != nil {
		id, err := storedfile.Create(ctx, tx, p.OrganizationID, *u.Icon)
		if err != nil {
			return err
		}
		iconID = &id
	}
	symbols, err := n.symbols(ctx, tx, p)
	if err != nil {
		return err
	}
	verdict := verdictAt(pkg)
	signer, err1 := storage.Document(pkg.Signer.With(artifact.NewVerification(verdict, "")))
	provisioning, err2 := storage.Document(pkg.Provisioning.With(artifact.NewVerification(verdict, "")))
	meta, err3 := storage.Document(&n.metadata)
	cautions, err4 := n.compare(ctx, tx, p)
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	state, reason, expires := stateAt(time.Now(), pkg.Provisioning)
	err = tx.GetContext(ctx, &n.made, insertBuild, p.OrganizationID, p.ID, newToken(), n.appName, n.version, n.versionCode,
		n.app.platform, n.app.packageName, pkg.Kind, text.Scrub(pkg.MinOSVersion, text.MaxLine),
		pq.Array(text.ScrubAll(pkg.ABIs, maxABIs, text.MaxTag)), signer, provisioning,
		pq.Array(text.ScrubAll(slices.Concat(n.Warnings, u.Warnings, pkg.Warnings), maxWarnings, maxWarning)),
		pq.Array(imageUUIDs(pkg.Images)), pkg.HasSDK,
		state, reason, expires, fileID, n.fileName, iconID, symbols.fileID, symbols.name, symbols.what, n.releaseNotes,
		pq.Array(n.tags), meta, u.AutoUpdate, n.options, u.Writer.Actor.UserID, text.Scrub(u.Writer.Actor.Name, text.MaxLine), n.via,
		verdict, pkg.Simulator, pq.Array(cautions), text.Scrub(pkg.TargetOS, text.MaxLine), pq.Array(permissions(pkg)))
	return storage.Wrap(err, "create build")
}

// permissions are what a package asks for, sorted, each once; nil when nobody read them.
func permissions(pkg *artifact.Package) []string {
	if pkg.Permissions == nil {
		return nil
	}
	list := text.ScrubAll(pkg.Permissions, maxPermissions, text.MaxLine)
	slices.Sort(list)
	return slices.Compact(list)
}

// draftSymbols are the symbols of a build to insert; without any fileID is nil.
type draftSymbols struct {
	fileID *int64
	name   string
	what   any // a document
}

// symbols are those that came with the build, else those that came before it.
func (n *draft) symbols(ctx context.Context, tx *storage.Tx, p *projectRow) (s draftSymbols, err error) {
	if given := n.upload.Symbols; given != nil {
		id, err := storedfile.Create(ctx, tx, p.OrganizationID, given.File)
		if err != nil {
			return s, err
		}
		s.fileID = &id
		s.name = text.FileName(given.Name)
		s.what, err = storage.Document(given.What)
		return s, err
	}
	found, err := findWaiting(ctx, tx, p.OrganizationID, p.TeamID, n.upload.Package.Images)
	if err != nil || found == nil {
		return s, err
	}
	return draftSymbols{&found.FileID, found.Name, string(found.Description)}, nil
}

// imageUUIDs are the UUIDs by which symbols find a build, in upper case.
func imageUUIDs(images []artifact.Image) []string {
	ids := make([]string, 0, len(images))
	for _, image := range images {
		ids = append(ids, strings.ToUpper(image.UUID))
	}
	return text.ScrubAll(ids, maxImages, text.MaxTag)
}
