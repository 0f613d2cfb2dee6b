package buildcommit

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const (
	// rangeDepth bounds the older builds among which the one before is looked for, and rangeBuilds
	// those whose commits are read.
	rangeDepth  = 1000
	rangeBuilds = 20
)

// RangeBuild is a build at an end of a range.
type RangeBuild struct {
	ID          int64     `db:"id"`
	Version     string    `db:"version"`
	VersionCode string    `db:"version_code"`
	CreatedAt   time.Time `db:"created_at"`
	Kind        string    `db:"kind"`
	Channel     string    `db:"channel"`
	Branch      string    `db:"branch"`
	Commit      string    `db:"commit"` // "": not known
}

// Range are the builds in which a change first came to people: First, and those after Before.
type Range struct {
	First RangeBuild
	// Before is the newest older build of the app, kind and channel that is of another commit, of
	// the same branch where there is one; nil: none is known.
	Before *RangeBuild
	// Builds are those whose commits First has and Before has not, the newest first: First, and
	// those of its branch between the two. Cut: there are more.
	Builds []int64
	Cut    bool
}

// RangeQuery is what RangeBefore reads, by the index builds_project from the first build on backwards.
const RangeQuery = `
select id, version, version_code, created_at, kind, coalesce(metadata ->> '` + distribution.ChannelKey + `', '') as channel,
	coalesce(metadata ->> 'branch', '') as branch, lower(coalesce(metadata ->> 'commit', '')) as commit
from builds
where (project_id, id) >= ((select project_id from builds where id = $2 and organization_id = $1), 0)
	and (project_id, id) <= ((select project_id from builds where id = $2 and organization_id = $1), $2)
	and organization_id = $1 and deleted_at is null` + distribution.NewestFirst + ` limit $3`

// RangeBefore finds the builds between a build and the one before it. storage.ErrNotFound: the
// organization has no such build.
func RangeBefore(ctx context.Context, q storage.Querier, organization, build int64) (*Range, error) {
	var rows []RangeBuild
	if err := q.SelectContext(ctx, &rows, RangeQuery, organization, build, rangeDepth+1); err != nil {
		return nil, storage.Wrap(err, "builds before a build")
	}
	if len(rows) == 0 || rows[0].ID != build {
		return nil, fmt.Errorf("build %d: %w", build, storage.ErrNotFound)
	}
	return rangeOf(rows), nil
}

// rangeOf finds the range among the builds of an app, newest first; the first of them is its end.
func rangeOf(rows []RangeBuild) *Range {
	r := &Range{First: rows[0]}
	for i := range rows[1:] {
		b := &rows[i+1]
		if b.Kind != r.First.Kind || b.Channel != r.First.Channel || b.sameCommit(&r.First) {
			continue
		}
		if b.Branch == r.First.Branch {
			r.Before = b
			break
		}
		if r.Before == nil {
			r.Before = b
		}
	}
	for i := range rows {
		b := &rows[i]
		if r.Before != nil && b.ID <= r.Before.ID {
			break
		}
		if b.ID != r.First.ID && (b.Branch != r.First.Branch || r.Before == nil && !b.sameCommit(&r.First)) {
			continue
		}
		if len(r.Builds) == rangeBuilds {
			r.Cut = true
			break
		}
		r.Builds = append(r.Builds, b.ID)
	}
	return r
}

// sameCommit reports whether two builds are known to be of one commit: a copy, or the same in
// another form.
func (b *RangeBuild) sameCommit(other *RangeBuild) bool {
	return b.Commit != "" && b.Commit == other.Commit
}
