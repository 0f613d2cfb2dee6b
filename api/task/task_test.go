package task

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestMembersDoNotReadWhatWentWrongInside(t *testing.T) {
	t.Parallel()
	inside, plain := ledger.Internal+"dial tcp 10.0.0.5:5432: refused", "key is missing"
	member, operator := ledger.Scope{OrganizationID: 1}, ledger.Scope{}
	require.NotContains(t, *viewOf(&ledger.Task{Error: &inside}, member).Error, "10.0.0.5")
	require.Equal(t, inside, *viewOf(&ledger.Task{Error: &inside}, operator).Error)
	require.Equal(t, plain, *viewOf(&ledger.Task{Error: &plain}, member).Error)
	require.Nil(t, viewOf(&ledger.Task{}, member).Error)
}
