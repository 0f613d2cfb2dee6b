package export

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// bareCSS begins as CSS does and cannot be taken for one of Playwright's engines
// (text=, id=); prefixed is what may be.
var (
	bareCSS  = regexp.MustCompile(`^[#.\[A-Za-z*:]`)
	prefixed = regexp.MustCompile(`^[A-Za-z_0-9+:*\s-]+=`)
)

// all is the locator of all matches.
func (w *playwright) all(m *move, at place) string {
	root := "page"
	if w.row != "" {
		root = w.row
	}
	w.timeout = m.timeout
	for _, s := range m.within {
		root = w.single(root, s.place, s.frame)
		if s.frame {
			root += ".contentFrame()"
		}
	}
	return w.find(root, at)
}

// element is the locator of the element that a move is about. Playwright itself fails
// where it finds several.
func (w *playwright) element(m *move, at place) string {
	locator := w.all(m, at)
	if at.first {
		locator += ".first()"
	}
	return locator
}

// acting is the locator of an action: where the first match will do, the first one
// that can be seen.
func (w *playwright) acting(m *move, at place) string {
	locator := w.all(m, at)
	if at.first {
		w.call("visible")
		return "visible(" + locator + ")"
	}
	return locator
}

// find is a locator below a root.
func (w *playwright) find(root string, at place) string {
	if at.within != nil {
		root = w.single(root, *at.within, false)
	}
	locator := root + w.query(at)
	if at.kind == step.ByRole && len(at.name) > 0 && !at.exact && !at.inner {
		locator = w.named(root, at)
	}
	var filters []string
	if at.has != nil {
		// Playwright looks for it in each of the elements.
		filters = append(filters, "has: "+w.find("page", at.has.inside()))
	}
	if len(at.hasText) > 0 {
		filters = append(filters, "hasText: "+javaScriptText(at.hasText))
	}
	if len(filters) > 0 {
		locator += ".filter({ " + strings.Join(filters, ", ") + " })"
	}
	if at.index != nil {
		locator += fmt.Sprintf(".nth(%d)", *at.index)
	}
	return locator
}

// single is the locator of what others are looked for in. Playwright would look in
// all of several, except for frames.
func (w *playwright) single(root string, at place, frame bool) string {
	locator := w.find(root, at)
	switch {
	case at.first:
		return locator + ".first()"
	case at.index != nil || frame:
		return locator
	}
	w.call("only")
	return "(await only(" + locator + "))"
}

// named is an expression for the elements of a role that have a name as a whole, where
// there are any. An action waits for the first of them.
func (w *playwright) named(root string, at place) string {
	w.call("named")
	arguments := []string{root, javaScriptText(at.value), "{ " + strings.Join(roleOptions(at), ", ") + " }"}
	switch {
	case w.asserting:
		arguments = append(arguments, "0")
	case w.timeout > 0:
		arguments = append(arguments, thousands(w.timeout))
	}
	return "(await named(" + strings.Join(arguments, ", ") + "))"
}

func roleOptions(at place) (options []string) {
	if len(at.name) > 0 {
		options = append(options, "name: "+javaScriptText(at.name))
	}
	if at.level > 0 {
		options = append(options, fmt.Sprintf("level: %d", at.level))
	}
	for _, s := range at.state {
		options = append(options, fmt.Sprintf("%s: %t", s.name, s.is))
	}
	return options
}

// query is the call that looks for elements.
func (w *playwright) query(at place) string {
	call := func(name string, options ...string) string {
		if at.exact {
			options = append(options, "exact: true")
		}
		return "." + name + "(" + javaScriptText(at.value) + javaScriptOptions(options) + ")"
	}
	switch at.kind {
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
		return ".locator(testId(" + javaScriptText(at.value) + "))"
	}
	value := at.value
	literal, fixed := value.fixed()
	switch xpath := at.kind == step.XPath; {
	case xpath && !(fixed && strings.HasPrefix(literal, "//")):
		value = value.prefixed("xpath=")
	case !xpath && (!fixed || !bareCSS.MatchString(literal) || prefixed.MatchString(literal)):
		value = value.prefixed("css=")
	}
	return ".locator(" + javaScriptText(value) + ")"
}

// javaScriptOptions are a last argument.
func javaScriptOptions(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return ", { " + strings.Join(members, ", ") + " }"
}
