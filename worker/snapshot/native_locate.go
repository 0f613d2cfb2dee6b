package snapshot

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	// maxContexts bounds what is tried around an element to tell it from its likes: as
	// many elements, with as many texts each.
	maxContexts     = 6
	maxContextTexts = 8
	// maxLiteral bounds a text in a selector: longer ones change sooner.
	maxLiteral = 120
)

// condition is what an XPath says of an element by itself.
type condition struct {
	tag  string // "*": any
	name string // of the attribute; "" for the tag alone
	text string
	own  bool // it is the element's own text, which an assertion may compare
}

// Locate returns how tests find the element of a ref again: by XPath, which Appium takes
// for every platform. An element that is gone has no selector.
func (a *App) Locate(ref string) Located {
	i, ok := a.byRef[ref]
	if !ok {
		return Located{}
	}
	conditions := a.conditions(i)
	selector, ok := a.sole(i, conditions)
	if !ok {
		selector = a.counted(i, conditions[len(conditions)-1])
	}
	located := Located{Selector: selector}
	var others []condition
	for _, c := range conditions {
		if !c.own {
			others = append(others, c)
		}
	}
	if place, ok := a.sole(i, others); ok {
		located.Place = &place
	}
	return located
}

// conditions returns what an element may be found by, best first: what people and screen
// readers are told, then its identifier, then its class. What looks as if it changes
// comes after the identifier.
func (a *App) conditions(i int) []condition {
	e := &a.elements[i]
	var list, later []condition
	add := func(tag, name string, own bool) {
		text := e.attrs[name]
		switch {
		case text == "" || len(text) > maxLiteral || strings.ContainsFunc(text, unicode.IsControl) || text != clip(text, maxLiteral):
		case own && changes(text):
			later = append(later, condition{tag, name, text, own})
		default:
			list = append(list, condition{tag, name, text, own})
		}
	}
	if e.ios {
		value := e.kind.field || e.kind.role == "switch" || e.kind.role == "slider"
		add(e.tag, "label", !value)
		add(e.tag, "name", !value && e.attrs["name"] == e.attrs["label"])
		add(e.tag, "placeholderValue", false)
		if !value {
			add(e.tag, "value", true)
		}
	} else {
		add("*", "content-desc", false)
		if !e.kind.field {
			add(e.tag, "text", true)
		}
		add("*", "resource-id", false)
		add(e.tag, "hint", false)
	}
	list = append(list, later...)
	return append(list, condition{tag: e.tag})
}

// changes reports whether a text looks like data: a time, a count in brackets, a date.
func changes(text string) bool {
	digits := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits > 0 && (strings.ContainsAny(text, ":%()/") || 2*digits >= len([]rune(text)))
}

// sole returns the selector of the first condition that holds for the element only, by
// itself, by what is in it, or by what is around it.
func (a *App) sole(i int, conditions []condition) (step.Selector, bool) {
	for _, c := range conditions {
		if c.name != "" && a.count(c, nil) == 1 {
			return byXPath("//" + c.xpath()), true
		}
	}
	for _, c := range conditions {
		if s, ok := a.byContent(i, c); ok {
			return s, true
		}
	}
	for _, c := range conditions {
		if s, ok := a.byContext(i, c); ok {
			return s, true
		}
	}
	return step.Selector{}, false
}

// byContent finds an element by a text in it: the entry of a list.
func (a *App) byContent(i int, c condition) (step.Selector, bool) {
	for _, inner := range a.textsIn(i, -1) {
		around := a.around(inner)
		if a.count(c, func(j int) bool { return around[j] }) == 1 {
			return byXPath("//" + c.xpath() + "[" + inner.inside() + "]"), true
		}
	}
	return step.Selector{}, false
}

// byContext finds an element in the nearest one that a text in it tells from others: the
// button in the row of Ann.
func (a *App) byContext(i int, c condition) (step.Selector, bool) {
	for up, n := a.elements[i].parent, 0; up >= 0 && n < maxContexts; up, n = a.elements[up].parent, n+1 {
		tag := a.elements[up].tag
		for _, inner := range a.textsIn(up, i) {
			around := a.around(inner)
			in := a.below(func(j int) bool { return a.elements[j].tag == tag && around[j] })
			if a.count(c, func(j int) bool { return in[j] }) == 1 {
				return byXPath("//" + condition{tag: tag}.xpath() + "[" + inner.inside() + "]//" + c.xpath()), true
			}
		}
	}
	return step.Selector{}, false
}

// counted finds an element by its place among its likes: the last resort.
func (a *App) counted(i int, c condition) step.Selector {
	n := 0
	for j := range i {
		if a.holds(c, j) {
			n++
		}
	}
	s := byXPath("//" + c.xpath())
	s.Index = &n
	return s
}

// textsIn returns the texts in an element that tell it from others, without those of one
// of its descendants.
func (a *App) textsIn(i, without int) []condition {
	var list []condition
	for j := i + 1; j < a.elements[i].end && len(list) < maxContextTexts; j++ {
		if without >= 0 && j >= without && j < a.elements[without].end {
			continue
		}
		e := &a.elements[j]
		if e.kind.field || e.hidden {
			continue
		}
		for _, name := range []string{"text", "content-desc", "label"} {
			text := e.attrs[name]
			if text != "" && len(text) <= maxLiteral && text == clip(text, maxLiteral) && !changes(text) {
				list = append(list, condition{tag: "*", name: name, text: text})
				break
			}
		}
	}
	return list
}

// around returns the elements in which a condition holds.
func (a *App) around(c condition) []bool {
	found := make([]bool, len(a.elements))
	for j := range a.elements {
		if a.holds(c, j) {
			for up := a.elements[j].parent; up >= 0 && !found[up]; up = a.elements[up].parent {
				found[up] = true
			}
		}
	}
	return found
}

// below returns the elements that are in one of some.
func (a *App) below(of func(int) bool) []bool {
	found := make([]bool, len(a.elements))
	for j := range a.elements {
		if up := a.elements[j].parent; up >= 0 {
			found[j] = found[up] || of(up)
		}
	}
	return found
}

func (a *App) holds(c condition, j int) bool {
	e := &a.elements[j]
	return (c.tag == "*" || c.tag == e.tag) && (c.name == "" || e.attrs[c.name] == c.text)
}

// count returns how many elements a condition holds for, those that are not displayed
// included.
func (a *App) count(c condition, and func(int) bool) (n int) {
	for j := range a.elements {
		if a.holds(c, j) && (and == nil || and(j)) {
			n++
		}
	}
	return n
}

func byXPath(value string) step.Selector { return step.Selector{Type: step.XPath, Value: value} }

func (c condition) xpath() string {
	tag := c.tag
	if !plainTag(tag) {
		tag = "*[@class=" + literal(tag) + "]"
	}
	if c.name == "" {
		return tag
	}
	return tag + "[@" + c.name + "=" + literal(c.text) + "]"
}

// plainTag reports whether XPath can have a class as the name of an element: those of
// inner classes have a dollar sign.
func plainTag(tag string) bool {
	return tag == "*" || tag != "" && !strings.ContainsFunc(tag, func(r rune) bool {
		return r != '.' && r != '_' && r != '-' && !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	}) && unicode.IsLetter(rune(tag[0]))
}

func (c condition) inside() string { return ".//" + c.xpath() }

// literal returns a text as XPath has it, which has no escapes.
func literal(text string) string {
	if !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	if !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	parts := strings.Split(text, `"`)
	for i := range parts {
		parts[i] = `"` + parts[i] + `"`
	}
	return "concat(" + strings.Join(parts, `, '"', `) + ")"
}
