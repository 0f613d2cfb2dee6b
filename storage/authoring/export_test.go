package authoring

// ParseTunnel reads the address of a tunnel.
var ParseTunnel = parseTunnel

// HoldsNUL reports whether a JSON text has an escaped NUL.
var HoldsNUL = holdsNUL

// CasePage gives the statement of a list of cases and its arguments.
func CasePage(f CaseFilter) (string, []any) {
	return f.matching().page("test_cases", caseColumns, ownerTables, f.Page)
}
