package symbolfile

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Found is a debug file that one of the wanted identifiers names.
type Found struct {
	File
	Name    string            `db:"name"` // of the upload
	By      symbol.Identifier `db:"-"`
	Project *int64            `db:"crash_project_id"`
}

// Want is an identifier that a crash project looks for.
type Want struct {
	ProjectID  int64
	Identifier symbol.Identifier
}

// MaxFound bounds the files that one identifier, or one build, finds.
const MaxFound = 64

// findFiles probes the index once for each identifier by a lateral join, however many there
// are.
const findFiles = `
select want.n, ` + fileColumns + `, sf.name, sf.crash_project_id
from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) with ordinality as want(project, type, value, release, n)
cross join lateral (
	select sf.*, s.name, s.crash_project_id from symbol_identifiers i
	join symbol_files sf on sf.id = i.symbol_file_id and sf.state = 'indexed'
	join symbols s on s.id = sf.symbol_id and (s.crash_project_id is null or s.crash_project_id = want.project)
	where i.organization_id = $1 and i.type = want.type and i.value = want.value and i.release = want.release
	order by s.crash_project_id is null, sf.id desc limit $6
) sf
order by want.n, sf.crash_project_id is null, sf.id desc`

// Find returns the files of an organization that identifiers name, one statement for all of
// them: for each one, in the order of wants, the files that its crash project may use, those
// of the project before those for all, then the newest first.
func Find(ctx context.Context, q storage.Querier, organization int64, wants []Want) ([][]Found, error) {
	projects := make([]int64, len(wants))
	types, values, releases := make([]string, len(wants)), make([]string, len(wants)), make([]string, len(wants))
	for i, w := range wants {
		projects[i], types[i], values[i], releases[i] = w.ProjectID, string(w.Identifier.Type), w.Identifier.Value, w.Identifier.Release
	}
	var rows []struct {
		N int `db:"n"`
		Found
	}
	err := q.SelectContext(ctx, &rows, findFiles, organization, pq.Array(projects), pq.Array(types), pq.Array(values),
		pq.Array(releases), MaxFound)
	if err != nil {
		return nil, storage.Wrap(err, "find symbol files")
	}
	found := make([][]Found, len(wants))
	for i := range rows {
		n := rows[i].N - 1
		f := rows[i].Found
		f.By = wants[n].Identifier
		found[n] = append(found[n], f)
	}
	return found, nil
}

// filesOfBuilds are the symbols of a build: those that came with it, and those of the file
// that it names, which a copy shares with its original and which a dSYM may have been attached
// as.
const filesOfBuilds = `
select want.build_id, ` + fileColumns + `, sf.name, sf.crash_project_id
from unnest($2::bigint[]) as want(build_id)
cross join lateral (
	select sf.*, s.name, s.crash_project_id
	from symbol_files sf
	join symbols s on s.id = sf.symbol_id
	where sf.state = 'indexed' and sf.symbol_id in (
		select id from symbols where organization_id = $1 and build_id = want.build_id
		union
		select s.id from builds b join symbols s on s.file_id = b.symbols_file_id and s.organization_id = $1
		where b.organization_id = $1 and b.id = want.build_id)
	order by sf.id desc limit $3
) sf
order by want.build_id, sf.id desc`

// OfBuilds returns the debug files of builds that are indexed, newest first, without their
// identifiers, by the build. By is left to the caller.
func OfBuilds(ctx context.Context, q storage.Querier, organizationID int64, builds []int64) (map[int64][]Found, error) {
	var rows []struct {
		Build int64 `db:"build_id"`
		Found
	}
	err := q.SelectContext(ctx, &rows, filesOfBuilds, organizationID, pq.Array(builds), MaxFound)
	if err != nil {
		return nil, storage.Wrap(err, "symbol files of builds")
	}
	found := make(map[int64][]Found, len(builds))
	for i := range rows {
		found[rows[i].Build] = append(found[rows[i].Build], rows[i].Found)
	}
	return found, nil
}

// OfBuild returns the debug files of one build as OfBuilds does.
func OfBuild(ctx context.Context, q storage.Querier, organizationID, buildID int64) ([]Found, error) {
	found, err := OfBuilds(ctx, q, organizationID, []int64{buildID})
	return append([]Found{}, found[buildID]...), err
}
