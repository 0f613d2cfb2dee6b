package replay

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
)

// maxShown bounds what a message quotes of a page.
const maxShown = 300

// rule is an assertion that is ready to be compared.
type rule struct {
	matcher, mode, value, attribute string
	area, key                       string // of a storage
	any                             bool   // names no value

	show    func(text string, most int) string // without secrets
	not     bool
	number  int
	pattern interface{ MatchString(string) bool }
}

func newRule(a step.Args, show func(string, int) string) (*rule, error) {
	if a.Matcher == nil {
		return nil, stepf("the step names no matcher")
	}
	m := a.Matcher
	r := &rule{any: m.Args.Value == "" && m.Args.Mode == "", key: m.Args.Key, area: m.Args.Area, matcher: m.Name, mode: m.Args.Mode, value: m.Args.Value, attribute: m.Args.Name, not: a.Not, show: show}
	if r.mode == "" {
		r.mode = step.Equals
	}
	page := m.Name == step.URLIs || m.Name == step.TitleIs || r.kept()
	if !page && a.Selector == nil {
		return nil, stepf("the step names no element")
	}
	switch m.Name {
	case step.Visible, step.Hidden, step.Enabled, step.Checked:
		return r, nil
	case step.TextIs, step.ValueIs, step.URLIs, step.TitleIs, step.AttributeIs, step.StorageIs, step.CookieIs:
		if r.mode == step.Matches {
			pattern, err := step.Pattern(r.value)
			if err != nil {
				return nil, stepf("the pattern %v", err)
			}
			r.pattern = pattern
		}
		return r, nil
	case step.Count:
		n, err := strconv.Atoi(strings.TrimSpace(r.value))
		if err != nil || n < 0 {
			return nil, stepf("%q is not a number of elements", show(r.value, 40))
		}
		r.number = n
		return r, nil
	}
	return nil, stepf("the matcher %s is unknown", show(m.Name, 60))
}

// want is what observe.js is to look at.
func (r *rule) want() string {
	if r.matcher == step.Hidden {
		return step.Visible
	}
	return r.matcher
}

// isTrueFor reports whether the assertion is true for what was seen.
func (r *rule) isTrueFor(s *seen) bool {
	if r.matcher == step.Visible || r.matcher == step.Hidden {
		shown := s != nil && s.Is
		return (shown == (r.matcher == step.Visible)) != r.not
	}
	if r.kept() && r.any {
		return (s != nil && s.Differs == "") != r.not
	}
	// Nothing is true for what is not there, and neither is its opposite.
	if s == nil {
		return false
	}
	return r.compare(s) != r.not
}

func (r *rule) compare(s *seen) bool {
	switch r.matcher {
	case step.Enabled, step.Checked:
		return s.Is
	case step.Count:
		switch r.mode {
		case step.AtLeast:
			return s.Count >= r.number
		case step.AtMost:
			return s.Count <= r.number
		}
		return s.Count == r.number
	}
	if s.Text == nil {
		return false
	}
	if s.Differs != "" {
		return false
	}
	got, want := *s.Text, r.value
	if r.matcher == step.TextIs || r.matcher == step.TitleIs {
		want = collapseSpaces(want)
	}
	switch r.mode {
	case step.Contains:
		return strings.Contains(got, want)
	case step.Matches:
		return r.pattern != nil && r.pattern.MatchString(got)
	}
	return got == want
}

// collapseSpaces returns a text with white space as a browser renders it.
func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// expected returns what the assertion requires, for people.
func (r *rule) expected() string {
	not := ""
	if r.not {
		not = "not "
	}
	switch r.matcher {
	case step.Visible, step.Hidden, step.Enabled, step.Checked:
		return not + "to be " + r.matcher
	case step.Count:
		return fmt.Sprintf("%scount %s %d", not, words(r.mode), r.number)
	case step.AttributeIs:
		return fmt.Sprintf("attribute %s %s%s %q", r.attribute, not, words(r.mode), r.show(r.value, maxShown))
	}
	if r.kept() && r.any {
		return not + "to be there"
	}
	return fmt.Sprintf("%s %s%s %q", r.matcher, not, words(r.mode), r.show(r.value, maxShown))
}

// kept reports whether the assertion looks at what the browser keeps.
func (r *rule) kept() bool { return r.matcher == step.StorageIs || r.matcher == step.CookieIs }

// keptFailure returns the failure of an assertion on what the browser keeps.
func (r *rule) keptFailure(s *seen) *failure {
	subject := "the cookie " + r.show(r.attribute, 100)
	if r.matcher == step.StorageIs {
		subject = "the item " + r.show(r.key, 100) + " of the " + r.area + " storage"
	}
	actual := "there is none"
	if s != nil {
		actual = r.describe(s)
		if s.Differs != "" {
			actual = s.Differs
		}
	}
	return failf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, r.expected(), actual).expecting(subject+" "+r.expected(), actual, nil)
}

func words(mode string) string { return strings.ReplaceAll(mode, "_", " ") }

// describe returns what was seen, for people.
func (r *rule) describe(s *seen) string {
	if s == nil {
		return "no such element"
	}
	is := "is "
	if !s.Is {
		is = "is not "
	}
	switch r.matcher {
	case step.Visible, step.Hidden:
		return "it " + is + "visible"
	case step.Enabled, step.Checked:
		return "it " + is + r.matcher
	case step.Count:
		return fmt.Sprintf("there are %d", s.Count)
	}
	switch {
	case s.Text == nil && r.matcher == step.AttributeIs:
		return "it has no such attribute"
	case s.Text == nil:
		return "it has no " + r.matcher
	case s.Secret:
		return "it holds another password"
	}
	return fmt.Sprintf("it is %q", r.show(*s.Text, maxShown))
}
