package plan

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// naming is one text by which an element may be called, and how much it counts
// beside its accessible name.
type naming struct {
	kind   string // for people: "label", "placeholder"
	weight float64
	text   phraseText
	// secondary ones stand beside the name, or are not seen at all.
	secondary bool
}

// hasWords reports whether an element has a name that is made of words.
func hasWords(n *snapshot.Node) bool {
	return n.Name != "" && !symbolic(n.Name) || n.Label != ""
}

// primary are the kinds of texts that are names.
var primary = []string{"name", "label", "text", "placeholder", "value"}

// namings returns the texts by which a node may be called, the accessible name first.
func (v *view) namings(i int) []naming {
	if list, ok := v.names[i]; ok {
		return list
	}
	n := &v.Nodes[i]
	var list []naming
	add := func(kind, text string, weight float64) {
		if text == "" {
			return
		}
		parsed := parseText(text)
		for _, known := range list {
			if known.text.raw == parsed.raw {
				return
			}
		}
		list = append(list, naming{kind, weight, parsed, !slices.Contains(primary, kind)})
	}
	add("name", n.Name, 1)
	add("label", n.Label, 1)
	if n.Role != "text" || n.Name == "" {
		add("text", n.Text, 0.98)
	}
	add("placeholder", n.Placeholder, 0.96)
	add("title", n.Title, titleWeight(n))
	if isButtonLike(n) {
		add("value", n.Value, 0.97)
	}
	if n.Editable || n.Interactive {
		addSecondary(v, i, add)
	}
	if n.Role == "img" || n.Tag == "img" || n.Tag == "svg" {
		add("icon", strings.Join(n.Hints, " "), 0.7)
	}
	v.names[i] = list
	return list
}

// titleWeight is what a tooltip counts: it names an icon, and only explains what has a
// name.
func titleWeight(n *snapshot.Node) float64 {
	if n.Name == "" || n.Name == n.Title || symbolic(n.Name) {
		return 0.95
	}
	return 0.7
}

// addSecondary adds what people see around a control, and what those who wrote the
// page called it: they count less, and least where the control has a name.
func addSecondary(v *view, i int, add func(kind, text string, weight float64)) {
	n := &v.Nodes[i]
	less := 1.0
	if n.Name != "" || n.Label != "" {
		less = 0.8
	}
	add("description", n.Description, 0.8*less)
	if near := nearText(v, i); near != "" {
		add("text beside it", near, 0.92*less)
	}
	add("column", n.ColumnHeader, 0.9*less)
	if n.Editable || n.HasValue {
		add("field", identifier(n.NameAttr), 0.85*less)
		if n.Type != "" && n.Type != "text" {
			add("type", typeNames[n.Type], 0.7*less)
		}
	}
	add("test id", identifier(n.TestID), 0.85*less)
	add("id", identifier(n.ID), 0.82*less)
	if n.Name == "" || symbolic(n.Name) {
		for _, hint := range n.Hints {
			add("icon", identifier(hint), 0.75)
		}
		add("icon", strings.Join(n.Hints, " "), 0.6)
		if u, err := url.Parse(n.Href); err == nil && n.Href != "" {
			add("address", identifier(strings.TrimSuffix(path.Base(u.Path), path.Ext(u.Path))), 0.6)
		}
	}
}

// typeNames are what fields of a type are called that have no name.
var typeNames = map[string]string{
	"email": "email", "password": "password", "search": "search", "tel": "phone", "url": "address",
	"date": "date", "time": "time", "datetime-local": "date and time", "month": "month", "week": "week",
	"number": "number", "file": "file", "color": "color", "range": "slider", "submit": "submit", "reset": "reset",
}

// typeSaid returns the type of field that a word for a kind says: "password" of
// "password field"; "" for others.
func typeSaid(noun string) string {
	words := splitWords(fold(noun))
	for _, name := range []string{"password", "email", "search", "phone", "telephone", "date", "time", "number", "file", "color", "passwort", "suche", "datum", "telefon", "datei"} {
		if len(words) > 1 && words[0] == name {
			return name
		}
	}
	return ""
}

func isButtonLike(n *snapshot.Node) bool {
	return n.Tag == "input" && (n.Type == "submit" || n.Type == "button" || n.Type == "reset")
}

// symbolic reports whether a name has no words: ×, ⋮, ☰.
func symbolic(name string) bool { return len(splitWords(fold(name))) == 0 }

