package frame

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Mark is a run in a strip. State is its status; Changed is true when it ended otherwise
// than the one before it.
type Mark struct {
	State           string
	Healed, Changed bool
	Title           string // what it says, shown on hover
	Link            string // where it leads; "": nowhere
}

// The size of a mark in units of its picture.
const (
	markWidth, markHeight = 10, 20
	maxMarks              = 100
)

// kind is a mark in words, with the class of its colour. Each kind has its own shape too.
func (m Mark) kind() (words, class string) {
	switch strings.ToUpper(m.State) {
	case "PASSED":
		if m.Healed {
			return "healed", "wait"
		}
		return "passed", "good"
	case "FAILED":
		return "failed", "bad"
	case "ERROR":
		return "error", "bad"
	case "CANCELLED":
		return "cancelled", "plain"
	}
	return "open", "busy"
}

// draw is the shape of a mark at a place: a bar for passed, a bar with a gap for healed, a
// triangle for failed, a diamond for an error, a ring for cancelled, a dot for what runs. A
// line below says that the result changed.
func (m Mark) draw(x int) string {
	words, class := m.kind()
	var shape string
	switch words {
	case "passed":
		shape = fmt.Sprintf(`M%d 1h7v15h-7z`, x+1)
	case "healed":
		shape = fmt.Sprintf(`M%d 1h7v5h-7zM%d 9h7v7h-7z`, x+1, x+1)
	case "failed":
		shape = fmt.Sprintf(`M%d 2h9l-4.500 14z`, x)
	case "error":
		shape = fmt.Sprintf(`M%d.500 3l4.500 6-4.500 6-4.500-6z`, x+4)
	case "cancelled":
		return fmt.Sprintf(`<circle class="%s" cx="%d" cy="9" r="3"/>`, class, x+5) + m.line(x)
	default:
		return fmt.Sprintf(`<circle class="%s" cx="%d" cy="9" r="2"/>`, class, x+5) + m.line(x)
	}
	return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, shape) + m.line(x)
}

func (m Mark) line(x int) string {
	if !m.Changed {
		return ""
	}
	return fmt.Sprintf(`<rect class="changed" x="%d" y="18" width="9" height="2"/>`, x)
}

// text is a mark in words.
func (m Mark) text() string {
	words, _ := m.kind()
	if m.Changed {
		words += ", result changed"
	}
	if m.Title != "" {
		words += ": " + m.Title
	}
	return words
}

// Strip draws runs, of which the newest comes first, as a row of marks with the newest at
// the right. A screen reader hears how many there are of each kind, and each that is a link.
func Strip(title string, marks []Mark) template.HTML {
	marks = slices.Clone(marks[:min(len(marks), maxMarks)])
	if len(marks) == 0 {
		return `<span class="none">–</span>`
	}
	slices.Reverse(marks)
	esc := template.HTMLEscapeString
	linked := slices.ContainsFunc(marks, func(m Mark) bool { return m.Link != "" })
	role := "img"
	if linked {
		role = "group"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" viewBox="0 0 %d %d" width="%d" height="%d" role="%s" aria-label="%s">`,
		len(marks)*markWidth, markHeight,
		len(marks)*markWidth, markHeight, role, esc(title+": "+counted(marks)))
	for i, m := range marks {
		x := i * markWidth
		inner := m.draw(x) + fmt.Sprintf(`<rect class="hit" x="%d" y="0" width="%d" height="%d"><title>%s</title></rect>`,
			x, markWidth, markHeight, esc(m.text()))
		if m.Link != "" {
			inner = `<a href="` + esc(m.Link) + `" aria-label="` + esc(m.text()) + `">` + inner + `</a>`
		}
		b.WriteString(inner)
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

// counted says how many marks there are of each kind, and what the last one is.
func counted(marks []Mark) string {
	numbers, changed := map[string]int{}, 0
	for _, m := range marks {
		words, _ := m.kind()
		numbers[words]++
		if m.Changed {
			changed++
		}
	}
	var parts []string
	for _, words := range []string{"passed", "healed", "failed", "error", "cancelled", "open"} {
		if n := numbers[words]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	if changed > 0 {
		parts = append(parts, fmt.Sprintf("%d with a changed result", changed))
	}
	newest, _ := marks[len(marks)-1].kind()
	return strings.Join(parts, ", ") + "; the newest: " + newest
}

// OneMark draws a single mark, as in a cell of a table whose link has the text.
func OneMark(m Mark) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="strip" viewBox="0 0 %d %d" width="%d" height="%d" aria-hidden="true">%s</svg>`,
		markWidth, markHeight, markWidth, markHeight, m.draw(0)))
}

// StripKey explains the marks of strips.
func StripKey() template.HTML {
	var b strings.Builder
	b.WriteString(`<ul class="legend">`)
	for _, m := range []Mark{{State: "PASSED"}, {State: "PASSED", Healed: true}, {State: "FAILED"}, {State: "ERROR"},
		{State: "CANCELLED"}, {State: "RUNNING"},
		{State: "PASSED", Changed: true}} {
		words, _ := m.kind()
		if m.Changed {
			words = "line below: the result changed, the steps did not"
		}
		b.WriteString(`<li>` + string(OneMark(m)) + ` ` + words + `</li>`)
	}
	b.WriteString(`</ul>`)
	return template.HTML(b.String())
}
