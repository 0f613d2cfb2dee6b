package export

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// bareCSS begins as CSS does and cannot be taken for one of Playwright's engines
// (text=, id=); prefixed is what may be.
var (
	bareCSS  = regexp.MustCompile(`^[#.\[A-Za-z*:]`)
	prefixed = regexp.MustCompile(`^[A-Za-z_0-9+:*\s-]+=`)
)

// all is the locator of all matches.
func (w *playwright) all(m *script.Move, at script.Place) string {
	root := "page"
	if w.row != "" {
		root = w.row
	}
	w.timeout = m.Timeout
	for _, s := range m.Within {
		root = w.single(root, s.Place, s.Frame)
		if s.Frame {
			root += ".contentFrame()"
		}
	}
	return w.find(root, at)
}

// element is the locator of the element that a move is about. Playwright itself fails
// where it finds several.
func (w *playwright) element(m *script.Move, at script.Place) string {
	locator := w.all(m, at)
	if at.First {
		locator += ".first()"
	}
	return locator
}

// acting is the locator of an action: where the first match will do, the first one
// that can be seen.
func (w *playwright) acting(m *script.Move, at script.Place) string {
	locator := w.all(m, at)
	if at.First {
		w.call("visible")
		return "visible(" + locator + ")"
	}
	return locator
}

// find is a locator below a root.
func (w *playwright) find(root string, at script.Place) string {
	if at.Within != nil {
		root = w.single(root, *at.Within, false)
	}
	locator := root + w.query(at)
	if at.Kind == step.ByRole && len(at.Name) > 0 && !at.Exact && !at.Inner {
		locator = w.named(root, at)
	}
	var filters []string
	if at.Has != nil {
		// Playwright looks for it in each of the elements.
		filters = append(filters, "has: "+w.find("page", at.Has.Inside()))
	}
	if len(at.HasText) > 0 {
		filters = append(filters, "hasText: "+language.JavaScriptText(at.HasText))
	}
	if len(filters) > 0 {
		locator += ".filter({ " + strings.Join(filters, ", ") + " })"
	}
	if at.Index != nil {
		locator += fmt.Sprintf(".nth(%d)", *at.Index)
	}
	return locator
}

// single is the locator of what others are looked for in. Playwright would look in
// all of several, except for frames.
func (w *playwright) single(root string, at script.Place, frame bool) string {
	locator := w.find(root, at)
	switch {
	case at.First:
		return locator + ".first()"
	case at.Index != nil || frame:
		return locator
	}
	w.call("only")
	return "(await only(" + locator + "))"
}

// named is an expression for the elements of a role that have a name as a whole, where
// there are any. An action waits for the first of them.
func (w *playwright) named(root string, at script.Place) string {
	w.call("named")
	arguments := []string{root, language.JavaScriptText(at.Value), "{ " + strings.Join(roleOptions(at), ", ") + " }"}
	switch {
	case w.asserting:
		arguments = append(arguments, "0")
	case w.timeout > 0:
		arguments = append(arguments, language.Thousands(w.timeout))
	}
	return "(await named(" + strings.Join(arguments, ", ") + "))"
}

func roleOptions(at script.Place) (options []string) {
	if len(at.Name) > 0 {
		options = append(options, "name: "+language.JavaScriptText(at.Name))
	}
	if at.Level > 0 {
		options = append(options, fmt.Sprintf("level: %d", at.Level))
	}
	for _, s := range at.State {
		options = append(options, fmt.Sprintf("%s: %t", s.Name, s.Is))
	}
	return options
}

// query is the call that looks for elements.
func (w *playwright) query(at script.Place) string {
	call := func(name string, options ...string) string {
		if at.Exact {
			options = append(options, "exact: true")
		}
		return "." + name + "(" + language.JavaScriptText(at.Value) + javaScriptOptions(options) + ")"
	}
	switch at.Kind {
	case step.ByRole:
		return call("getByRole", roleOptions(at)...)
	case step.ByLabel:
		return call("getByLabel")
	case step.ByText:
		return call("getByText")
	case step.Placeholder:
		return call("getByPlaceholder")
	case step.AltText:
		return call("getByAltText")
	case step.Title:
		return call("getByTitle")
	case step.TestID:
		w.call("testId")
		return ".locator(testId(" + language.JavaScriptText(at.Value) + "))"
	}
	value := at.Value
	literal, fixed := value.Fixed()
	switch xpath := at.Kind == step.XPath; {
	case xpath && !(fixed && strings.HasPrefix(literal, "//")):
		value = value.Prefixed("xpath=")
	case !xpath && (!fixed || !bareCSS.MatchString(literal) || prefixed.MatchString(literal)):
		value = value.Prefixed("css=")
	}
	return ".locator(" + language.JavaScriptText(value) + ")"
}

// javaScriptOptions are a last argument.
func javaScriptOptions(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return ", { " + strings.Join(members, ", ") + " }"
}
