package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// locator writes a selector as CSS or XPath of the same meaning; ok is false where
// neither has one. A place among the matches exists in XPath only.
func (w *ide) locator(at script.Place) (target string, ok bool) {
	if css, ok := w.css(at); ok {
		return "css=" + css, at.Index == nil || *at.Index == 0
	}
	xpath, ok := w.xpath(at)
	return "xpath=" + xpath, ok
}

// css is a selector without its index.
func (w *ide) css(at script.Place) (css string, ok bool) {
	switch at.Kind {
	case step.CSS:
		css = w.value(at.Value, false)
	case step.TestID:
		id, fixed := at.Value.Fixed()
		if !fixed {
			return "", false
		}
		var list []string
		for _, name := range script.TestIDs {
			list = append(list, "["+name+"="+language.CSS(id)+"]")
		}
		css = strings.Join(list, ", ")
	default:
		return "", false
	}
	if at.Within != nil {
		around, ok := w.css(*at.Within)
		if !ok || at.Within.Index != nil {
			return "", false
		}
		css = ":is(" + around + ") :is(" + css + ")"
	}
	if at.Has != nil {
		inner, ok := w.css(*at.Has)
		if !ok || at.Has.Index != nil {
			return "", false
		}
		css = ":is(" + css + "):has(" + inner + ")"
	}
	return css, len(at.HasText) == 0
}

// xpath is a selector with its index.
func (w *ide) xpath(at script.Place) (string, bool) {
	path, ok := w.path(at)
	if !ok {
		return "", false
	}
	if at.Within != nil {
		around, ok := w.xpath(*at.Within)
		if !ok || !strings.HasPrefix(path, "//") {
			return "", false
		}
		if at.Within.Index == nil {
			around = "(" + around + ")[1]"
		}
		path = around + path
	}
	if at.Has != nil {
		inner, ok := w.path(*at.Has)
		if !ok || at.Has.Index != nil || at.Has.Within != nil || at.Has.Has != nil || len(at.Has.HasText) > 0 || !strings.HasPrefix(inner,
			"//") {
			return "", false
		}
		path = "(" + path + ")[." + inner + "]"
	}
	if len(at.HasText) > 0 {
		wanted, fixed := at.HasText.Fixed()
		if !fixed {
			return "", false
		}
		path = "(" + path + ")[" + fits(".", wanted, false) + "]"
	}
	switch i := at.Index; {
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
func (w *ide) path(at script.Place) (string, bool) {
	if at.Kind == step.XPath {
		return w.value(at.Value, false), true
	}
	wanted, fixed := at.Value.Fixed()
	if !fixed {
		return "", false
	}
	attribute := func(name string) string { return "//*[@" + name + "][" + fits("@"+name, wanted, at.Exact) + "]" }
	switch at.Kind {
	case step.Placeholder:
		return attribute("placeholder"), true
	case step.AltText:
		return attribute("alt"), true
	case step.Title:
		return attribute("title"), true
	case step.ByText:
		text := fits(".", wanted, at.Exact)
		value := "self::input[@type='submit' or @type='button'][" + fits("@value", wanted, at.Exact) + "]"
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
func (w *ide) spell(at script.Place) string {
	text := at.Kind + "=" + w.value(at.Value, false)
	if len(at.Name) > 0 {
		text += " named " + w.value(at.Name, false)
	}
	if at.Within != nil {
		text += " within " + w.spell(*at.Within)
	}
	if at.Has != nil {
		text += " that has " + w.spell(*at.Has)
	}
	if len(at.HasText) > 0 {
		text += " with the text " + w.value(at.HasText, false)
	}
	if at.Index != nil {
		text += " number " + strconv.Itoa(*at.Index)
	}
	return text
}
