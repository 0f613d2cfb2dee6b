package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// area is a part of the document in which something is looked for.
type area struct {
	first, last int
	anchor      int // the node that it is named by
	score       float64
}

// related leaves those of a list that stand to something else as a relation says.
func (r ranking) related(list []scored, rel *intent.Relation, owner *intent.Phrase) []scored {
	if len(list) == 0 || wholePage(&rel.Phrase) {
		return list
	}
	switch rel.Kind {
	case intent.In:
		return r.in(list, rel)
	case intent.Of:
		return r.of(list, rel, owner)
	case intent.With:
		return r.with(list, rel)
	case intent.Under:
		if under := r.underHeading(list, &rel.Phrase); len(under) > 0 {
			return under
		}
		return r.placed(list, rel)
	case intent.Behind, intent.Ahead, intent.Above, intent.Beside, intent.LeftOf, intent.RightOf:
		return r.placed(list, rel)
	default:
		return list
	}
}

// wholePage reports whether a place says nothing: "on the page".
func wholePage(phrase *intent.Phrase) bool {
	return phrase.Name == "" && slices.ContainsFunc(phrase.Roles, func(role string) bool { return role == "document" || role == "page" })
}

// inner is the ranking for a phrase in the phrase.
func (r ranking) inner(w want) ranking {
	r.w, r.depth = w, r.depth+1
	return r
}

// anchors returns the elements that a place in a phrase may mean.
func (r ranking) anchors(phrase *intent.Phrase, w want) []scored {
	return meant(r.v, r.inner(w).rank(phrase), phrase)
}

// meant leaves of a ranked list those that are meant as well as the best, and of
// these the one that an ordinal says.
func meant(v *view, list []scored, phrase *intent.Phrase) []scored {
	if len(list) == 0 || list[0].score < enough {
		return nil
	}
	best := list[0].score
	var top []scored
	for _, s := range list {
		if s.score >= best-alike && len(top) < maxMeant {
			top = append(top, s)
		}
	}
	if phrase.Extreme != nil {
		top = v.each(top)
		at, ok := extremeAmong(v, top, phrase.Extreme)
		if !ok {
			return nil
		}
		return top[at : at+1]
	}
	if phrase.Ordinal == 0 {
		return top
	}
	top = inOrder(v, v.each(top))
	at := phrase.Ordinal - 1
	if phrase.Ordinal < 0 {
		at = len(top) + phrase.Ordinal
	}
	if at < 0 || at >= len(top) {
		return nil
	}
	return top[at : at+1]
}

// maxMeant bounds the elements that are alike: they are compared with each other.
const maxMeant = 500

// in leaves what is inside of a container.
func (r ranking) in(list []scored, rel *intent.Relation) []scored {
	if column := r.inColumn(list, &rel.Phrase); column != nil {
		return column
	}
	if rows := inBody(r.v, list, &rel.Phrase); len(rows) > 0 {
		return rows
	}
	areas := r.areas(&rel.Phrase)
	kept := inAreas(r.v, list, areas)
	if len(kept) > 0 {
		return kept
	}
	if bare(&rel.Phrase) {
		return list // "in the text", "from the list": it says nothing that could be found
	}
	if kept := r.closest(list, r.anchors(&rel.Phrase, toFind)); len(kept) > 0 {
		return kept
	}
	return r.byInner(list, rel, nil)
}

// bare reports whether a place is a kind alone, which few pages show as such.
func bare(phrase *intent.Phrase) bool {
	return phrase.Name == "" && phrase.Ordinal == 0 && len(phrase.Relations) == 0 && len(phrase.State) == 0 && len(phrase.Looks) == 0 && !phrase.Pronoun &&
		!slices.ContainsFunc(phrase.Roles, func(role string) bool {
			return slices.Contains([]string{"dialog", "alertdialog", "iframe", "frame", "tab", "tabpanel", "menu"}, role)
		})
}

// byInner leaves what stands to something that the place itself is near: in "the icon
// of Bart's post" nothing needs to be called a post.
func (r ranking) byInner(list []scored, rel *intent.Relation, owner *intent.Phrase) []scored {
	if len(rel.Relations) == 0 || r.depth > maxDepth {
		return nil
	}
	if owner == nil {
		owner = &intent.Phrase{}
	}
	r.depth++
	for i := range rel.Relations {
		list = r.related(list, &rel.Relations[i], owner)
	}
	return list
}

// areas returns the containers that a phrase may mean, and the sections under
// headings of its name.
func (r ranking) areas(phrase *intent.Phrase) []area {
	var list []area
	for _, s := range r.anchors(phrase, toHold) {
		n := &r.v.Nodes[s.index]
		if isContainer(n) && r.v.last[s.index] > s.index {
			list = append(list, area{s.index + 1, r.v.last[s.index], s.index, s.score})
		}
	}
	if phrase.Name == "" || len(phrase.Roles) > 0 && !sectionLike(phrase.Roles) {
		return list
	}
	return append(list, r.sections(phrase)...)
}

func sectionLike(roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return slices.Contains([]string{"region", "group", "form", "heading", "list", "table", "article", "tabpanel", "navigation", "complementary", "dialog"}, role)
	})
}

// sections returns what stands under the headings that a phrase means.
func (r ranking) sections(phrase *intent.Phrase) []area {
	heading := *phrase
	heading.Roles, heading.Noun = []string{"heading"}, ""
	var list []area
	for _, s := range r.anchors(&heading, toFind) {
		if r.v.Nodes[s.index].Role == "heading" {
			list = append(list, area{s.index, sectionEnd(r.v, s.index), s.index, s.score})
		}
	}
	return list
}

