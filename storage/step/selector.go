package step

import (
	"maps"
	"slices"
	"strings"
)

const (
	// maxSelectors bounds the selectors that one is made of, by within and has, and
	// maxSelectorDepth how deep they lie in each other: what a person still
	// understands, and what a page finds without going through itself too often.
	maxSelectors     = 8
	maxSelectorDepth = 4
	// maxSelectorSize is bytes of all their texts together.
	maxSelectorSize = 2 * MaxSelector
	// maxLevel is above what a heading or an item of a tree has.
	maxLevel = 20
)

// selectorTypes are the types of selectors, in the order in which errors name them.
var selectorTypes = []string{CSS, XPath, ByRole, ByLabel, ByText, Placeholder, TestID, AltText, Title}

// selectorCheck checks one selector with those that it is made of.
type selectorCheck struct {
	count, size int
	shadow      bool // in a shadow root, where XPath does not work
}

func checkSelector(path string, s *Selector, at position) error {
	if s == nil {
		return nil
	}
	c := selectorCheck{shadow: at.shadow}
	return c.check(path, s, 1)
}

func (c *selectorCheck) check(path string, s *Selector, depth int) error {
	c.size += len(s.Value) + len(s.Name) + len(s.HasText)
	c.count++
	switch {
	case depth > maxSelectorDepth:
		return Invalid(path, "lies in more than %d selectors", maxSelectorDepth-1)
	case c.count > maxSelectors:
		return Invalid(path, "is one of more than %d selectors in one", maxSelectors)
	case !slices.Contains(selectorTypes, s.Type):
		return Invalid(path+".type", "must be one of %s", strings.Join(selectorTypes, ", "))
	case s.Type == XPath && c.shadow:
		return Invalid(path+".type", "must not be xpath in a shadow root, where XPath does not work")
	case strings.TrimSpace(s.Value) == "":
		return Invalid(path+".value", "is missing")
	case s.nth != nil:
		return Invalid(path+".nth", "must not differ from index, whose other name it is")
	case s.Index != nil && (*s.Index < -maxIndex || *s.Index > maxIndex):
		return Invalid(path+".index", "must be %d to %d", -maxIndex, maxIndex)
	}
	if err := checkSelectorTexts(path, s); err != nil {
		return err
	}
	if c.size > maxSelectorSize {
		return Invalid(path, "has with its selectors more than %d bytes of text", maxSelectorSize)
	}
	if err := checkRole(path, s); err != nil {
		return err
	}
	if err := checkSyntax(path+".value", s); err != nil {
		return err
	}
	if s.Within != nil {
		if err := c.check(path+".within", s.Within, depth+1); err != nil {
			return err
		}
	}
	if s.Has != nil {
		if err := c.check(path+".has", s.Has, depth+1); err != nil {
			return err
		}
	}
	for _, r := range s.relations() {
		if err := c.relation(path+"."+r.name, *r.at, depth); err != nil {
			return err
		}
	}
	if s.Fingerprint == nil {
		return nil
	}
	if depth > 1 {
		return Invalid(path+".fingerprint", "stands at the outermost selector only, whose element it describes")
	}
	return CheckFingerprint(path+".fingerprint", s.Fingerprint)
}

func checkSelectorTexts(path string, s *Selector) error {
	for _, m := range []struct{ name, text string }{{"value", s.Value}, {"name", s.Name}, {"hasText", s.HasText}} {
		if err := CheckText(path+"."+m.name, m.text, MaxSelector); err != nil {
			return err
		}
		if m.text != "" && strings.TrimSpace(m.text) == "" {
			return Invalid(path+"."+m.name, "must not be white space alone, which every element has")
		}
	}
	return nil
}

// The roles that can have a level or a state; any element may be disabled. One that
// cannot would never be found, and Playwright refuses it.
var (
	levelRoles = []string{"heading", "listitem", "row", "treeitem"}
	stateRoles = map[string][]string{
		"checked":  {"checkbox", "menuitemcheckbox", "menuitemradio", "option", "radio", "switch", "treeitem"},
		"disabled": nil,
		"expanded": {"application", "button", "checkbox", "columnheader", "combobox", "gridcell", "link", "listbox", "menuitem",
			"menuitemcheckbox", "menuitemradio", "row", "rowheader", "switch", "tab", "treeitem"},
		"pressed":  {"button"},
		"selected": {"columnheader", "gridcell", "option", "row", "rowheader", "tab", "treeitem"},
	}
	stateNames = slices.Sorted(maps.Keys(stateRoles))
)

// ariaRoles are the roles of WAI-ARIA that elements have, without the abstract ones.
var ariaRoles = strings.Fields(`alert alertdialog application article banner blockquote button caption cell checkbox
	code columnheader combobox complementary contentinfo definition deletion dialog directory document emphasis feed
	figure form generic grid gridcell group heading img insertion link list listbox listitem log main mark marquee
	math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation
	progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton
	status strong subscript superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree
	treegrid treeitem`)

// checkRole checks the members that only some types have: those of roles, and exact.
func checkRole(path string, s *Selector) error {
	if s.Exact && (s.Type == CSS || s.Type == XPath || s.Type == ByRole && s.Name == "") {
		return Invalid(path+".exact", "compares texts, of which this selector has none")
	}
	if s.Type != ByRole {
		switch {
		case s.Name != "":
			return Invalid(path+".name", "is no member of the type %s", s.Type)
		case s.Level != 0:
			return Invalid(path+".level", "is no member of the type %s", s.Type)
		case len(s.State) > 0:
			return Invalid(path+".state", "is no member of the type %s", s.Type)
		}
		return nil
	}
	role := s.Value
	if len(findReferences(role)) > 0 {
		role = ""
	}
	if role != "" && !slices.Contains(ariaRoles, role) {
		return Invalid(path+".value", "must be a role of WAI-ARIA, such as button, link, textbox or heading")
	}
	if s.Level < 0 || s.Level > maxLevel {
		return Invalid(path+".level", "must be 1 to %d", maxLevel)
	}
	if s.Level != 0 && role != "" && !slices.Contains(levelRoles, role) {
		return Invalid(path+".level", "is of the roles %s only", strings.Join(levelRoles, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(s.State)) {
		roles, ok := stateRoles[name]
		if !ok {
			return Invalid(path+".state", "has no member %.40q, only %s", name, strings.Join(stateNames, ", "))
		}
		if role != "" && roles != nil && !slices.Contains(roles, role) {
			return Invalid(path+".state."+name, "is of the roles %s only", strings.Join(roles, ", "))
		}
	}
	return nil
}
