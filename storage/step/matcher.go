package step

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// matcherRule is which arguments a matcher of an assertion has. A new matcher has a rule here
// and a place in matcherNames; worker/run/replay plays it, api/authoring/export writes it as
// code or refuses it, and worker/generation/describe.go has its words.
type matcherRule struct {
	modes []string // none: no value; the first is the default
	page  bool     // compares the page, so it has no selector
	named bool     // needs args.name
	kept  bool     // looks at what the browser keeps: the value may be missing
	// pictured looks at the page, or at an element where it has a selector, and stands in
	// an assertion alone.
	pictured bool
	app      bool // looks at the state of an app
}

var (
	textModes  = []string{Equals, Contains, Matches}
	countModes = []string{Equals, AtLeast, AtMost}

	matcherRules = map[string]matcherRule{
		Visible: {}, Hidden: {}, Enabled: {}, Checked: {}, Focused: {},
		TextIs: {modes: textModes}, ValueIs: {modes: textModes}, Count: {modes: countModes},
		URLIs: {modes: textModes, page: true}, TitleIs: {modes: textModes, page: true},
		AttributeIs: {modes: textModes, named: true}, Accessible: {pictured: true}, LooksLike: {pictured: true},
		StorageIs:  {modes: textModes, page: true, kept: true},
		CookieIs:   {modes: textModes, page: true, kept: true, named: true},
		AppStateIs: {page: true, app: true},
		RequestIs:  {page: true}, ResponseIs: {page: true}, DownloadIs: {page: true}, ConsoleIs: {page: true},
	}
	matcherNames = []string{Visible, Hidden, TextIs, ValueIs, Count, URLIs, TitleIs, Enabled, Checked, Focused, AttributeIs,
		StorageIs, CookieIs,
		RequestIs, ResponseIs, DownloadIs, ConsoleIs, Accessible, LooksLike, AppStateIs}
	windowNames = []string{WindowTitle, WindowURL, WindowIndex, WindowNew}
)

// Matchers returns the names of the matchers of assertions.
func Matchers() []string { return slices.Clone(matcherNames) }

// checkMatcher checks the matcher of an assertion or of switch_window; path is
// the one of the arguments.
func checkMatcher(path string, t *Tool, at position) error {
	switch {
	case t.Args.Matcher == nil:
		return nil
	case t.Type == SwitchWindow:
		return checkWindow(path+".matcher", t.Args.Matcher)
	case at.depth > 0 && matcherRules[t.Args.Matcher.Name].page:
		return Invalid(path+".matcher.name", "%s looks at the page, so it cannot stand in another tool", t.Args.Matcher.Name)
	case matcherRules[t.Args.Matcher.Name].pictured && t.Args.Not:
		return Invalid(path+".not", "is no argument of the matcher %s", t.Args.Matcher.Name)
	case at.depth > 0 && matcherRules[t.Args.Matcher.Name].pictured && t.Args.Selector == nil:
		return Invalid(path+".selector", "is missing: in another tool %s looks at an element", t.Args.Matcher.Name)
	case matcherRules[t.Args.Matcher.Name].pictured:
		return checkPictured(path+".matcher", t.Args.Matcher, t.Args.Selector, at)
	}
	return checkComparison(path, t.Args.Matcher, t.Args.Selector)
}

// checkComparison checks a matcher with its selector, of an assertion or a condition.
func checkComparison(path string, m *Matcher, s *Selector) error {
	if m.fromString {
		return Invalid(path+".matcher", "must be an object")
	}
	r, ok := matcherRules[m.Name]
	switch {
	case !ok:
		return Invalid(path+".matcher.name", "must be one of %s", strings.Join(matcherNames, ", "))
	case m.wrong != "":
		return Invalid(path+".matcher.args"+m.wrongAt, "%s", m.wrong)
	case r.page && s != nil:
		return Invalid(path+".selector", "is no argument of the matcher %s, which looks at the page", m.Name)
	case r.pictured:
		return Invalid(path+".matcher.name", "%s is no condition", m.Name)
	case !r.page && s == nil:
		return Invalid(path+".selector", "is missing")
	}
	path += ".matcher.args"
	if err := checkKept(path, m); err != nil {
		return err
	}
	if IsNetworkMatcher(m.Name) {
		return checkNetworkMatcher(path, m)
	}
	if err := checkNoNetwork(path, m); err != nil {
		return err
	}
	if err := checkNoPicture(path, m); err != nil {
		return err
	}
	if r.app {
		return checkAppState(path, m)
	}
	if r.named {
		if err := CheckName(path+".name", m.Args.Name, MaxName); err != nil {
			return err
		}
	} else if m.Args.Name != "" {
		return Invalid(path+".name", "is no argument of the matcher %s", m.Name)
	}
	return checkValue(path, m, r.modes)
}

