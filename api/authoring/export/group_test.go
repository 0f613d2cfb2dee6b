package export

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/api/authoring/seleniumide"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

const groupOfTest = "00000000-0000-0000-0000-000000000001"

// grouped is a case that runs a group three times: as it is, with a condition that does not
// hold, and with one that does, around steps after which it does not hold any more.
func grouped(t *testing.T, base string) script.Case {
	t.Helper()
	named := &group.Group{ID: groupOfTest, RevisionID: groupOfTest, Name: "Look at help\n*/",
		Parameters: []group.Parameter{{Name: "path"}, {Name: "title"}},
		Steps: []step.Step{
			do(step.GoToURL, step.Args{URL: base + "/{{param:path}}"}),
			limited(expect(css("h1"), step.TextIs, "", "{{param:title}}"), 5000),
		}}
	runs := func(id string, when *step.Condition, with step.Values) step.Step {
		return step.Step{ID: id, When: when, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: groupOfTest, With: with}}}
	}
	shows := func(address string) *step.Condition {
		return &step.Condition{TimeoutMS: 500, Matcher: &step.Matcher{Name: step.URLIs,
			Args: step.MatcherArgs{Value: address, Mode: step.Contains}}}
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
	return script.Case{ID: "1", Name: "Grouped", Steps: plan.Steps, Places: plan.Places}
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
			asFunction := map[string][3]string{
				JavaScriptPlaywright: {"const runLookAtHelp = async (given) => {", "await runLookAtHelp(",
					"await runLookAtHelp({ path: 'help', title: 'How may we help?' });"},
				JavaScriptWebdriverIO: {"const runLookAtHelp = async (given) => {", "await runLookAtHelp(",
					"await runLookAtHelp({ path: 'help?again=1', title: 'How may we help?' });"},
				PythonSelenium: {"def run_look_at_help(self, path, title_):", "self.run_look_at_help(",
					`self.run_look_at_help(path="help", title_="How may we help?")`},
				JavaSelenium: {"private void runLookAtHelp(String path, String title) {", "  runLookAtHelp(",
					`runLookAtHelp("help?again=1", "How may we help?");`},
			}[target]
			require.Equal(t, 1, strings.Count(f.Code, asFunction[0]))
			require.Equal(t, 3, strings.Count(f.Code, asFunction[1]))
			require.Contains(t, f.Code, asFunction[2])
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
	require.NotContains(t, f.Code,
		`"command": "assertText",\n          "target": "css=h1",\n          "targets": [],\n          "value": "Twelve"`)
	require.Contains(t, f.Code, "Only done if this holds")
	require.Contains(t, f.Code, "// Step group: Look at help * /.")
}

// runningGroup is a case that runs one group of one revision of each name.
func runningGroup(t *testing.T, with step.Values, groups ...*group.Group) script.Case {
	t.Helper()
	known := group.Groups{}
	for _, g := range groups {
		known[g.ID] = g
	}
	var plan group.Plan
	require.NoError(t, plan.Add(group.Part{Steps: []step.Step{
		{ID: "s1", Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: groups[0].ID, With: with}}}}}, known))
	return script.Case{Name: "Groups", Steps: plan.Steps, Places: plan.Places}
}

// newGroup is a group with an id of its own.
func newGroup(n int, name string, steps []step.Step, parameters ...string) *group.Group {
	g := &group.Group{ID: fmt.Sprint("g", n), RevisionID: fmt.Sprint("r", n), Name: name, Steps: steps}
	for _, p := range parameters {
		g.Parameters = append(g.Parameters, group.Parameter{Name: p})
	}
	return g
}

