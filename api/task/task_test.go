package task

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestMembersDoNotReadWhatWentWrongInside(t *testing.T) {
	t.Parallel()
	inside, plain := ledger.Internal+"dial tcp 10.0.0.5:5432: refused", "key is missing"
	member, operator := ledger.Scope{OrganizationID: 1}, ledger.Scope{}
	shown := func(failure *string, s ledger.Scope) view {
		task := ledger.Task{Error: failure}
		if failure != nil {
			doc, err := json.Marshal([]ledger.Failed{{Attempt: 1, Error: *failure, Worker: &inside}})
			require.NoError(t, err)
			task.Failures = (*json.RawMessage)(&doc)
		}
		v, err := viewOf(&task, s, nil)
		require.NoError(t, err)
		return v
	}
	hidden := shown(&inside, member)
	require.NotContains(t, *hidden.Error, "10.0.0.5")
	require.NotContains(t, hidden.Failures[0].Error, "10.0.0.5")
	require.Nil(t, hidden.Failures[0].Worker)
	open := shown(&inside, operator)
	require.Equal(t, inside, *open.Error)
	require.Equal(t, inside, open.Failures[0].Error)
	require.NotNil(t, open.Failures[0].Worker)
	require.Equal(t, plain, *shown(&plain, member).Error)
	require.Nil(t, shown(nil, member).Error)
}
