// Package buildcommit has the commits of builds: those that a build has and the build before it had
// not.
//
// Who built it says so, with the upload or later (Set). Crashes that began with a build are
// looked for in them. RangeBefore finds the builds in which a change first came to people:
// those after the newest older build that is known to be of another commit.
//
// The counts and lengths are bounded; what breaks a bound is a *storage.InvalidError that
// names the member. A build of others is storage.ErrNotFound, one of another team
// distribution.ErrNoAccess.
package buildcommit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// A build may have its commits: those that it has and the build before it had not. Who built it
// says so, with the upload or later. Crashes that began with the build are looked for in them.

const (
	// MaxCommits bounds the commits of a build: more than a team makes between two builds that
	// somebody uses. MaxPaths bounds the paths of one, and maxCommitPath the characters of
	// a path; what changes more files is a move or a new format, and says little of a crash.
	MaxCommits    = 200
	MaxPaths      = 200
	maxCommitPath = 400
	// MaxBytes bounds the texts of all commits of a build together, in bytes: twenty builds
	// are read for one page.
	MaxBytes = 512 << 10
	// The lengths of the texts of a commit, in characters.
	maxAuthor, maxCommitMessage = 200, 300
	// minCommitID is what git abbreviates an id to at least.
	minCommitID, maxCommitID = 7, 64
	// maxOmitted bounds the counts of what was left out.
	maxOmitted = 1_000_000_000
)

// Commit is a change that a build has and the one before it had not.
type Commit struct {
	ID string `json:"id"` // hexadecimal digits, in lower case
	// AuthorName and AuthorEmail say who wrote it. The mail address finds the member, and is
	// shown to nobody.
	AuthorName  string    `json:"name"`
	AuthorEmail string    `json:"email"`
	At          time.Time `json:"at"`
	Message     string    `json:"message"` // its first line
	// Paths are the files that it changes, from the root of the repository; PathsOmitted counts
	// those that are left out.
	Paths        []string `json:"paths"`
	PathsOmitted int      `json:"paths_omitted"`
}

// Commits are those of a build, newest first.
type Commits struct {
	BuildID int64
	Commits []Commit
	Omitted int // older ones that were not sent
	SetAt   time.Time
}

// Validate refuses what breaks a bound, by the member, and brings the texts into one form.
func (c *Commits) Validate() error {
	if len(c.Commits) > MaxCommits {
		return storage.Invalid("commits", "must be at most %d: count further ones in omitted", MaxCommits)
	}
	if c.Omitted < 0 || c.Omitted > maxOmitted {
		return storage.Invalid("omitted", "must be a count")
	}
	seen, size := map[string]int{}, 0
	for i := range c.Commits {
		one := &c.Commits[i]
		if err := one.validate(fmt.Sprintf("commits[%d]", i)); err != nil {
			return err
		}
		if first, twice := seen[one.ID]; twice {
			return storage.Invalid(fmt.Sprintf("commits[%d].id", i), "is that of commits[%d], too", first)
		}
		seen[one.ID] = i
		size += one.size()
	}
	if size > MaxBytes {
		return storage.Invalid("commits", "must have at most %d bytes of text: leave paths out, and count them in paths_omitted", MaxBytes)
	}
	return nil
}

// size is how many bytes the texts have.
func (c *Commit) size() int {
	n := len(c.ID) + len(c.AuthorName) + len(c.AuthorEmail) + len(c.Message)
	for _, path := range c.Paths {
		n += len(path)
	}
	return n
}

