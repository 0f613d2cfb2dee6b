package find

import (
	"slices"
	"sort"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Aim is an effect that a control is looked for.
type Aim struct {
	Effect intent.Effect
	// Lemma is the verb of the text: controls are often called so.
	Lemma string
	// Words are further descriptions and values of the goal that a name of the control may have
	// words of: "Add member", "Mark paid", "Throw away Stork count".
	Words []intent.Description
	Lang  string
	// Record is the thing that it is to be done to, -1: its controls, and those that only hover
	// shows. Within is a node that controls must be in, -1.
	Record, Within int
	// Hidden: also those that are not seen now.
	Hidden bool
	// Likes: the text speaks of a favourite, also where no word here does.
	Likes bool
}

// Scores of a control by what its name says.
const (
	byVerb    = 0.97 // the verb of the text itself
	byConcept = 0.92 // the same verb in another language, or a word that means the same
	byEffect  = 0.82 // a verb of the same effect
	byIcon    = 0.86 // an icon of the effect
	bySign    = 0.7  // a sign such as ×
	extraWord = 0.08 // off for each word of the name that nothing explains
)

// Controls returns the controls that have an effect by their name, best first.
func Controls(m *page.Model, a Aim) []Candidate {
	ix := indexOf(m)
	c := &caller{ix: ix, m: m, a: a}
	for i := range a.Words {
		d := &a.Words[i]
		c.atoms = append(c.atoms, wordAtoms(d)...)
		c.atoms = append(c.atoms, nounAtoms(d)...)
		for _, st := range d.State {
			c.atoms = append(c.atoms, atom{span: st.Span, text: st.Name})
		}
	}
	likes := func(t atom) bool { return ix.words.likes(t.text, a.Lang) }
	c.likes = a.Likes || ix.words.likes(a.Lemma, a.Lang) || slices.ContainsFunc(c.atoms, likes)
	c.phrase = ix.phrase(c.atoms, a.Lang)
	var out []Candidate
	for i := range m.Controls {
		if !c.eligible(&m.Controls[i]) {
			continue
		}
		if cand, ok := c.control(i); ok {
			out = append(out, cand)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Score > out[j].Score })
	return out[:min(len(out), 24)]
}

// caller looks for controls by their names.
type caller struct {
	ix     *index
	m      *page.Model
	a      Aim
	atoms  []atom
	likes  bool // the text speaks of a favourite
	phrase *phrase
}

func (c *caller) eligible(k *page.Control) bool {
	if k.Hidden && !c.a.Hidden && k.Reveal < 0 {
		return false
	}
	if c.a.Within >= 0 && !c.ix.below(k.Node, c.a.Within) {
		return false
	}
	if c.a.Record < 0 {
		return true
	}
	return c.ix.below(k.Node, c.m.Records[c.a.Record].Node)
}

// control scores one control by the best of its names.
func (c *caller) control(i int) (Candidate, bool) {
	k := &c.m.Controls[i]
	best := Candidate{What: Control, Index: i, Sub: -1, Node: k.Node}
	for n, name := range k.Names {
		if n > 5 || name.From == "id" && n > 0 {
			break
		}
		s, used, why := c.name(name.Text, name.From, k)
		s -= 0.01 * float64(n)
		if s > best.Score {
			best.Score, best.Used, best.Why = s, used, why
		}
	}
	if best.Score <= 0.25 {
		return best, false
	}
	s := searcher{ix: c.ix, m: c.m, d: &intent.Description{}, w: Want{Hidden: c.a.Hidden}}
	best.Score *= s.standing(k.Node)
	node := &c.m.Nodes[k.Node]
	if node.Disabled {
		best.Score *= 0.7
	}
	if c.a.Effect == intent.Submit && node.Type == "submit" {
		best.Score = min(best.Score+0.05, 1)
	}
	return best, true
}

// name scores a name of a control.
func (c *caller) name(name, from string, k *page.Control) (float64, []Use, string) {
	said := c.ix.words.deed(name, c.a.Effect, c.a.Lemma, c.a.Lang, from == "icon" || from == "id", c.likes)
	if said.score == 0 {
		if from == "near" { // the text of what it stands beside says nothing of what it does
			return 0, nil, ""
		}
		return c.ofTarget(name)
	}
	score := said.score
	var used []Use
	id := c.ix.id(name)
	m := c.phrase.match(id)
	for i, s := range m.per {
		if s > 0 {
			used = append(used, Use{c.atoms[i].span, "control " + name})
		}
	}
	rest := said.rest - m.hits - c.recordWords(name, k)
	if rest > 0 {
		score -= extraWord * float64(min(rest, 4))
	}
	if m.hits > 0 {
		score += 0.03
	}
	return score, used, name
}

// recordWords returns how many words of a name are those of the record that the control stands
// in: "Throw away Stork count".
func (c *caller) recordWords(name string, k *page.Control) int {
	if k.Record < 0 || k.Record >= len(c.m.Records) || len(c.atoms) == 0 {
		return 0
	}
	t := c.m.Records[k.Record].Title
	if t == "" {
		return 0
	}
	return shared(name, t)
}

// ofTarget scores a name without a verb: a thing by its name opens, chooses or toggles itself,
// and "New member" adds one.
func (c *caller) ofTarget(name string) (float64, []Use, string) {
	switch c.a.Effect {
	case intent.Open, intent.Choose, intent.Press, intent.Toggle, intent.Expand, intent.Filter, intent.Navigate,
		intent.Complete, intent.Act, intent.Add, intent.Sort:
	default:
		return 0, nil, ""
	}
	if len(c.atoms) == 0 {
		return 0, nil, ""
	}
	id := c.ix.id(name)
	m := c.phrase.match(id)
	if m.hits == 0 {
		return 0, nil, ""
	}
	var used []Use
	for i, s := range m.per {
		if s > 0 {
			used = append(used, Use{c.atoms[i].span, "control " + name})
		}
	}
	score := 0.5 * float64(m.hits) / float64(len(c.atoms))
	if m.whole {
		score += 0.2
	}
	return score, used, name
}
