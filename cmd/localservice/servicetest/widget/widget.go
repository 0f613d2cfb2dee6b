// Package widget is a set of test cases on real widget libraries: jQuery UI,
// Bootstrap, Shoelace, Ant Design, Element Plus and others, and plain HTML. Each
// case is written twice, as steps of Slipway and as a function for Playwright, so
// that both can be run side by side on the same pages.
//
// The pages are in pages, one file for each library. The query of an address names
// the widget that the page shows: /jqueryui.html?sortable. The libraries themselves
// come from npm: a Site serves them from the folder where `make deps` installs
// them, under /npm/. Nothing of them is in this repository.
//
// A page is the judge of its case. What happened to a widget (which events came, in
// which order, with which values) is in the element #log, and a case ends with
// assertions on it. An action that had no effect therefore fails the case.
//
// cases/LIBRARY.json holds the cases, and cases/LIBRARY.cjs exports the functions
// for Playwright by the names of the cases. Some cases must fail, because the page
// has a fault that a test has to find: a covered button, a wrong text, two matches.
// For these the JSON says what the messages must contain. A tool that passes one is
// as wrong as a tool that fails another.
package widget

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

//go:embed cases/*.json cases/*.cjs
var cases embed.FS

// DefaultTimeout is how long a step of a case may wait, unless the case says
// otherwise: enough for a busy machine, since the passing cases do not use it up.
const DefaultTimeout = 15 * time.Second

// Case is one test on one page.
type Case struct {
	Library string `json:"-"` // the name of its file
	Name    string `json:"name"`
	// Page is the path of the page that is open when the case begins.
	Page  string      `json:"page"`
	Steps []step.Step `json:"steps"`
	// Expect is playback.Passed or playback.Failed.
	Expect string `json:"expect"`
	// Error is a pattern of the message of a case that must fail, and Playwright one
	// of Playwright's message.
	Error      string `json:"error,omitempty"`
	Playwright string `json:"playwright,omitempty"`
	// TimeoutMS is how long a step may wait; 0: DefaultTimeout.
	TimeoutMS int `json:"timeoutMs,omitempty"`
	// FirstMatch is set for a case that is not strict.
	FirstMatch bool `json:"firstMatch,omitempty"`
	// Differs explains why Playwright ends otherwise, in the cases where it
	// does by design.
	Differs string `json:"differs,omitempty"`
	// Open explains what the replay does not do yet, so that it ends otherwise.
	Open string `json:"open,omitempty"`
}

// FullName returns the name among all cases: jqueryui/sortable.
func (c *Case) FullName() string { return c.Library + "/" + c.Name }

// Timeout returns how long a step may wait.
func (c *Case) Timeout() time.Duration {
	if c.TimeoutMS > 0 {
		return time.Duration(c.TimeoutMS) * time.Millisecond
	}
	return DefaultTimeout
}

// Cases returns all cases in the order of the libraries' names and of their files.
// Their steps are validated and have ids.
func Cases() ([]Case, error) {
	names, err := fs.Glob(cases, "cases/*.json")
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, name := range names {
		text, err := cases.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var some []Case
		if err := json.Unmarshal(text, &some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		library := strings.TrimSuffix(path.Base(name), ".json")
		for i := range some {
			some[i].Library = library
			if err := step.Validate(some[i].Steps); err != nil {
				return nil, fmt.Errorf("%s: %w", some[i].FullName(), err)
			}
		}
		all = append(all, some...)
	}
	return all, nil
}

// Scripts returns the files with the functions for Playwright: LIBRARY.cjs.
func Scripts() fs.FS {
	sub, _ := fs.Sub(cases, "cases") // it is there: it is embedded
	return sub
}

// Verdict returns what is wrong with how a case ended in the replay: with this
// status and message; "" if nothing is.
func (c *Case) Verdict(status, message string) string {
	return c.verdict(status, message, c.Error)
}

// PlaywrightVerdict returns the same of how it ended with Playwright, for a case
// where the two do not differ by design.
func (c *Case) PlaywrightVerdict(status, message string) string {
	return c.verdict(status, message, c.Playwright)
}

func (c *Case) verdict(status, message, pattern string) string {
	switch {
	case status != c.Expect:
		return fmt.Sprintf("%s, expected %s: %s", status, c.Expect, message)
	case status == playback.Passed:
		return ""
	}
	if ok, err := regexp.MatchString(pattern, message); err != nil || !ok {
		return fmt.Sprintf("failed, but not with %q: %s", pattern, message)
	}
	return ""
}
