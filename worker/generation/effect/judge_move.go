package effect

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
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
	case len(j.records) == 0 && j.lies():
		return reached("it lies there now", j.used("it moved")...)
	}
	return j.partly()
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
	return at >= 0 && !middleIn(j.Before.Nodes[was].Box, to) && middleIn(j.After.Nodes[at].Box, to)
}

// middleIn reports whether the middle of a box lies in another one.
func middleIn(box, in [4]int) bool {
	x, y := box[0]+box[2]/2, box[1]+box[3]/2
	return x >= in[0] && x <= in[0]+in[2] && y >= in[1] && y <= in[1]+in[3]
}
