package distribution

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

// buildRow is a build as the database returns it.
type buildRow struct {
	ID              int64             `db:"id"`
	OrganizationID  int64             `db:"organization_id"`
	ProjectID       int64             `db:"project_id"`
	TeamID          int64             `db:"team_id"`
	Token           string            `db:"token"`
	AppName         string            `db:"app_name"`
	Version         string            `db:"version"`
	VersionCode     string            `db:"version_code"`
	Platform        artifact.Platform `db:"platform"`
	PackageName     string            `db:"package_name"`
	Kind            artifact.Kind     `db:"kind"`
	MinOSVersion    string            `db:"min_os_version"`
	TargetOS        string            `db:"target_os"`
	Permissions     pq.StringArray    `db:"permissions"`
	ABIs            pq.StringArray    `db:"abis"`
	Signer          []byte            `db:"signer"`
	Provisioning    []byte            `db:"provisioning"`
	Warnings        pq.StringArray    `db:"warnings"`
	Verification    artifact.Verdict  `db:"verification"`
	Simulator       bool              `db:"simulator"`
	Cautions        pq.StringArray    `db:"cautions"`
	HasSDK          bool              `db:"has_sdk"`
	State           State             `db:"state"`
	StateReason     string            `db:"state_reason"`
	ExpiresAt       *time.Time        `db:"expires_at"`
	FileID          int64             `db:"file_id"`
	FileKey         string            `db:"file_key"`
	FileSize        int64             `db:"file_size"`
	FileSHA256      string            `db:"file_sha256"`
	FileType        string            `db:"file_type"`
	FileName        string            `db:"file_name"`
	IconKey         string            `db:"icon_key"`
	Symbols         []byte            `db:"symbols"`
	SymbolsFileID   int64             `db:"symbols_file_id"`
	SymbolsKey      string            `db:"symbols_key"`
	SymbolsName     string            `db:"symbols_name"`
	SymbolsSize     int64             `db:"symbols_size"`
	ReleaseNotes    string            `db:"release_notes"`
	Tags            pq.StringArray    `db:"tags"`
	Metadata        []byte            `db:"metadata"`
	AutoUpdate      bool              `db:"auto_update"`
	Keep            bool              `db:"keep"`
	AllTesters      bool              `db:"all_testers"`
	Options         string            `db:"options"`
	Downloads       int64             `db:"downloads"`
	Crashes         int64             `db:"crashes"`
	Sessions        int64             `db:"sessions"`
	Feedbacks       int64             `db:"feedbacks"`
	LandingPageMode string            `db:"landing_page_mode"`
	ProjectPageName string            `db:"project_page_name"`
	FolderPath      string            `db:"folder_path"`
	UploadedBy      string            `db:"uploaded_by_name"`
	UploadedVia     string            `db:"uploaded_via"`
	CreatedAt       time.Time         `db:"created_at"`
	UpdatedAt       time.Time         `db:"updated_at"`
	GateState       string            `db:"gate_state"`
	GateOverridden  bool              `db:"gate_overridden"`
	landing.Limits
}

// BuildColumns are what ReadBuilds reads, of builds b with BuildTables.
const BuildColumns = `b.id, b.organization_id, b.project_id, p.team_id, b.token, b.app_name, b.version, b.version_code,
	b.platform, b.package_name, b.kind, b.min_os_version, coalesce(b.target_os, '') as target_os, b.permissions, b.abis, b.signer, b.provisioning, b.warnings,
	b.verification, b.simulator, b.cautions, b.has_sdk,
	b.state, b.state_reason, b.expires_at, b.file_id, bf.object_key as file_key, bf.size as file_size,
	bf.sha256 as file_sha256, bf.content_type as file_type, b.file_name, coalesce(bi.object_key, '') as icon_key,
	b.symbols, coalesce(b.symbols_file_id, 0) as symbols_file_id, coalesce(bs.object_key, '') as symbols_key, b.symbols_name, coalesce(bs.size, 0) as symbols_size,
	b.release_notes, b.tags, b.metadata, b.auto_update, b.keep, b.all_testers, b.options, b.downloads, b.crashes, b.sessions,
	b.feedbacks, p.landing_page_mode, coalesce(p.landing_page_slug, p.token) as project_page_name,
	coalesce(pf.path, '') as folder_path, b.uploaded_by_name, b.uploaded_via, b.created_at, b.updated_at,
	coalesce(bl.installs, 0) as page_installs, bl.expires_at as page_expires_at, bl.max_installs as page_max_installs,
	coalesce(bl.password_hash, '') as page_password,
	coalesce(bg.override_state, case when bg.reason = '' then bg.state end, '') as gate_state,
	bg.override_state is not null as gate_overridden`

