package refine

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// maxOrigins bounds the instructions of the base's intent that steps are matched with.
const maxOrigins = 300

// origin is an instruction of the base's intent, with the steps that it became.
type origin struct {
	clause      intent.Clause
	instruction int // index in the first reading
	words       wordSet
	target      []string // words of what it acts on
	steps       []int
}

// newOrigins returns the instructions of an intent.
func newOrigins(clauses []intent.Clause) []origin {
	var list []origin
	for _, c := range clauses {
		if len(c.Readings) == 0 {
			continue
		}
		for i, in := range c.Readings[0].Instructions {
			if len(list) == maxOrigins {
				return list
			}
			list = append(list, newOrigin(c, i, in))
		}
	}
	return list
}

func newOrigin(c intent.Clause, i int, in intent.Instruction) origin {
	o := origin{clause: c, instruction: i}
	texts := []string{cut(in.Text, 400), in.Verb, in.Key, in.URL, kindWords[in.Kind]}
	if in.Text == "" && len(c.Readings[0].Instructions) == 1 {
		texts = append(texts, cut(c.Text, 400))
	}
	if in.Target != nil {
		o.target = keywords(cut(in.Target.Name+" "+in.Target.Text, 200))
	}
	for _, p := range []*intent.Phrase{in.Target, in.To} {
		if p != nil {
			texts = append(texts, p.Name, cut(p.Text, 200))
		}
	}
	for _, v := range in.Values {
		texts = append(texts, cut(v.Text, 200))
	}
	if a := in.Assertion; a != nil {
		texts = append(texts, cut(a.Text, 200))
		for _, v := range a.Values {
			texts = append(texts, cut(v.Text, 200))
		}
	}
	o.words = wordSet{}
	for _, w := range wordsOf(texts) {
		o.words[w] = true
	}
	return o
}

// common returns how many of some words an instruction has.
func (o *origin) common(words []string) (n int) {
	for _, w := range words {
		if o.words[w] {
			n++
		}
	}
	return n
}

// kindWords are words for what kinds of instructions do that steps do not name.
var kindWords = map[intent.Kind]string{intent.LogIn: "log in", intent.Submit: "submit"}

// align matches steps with the instructions that they came from. Both are in the same
// order, so that this is the assignment that keeps the order and has the most words in
// common. A step with no word in common belongs to what follows it, as what opens a
// list does, and one that submits to what it follows.
func align(profiles []profile, origins []origin) {
	n, m := len(profiles), len(origins)
	if n == 0 || m == 0 {
		return
	}
	common := make([][]float64, n)
	total := make([][]float64, n+1)
	total[0] = make([]float64, m)
	for i := range profiles {
		common[i], total[i+1] = make([]float64, m), make([]float64, m)
		for j := range origins {
			common[i][j] = likeness(&profiles[i], &origins[j])
			total[i+1][j] = total[i][j] + common[i][j]
			if j > 0 {
				total[i+1][j] = max(total[i+1][j], total[i+1][j-1])
			}
		}
	}
	assigned := make([]int, n)
	for i, j := n-1, m-1; i >= 0; i-- {
		for j > 0 && total[i+1][j] == total[i+1][j-1] {
			j--
		}
		assigned[i] = -1
		if common[i][j] > 0 {
			assigned[i] = j
		}
	}
	settle(profiles, assigned)
	for i, j := range assigned {
		if j >= 0 {
			origins[j].steps = append(origins[j].steps, i)
		}
	}
}

// settle assigns the steps that share no word with an instruction.
func settle(profiles []profile, assigned []int) {
	for i := range assigned {
		if assigned[i] < 0 && i > 0 && profiles[i].submits {
			assigned[i] = assigned[i-1]
		}
	}
	next := -1
	for i, j := range slices.Backward(assigned) {
		if j >= 0 {
			next = j
		} else if next >= 0 {
			assigned[i] = next
		}
	}
}

// likeness returns how much a step and an instruction have in common.
func likeness(p *profile, o *origin) float64 {
	result := 2 * float64(o.common(p.valueWords))
	if len(p.nameWords) > 0 {
		result += float64(o.common(p.nameWords)) * (1 + 1/float64(len(p.nameWords)))
	}
	if p.submits && o.words[stem("submit")] {
		result++
	}
	if result == 0 {
		result = 0.5 * float64(min(2, o.common(p.saidWords)))
	}
	return result
}

// origins returns the steps of the instructions of the base's intent that a
// description means, best first; those that are as good are all returned.
func (d *inventory) origins(desc *description) [][]int {
	if len(desc.words) == 0 {
		return nil
	}
	list := d.instructions()
	scores := make([]float64, len(list))
	for j := range list {
		o := &list[j]
		if n := o.common(desc.words); n == len(desc.words) && d.present(o.steps) {
			scores[j] = 1 + float64(n)/float64(max(1, len(o.words)))
		}
	}
	var groups [][]int
	for _, j := range best(scores) {
		groups = append(groups, list[j].steps)
	}
	return groups
}

// present reports whether there are steps, and none of them has gone.
func (d *inventory) present(steps []int) bool {
	return len(steps) > 0 && !slices.ContainsFunc(steps, d.gone)
}

// instructions returns the instructions of the base's intent with their steps.
func (d *inventory) instructions() []origin {
	if !d.aligned {
		d.from = newOrigins(d.read(d.intent))
		align(d.profiles, d.from)
		d.aligned = true
	}
	return d.from
}

// originOf returns the instruction that a step came from; nil without one.
func (d *inventory) originOf(i int) *origin {
	list := d.instructions()
	for j := range list {
		if slices.Contains(list[j].steps, i) {
			return &list[j]
		}
	}
	return nil
}
