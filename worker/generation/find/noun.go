package find

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// nounUse is what the noun of a description says about the records of a group.
type nounUse uint8

// What a noun says.
const (
	nounUnknown nounUse = iota
	nounGroup           // it names the group: a member in a list of members
	nounColumn          // it is the name of a column or a counter of the group
	nounFilter          // some records have it: a knife among the products
	nounKind            // it says row, item, entry, card
	nounPage            // the page is about it
	nounNowhere         // nothing has it
)

// nounOf proves the noun of a description by a record. Own says that other words are explained
// by the record itself.
func (s *searcher) nounOf(r int, own bool) proof {
	if len(s.noun.atoms) == 0 {
		return proof{}
	}
	g := s.m.Records[r].Group
	use, ok := s.nouns[g]
	if !ok {
		use = s.nounUse(g)
		s.nouns[g] = use
	}
	a := s.noun.atoms[0]
	self := s.noun.explain(s.ownRefs(r))
	naming := func(by string, score float64) proof {
		if self.own && self.score >= score && !onlyLabel(self) {
			return self
		}
		return proof{score: score, used: []Use{{Span: a.span, By: by}}}
	}
	switch use {
	case nounGroup:
		return naming("names the list", 0.93)
	case nounColumn:
		return naming("names the list", 0.925)
	case nounKind:
		return naming("kind", 0.93)
	case nounFilter:
		if !self.own {
			self.missing = []intent.Span{a.span}
		}
		return self
	case nounPage:
		return naming("names the page", 0.92)
	}
	if s.strict || !own && !s.selects() && !s.d.All && !s.d.Both && s.d.Count == 0 || !own && s.lists() != 1 {
		return proof{missing: []intent.Span{a.span}}
	}
	p := naming("only such list", 0.8)
	p.assumed = []intent.Span{a.span}
	return p
}

// lastWord proves the last of several words as a noun where nothing else is missing: "the
// stork tower note" of a list of notes.
func (s *searcher) lastWord(r int, pr proof) proof {
	n := len(s.words.atoms)
	if n < 2 || len(pr.missing) != 1 || !pr.own || pr.missing[0] != s.words.atoms[n-1].span || s.words.atoms[n-1].name ||
		s.words.atoms[n-1].capital && s.w.Lang != "de" {
		return pr
	}
	a := s.words.atoms[n-1]
	d := intent.Description{Span: a.span, Noun: a.text, NounSpan: a.span}
	last := &searcher{ix: s.ix, m: s.m, d: &d, w: s.w, nouns: map[int]nounUse{}}
	last.noun = s.ix.phrase(nounAtoms(&d), s.w.Lang)
	use := last.nounUse(s.m.Records[r].Group)
	if use != nounGroup && use != nounColumn && use != nounPage {
		return pr
	}
	pr.missing = nil
	pr.score *= 2 // it was halved for the word
	pr.score = (pr.score*float64(n-1) + 0.9) / float64(n)
	pr.used = append(pr.used, Use{s.words.atoms[n-1].span, "names the list"})
	return pr
}

// recordsIn returns the records of a group; those of none for -1.
func (s *searcher) recordsIn(g int) []int {
	if g >= 0 && g < len(s.m.Groups) {
		return s.m.Groups[g].Records
	}
	var out []int
	for r := range s.m.Records {
		if s.m.Records[r].Group < 0 {
			out = append(out, r)
		}
	}
	return out
}

// lists returns how many groups of several records there are that are no navigation.
func (s *searcher) lists() int {
	if s.ix.lists > 0 {
		return s.ix.lists - 1
	}
	n := 0
	for i := range s.m.Groups {
		if g := &s.m.Groups[i]; len(g.Records) > 1 && !s.navigation(g.Node) {
			n++
		}
	}
	s.ix.lists = n + 1
	return n
}

// ownRefs returns the texts of a record without those around it.
func (s *searcher) ownRefs(r int) []ref {
	refs := s.ix.record(r)
	n := 0
	for n < len(refs) && refs[n].role < around {
		n++
	}
	return refs[:n]
}