// Groups may run others and have names that mean something in a language, in the rows of a test
// and with secrets from the environment.
func TestGroupsInRowsRun(t *testing.T) {
	base := shop(t)
	field := by(step.ByLabel, "Mail address")
	inner := newGroup(2, "type!", []step.Step{
		do(step.InputText, step.Args{Selector: field, Text: ptr("{{param:class}}")}),
		limited(expect(field, step.ValueIs, "", "{{param:2nd}}{{param:_2nd}}"), 5000),
	}, "class", "2nd", "_2nd")
	outer := newGroup(1, "Type", []step.Step{
		do(step.GoToURL, step.Args{URL: "{{param:driver}}/team"}),
		{ID: "inner", Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: inner.ID, With: step.Values{
			"class": "{{param:title}} {{param:_}}{{param:self}}", "2nd": "{{row:typed}} ", "_2nd": "{{param:_}}{{param:self}}"}}}},
	}, "title", "_", "self", "driver", "row")
	c := runningGroup(t, step.Values{"title": "{{row:user}}", "_": "{{team:password}}", "self": `"'`, "driver": base, "row": ""}, outer, inner)
	c.Data = &testfile.Data{Columns: []string{"user", "typed"}, Rows: [][]string{{"ada", "ada"}, {"linus", "linus"}}}
	wrong := c
	wrong.Data = &testfile.Data{Columns: c.Data.Columns, Rows: [][]string{{"ada", "ada"}, {"linus", "torvalds"}}}
	for target, play := range map[string]func(*testing.T, File) (string, error){
		JavaScriptPlaywright: runNode, JavaScriptWebdriverIO: runNode, PythonSelenium: runPython, JavaSelenium: runJava,
	} {
		t.Run(target, func(t *testing.T) {
			f := export(t, target, c)
			for _, name := range []string{"runType", "runType2"} {
				if target == PythonSelenium {
					name = pythonName(name)
				}
				require.Equal(t, 2, strings.Count(f.Code, name+"(")+strings.Count(f.Code, "const "+name+" ="), f.Code)
			}
			out, err := play(t, f)
			require.NoError(t, err, "%s\n%s", out, f.Code)
			out, err = play(t, export(t, target, wrong))
			require.Error(t, err)
			require.Contains(t, out, "torvalds")
			require.Contains(t, out, "Groups: linus")
		})
	}
}

// Two names of parameters never become one.
func TestParameterNames(t *testing.T) {
	t.Parallel()
	for _, taken := range [][]string{pythonTaken, javaTaken} {
		seen := map[string]string{}
		for _, name := range append(slices.Clone(taken), "_", "2nd", "a1", "user_name") {
			for _, around := range []string{"%s", "_%s", "__%s", "%s_", "%s__", "_%s_", "arg_%s", "arg__%s", "arg_arg_%s"} {
				name := fmt.Sprintf(around, name)
				variable := variableName(name, taken)
				require.Regexp(t, "^[a-z][a-z0-9_]*$", variable)
				require.NotContains(t, taken, variable)
				if before, ok := seen[variable]; ok {
					require.Equal(t, before, name)
				}
				seen[variable] = name
			}
		}
	}
	require.Equal(t, "user_name", javaParameter("user_name"))
	require.Equal(t, "title", javaParameter("title"))
	require.Equal(t, "a__b", pythonParameter("a)\nb"))
}

// holdingInGroup is a case with a text in a data row, and in the value of a parameter.
func holdingInGroup(t *testing.T, s string) script.Case {
	t.Helper()
	c := runningGroup(t, step.Values{"a": "a" + s}, newGroup(1, "Group", []step.Step{
		do(step.InputText, step.Args{Selector: css("x"), Text: ptr("p" + s + "{{param:a}}")})}, "a"))
	c.Data = &testfile.Data{Columns: []string{"name", "b"}, Rows: [][]string{{"r" + s, s}, {"", ""}}}
	return c
}

// checkHoldsInGroup is checkHolds for what stands in groups and in data rows.
func checkHoldsInGroup(t *testing.T, s string) {
	t.Helper()
	for _, target := range append([]string{JavaScriptCypress}, languages...) {
		code, _, _ := strings.Cut(export(t, target, holdingInGroup(t, s)).Code, "/** Looks for elements of a document. */")
		got, broken := tokenize(target, code)
		require.False(t, broken, "%s: a string does not end:\n%s", target, code)
		code, _, _ = strings.Cut(export(t, target, holdingInGroup(t, "z")).Code, "/** Looks for elements of a document. */")
		want, broken := tokenize(target, code)
		require.False(t, broken)
		require.Equal(t, want.code, got.code, "%s of %q", target, s)
		clean := strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
		require.Contains(t, got.strings, "a"+clean, target)
		require.Contains(t, got.strings, "r"+strings.ToValidUTF8(s, "\uFFFD"), target)
	}
}

// largest is a case of as many data rows and steps in a group as there may be.
func largest(t *testing.T) script.Case {
	t.Helper()
	g := newGroup(1, "Group", nil, "a", "b")
	for range step.MaxSteps - 1 {
		g.Steps = append(g.Steps, do(step.InputText, step.Args{Selector: css("x"), Text: ptr("{{param:a}}")}))
	}
	c := runningGroup(t, step.Values{"a": "1", "b": "{{row:c7}}"}, g)
	c.Data = &testfile.Data{}
	for i := range 100 {
		c.Data.Columns = append(c.Data.Columns, fmt.Sprint("c", i))
		row := make([]string, 100)
		for k := range row {
			row[k] = fmt.Sprint(i, " ", k)
		}
		c.Data.Rows = append(c.Data.Rows, row)
	}
	return c
}
