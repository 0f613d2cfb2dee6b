package seleniumide

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// parseLocator reads a locator of Selenium IDE. Links are found by XPath, as CSS
// cannot look at texts.
func parseLocator(path, text string) (*step.Selector, error) {
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "(") {
		return &step.Selector{Type: step.XPath, Value: text}, nil
	}
	kind, value, _ := strings.Cut(text, "=")
	if strings.TrimSpace(value) == "" {
		if text == "" {
			return nil, invalid(path, "is missing")
		}
		return nil, invalid(path, "must begin with css=, xpath=, id=, name=, linkText=, partialLinkText= or class=")
	}
	css := func(value string) (*step.Selector, error) { return &step.Selector{Type: step.CSS, Value: value}, nil }
	xpath := func(value string) (*step.Selector, error) {
		return &step.Selector{Type: step.XPath, Value: value}, nil
	}
	switch kind {
	case "css":
		return css(value)
	case "xpath":
		return xpath(value)
	case "id":
		if identifier.MatchString(value) {
			return css("#" + value)
		}
		return css("[id=" + quote(value) + "]")
	case "name":
		return css("[name=" + quote(value) + "]")
	case "class", "className":
		if identifier.MatchString(value) {
			return css("." + value)
		}
		return css("[class~=" + quote(value) + "]")
	case "link", "linkText":
		return xpath("//a[normalize-space(.)=" + literal(strings.Join(strings.Fields(value), " ")) + "]")
	case "partialLinkText":
		return xpath("//a[contains(normalize-space(.)," + literal(strings.Join(strings.Fields(value), " ")) + ")]")
	}
	return nil, invalid(path, "must begin with css=, xpath=, id=, name=, linkText=, partialLinkText= or class=")
}

// firstMatches are the kinds of locators that find several elements by their nature,
// of which Selenium IDE takes the first.
var firstMatches = []string{"name", "class", "className", "link", "linkText", "partialLinkText"}

// isFirstMatch reports whether a locator names one element of what may be several.
func isFirstMatch(locator string) bool {
	kind, _, _ := strings.Cut(locator, "=")
	return slices.Contains(firstMatches, kind)
}

// identifier is what CSS takes after # and . without escapes.
var identifier = regexp.MustCompile(`^-?[A-Za-z_][A-Za-z0-9_-]*$`)

// quote writes a string of CSS: quotes and backslashes escaped by a backslash,
// control characters by their number.
func quote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\%x `, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// literal writes a string of XPath, which has no escapes: a text with both kinds
// of quotes is put together from parts.
func literal(text string) string {
	switch {
	case !strings.Contains(text, `"`):
		return `"` + text + `"`
	case !strings.Contains(text, `'`):
		return `'` + text + `'`
	}
	return `concat("` + strings.ReplaceAll(text, `"`, `",'"',"`) + `")`
}

// within narrows a selector by a condition, which CSS and XPath say in their own
// ways: the element itself must fulfil it.
func within(s *step.Selector, css, xpath string) *step.Selector {
	if s.Type == step.CSS {
		return &step.Selector{Type: step.CSS, Value: ":is(" + s.Value + ")" + css}
	}
	return &step.Selector{Type: step.XPath, Value: "(" + s.Value + ")" + xpath}
}

const maxHint = 1 << 10 // bytes, as fingerprints have them

var (
	testID = regexp.MustCompile(`^css=\*?\[data-(?:testid|test-id|test|qa|cy)=(?:'([^'\\]+)'|"([^"\\]+)")\]$`)
	byText = regexp.MustCompile(`^xpath=//([a-z][a-z0-9-]*)\[contains\((?:\.|text\(\)),\s*'([^']+)'\)\]$`)
	// namedByText are elements whose text is their accessible name.
	namedByText = map[string]bool{"a": true, "button": true, "summary": true, "option": true}
)

// hints reads what the recorded locators tell about the element. They have no tag,
// so that they are partial: the first run that passes completes them.
func hints(c *command) *step.Fingerprint {
	var targets [][]string
	if json.Unmarshal(c.Targets, &targets) != nil {
		targets = nil // other tools leave other things here
	}
	f := step.Fingerprint{}
	for i := -1; i < min(len(targets), maxTargets); i++ {
		text := c.Target
		if i >= 0 {
			if len(targets[i]) == 0 {
				continue
			}
			text = targets[i][0]
		}
		if len(text) <= maxHint && plain(text) && !strings.Contains(text, "${") {
			f = hint(f, text)
		}
	}
	if f.TestID == "" && f.Text == "" && len(f.Attributes) == 0 {
		return nil
	}
	return &f
}

func hint(f step.Fingerprint, locator string) step.Fingerprint {
	kind, value, _ := strings.Cut(locator, "=")
	switch {
	case value == "":
	case kind == "id" || kind == "name":
		if f.Attributes == nil {
			f.Attributes = map[string]string{}
		}
		if f.Attributes[kind] == "" {
			f.Attributes[kind] = value
		}
	case kind == "link" || kind == "linkText":
		f.Text, f.Name = value, value
	}
	if m := testID.FindStringSubmatch(locator); m != nil && f.TestID == "" {
		f.TestID = m[1] + m[2]
	}
	if m := byText.FindStringSubmatch(locator); m != nil && f.Text == "" {
		f.Text = m[2]
		if namedByText[m[1]] {
			f.Name = m[2]
		}
	}
	return f
}
