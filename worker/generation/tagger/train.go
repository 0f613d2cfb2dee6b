package tagger

import (
	"math/rand/v2"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// example is a sequence to learn: the features of each of its words, and their labels.
type example struct {
	features [][]feature
	labels   []int
}

// perceptron learns a linear classifier: after each mistake the weights of what was seen move
// towards the right label, and in the end the mean of all moments counts (Collins 2002).
type perceptron struct {
	labels  []string
	ids     map[feature]int
	weight  []float32 // of feature id and label
	total   []float64
	stamp   []int32
	next    [][]float32
	nextSum [][]float64
	nextAt  [][]int32
	now     int32
}

func newPerceptron(labels []string) *perceptron {
	p := &perceptron{labels: labels, ids: map[feature]int{}}
	n := len(labels)
	p.next, p.nextSum, p.nextAt = make([][]float32, n), make([][]float64, n), make([][]int32, n)
	for i := range n {
		p.next[i], p.nextSum[i], p.nextAt[i] = make([]float32, n), make([]float64, n), make([]int32, n)
	}
	return p
}

// learn goes through the examples several times; what is seen fewer times than least is left out.
func (p *perceptron) learn(list []example, rounds, least int) {
	seen := map[feature]int{}
	for i := range list {
		for _, fs := range list[i].features {
			for _, f := range fs {
				seen[f]++
			}
		}
	}
	for i := range list {
		for _, fs := range list[i].features {
			for _, f := range fs {
				if _, ok := p.ids[f]; !ok && seen[f] >= least {
					p.ids[f] = len(p.ids)
				}
			}
		}
	}
	n := len(p.labels)
	p.weight, p.total, p.stamp = make([]float32, len(p.ids)*n), make([]float64, len(p.ids)*n), make([]int32, len(p.ids)*n)
	ids := make([][][]int, len(list))
	for i := range list {
		ids[i] = make([][]int, len(list[i].features))
		for k, fs := range list[i].features {
			for _, f := range fs {
				if id, ok := p.ids[f]; ok {
					ids[i][k] = append(ids[i][k], id)
				}
			}
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same weights each time
	ok := follows(p.labels)
	for range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			p.step(ids[i], list[i].labels, ok)
		}
	}
}

// step learns from one example.
func (p *perceptron) step(ids [][]int, gold []int, ok func(int, int) bool) {
	p.now++
	n := len(p.labels)
	scores := make([][]float32, len(ids))
	for i, list := range ids {
		scores[i] = make([]float32, n)
		for _, id := range list {
			for l, w := range p.weight[id*n : id*n+n] {
				scores[i][l] += w
			}
		}
	}
	got := viterbi(scores, p.next, ok, nil, nil)
	for i := range gold {
		if got[i] != gold[i] {
			for _, id := range ids[i] {
				p.move(id*n+gold[i], 1)
				p.move(id*n+got[i], -1)
			}
		}
		if i > 0 && (got[i] != gold[i] || got[i-1] != gold[i-1]) {
			p.moveNext(gold[i-1], gold[i], 1)
			p.moveNext(got[i-1], got[i], -1)
		}
	}
}

func (p *perceptron) move(at int, by float32) {
	p.total[at] += float64(p.now-p.stamp[at]) * float64(p.weight[at])
	p.stamp[at] = p.now
	p.weight[at] += by
}

func (p *perceptron) moveNext(b, l int, by float32) {
	p.nextSum[b][l] += float64(p.now-p.nextAt[b][l]) * float64(p.next[b][l])
	p.nextAt[b][l] = p.now
	p.next[b][l] += by
}

// mean returns what was learned, without weights that are next to nothing.
func (p *perceptron) mean(least float32) *linear {
	n := len(p.labels)
	moments := float64(max(p.now, 1)) // none where there were no examples
	m := &linear{labels: p.labels, rows: map[feature]row{}, next: make([][]float32, n)}
	for i := range n {
		m.next[i] = make([]float32, n)
		for k := range n {
			p.moveNext(i, k, 0)
			m.next[i][k] = float32(p.nextSum[i][k] / moments)
		}
	}
	for f, id := range p.ids {
		var r row
		for l := range n {
			p.move(id*n+l, 0)
			if w := float32(p.total[id*n+l] / moments); w >= least || w <= -least {
				r.label, r.weight = append(r.label, uint8(l)), append(r.weight, w)
			}
		}
		if len(r.label) > 0 {
			m.rows[f] = r
		}
	}
	return m
}

// labelled is a sample that was cut into tokens.
type labelled struct {
	*Sample
	x     *extractor
	parts []Part
}

func label(s *Sample) labelled {
	tokens := intent.Tokens(s.Text, s.Lang)
	out := labelled{Sample: s, x: newExtractor(tokens, s.Lang)}
	for _, seg := range s.Segments {
		p := Part{Segment: seg, First: -1}
		for i, t := range tokens {
			if t.From < seg.To && t.To > seg.From {
				if p.First < 0 {
					p.First = i
				}
				p.Last = i + 1
			}
		}
		if p.First < 0 {
			continue
		}
		if n := len(out.parts); n > 0 && out.parts[n-1].Last > p.First {
			p.First = out.parts[n-1].Last
			if p.First >= p.Last {
				continue
			}
		}
		out.parts = append(out.parts, p)
	}
	return out
}

// group is what a kind belongs to.
func group(kind string) string {
	switch {
	case kind == "note":
		return "n"
	case slices.Contains(Deeds, kind):
		return "d"
	}
	return "c"
}

// partLabelsOf are the right labels of the parts of a sample.
func (l *labelled) partLabelsOf() []int {
	out := make([]int, len(l.x.list))
	for _, p := range l.parts {
		g := group(p.Kind)
		for i := p.First; i < p.Last; i++ {
			name := g
			if i == p.First {
				name += "+"
			}
			out[i] = slices.Index(partLabels, name)
		}
	}
	return out
}

// slotLabelsOf are the right labels of the slots of a part.
func (l *labelled) slotLabelsOf(p *Part) []int {
	out := make([]int, p.Last-p.First)
	for _, s := range p.Slots {
		begun := false
		for i := p.First; i < p.Last; i++ {
			w := &l.x.list[i]
			if w.From >= s.To || w.To <= s.From || out[i-p.First] != 0 {
				continue
			}
			name := s.Name
			if !begun {
				name += "+"
			}
			begun = true
			out[i-p.First] = slices.Index(slotLabels, name)
		}
	}
	return out
}

// How much is learned: rounds through the corpus, and what is left out as too rare or too small.
const (
	rounds      = 12
	leastSeen   = 3
	leastWeight = 1
	// leastOutside is how often a word stood outside of all slots, and more than twice as often as in one.
	leastOutside = 3
	// leastNaming is the same of words that the lexicon knows as nouns, states or measures: they say something
	// wherever they stand.
	leastNaming = 20
)

// Train learns from samples. The same samples give the same tagger.
func Train(samples []Sample) *Tagger {
	var parts, kinds, slots, forbidden, late []example
	outside, inside, naming := map[string]int{}, map[string]int{}, map[string]bool{}
	for i := range samples {
		l := label(&samples[i])
		e := example{labels: l.partLabelsOf()}
		for k := range l.x.list {
			e.features = append(e.features, l.x.partFeatures(k))
		}
		parts = append(parts, e)
		before := ""
		for k := range l.parts {
			p := &l.parts[k]
			g := group(p.Kind)
			if g != "n" {
				f := l.x.kindFeatures(p.First, p.Last, g, before)
				one := func(label int) example { return example{[][]feature{f}, []int{label}} }
				kinds = append(kinds, one(slices.Index(kindLabels, p.Kind)))
				f = append(slices.Clone(f), hashed("kind", p.Kind))
				if g == "d" {
					forbidden = append(forbidden, one(btoi(p.Forbidden)))
				} else {
					late = append(late, one(btoi(p.Late)))
				}
			}
			before = p.Kind
			s := example{labels: l.slotLabelsOf(p)}
			for i := p.First; i < p.Last; i++ {
				s.features = append(s.features, l.x.slotFeatures(i, p.First, p.Last, p.Kind))
			}
			slots = append(slots, s)
			for i, label := range s.labels {
				switch w := &l.x.list[p.First+i]; {
				case w.Kind != intent.TokenWord:
				case label == 0:
					outside[w.Fold]++
					naming[w.Fold] = naming[w.Fold] || w.names()
				default:
					inside[w.Fold]++
				}
			}
		}
	}
	learn := func(labels []string, list []example) *linear {
		p := newPerceptron(labels)
		p.learn(list, rounds, leastSeen)
		return p.mean(leastWeight)
	}
	loose := map[string]bool{}
	for w, n := range outside {
		least, share := leastOutside, 2
		if naming[w] {
			least, share = leastNaming, 8
		}
		if n >= least && n > share*inside[w] {
			loose[w] = true
		}
	}
	return &Tagger{loose: loose, digest: Digest(samples), parts: learn(partLabels, parts), kinds: learn(kindLabels, kinds), slots: learn(slotLabels, slots),
		forbidden: learn(truth, forbidden), late: learn(truth, late)}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
