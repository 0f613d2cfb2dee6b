package export

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

const groupOfTest = "00000000-0000-0000-0000-000000000001"

// grouped is a case that runs a group three times: as it is, with a condition that does not
// hold, and with one that does, around steps after which it does not hold any more.
func grouped(t *testing.T, base string) Case {
	t.Helper()
	named := &group.Group{ID: groupOfTest, RevisionID: groupOfTest, Name: "Look at help\n*/", Parameters: []group.Parameter{{Name: "path"}, {Name: "title"}},
		Steps: []step.Step{
			do(step.GoToURL, step.Args{URL: base + "/{{param:path}}"}),
			limited(expect(css("h1"), step.TextIs, "", "{{param:title}}"), 5000),
		}}
	runs := func(id string, when *step.Condition, with step.Values) step.Step {
		return step.Step{ID: id, When: when, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: groupOfTest, With: with}}}
	}
	shows := func(address string) *step.Condition {
		return &step.Condition{TimeoutMS: 500, Matcher: &step.Matcher{Name: step.URLIs, Args: step.MatcherArgs{Value: address, Mode: step.Contains}}}
	}
	var plan group.Plan
	for _, part := range []group.Part{
		{Phase: step.SetUp, Steps: []step.Step{do(step.GoToURL, step.Args{URL: base + "/help"})}},
		{Steps: []step.Step{
			runs("s1", nil, step.Values{"path": "help", "title": "How may we help?"}),
			runs("s2", shows("/nowhere"), step.Values{"path": "help", "title": "Twelve"}),
			runs("s3", shows("/help"), step.Values{"path": "help?again=1", "title": "How may we help?"}),
			{ID: "s4", Tool: step.Tool{Type: step.Finish}},
			do(step.GoToURL, step.Args{URL: base + "/never"}),
		}},
		{Phase: step.TearDown, Steps: []step.Step{limited(expect(nil, step.URLIs, step.Contains, "again=1"), 5000)}},
	} {
		require.NoError(t, plan.Add(part, group.Groups{groupOfTest: named}))
	}
	return Case{ID: "1", Name: "Grouped", Steps: plan.Steps, Places: plan.Places}
}

// Groups, what stands before a test and what stands after it are played by the exports.
func TestGroupsRun(t *testing.T) {
	base := shop(t)
	c := grouped(t, base)
	wrong := grouped(t, base)
	wrong.Places[2].Values = map[string]string{"path": "help", "title": "Twelve"}
	wrong.Places[3].Values = wrong.Places[2].Values
	wrong.Steps[1].Tool.Args.With = wrong.Places[2].Values
	for target, play := range map[string]func(*testing.T, File) (string, error){
		JavaScriptPlaywright: runNode, JavaScriptWebdriverIO: runNode, PythonSelenium: runPython, JavaSelenium: runJava,
	} {
		t.Run(target, func(t *testing.T) {
			f := export(t, target, c)
			require.Contains(t, f.Code, "Step group: Look at help * /.")
			require.True(t, strings.Contains(f.Code, "Tear-down: here it is done only when all before it worked."))
			require.NotContains(t, f.Code, "/never")
			if asFunction := map[string]string{JavaScriptPlaywright: "await runLookAtHelp({ path: 'help', title: 'How may we help?' });",
				JavaScriptWebdriverIO: "await runLookAtHelp({ path: 'help?again=1', title: 'How may we help?' });"}[target]; asFunction != "" {
				require.Equal(t, 1, strings.Count(f.Code, "const runLookAtHelp = async (given) => {"))
				require.Contains(t, f.Code, asFunction)
				require.Equal(t, 3, strings.Count(f.Code, "await runLookAtHelp("))
			}
			out, err := play(t, f)
			require.NoError(t, err, "%s\n%s", out, f.Code)
			out, err = play(t, export(t, target, wrong))
			require.Error(t, err)
			require.Contains(t, out, "Twelve")
		})
	}
}

// In Selenium IDE what has a condition is a remark, in groups too.
func TestGroupsInSeleniumIDE(t *testing.T) {
	t.Parallel()
	f := export(t, SeleniumIDE, grouped(t, "https://shop.example"))
	test, err := seleniumide.Import([]byte(f.Code), "")
	require.NoError(t, err)
	var tools []string
	for _, s := range test.Steps {
		tools = append(tools, s.Tool.Type)
	}
	require.Equal(t, []string{step.GoToURL, step.GoToURL, step.Assert}, tools[:3])
	require.NotContains(t, f.Code, `"command": "assertText",\n          "target": "css=h1",\n          "targets": [],\n          "value": "Twelve"`)
	require.Contains(t, f.Code, "Only done if this holds")
	require.Contains(t, f.Code, "// Step group: Look at help * /.")
}
