package snapshot

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxOutline bounds an outline in bytes: what a model reads costs.
	maxOutline = 30 << 10
	// maxAlike is how many siblings of one shape are written before the rest is counted.
	maxAlike = 30
	// maxIndent bounds the indentation, in levels.
	maxIndent = 12
)

// Outline returns the snapshot for a model: a line for each node,
//
//   - button "Save" [ref=e12] [disabled]
//
// indented by what it is in. Containers without a role are left out; of many siblings of
// one shape the rest is counted; what is hidden is written where a control opens it.
// Password values are not in it.
func (s *Snapshot) Outline() string {
	o := outline{Index: NewIndex(s)}
	fmt.Fprintf(&o.out, "page %s %s\n", s.URL, strconv.Quote(s.Title))
	if s.Dialog != nil {
		fmt.Fprintf(&o.out, "- dialog of the browser %s\n", strconv.Quote(s.Dialog.Text))
		return o.out.String()
	}
	o.write(-1, 0)
	if o.full || s.Truncated {
		o.out.WriteString("- ... the page has more\n")
	}
	return o.out.String()
}

// outline is an outline that is being written.
type outline struct {
	*Index
	out  strings.Builder
	full bool
}

// write writes what is in a node.
func (o *outline) write(i, depth int) {
	kids := o.Children(i)
	for k := 0; k < len(kids); k++ {
		if o.out.Len() > maxOutline {
			o.full = true
			return
		}
		if run := o.alike(kids[k:]); run > maxAlike+5 {
			for _, kid := range kids[k : k+maxAlike] {
				o.writeNode(kid, depth)
			}
			fmt.Fprintf(&o.out, "%s- ... %d more of these\n", indent(depth), run-maxAlike)
			k += run - 1
			continue
		}
		o.writeNode(kids[k], depth)
	}
}

// alike returns how many of some siblings, from the first on, have the same shape.
func (o *outline) alike(kids []int) int {
	n := 0
	first := &o.Nodes[kids[0]]
	for _, kid := range kids {
		m := &o.Nodes[kid]
		if m.Role != first.Role || m.Tag != first.Tag || m.Hidden != first.Hidden {
			break
		}
		n++
	}
	return n
}

func indent(depth int) string { return strings.Repeat("  ", min(depth, maxIndent)) }

func (o *outline) writeNode(i, depth int) {
	n := &o.Nodes[i]
	if n.Role == "" && !n.Interactive && n.Scrolls == "" && !n.Modal && len(o.Children(i)) > 0 {
		o.write(i, depth)
		return
	}
	o.out.WriteString(indent(depth) + "- " + n.line() + "\n")
	o.write(i, depth+1)
}

// line returns a node as a line of an outline.
func (n *Node) line() string {
	var b strings.Builder
	role := n.Role
	if role == "" {
		role = n.Tag
	}
	b.WriteString(role)
	if n.Name != "" {
		b.WriteString(" " + strconv.Quote(n.Name))
	}
	fmt.Fprintf(&b, " [ref=%s]", n.Ref)
	flag := func(name string, is bool) {
		if is {
			b.WriteString(" [" + name + "]")
		}
	}
	state := func(name, value string) {
		switch value {
		case "true":
			b.WriteString(" [" + name + "]")
		case "mixed":
			b.WriteString(" [" + name + "=mixed]")
		}
	}
	if n.Level > 0 {
		fmt.Fprintf(&b, " [level=%d]", n.Level)
	}
	state("checked", n.Checked)
	state("selected", n.Selected)
	state("expanded", n.Expanded)
	flag("collapsed", n.Expanded == "false")
	flag("disabled", n.Disabled)
	flag("required", n.Required)
	flag("readonly", n.ReadOnly)
	flag("focused", n.Focused)
	flag("modal", n.Modal)
	flag("hidden", n.Hidden)
	flag("covered", n.Covered)
	flag("clickable", n.Interactive && n.Role == "")
	flag("editable", n.Editable && n.Role == "")
	flag("scrolls="+n.Scrolls, n.Scrolls != "")
	b.WriteString(n.attributes())
	return b.String()
}

// attributes returns what else a line says of a node.
func (n *Node) attributes() string {
	var b strings.Builder
	attribute := func(name, value string) {
		if value != "" {
			b.WriteString(" " + name + "=" + strconv.Quote(value))
		}
	}
	if n.HasValue && !n.Password {
		fmt.Fprintf(&b, " value=%s", strconv.Quote(n.Value))
	}
	if n.Placeholder != n.Name {
		attribute("placeholder", n.Placeholder)
	}
	attribute("description", n.Description)
	if n.Name == "" && (n.Interactive || n.Style != nil) {
		attribute("hints", strings.Join(n.Hints, " "))
		attribute("color", n.Style["background"])
		attribute("shape", n.Style["shape"])
	}
	if n.Min != "" || n.Max != "" {
		attribute("range", n.Min+".."+n.Max)
	}
	attribute("column", n.ColumnHeader)
	for i, option := range n.Options {
		if i == 0 {
			b.WriteString(" options:")
		}
		if i == maxAlike {
			fmt.Fprintf(&b, " and %d more", len(n.Options)-i)
			break
		}
		b.WriteString(" " + strconv.Quote(option.Label))
		if option.Selected {
			b.WriteString("*")
		}
	}
	return b.String()
}
