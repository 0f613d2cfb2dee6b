package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// The groups that have an app, or a build by itself, are listed, and single ones come and go
// without the others.
func TestGroupsThatHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.App("com.example.a")
	main := w.Org.Team.ID
	one, two := w.group("one", main), w.group("Two", main)
	for _, path := range []string{p("/api/v3/projects/%d/groups", app.Project.ID), p("/api/v3/builds/%d/groups", app.Build.ID)} {
		listed := func() any { return members(at(w.ok(w.member, 200, "GET", path, ""), "groups"), "name") }
		require.Empty(t, listed())
		audits := w.Audited(account.DistributionChanged)
		for _, id := range []int64{two, one, one} {
			require.Equal(t, 204, w.call(w.owner, "PUT", p("%s/%d", path, id), "").Code)
		}
		require.Equal(t, audits+2, w.Audited(account.DistributionChanged), "what is there already is no change")
		require.Equal(t, []any{"one", "Two"}, listed())
		first := w.ok(w.member, 200, "GET", path+"?per_page=1", "")
		require.Equal(t, []any{"one"}, members(at(first, "groups"), "name"))
		require.EqualValues(t, 2, at(first, "pagination", "total"))
		require.Equal(t, 204, w.call(w.owner, "DELETE", p("%s/%d", path, one), "").Code)
		require.Equal(t, []any{"Two"}, listed())
		w.refused(w.owner, 404, "DELETE", p("%s/%d", path, one), "")

		w.refused(w.neighbor, 403, "PUT", p("%s/%d", path, one), "")
		w.refused(w.neighbor, 403, "DELETE", p("%s/%d", path, two), "")
		// Others see nothing of it and change nothing, and their groups get nothing.
		w.refused(w.stranger, 404, "GET", path, "")
		w.refused(w.stranger, 404, "PUT", p("%s/%d", path, two), "")
		w.refused(w.stranger, 404, "DELETE", p("%s/%d", path, two), "")
		w.refused(w.owner, 404, "PUT", p("%s/%d", path, 999999), "")
		require.Equal(t, []any{"Two"}, listed())
	}
}
