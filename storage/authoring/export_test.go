package authoring

// ParseTunnel reads the address of a tunnel.
var ParseTunnel = parseTunnel

// CasePage gives the statement of a list of cases and its arguments.
func CasePage(f CaseFilter) (string, []any) {
	return f.page(f.conditions())
}
