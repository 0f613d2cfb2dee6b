package authoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// on is a target that names a tunnel in the vendor's options; "" names none.
func on(browser, tunnel string) tree {
	capabilities := tree{"browserName": browser}
	if tunnel != "" {
		capabilities["slipway:options"] = tree{"tunnelName": tunnel}
	}
	return tree{"capabilities": capabilities}
}

func TestTunnelOfTheTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	w.newTunnel("home")
	newCase := func(settings tree) string { return w.newCase(w.member, "case", tree{"runSettings": settings}) }
	plain := newCase(tree{"target": on("chrome", "")})
	targeted := newCase(tree{"runTargets": []tree{on("chrome", "office"), on("firefox", "")}})
	stored := newCase(tree{"runTargets": []tree{on("chrome", "office")}, "scTunnelName": "home"})
	two := func(first, second string) tree {
		return tree{"targets": []tree{on("chrome", first), on("firefox", second)}}
	}
	with := func(body tree, name any) tree { body["scTunnelName"] = name; return body }
	for i, tc := range []struct {
		id     string
		body   tree
		tunnel string
		shown  []any // tunnelName of each job
	}{
		{plain, two("", "office"), "office", []any{"office", "office"}},
		{plain, two("office", "office"), "office", []any{"office", "office"}},
		{plain, with(two("", "office"), nil), "", []any{nil, nil}},
		{plain, with(two("office", "home"), nil), "", []any{nil, nil}},
		{plain, with(two("", ""), "home"), "home", []any{"home", "home"}},
		{targeted, tree{}, "office", []any{"office", "office"}},
		{targeted, with(tree{}, nil), "", []any{nil, nil}},
		{targeted, two("", ""), "", []any{nil, nil}},
		{stored, tree{}, "home", []any{"office"}},
		{stored, with(tree{}, nil), "", []any{nil}},
	} {
		run := w.start(tc.id, asJSON(t, tc.body))
		require.Equal(t, tc.tunnel, run["scTunnelName"], i)
		for k, shown := range tc.shown {
			capabilities := jobOf(run, k)["target"].(tree)["capabilities"].(tree)
			require.Equal(t, shown, capabilities["slipway:options"].(tree)["tunnelName"], i)
		}
	}
	const second = "targets[1].capabilities.slipway:options.tunnelName"
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/"+plain+"/run", asJSON(t, two("office", "home")), second)
	w.refused(w.member, 400, "SC_TUNNEL_NOT_FOUND", "POST", "/testcases/"+plain+"/run", asJSON(t, two("", "nowhere")), second)
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases", importText(t, "x", tree{"runSettings": tree{
		"runTargets": []tree{on("chrome", "office"), on("firefox", "home")}}}), "runSettings.runT"+second[1:])
	w.newCase(w.member, "its own tunnel goes before", tree{"runSettings": tree{"scTunnelName": "office",
		"runTargets": []tree{on("chrome", "office"), on("firefox", "home")}}})
}
