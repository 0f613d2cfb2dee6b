package distribution

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// BuildFilter selects builds of a project. Tag and Search look at the newest
// 10,000 builds only, of the Version where that is given.
type BuildFilter struct {
	Version string
	Tag     string
	Search  string // part of version, release notes or a metadata value
}

// searchDepth bounds the builds that a request reads whole: some 60 ms, where the
// 100,000 of a project that is built by every change take half a second and more.
const searchDepth = 10_000

func (f BuildFilter) isZero() bool { return f == BuildFilter{} }

// ofProject selects the builds of project $1. Written as a range of the index
// builds_project and ordered by both of its columns, it can be read by that index
// only: with project_id = $1 and order by id, the planner may walk the builds of
// all projects from the newest on, which for an old project are very many.
const (
	ofProject = `(project_id, id) >= ($1::bigint, 0) and (project_id, id) <= ($1, 9223372036854775807)
		and deleted_at is null`
	NewestFirst = ` order by project_id desc, id desc`
	oldestFirst = ` order by project_id, id`
)

// ofVersion selects those of the version $7 among them, likewise by builds_newest.
const (
	ofVersion = `(project_id, version, id) >= ($1::bigint, $7::text, 0)
		and (project_id, version, id) <= ($1, $7, 9223372036854775807) and deleted_at is null`
	newestOfVersion = ` order by project_id desc, version desc, id desc`
)

// projectBuilds reads the page from the nearer end of the index, before anything
// is joined to it.
func projectBuilds(order string) string {
	return `
select ` + BuildColumns + `
from (select id from builds where ` + ofProject + order + ` limit $2 offset $3) page
join builds b on b.id = page.id` + BuildTables + `
order by b.id desc`
}

// matchingBuilds looks through the selected builds: one pass finds both the number
// and the page.
func matchingBuilds(selected string) string {
	return `
with matched as materialized (
	select m.id
	from (select id, version, tags, release_notes, metadata from builds where ` + selected + `) m
	where ($2::text = '' or $2 = any(m.tags))
		and ($3::text = '' or position(lower($3) in lower(m.version)) > 0
			or position(lower($3) in lower(m.release_notes)) > 0
			or exists (select from jsonb_each_text(m.metadata) d where position(lower($3) in lower(d.value)) > 0))
)
select (select count(*) from matched) as total,
	array(select id from matched order by id desc limit $4 offset $5) as ids`
}

// Builds lists the builds of a project, newest first, with the number of all that
// the filter selects.
func Builds(ctx context.Context, q storage.Querier, organizationID, projectID int64, f BuildFilter, p storage.Page) ([]Build, int, error) {
	var total int
	err := q.GetContext(ctx, &total, `select build_count from projects
		where organization_id = $1 and id = $2 and deleted_at is null`, organizationID, projectID)
	if err != nil {
		return nil, 0, storage.Wrap(err, fmt.Sprintf("project %d", projectID))
	}
	if !f.isZero() {
		return filteredBuilds(ctx, q, organizationID, projectID, f, p)
	}
	limit, offset, order := min(p.RowLimit(), total-p.RowOffset()), p.RowOffset(), NewestFirst
	if limit <= 0 {
		return []Build{}, total, nil
	}
	if offset > total/2 {
		offset, order = total-offset-limit, oldestFirst
	}
	list, err := ReadBuilds(ctx, q, projectBuilds(order), projectID, limit, offset)
	return list, total, err
}

// query returns the query of the filter and what it takes. A version alone is looked
// for among all builds: an index has it, so no row is read whole.
func (f BuildFilter) query(projectID int64, p storage.Page) (string, []any) {
	version, tag, search := text.Scrub(f.Version, text.MaxLine), text.Scrub(f.Tag, text.MaxLine), text.Scrub(f.Search, text.MaxLine)
	args := []any{projectID, tag, search, p.RowLimit(), p.RowOffset()}
	switch {
	case version == "":
		return matchingBuilds(ofProject + NewestFirst + ` limit $6`), append(args, searchDepth)
	case tag == "" && search == "":
		return matchingBuilds(`project_id = $1 and version = $6 and deleted_at is null`), append(args, version)
	}
	return matchingBuilds(ofVersion + newestOfVersion + ` limit $6`), append(args, searchDepth, version)
}

func filteredBuilds(ctx context.Context, q storage.Querier, organizationID, projectID int64, f BuildFilter,
	p storage.Page) ([]Build, int, error) {
	var found struct {
		Total int           `db:"total"`
		IDs   pq.Int64Array `db:"ids"`
	}
	query, args := f.query(projectID, p)
	if err := q.GetContext(ctx, &found, query, args...); err != nil {
		return nil, 0, storage.Wrap(err, "search builds")
	}
	if len(found.IDs) == 0 {
		return []Build{}, found.Total, nil
	}
	list, err := ReadBuilds(ctx, q, buildsByID, organizationID, found.IDs)
	return list, found.Total, err
}

// expireBuilds skips builds that others hold: they are found by the next call.
const expireBuilds = `
with rows as (select id from builds
	where expires_at is not null and expires_at <= $1 and state = 'enabled' and deleted_at is null
	order by expires_at limit $2 for no key update skip locked)
update builds b set state = 'certificate_expired', updated_at = now(),
	state_reason = 'the provisioning profile expired on ' || to_char(b.expires_at at time zone 'UTC', 'YYYY-MM-DD')
from rows where b.id = rows.id`

// ExpireBuilds marks enabled builds whose profile ended before now as
// certificate_expired, at most limit of them.
func ExpireBuilds(ctx context.Context, q storage.Querier, now time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, expireBuilds, now, limit))
}
