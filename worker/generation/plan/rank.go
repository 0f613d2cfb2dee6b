package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// scored is an element that may be meant.
type scored struct {
	index int
	score float64
	why   string
}

// maxDepth bounds phrases in phrases: "the button in the row of the lamp under X".
const maxDepth = 5

// ranking is the comparison of a page with one phrase.
type ranking struct {
	v     *view
	w     want
	focus focus
	fresh map[string]bool // refs that came with the last step
	modal int             // the dialog behind which nothing can be used; -1
	depth int
	// hidden is set to look among what is not seen now.
	hidden bool
}

// rank returns the elements that a phrase may mean, the best first, without regard to
// how many it means.
func (r ranking) rank(phrase *intent.Phrase) []scored {
	if r.depth > maxDepth {
		return nil
	}
	list := r.ranked(phrase)
	best := 0.0
	if len(list) > 0 {
		best = list[0].score
	}
	if r.depth > 0 || best >= partly {
		return list
	}
	// A name may have a place in it: "delete for Ann".
	for _, parted := range append(partings(phrase), restated(phrase)...) {
		if others := r.ranked(&parted); len(others) > 0 && others[0].score >= max(partly, best+0.1) {
			for i := range others {
				others[i].score *= 0.95
			}
			return others
		}
	}
	return list
}

func (r ranking) ranked(phrase *intent.Phrase) []scored {
	list := r.named(phrase)
	list = r.filter(phrase, list)
	r.preferNoun(phrase, list)
	for i := range phrase.Relations {
		list = r.related(list, &phrase.Relations[i], phrase)
	}
	list = bySize(r.v, list, phrase.Looks["size"])
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return list
}

// preferNoun raises what is called as the kind of a phrase without a name: "the rating"
// is a field of that name rather than any other.
func (r ranking) preferNoun(phrase *intent.Phrase, list []scored) {
	if phrase.Name != "" || phrase.Noun == "" || len(list) < 2 {
		return
	}
	noun := newWanted(phrase.Noun, false)
	for i := range list {
		for _, name := range r.v.namings(list[i].index) {
			if noun.compare(&name.text)*name.weight >= 0.85 {
				list[i].score += 0.1
				break
			}
		}
	}
}

// partly is the score from which on a name is taken as it is.
const partly = 0.7

// maxPartings bounds how often a name is parted.
const maxPartings = 4

// partings returns the ways to read a name as one with a place.
func partings(phrase *intent.Phrase) []intent.Phrase {
	if phrase.Exact {
		return nil
	}
	words := strings.Fields(phrase.Name)
	var list []intent.Phrase
	for i := len(words) - 2; i > 0 && len(list) < maxPartings; i-- {
		kind, ok := placeWords[fold(words[i])]
		if !ok {
			continue
		}
		behind := words[i+1:]
		if len(behind) > 1 && fillers[fold(behind[0])] {
			behind = behind[1:]
		}
		parted := *phrase
		parted.Name = joinWords(words[:i])
		name := joinWords(behind)
		parted.Relations = append(slices.Clone(phrase.Relations), intent.Relation{Kind: kind, Phrase: intent.Phrase{Text: name, Name: name}})
		list = append(list, parted)
	}
	return list
}

// named returns the visible elements whose name and kind may be those of a phrase.
func (r ranking) named(phrase *intent.Phrase) []scored {
	if phrase.Pronoun && phrase.Name == "" {
		return r.pronoun(phrase)
	}
	queries := r.queries(phrase)
	var list []scored
	for i := range r.v.Nodes {
		n := &r.v.Nodes[i]
		if n.Hidden && !r.hidden || r.v.echo[i] {
			continue
		}
		use := fits(n, r.w)
		if use == 0 || n.Role == "row" && phrase.Name == "" && isHeader(r.v, i) {
			continue
		}
		role := roleFit(n, phrase.Roles)
		if role >= 0.95 && len(phrase.Roles) > 0 && r.w == toUse { // it is just what is asked for
			use = max(use, 0.95)
		}
		if role == 0 && n.Role == "" && meansItem(phrase.Roles) && r.v.itemLike(i) {
			role = 0.85
		}
		if role == 0 && len(n.Style) > 0 && seen(phrase.Looks) { // "the blue box"
			role = 0.8
		}
		name, why, whole := 0.9, "", false
		if len(queries) > 0 {
			name, why, whole = r.bestName(queries, i)
			if name < enough-0.1 {
				continue
			}
		}
		switch {
		case whole:
			role = max(role, 0.95)
		case role == 0 && (nativeRole(n.Role) || len(queries) == 0):
			continue
		case role == 0:
			role = 0.45
		}
		score := name * (0.4 + 0.6*use*role)
		if r.modal >= 0 && !r.v.inside(i, r.modal) && !r.v.inside(r.modal, i) {
			score *= 0.5
		}
		list = append(list, scored{i, min(1, score), why})
	}
	return list
}

