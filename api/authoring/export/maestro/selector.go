package maestro

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-qa/slipway/api/authoring/export/language"
	"github.com/slipway-qa/slipway/api/authoring/export/script"
	"github.com/slipway-qa/slipway/storage/step"
)

// escapeUnits is a script of Maestro that writes each unit of a value that could mean something in
// a pattern so that it means itself. It has no dollar, at which Maestro would end it.
const escapeUnits = `.replace(/[^A-Za-z0-9 ]/g, function (unit) { return '\\u' + ('000' + unit.charCodeAt(0).toString(16)).slice(-4) })`

// quoted is a pattern for a text as it stands, between two others.
func (w *writer) quoted(before string, t script.Text, after string) string {
	pieces := []piece{{literal: before}}
	for _, p := range t {
		if script := reference(p); script != "" {
			pieces = append(pieces, piece{script: script + escapeUnits})
			continue
		}
		var b strings.Builder
		for _, r := range p.Literal {
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
func (w *writer) partly(t script.Text, exact bool) string {
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
func (w *writer) selector(m *script.Move, at script.Place, member string) *yaml.Node {
	n := mapping()
	lacks := func(below, what string) { w.lacks(m, member+below, what) }
	css := func(selector string) { put(n, "css", scalar(escaped(selector))) }
	attribute := func(name string) {
		value, fixed := at.Value.Fixed()
		if !fixed {
			lacks(".value", "a variable in an attribute")
		}
		operator, end := `*=`, ` i]`
		if at.Exact {
			operator, end = `=`, `]`
		}
		css("[" + name + operator + language.CSS(value) + end)
	}
	value, fixed := at.Value.Fixed()
	switch kind := at.Kind; {
	case kind == step.ByText:
		put(n, "text", scalar(w.partly(at.Value, at.Exact)))
	case w.app && kind == step.TestID:
		put(n, "id", scalar(w.quoted("", at.Value, "")))
	case w.app && kind == step.CSS && idOnly.MatchString(value):
		put(n, "id", scalar(w.quoted("", script.Text{{Literal: value[1:]}}, "")))
	case w.app:
		lacks(".type", "a selector of the type "+kind+" for an app")
	case kind == step.CSS && fixed:
		css(value)
	case kind == step.TestID && fixed:
		names := make([]string, len(script.TestIDs))
		for i, name := range script.TestIDs {
			names[i] = "[" + name + "=" + language.CSS(value) + "]"
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
func (w *writer) role(n *yaml.Node, at script.Place, role string, lacks func(below, what string)) {
	selectors := []string{"[role=" + language.CSS(role) + "]"}
	if plain, ok := script.RoleCSS[role]; ok {
		selectors = append([]string{plain}, selectors...)
	}
	if at.Level > 0 {
		selectors = []string{fmt.Sprintf("h%d", at.Level), fmt.Sprintf(`[role="heading"][aria-level="%d"]`, at.Level)}
		if role != "heading" {
			lacks(".level", "a level of another role than heading")
		}
	}
	put(n, "css", scalar(escaped(strings.Join(selectors, ", "))))
	if len(at.Name) == 0 {
		return
	}
	if !slices.Contains(fromContent, role) {
		lacks(".name", "the name of a "+script.Comment(role))
	}
	put(n, "text", scalar(w.partly(at.Name, at.Exact)))
}

// around are the members that stand beside what a selector looks for.
func (w *writer) around(n *yaml.Node, m *script.Move, at script.Place, member string) {
	if len(at.HasText) > 0 {
		w.lacks(m, member+".hasText", "a text inside of an element")
	}
	for _, s := range at.State {
		switch s.Name {
		case "checked", "selected":
			put(n, s.Name, truth(s.Is))
		case "disabled":
			put(n, "enabled", truth(!s.Is))
		default:
			w.lacks(m, member+".state", "the state "+s.Name)
		}
	}
	if at.Within != nil {
		put(n, "childOf", w.selector(m, *at.Within, member+".within"))
	}
	if at.Has != nil {
		inner := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{w.selector(m, *at.Has, member+".has")}}
		put(n, "containsDescendants", inner)
	}
	if at.Index != nil {
		if *at.Index < 0 {
			w.lacks(m, member+".index", "a place from the end")
		}
		put(n, "index", numeral(*at.Index))
	}
}
