// Package seleniumide reads Selenium IDE projects (.side files) into steps.
//
// A project is JSON with tests, each a list of commands with a target (a locator,
// as id=user or css=.buy) and a value. Import turns one test into steps that
// step.Validate takes. Selecting frames becomes in_frame around the steps that
// follow; the variables of store are put into the texts; windows are told apart
// by the order of their opening. The other locators that the recorder noted down
// become hints in the fingerprint, so that a step can heal from the start.
//
// What only concerns the recorder is dropped: setWindowSize, echo, setSpeed,
// debugger, mouseOut, close where the test leaves the window anyway, and commands
// that are switched off. A command without a counterpart (scripts, loops, values
// read from the page) is refused by its path instead: a test that does less than its
// author believes is worse than none. The size of a window is not that of its page, so
// setWindowSize is no set_viewport.
//
// Programs write these files, each in its version, so members that are not known refuse
// nothing: a warning names each of them by its path (member.go).
//
// A locator finds the first of several elements. So does the test, which must not be
// strict; a warning names each locator that finds several by its nature.
//
// Some commands differ from Selenium IDE. check and uncheck click and then assert
// the state, so they fail when the state was there before. verify is assert: the
// test ends where it fails. clickAt and its like take the middle of the element, of which a warning tells.
// The dialog of assertAlert is accepted, but its text, which no tool compares, is
// only kept as the step's reasoning. The first sendKeys of a field replaces what the
// page itself has put there; what follows is typed behind it.
package seleniumide

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/recording"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// MaxProject is bytes of a project: a hundred long tests have one.
	MaxProject = 4 << 20
	// MaxTests bounds the tests that are looked through for the one to import.
	MaxTests = 1000
	// maxDepth is far above the eight levels that a project has.
	maxDepth = 32
	// maxTargets bounds the locators of one command.
	maxTargets = 32
)

// Import reads a project (the JSON of a .side file). which chooses a test by
// name or id; "" is allowed when the project has one test. A command that has no
// counterpart is a *step.InvalidError whose path names it
// (tests[0].commands[3].command).
func Import(project []byte, which string) (*recording.Test, error) {
	if len(project) > MaxProject {
		return nil, invalid("side", "has at most %d bytes", MaxProject)
	}
	if body.Depth(project) > maxDepth {
		return nil, invalid("side", "is nested more than %d deep", maxDepth)
	}
	var p struct {
		URL   string            `json:"url"`
		Tests []json.RawMessage `json:"tests"`
	}
	if err := decode("", project, &p); err != nil {
		return nil, err
	}
	i, test, err := choose(p.Tests, which)
	if err != nil {
		return nil, err
	}
	var spare spareMembers
	spare.look("", project, projectMembers)
	spare.look(fmt.Sprintf("tests[%d]", i), p.Tests[i], testMembers)
	path := fmt.Sprintf("tests[%d].commands", i)
	if len(test.Commands) > step.MaxSteps {
		return nil, invalid(path, "has at most %d elements", step.MaxSteps)
	}
	p.URL = strings.TrimSpace(p.URL)
	if len(p.URL) > step.MaxURL || !plain(p.URL) {
		return nil, invalid("url", "must be an address of at most %d bytes", step.MaxURL)
	}
	if !plain(test.Name) {
		return nil, invalid(fmt.Sprintf("tests[%d].name", i), "must be UTF-8 text without the character NUL")
	}
	commands := make([]command, 0, len(test.Commands))
	for j, raw := range test.Commands {
		c := command{path: fmt.Sprintf("%s[%d]", path, j)}
		if err := decode(c.path, raw, &c); err != nil {
			return nil, err
		}
		if c.Command = strings.TrimSpace(c.Command); c.Command != "" && !strings.HasPrefix(c.Command, "//") && !c.Skip {
			commands = append(commands, c)
			spare.look(c.path, raw, commandMembers)
		}
	}
	r := newReader(p.URL, commands)
	r.warnings = spare.warnings()
	if err := r.read(); err != nil {
		return nil, err
	}
	if err := r.validate(path); err != nil {
		return nil, err
	}
	return &recording.Test{Name: test.Name, URL: p.URL, Steps: r.steps, Warnings: r.warnings}, nil
}

type testDocument struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Commands []json.RawMessage `json:"commands"`
}

// command is one command of a test as it stands in the project.
type command struct {
	Comment string          `json:"comment"`
	Command string          `json:"command"`
	Target  string          `json:"target"`
	Targets json.RawMessage `json:"targets"`
	Value   string          `json:"value"`
	// A click that opens a window, and the variable with the window's handle.
	OpensWindow      bool   `json:"opensWindow"`
	WindowHandleName string `json:"windowHandleName"`
	// Skip is set where the command is switched off, as // before its name is.
	Skip bool `json:"skip"`

	path string
}

// choose finds a test, by its id before its name.
func choose(tests []json.RawMessage, which string) (int, *testDocument, error) {
	if len(tests) == 0 {
		return 0, nil, invalid("tests", "holds no test")
	}
	if len(tests) > MaxTests {
		return 0, nil, invalid("tests", "has at most %d elements", MaxTests)
	}
	if which == "" && len(tests) > 1 {
		return 0, nil, invalid("tests", "holds %d tests: choose one by its name or id", len(tests))
	}
	var named *testDocument
	place, count := 0, 0
	for i, raw := range tests {
		var t testDocument
		if err := decode(fmt.Sprintf("tests[%d]", i), raw, &t); err != nil {
			return 0, nil, err
		}
		if which == "" || t.ID == which {
			return i, &t, nil
		}
		if t.Name == which {
			named, place = &t, i
			count++
		}
	}
	switch count {
	case 0:
		return 0, nil, invalid("tests", "holds no test of that name or id")
	case 1:
		return place, named, nil
	}
	return 0, nil, invalid("tests", "holds %d tests of that name: choose one by its id", count)
}

func decode(path string, text []byte, into any) error {
	err := json.Unmarshal(text, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil && bytes.Equal(bytes.TrimSpace(text), []byte("null")):
		return invalid(orSide(path), "must be an object")
	case err == nil:
		return nil
	case errors.As(err, &wrong) && wrong.Field != "":
		if path != "" {
			path += "."
		}
		return invalid(path+wrong.Field, "must not be a JSON %s", strings.Fields(wrong.Value + " value")[0])
	}
	return invalid(orSide(path), "must be a JSON object")
}

func orSide(path string) string {
	if path == "" {
		return "side"
	}
	return path
}

func invalid(path, format string, args ...any) error { return recording.Invalid(path, format, args...) }

func plain(text string) bool { return recording.Plain(text) }

// validate checks the steps, and tells of a wrong one by its command.
func (r *reader) validate(path string) error { return recording.Validate(r.steps, r.origins, path) }
