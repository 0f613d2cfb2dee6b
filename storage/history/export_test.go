package history

// Statements are those that read histories.
func Statements() map[string]string {
	narrow := Filter{BuildID: 1, Environment: "staging", Target: "chrome"}
	where, _ := narrow.matching(8)
	windowed, _ := narrow.matching(6)
	return map[string]string{
		"page":     pageOf(caseColumns, "test_runs", "case_id", "true", caseSums, caseTables),
		"filtered": pageOf(caseColumns, "test_runs", "case_id", where, caseSums, caseTables),
		"place":    looked("r.created_at as at, r.id", "test_runs", "case_id") + ` offset $7`,
		"window": windowOf(caseColumns+", "+groupOf("r.case_name", "r.revision_id")+" as together", "test_runs",
			"case_id", caseHealed, windowed),
		"standing": standing(caseColumns, "test_runs", "case_id"),
		"suite":    pageOf(suiteColumns, "suite_runs", "suite_id", "true", suiteSums, suiteTables),
		"of suite": windowOf(suiteColumns+", "+groupOf("r.suite_name", "''")+" as together", "suite_runs", "suite_id", "r.healed", "true"),
		"cases":    topOf("true"),
		"walk":     walkCases,
		"beyond":   casesBeyond,
		"suites":   suitesBeyond,
	}
}
