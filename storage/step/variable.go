package step

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The scopes of variables.
const (
	ScopeOrg   = "org"
	ScopeTeam  = "team"
	ScopeSuite = "testSuite"
	ScopeCase  = "testCase"
	ScopeParam = "param" // a parameter of the step group that the text stands in
	// ScopeRow is that of the data row that a job has: its columns are the names.
	ScopeRow = "row"
)

// MaxExpanded is bytes of a text with its variables replaced: a text of many
// references to a long value must not exhaust the memory of a worker.
const MaxExpanded = 1 << 20

// ErrExpanded means that a text with its variables is longer than MaxExpanded.
var ErrExpanded = errors.New("the text is longer than 1 MiB with its variables replaced")

// ErrEmptyText means that a text of a selector is empty with its variables replaced.
var ErrEmptyText = errors.New("a text of the selector is empty with its variables replaced")

// Reference is a variable in a text: {{name}}, {{org:name}}, {{team:name}},
// {{testSuite:ID:name}} or {{testCase:ID:name}}; or a column of the data row, {{row:name}}, what
// a step has saved, {{saved:name}}, or in a step group {{param:name}}.
type Reference struct {
	Scope string // "" for a bare name: case, suite, team, org
	ID    string // of a suite or case
	Name  string
}

// String returns a reference as it is written in a text.
func (r Reference) String() string {
	text := r.Name
	if r.ID != "" {
		text = r.ID + ":" + text
	}
	if r.Scope != "" {
		text = r.Scope + ":" + text
	}
	return "{{" + text + "}}"
}

// reference has the groups scope and name, scope, id and name, or name. An id is
// a UUID or the hexadecimal id of a case; with the wider set the look-up decides.
var reference = regexp.MustCompile(
	`\{\{[ \t]*(?:(?:(org|team|row|saved|param):)?|(testSuite|testCase):([A-Za-z0-9-]{1,64}):)([a-z0-9_]{1,64})[ \t]*\}\}`)

// foundReference is a reference and its position in a text.
type foundReference struct {
	from, to int
	Reference
}

func findReferences(text string) []foundReference {
	if !strings.Contains(text, "{{") {
		return nil
	}
	var list []foundReference
	for _, at := range reference.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		list = append(list, foundReference{at[0], at[1], Reference{Scope: group(1) + group(2), ID: group(3), Name: group(4)}})
	}
	return list
}

// References returns the variables that steps and the addresses of a test refer to, each
// once, in the order of their first occurrence; without what steps save.
func References(steps []Step, addresses ...string) []Reference {
	list := []Reference{}
	seen := map[Reference]bool{}
	add := func(text string) (string, error) {
		for _, f := range findReferences(text) {
			if f.Scope != ScopeSaved && !seen[f.Reference] {
				seen[f.Reference] = true
				list = append(list, f.Reference)
			}
		}
		return text, nil
	}
	for _, address := range addresses {
		_, _ = add(address) // add has no errors
	}
	for i := range steps {
		if steps[i].When != nil {
			_, _ = mapCondition(*steps[i].When, add)
		}
		_, _ = mapTool(steps[i].Tool, add, true)
	}
	return list
}

// CheckRows refuses steps, and the address where a test begins, that name a column of the
// data rows which the test does not have: columns is nil for a test without data. The error
// is an *InvalidError of runSettings.testUrl or a step, steps[3] of the list called steps.
func CheckRows(list string, steps []Step, address string, columns []string) error {
	missing := func(path string, named []Reference) error {
		for _, r := range named {
			switch {
			case r.Scope != ScopeRow || slices.Contains(columns, r.Name):
			case columns == nil:
				return Invalid(path, "names %s, and the test case has no data", r)
			default:
				return Invalid(path, "names %s, and the data have no column %s", r, r.Name)
			}
		}
		return nil
	}
	if err := missing("runSettings.testUrl", References(nil, address)); err != nil {
		return err
	}
	for i := range steps {
		if err := missing(fmt.Sprintf("%s[%d]", list, i), References(steps[i:i+1])); err != nil {
			return err
		}
	}
	return nil
}

