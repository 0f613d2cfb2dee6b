package tagger

import (
	"slices"
	"strings"
	"testing"
)

// TestPerceptron learns labels of words that the words alone, or only the label before, tell.
func TestPerceptron(t *testing.T) {
	t.Parallel()
	labels := []string{"o", "d+", "d"}
	const the, delete, mug, rare = 1, 2, 3, 4
	all := [][]feature{{the}, {delete}, {the}, {mug}, {the}}
	list := []example{
		{all, []int{0, 1, 2, 2, 2}},
		{[][]feature{{the}, {the}, {the}}, []int{0, 0, 0}},
		{[][]feature{{mug}, {the, rare}}, []int{0, 0}},
	}
	list = append(list, list[:2]...)
	p := newPerceptron(labels)
	p.learn(list, 30, 2)
	m := p.mean(0)
	for i := range list {
		scores := make([][]float32, len(list[i].features))
		for k, f := range list[i].features {
			scores[k] = m.scores(f)
		}
		if got := viterbi(scores, m.next, follows(labels), nil, nil); !slices.Equal(got, list[i].labels) {
			t.Errorf("sequence %d is %v, want %v", i, got, list[i].labels)
		}
	}
	if _, ok := m.rows[rare]; ok || len(m.rows[delete].label) == 0 {
		t.Errorf("what was seen once has weights: %v", m.rows)
	}
	if few := p.mean(1000); len(few.rows) != 0 {
		t.Errorf("weights below the least are kept: %v", few.rows)
	}
}

func TestViterbi(t *testing.T) {
	t.Parallel()
	labels := []string{"o", "d+", "d"}
	flat := [][]float32{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	for name, test := range map[string]struct {
		scores [][]float32
		next   [][]float32
		glued  []bool
		want   []int
	}{
		"nothing":                         {nil, flat, nil, nil},
		"a further word is not the first": {[][]float32{{0, 1, 9}}, flat, nil, []int{1}},
		"nor behind one of no segment":    {[][]float32{{9, 0, 0}, {0, 1, 5}}, flat, nil, []int{0, 1}},
		"it is behind the first":          {[][]float32{{0, 9, 0}, {0, 1, 5}}, flat, nil, []int{1, 2}},
		"the sequence counts":             {[][]float32{{0, 2, 0}, {1, 0, 0}}, [][]float32{{0, 0, 0}, {0, 0, 5}, {0, 0, 0}}, nil, []int{1, 2}},
		"a name goes on":                  {[][]float32{{0, 90, 0}, {50, 0, 0}}, flat, []bool{false, true}, []int{1, 2}},
		"two words are two things":        {[][]float32{{0, 90, 0}, {50, 0, 0}}, flat, []bool{false, false}, []int{1, 0}},
		"a name that the scores part":     {[][]float32{{0, 900, 0}, {glue + 50, 0, 0}}, flat, []bool{false, true}, []int{1, 0}},
	} {
		if got := viterbi(test.scores, test.next, follows(labels), goesOn(labels), test.glued); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		scores []float32
		label  int
		margin float32
	}{
		{[]float32{1}, 0, 0}, {[]float32{1, 4}, 1, 3}, {[]float32{4, 1}, 0, 3}, {[]float32{2, 2}, 0, 0}, {[]float32{-5, 1, 7, 6}, 2, 1},
		{[]float32{7, 1, 6}, 0, 1}, {[]float32{-2, -3, -1}, 2, 1},
	} {
		if label, margin := best(test.scores); label != test.label || margin != test.margin {
			t.Errorf("%v: %d by %v, want %d by %v", test.scores, label, margin, test.label, test.margin)
		}
	}
}

// TestCompare counts labels that are wrong: of one text, which the tagger labels rightly.
func TestCompare(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		line                       string
		parts, found, kinds, slots int
		words                      float64
	}{
		"right":             {"en\t[remove Delete {t:the second invoice}] and [confirm confirm].", 2, 2, 2, 2, 1},
		"another slot":      {"en\t[remove Delete {n:the second invoice}] and [confirm confirm].", 2, 2, 2, 1, 4. / 7},
		"another kind":      {"en\t[open Delete {t:the second invoice}] and [confirm confirm].", 2, 2, 1, 1, 3. / 7},
		"forbidden":         {"en\t[!remove Delete {t:the second invoice}] and [confirm confirm].", 2, 2, 1, 1, 1},
		"another end":       {"en\t[remove Delete {t:the second invoice} and confirm].", 1, 0, 0, 0, 5. / 7},
		"a check, no deed":  {"en\t[gone Delete {t:the second invoice}] and [confirm confirm].", 2, 1, 1, 1, 3. / 7},
		"one more that was": {"en\tDelete the second invoice and [confirm confirm].", 1, 1, 1, 1, 3. / 7},
	} {
		s, err := ParseSample(test.line)
		if err != nil {
			t.Fatal(err)
		}
		got := Compare(Default(), []Sample{s}, "")
		if want := (Score{1, test.parts, test.found, test.kinds, test.slots, test.words}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if got.Share(got.Slots) != 100*float64(test.slots)/float64(test.parts) {
			t.Errorf("%s: %v%%", name, got.Share(got.Slots))
		}
		if none := Compare(Default(), []Sample{s}, "de"); none != (Score{}) || none.Share(0) != 0 {
			t.Errorf("of no texts: %+v", none)
		}
	}
}

// TestRightLabels holds what is written in a sample to be what is learned of each of its words.
func TestRightLabels(t *testing.T) {
	t.Parallel()
	s, err := ParseSample("de\tBitte [remove {t:Die Gummistiefel} können raus]. [same~ {t:Der „rote Schal“} bleibt {v:da}] / [note so]")
	if err != nil {
		t.Fatal(err)
	}
	l := label(&s)
	name := func(names []string, labels []int) string {
		var out []string
		for _, i := range labels {
			out = append(out, names[i])
		}
		return strings.Join(out, " ")
	}
	if got, want := name(partLabels, l.partLabelsOf()), "o d+ d d d o c+ c c c n+"; got != want {
		t.Errorf("parts %q, want %q", got, want)
	}
	want := []string{"t+ t - -", "t+ t - v+", "-"}
	if len(l.parts) != len(want) {
		t.Fatalf("%d parts", len(l.parts))
	}
	for i := range want {
		if got := name(slotLabels, l.slotLabelsOf(&l.parts[i])); got != want[i] {
			t.Errorf("slots of %s: %q, want %q", l.parts[i].Kind, got, want[i])
		}
	}
}
