// Package suspect finds the commits that may have caused the crashes of a group: those with which
// the first build came that the group was seen in, and that the build before it had not.
//
// A commit is suspected for what it changes: the file of the frame that crashed, files of other
// frames of the program's own, files beside the former. Paths are compared by whole segments from
// their ends, and one of the two must be the end of the other: a crash names the folder of the
// machine that built it, and a commit begins at the root of its repository. That a commit is late
// adds to a reason and is none alone: where nothing matches there is no suspect, and the range
// says what there is.
//
// Everything is bounded: the builds of a range, the commits of a build, their paths, what an
// answer shows. Nothing is written, and crashes that come in cost nothing more.
package suspect

import (
	"context"
	"errors"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
)

const (
	// maxRange bounds the commits that are looked at, maxSuspects and maxOthers those that are
	// shown.
	maxRange    = 1000
	maxSuspects = 10
	maxOthers   = 100
)

// State says what came of the search.
type State string

// The states.
const (
	Found     State = "suspects"
	NoMatch   State = "no_match"   // there are commits, and none touches the stack
	NoCommits State = "no_commits" // no build of the range has commits
	NoBuild   State = "no_build"   // it is not known in which build the group was seen first
)

// Member is a person of the organization whose mail address an author has.
type Member struct {
	ID    int64  `db:"id"`
	Email string `db:"email"`
	Name  string `db:"name"`
}

// Changes are the commits between the first build of a group and the one before it.
type Changes struct {
	State State
	// Range is nil where the first build is not known.
	Range *buildcommit.Range
	// Suspects are at most ten, the strongest first; Others the rest, newest first.
	Suspects, Others []Ranked
	// Omitted counts commits of the range that are in neither list. Incomplete: builds of the
	// range have no commits, or more than are stored.
	Omitted    int
	Incomplete bool
	members    map[string]Member
}

// Member is the person who wrote a commit; nil: nobody of the organization has the address.
func (c *Changes) Member(commit *buildcommit.Commit) *Member {
	m, ok := c.members[strings.ToLower(commit.AuthorEmail)]
	if !ok {
		return nil
	}
	return &m
}

// Find finds the suspect changes of a group that is shown, for the frames of a crash of it.
func Find(ctx context.Context, q storage.Querier, organization, group int64, frames []Frame) (*Changes, error) {
	c := &Changes{State: NoBuild}
	build, err := reading.FirstBuild(ctx, q, organization, group)
	if err != nil || build == 0 {
		return c, err
	}
	c.Range, err = buildcommit.RangeBefore(ctx, q, organization, build)
	if errors.Is(err, storage.ErrNotFound) { // the build was deleted
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	commits, err := c.read(ctx, q, organization)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		c.State = NoCommits
		return c, nil
	}
	if c.Suspects, c.Others = Rank(commits, frames); len(c.Suspects) == 0 {
		c.State = NoMatch
	} else {
		c.State = Found
	}
	c.Omitted += max(0, len(c.Suspects)-maxSuspects) + max(0, len(c.Others)-maxOthers)
	c.Suspects, c.Others = c.Suspects[:min(len(c.Suspects), maxSuspects)], c.Others[:min(len(c.Others), maxOthers)]
	c.members, err = membersOf(ctx, q, organization, append(c.Suspects[:len(c.Suspects):len(c.Suspects)], c.Others...))
	return c, err
}

// read returns the commits of the range, newest first, each once and without those that the build
// before has as well.
func (c *Changes) read(ctx context.Context, q storage.Querier, organization int64) ([]Ranked, error) {
	builds, before := c.Range.Builds, int64(0)
	if c.Range.Before != nil {
		before = c.Range.Before.ID
		builds = append(builds[:len(builds):len(builds)], before)
	}
	lists, err := buildcommit.Of(ctx, q, organization, builds)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	with := 0
	for i := range lists {
		if lists[i].BuildID != before {
			with++
			c.Incomplete = c.Incomplete || lists[i].Omitted > 0
			continue
		}
		for _, one := range lists[i].Commits {
			known[one.ID] = true
		}
	}
	c.Incomplete = c.Incomplete || c.Range.Cut || with < len(c.Range.Builds)
	var commits []Ranked
	for i := range lists {
		if lists[i].BuildID == before {
			continue
		}
		for _, one := range lists[i].Commits {
			switch {
			case known[one.ID]:
				continue
			case len(commits) == maxRange:
				c.Omitted++
			default:
				commits = append(commits, Ranked{Commit: one, BuildID: lists[i].BuildID})
			}
			known[one.ID] = true
		}
	}
	return commits, nil
}

// membersOf reads who of the organization has the addresses of the authors, by users_email: people
// who may read crashes.
func membersOf(ctx context.Context, q storage.Querier, organization int64, commits []Ranked) (map[string]Member, error) {
	var emails []string
	seen := map[string]bool{"": true}
	for i := range commits {
		if email := strings.ToLower(commits[i].AuthorEmail); !seen[email] {
			seen[email] = true
			emails = append(emails, email)
		}
	}
	if len(emails) == 0 {
		return nil, nil
	}
	var rows []Member
	err := q.SelectContext(ctx, &rows, `select u.id, u.email, coalesce(u.name, '') as name
		from users u join memberships m on m.user_id = u.id and m.organization_id = $1 and m.blocked_at is null and m.role <> 'tester'
		where lower(u.email) = any($2) and u.kind = 'person'`, organization, pq.Array(emails))
	members := make(map[string]Member, len(rows))
	for _, row := range rows {
		members[strings.ToLower(row.Email)] = row
	}
	return members, storage.Wrap(err, "members who wrote commits")
}