// Expand replaces the variables of a text. lookup returns false for one that is
// not defined, which is an *UnknownVariableError. Any other text stays as it
// is; so do references in the values of variables. ErrExpanded when the text
// becomes too long.
func Expand(text string, lookup func(Reference) (string, bool)) (string, error) {
	list := findReferences(text)
	if len(list) == 0 {
		return text, nil
	}
	var out strings.Builder
	end := 0
	for _, f := range list {
		value, ok := lookup(f.Reference)
		if !ok {
			return "", &UnknownVariableError{f.Reference}
		}
		if out.Len()+len(value)+len(text)-end > MaxExpanded {
			return "", ErrExpanded
		}
		out.WriteString(text[end:f.from])
		out.WriteString(value)
		end = f.to
	}
	out.WriteString(text[end:])
	return out.String(), nil
}

// ExpandTool returns a copy of a tool with the variables of all its texts
// replaced: url, text, optionValue, matcher values, those of a group's parameters, and the
// texts of selectors with those that they are within or have inside. Fingerprints and files
// contain no variables; the copy shares them. The tools of for_each stay as they are: each may
// need what one before it has saved.
func ExpandTool(t Tool, lookup func(Reference) (string, bool)) (Tool, error) {
	return mapTool(t, func(text string) (string, error) { return Expand(text, lookup) }, false)
}

// ExpandCondition returns a copy of a condition with the variables of all its texts
// replaced, as ExpandTool.
func ExpandCondition(c Condition, lookup func(Reference) (string, bool)) (Condition, error) {
	return mapCondition(c, func(text string) (string, error) { return Expand(text, lookup) })
}

// textMapper applies a function to texts until it fails.
type textMapper struct {
	apply  func(string) (string, error)
	failed error
}

func (m *textMapper) text(text string) string {
	if m.failed != nil || text == "" {
		return text
	}
	text, m.failed = m.apply(text)
	return text
}

// selector returns a copy of a selector. One of its texts that becomes empty is an
// error: without it the selector would find more than it says.
func (m *textMapper) selector(s *Selector) *Selector {
	if s == nil {
		return nil
	}
	changed := *s
	for _, text := range []*string{&changed.Value, &changed.Name, &changed.HasText} {
		before := *text
		*text = m.text(before)
		if m.failed == nil && before != "" && strings.TrimSpace(*text) == "" {
			m.failed = ErrEmptyText
		}
	}
	changed.Within, changed.Has = m.selector(s.Within), m.selector(s.Has)
	for _, r := range changed.relations() {
		*r.at = m.relation(*r.at)
	}
	return &changed
}

func (m *textMapper) matcher(matcher *Matcher) *Matcher {
	if matcher == nil {
		return nil
	}
	changed := *matcher
	changed.Args.Value, changed.Args.Key = m.text(changed.Args.Value), m.text(changed.Args.Key)
	m.networkMatcher(&changed.Args)
	changed.Args.Masks = slices.Clone(changed.Args.Masks)
	for i := range changed.Args.Masks {
		changed.Args.Masks[i] = *m.selector(&changed.Args.Masks[i])
	}
	return &changed
}

func mapCondition(c Condition, f func(string) (string, error)) (Condition, error) {
	m := &textMapper{apply: f}
	c.Selector, c.Matcher = m.selector(c.Selector), m.matcher(c.Matcher)
	if m.failed != nil {
		return Condition{}, m.failed
	}
	return c, nil
}

// mapTool returns a copy of a tool with f applied to its texts; whole: to those of the
// tools of for_each too.
func mapTool(t Tool, f func(string) (string, error), whole bool) (Tool, error) {
	m := &textMapper{apply: f}
	a := &t.Args
	a.URL = m.text(a.URL)
	a.Selector, a.Target = m.selector(a.Selector), m.selector(a.Target)
	for _, s := range []**string{&a.Text, &a.OptionValue} {
		if *s != nil {
			changed := m.text(**s)
			*s = &changed
		}
	}
	a.Matcher = m.matcher(a.Matcher)
	a.With = m.values(a.With)
	m.state(t.Type, a, whole)
	m.network(t.Type, a)
	m.mobile(t.Type, a)
	if a.Tool != nil && m.failed == nil {
		inner, err := mapTool(*a.Tool, f, whole)
		a.Tool, m.failed = &inner, err
	}
	if m.failed != nil {
		return Tool{}, m.failed
	}
	return t, nil
}

// UnknownVariableError means that a variable has no value.
type UnknownVariableError struct{ Reference Reference }

func (e *UnknownVariableError) Error() string {
	return "the variable " + e.Reference.String() + " has no value"
}

// OnlyVariables reports whether a text consists of variables alone.
func OnlyVariables(text string) bool {
	end := 0
	for _, f := range findReferences(text) {
		if f.from != end {
			break
		}
		end = f.to
	}
	return end == len(text)
}
