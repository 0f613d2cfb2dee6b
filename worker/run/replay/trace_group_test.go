package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// surroundedTest plays a test of the shop with steps before and after it, of which the last
// fails, and with a group in a group, and returns its trace.
func surroundedTest(t testing.TB) []byte {
	id := func(s step.Step, id string) step.Step {
		s.ID = id
		return s
	}
	runs := func(id, of string, with step.Values) step.Step {
		return step.Step{ID: id, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: of, With: with}}}
	}
	groups := group.Groups{
		"g1": {ID: "g1", RevisionID: "r1", Name: "Sign in", Parameters: []group.Parameter{{Name: "word"}},
			Steps: []step.Step{id(input("#user", "ann"), "u"), runs("in", "g2", step.Values{"word": "{{param:word}}"})}},
		"g2": {ID: "g2", RevisionID: "r2", Name: "Type", Parameters: []group.Parameter{{Name: "word"}},
			Steps: []step.Step{id(input("#secret", "{{param:word}}"), "p")}},
	}
	absent := runs("s2", "g2", step.Values{"word": "x"})
	absent.When = &step.Condition{Selector: css("#banner"), Matcher: &step.Matcher{Name: step.Visible}, TimeoutMS: 100}
	failing := is("#done", step.TextIs, "sent")
	failing.TimeoutMS = 300
	var plan group.Plan
	for _, part := range []group.Part{
		{Phase: step.SetUp, Prefix: "setUp:", Steps: []step.Step{id(click("h1"), "s1")}},
		{Steps: []step.Step{runs("s1", "g1", step.Values{"word": "{{password}}"}), absent, id(click("#buy"), "s3")}},
		{Phase: step.TearDown, Prefix: "tearDown:", Steps: []step.Step{id(is("#done", step.TextIs, "ordered"), "s1"), id(failing, "s2")}},
	} {
		require.NoError(t, plan.Add(part, groups))
	}
	recorder := recording(false)
	r := play(t, replay.Config{TestURL: traceShop(t), Lookup: password, Trace: recorder, Steps: plan.Steps, Places: plan.Places})
	require.Equal(t, "FAILED", r.Status, r.Message)
	require.Contains(t, r.Message, "tear-down: ")
	data, err := recorder.Zip()
	require.NoError(t, err)
	return data
}

// Step groups, set-up and tear-down are actions whose parts are those of their steps, and
// show the page before the first of them and after the last.
func TestTraceOfGroupsAndPhases(t *testing.T) {
	t.Parallel()
	files := unpacked(t, surroundedTest(t))
	for name, text := range files {
		require.NotContains(t, text, "correct horse", name)
	}
	titles, ends, shown := map[string]string{"": ""}, map[string]traceEvent{}, map[string]bool{}
	var tree []string
	for _, e := range traceEvents(t, files["trace.trace"]) {
		switch e.Type {
		case "before":
			titles[e.CallID] = e.Title
			tree = append(tree, titles[e.ParentID]+" > "+e.Title+" "+e.Params["step"])
			if e.Title == `Input text css #secret "{{param:word}}"` {
				require.Equal(t, "Type (g2)", e.Params["group"])
			}
		case "after":
			ends[titles[e.CallID]] = e
		case "frame-snapshot":
			shown[e.Snapshot.Name] = true
		}
	}
	require.Contains(t, tree[0], " > Open http://127.0.0.1")
	require.Equal(t, []string{
		" > Set-up ",
		"Set-up > Click css h1 setUp:s1",
		` > Run group "Sign in" s1`,
		`Run group "Sign in" > Input text css #user "ann" s1/u`,
		`Run group "Sign in" > Run group "Type" s1/in`,
		`Run group "Type" > Input text css #secret "{{param:word}}" s1/in/p`,
		` > Run group "Type" s2`,
		" > Click css #buy s3",
		" > Tear-down ",
		"Tear-down > Assert css #done text tearDown:s1",
		"Tear-down > Assert css #done text tearDown:s2",
	}, tree[1:])
	require.Contains(t, ends["Tear-down"].Error.Message, "sent")
	for _, title := range []string{"Set-up", `Run group "Sign in"`, `Run group "Type"`, "Tear-down"} {
		require.True(t, shown[ends[title].AfterSnapshot], title)
	}
	require.Nil(t, ends[`Run group "Sign in"`].Error)
}

// Playwright's viewer folds what a group did.
func TestViewerShowsGroups(t *testing.T) {
	t.Parallel()
	v := openViewer(t, surroundedTest(t))
	actions := v.look(`const all = [...document.querySelectorAll(".action-title")].map((e) => e.textContent);
return all.some((e) => e.includes("Tear-down")) ? all.join("|") : ""`)
	require.Contains(t, actions, `Run group "Sign in"`)
	v.press(".action-title", `Run group "Sign in"`)
	require.Equal(t, "ann", v.snapshot("After", `return page.querySelector("#user")?.value`))
	v.look(`const row = [...document.querySelectorAll("[role=treeitem]")].find((e) => e.textContent.includes("Sign in"));
row.querySelector(".codicon-chevron-right")?.click();
return [...document.querySelectorAll(".action-title")].some((e) => e.textContent.includes("Input text css #user")) ? "unfolded" : ""`)
}
