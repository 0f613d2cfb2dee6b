package plan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// want is what an element is needed for: it decides which elements come into
// question where a phrase does not name a kind.
type want string

const (
	toUse    want = "use"    // click, hover, press: anything interactive, else what reacts, else a text
	toFill   want = "fill"   // takes text
	toCheck  want = "check"  // check boxes, switches, radio buttons, toggle buttons
	toChoose want = "choose" // holds what can be chosen: lists, boxes that open one, groups, fields with suggestions
	toAdjust want = "adjust" // sliders, spinners, fields of numbers
	toDrag   want = "drag"   // anything visible, better what is draggable
	toUpload want = "upload" // file inputs, or what opens one
	toExpand want = "expand" // has something that it opens and closes
	toRead   want = "read"   // has a text or value: a text, cell, heading, field; the smallest one
	toFind   want = "find"   // anything at all
	toHold   want = "hold"   // a container: list, table, row, dialog, section, form
)

// alike is how much less an element may fit than the best one and still be what is
// meant as well.
const alike = 0.045

// match is an element that a phrase means.
type match struct {
	ref   string
	node  *snapshot.Node // in the view that it was found in
	index int            // in that view
	score float64        // 0 to 1
	why   string         // for people: `the only button "Save"`
}

// missingError is the error of a pick that found nothing that is alike: it may come
// later, or be elsewhere.
type missingError struct{ *NotUnderstoodError }

func (e missingError) Unwrap() error { return e.NotUnderstoodError }

// resolve returns the one element that a phrase means, and searches the page for it
// where it is not visible. Its error is a *NotUnderstoodError when nothing is clearly
// meant.
func (p *planner) resolve(ctx context.Context, phrase *intent.Phrase, w want) (match, error) {
	var m match
	looked := false
	err := seek(ctx, p, phrase, w, func(v *view) (err error) {
		first := !looked
		looked = true
		if m, err = p.pick(v, phrase, w); err != nil {
			return err
		}
		if first && hidesBetter(p, v, phrase, w, m) {
			return p.missing(v, phrase, nil)
		}
		return nil
	})
	return m, err
}

// better is how much more a hidden element must be what a phrase means to be looked
// for where one that is seen could be meant.
const better = 0.15

// hidesBetter reports whether what a phrase means rather is in something that is
// closed: "Settings" in a menu, rather than "Settings of the printer".
func hidesBetter(p *planner, v *view, phrase *intent.Phrase, w want, m match) bool {
	if m.score > 1-better || phrase.Name == "" || phrase.Ordinal != 0 || p.optional {
		return false
	}
	r := p.rankingOf(v, w)
	r.hidden = true
	list := r.rank(phrase)
	return len(list) > 0 && v.Nodes[list[0].index].Hidden && list[0].score > m.score+better && openerOf(v, list[0].index) != nil
}

// resolveAll returns each element that a phrase means (All, Count, Others, Except), in
// the order of the text or else of the document; at least one.
func (p *planner) resolveAll(ctx context.Context, phrase *intent.Phrase, w want) ([]match, error) {
	var list []match
	looked := false
	err := seek(ctx, p, phrase, w, func(v *view) (err error) {
		first := !looked
		looked = true
		if list, err = p.pickAll(v, phrase, w); err != nil {
			return err
		}
		if first && len(list) == 1 && hidesBetter(p, v, phrase, w, list[0]) {
			return p.missing(v, phrase, nil)
		}
		return nil
	})
	return list, err
}

// pick is resolve on one view, without a search and without doing anything.
func (p *planner) pick(v *view, phrase *intent.Phrase, w want) (match, error) {
	if phrase == nil {
		return match{}, p.notUnderstood("it does not say on what")
	}
	list := p.rankingOf(v, w).rank(phrase)
	if len(list) == 0 || list[0].score < enough {
		return match{}, p.missing(v, phrase, list)
	}
	if phrase.Extreme != nil {
		return pickExtreme(p, v, phrase, list)
	}
	if phrase.Ordinal != 0 {
		return pickOrdinal(p, v, phrase, list)
	}
	things := apart(v, list)
	best := things[0]
	if len(things) > 1 && things[1].score > best.score-alike && !oneOf(p, v, things, phrase, w) {
		return match{}, ambiguous(p, v, phrase, things)
	}
	return v.matchOf(best, describeChoice(v, things)), nil
}

// oneOf reports whether it does not matter which of several is meant: texts that say
// the same are read the same.
func oneOf(p *planner, v *view, things []scored, phrase *intent.Phrase, w want) bool {
	if phrase.Count == 1 || indefinite(phrase.Text) && w != toFill { // any one of them
		return true
	}
	if w != toRead && w != toFind {
		return false
	}
	first := v.shown(things[0].index)
	for _, s := range things[1:] {
		if s.score <= things[0].score-alike {
			break
		}
		if v.shown(s.index) != first || v.Nodes[s.index].Role != v.Nodes[things[0].index].Role {
			return false
		}
	}
	return true
}

func pickOrdinal(p *planner, v *view, phrase *intent.Phrase, list []scored) (match, error) {
	top := meant(v, list, phrase)
	if len(top) == 0 {
		return match{}, p.missing(v, phrase, list)
	}
	return v.matchOf(top[0], fmt.Sprintf("the %s of those that are called so", ordinal(phrase.Ordinal))), nil
}

