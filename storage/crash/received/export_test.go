package received

import "fmt"

// UUIDsQuery is what a refused uuid asks.
func UUIDsQuery(project int64) (query string, args []any) {
	return selectUUIDs, []any{fmt.Sprintf("{%d}", project), "{0190a1b2-c3d4-7000-8000-000000000001}"}
}
