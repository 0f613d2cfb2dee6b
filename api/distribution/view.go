package distribution

import (
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks/link"
)

// Views turn rows into what answers show.
type Views struct {
	links link.Links
	sdk   string // the member has<Vendor>Sdk
}

// NewViews returns views with absolute links, for a vendor's name.
func NewViews(links link.Links, vendor string) Views {
	if vendor != "" {
		vendor = strings.ToUpper(vendor[:1]) + vendor[1:]
	}
	return Views{links: links, sdk: "has" + vendor + "Sdk"}
}

// ProjectView is an app in version 3. Unknown texts are "".
type ProjectView struct {
	ID              int64             `json:"id"`
	Name            string            `json:"name"`
	PackageName     string            `json:"package_name"`
	Platform        artifact.Platform `json:"platform"`
	Description     string            `json:"description"` // Markdown
	Icon            string            `json:"icon"`        // URL
	TeamID          int64             `json:"team_id"`
	FolderName      string            `json:"folder_name"`
	LandingPageSlug string            `json:"landing_page_slug"`
	LandingPageMode string            `json:"landing_page_mode"`
	LandingPageURL  string            `json:"landing_page_url"`
	PageLimitsView
	setting.Retention
	AllTesters  bool        `json:"all_testers"`
	BuildCount  int         `json:"build_count"`
	DuplicateOf *int64      `json:"duplicate_of"` // the app that uploads of the package go to; null as a rule
	LatestBuild *LatestView `json:"latest_build"` // null when the app has no build
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// LatestView names the newest build of an app. The members after URL are of a
// single app only: a list would have to read every build for them.
type LatestView struct {
	ID          int64              `json:"id"`
	URL         string             `json:"url"` // of the build in this interface
	Version     *string            `json:"version,omitempty"`
	VersionCode *string            `json:"version_code,omitempty"`
	Status      distribution.State `json:"status,omitempty"`
	CreatedAt   *time.Time         `json:"created_at,omitempty"`
}

// ProjectView shows an app as in a list.
func (v Views) ProjectView(p *distribution.Project) ProjectView {
	view := ProjectView{ID: p.ID, Name: p.Name, PackageName: p.PackageName, Platform: p.Platform,
		Description: p.Description, Icon: v.icon(p.IconKey, p.PageName()), TeamID: p.TeamID, FolderName: p.FolderPath,
		LandingPageSlug: p.Slug, LandingPageMode: p.LandingPageMode, LandingPageURL: v.links.Page(p.PageName()),
		PageLimitsView: pageLimits(&p.Limits), Retention: p.Retention, AllTesters: p.AllTesters, BuildCount: p.BuildCount,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC()}
	if p.DuplicateOf != 0 {
		view.DuplicateOf = &p.DuplicateOf
	}
	if p.LatestBuildID != 0 {
		view.LatestBuild = &LatestView{ID: p.LatestBuildID, URL: v.links.Path(buildPath(p.LatestBuildID))}
	}
	return view
}

func (v Views) icon(key, page string) string {
	if key == "" {
		return ""
	}
	return v.links.Icon(page)
}

// BuildView is a build in version 3. Unknown texts are "".
type BuildView struct {
	ID              int64                  `json:"id"`
	ProjectID       int64                  `json:"project_id"`
	AppName         string                 `json:"app_name"`
	Version         string                 `json:"version"`
	VersionCode     string                 `json:"version_code"`
	Platform        artifact.Platform      `json:"platform"`
	PackageName     string                 `json:"package_name"`
	Kind            artifact.Kind          `json:"kind"`
	Icon            string                 `json:"icon"`          // URL
	ReleaseNotes    string                 `json:"release_notes"` // Markdown
	Tags            []string               `json:"tags"`
	Metadata        map[string]string      `json:"metadata"`
	FileName        string                 `json:"file_name"`
	FileSize        int64                  `json:"file_size"` // bytes
	SHA256          string                 `json:"sha256"`
	MinOSVersion    string                 `json:"min_os_version"`
	TargetOS        string                 `json:"target_os"`
	Permissions     []string               `json:"permissions"` // null: nobody read them
	ABIs            []string               `json:"abis"`
	Signer          *artifact.Signer       `json:"signer"`       // null when unknown
	Provisioning    *artifact.Provisioning `json:"provisioning"` // null when there is none
	Verification    artifact.Verdict       `json:"verification"` // of the signature
	Simulator       bool                   `json:"simulator"`
	Warnings        []string               `json:"warnings"`
	Cautions        []cautionView          `json:"cautions"`
	Status          distribution.State     `json:"status"`
	StatusReason    string                 `json:"status_reason"`
	ExpiresAt       *time.Time             `json:"expires_at"`
	AutoUpdate      bool                   `json:"auto_update"`
	Keep            bool                   `json:"keep"` // from retention
	AllTesters      bool                   `json:"all_testers"`
	HasSDK          bool                   `json:"has_sdk"`
	HasSymbols      bool                   `json:"has_symbols"`
	SymbolsName     string                 `json:"symbols_name"`
	SymbolsSize     int64                  `json:"symbols_size"`
	Symbols         *artifact.Symbols      `json:"symbols"`
	Installs        int64                  `json:"installs"` // downloads that began
	Crashes         int64                  `json:"crashes"`
	Sessions        int64                  `json:"sessions"`
	Feedbacks       int64                  `json:"feedbacks"`
	InstallURL      string                 `json:"install_url"`
	LandingPageMode string                 `json:"landing_page_mode"`
	LandingPageURL  string                 `json:"landing_page_url"` // of the app
	PageLimitsView                         // of the build's own page
	FolderName      string                 `json:"folder_name"`
	TeamID          int64                  `json:"team_id"`
	UploadedBy      string                 `json:"uploaded_by"`
	UploadedVia     string                 `json:"uploaded_via"`
	Gate            *gateView              `json:"gate"` // null: nothing asks whether it may go on
	CreatedAt       time.Time              `json:"created_at"`
	UpdatedAt       time.Time              `json:"updated_at"`
}

// gateView is whether a build may go on, without the conditions.
type gateView struct {
	State      string `json:"state"`
	Overridden bool   `json:"overridden"`
}

// BuildView shows a build.
func (v Views) BuildView(b *distribution.Build) BuildView {
	return BuildView{ID: b.ID, ProjectID: b.ProjectID, AppName: b.AppName, Version: b.Version,
		VersionCode: b.VersionCode, Platform: b.Platform, PackageName: b.PackageName, Kind: b.Kind,
		Icon: v.icon(b.IconKey, b.Token), ReleaseNotes: b.ReleaseNotes, Tags: texts(b.Tags), Metadata: metadata(b),
		FileName: b.FileName, FileSize: b.File.Size, SHA256: b.File.SHA256, MinOSVersion: b.MinOSVersion,
		TargetOS: b.TargetOS, Permissions: b.Permissions, ABIs: texts(b.ABIs), Signer: signer(b.Signer),
		Provisioning: provisioning(b.Provisioning),
		Verification: b.Signature().Verdict, Simulator: b.Simulator,
		Warnings: b.Notes(time.Now(), v.links.Secure()), Cautions: v.cautions(b), Status: b.State, StatusReason: b.StateReason,
		ExpiresAt:  utc(b.ExpiresAt),
		AutoUpdate: b.AutoUpdate, Keep: b.Keep, AllTesters: b.AllTesters, HasSDK: b.HasSDK,
		HasSymbols: b.SymbolsKey != "", SymbolsName: b.SymbolsName, SymbolsSize: b.SymbolsSize, Symbols: b.Symbols,
		Installs: b.Downloads, Crashes: b.Crashes, Sessions: b.Sessions, Feedbacks: b.Feedbacks,
		InstallURL: v.links.Page(b.Token), LandingPageMode: b.LandingPageMode,
		LandingPageURL: v.links.Page(b.ProjectPageName), FolderName: b.FolderPath, TeamID: b.TeamID,
		PageLimitsView: pageLimits(&b.Limits), UploadedBy: b.UploadedBy, UploadedVia: b.UploadedVia,
		Gate: (*gateView)(b.Gate), CreatedAt: b.CreatedAt.UTC(), UpdatedAt: b.UpdatedAt.UTC()}
}

// cautionView is a reason why devices may refuse a build.
type cautionView struct {
	Code distribution.Code `json:"code"`
	Text string            `json:"text"`
}

func (v Views) cautions(b *distribution.Build) []cautionView {
	list := []cautionView{}
	for _, c := range b.Cautions(time.Now(), v.links.Secure()) {
		list = append(list, cautionView{c.Code, c.Text})
	}
	return list
}

// texts is a list that JSON shows as [] when it is empty.
func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func metadata(b *distribution.Build) map[string]string {
	if b.Metadata == nil {
		return map[string]string{}
	}
	return b.Metadata
}

func signer(s *artifact.Signer) *artifact.Signer {
	if s == nil {
		return nil
	}
	shown := *s
	shown.Schemes, shown.Expires = texts(s.Schemes), s.Expires.UTC()
	return &shown
}

func provisioning(p *artifact.Provisioning) *artifact.Provisioning {
	if p == nil {
		return nil
	}
	shown := *p
	shown.Devices, shown.Expires = texts(p.Devices), p.Expires.UTC()
	return &shown
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
