// Package commitstatus stores where the statuses of an app's commits go, and the newest
// status of each build.
//
// A setting names one repository at GitHub, GitLab or Gitea, with a token that is stored
// as package seal encrypts it. SetAll is how statuses begin, in the transaction of their
// cause: it writes the builds' rows and a task commit:status for each. Without a setting, or
// for builds without a commit, it is one statement that writes nothing.
//
// A build has one row, whose sequence counts the changes. A task names the change that it
// is for, and does nothing when a newer one is there: what was not sent yet is replaced.
// The tasks of a commit and an app run one after the other, and of several builds of a commit
// the newest counts. What came of an attempt is recorded with
// the setting, while that is the one it was sent by.
//
// Errors are those of package storage; distribution.ErrNotTeamAdmin is for who may neither
// read nor change the app's setting.
package commitstatus

import (
	"time"

	"github.com/google/uuid"
)

// Provider is what serves a repository.
type Provider string

// The providers. Gitea stands for Forgejo as well, whose interface is the same.
const (
	GitHub Provider = "github"
	GitLab Provider = "gitlab"
	Gitea  Provider = "gitea"
)

// Providers are all of them.
func Providers() []Provider { return []Provider{GitHub, GitLab, Gitea} }

// State is what a status says of a commit.
type State string

// The states. Providers have words of their own for them.
const (
	Pending State = "pending"
	Pass    State = "pass"
	Fail    State = "fail"
)

// The kind of the tasks that send, as package tasks has it, and its queue: requests to
// servers of others, which may hang, and for which nobody waits.
const (
	TaskKind     = "commit:status"
	Queue        = "webhook-slow"
	TaskAttempts = 60
)

// Lifetime is how long a status is tried.
const Lifetime = 24 * time.Hour

// Setting is where the statuses of an app go.
type Setting struct {
	ProjectID      int64      `db:"project_id"`
	OrganizationID int64      `db:"organization_id"`
	Revision       uuid.UUID  `db:"revision"`
	Provider       Provider   `db:"provider"`
	URL            string     `db:"url"`          // without a slash at its end
	Repository     string     `db:"repository"`   // owner/name; GitLab: group/subgroup/name
	Context        string     `db:"context"`      // the name of the status
	Token          []byte     `db:"sealed_token"` // sealed
	LastSentAt     *time.Time `db:"last_sent_at"`
	LastError      string     `db:"last_error"` // of the newest attempt; "": it was sent
	LastErrorAt    *time.Time `db:"last_error_at"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      time.Time  `db:"updated_at"`
}

const columns = `s.project_id, s.organization_id, s.revision, s.provider, s.url, s.repository, s.context, s.sealed_token,
	s.last_sent_at, s.last_error, s.last_error_at, s.created_at, s.updated_at`

// Status is the newest status of a build.
type Status struct {
	BuildID     int64  `db:"build_id"`
	Commit      string `db:"commit"` // as the build's metadata have it
	State       State  `db:"state"`
	Description string `db:"description"`
	Sequence    int64  `db:"sequence"`
}