// BuildTables are joined to builds b.
const BuildTables = `
join projects p on p.id = b.project_id and p.deleted_at is null
join files bf on bf.id = b.file_id
left join folders pf on pf.id = p.folder_id
left join files bi on bi.id = b.icon_file_id
left join files bs on bs.id = b.symbols_file_id
left join page_limits bl on bl.build_id = b.id
left join gates bg on bg.build_id = b.id`

func (r *buildRow) build() (Build, error) {
	b := Build{ID: r.ID, OrganizationID: r.OrganizationID, ProjectID: r.ProjectID, TeamID: r.TeamID, Token: r.Token,
		AppName: r.AppName, Version: r.Version, VersionCode: r.VersionCode, Platform: r.Platform,
		PackageName: r.PackageName, Kind: r.Kind, MinOSVersion: r.MinOSVersion, TargetOS: r.TargetOS, Permissions: r.Permissions,
		ABIs: r.ABIs, Warnings: r.Warnings,
		Verification: r.Verification, Simulator: r.Simulator, Comparison: codes(r.Cautions), HasSDK: r.HasSDK,
		State: r.State, StateReason: r.StateReason, ExpiresAt: r.ExpiresAt,
		File:     storedfile.File{ID: r.FileID, Key: r.FileKey, Size: r.FileSize, SHA256: r.FileSHA256, ContentType: r.FileType},
		FileName: r.FileName, IconKey: r.IconKey, SymbolsFileID: r.SymbolsFileID, SymbolsKey: r.SymbolsKey, SymbolsName: r.SymbolsName,
		SymbolsSize: r.SymbolsSize, ReleaseNotes: r.ReleaseNotes, Tags: r.Tags, AutoUpdate: r.AutoUpdate, Keep: r.Keep,
		AllTesters: r.AllTesters, Options: r.Options, Downloads: r.Downloads, Crashes: r.Crashes, Sessions: r.Sessions,
		Feedbacks: r.Feedbacks, LandingPageMode: r.LandingPageMode, ProjectPageName: r.ProjectPageName,
		FolderPath: r.FolderPath, UploadedBy: r.UploadedBy, UploadedVia: r.UploadedVia, CreatedAt: r.CreatedAt,
		UpdatedAt: r.UpdatedAt, Limits: r.Limits}
	if r.GateState != "" {
		b.Gate = &Gate{State: r.GateState, Overridden: r.GateOverridden}
	}
	for _, doc := range []struct {
		text []byte
		into any
	}{{r.Signer, &b.Signer}, {r.Provisioning, &b.Provisioning}, {r.Symbols, &b.Symbols}, {r.Metadata, &b.Metadata}} {
		if doc.text == nil {
			continue
		}
		if err := json.Unmarshal(doc.text, doc.into); err != nil {
			return Build{}, fmt.Errorf("build %d: stored document: %w", r.ID, err)
		}
	}
	b.modernize()
	return b, nil
}

// modernize sets what programs of before, which may still run beside this one, write in
// another way: the spelling of the platform, and no verdict on the signature.
func (b *Build) modernize() {
	if known, ok := artifact.ParsePlatform(string(b.Platform)); ok {
		b.Platform = known
	}
	if b.Signer != nil {
		b.Signer.Verdict = cmp.Or(b.Signer.Verdict, artifact.Unchecked)
	}
	if b.Provisioning != nil {
		b.Provisioning.Verdict = cmp.Or(b.Provisioning.Verdict, artifact.Unchecked)
	}
}

// ReadBuilds runs a query of BuildColumns.
func ReadBuilds(ctx context.Context, q storage.Querier, query string, args ...any) ([]Build, error) {
	var rows []buildRow
	if err := q.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, storage.Wrap(err, "read builds")
	}
	list := make([]Build, 0, len(rows))
	for i := range rows {
		b, err := rows[i].build()
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

const buildByID = `
select ` + BuildColumns + `
from builds b` + BuildTables + `
where b.organization_id = $1 and ($2::bigint = 0 or b.project_id = $2) and b.id = $3 and b.deleted_at is null`

// BuildByID reads a build of the organization; projectID 0 is any project.
func BuildByID(ctx context.Context, q storage.Querier, organizationID, projectID, id int64) (*Build, error) {
	list, err := ReadBuilds(ctx, q, buildByID, organizationID, projectID, id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("build %d: %w", id, storage.ErrNotFound)
	}
	return &list[0], nil
}

// buildPage is that of a build.
func buildPage(b *Build) landing.Owner {
	return landing.Owner{OrganizationID: b.OrganizationID, BuildID: &b.ID, Event: account.BuildUpdated,
		Subject: BuildSubject(b.ID, b.AppName, b.Version)}
}
