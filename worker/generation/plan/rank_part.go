package plan

import (
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// pronoun returns what the text was about last.
func (r ranking) pronoun(phrase *intent.Phrase) []scored {
	var list []scored
	for i := range r.v.Nodes { // what is called "ONE" is no pronoun
		if n := &r.v.Nodes[i]; n.Interactive && !n.Hidden && n.Name == phrase.Text && n.Name != "" {
			list = append(list, scored{i, 0.97, ""})
		}
	}
	if len(list) > 0 {
		return list
	}
	for _, ref := range []string{r.focus.target, r.focus.part} {
		i := r.v.find(ref)
		if i < 0 || ref == "" || r.v.Nodes[i].Hidden {
			continue
		}
		if roleFit(&r.v.Nodes[i], phrase.Roles) == 0 || fits(&r.v.Nodes[i], r.w) == 0 {
			continue
		}
		list = append(list, scored{i, 0.95 - 0.2*float64(len(list)), "what the text was about before"})
	}
	return list
}

func partOf(v *view, ref string) int {
	if ref == "" {
		return -1
	}
	return v.find(ref)
}

// modal returns the dialog in front of everything else; -1 without one.
func (v *view) modal() int {
	if v.frontKnown {
		return v.front
	}
	v.front, v.frontKnown = -1, true
	for i := range v.Nodes {
		if v.Nodes[i].Modal && !v.Nodes[i].Hidden {
			v.front = i
		}
	}
	return v.front
}
