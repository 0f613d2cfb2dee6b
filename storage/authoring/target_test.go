package authoring_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/migrations"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// A target without capabilities is none, in new cases and in those from before.
func TestEmptyTargets(t *testing.T) {
	t.Parallel()
	w := open(t)
	empty, chrome := capability.Target{Capabilities: capability.Capabilities{}, IsRDC: true},
		capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	for i, c := range []struct {
		settings capability.RunSettings
		stored   string
		runnable bool
	}{
		{capability.RunSettings{}, `{"primaryTarget":null,"runTargets":[]}`, false},
		{capability.RunSettings{}, `{"runTargets":null}`, false},
		{capability.RunSettings{PrimaryTarget: &empty}, `{"primaryTarget":{"capabilities":{}},"runTargets":[]}`, false},
		{capability.RunSettings{RunTargets: []capability.Target{empty, {}}},
			`{"primaryTarget":{"capabilities":null},"runTargets":[{"capabilities":{}},{"capabilities":null}]}`, false},
		{capability.RunSettings{PrimaryTarget: &empty, RunTargets: []capability.Target{empty, chrome}},
			`{"primaryTarget":{"capabilities":{}},"runTargets":[{"capabilities":{}},{"capabilities":{"a":1}}]}`, true},
		{capability.RunSettings{PrimaryTarget: &chrome}, `{"primaryTarget":{"capabilities":{"a":1}},"runTargets":[]}`, true},
	} {
		n := fixture.LoginCase("case", 0)
		n.Settings = c.settings
		made, err := w.TryCase(w.Org.Member.Writer, n)
		require.NoError(t, err)
		runnable := func() bool {
			return w.Count(`select count(*) from test_cases where id = $1 and runnable`, made.ID) == 1
		}
		require.Equal(t, c.runnable, runnable(), "case %d", i)
		w.Exec(`update test_cases set runnable = true, run_settings = $2 where id = $1`, made.ID, c.stored)
		text, err := migrations.Files.ReadFile("00012_empty_targets.sql")
		require.NoError(t, err)
		_, statement, found := strings.Cut(string(text), "set local lock_timeout = '3s';")
		require.True(t, found)
		w.Exec(statement)
		require.Equal(t, c.runnable, runnable(), "case %d, from before", i)
	}
}
