// Package distribution keeps apps and their builds: projects, builds and folders.
//
// A project is one app on one platform, owned by a team. A build is one uploaded
// version of it, which names files (package storedfile). The landing page's mode and slug
// belong to the project, so all its builds show the same; its limits are package landing's.
//
// Below it are the texts that it takes (text), the files (storedfile), the limits of pages and the grants
// to groups (grant). Above it is what people do with builds: groups (testergroup), mails and
// invitations (announcement), install pages (installpage, visitor), and commits (buildcommit).
//
// Who may install: a tester who was given the project, or whose group is granted to the project or
// to the build, every tester where all_testers is set on either, and every member of the
// organization above a tester (installpage.BuildAccess).
//
// Reads are bounded to one organization by its id. Members see all projects of
// their organization and change those of their teams: what changes something takes
// a Writer and refuses others with ErrNoAccess, after storage.ErrNotFound. It
// writes its audit row in the same *storage.Tx.
//
// Transactions that run at once take their locks in one order: an idempotency key,
// the name of a package, a slug (both advisory), then the rows of projects, groups,
// builds and files, the limits of pages, several of a kind by ascending id. A project's
// row lock guards its counters, latest build and icon.
//
// Failures are storage.ErrNotFound, storage.ErrConflict, *storage.InvalidError
// (naming the member as the v3 interface calls it), and the errors below.
package distribution

import (
	"errors"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/setting"
)

// Errors that the interfaces distinguish.
var (
	// ErrSlugTaken means that another app has the landing page slug.
	ErrSlugTaken = errors.New("landing_page_slug is used by another app")
	// ErrSeveralTeams means that the package exists in several teams of the caller.
	ErrSeveralTeams = errors.New("the package exists in several teams")
	// ErrNoTeam means that the upload names no team and the caller has none, or several.
	ErrNoTeam = errors.New("team_id is required")
	// ErrNoAccess means that the project or team is not one that the caller may change.
	ErrNoAccess = errors.New("no write access to the project")
	// ErrNotTeamAdmin means that the writer may not have testers notified of what belongs to the
	// team.
	ErrNotTeamAdmin = errors.New("this takes admin rights on the app's team")
)

// State of a build. Only an enabled one is distributable.
type State string

// The states.
const (
	Enabled            State = "enabled"
	Disabled           State = "disabled"
	CertificateExpired State = "certificate_expired"
	Invalid            State = "invalid"
)

// PlatformOf returns the platform of a name in any case; "" for an empty one.
func PlatformOf(name string) (artifact.Platform, error) {
	platform, ok := artifact.ParsePlatform(name)
	if !ok {
		return "", storage.Invalid("platform", artifact.PlatformRule)
	}
	return platform, nil
}

// Project is an app on one platform.
type Project struct {
	ID              int64             `db:"id"`
	OrganizationID  int64             `db:"organization_id"`
	TeamID          int64             `db:"team_id"`
	FolderPath      string            `db:"folder_path"` // "" when in none
	Name            string            `db:"name"`
	PackageName     string            `db:"package_name"`
	Platform        artifact.Platform `db:"platform"`
	Description     string            `db:"description"` // Markdown
	Token           string            `db:"token"`
	Slug            string            `db:"slug"` // "" when it has none
	LandingPageMode string            `db:"landing_page_mode"`
	AllTesters      bool              `db:"all_testers"`
	IconKey         string            `db:"icon_key"` // object key, "" when there is no icon
	BuildCount      int               `db:"build_count"`
	// DuplicateOf is the app of the same package, platform, team and folder that this one
	// stands beside, as a copy of it; 0: none. Uploads by package name go to that one.
	DuplicateOf       int64     `db:"duplicate_of"`
	LatestBuildID     int64     `db:"latest_build_id"` // 0: none
	CreatedAt         time.Time `db:"created_at"`
	UpdatedAt         time.Time `db:"updated_at"`
	landing.Limits              // of its page and those of its builds
	setting.Retention           // of its builds
}

// PageName is what the landing page is reached by: the slug, else the token.
func (p *Project) PageName() string {
	if p.Slug != "" {
		return p.Slug
	}
	return p.Token
}

// Build is one version of an app.
type Build struct {
	ID             int64
	OrganizationID int64
	ProjectID      int64
	TeamID         int64 // the project's
	Token          string
	AppName        string
	Version        string
	VersionCode    string
	Platform       artifact.Platform
	PackageName    string
	Kind           artifact.Kind
	MinOSVersion   string
	TargetOS       string   // "" when unknown
	Permissions    []string // sorted; nil: nobody read them
	ABIs           []string
	Signer         *artifact.Signer
	Provisioning   *artifact.Provisioning
	Warnings       []string
	Verification   artifact.Verdict // "" for a build from before signatures were verified
	Simulator      bool             // for the simulator of a Mac: no device installs it
	Comparison     []Code           // what the upload found by comparison with the build before
	HasSDK         bool
	State          State
	StateReason    string
	ExpiresAt      *time.Time
	File           storedfile.File
	FileName       string
	IconKey        string // object key, "" when there is no icon
	Symbols        *artifact.Symbols
	SymbolsFileID  int64  // 0 when there are none
	SymbolsKey     string // object key, "" when there are none
	SymbolsName    string
	SymbolsSize    int64
	ReleaseNotes   string // Markdown
	Tags           []string
	Metadata       map[string]string
	AutoUpdate     bool
	Keep           bool // retention never deletes it
	AllTesters     bool
	Options        string
	Downloads      int64
	Crashes        int64
	Sessions       int64
	Feedbacks      int64
	landing.Limits // of its own page, beside those of the app
	// LandingPageMode, PageName and FolderPath are the project's.
	LandingPageMode string
	ProjectPageName string
	FolderPath      string
	UploadedBy      string
	UploadedVia     string
	Gate            *Gate // nil: nothing asks whether it may go on
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Gate is what counts of a build's gate, which is package gate's.
type Gate struct {
	State      string // pass, fail or unknown
	Overridden bool   // a person decided so
}

// Installable reports whether a tester can install the build on a device, state
// aside: packages for phones and sets that hold one.
func (b *Build) Installable() bool {
	if b.Simulator {
		return false
	}
	switch b.Kind {
	case artifact.APK, artifact.IPA:
		return true
	}
	return false
}

// Distributable returns "" when testers can get the build, else the
// reason why not.
func (b *Build) Distributable() string {
	switch {
	case b.State == Enabled:
		return ""
	case b.StateReason != "":
		return b.StateReason
	}
	return "the build is " + string(b.State)
}

// Undeliverable is why testers cannot install the build; "" when they can.
func (b *Build) Undeliverable() string {
	if reason := b.Distributable(); reason != "" {
		return reason
	}
	if !b.Installable() {
		return "a file of the kind " + string(b.Kind) + " cannot be installed by testers"
	}
	return ""
}