// sectionEnd returns the last node of the section that a heading begins: it ends
// before the next heading of its level or above.
func sectionEnd(v *view, heading int) int {
	h := &v.Nodes[heading]
	end := len(v.Nodes) - 1
	// A heading in a landmark or dialog speaks for that alone.
	if part := v.around(heading, "dialog", "alertdialog", "region", "article", "form", "complementary", "main", "navigation", "tabpanel"); part >= 0 {
		end = v.last[part]
	}
	for i := heading + 1; i <= end; i++ {
		n := &v.Nodes[i]
		if n.Role == "heading" && !v.inside(i, heading) && (n.Level <= h.Level || h.Level == 0 || n.Level == 0) {
			return i - 1
		}
	}
	return end
}

// underHeading leaves what is in the section of a heading.
func (r ranking) underHeading(list []scored, phrase *intent.Phrase) []scored {
	if phrase.Name == "" {
		return nil
	}
	return inAreas(r.v, list, r.sections(phrase))
}

// inAreas leaves what is in one of several areas; the score is the better, the
// clearer the area is the one that is meant.
func inAreas(v *view, list []scored, areas []area) []scored {
	var kept []scored
	for _, s := range list {
		best, size := 0.0, 0
		for _, a := range areas {
			if s.index < a.first || s.index > a.last || s.index == a.anchor {
				continue
			}
			// Of areas in areas the smallest one is meant.
			if span := a.last - a.first; a.score > best || a.score == best && span < size {
				best, size = a.score, span
			}
		}
		if best > 0 {
			s.score *= 0.75 + 0.25*min(1, best)
			kept = append(kept, s)
		}
	}
	return kept
}

// inColumn leaves what is in a column of a table; nil when no column is meant.
func (r ranking) inColumn(list []scored, phrase *intent.Phrase) []scored {
	if !slices.Contains(phrase.Roles, "column") && !slices.Contains(phrase.Roles, "columnheader") {
		return nil
	}
	w := newWanted(phrase.Name, phrase.Exact)
	kept := []scored{}
	for _, s := range list {
		cell := s.index
		if r.v.Nodes[cell].Table == "" {
			cell = r.v.ancestor(cell, func(n *snapshot.Node) bool { return n.Table != "" })
		}
		if cell < 0 {
			continue
		}
		n := &r.v.Nodes[cell]
		header := parseText(n.ColumnHeader)
		if phrase.Name != "" && w.compare(&header) >= 0.8 || phrase.Name == "" && phrase.Ordinal > 0 && n.Column == phrase.Ordinal-1 {
			kept = append(kept, s)
		}
	}
	return kept
}

// of leaves what belongs to something: what is nearest around it in the document.
func (r ranking) of(list []scored, rel *intent.Relation, owner *intent.Phrase) []scored {
	if meansItem(owner.Roles) || r.w == toHold {
		if kept := r.with(list, rel); len(kept) > 0 { // "the mail from Ann" is what shows "Ann"
			return kept
		}
	}
	if kept := inAreas(r.v, list, r.itemAreas(&rel.Phrase)); len(kept) > 0 {
		return kept
	}
	if kept := r.closest(list, r.anchors(&rel.Phrase, toFind)); len(kept) > 0 {
		return kept
	}
	if kept := r.byInner(list, rel, owner); len(kept) > 0 {
		return kept
	}
	// "the picture of a cat" may be called so as a whole.
	if owner.Name == "" {
		return nil
	}
	full := newWanted(owner.Name+" "+rel.Name, false)
	var kept []scored
	for _, s := range list {
		for _, name := range r.v.namings(s.index) {
			if full.compare(&name.text) >= 0.6 {
				kept = append(kept, s)
				break
			}
		}
	}
	return kept
}

// itemAreas returns the rows and items that show what a phrase says.
func (r ranking) itemAreas(phrase *intent.Phrase) []area {
	if phrase.Name == "" {
		return r.areas(phrase)
	}
	item := *phrase
	if len(item.Roles) == 0 {
		item.Roles = []string{"row", "listitem", "article", "treeitem", "figure", "group"}
	}
	var list []area
	for _, s := range r.anchors(&item, toHold) {
		if n := &r.v.Nodes[s.index]; isContainer(n) && r.v.last[s.index] > s.index && (isItem(n) || r.v.itemLike(s.index) || s.score > 0.8) {
			list = append(list, area{s.index + 1, r.v.last[s.index], s.index, s.score})
		}
	}
	return list
}

// with leaves what has something inside: the smallest of containers in containers.
func (r ranking) with(list []scored, rel *intent.Relation) []scored {
	anchors := r.anchors(&rel.Phrase, toFind)
	w := newWanted(rel.Name, rel.Exact)
	var kept []scored
	for _, s := range list {
		has := slices.ContainsFunc(anchors, func(a scored) bool { return a.index != s.index && r.v.inside(a.index, s.index) })
		if !has && rel.Name != "" {
			shown := parseText(r.v.shown(s.index))
			has = w.compare(&shown) >= 0.6
		}
		if has {
			kept = append(kept, s)
		}
	}
	return slices.DeleteFunc(kept, func(s scored) bool {
		return slices.ContainsFunc(kept, func(o scored) bool {
			return o.index > s.index && o.score >= s.score-alike && r.v.inside(o.index, s.index)
		})
	})
}
