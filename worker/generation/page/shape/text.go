package shape

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// MaxLeaves is how many texts of a node are read: more is no name of anything.
const MaxLeaves = 60

// Lower returns a text in lower case.
func Lower(s string) string { return strings.ToLower(s) }

// readTexts notes what each node shows by itself.
func (b *Page) readTexts() {
	b.Leaf = make([]string, len(b.Nodes))
	b.LeafFrom = make([]int, len(b.Nodes)+1)
	for i := range b.Nodes {
		b.LeafFrom[i] = len(b.Leaves)
		if b.Leaf[i] = b.leafText(i); b.Leaf[i] != "" {
			b.Leaves = append(b.Leaves, i)
		}
	}
	b.LeafFrom[len(b.Nodes)] = len(b.Leaves)
}

// leafText returns what a node without children shows.
func (b *Page) leafText(i int) string {
	n := &b.Nodes[i]
	switch {
	case n.Role == "text":
		return WithoutIcons(n.Name)
	case len(n.Options) > 0:
		return SelectedLabel(n)
	case len(b.X.Children(i)) > 0 || valueRoles[n.Role] || n.Editable && n.Tag != "div" && n.Tag != "p":
		return ""
	case n.Text != "":
		return WithoutIcons(n.Text)
	case n.Tag == "input" && (n.Type == "submit" || n.Type == "button" || n.Type == "reset"):
		return WithoutIcons(n.Name)
	}
	return ""
}

// valueRoles are of fields: what stands in them is a value and no text of the page.
var valueRoles = map[string]bool{"textbox": true, "searchbox": true, "spinbutton": true, "slider": true, "checkbox": true, "radio": true,
	"switch": true, "img": true, "progressbar": true, "meter": true}

// WithoutIcons removes icons of fonts (private use) and spaces at the ends.
func WithoutIcons(s string) string {
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

// SelectedLabel returns what is chosen in a list of the browser.
func SelectedLabel(n *snapshot.Node) string {
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

// Stop returns where looking into a node ends.
func (b *Page) Stop(i int) int { return min(b.X.End(i), i+maxInside) }

// LeavesIn returns the nodes in a node that show something, at most some.
func (b *Page) LeavesIn(i, end, most int) []int {
	if i < 0 || i >= len(b.Nodes) {
		return nil
	}
	from, to := b.LeafFrom[i], b.LeafFrom[min(end, len(b.Nodes))]
	return b.Leaves[from:max(from, min(to, from+most))]
}

// TextOf returns what is read in a node; hidden texts only where it is hidden itself.
func (b *Page) TextOf(i int) string {
	hidden := b.Nodes[i].Hidden
	var out strings.Builder
	for _, j := range b.LeavesIn(i, b.X.End(i), MaxLeaves) {
		if b.Nodes[j].Hidden && !hidden || out.Len() > 400 {
			continue
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(b.Leaf[j])
	}
	return out.String()
}

// Lettered reports whether a text has a letter or digit.
func Lettered(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
}

// Worded reports whether a text has a letter.
func Worded(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }

// Label returns a text as a label: without what ends or marks it.
func Label(s string) string {
	s = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), ":*：?… "))
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.Trim(s[i:], " +-−–▾▸▼▲►◄‹›«»⌄⌃×❯") == "" {
		return strings.TrimSpace(s[:i]) // a sign that it opens
	}
	return s
}

// Box returns the sides of a node.
func (b *Page) Box(i int) (left, top, right, bottom int) {
	x := b.Nodes[i].Box
	return x[0], x[1], x[0] + x[2], x[1] + x[3]
}

// SameLine reports whether two nodes stand beside each other.
func (b *Page) SameLine(i, j int) bool {
	_, t1, _, b1 := b.Box(i)
	_, t2, _, b2 := b.Box(j)
	over := min(b1, b2) - max(t1, t2)
	return over*2 >= min(b1-t1, b2-t2) && over > 0
}

// Off reports whether a node is far from where the page can be scrolled to: pages put there
// what they do not show.
func (b *Page) Off(i int) bool {
	_, _, right, bottom := b.Box(i)
	return right < -50 || bottom < -5000
}

// Seen reports whether a node is there to be seen.
func (b *Page) Seen(i int) bool { return !b.Nodes[i].Hidden && b.Nodes[i].Box[2] > 0 }