// nounUse finds out what the noun says about a group.
func (s *searcher) nounUse(g int) nounUse {
	switch {
	case s.anyOf(titlesOf(s.ix.group(g))):
		return nounGroup
	case s.anyOf(s.ix.group(g)):
		return nounColumn
	case generic(s.d):
		return nounKind
	}
	some, all := 0, 0
	for _, r := range s.recordsIn(g) {
		all++
		if p := s.noun.explain(s.ownRefs(r)); p.own && !onlyLabel(p) {
			some++
		}
	}
	switch {
	case some == all && all > 1:
		return nounGroup
	case some > 0:
		return nounFilter
	case s.anyOf(s.ix.page()):
		return nounPage
	}
	return nounNowhere
}

// onlyLabel reports whether words were explained by names of columns and controls alone,
// which all records of a list share.
func onlyLabel(p proof) bool {
	for _, u := range p.used {
		if u.By != roleNames[label] && u.By != roleNames[inner] {
			return false
		}
	}
	return true
}

// titlesOf are the texts of a group that are titles, of it or around it.
func titlesOf(refs []ref) []ref {
	var out []ref
	for _, r := range refs {
		if r.sub != columnText {
			out = append(out, r)
		}
	}
	return out
}

// anyOf reports whether one of the texts has the noun.
func (s *searcher) anyOf(refs []ref) bool {
	for _, r := range refs {
		if s.noun.match(r.text).hits > 0 {
			return true
		}
	}
	return false
}

// generic reports whether the noun of a description fits any record: row, entry, card.
func generic(d *intent.Description) bool {
	switch d.Kind {
	case intent.Row, intent.Item, intent.Card, intent.Cell, intent.Option, intent.List:
		return true
	}
	return strings.TrimSpace(d.Noun) == ""
}

// groupKinds says which groups a kind of record fits best.
var groupKinds = map[intent.Kind][]string{
	intent.Row: {"table"}, intent.Card: {"cards"}, intent.Item: {"list"}, intent.Tree: {"tree"},
}

// kindOf returns how well a thing fits the kind that the description says: 1 and less.
func (s *searcher) kindOf(w What, node, index int) float64 {
	k := s.d.Kind
	if k == "" {
		return s.rank(w)
	}
	if fitsKind(s, w, node, index, k) {
		return s.tagged(w, node)
	}
	if w == Record && s.m.Records[index].Group >= 0 {
		for _, g := range groupKinds[k] {
			if s.m.Groups[s.m.Records[index].Group].Kind == g {
				return 1
			}
		}
		if groupKinds[k] != nil || generic(s.d) {
			return 0.98
		}
	}
	if w == Record && !controlKinds[k] {
		return 0.97 // a message, a page, a text: what the things of a list may be
	}
	return 0.72
}

// tagged lowers fields of another tag than the word that the text has for the field: "the textarea"
// and "the text input" are two on a page that has both.
func (s *searcher) tagged(w What, node int) float64 {
	if w != Field || s.d.Kind != intent.FieldKind || node < 0 {
		return 1
	}
	n := &s.m.Nodes[node]
	long := n.Tag == "textarea"
	for _, id := range lexicon.Concept(s.d.Noun, s.w.Lang) {
		switch id.Name() {
		case "search_field":
			f := s.m.FieldAt(node)
			if n.Type != "search" && n.Role != "searchbox" && (f < 0 || !slices.ContainsFunc(s.m.Fields[f].Names,
				func(name string) bool { return s.ix.words.fieldKind(name) == "search" })) {
				return 0.8
			}
		case "text_area":
			if !long {
				return 0.8
			}
		case "text_line":
			if long {
				return 0.9
			}
		}
	}
	return 1
}

// controlKinds are kinds that no record is.
var controlKinds = map[intent.Kind]bool{
	intent.Button: true, intent.Link: true, intent.FieldKind: true, intent.CheckBox: true, intent.Radio: true,
	intent.Tab: true, intent.Menu: true,
	intent.Dialog: true, intent.Form: true, intent.Switch: true, intent.Slider: true, intent.Heading: true, intent.Column: true,
	intent.Frame:      true,
	intent.WindowKind: true,
}

// rank is what a kind of thing is worth by the order in which the goal takes them.
func (s *searcher) rank(w What) float64 {
	for i, k := range s.w.Kinds {
		if k == w {
			return ranks[min(i, len(ranks)-1)]
		}
	}
	return base[w]
}

// ranks are more than Margin apart for the first one, so that of two things of one name the one
// that the goal is rather done to is meant.
var ranks = [...]float64{1, 0.955, 0.945, 0.935, 0.925}

// base is what a kind of thing is worth where the description says no kind: things before
// what stands in them.
var base = map[What]float64{Record: 1, Field: 0.98, Option: 0.97, Control: 0.96, Column: 0.9, Container: 0.93, Line: 0.84, Attribute: 0.99}

