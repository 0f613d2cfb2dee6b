package assertion

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// MaxShown bounds what a message quotes of a page.
const MaxShown = 300

// Rule is an assertion that is ready to be compared.
type Rule struct {
	Matcher, mode, value, Attribute string
	area, key                       string // of a storage
	any                             bool   // names no value

	show    func(text string, most int) string // without secrets
	not     bool
	number  int
	pattern interface{ MatchString(string) bool }
}

// NewRule returns the rule of an assertion; show returns a text of a page for a message.
func NewRule(a step.Args, show func(string, int) string) (*Rule, error) {
	if a.Matcher == nil {
		return nil, failure.Stepf("the step names no matcher")
	}
	m := a.Matcher
	r := &Rule{any: m.Args.Value == "" && m.Args.Mode == "", key: m.Args.Key, area: m.Args.Area, Matcher: m.Name,
		mode: m.Args.Mode, value: m.Args.Value, Attribute: m.Args.Name, not: a.Not, show: show}
	if r.mode == "" {
		r.mode = step.Equals
	}
	page := m.Name == step.URLIs || m.Name == step.TitleIs || r.kept()
	if !page && a.Selector == nil {
		return nil, failure.Stepf("the step names no element")
	}
	switch m.Name {
	case step.Visible, step.Hidden, step.Enabled, step.Checked, step.Focused:
		return r, nil
	case step.TextIs, step.ValueIs, step.URLIs, step.TitleIs, step.AttributeIs, step.StorageIs, step.CookieIs:
		if r.mode == step.Matches {
			pattern, err := step.Pattern(r.value)
			if err != nil {
				return nil, failure.Stepf("the pattern %v", err)
			}
			r.pattern = pattern
		}
		return r, nil
	case step.Count:
		n, err := strconv.Atoi(strings.TrimSpace(r.value))
		if err != nil || n < 0 {
			return nil, failure.Stepf("%q is not a number of elements", show(r.value, 40))
		}
		r.number = n
		return r, nil
	}
	return nil, failure.Stepf("the matcher %s is unknown", show(m.Name, 60))
}

// want is what observe.js is to look at.
func (r *Rule) want() string {
	if r.Matcher == step.Hidden {
		return step.Visible
	}
	return r.Matcher
}

// IsTrueFor reports whether the assertion is true for what was seen.
func (r *Rule) IsTrueFor(s *Seen) bool {
	if r.Matcher == step.Visible || r.Matcher == step.Hidden {
		shown := s != nil && s.Is
		return (shown == (r.Matcher == step.Visible)) != r.not
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

func (r *Rule) compare(s *Seen) bool {
	switch r.Matcher {
	case step.Enabled, step.Checked, step.Focused:
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
	if r.Matcher == step.TextIs || r.Matcher == step.TitleIs {
		want = page.CollapseSpaces(want)
	}
	switch r.mode {
	case step.Contains:
		return strings.Contains(got, want)
	case step.Matches:
		return r.pattern != nil && r.pattern.MatchString(got)
	}
	return got == want
}

// Expected returns what the assertion requires, for people.
func (r *Rule) Expected() string {
	not := ""
	if r.not {
		not = "not "
	}
	switch r.Matcher {
	case step.Visible, step.Hidden, step.Enabled, step.Checked, step.Focused:
		return not + "to be " + r.Matcher
	case step.Count:
		return fmt.Sprintf("%scount %s %d", not, words(r.mode), r.number)
	case step.AttributeIs:
		return fmt.Sprintf("attribute %s %s%s %q", r.Attribute, not, words(r.mode), r.show(r.value, MaxShown))
	}
	if r.kept() && r.any {
		return not + "to be there"
	}
	return fmt.Sprintf("%s %s%s %q", r.Matcher, not, words(r.mode), r.show(r.value, MaxShown))
}

// kept reports whether the assertion looks at what the browser keeps.
func (r *Rule) kept() bool { return r.Matcher == step.StorageIs || r.Matcher == step.CookieIs }

// keptFailure returns the failure of an assertion on what the browser keeps.
func (r *Rule) keptFailure(s *Seen) *failure.Failure {
	subject := "the cookie " + r.show(r.Attribute, 100)
	if r.Matcher == step.StorageIs {
		subject = "the item " + r.show(r.key, 100) + " of the " + r.area + " storage"
	}
	actual := "there is none"
	if s != nil {
		actual = r.Describe(s)
		if s.Differs != "" {
			actual = s.Differs
		}
	}
	return failure.Newf(run.CodeAssertionFailed, "%s: expected %s; %s", subject, r.Expected(), actual).Expecting(subject+
		" "+r.Expected(), actual, nil)
}

func words(mode string) string { return strings.ReplaceAll(mode, "_", " ") }

// Describe returns what was seen, for people.
func (r *Rule) Describe(s *Seen) string {
	if s == nil {
		return "no such element"
	}
	is := "is "
	if !s.Is {
		is = "is not "
	}
	switch r.Matcher {
	case step.Visible, step.Hidden:
		return "it " + is + "visible"
	case step.Enabled, step.Checked, step.Focused:
		return "it " + is + r.Matcher
	case step.Count:
		return fmt.Sprintf("there are %d", s.Count)
	}
	switch {
	case s.Text == nil && r.Matcher == step.AttributeIs:
		return "it has no such attribute"
	case s.Text == nil:
		return "it has no " + r.Matcher
	case s.Secret:
		return "it holds another password"
	}
	return fmt.Sprintf("it is %q", r.show(*s.Text, MaxShown))
}