// seen reports whether a phrase says what a thing looks like, which is enough to know it.
func seen(looks map[string]string) bool { return looks["color"] != "" || looks["shape"] != "" }

// isHeader reports whether a row has headers of columns only: it is not counted.
func isHeader(v *view, i int) bool {
	for _, child := range v.children[i] {
		if v.Nodes[child].Role != "columnheader" {
			return false
		}
	}
	return len(v.children[i]) > 0
}

// query is one way to read the name in a phrase.
type query struct {
	*wanted
	whole  bool // with the word for its kind: "the Order list" may be called so
	weight float64
}

func (r ranking) queries(phrase *intent.Phrase) []query {
	name := phrase.Name
	if name == "" {
		name = typeSaid(phrase.Noun) // "the password field"
	}
	if name == "" {
		return nil
	}
	first := newWanted(name, phrase.Exact)
	first.loose = r.w == toFill || r.w == toChoose || r.w == toAdjust || r.w == toHold
	list := []query{{first, false, 1}}
	if !phrase.Exact && phrase.Noun != "" && phrase.Name != "" {
		for _, whole := range []string{phrase.Name + " " + phrase.Noun, phrase.Noun + " " + phrase.Name} {
			q := newWanted(whole, true)
			q.meanings = nil
			list = append(list, query{q, true, 1})
		}
	}
	for i := range phrase.Relations {
		rel := &phrase.Relations[i]
		if rel.Kind != intent.Of || rel.Name == "" || phrase.Exact || phrase.Name == "" {
			continue
		}
		for _, whole := range []string{phrase.Name + " " + rel.Name, rel.Name + " " + phrase.Name} {
			list = append(list, query{newWanted(whole, false), true, 0.97})
		}
	}
	return list
}

// bestName returns how well the names of a node are what is looked for; whole is set
// when the word for the kind is a part of the name.
func (r ranking) bestName(queries []query, i int) (best float64, why string, whole bool) {
	for k := range queries {
		q := &queries[k]
		list := r.v.namings(i)
		for j := range list {
			s := q.compare(&list[j].text)
			if q.whole && s < sameStems || s < sameTyped && list[j].secondary && hasWords(&r.v.Nodes[i]) {
				continue // what only those who wrote the page see is no part of a name
			}
			if s *= list[j].weight * q.weight; s > best {
				best, why, whole = s, list[j].kind, q.whole
			}
		}
		if best < sameStems && r.w == toHold && !q.whole {
			if s, kind := holdsOf(r.v, i, q.wanted); s > best {
				best, why, whole = s, kind, false
			}
		}
	}
	return best, why, whole
}

// holdsOf returns how well what is in a container says which one it is: its heading, or, of
// rows and items, any text.
func holdsOf(v *view, i int, w *wanted) (best float64, why string) {
	n := &v.Nodes[i]
	if !isContainer(n) {
		return 0, ""
	}
	item := isItem(n) || v.itemLike(i)
	seen := 0
	for j := i + 1; j <= v.last[i] && seen < 60; j++ {
		child := &v.Nodes[j]
		if child.Hidden {
			continue
		}
		seen++
		weight := 0.0
		switch {
		case item:
			weight = 0.95
		case child.Role == "heading" && seen < 8, child.Tag == "legend", child.Tag == "caption", child.Tag == "summary":
			weight = 0.96
		}
		if weight == 0 {
			continue
		}
		text := parseText(child.Name)
		if s := w.compare(&text) * weight; s > best {
			best, why = s, "what is in it"
		}
	}
	return best, why
}

// isItem reports whether a node is one of several of its kind: a row, item or card.
func isItem(n *snapshot.Node) bool {
	switch n.Role {
	case "row", "listitem", "article", "treeitem", "option", "gridcell", "cell", "figure":
		return true
	default:
		return n.Tag == "li" || n.Tag == "tr"
	}
}

// filter leaves out what is not in the state that a phrase says, does not look so, or
// is excepted; and weighs what stands where the text was about.
func (r ranking) filter(phrase *intent.Phrase, list []scored) []scored {
	kept := list[:0]
	for _, s := range list {
		n := &r.v.Nodes[s.index]
		if !hasStates(n, phrase.State) || !looksOf(r.v, s.index, phrase.Looks) {
			continue
		}
		s.score = r.weigh(s)
		kept = append(kept, s)
	}
	return kept
}

// weigh adds to a score what speaks for an element besides its name: it came with the
// last step, is near what was used last, can be seen and used. It decides between
// elements of the same name only.
func (r ranking) weigh(s scored) float64 {
	n := &r.v.Nodes[s.index]
	score := s.score
	if r.fresh[n.Ref] {
		score += 0.05
	}
	if part := r.part(); part >= 0 && r.v.inside(s.index, part) {
		score += 0.05
	}
	if n.Disabled && r.w != toFind && r.w != toRead {
		score -= 0.05
	}
	if !n.InView {
		score -= 0.01
	}
	if r.v.around(s.index, "contentinfo", "navigation") >= 0 {
		score -= 0.005
	}
	return score
}
