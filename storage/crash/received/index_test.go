package received_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

// A uuid is found by an index in a table of 100,000 crashes.
func TestIndexesAreUsed(t *testing.T) {
	t.Parallel()
	r := crashtest.Open(t)
	r.Record(r.Made(nil))
	r.Fill(r.ID(`select id from crash_group_keys k where group_id = $1`, r.Group("k").ID))
	plan := r.Plan(crashtest.Literal(received.UUIDsQuery(r.Project)))
	require.Contains(t, plan, "crash_uuids_first", plan)
}
