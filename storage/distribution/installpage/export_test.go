package installpage

// LatestQuery is the query of a project's page.
func LatestQuery() string { return latestBuildsFor }
