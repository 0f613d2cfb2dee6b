package export

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
)

// widgetCases are the cases of the widget set that a target runs, to be exported.
// SLIPWAY_WIDGETS is a pattern of their names; without it each case runs in one of the
// targets, since all of them in all targets take half an hour on two cores.
func widgetCases(t *testing.T, target string) ([]widget.Case, []Case) {
	t.Helper()
	pattern := os.Getenv("SLIPWAY_WIDGETS")
	turn := slices.IndexFunc(Targets(), func(of Target) bool { return of.ID == target })
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	all, err := widget.Cases()
	require.NoError(t, err)
	only := regexp.MustCompile(pattern)
	var chosen []widget.Case
	var cases []Case
	for i, c := range all {
		if !only.MatchString(c.FullName()) || pattern == "" && i%len(Targets()) != turn {
			continue
		}
		steps := append([]step.Step(nil), c.Steps...)
		for j := range steps {
			if steps[j].TimeoutMS == 0 && !steps[j].Optional && (c.TimeoutMS > 0 || steps[j].Tool.Type != step.GoToURL) {
				steps[j].TimeoutMS = int(c.Timeout() / time.Millisecond)
			}
		}
		chosen = append(chosen, c)
		cases = append(cases, Case{
			ID: c.FullName(), Name: fmt.Sprintf("case %d", i), TestURL: site.BaseURL() + c.Page, Steps: steps, FirstMatch: c.FirstMatch,
		})
	}
	return chosen, cases
}

// differs are cases that may end otherwise than in the replay, and why.
var differs = map[string]string{
	"html/button drawn anew by the press":   "no other tool looks whether a click arrived",
	"html/back to an unfinished navigation": "drivers wait for the page that never ends",
	"html/frame of another origin":          "chromedriver computes no names in frames of another origin",
}

// ending is how an export ended.
type ending struct {
	Name  string `json:"name"`
	Error string `json:"error"` // "" for one that passed
}

// TestWidgets runs all cases of the widget set in every target that has a program for
// it: those that pass in the replay pass, and those that fail there fail.
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
			chosen, cases := widgetCases(t, tool.target)
			files := make([]File, 0, len(cases))
			for _, c := range cases {
				files = append(files, export(t, tool.target, c))
			}
			endings := tool.run(t, files)
			require.Len(t, endings, len(files))
			for i, c := range chosen {
				got := step.Passed
				if endings[i].Error != "" {
					got = step.Failed
				}
				if why := differs[c.FullName()]; why != "" && got != c.Expect {
					t.Logf("%s: %s, because %s", c.FullName(), got, why)
				} else if got != c.Expect {
					t.Errorf("%s: %s, expected %s: %.1000s", c.FullName(), got, c.Expect, endings[i].Error)
				}
			}
		})
	}
}

// TestWidgetsInSeleniumIDE runs the cases that must pass and that Selenium IDE can do
// and check completely. It takes the first of several matches, so that those which
// must fail say little.
func TestWidgetsInSeleniumIDE(t *testing.T) {
	chosen, cases := widgetCases(t, SeleniumIDE)
	var all ideProject
	var names []string
	for i, c := range cases {
		var p ideProject
		require.NoError(t, json.Unmarshal([]byte(export(t, SeleniumIDE, c).Code), &p))
		complete := !slices.ContainsFunc(p.Tests[0].Commands, func(c ideCommand) bool { return strings.HasPrefix(c.Command, "//") })
		if !complete || chosen[i].Expect != step.Passed {
			continue
		}
		test := p.Tests[0]
		test.Name = chosen[i].FullName()
		if all.ID == "" {
			all = p
			all.Tests, all.Suites[0].Tests = nil, nil
		}
		all.Tests = append(all.Tests, test)
		all.Suites[0].Tests = append(all.Suites[0].Tests, test.ID)
		names = append(names, test.Name)
	}
	require.NotEmpty(t, names)
	t.Logf("%d of %d cases", len(names), len(cases))
	found := runSide(t, all)
	for _, name := range names {
		require.Contains(t, found, name)
		if found[name] != "" {
			t.Errorf("%s: %.1000s", name, found[name])
		}
	}
}
