package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// rowsCase types a value of each row and reads it back.
func rowsCase(base string, d *testfile.Data) Case {
	return Case{Name: "Rows", TestURL: base + "/team", Data: d, Steps: []step.Step{
		do(step.InputText, step.Args{Selector: by(step.ByLabel, "Mail address"), Text: ptr("{{row:user}}")}),
		limited(expect(by(step.Placeholder, "name@"), step.ValueIs, "", "{{row:2nd}}"), 1500),
	}}
}

// Exports run once for each data row, each of which may fail by itself.
func TestRowsRun(t *testing.T) {
	pages := newStandIn(t, shop(t))
	hostile := "'\"`${1}\\ {{x}}"
	right := &testfile.Data{Columns: []string{"name", "user", "2nd"}, Rows: [][]string{{"Ada", "ada", "ada"}, {"odd", hostile, hostile}}}
	wrong := &testfile.Data{Columns: right.Columns, RowName: "name", Rows: append(right.Rows[:1:1], []string{"Linus", "linus", "torvalds"})}
	for _, target := range []string{JavaScriptPlaywright, JavaScriptWebdriverIO} {
		t.Run(target, func(t *testing.T) {
			out, err := runNode(t, export(t, target, rowsCase(pages.URL, right)))
			require.NoError(t, err, "%s", out)
			require.Contains(t, out, "# pass 2")
			require.Contains(t, out, "Rows: odd")
			out, err = runNode(t, export(t, target, rowsCase(pages.URL, wrong)))
			require.Error(t, err)
			require.Contains(t, out, "ok 1 - Rows: Ada")
			require.Contains(t, out, "not ok 2 - Rows: Linus")
			require.Contains(t, out, "torvalds")
		})
	}
	endings := pages.run(t, []File{export(t, JavaScriptCypress, rowsCase(pages.URL, right)), export(t, JavaScriptCypress, rowsCase(pages.URL, wrong))})
	require.Empty(t, endings[0].Error)
	require.Contains(t, endings[1].Error, "Rows: Linus")
	require.Contains(t, endings[1].Error, `to equal "torvalds"`)
	f := export(t, PythonSelenium, rowsCase(pages.URL, right))
	require.Contains(t, f.Code, `env("ROW_USER")`)
}