// identifier returns the words of a name in code: userEmail, user-email and
// user[email] are "user email". What looks generated is "".
func identifier(s string) string {
	if s == "" || len(s) > 60 {
		return ""
	}
	var b strings.Builder
	digits := 0
	var last rune
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digits++
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z' && last >= 'a' && last <= 'z':
			b.WriteByte(' ')
			b.WriteRune(r)
		case strings.ContainsRune("-_.:[]#/", r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		last = r
	}
	if digits > 3 {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// The distances, in CSS pixels, within which a text names the control beside it.
const (
	nearBeside = 250
	nearAbove  = 45
)

// nearText returns the text that stands beside a control without a name: before it
// on its line, above it, or behind check boxes and radio buttons.
func nearText(v *view, i int) string {
	n := &v.Nodes[i]
	if n.Role == "button" && n.Name != "" || n.Role == "link" || n.Role == "text" {
		return ""
	}
	behind := n.Role == "checkbox" || n.Role == "radio" || n.Role == "switch"
	best, at := 1<<30, -1
	for _, t := range labelsOf(v) {
		if v.inside(t, i) || !belongsTo(v, t, i) {
			continue
		}
		d, ok := nearness(n.Box, v.Nodes[t].Box, behind)
		if ok && d < best {
			best, at = d, t
		}
	}
	if at < 0 {
		at = textBefore(v, i)
	}
	if at < 0 {
		return ""
	}
	return shorten(v.Nodes[at].Name, 120)
}

// belongsTo reports whether a text can name a control: it is not in the label of another
// one, nor behind the dialog that the control is in.
func belongsTo(v *view, text, control int) bool {
	if modal := v.modal(); modal >= 0 && v.inside(text, modal) != v.inside(control, modal) {
		return false
	}
	label := v.ancestor(text, func(n *snapshot.Node) bool { return n.Tag == "label" })
	return label < 0 || v.inside(control, label) || !hasControl(v, label)
}

// labelsOf returns the texts that may name a control: short ones that are not in a control
// themselves.
func labelsOf(v *view) []int {
	if v.near == nil {
		v.near = v.within(-1, func(n *snapshot.Node) bool {
			return (n.Role == "text" || n.Role == "heading" || n.Tag == "label" || n.Role == "cell" || n.Role == "rowheader") &&
				!n.Hidden && n.Name != "" && len(n.Name) <= 120
		})
		kept := v.near[:0]
		for _, t := range v.near {
			if v.echo[t] || hasControl(v, t) {
				continue
			}
			if v.ancestor(t, func(n *snapshot.Node) bool {
				return n.Interactive && n.Role != "" && n.Role != "cell" && n.Role != "row"
			}) < 0 {
				kept = append(kept, t)
			}
		}
		v.near = kept
		if v.near == nil {
			v.near = []int{}
		}
	}
	return v.near
}

// nearness returns how far a text is from a control, where it may be its name.
func nearness(control, text [4]int, behind bool) (int, bool) {
	if control[2] == 0 && control[3] == 0 || text[2] == 0 && text[3] == 0 {
		return 0, false
	}
	middle := text[1] + text[3]/2
	line := middle >= control[1]-4 && middle <= control[1]+max(control[3], 12)+4
	left := control[0] - (text[0] + text[2])
	right := text[0] - (control[0] + control[2])
	above := control[1] - (text[1] + text[3])
	switch {
	case behind && line && right >= -4 && right < nearBeside:
		return right, true
	case line && left >= -4 && left < nearBeside:
		return left + 20, true // what is behind a box is rather its name
	case above >= -6 && above < nearAbove && text[0] < control[0]+max(control[2], 40) && text[0]+text[2] > control[0]-20:
		aside := max(0, text[0]-(control[0]+control[2]), control[0]-(text[0]+text[2]))
		return 2*max(above, 0) + 40 + 2*aside + min(max(text[0]-control[0], control[0]-text[0]), 100)/5, true
	default:
		return 0, false
	}
}

// textBefore returns the text right before a control in the document, with no other
// control between; -1 without one.
func textBefore(v *view, i int) int {
	parent := v.Nodes[i].Parent
	for j := i - 1; j > parent && j > i-6; j-- {
		n := &v.Nodes[j]
		if n.Interactive {
			return -1
		}
		if n.Role == "text" && n.Name != "" && !n.Hidden && len(n.Name) <= 120 {
			return j
		}
	}
	return -1
}
