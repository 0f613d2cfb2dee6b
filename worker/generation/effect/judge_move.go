package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judgeMove: the target stands elsewhere, or its field of place says so.
func judgeMove(j *judged) Verdict {
	moved := 0
	for _, r := range j.records {
		a := j.Record(r)
		isMoved := slices.ContainsFunc(j.Moved, func(p Pair) bool { return p.Before == r })
		if isMoved || a < 0 && !j.covered() || a >= 0 && content(j.Before, r) != content(j.After, a) {
			moved++
		}
	}
	switch {
	case moved > 0 && moved == len(j.records) && !(j.covered() && j.After.Front >= 0):
		return reached("it stands elsewhere", j.used("it moved")...)
	case moved > 0:
		return Verdict{State: Partly, Why: "some moved"}
	case len(j.records) == 0 && (len(j.Moved) > 0 || len(j.Reordered) > 0):
		return reached("the order changed", j.used("it moved")...)
	case len(j.records) == 0 && (j.lies() || j.stands()):
		return reached("it lies there now", j.used("it moved")...)
	}
	return j.partly()
}

// stands reports whether the only target, which is no thing of a list, stands in what the goal says, and
// did not: of the columns of a board, those without cards are no more than headings.
func (j *judged) stands() bool {
	if len(j.target) != 1 || j.goal.To == nil || j.target[0].Node < 0 || len(j.goal.To.Words) == 0 {
		return false
	}
	at := j.After.Index().ByRef(j.Before.Nodes[j.target[0].Node].Ref)
	return at >= 0 && j.within(j.After, at) && !j.within(j.Before, j.target[0].Node)
}

// within reports whether a node stands in a thing or container that is called what the goal says it
// goes to.
func (j *judged) within(m *page.Model, node int) bool {
	name := j.goal.To.Phrase()
	called := func(title string, at int) bool { return strings.EqualFold(title, name) && m.Index().Contains(at, node) }
	return slices.ContainsFunc(m.Records, func(r page.Record) bool { return called(r.Title, r.Node) }) ||
		slices.ContainsFunc(m.Containers, func(c page.Container) bool { return called(c.Title, c.Node) })
}

// lies reports whether the only target was dragged onto what the goal says: its middle is there
// now, and was not.
func (j *judged) lies() bool {
	if len(j.target) != 1 || j.goal.To == nil || j.target[0].Node < 0 {
		return false
	}
	lang, _, _ := strings.Cut(j.Before.Lang, "-")
	if lexicon.Language(lang) == nil {
		lang = "en"
	}
	f := find.Description(j.Before, j.goal.To, find.Want{Lang: lang, Within: -1})
	if len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 {
		return false
	}
	x := j.Before.Index() // of a text its element
	to := j.Before.Nodes[x.ByRef(j.Before.Nodes[f.Candidates[0].Node].Ref)].Box
	ref := j.Before.Nodes[j.target[0].Node].Ref
	was, at := x.ByRef(ref), j.After.Index().ByRef(ref)
	if was < 0 || at < 0 {
		return false
	}
	to = grown(to, j.Before.Nodes[was].Box)
	return !middleIn(j.Before.Nodes[was].Box, to) && middleIn(j.After.Nodes[at].Box, to)
}

// grown is a box at least as large as another one: of what is only known by its text the size is not
// seen, and what is dropped onto it lies beside the text.
func grown(to, box [4]int) [4]int {
	for i := range 2 {
		if more := 2*box[2+i] - to[2+i]; to[2+i] < box[2+i] {
			to[i], to[2+i] = to[i]-more/2, to[2+i]+more
		}
	}
	return to
}

// middleIn reports whether the middle of a box lies in another one.
func middleIn(box, in [4]int) bool {
	x, y := box[0]+box[2]/2, box[1]+box[3]/2
	return x >= in[0] && x <= in[0]+in[2] && y >= in[1] && y <= in[1]+in[3]
}
