package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// widgetCase is a case of the widget set, and how it is exported.
type widgetCase struct {
	widget.Case
	exported script.Case
}

// widgetShare is the share of the cases that runs without WIDGET_CASES: one of so
// many, since all of them in all targets take an hour.
const widgetShare = 8

// widgetCases are the cases of the widget set that a target runs. WIDGET_CASES is a
// pattern of their names; without it a case of the share runs in one of the targets.
func widgetCases(t *testing.T, target string) []widgetCase {
	t.Helper()
	pattern, set := os.LookupEnv("WIDGET_CASES")
	only := regexp.MustCompile(pattern)
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	all, err := widget.Cases()
	require.NoError(t, err)
	var chosen []widgetCase
	for i, c := range all {
		steps := append([]step.Step(nil), c.Steps...)
		for j := range steps {
			if steps[j].TimeoutMS == 0 && !steps[j].Optional && (c.TimeoutMS > 0 || steps[j].Tool.Type != step.GoToURL) {
				steps[j].TimeoutMS = int(c.Timeout() / time.Millisecond)
			}
		}
		w := widgetCase{c, script.Case{ID: c.FullName(), Name: fmt.Sprintf("case %d", i), TestURL: site.BaseURL() + c.Page,
			Steps: steps, FirstMatch: c.FirstMatch}}
		if !only.MatchString(c.FullName()) || !set && assigned(t, &w) != target || !sayable(t, target, &w) ||
			target == SeleniumIDE && !forIDE(t, &w) {
			continue
		}
		chosen = append(chosen, w)
	}
	if len(chosen) == 0 {
		t.Skip("no chosen case has words in this target")
	}
	return chosen
}

// sayable reports whether a target has words for a case. Playwright has them for all.
func sayable(t *testing.T, target string, c *widgetCase) bool {
	t.Helper()
	_, _, err := Export(target, c.exported)
	var wrong *step.InvalidError
	if target == JavaScriptPlaywright || !errors.As(err, &wrong) {
		require.NoError(t, err)
		return true
	}
	require.Contains(t, wrong.Msg, " has no words in ")
	return false
}

// assigned returns the target that runs a case without WIDGET_CASES; "" for a case
// outside of the share. It depends on the name alone: other cases do not move it.
func assigned(t *testing.T, c *widgetCase) string {
	t.Helper()
	hash := crc32.ChecksumIEEE([]byte(c.FullName()))
	if hash%widgetShare != 0 {
		return ""
	}
	hash /= widgetShare
	if !sayable(t, JavaSelenium, c) {
		return JavaScriptPlaywright
	}
	targets := []string{JavaScriptPlaywright, JavaScriptWebdriverIO, PythonSelenium, JavaSelenium}
	if turn := hash % 5; turn < 4 {
		return targets[turn]
	} else if forIDE(t, c) {
		return SeleniumIDE
	}
	return targets[hash/5%4]
}

// forIDE reports whether Selenium IDE can do and check a case completely. It takes the
// first of several matches, so that those which must fail say little.
func forIDE(t *testing.T, c *widgetCase) bool {
	t.Helper()
	return c.Expect == playback.Passed && !slices.ContainsFunc(ideTestOf(t, c).Tests[0].Commands, func(c ideCommand) bool {
		return strings.HasPrefix(c.Command, "//")
	})
}

func ideTestOf(t *testing.T, c *widgetCase) (p ideProject) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(export(t, SeleniumIDE, c.exported).Code), &p))
	return p
}

// differs are the cases that end otherwise than in the replay, by target, and why. They
// run all the same: one that ends as in the replay is no longer one of them.
var differs = map[string]map[string]string{
	SeleniumIDE: {
		"html/button enabled late": "click of Selenium IDE does not wait until a button is enabled",
	},
	JavaScriptPlaywright: {
		"html/button drawn anew before the release": "Playwright does not look whether the click arrived",
	},
	JavaScriptWebdriverIO: {
		"html/button drawn anew before the release": "nothing looks whether the click arrived",
		"html/frame of another origin":              "chromedriver computes no names in frames of another origin",
		"html/leaving a page with changes":          "without BiDi chromedriver accepts the dialog unseen; with BiDi WebdriverIO dismisses all dialogs",
		"html/staying on a page with changes":       "without BiDi chromedriver accepts the dialog unseen; with BiDi WebdriverIO dismisses all dialogs",
		"html/reloading a page with changes":        "chromedriver accepts the dialog of a reload unseen",
		"html/back to an unfinished navigation":     "chromedriver waits for the page that never ends",
		"jqueryui/selectmenu":                       "Chromium computes no name for an option that is no child of its list",
		"tabulator/cell edited":                     "change comes with the text, and closes the editor",
	},
	PythonSelenium: differsInSelenium,
	JavaSelenium:   differsInSelenium,
}