func ordinal(n int) string {
	switch {
	case n == -1:
		return "last"
	case n < 0:
		return fmt.Sprintf("%d. from the end", -n)
	default:
		return fmt.Sprintf("%d.", n)
	}
}

// pickAll is resolveAll on one view.
func (p *planner) pickAll(v *view, phrase *intent.Phrase, w want) ([]match, error) {
	if phrase == nil {
		return nil, p.notUnderstood("it does not say on what")
	}
	if !meansAll(phrase) && phrase.Count < 2 {
		m, err := p.pick(v, phrase, w)
		if err != nil {
			return nil, err
		}
		return withOthers(p, v, []match{m}, phrase, w)
	}
	one := *phrase
	one.Ordinal = 0
	list := p.rankingOf(v, w).rank(&one)
	top := meant(v, list, &one)
	for i := range phrase.Except {
		left, err := p.pickAll(v, &phrase.Except[i], w)
		if err != nil {
			return nil, err
		}
		top = without(top, left)
	}
	if len(top) == 0 {
		return nil, p.missing(v, phrase, list)
	}
	top = inOrder(v, v.each(top))
	if n := phrase.Count; n > 0 {
		if phrase.All && len(top) > n { // "both" of three
			return nil, ambiguous(p, v, phrase, top)
		}
		if len(top) < n {
			return nil, p.notUnderstood(fmt.Sprintf("there are only %d of them, not %d", len(top), n))
		}
		top = top[:n]
		if phrase.Ordinal < 0 {
			top = inOrder(v, v.each(meant(v, list, &one)))
			top = top[len(top)-n:]
		}
	}
	matches := make([]match, 0, len(top))
	for _, s := range top {
		matches = append(matches, v.matchOf(s, fmt.Sprintf("one of %d", len(top))))
	}
	return withOthers(p, v, matches, phrase, w)
}

func without(list []scored, left []match) []scored {
	var kept []scored
	for _, s := range list {
		is := false
		for _, m := range left {
			is = is || m.index == s.index
		}
		if !is {
			kept = append(kept, s)
		}
	}
	return kept
}

// withOthers adds the further elements that a phrase names.
func withOthers(p *planner, v *view, list []match, phrase *intent.Phrase, w want) ([]match, error) {
	for i := range phrase.Others {
		more, err := p.pickAll(v, &phrase.Others[i], w)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// rankingOf returns the ranking of a view for what an element is needed for.
func (p *planner) rankingOf(v *view, w want) ranking {
	return ranking{v: v, w: w, focus: p.focus, fresh: freshOf(p, v), modal: blocking(p, v)}
}

// freshOf returns the refs that came with the last step, when they are a part of the page
// only.
func freshOf(p *planner, v *view) map[string]bool {
	if p.before == nil || v == p.before || p.before.URL != v.URL {
		return nil
	}
	if p.freshOf == v {
		return p.freshRefs
	}
	fresh := map[string]bool{}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if old := p.before.node(n.Ref); !n.Hidden && (old == nil || old.Hidden) {
			fresh[n.Ref] = true
		}
	}
	if len(fresh) > len(v.Nodes)*2/3 {
		fresh = nil
	}
	p.freshOf, p.freshRefs = v, fresh
	return fresh
}

func (v *view) matchOf(s scored, why string) match {
	return match{ref: v.Nodes[s.index].Ref, node: &v.Nodes[s.index], index: s.index, score: s.score, why: why}
}

// describeChoice says why the first of several is meant.
func describeChoice(v *view, things []scored) string {
	what := describeNode(&v.Nodes[things[0].index])
	by := ""
	if why := things[0].why; why != "" && why != "name" {
		by = ", by its " + why
	}
	if len(things) == 1 || things[1].score < enough {
		return "the only " + what + by
	}
	return what + by + ", rather than " + describeNode(&v.Nodes[things[1].index])
}

// mostCandidates is how many candidates an error names.
const mostCandidates = 5

func (p *planner) candidates(v *view, list []scored) []Candidate {
	var near []Candidate
	for _, s := range apart(v, list) {
		if len(near) == mostCandidates {
			break
		}
		near = append(near, Candidate{What: describeNode(&v.Nodes[s.index]), Score: s.score, Why: s.why})
	}
	return near
}

// missing returns the error for a phrase that nothing on the page is.
func (p *planner) missing(v *view, phrase *intent.Phrase, list []scored) error {
	near := p.candidates(v, list)
	if len(near) == 0 && phrase.Name != "" {
		// What is called so and is something else, or elsewhere.
		other := intent.Phrase{Name: phrase.Name}
		near = p.candidates(v, p.rankingOf(v, toFind).rank(&other))
	}
	err := p.notUnderstood("nothing on the page is "+describePhrase(phrase), near...)
	return missingError{err.(*NotUnderstoodError)}
}

// ambiguous returns the error for a phrase that several elements are alike.
func ambiguous(p *planner, v *view, phrase *intent.Phrase, things []scored) error {
	return p.notUnderstood(strings.TrimSpace("several elements may be "+describePhrase(phrase)), p.candidates(v, things)...)
}

// latest is how long something that is not there may still come.
const latest = 3 * time.Second
