package group

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

func idOf(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", n) }

func runs(id, group string, with step.Values) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: group, With: with}}}
}

func opens(id, address string) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}}
}

func named(n int, steps ...step.Step) *Group {
	return &Group{ID: idOf(n), RevisionID: idOf(100 + n), Name: fmt.Sprintf("G%d", n), Steps: steps}
}

func groupsOf(list ...*Group) Groups {
	all := Groups{}
	for _, g := range list {
		all[g.ID] = g
	}
	return all
}

func text(s string) *string { return &s }

func TestPlan(t *testing.T) {
	t.Parallel()
	inner := named(2, opens("a", "/{{param:path}}"))
	inner.Parameters = []Parameter{{Name: "path"}, {Name: "more", Default: text("x")}}
	outer := named(1, opens("a", "/one"), runs("b", inner.ID, step.Values{"path": "{{param:where}}/{{team:name}}"}))
	outer.Parameters = []Parameter{{Name: "where"}}
	var p Plan
	groups := groupsOf(inner, outer)
	require.NoError(t, p.Add(Part{Phase: step.SetUp, Prefix: "setUp:", Steps: []step.Step{opens("s1", "/")}}, groups))
	require.NoError(t, p.Add(Part{Steps: []step.Step{runs("s1", outer.ID, step.Values{"where": "{{user}}"}), opens("s2", "/end")}}, groups))

	ids := []string{}
	for _, s := range p.Steps {
		ids = append(ids, s.ID)
	}
	require.Equal(t, []string{"setUp:s1", "s1", "s1/a", "s1/b", "s1/b/a", "s2"}, ids)
	require.Equal(t, []Place{
		{Phase: step.SetUp, Part: 1},
		{Part: 2, End: 5},
		{Part: 2, Group: &step.InGroup{ID: outer.ID, Name: "G1", RevisionID: outer.RevisionID, StepID: "a", Depth: 1},
			Values: map[string]string{"where": "{{user}}"}},
		{Part: 2, Group: &step.InGroup{ID: outer.ID, Name: "G1", RevisionID: outer.RevisionID, StepID: "b", Depth: 1},
			Values: map[string]string{"where": "{{user}}"}, End: 5},
		{Part: 2, Group: &step.InGroup{ID: inner.ID, Name: "G2", RevisionID: inner.RevisionID, StepID: "a", Depth: 2},
			Values: map[string]string{"path": "{{user}}/{{team:name}}", "more": "x"}},
		{Part: 2},
	}, p.Places)
	require.Equal(t, "s1", p.Steps[1].ID)
	require.Equal(t, "a", outer.Steps[0].ID, "the group itself keeps its ids")
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	plain := named(1, opens("a", "/"))
	needs := named(2, opens("a", "/{{param:path}}"))
	needs.Parameters = []Parameter{{Name: "path"}}
	one, two := named(3), named(4)
	one.Steps, two.Steps = []step.Step{runs("a", two.ID, nil)}, []step.Step{runs("a", one.ID, nil)}
	wrong := named(5, opens("a", "/"), runs("b", needs.ID, nil))
	many := named(6)
	for i := range step.MaxSteps {
		many.Steps = append(many.Steps, opens(fmt.Sprint("s", i), "/"))
	}
	groups := groupsOf(plain, needs, one, two, wrong, many)
	deep := plain
	for n := range MaxDepth {
		deep = named(10+n, runs("a", deep.ID, nil))
		groups[deep.ID] = deep
	}
	for name, c := range map[string]struct {
		steps []step.Step
		err   string
	}{
		"unknown":       {[]step.Step{opens("s1", "/"), runs("s2", idOf(99), nil)}, "[1].tool.args.groupId: the step group does not exist"},
		"missing value": {[]step.Step{runs("s1", needs.ID, nil)}, `[0].tool.args.with: has no path, which the step group "G2" needs`},
		"unknown value": {[]step.Step{runs("s1", needs.ID, step.Values{"path": "", "pat": ""})},
			`[0].tool.args.with.pat: is no parameter of the step group "G2": it has path`},
		"value of none": {[]step.Step{runs("s1", plain.ID, step.Values{"path": ""})},
			`[0].tool.args.with.path: is no parameter of the step group "G1", which has none`},
		"itself": {[]step.Step{runs("s1", one.ID, nil)},
			`[0].tool.args.groupId: is of a step group that cannot be run: steps[0].tool.args.groupId of "G4" is of a step group that would run ` +
				`itself: G3 > G4 > G3`},
		"wrong inside": {[]step.Step{runs("s1", wrong.ID, nil)},
			`[0].tool.args.groupId: is of a step group that cannot be run: steps[1].tool.args.with of "G5" has no path, which the step group ` +
				`"G2" needs`},
		"too many": {[]step.Step{runs("s1", many.ID, nil)},
			`[0].tool.args.groupId: is of a step group that cannot be run: steps[999] of "G6" is one step too many: with its step groups a test ` +
				`has at most 1000`},
		"too deep": {[]step.Step{runs("s1", deep.ID, nil)},
			`[0].tool.args.groupId: is of a step group that cannot be run: steps[0].tool.args.groupId of "G10" is of a step group in more than 4 ` +
				`others: G14 > G13 > G12 > G11 > G10 > G1`},
		"parameter in a test": {[]step.Step{opens("s1", "/{{param:path}}")},
			"[0].tool: names {{param:path}}: there are parameters in step groups only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.EqualError(t, Check(c.steps, groups), c.err)
		})
	}
	require.NoError(t, Check([]step.Step{runs("s1", plain.ID, nil), runs("s2", needs.ID, step.Values{"path": ""})}, groups))
}

func TestValuesAreBounded(t *testing.T) {
	t.Parallel()
	long := make([]byte, 20_000)
	for i := range long {
		long[i] = 'x'
	}
	g := named(1, opens("a", "/"))
	g.Parameters = []Parameter{{Name: "p"}}
	steps := []step.Step{}
	for i := range 300 {
		steps = append(steps, runs(fmt.Sprint("s", i), g.ID, step.Values{"p": string(long)}))
	}
	require.ErrorContains(t, Check(steps, groupsOf(g)), "the values of all parameters of a test have at most 4 MiB")
}

func TestOwn(t *testing.T) {
	t.Parallel()
	g := named(1, opens("a", "/{{param:path}}"))
	require.EqualError(t, g.Own(), "[0].tool: names {{param:path}}, which is no parameter of the step group")
	g.Parameters = []Parameter{{Name: "path"}}
	require.NoError(t, g.Own())
	g.Steps = append(g.Steps, step.Step{Tool: step.Tool{Type: step.Finish}})
	require.EqualError(t, g.Own(), "[1].tool.type: must not be finish: the test that runs the group ends by itself")
}
