package symbolfile

import (
	"context"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// KnownQuery asks which files an organization has already, so that they need not be sent.
type KnownQuery struct {
	OrganizationID int64
	// ProjectID is the crash project that the files are for; 0: for all, and then what is
	// there for one project only is not known.
	ProjectID int64
	// Identifiers in any spelling. One is known by a debug file that was read, or by the id
	// that a sender named.
	Identifiers []string
	// SHA256 are digests of files, or of debug files in archives, in hexadecimal. One is
	// known also while the file waits to be read, but not when that failed.
	SHA256 []string
}

// knownFiles numbers what is looked for, by which it is found; several spellings have the same
// number. Each is probed by an index.
const knownFiles = `
select want.n from unnest($3::int[], $4::text[], $5::text[]) as want(n, type, value)
where exists (
	select from symbol_identifiers i
	join symbol_files sf on sf.id = i.symbol_file_id and sf.state = 'indexed'
	join symbols s on s.id = sf.symbol_id and (s.crash_project_id is null or s.crash_project_id = $2)
	where i.organization_id = $1 and i.type = want.type and i.value = want.value)
union
select want.n from unnest($6::int[], $7::text[]) as want(n, given)
where exists (
	select from symbols s where s.organization_id = $1 and s.given_id <> '' and lower(s.given_id) = want.given
	and s.state <> 'failed' and (s.crash_project_id is null or s.crash_project_id = $2))
union
select want.n from unnest($8::int[], $9::text[]) as want(n, sha256)
where exists (
	select from symbols s where s.organization_id = $1 and s.sha256 = want.sha256
	and s.state <> 'failed' and (s.crash_project_id is null or s.crash_project_id = $2))
or exists (
	select from symbol_files sf join symbols s on s.id = sf.symbol_id and (s.crash_project_id is null or s.crash_project_id = $2)
	where sf.organization_id = $1 and sf.sha256 = want.sha256 and sf.state = 'indexed')`

// Known reports which of the identifiers, and behind them which of the digests, are known, in
// their order. It is one statement.
func Known(ctx context.Context, q storage.Querier, k KnownQuery) ([]bool, error) {
	var (
		spelled, given, digests []int64
		types, values           []string
		givenIDs, sums          []string
	)
	for n, text := range k.Identifiers {
		for _, t := range []symbol.IdentifierType{symbol.DebugID, symbol.CodeID, symbol.BuildID, symbol.MappingID, symbol.ScriptID} {
			if id, ok := (symbol.Identifier{Type: t, Value: text}).Normalize(); ok {
				spelled, types, values = append(spelled, int64(n)), append(types, string(t)), append(values, id.Value)
			}
		}
		if id := strings.TrimSpace(text); id != "" && !strings.ContainsRune(id, 0) {
			given, givenIDs = append(given, int64(n)), append(givenIDs, strings.ToLower(id))
		}
	}
	for i, sum := range k.SHA256 {
		digests, sums = append(digests, int64(len(k.Identifiers)+i)), append(sums, strings.ToLower(strings.TrimSpace(sum)))
	}
	var found []int
	err := q.SelectContext(ctx, &found, knownFiles, k.OrganizationID, k.ProjectID, pq.Array(spelled), pq.Array(types), pq.Array(values),
		pq.Array(given), pq.Array(givenIDs), pq.Array(digests), pq.Array(sums))
	if err != nil {
		return nil, storage.Wrap(err, "look for known symbols")
	}
	known := make([]bool, len(k.Identifiers)+len(k.SHA256))
	for _, n := range found {
		known[n] = true
	}
	return known, nil
}