func checkValue(path string, m *Matcher, modes []string) error {
	value, mode := m.Args.Value, m.Args.Mode
	if len(modes) == 0 {
		if value != "" {
			return Invalid(path+".value", "is no argument of the matcher %s", m.Name)
		}
		if mode != "" {
			return Invalid(path+".mode", "is no argument of the matcher %s", m.Name)
		}
		return nil
	}
	if mode != "" && !slices.Contains(modes, mode) {
		return Invalid(path+".mode", "must be one of %s", strings.Join(modes, ", "))
	}
	if err := CheckText(path+".value", value, MaxText); err != nil {
		return err
	}
	if m.Name == Count && len(findReferences(value)) == 0 {
		if n, err := strconv.Atoi(value); err != nil || n < 0 || n > maxIndex {
			return Invalid(path+".value", "must be a number from 0 to %d", maxIndex)
		}
	}
	if mode == Matches {
		if err := checkPattern(value); err != nil {
			return Invalid(path+".value", "%v", err)
		}
	}
	return nil
}

func checkWindow(path string, m *Matcher) error {
	m.fromString = false
	if !slices.Contains(windowNames, m.Name) {
		return Invalid(path+".name", "must be one of %s", strings.Join(windowNames, ", "))
	}
	path += ".args"
	if err := checkKept(path, m); err != nil {
		return err
	}
	if err := checkNoNetwork(path, m); err != nil {
		return err
	}
	value := m.Args.Value
	switch {
	case m.wrong != "":
		return Invalid(path+m.wrongAt, "%s", m.wrong)
	case m.Args.Name != "":
		return Invalid(path+".name", "is no argument of the matcher %s", m.Name)
	case m.Args.Mode != "":
		return Invalid(path+".mode", "is no argument of the matcher %s", m.Name)
	case checkNoPicture(path, m) != nil:
		return checkNoPicture(path, m)
	case m.Name == WindowNew && value != "":
		return Invalid(path+".value", "is no argument of the matcher %s", m.Name)
	case m.Name != WindowNew && value == "":
		return Invalid(path+".value", "is missing")
	case m.Name == WindowIndex && len(findReferences(value)) == 0:
		if n, err := strconv.Atoi(value); err != nil || n < 0 || n > maxIndex {
			return Invalid(path+".value", "must be a number from 0 to %d", maxIndex)
		}
	}
	return CheckText(path+".value", value, MaxText)
}

const (
	// maxPattern is bytes of a regular expression. A longer one was not
	// written by a person.
	maxPattern = 1 << 10
	// maxProgram bounds the size that a pattern has with its repetitions:
	// (.{1000}){10} is some ten thousand instructions, of 40 bytes each.
	maxProgram = 20_000
)

type patternError string

func (e patternError) Error() string { return string(e) }

// Pattern compiles the value of the mode matches: a regular expression of RE2,
// which may match anywhere in the text. One that needs much memory is refused.
// The error's text is for the author of the step and does not repeat the value.
func Pattern(value string) (*regexp.Regexp, error) {
	if err := checkPattern(value); err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(value)
	if err != nil {
		return nil, patternError("must be a regular expression of RE2")
	}
	return compiled, nil
}

// checkPattern parses without compiling: validating a thousand steps of costly
// patterns must not take long.
func checkPattern(value string) error {
	if len(value) > maxPattern {
		return patternError("has at most " + strconv.Itoa(maxPattern) + " bytes as a regular expression")
	}
	tree, err := syntax.Parse(value, syntax.Perl)
	if err != nil {
		return patternError("must be a regular expression of RE2")
	}
	if programSize(tree) > maxProgram {
		return patternError("is too large a regular expression: it repeats too much")
	}
	return nil
}

// programSize estimates how many instructions a pattern compiles to.
func programSize(tree *syntax.Regexp) int {
	n := 1 + len(tree.Rune)
	for _, sub := range tree.Sub {
		n = min(n+programSize(sub), maxProgram+1)
	}
	if tree.Op == syntax.OpRepeat {
		n *= max(tree.Min, tree.Max, 1)
	}
	return min(n, maxProgram+1)
}
