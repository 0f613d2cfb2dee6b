package page

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// maxLeaves is how many texts of a node are read: more is no name of anything.
const maxLeaves = 60

func lower(s string) string { return strings.ToLower(s) }

// readTexts notes what each node shows by itself.
func (b *builder) readTexts() {
	b.leaf = make([]string, len(b.Nodes))
	b.leafFrom = make([]int, len(b.Nodes)+1)
	for i := range b.Nodes {
		b.leafFrom[i] = len(b.leaves)
		if b.leaf[i] = b.leafText(i); b.leaf[i] != "" {
			b.leaves = append(b.leaves, i)
		}
	}
	b.leafFrom[len(b.Nodes)] = len(b.leaves)
}

// leafText returns what a node without children shows.
func (b *builder) leafText(i int) string {
	n := &b.Nodes[i]
	switch {
	case n.Role == "text":
		return tidy(n.Name)
	case len(n.Options) > 0:
		return selectedLabel(n)
	case len(b.x.Children(i)) > 0 || valueRoles[n.Role] || n.Editable && n.Tag != "div" && n.Tag != "p":
		return ""
	case n.Text != "":
		return tidy(n.Text)
	case n.Tag == "input" && (n.Type == "submit" || n.Type == "button" || n.Type == "reset"):
		return tidy(n.Name)
	}
	return ""
}

// valueRoles are of fields: what stands in them is a value and no text of the page.
var valueRoles = map[string]bool{"textbox": true, "searchbox": true, "spinbutton": true, "slider": true, "checkbox": true, "radio": true,
	"switch": true, "img": true, "progressbar": true, "meter": true}

// tidy removes icons of fonts (private use) and spaces at the ends.
func tidy(s string) string {
	private := func(r rune) bool { return unicode.Is(unicode.Co, r) || r == '\u200b' || r == '\ufeff' }
	if strings.IndexFunc(s, private) >= 0 {
		s = strings.Map(func(r rune) rune {
			if private(r) {
				return -1
			}
			return r
		}, s)
	}
	return strings.TrimSpace(s)
}

func selectedLabel(n *snapshot.Node) string {
	var list []string
	for _, o := range n.Options {
		if o.Selected && len(list) < 5 {
			list = append(list, o.Label)
		}
	}
	return strings.Join(list, ", ")
}

// maxInside is how many nodes of another one are looked at: what is deeper in the page's
// larger parts is looked at in its own place, and the time stays linear.
const maxInside = 800

// stop returns where looking into a node ends.
func (b *builder) stop(i int) int { return min(b.x.End(i), i+maxInside) }

// leavesIn returns the nodes in a node that show something, at most some.
func (b *builder) leavesIn(i, end, most int) []int {
	if i < 0 || i >= len(b.Nodes) {
		return nil
	}
	from, to := b.leafFrom[i], b.leafFrom[min(end, len(b.Nodes))]
	return b.leaves[from:max(from, min(to, from+most))]
}

// textOf returns what is read in a node; hidden texts only where it is hidden itself.
func (b *builder) textOf(i int) string {
	hidden := b.Nodes[i].Hidden
	var out strings.Builder
	for _, j := range b.leavesIn(i, b.x.End(i), maxLeaves) {
		if b.Nodes[j].Hidden && !hidden || out.Len() > 400 {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(b.leaf[j])
	}
	return out.String()
}

// lettered reports whether a text has a letter or digit.
func lettered(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// worded reports whether a text has a letter.
func worded(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// label returns a text as a label: without what ends or marks it.
func label(s string) string {
	s = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), ":*：?… "))
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.Trim(s[i:], " +-−–▾▸▼▲►◄‹›«»⌄⌃×❯") == "" {
		return strings.TrimSpace(s[:i]) // a sign that it opens
	}
	return s
}

// box returns the sides of a node.
func (b *builder) box(i int) (left, top, right, bottom int) {
	x := b.Nodes[i].Box
	return x[0], x[1], x[0] + x[2], x[1] + x[3]
}

// sameLine reports whether two nodes stand beside each other.
func (b *builder) sameLine(i, j int) bool {
	_, t1, _, b1 := b.box(i)
	_, t2, _, b2 := b.box(j)
	over := min(b1, b2) - max(t1, t2)
	return over*2 >= min(b1-t1, b2-t2) && over > 0
}

// off reports whether a node is far from where the page can be scrolled to: pages put there
// what they do not show.
func (b *builder) off(i int) bool {
	_, _, right, bottom := b.box(i)
	return right < -50 || bottom < -5000
}

// seen reports whether a node is there to be seen.
func (b *builder) seen(i int) bool { return !b.Nodes[i].Hidden && b.Nodes[i].Box[2] > 0 }
