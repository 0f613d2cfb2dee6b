package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
)

// locator writes a selector as CSS or XPath of the same meaning; ok is false where
// neither has one. A place among the matches exists in XPath only.
func (w *ide) locator(at place) (target string, ok bool) {
	if css, ok := w.css(at); ok {
		return "css=" + css, at.index == nil || *at.index == 0
	}
	xpath, ok := w.xpath(at)
	return "xpath=" + xpath, ok
}

// css is a selector without its index.
func (w *ide) css(at place) (css string, ok bool) {
	switch at.kind {
	case step.CSS:
		css = w.value(at.value, false)
	case step.TestID:
		id, fixed := at.value.fixed()
		if !fixed {
			return "", false
		}
		var list []string
		for _, name := range testIDs {
			list = append(list, "["+name+"="+cssString(id)+"]")
		}
		css = strings.Join(list, ", ")
	default:
		return "", false
	}
	if at.within != nil {
		around, ok := w.css(*at.within)
		if !ok || at.within.index != nil {
			return "", false
		}
		css = ":is(" + around + ") :is(" + css + ")"
	}
	if at.has != nil {
		inner, ok := w.css(*at.has)
		if !ok || at.has.index != nil {
			return "", false
		}
		css = ":is(" + css + "):has(" + inner + ")"
	}
	return css, len(at.hasText) == 0
}

// cssString is a string of CSS.
func cssString(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r == '"' || r == '\\' || r > '~' {
			fmt.Fprintf(&b, `\%x `, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// xpath is a selector with its index.
func (w *ide) xpath(at place) (string, bool) {
	path, ok := w.path(at)
	if !ok {
		return "", false
	}
	if at.within != nil {
		around, ok := w.xpath(*at.within)
		if !ok || !strings.HasPrefix(path, "//") {
			return "", false
		}
		if at.within.index == nil {
			around = "(" + around + ")[1]"
		}
		path = around + path
	}
	if at.has != nil {
		inner, ok := w.path(*at.has)
		if !ok || at.has.index != nil || at.has.within != nil || at.has.has != nil || len(at.has.hasText) > 0 || !strings.HasPrefix(inner, "//") {
			return "", false
		}
		path = "(" + path + ")[." + inner + "]"
	}
	if len(at.hasText) > 0 {
		wanted, fixed := at.hasText.fixed()
		if !fixed {
			return "", false
		}
		path = "(" + path + ")[" + fits(".", wanted, false) + "]"
	}
	switch i := at.index; {
	case i == nil:
	case *i >= 0:
		path = fmt.Sprintf("(%s)[%d]", path, *i+1)
	case *i == -1:
		path = "(" + path + ")[last()]"
	default:
		path = fmt.Sprintf("(%s)[last()-%d]", path, -*i-1)
	}
	return path, true
}

// path is a selector's type and value.
func (w *ide) path(at place) (string, bool) {
	if at.kind == step.XPath {
		return w.value(at.value, false), true
	}
	wanted, fixed := at.value.fixed()
	if !fixed {
		return "", false
	}
	attribute := func(name string) string { return "//*[@" + name + "][" + fits("@"+name, wanted, at.exact) + "]" }
	switch at.kind {
	case step.Placeholder:
		return attribute("placeholder"), true
	case step.AltText:
		return attribute("alt"), true
	case step.Title:
		return attribute("title"), true
	case step.ByText:
		text := fits(".", wanted, at.exact)
		value := "self::input[@type='submit' or @type='button'][" + fits("@value", wanted, at.exact) + "]"
		return "//*[not(self::html or ancestor-or-self::head or self::script or self::style or self::noscript)]" +
			"[" + value + " or (" + text + " and not(*[not(self::script or self::style or self::noscript)][" + text + "]))]", true
	}
	return "", false
}

// fits is an XPath that compares a text as selectors do: white space is one space, and
// unless it must be exact it may be a part, in any case.
func fits(what, wanted string, exact bool) string {
	what = "normalize-space(" + what + ")"
	wanted = strings.Join(strings.Fields(wanted), " ")
	if exact {
		return what + "=" + xpathString(wanted)
	}
	wanted = strings.ToLower(wanted)
	var lower, upper []rune
	for _, r := range wanted {
		if u := unicode.ToUpper(r); u != r && !slices.Contains(lower, r) {
			lower, upper = append(lower, r), append(upper, u)
		}
	}
	if len(lower) > 0 {
		what = "translate(" + what + "," + xpathString(string(upper)) + "," + xpathString(string(lower)) + ")"
	}
	return "contains(" + what + "," + xpathString(wanted) + ")"
}

// xpathString is a string of XPath, which has no escapes.
func xpathString(s string) string {
	switch {
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	case !strings.Contains(s, `"`):
		return `"` + s + `"`
	}
	var parts []string
	for i, part := range strings.Split(s, "'") {
		if i > 0 {
			parts = append(parts, `"'"`)
		}
		parts = append(parts, "'"+part+"'")
	}
	return "concat(" + strings.Join(parts, ",") + ")"
}

// spell describes a selector to a reader.
func (w *ide) spell(at place) string {
	text := at.kind + "=" + w.value(at.value, false)
	if len(at.name) > 0 {
		text += " named " + w.value(at.name, false)
	}
	if at.within != nil {
		text += " within " + w.spell(*at.within)
	}
	if at.has != nil {
		text += " that has " + w.spell(*at.has)
	}
	if len(at.hasText) > 0 {
		text += " with the text " + w.value(at.hasText, false)
	}
	if at.index != nil {
		text += " number " + strconv.Itoa(*at.index)
	}
	return text
}
