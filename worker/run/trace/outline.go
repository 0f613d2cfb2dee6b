package trace

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLine bounds the text of a line of an outline, in bytes.
const maxLine = 80

// outlined are the elements that an outline names even where they have no text of their own.
var outlined = strings.Fields("a button input select textarea img dialog table form iframe")

// unlisted are the elements that an outline leaves out with all that is inside.
var unlisted = strings.Fields("head style script template noscript svg option")

// Outline returns a page as lines, most of them at most: one for each element with a text of its
// own, control and picture, in the order of the page, like `button#buy "Buy"`. What fields hold
// is left out.
func (d *Document) Outline(most int) []string {
	lines := []string{}
	if d == nil {
		return lines
	}
	var walk func(*node)
	walk = func(n *node) {
		name := strings.ToLower(n.name)
		if n.name == "" || len(lines) >= most || slices.Contains(unlisted, name) && !n.shadow() {
			return
		}
		if line := n.line(name); line != "" {
			lines = append(lines, line)
		}
		for _, child := range n.children {
			walk(child)
		}
	}
	for i := range d.trees {
		walk(d.trees[i].root)
	}
	return lines
}

func (n *node) attribute(name string) string {
	for i := 0; i+1 < len(n.attributes); i += 2 {
		if n.attributes[i] == name {
			return n.attributes[i+1]
		}
	}
	return ""
}

// shadow reports whether the node holds a shadow root.
func (n *node) shadow() bool { return n.attribute("__playwright_shadow_root_") != "" }

// line is "" for an element that is only around others.
func (n *node) line(name string) string {
	var words []string
	size := 0
	for _, child := range n.children {
		if child.name == "" && size < maxLine {
			words = append(words, strings.Fields(child.text[:min(len(child.text), 4*maxLine)])...)
			size += len(child.text)
		}
	}
	text := strings.Join(words, " ")
	for _, other := range []string{"aria-label", "alt", "placeholder", "title"} {
		if text == "" {
			text = n.attribute(other)
		}
	}
	if text == "" && !slices.Contains(outlined, name) {
		return ""
	}
	line := name
	if id := n.attribute("id"); id != "" {
		line += "#" + cutText(id)
	}
	if role := n.attribute("role"); role != "" {
		line += " " + cutText(role)
	}
	if text != "" {
		line += ` "` + cutText(text) + `"`
	}
	for _, state := range []string{"disabled", "hidden", "aria-hidden"} {
		if slices.Contains(n.names(), state) && n.attribute(state) != "false" {
			line += " " + state
		}
	}
	return line
}

// names are those of the attributes.
func (n *node) names() []string {
	var names []string
	for i := 0; i < len(n.attributes); i += 2 {
		names = append(names, n.attributes[i])
	}
	return names
}

func cutText(text string) string {
	if len(text) <= maxLine {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	at := maxLine
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return strings.ToValidUTF8(text[:at], "\uFFFD") + "…"
}
