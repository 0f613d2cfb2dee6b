package export

import (
	"errors"
	"slices"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
)

// errNoFile is a case that is to be written as a file of a repository and does not say what
// stands in one.
var errNoFile = errors.New("the case has no file")

// writeFile writes the file of a case as slipway-ci pull does, by the same writer.
func writeFile(c *script.Case) (string, error) {
	if c.File == nil {
		return "", errNoFile
	}
	text, err := c.File.Write()
	return string(text), err
}

// Repeats reports whether what is written for a target runs once for each data row.
func Repeats(target string) bool {
	return slices.Contains([]string{YAML, JavaScriptPlaywright, JavaScriptWebdriverIO, JavaScriptCypress, PythonSelenium,
		JavaSelenium}, target)
}
