package export

import (
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// javaScriptClaim is a call of node:assert about what read gives for a matcher.
func javaScriptClaim(p *page, m *step.Matcher, value script.Text, not bool, read func(matcher string) string) string {
	actual := read(m.Name)
	wrapped := actual
	if strings.HasPrefix(actual, "await ") {
		wrapped = "(" + actual + ")"
	}
	choose := func(yes, no string) string {
		if not {
			return no
		}
		return yes
	}
	switch m.Name {
	case step.Enabled, step.Checked, step.Focused, step.Visible, step.Hidden:
		return "assert.equal(" + actual + ", " + choose("true", "false") + ")"
	case step.Count:
		number := language.JavaScriptNumber(value)
		switch m.Args.Mode {
		case step.AtLeast:
			return "assert.ok(" + wrapped + choose(" >= ", " < ") + number + ")"
		case step.AtMost:
			return "assert.ok(" + wrapped + choose(" <= ", " > ") + number + ")"
		}
		return "assert." + choose("equal", "notEqual") + "(" + actual + ", " + number + ")"
	}
	switch m.Args.Mode {
	case step.Contains:
		function := choose("assertContains", "assertLacks")
		p.call(function)
		return function + "(" + actual + ", " + language.JavaScriptText(value) + ")"
	case step.Matches:
		if m.Name == step.AttributeIs {
			actual = wrapped + " ?? ''"
		}
		return "assert." + choose("match", "doesNotMatch") + "(" + actual + ", " + language.JavaScriptPattern(value) + ")"
	}
	return "assert." + choose("equal", "notEqual") + "(" + actual + ", " + language.JavaScriptText(value) + ")"
}
