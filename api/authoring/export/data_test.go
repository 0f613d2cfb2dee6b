package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// rowsCase types a value of each row and reads it back.
func rowsCase(base string, d *testfile.Data) script.Case {
	return script.Case{Name: "Rows", TestURL: base + "/team", Data: d, Steps: []step.Step{
		do(step.InputText, step.Args{Selector: by(step.ByLabel, "Mail address"), Text: ptr("{{row:user}}")}),
		limited(expect(by(step.Placeholder, "name@"), step.ValueIs, "", "{{row:2nd}}"), 5000),
	}}
}

// Exports run once for each data row, each of which may fail by itself.
func TestRowsRun(t *testing.T) {
	pages := newStandIn(t, shop(t))
	hostile := "'\"`${1}\\ {{x}}"
	right := &testfile.Data{Columns: []string{"name", "user", "2nd"}, Rows: [][]string{{"Ada", "ada", "ada"}, {"odd", hostile, hostile}}}
	wrong := &testfile.Data{Columns: right.Columns, RowName: "name", Rows: append(right.Rows[:1:1], []string{"Linus", "linus", "torvalds"})}
	for _, tool := range []struct {
		target         string
		play           func(*testing.T, File) (string, error)
		passed, failed []string // patterns
	}{
		{JavaScriptPlaywright, runNode, []string{"# pass 2", "Rows: odd"}, []string{"ok 1 - Rows: Ada", "not ok 2 - Rows: Linus"}},
		{JavaScriptWebdriverIO, runNode, []string{"# pass 2", "Rows: odd"}, []string{"ok 1 - Rows: Ada", "not ok 2 - Rows: Linus"}},
		{PythonSelenium, runPython, []string{"Ran 2 tests", "OK"}, []string{`FAIL: test_rows_002_Linus \(`, "Rows: Linus", `failures=1\)`}},
		{JavaSelenium, runJava, []string{`Rows: Ada (\d+ ms )?\[OK\]`, `Rows: odd (\d+ ms )?\[OK\]`},
			[]string{`Rows: Ada (\d+ ms )?\[OK\]`, `Rows: Linus (\d+ ms )?\[X\]`}},
	} {
		t.Run(tool.target, func(t *testing.T) {
			out, err := tool.play(t, export(t, tool.target, rowsCase(pages.URL, right)))
			require.NoError(t, err, "%s", out)
			for _, line := range tool.passed {
				require.Regexp(t, line, out)
			}
			out, err = tool.play(t, export(t, tool.target, rowsCase(pages.URL, wrong)))
			require.Error(t, err)
			for _, line := range append(tool.failed, "torvalds") {
				require.Regexp(t, line, out)
			}
		})
	}
	endings := pages.run(t, []File{export(t, JavaScriptCypress, rowsCase(pages.URL, right)),
		export(t, JavaScriptCypress, rowsCase(pages.URL, wrong))})
	require.Empty(t, endings[0].Error)
	require.Contains(t, endings[1].Error, "Rows: Linus")
	require.Contains(t, endings[1].Error, `to equal "torvalds"`)
	f := export(t, SeleniumIDE, rowsCase(pages.URL, right))
	require.Contains(t, f.Code, "ROW_USER")
}
