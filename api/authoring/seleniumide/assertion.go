package seleniumide

import (
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// waitMissing is how long a waitFor command without a time waits: what Selenium
// IDE puts there.
const waitMissing = 30_000

// assertion reads assert, verify and waitFor commands; ok is false for others.
func (r *reader) assertion(c *command) (ok bool, err error) {
	name, wait := "", false
	for _, prefix := range []string{"assert", "verify", "waitFor"} {
		if rest, found := strings.CutPrefix(c.Command, prefix); found {
			name, wait = rest, prefix == "waitFor"
		}
	}
	if wait {
		// waitForElementVisible is the Visible of assertions.
		if rest, found := strings.CutPrefix(name, "Element"); found && !strings.HasSuffix(name, "Present") {
			name = rest
		}
	}
	tools, err := r.compare(c, name)
	if err != nil || tools == nil {
		return false, err
	}
	// A text is in the value, where the others have their time.
	timeout := 0
	if wait {
		timeout = waitMissing
		if name != "Text" {
			if timeout, err = r.milliseconds(c.path+".value", c.Value, waitMissing); err != nil {
				return false, err
			}
		}
	}
	r.add(c, *tools, tools.Args.Selector != nil).TimeoutMS = timeout
	return true, nil
}

// compare returns the tool of an assertion; nil for a name that is none.
func (v *values) compare(c *command, name string) (*step.Tool, error) {
	if name == "Title" || name == "NotTitle" {
		m, err := v.matcher(c.path+".target", step.TitleIs, c.Target)
		return assertion(nil, name == "NotTitle", m), err
	}
	form, ok := forms[name]
	if !ok {
		return nil, nil
	}
	s, err := v.locator(c.path+".target", c.Target)
	if err != nil {
		return nil, err
	}
	m := form.matcher
	if form.text != "" {
		text, err := v.matcher(c.path+".value", form.text, c.Value)
		if err != nil {
			return nil, err
		}
		m = *text
	}
	if form.narrow != nil {
		if s = form.narrow(s); s == nil {
			return nil, invalid(c.path+".target", "must be a css=, id= or name= locator for this command")
		}
	}
	return assertion(s, form.not, &m), nil
}

func assertion(s *step.Selector, not bool, m *step.Matcher) *step.Tool {
	return &step.Tool{Type: step.Assert, Args: step.Args{Selector: s, Not: not, Matcher: m}}
}

// form is how an assertion about an element is written as a tool.
type form struct {
	matcher step.Matcher
	text    string // the matcher that compares the command's value
	not     bool
	narrow  func(*step.Selector) *step.Selector
}

var (
	some = step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: "1", Mode: step.AtLeast}}
	none = step.Matcher{Name: step.Count, Args: step.MatcherArgs{Value: "0", Mode: step.Equals}}

	forms = map[string]form{
		"Text":              {text: step.TextIs},
		"NotText":           {text: step.TextIs, not: true},
		"Value":             {text: step.ValueIs},
		"NotValue":          {text: step.ValueIs, not: true},
		"SelectedValue":     {text: step.ValueIs},
		"NotSelectedValue":  {text: step.ValueIs, not: true},
		"SelectedLabel":     {text: step.TextIs, narrow: selected},
		"NotSelectedLabel":  {text: step.TextIs, not: true, narrow: selected},
		"Checked":           {matcher: step.Matcher{Name: step.Checked}},
		"NotChecked":        {matcher: step.Matcher{Name: step.Checked}, not: true},
		"Visible":           {matcher: step.Matcher{Name: step.Visible}},
		"NotVisible":        {matcher: step.Matcher{Name: step.Hidden}},
		"ElementPresent":    {matcher: some},
		"ElementNotPresent": {matcher: none},
		// Editable is neither disabled nor read-only, which no matcher says.
		"Editable":    {matcher: some, narrow: editable},
		"NotEditable": {matcher: some, narrow: locked},
	}
)

func editable(s *step.Selector) *step.Selector {
	return within(s, ":not(:disabled):not([readonly])", "[not(@disabled) and not(@readonly)]")
}

func locked(s *step.Selector) *step.Selector {
	return within(s, ":is(:disabled,[readonly])", "[@disabled or @readonly]")
}

// selected returns the chosen option of a list. XPath sees attributes only, not
// what was chosen since.
func selected(s *step.Selector) *step.Selector {
	if s.Type != step.CSS {
		return nil
	}
	return &step.Selector{Type: step.CSS, Value: ":is(" + s.Value + ") option:checked"}
}

// matcher reads an expected text. Selenium IDE compares the whole text; the
// patterns are those of files that began in its older versions.
func (v *values) matcher(path, name, value string) (*step.Matcher, error) {
	value, err := v.text(path, value)
	if err != nil {
		return nil, err
	}
	args := step.MatcherArgs{Value: value, Mode: step.Equals}
	switch kind, rest, _ := strings.Cut(value, ":"); kind {
	case "exact":
		args.Value = rest
	case "regexp":
		args = step.MatcherArgs{Value: rest, Mode: step.Matches}
	case "regexpi":
		args = step.MatcherArgs{Value: "(?i)" + rest, Mode: step.Matches}
	case "glob":
		args = step.MatcherArgs{Value: glob(rest), Mode: step.Matches}
	}
	return &step.Matcher{Name: name, Args: args}, nil
}

// glob writes a pattern of * and ? as a regular expression.
func glob(pattern string) string {
	return "(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern)) + "$"
}
