package reading

import "github.com/slipway-qa/slipway/storage/crash/condition"

// CrashesOfQuery is what Crashes asks for the ids of a far page.
func CrashesOfQuery(key int64) (query string, args []any) {
	c := &condition.List{}
	return crashesOf(c, []int64{key}) + " limit 26 offset 25000", c.Args
}

// GroupsQuery is what Groups asks for the first page.
func GroupsQuery(f GroupFilter) (query string, args []any) { return f.page(matches{}, 26) }

// ChangedQuery is what a change of many asks for the groups behind one.
func ChangedQuery(f GroupFilter, id int64) (query string, args []any) {
	s := Selection{filter: f}
	return s.after(id, 1000)
}
