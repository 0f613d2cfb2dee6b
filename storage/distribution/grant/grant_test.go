package grant_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
)

func TestGrants(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Group("a")
	f.Group("b")
	up := f.App("com.example.app")
	change := func(g grant.Groups) ([]string, []string, bool) {
		var p *distribution.Project
		var bad []string
		f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			p, bad, err = distribution.UpdateProject(ctx, tx, f.Org.Member.Writer, up.Project.ID, distribution.ProjectChange{Groups: g})
			return err
		})
		names, err := grant.ProjectGroups(t.Context(), f.DB, up.Project.ID)
		require.NoError(t, err)
		return names, bad, p.AllTesters
	}
	for _, step := range []struct {
		give    grant.Groups
		names   []string
		invalid []string
		all     bool
	}{
		{grant.Groups{Given: true, Names: []string{"A", "b", "a", ""}}, []string{"a", "b"}, []string{}, false},
		{grant.Groups{}, []string{"a", "b"}, []string{}, false},
		{grant.Groups{Given: true, Names: []string{"x", "y"}}, []string{"a", "b"}, []string{"x", "y"}, false},
		{grant.Groups{Given: true, Names: []string{"b", "x"}}, []string{"b"}, []string{"x"}, false},
		{grant.Groups{Given: true, All: true}, []string{}, []string{}, true},
		{grant.Groups{Given: true, All: true, Names: []string{"a", "x"}}, []string{"a"}, []string{"x"}, true},
		{grant.Groups{Given: true, Names: []string{"x"}}, []string{"a"}, []string{"x"}, true},
		{grant.Groups{Given: true}, []string{}, []string{}, false},
	} {
		names, invalid, all := change(step.give)
		require.Equal(t, step.names, names)
		require.ElementsMatch(t, step.invalid, invalid)
		require.Equal(t, step.all, all)
	}
	require.Equal(t, 5, f.Audited(account.DistributionChanged), "only what changed something")

	var b *distribution.Build
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		b, _, err = distribution.UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, up.Build.ID,
			distribution.BuildChange{Groups: grant.Groups{Given: true, All: true, Names: []string{"b"}}})
		return err
	})
	require.True(t, b.AllTesters)
	names, err := grant.BuildGroups(t.Context(), f.DB, b.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, names)
}
