package capability_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
)

func TestResolver(t *testing.T) {
	t.Parallel()
	firefox, through := "firefox", func(name string) capability.Target {
		return capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome",
			"slipway:options": map[string]any{"tunnelName": name}}}
	}
	plain := capability.Target{Capabilities: capability.Capabilities{"browserName": firefox}, IsRDC: true}
	r := capability.Resolver{Vendor: "slipway", Case: "pay", Build: "42", Primary: &plain}
	office, none := "office", ""
	tunnels := func(got capability.Resolved) (names []string) {
		for _, target := range got.Targets {
			names = append(names, capability.Tunnel(target.Capabilities, "slipway"))
		}
		return names
	}

	shared := r.Resolve([]capability.Target{plain, through("home")}, nil)
	require.Equal(t, "home", shared.Tunnel)
	require.Equal(t, 1, shared.At)
	require.False(t, shared.Conflict)
	require.Equal(t, []string{"home", "home"}, tunnels(shared), "all go through it")
	require.True(t, shared.Targets[0].IsRDC)
	require.Equal(t, map[string]any{"name": "pay", "build": "42", "tunnelName": "home"}, shared.Targets[0].Capabilities["slipway:options"])

	different := r.Resolve([]capability.Target{through("home"), through("attic")}, nil)
	require.True(t, different.Conflict)
	require.Equal(t, 1, different.At)
	require.Equal(t, "home", different.Tunnel)

	given := r.Resolve([]capability.Target{plain, through("home")}, &office)
	require.Equal(t, "office", given.Tunnel)
	require.Equal(t, []string{"office", "home"}, tunnels(given), "a target's own stands over the run's")
	require.Equal(t, []string{"", ""}, tunnels(r.Resolve([]capability.Target{plain, through("home")}, &none)))
	require.Empty(t, r.Resolve([]capability.Target{plain}, nil).Tunnel)
}

func TestTargetsOfACase(t *testing.T) {
	t.Parallel()
	empty, chrome, firefox := capability.Target{Capabilities: capability.Capabilities{}, IsRDC: true},
		capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}},
		capability.Target{Capabilities: capability.Capabilities{"browserName": "firefox"}}
	for _, c := range []struct {
		settings capability.RunSettings
		want     []capability.Target
	}{
		{capability.RunSettings{}, []capability.Target{}},
		{capability.RunSettings{PrimaryTarget: &empty, RunTargets: []capability.Target{empty, {}}}, []capability.Target{}},
		{capability.RunSettings{PrimaryTarget: &chrome}, []capability.Target{chrome}},
		{capability.RunSettings{PrimaryTarget: &chrome, RunTargets: []capability.Target{empty}}, []capability.Target{chrome}},
		{capability.RunSettings{PrimaryTarget: &chrome, RunTargets: []capability.Target{empty, firefox}}, []capability.Target{firefox}},
	} {
		require.Equal(t, c.want, c.settings.Targets())
	}
	require.True(t, empty.Empty())
	require.True(t, (*capability.Target)(nil).Empty())
	require.False(t, chrome.Empty())
}
