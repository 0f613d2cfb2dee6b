package tagger

// row is the weights of one feature: of which labels, and how much.
type row struct {
	label  []uint8
	weight []float32
}

// linear is a trained classifier: the score of a label is the sum of its weights over the features.
type linear struct {
	labels []string
	rows   map[feature]row
	// next are the weights of one label behind another; nil where what is labelled is no sequence.
	next [][]float32
}

// scores returns the score of each label.
func (m *linear) scores(features []feature) []float32 {
	out := make([]float32, len(m.labels))
	for _, f := range features {
		r := m.rows[f]
		for k, l := range r.label {
			out[l] += r.weight[k]
		}
	}
	return out
}

// best is the label with the highest score, and how much higher it is than the second.
func best(scores []float32) (label int, margin float32) {
	second := -1
	for i, s := range scores {
		switch {
		case s > scores[label]:
			label, second = i, label
		case i != label && (second < 0 || s > scores[second]):
			second = i
		}
	}
	if second < 0 || second == label {
		return label, 0
	}
	return label, scores[label] - scores[second]
}

// glue is how much scores must say to part a name.
const glue = 200

// viterbi returns the likeliest labels of a sequence; allowed says which may stand behind which, and
// before the first (before is -1). Where glued is set a word is one name with the word before, and has another
// label than it only where the scores say so by more than glue.
func viterbi(scores [][]float32, next [][]float32, allowed func(before, label int) bool, goesOn func(before, label int) bool, glued []bool) []int {
	n := len(scores)
	if n == 0 {
		return nil
	}
	const never = -1e30
	labels := len(scores[0])
	total := make([]float32, labels)
	from := make([][]int, n)
	for l := range labels {
		total[l] = scores[0][l]
		if !allowed(-1, l) {
			total[l] = never
		}
	}
	for i := 1; i < n; i++ {
		now, back := make([]float32, labels), make([]int, labels)
		for l := range labels {
			now[l] = never
			for b := range labels {
				if !allowed(b, l) {
					continue
				}
				s := total[b] + next[b][l] + scores[i][l]
				if glued != nil && glued[i] && !goesOn(b, l) {
					s -= glue
				}
				if s > now[l] {
					now[l], back[l] = s, b
				}
			}
		}
		total, from[i] = now, back
	}
	out := make([]int, n)
	out[n-1], _ = best(total)
	for i := n - 1; i > 0; i-- {
		out[i-1] = from[i][out[i]]
	}
	return out
}
