package crash

import (
	"context"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// Inherit passes the decisions about a group on to another, as a reading of symbols does it.
func Inherit(ctx context.Context, tx *storage.Tx, from, to int64) error {
	return inherit(ctx, tx, account.Actor{Name: account.ActorSymbols}, from, to)
}

// literal puts the arguments into a query, for EXPLAIN of what the store sends
// (it prepares nothing, so the planner sees the values).
func literal(query string, args []any) string {
	for i := len(args); i > 0; i-- {
		text := fmt.Sprint(args[i-1])
		if _, ok := args[i-1].(string); ok {
			text = "'" + strings.ReplaceAll(text, "'", "''") + "'"
		}
		query = strings.ReplaceAll(query, fmt.Sprintf("$%d", i), text)
	}
	return query
}

// CrashesOfQuery is what Crashes asks for the ids of a far page.
func CrashesOfQuery(key int64) string {
	c := &conditions{}
	return literal(crashesOf(c, []int64{key})+" limit 26 offset 25000", c.args)
}

// CarriersQuery is what Carriers asks.
func CarriersQuery(organization int64, f AttributeFilter) string {
	query, args := carriersQuery(organization, 0, f, 1000)
	return literal(query, args)
}

// EmptiedQuery asks whether a group has a crash left.
func EmptiedQuery(group int64) string { return literal(selectEmptied, []any{group}) }

// UUIDsQuery is what a refused uuid asks.
func UUIDsQuery(project int64) string {
	return literal(selectUUIDs, []any{fmt.Sprintf("{%d}", project), "{0190a1b2-c3d4-7000-8000-000000000001}"})
}

// GroupsQuery is what Groups asks for the first page.
func GroupsQuery(f GroupFilter) (query string, args []any) { return f.page(matches{}, 26) }

// ChangedQuery is what a change of many asks for the groups behind one.
func ChangedQuery(f GroupFilter, id int64) (query string, args []any) {
	m := Matching{filter: f}
	return m.after(id, 1000)
}