func (c *Commit) validate(field string) (err error) {
	c.ID = strings.ToLower(c.ID)
	switch {
	case !isID(c.ID):
		return storage.Invalid(field+".id", "must have %d to %d hexadecimal digits", minCommitID, maxCommitID)
	case c.At.IsZero() || c.At.Year() < 1 || c.At.Year() > 9999:
		return storage.Invalid(field+".committed_at", "must be a time")
	case len(c.Paths) > MaxPaths:
		return storage.Invalid(field+".paths", "must be at most %d: count further ones in paths_omitted", MaxPaths)
	case c.PathsOmitted < 0 || c.PathsOmitted > maxOmitted:
		return storage.Invalid(field+".paths_omitted", "must be a count")
	}
	if c.AuthorName, err = storage.Line(field+".author.name", c.AuthorName, maxAuthor); err != nil {
		return err
	}
	if c.AuthorEmail, err = storage.Line(field+".author.email", c.AuthorEmail, maxAuthor); err != nil {
		return err
	}
	if c.Message, err = storage.Line(field+".message", c.Message, maxCommitMessage); err != nil {
		return err
	}
	for i, path := range c.Paths {
		at := fmt.Sprintf("%s.paths[%d]", field, i)
		if c.Paths[i], err = storage.Name(at, path, maxCommitPath); err != nil {
			return err
		}
	}
	if c.Paths == nil {
		c.Paths = []string{}
	}
	return nil
}

// isID reports whether a text can be the id of a commit, or the beginning of one.
func isID(text string) bool {
	return len(text) >= minCommitID && len(text) <= maxCommitID && strings.Trim(text, "0123456789abcdef") == ""
}

const setCommits = `
insert into build_commits as c (build_id, organization_id, commits, omitted) values ($1, $2, $3, $4)
on conflict (build_id) do update set commits = excluded.commits, omitted = excluded.omitted, set_at = now()
returning set_at`

// Set replaces the commits of a build. *storage.InvalidError names what breaks a bound.
func Set(ctx context.Context, tx *storage.Tx, w account.Writer, build int64, c *Commits) error {
	if err := c.Validate(); err != nil {
		return err
	}
	b, err := distribution.BuildByID(ctx, tx, w.OrganizationID, 0, build)
	if err != nil {
		return err
	}
	if !w.May(b.TeamID) {
		return distribution.ErrNoAccess
	}
	if _, err := distribution.LockBuild(ctx, tx, w, b.ProjectID, build); err != nil {
		return err
	}
	if err := insertCommits(ctx, tx, w.OrganizationID, build, c); err != nil {
		return err
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.BuildUpdated, Actor: w.Actor,
		Subject: distribution.BuildSubject(build, b.AppName, b.Version), Detail: map[string]any{"id": build, "commits": len(c.Commits)}})
}

// insertCommits writes the commits of a build, which are valid.
func insertCommits(ctx context.Context, tx *storage.Tx, organization, build int64, c *Commits) error {
	list := c.Commits
	if list == nil {
		list = []Commit{}
	}
	doc, err := storage.Document(&list)
	if err != nil {
		return err
	}
	c.BuildID = build
	return storage.Wrap(tx.GetContext(ctx, &c.SetAt, setCommits, build, organization, doc, c.Omitted),
		fmt.Sprintf("commits of build %d", build))
}

// Query is what Of reads, by the primary key.
const Query = `
select build_id, commits, omitted, set_at from build_commits
where build_id = any($1) and organization_id = $2 order by build_id desc`

// Of reads the commits of builds of an organization, those of the newest build first.
// Builds that never got any are left out.
func Of(ctx context.Context, q storage.Querier, organization int64, builds []int64) ([]Commits, error) {
	if len(builds) == 0 {
		return nil, nil
	}
	var rows []struct {
		BuildID int64     `db:"build_id"`
		Commits []byte    `db:"commits"`
		Omitted int       `db:"omitted"`
		SetAt   time.Time `db:"set_at"`
	}
	err := q.SelectContext(ctx, &rows, Query, pq.Array(builds), organization)
	if err != nil {
		return nil, storage.Wrap(err, "commits of builds")
	}
	list := make([]Commits, 0, len(rows))
	for _, row := range rows {
		c := Commits{BuildID: row.BuildID, Omitted: row.Omitted, SetAt: row.SetAt}
		if err := json.Unmarshal(row.Commits, &c.Commits); err != nil {
			return nil, fmt.Errorf("commits of build %d: stored document: %w", row.BuildID, err)
		}
		list = append(list, c)
	}
	return list, nil
}
