package symbolfile

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// A need is a file that crashes of a project lack, with the identifiers under which it was
// looked for. A file serves a need when it has one of these and is for the project or for
// all of them.
//
// A file and a need may be written at the same time. Who writes a need shares a lock of the
// organization, and then looks for files; who writes files takes the lock alone, and then
// looks for needs. So one of the two sees the other.

// BuildIdentifier is the type under which a mapping is looked for by the build that it was
// uploaded with; the value is the number of the build.
const BuildIdentifier symbol.IdentifierType = "build"

// VersionIdentifier is the type under which a mapping is looked for by the version that a
// crash names, of a build of its app that may come later; the release is the version code, ""
// for any.
const VersionIdentifier symbol.IdentifierType = "version"

// needLock is the class of the locks, as the first of their two numbers; the locks of
// crash projects are class 1.
const needLock = 2

// ShareNeeds is called by who writes needs of an organization, before it looks for files.
func ShareNeeds(ctx context.Context, tx *storage.Tx, organization int64) error {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock_shared($1::int, ($2::bigint & 2147483647)::int)`, needLock, organization)
	return storage.Wrap(err, "share needs of symbols")
}

// needServed joins n, a need, with u and f, an upload and a file of it that serves it.
const needServed = `
from symbol_needs n
join symbol_need_identifiers i on i.need_id = n.id
join symbol_identifiers s on s.organization_id = i.organization_id and s.type = i.type and s.value = i.value and s.release = i.release
join symbol_files f on f.id = s.symbol_file_id and f.state = 'indexed'
join symbols u on u.id = f.symbol_id and (u.crash_project_id is null or u.crash_project_id = n.crash_project_id)`

const needServedByBuild = `
from symbol_needs n
join symbol_need_identifiers i on i.need_id = n.id and i.type = 'build'
join symbols u on u.build_id = case when i.type = 'build' then i.value::bigint end and u.organization_id = n.organization_id
join symbol_files f on f.symbol_id = u.id and f.state = 'indexed' and f.kind = 'proguard'`

const needServedByVersion = `
from symbol_needs n
join symbol_need_identifiers i on i.need_id = n.id and i.type = 'version'
join crash_projects p on p.id = n.crash_project_id
join builds b on b.project_id = p.project_id and b.version = i.value and i.release in ('', b.version_code) and b.deleted_at is null
join symbols u on u.build_id = b.id and u.organization_id = n.organization_id
join symbol_files f on f.symbol_id = u.id and f.state = 'indexed' and f.kind = 'proguard'`

// anyFile holds when the organization $2 has, or had, a symbol file. It is evaluated once: an
// organization without one looks for nothing.
const anyFile = ` (select exists (select from symbol_generations where organization_id = $2))`

// ServedNeeds returns those of the needs of an organization that a file serves.
func ServedNeeds(ctx context.Context, q storage.Querier, organization int64, needs []int64) ([]int64, error) {
	if len(needs) == 0 {
		return nil, nil
	}
	var served []int64
	err := q.SelectContext(ctx, &served, `select n.id `+needServed+` where n.id = any($1) and`+anyFile+`
		union select n.id `+needServedByBuild+` where n.id = any($1) and`+anyFile+`
		union select n.id `+needServedByVersion+` where n.id = any($1) and`+anyFile, pq.Array(needs), organization)
	return served, storage.Wrap(err, "find needs that are served")
}

// maxServed bounds the needs that one upload serves: it is what a crash project has.
const maxServed = 10_000

// Serves returns the needs that the files of an upload serve, the one last seen first.
func Serves(ctx context.Context, q storage.Querier, organization, upload int64) ([]int64, error) {
	var needs []int64
	err := q.SelectContext(ctx, &needs, `
		select n.id from symbol_needs n where n.id in (
			select i.need_id from symbol_files f
			join symbol_identifiers s on s.symbol_file_id = f.id
			join symbol_need_identifiers i on i.organization_id = s.organization_id and i.type = s.type and i.value = s.value
				and i.release = s.release
			where f.symbol_id = $2 and f.state = 'indexed'
			union
			select i.need_id from symbols u
			join symbol_need_identifiers i on i.organization_id = u.organization_id and i.type = 'build' and i.value = u.build_id::text
				and i.release = ''
			where u.id = $2 and exists (select from symbol_files f where f.symbol_id = u.id and f.state = 'indexed' and f.kind = 'proguard')
			union
			select i.need_id from symbols u join builds b on b.id = u.build_id
			join symbol_need_identifiers i on i.organization_id = u.organization_id and i.type = 'version' and i.value = b.version
				and i.release in ('', b.version_code)
			join symbol_needs v on v.id = i.need_id join crash_projects p on p.id = v.crash_project_id and p.project_id = b.project_id
			where u.id = $2 and exists (select from symbol_files f where f.symbol_id = u.id and f.state = 'indexed' and f.kind = 'proguard'))
		and n.organization_id = $1
		and exists (select from symbols u where u.id = $2 and (u.crash_project_id is null or u.crash_project_id = n.crash_project_id))
		order by n.last_seen desc, n.id desc limit $3`, organization, upload, maxServed)
	return needs, storage.Wrap(err, "find needs that an upload serves")
}

// Needed reports whether crashes lack a file of an upload, whose files were written in the
// same transaction: then the task crash:resymbolicate is to be inserted.
func Needed(ctx context.Context, tx *storage.Tx, organization, upload int64) (bool, error) {
	_, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock($1::int, ($2::bigint & 2147483647)::int)`, needLock, organization)
	if err != nil {
		return false, storage.Wrap(err, "lock needs of symbols")
	}
	needs, err := Serves(ctx, tx, organization, upload)
	return len(needs) > 0, err
}
