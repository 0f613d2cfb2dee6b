package step_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func TestResolver(t *testing.T) {
	t.Parallel()
	firefox, through := "firefox", func(name string) step.Target {
		return step.Target{Capabilities: step.Capabilities{"browserName": "chrome",
			"slipway:options": map[string]any{"tunnelName": name}}}
	}
	plain := step.Target{Capabilities: step.Capabilities{"browserName": firefox}, IsRDC: true}
	r := step.Resolver{Vendor: "slipway", Case: "pay", Build: "42", Primary: &plain}
	office, none := "office", ""
	tunnels := func(got step.Resolved) (names []string) {
		for _, target := range got.Targets {
			names = append(names, step.Tunnel(target.Capabilities, "slipway"))
		}
		return names
	}

	shared := r.Resolve([]step.Target{plain, through("home")}, nil)
	require.Equal(t, "home", shared.Tunnel)
	require.Equal(t, 1, shared.At)
	require.False(t, shared.Conflict)
	require.Equal(t, []string{"home", "home"}, tunnels(shared), "all go through it")
	require.True(t, shared.Targets[0].IsRDC)
	require.Equal(t, map[string]any{"name": "pay", "build": "42", "tunnelName": "home"}, shared.Targets[0].Capabilities["slipway:options"])

	different := r.Resolve([]step.Target{through("home"), through("attic")}, nil)
	require.True(t, different.Conflict)
	require.Equal(t, 1, different.At)
	require.Equal(t, "home", different.Tunnel)

	given := r.Resolve([]step.Target{plain, through("home")}, &office)
	require.Equal(t, "office", given.Tunnel)
	require.Equal(t, []string{"office", "home"}, tunnels(given), "a target's own stands over the run's")
	require.Equal(t, []string{"", ""}, tunnels(r.Resolve([]step.Target{plain, through("home")}, &none)))
	require.Empty(t, r.Resolve([]step.Target{plain}, nil).Tunnel)
}

func TestTargetsOfACase(t *testing.T) {
	t.Parallel()
	empty, chrome, firefox := step.Target{Capabilities: step.Capabilities{}, IsRDC: true},
		step.Target{Capabilities: step.Capabilities{"browserName": "chrome"}},
		step.Target{Capabilities: step.Capabilities{"browserName": "firefox"}}
	for _, c := range []struct {
		settings step.RunSettings
		want     []step.Target
	}{
		{step.RunSettings{}, []step.Target{}},
		{step.RunSettings{PrimaryTarget: &empty, RunTargets: []step.Target{empty, {}}}, []step.Target{}},
		{step.RunSettings{PrimaryTarget: &chrome}, []step.Target{chrome}},
		{step.RunSettings{PrimaryTarget: &chrome, RunTargets: []step.Target{empty}}, []step.Target{chrome}},
		{step.RunSettings{PrimaryTarget: &chrome, RunTargets: []step.Target{empty, firefox}}, []step.Target{firefox}},
	} {
		require.Equal(t, c.want, c.settings.Targets())
	}
	require.True(t, empty.Empty())
	require.True(t, (*step.Target)(nil).Empty())
	require.False(t, chrome.Empty())
}
