package crash

import (
	"context"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// Inherit passes the decisions about a group on to another, as a reading of symbols does it.
func Inherit(ctx context.Context, tx *storage.Tx, from, to int64) error {
	return inherit(ctx, tx, account.Actor{Name: account.ActorSymbols}, from, to)
}

// CarriersQuery is what Carriers asks.
func CarriersQuery(organization int64, f condition.Attribute) (query string, args []any) {
	return carriersQuery(organization, 0, f, 1000)
}

// EmptiedQuery asks whether a group has a crash left.
func EmptiedQuery(group int64) (query string, args []any) {
	return selectEmptied, []any{fmt.Sprintf("{%d}", group)}
}
