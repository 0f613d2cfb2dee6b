package crash_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// What is stored is found by indexes in a table of 100,000 crashes.
func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.Record(r.Made(nil), r.Made(func(c *crash.Crash) { c.Group = crashtest.Grouping("rare") }))
	r.Fill(r.ID(`select id from crash_group_keys k where group_id = $1`, r.Group("k").ID))
	for name, c := range map[string]struct{ query, index string }{
		"purge": {crashtest.Literal(crash.CarriersQuery(r.Org.ID, condition.Attribute{Key: "user",
			Value: "u7"})), "crashes_attributes"},
		"whether a group is empty": {crashtest.Literal(crash.EmptiedQuery(r.Group("rare").ID)), "Index Cond: (key_id = k.id)"},
	} {
		plan := r.Plan(c.query)
		require.Contains(t, plan, c.index, name+"\n"+plan)
	}
}
