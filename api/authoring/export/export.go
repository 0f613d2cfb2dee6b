// Package export writes test cases as code for other tools, so that a team can run
// a test without this service or check it in beside its product, and as files of tests as
// slipway-ci keeps them.
//
// A case is first flattened into moves (package script). Each target then writes these
// in its own words; the frame around them and the few functions that they call
// are text templates in skeleton/, of which an export holds only what it uses.
//
// An export waits as a run does: every act and assertion is tried again until it
// works or ten seconds (the step's own limit, if it has one) are over. An
// optional step may fail. Assertions never become weaker: what a target cannot
// express is refused with the path of its member, and in Selenium IDE stands there as a
// comment, never as something that passes.
//
// Step groups are functions with their parameters. Those that cannot stand alone, and all of them
// in Selenium IDE and Maestro, are written out where they are run, below a comment with their
// name; their condition stands around their steps. Steps before a test go first. Those after it
// are the last, and unlike in a run they are not done when a step before them fails: a comment
// says so.
//
// Variables become environment variables, so no export holds a value of one, and
// of the capabilities only the browser, its version and the platform are written:
// the vendors' options hold keys, and options of browsers can start programs.
//
// Everything in a case is hostile. Names, addresses, selectors and texts reach
// the code as literals of the language (package language) or as comments of one line
// and nothing else; the names of files, classes and functions are made of ASCII
// letters and digits. Regular expressions are translated from RE2.
package export

import (
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/api/authoring/export/maestro"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// Target is a language and framework that code is written for.
type Target struct {
	ID          string `json:"id"` // javascript_playwright
	Name        string `json:"name"`
	Language    string `json:"language"`
	Framework   string `json:"framework"`
	FileName    string `json:"fileName"` // of an export, with %s for the case's name
	ContentType string `json:"contentType"`
}

// The targets.
const (
	JavaScriptPlaywright  = "javascript_playwright"
	JavaScriptWebdriverIO = "javascript_webdriverio"
	JavaScriptCypress     = "javascript_cypress"
	PythonSelenium        = "python_selenium"
	JavaSelenium          = "java_selenium"
	SeleniumIDE           = "side"
	Maestro               = "yaml_maestro"
	YAML                  = "yaml" // a file of tests as slipway-ci keeps it
)

// Targets are all targets, in the order of their constants.
func Targets() []Target {
	return []Target{
		{JavaScriptPlaywright, "JavaScript, Playwright", "JavaScript", "Playwright", "%s.test.mjs", "text/javascript; charset=utf-8"},
		{JavaScriptWebdriverIO, "JavaScript, WebdriverIO", "JavaScript", "WebdriverIO", "%s.test.mjs", "text/javascript; charset=utf-8"},
		{JavaScriptCypress, "JavaScript, Cypress", "JavaScript", "Cypress", "%s.cy.js", "text/javascript; charset=utf-8"},
		{PythonSelenium, "Python, Selenium", "Python", "Selenium", "test_%s.py", "text/x-python; charset=utf-8"},
		{JavaSelenium, "Java, Selenium and JUnit 5", "Java", "Selenium", "%sTest.java", "text/x-java; charset=utf-8"},
		{SeleniumIDE, "Selenium IDE", "Selenium IDE", "Selenium IDE", "%s.side", "application/json"},
		{Maestro, "Maestro", "YAML", "Maestro", "%s.yaml", "application/yaml"},
		{YAML, "Slipway test file", "YAML", "Slipway", "%s" + testfile.Extension, "application/yaml"},
	}
}

// File is an export.
type File struct {
	Name        string // safe as a file name
	ContentType string
	Code        string
}

// Export writes a case for a target. ok is false for a target that does not
// exist. An export holds no value of a variable: variables become environment
// variables. The error is a *step.InvalidError that names the member of the case
// for which the target has no words (steps[3].tool.type).
func Export(target string, c script.Case) (f File, ok bool, err error) {
	at := slices.IndexFunc(Targets(), func(t Target) bool { return t.ID == target })
	if at < 0 {
		return File{}, false, nil
	}
	t := Targets()[at]
	if t.ID == YAML {
		text, err := writeFile(&c)
		return File{Name: testfile.FileName(c.Name, map[string]bool{}), ContentType: t.ContentType, Code: text}, true, err
	}
	if err := checkWritable(t, c); err != nil {
		return File{}, true, err
	}
	if !Repeats(t.ID) {
		c.Data = nil
	}
	s, err := script.New(c, t.ID != SeleniumIDE && t.ID != Maestro)
	if err != nil {
		return File{}, true, err
	}
	var name, text string
	switch t.ID {
	case JavaScriptPlaywright:
		name = s.Name.Kebab()
		text, err = writePlaywright(s, fmt.Sprintf(t.FileName, name))
	case JavaScriptWebdriverIO:
		name = s.Name.Kebab()
		text, err = writeWebDriver(s, &webdriverIO{}, "webdriverio.mjs", fmt.Sprintf(t.FileName, name))
	case JavaScriptCypress:
		name = s.Name.Kebab()
		text, err = writeCypress(s, t.Name, fmt.Sprintf(t.FileName, name))
	case PythonSelenium:
		name = s.Name.Snake()
		text, err = writeWebDriver(s, &python{}, "selenium.py", fmt.Sprintf(t.FileName, name))
	case JavaSelenium:
		name = s.Name.Pascal()
		text, err = writeWebDriver(s, &java{}, "Selenium.java", fmt.Sprintf(t.FileName, name))
	case SeleniumIDE:
		name = s.Name.Kebab()
		text, err = writeIDE(s)
	case Maestro:
		name = s.Name.Kebab()
		text, err = maestro.Write(s, t.Name)
	}
	if err != nil {
		return File{}, true, err
	}
	return File{Name: fmt.Sprintf(t.FileName, name), ContentType: t.ContentType, Code: text}, true, nil
}
