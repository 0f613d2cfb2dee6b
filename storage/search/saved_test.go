package search_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"

	. "github.com/slipway-qa/slipway/storage/search"
)

// A saved search is forgotten with the person whom its name may have.
func TestAuditLogHasNoNamesOfSavedSearches(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	s := Saved{Area: CrashGroups, Name: "ann@example.com", Query: "state=open"}
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return Save(ctx, tx, w.Org.Member.Writer, &s) })
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteSaved(ctx, tx, w.Org.Member.Writer, s.ID)
	})
	require.Equal(t, 2, w.Count(`select count(*) from audit_events where action like 'saved_search.%'`))
	require.Zero(t, w.Count(`select count(*) from audit_events e where e::text like '%ann@example.com%'`))
}