// differsInSelenium is for both languages: they drive chromedriver by the same commands.
var differsInSelenium = map[string]string{
	"html/button drawn anew before the release": "nothing looks whether the click arrived",
	"html/frame of another origin":              "chromedriver computes no names in frames of another origin",
	"html/reloading a page with changes":        "chromedriver fails the reload: Unexpected dialog type beforeunload",
	"html/back to an unfinished navigation":     "chromedriver waits for the page that never ends",
	"jqueryui/selectmenu":                       "Chromium computes no name for an option that is no child of its list",
	"tabulator/cell edited":                     "change comes with the text, and closes the editor",
}

// wrong returns what is wrong with how an export ended; "" if nothing is.
func (c *widgetCase) wrong(target, failure string) string {
	got := playback.Passed
	if failure != "" {
		got = playback.Failed
	}
	why, differs := differs[target][c.FullName()]
	switch {
	case differs == (got != c.Expect):
		return ""
	case differs:
		return fmt.Sprintf("%s as in the replay, although: %s", got, why)
	}
	return fmt.Sprintf("%s, expected %s: %s", got, c.Expect, shortened(failure))
}

// shortened is the begin and the end of a failure: some languages say first what
// happened and some last.
func shortened(failure string) string {
	if len(failure) < 2000 {
		return failure
	}
	return failure[:1000] + " ... " + failure[len(failure)-1000:]
}

// TestWidgetsDiffer checks that each case that differs is one.
func TestWidgetsDiffer(t *testing.T) {
	all, err := widget.Cases()
	require.NoError(t, err)
	for target, cases := range differs {
		require.True(t, slices.ContainsFunc(Targets(), func(of Target) bool { return of.ID == target }), target)
		for name, why := range cases {
			require.NotEmpty(t, why)
			require.True(t, slices.ContainsFunc(all, func(c widget.Case) bool { return c.FullName() == name }), name)
		}
	}
}

// ending is how an export ended.
type ending struct {
	Name  string `json:"name"`
	Error string `json:"error"` // "" for one that passed
}

// TestWidgets runs cases of the widget set in the four targets of code: those that pass in the replay pass, and those that fail there fail.
func TestWidgets(t *testing.T) {
	for _, tool := range []struct {
		target string
		run    func(*testing.T, []File) []ending
	}{
		{JavaScriptPlaywright, runAllNode},
		{JavaScriptWebdriverIO, runAllNode},
		{PythonSelenium, runAllPython},
		{JavaSelenium, runAllJava},
	} {
		t.Run(tool.target, func(t *testing.T) {
			chosen := widgetCases(t, tool.target)
			files := make([]File, 0, len(chosen))
			for _, c := range chosen {
				files = append(files, export(t, tool.target, c.exported))
			}
			endings := tool.run(t, files)
			require.Len(t, endings, len(files))
			for i, c := range chosen {
				t.Run(c.FullName(), func(t *testing.T) {
					require.Empty(t, c.wrong(tool.target, endings[i].Error))
				})
			}
		})
	}
}

// TestWidgetsInSeleniumIDE runs the cases that Selenium IDE can do.
func TestWidgetsInSeleniumIDE(t *testing.T) {
	chosen := widgetCases(t, SeleniumIDE)
	all := ideTestOf(t, &chosen[0])
	all.Tests, all.Suites[0].Tests = nil, nil
	for _, c := range chosen {
		test := ideTestOf(t, &c).Tests[0]
		test.Name = c.FullName()
		all.Tests = append(all.Tests, test)
		all.Suites[0].Tests = append(all.Suites[0].Tests, test.ID)
	}
	found := runSide(t, all)
	for _, c := range chosen {
		t.Run(c.FullName(), func(t *testing.T) {
			require.Contains(t, found, c.FullName())
			require.Empty(t, c.wrong(SeleniumIDE, found[c.FullName()]))
		})
	}
}
