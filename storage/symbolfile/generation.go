package symbolfile

import (
	"context"
	"path"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Generations are the numbers of an organization's symbol files by their kind. One is raised
// in the transaction that indexes or deletes a file of the kind, by triggers on the table: what
// was found, and what was not, holds while the number stands. A kind that the organization
// never had a file of has none.
type Generations map[symbol.Kind]int64

// ReadGenerations reads all of an organization in one statement. What is looked for after it
// is at least as new as these numbers say.
func ReadGenerations(ctx context.Context, q storage.Querier, organization int64) (Generations, error) {
	var rows []struct {
		Kind       symbol.Kind `db:"kind"`
		Generation int64       `db:"generation"`
	}
	err := q.SelectContext(ctx, &rows, `select kind, generation from symbol_generations where organization_id = $1`, organization)
	if err != nil {
		return nil, storage.Wrap(err, "read generations of symbols")
	}
	g := make(Generations, len(rows))
	for _, r := range rows {
		g[r.Kind] = r.Generation
	}
	return g, nil
}

// Has reports whether the organization has, or had, a file of one of the kinds.
func (g Generations) Has(kinds ...symbol.Kind) bool {
	for _, k := range kinds {
		if g[k] > 0 {
			return true
		}
	}
	return false
}

// Of returns a number that is another one after a file of one of the kinds came or went.
func (g Generations) Of(kinds ...symbol.Kind) (sum int64) {
	for _, k := range kinds {
		sum += g[k]
	}
	return sum
}

// ScriptName is the part of the address of a script, or of its map, that all spellings of the
// address share: the name of the file, without query, fragment and ".map".
func ScriptName(address string) string {
	address = strings.TrimPrefix(strings.TrimSpace(address), "async ")
	if n := strings.IndexAny(address, "?#"); n >= 0 {
		address = address[:n]
	}
	name := path.Base(strings.ReplaceAll(address, `\`, "/"))
	name = name[strings.LastIndexByte(name, ':')+1:] // a drive, or a scheme without slashes
	for strings.HasSuffix(name, ".map") {
		name = strings.TrimSuffix(name, ".map")
	}
	return name
}

// ScriptNames returns the distinct names of all scripts and maps that an organization has
// addresses of; false when the addresses are more than a limit.
func ScriptNames(ctx context.Context, q storage.Querier, organization int64, limit int) (map[string]bool, bool, error) {
	var addresses []string
	err := q.SelectContext(ctx, &addresses, `select value from symbol_identifiers where organization_id = $1 and type = 'url' limit $2`,
		organization, limit+1)
	if err != nil {
		return nil, false, storage.Wrap(err, "read addresses of scripts")
	}
	if len(addresses) > limit {
		return nil, false, nil
	}
	names := make(map[string]bool, len(addresses)/4)
	for _, a := range addresses {
		names[ScriptName(a)] = true
	}
	return names, true, nil
}
