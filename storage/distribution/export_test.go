package distribution

import "github.com/slipway-qa/slipway/storage"

// PageQueries are the queries of unfiltered lists.
func PageQueries() []string {
	return []string{projectBuilds(NewestFirst), projectBuilds(oldestFirst)}
}

// FilterQuery is the query of a filtered list.
func FilterQuery(f BuildFilter, projectID int64) (string, []any) {
	return f.query(projectID, storage.Page{Limit: 25})
}

// SearchDepth is how many builds a search looks at.
const SearchDepth = searchDepth