// roles are the ARIA roles that a kind means.
var roles = map[intent.Kind][]string{
	intent.Button: {"button", "menuitem", "switch"}, intent.Link: {"link"}, intent.Tab: {"tab"}, intent.Menu: {"menu", "menubar", "menuitem"},
	intent.Icon: {"button", "link", "img"}, intent.Image: {"img", "image"}, intent.CheckBox: {"checkbox", "switch", "menuitemcheckbox"},
	intent.Radio: {"radio", "menuitemradio"}, intent.Switch: {"switch", "checkbox"}, intent.Slider: {"slider"},
	intent.Option:  {"option", "radio", "menuitem", "checkbox"},
	intent.Heading: {"heading"}, intent.Row: {"row"}, intent.Item: {"listitem", "treeitem"}, intent.Cell: {"cell", "gridcell"},
}

// containerKinds are the kinds of containers that a kind means.
var containerKinds = map[intent.Kind][]string{
	intent.Dialog: {"dialog"}, intent.Section: {"section", "region", "panel", "card", "form"}, intent.Form: {"form", "section"},
	intent.Column: {"column"}, intent.Tab: {"tab", "panel"}, intent.Menu: {"menu"}, intent.List: {"list", "table", "column", "section"},
	intent.Table: {"table", "list"}, intent.Card: {"card", "panel", "section"}, intent.Frame: {"frame"}, intent.Tree: {"list", "tree"},
}

// asksName reports whether what something is called is a question.
func asksName(name string) bool { return strings.HasSuffix(strings.TrimSpace(name), "?") }

// asks reports whether a control is called as a question.
func asks(c *page.Control) bool {
	return slices.ContainsFunc(c.Names, func(n page.Name) bool { return asksName(n.Text) })
}

// nounMeans reports whether the noun of the description means a concept.
func (s *searcher) nounMeans(concept string) bool {
	return s.ix.words.anyOf(s.ix.words.concepts(s.d.Noun, langsOf(s.w.Lang)...), concept)
}

// fitsKind reports whether a thing is of a kind.
func fitsKind(s *searcher, w What, node, index int, k intent.Kind) bool {
	role := ""
	if node >= 0 && node < len(s.m.Nodes) {
		role = s.m.Nodes[node].Role
	}
	for _, r := range roles[k] {
		if r == role && w != Container && w != Line {
			return true
		}
	}
	switch w {
	case Control:
		if k == intent.Icon && s.m.Controls[index].Icon {
			return true
		}
		if k == intent.Message && s.nounMeans("question") && asks(&s.m.Controls[index]) {
			return true
		}
		// What has no role is a button or link to whoever sees that it can be pressed.
		return (k == intent.Button || k == intent.Link) && (role == "" || role == "img" || role == "text")
	case Container:
		if k == intent.Option && s.nounMeans("answer") && s.m.Containers[index].Kind != "dialog" && asksName(s.m.Containers[index].Title) {
			return true
		}
		for _, c := range containerKinds[k] {
			if s.m.Containers[index].Kind == c {
				return true
			}
		}
	case Field:
		if k == intent.Text_ {
			return s.m.Fields[index].Kind == "editor" || longField(s.m, &s.m.Fields[index])
		}
		return k == intent.FieldKind || k == intent.Slider && s.m.Fields[index].Kind == "slider" || k == intent.List &&
			(s.m.Fields[index].Kind == "choice" || s.m.Fields[index].Kind == "choices")
	case Line:
		l := &s.m.Lines[index]
		return k == intent.Message && l.Live || k == intent.Heading && l.Heading > 0 || k == intent.Text_
	case Column:
		return k == intent.Column
	case Attribute:
		return k == intent.Cell || k == intent.Value_
	}
	return false
}

// standing returns what the place of a thing is worth: less where it is behind an open dialog
// or not seen.
func (s *searcher) standing(node int) float64 {
	f := 1.0
	if front := s.m.Front; front >= 0 && front < len(s.m.Containers) {
		c := &s.m.Containers[front]
		if !s.ix.below(node, c.Node) {
			f = 0.94
			if c.Modal {
				f = 0.85
			}
		}
	}
	if node >= 0 && node < len(s.m.Nodes) && s.m.Nodes[node].Hidden {
		f *= 0.95
	}
	return f
}
