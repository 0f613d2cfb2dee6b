package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/storage/step"
)

// escapeUnits is a script of Maestro that writes each unit of a value that could mean something in
// a pattern so that it means itself. It has no dollar, at which Maestro would end it.
const escapeUnits = `.replace(/[^A-Za-z0-9 ]/g, function (unit) { return '\\u' + ('000' + unit.charCodeAt(0).toString(16)).slice(-4) })`

// quoted is a pattern for a text as it stands, between two others.
func (w *maestro) quoted(before string, t text, after string) string {
	pieces := []piece{{literal: before}}
	for _, p := range t {
		if script := p.reference(); script != "" {
			pieces = append(pieces, piece{script: script + escapeUnits})
			continue
		}
		var b strings.Builder
		for _, r := range p.literal {
			if strings.ContainsRune(`\^$.*+?()[]{}|/#&-~`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		pieces = append(pieces, piece{literal: b.String()})
	}
	return rendered(append(pieces, piece{literal: after}))
}

// partly is a pattern for a text of a selector: the whole, or a part in any case.
func (w *maestro) partly(t text, exact bool) string {
	if exact {
		return w.quoted("(?-i)", t, "")
	}
	return w.quoted(".*", t, ".*")
}

// fromContent are the roles whose elements are named by what stands in them, which is what
// Maestro knows as their text.
var fromContent = []string{"button", "cell", "columnheader", "heading", "link", "menuitem", "option", "rowheader", "tab", "treeitem"}

// idOnly is a CSS selector that says nothing but an id.
var idOnly = regexp.MustCompile(`^#([A-Za-z_][A-Za-z0-9_-]*)$`)

// selector is where an element is. member is that of the selector below the tool.
func (w *maestro) selector(m *move, at place, member string) *yaml.Node {
	n := mapping()
	lacks := func(below, what string) { w.lacks(m, member+below, what) }
	css := func(selector string) { put(n, "css", scalar(maestroLiteral(selector))) }
	attribute := func(name string) {
		value, fixed := at.value.fixed()
		if !fixed {
			lacks(".value", "a variable in an attribute")
		}
		operator, end := `*=`, ` i]`
		if at.exact {
			operator, end = `=`, `]`
		}
		css("[" + name + operator + cssString(value) + end)
	}
	value, fixed := at.value.fixed()
	switch kind := at.kind; {
	case kind == step.ByText:
		put(n, "text", scalar(w.partly(at.value, at.exact)))
	case w.app && kind == step.TestID:
		put(n, "id", scalar(w.quoted("", at.value, "")))
	case w.app && kind == step.CSS && idOnly.MatchString(value):
		put(n, "id", scalar(w.quoted("", text{{literal: value[1:]}}, "")))
	case w.app:
		lacks(".type", "a selector of the type "+kind+" for an app")
	case kind == step.CSS && fixed:
		css(value)
	case kind == step.TestID && fixed:
		names := make([]string, len(testIDs))
		for i, name := range testIDs {
			names[i] = "[" + name + "=" + cssString(value) + "]"
		}
		css(strings.Join(names, ", "))
	case kind == step.Placeholder, kind == step.Title:
		attribute(kind)
	case kind == step.AltText:
		attribute("alt")
	case kind == step.ByRole && fixed:
		w.role(n, at, strings.ToLower(strings.TrimSpace(value)), lacks)
	default:
		lacks(".type", "a selector of the type "+kind)
	}
	w.around(n, m, at, member)
	return n
}

// role is an element of a role by its selector, and its name as its text.
func (w *maestro) role(n *yaml.Node, at place, role string, lacks func(below, what string)) {
	selectors := []string{"[role=" + cssString(role) + "]"}
	if plain, ok := roleCSS[role]; ok {
		selectors = append([]string{plain}, selectors...)
	}
	if at.level > 0 {
		selectors = []string{fmt.Sprintf("h%d", at.level), fmt.Sprintf(`[role="heading"][aria-level="%d"]`, at.level)}
		if role != "heading" {
			lacks(".level", "a level of another role than heading")
		}
	}
	put(n, "css", scalar(maestroLiteral(strings.Join(selectors, ", "))))
	if len(at.name) == 0 {
		return
	}
	if !slices.Contains(fromContent, role) {
		lacks(".name", "the name of a "+comment(role))
	}
	put(n, "text", scalar(w.partly(at.name, at.exact)))
}

// around are the members that stand beside what a selector looks for.
func (w *maestro) around(n *yaml.Node, m *move, at place, member string) {
	if len(at.hasText) > 0 {
		w.lacks(m, member+".hasText", "a text inside of an element")
	}
	for _, s := range at.state {
		switch s.name {
		case "checked", "selected":
			put(n, s.name, truth(s.is))
		case "disabled":
			put(n, "enabled", truth(!s.is))
		default:
			w.lacks(m, member+".state", "the state "+s.name)
		}
	}
	if at.within != nil {
		put(n, "childOf", w.selector(m, *at.within, member+".within"))
	}
	if at.has != nil {
		inner := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{w.selector(m, *at.has, member+".has")}}
		put(n, "containsDescendants", inner)
	}
	if at.index != nil {
		if *at.index < 0 {
			w.lacks(m, member+".index", "a place from the end")
		}
		put(n, "index", numeral(*at.index))
	}
}
