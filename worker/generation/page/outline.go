package page

import (
	"fmt"
	"strings"
)

// maxOutline bounds an outline.
const maxOutline = 60_000

// Outline returns the model as text, for people who look what is made of a page.
func (m *Model) Outline() string {
	var out strings.Builder
	line := func(format string, args ...any) {
		if out.Len() < maxOutline {
			fmt.Fprintf(&out, format+"\n", args...)
		}
	}
	line("page %q %s", m.Title, m.Lang)
	if m.Front >= 0 {
		line("front %d", m.Front)
	}
	for i, c := range m.Containers {
		line("container %d %s %q in %d%s", i, c.Kind, c.Title, c.Parent, marks(map[string]bool{"hidden": c.Hidden, "modal": c.Modal}))
	}
	for i := range m.Groups {
		m.outlineGroup(line, i)
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		line("field %s %s%s", f.Kind, quoted(f.Names), m.fieldMore(f))
	}
	for i := range m.Controls {
		c := &m.Controls[i]
		line("control %s %s%s", dash(c.Role), names(c.Names), m.controlMore(c))
	}
	for _, l := range m.Lines {
		if l.Record < 0 {
			line("line%s %q", marks(map[string]bool{fmt.Sprint("h", l.Heading): l.Heading > 0, "live": l.Live}), l.Text)
		}
	}
	return out.String()
}

func (m *Model) outlineGroup(line func(string, ...any), i int) {
	g := &m.Groups[i]
	var columns []string
	for _, c := range g.Columns {
		text := c.Name + ":" + string(c.Type)
		if c.Sorts {
			text += "↕" + c.Sorted
		}
		columns = append(columns, text)
	}
	line("group %s %q %d [%s]%s", g.Kind, g.Title, len(g.Records), strings.Join(columns, " | "),
		marks(map[string]bool{"pager": g.Pager >= 0, "counter": g.Counter >= 0}))
	for k, r := range g.Records {
		if k >= 12 {
			line("  ...")
			break
		}
		record := &m.Records[r]
		var parts []string
		for _, a := range record.Attributes {
			text := a.Text
			if a.Name != "" {
				text = a.Name + "=" + text
			}
			if a.Type != Text && a.Type != "" {
				text += "<" + string(a.Type)
				if a.Number != nil {
					text += fmt.Sprint(" ", *a.Number)
				}
				text += ">"
			}
			if a.Struck {
				text = "~" + text + "~"
			}
			parts = append(parts, text)
		}
		in := ""
		if record.Parent >= 0 {
			in = fmt.Sprintf(" in %q", m.Records[record.Parent].Title)
		}
		line("  record %q%s %v {%s}", record.Title, in, record.States, strings.Join(parts, "; "))
	}
}

func (m *Model) fieldMore(f *Field) string {
	var out strings.Builder
	fmt.Fprintf(&out, " = %q", f.Value)
	var options []string
	for k, o := range f.Options {
		if k >= 15 {
			options = append(options, "...")
			break
		}
		options = append(options, o.Label)
	}
	if len(options) > 0 {
		fmt.Fprintf(&out, " of %q", options)
	}
	if f.Group != "" {
		fmt.Fprintf(&out, " group %q", f.Group)
	}
	if f.Record >= 0 {
		fmt.Fprintf(&out, " record %q", m.Records[f.Record].Title)
	}
	if f.Unit != "" {
		fmt.Fprintf(&out, " unit %q", f.Unit)
	}
	return out.String() + marks(map[string]bool{"hidden": f.Hidden, "disabled": f.Disabled, "inplace": f.InPlace,
		"stepper": f.Less >= 0, "readonly": f.ReadOnly})
}

func (m *Model) controlMore(c *Control) string {
	out := ""
	if c.Record >= 0 {
		out = fmt.Sprintf(" record %q", m.Records[c.Record].Title)
	}
	if c.State != "" {
		out += " " + c.State
	}
	return out + marks(map[string]bool{"hidden": c.Hidden, "reveal": c.Reveal >= 0, "opens": c.Opens, "icon": c.Icon, "covered": c.Covered})
}

// markOrder is the order in which marks are written.
var markOrder = []string{"h1", "h2", "h3", "h4", "h5", "h6", "live", "hidden", "modal", "reveal", "opens", "icon",
	"covered", "disabled", "readonly", "inplace", "stepper", "pager", "counter"}

func marks(set map[string]bool) string {
	out := ""
	for _, mark := range markOrder {
		if set[mark] {
			out += " (" + mark + ")"
		}
	}
	return out
}

func quoted(list []string) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, fmt.Sprintf("%q", s))
	}
	return strings.Join(parts, "/")
}

func names(list []Name) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, fmt.Sprintf("%q(%s)", n.Text, n.From))
	}
	return strings.Join(parts, "/")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
