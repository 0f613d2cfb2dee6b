package tagger

// Score is how well a tagger labels samples.
type Score struct {
	Texts int
	// Parts of the right labels, and of them those whose segment was found, its kind too, its slots too.
	Parts, Found, Kinds, Slots int
	// Words is the share of words with the right kind and slot.
	Words float64
}

// Share is a part of all parts, in percent.
func (s *Score) Share(n int) float64 {
	if s.Parts == 0 {
		return 0
	}
	return 100 * float64(n) / float64(s.Parts)
}

// Compare labels the samples of a language, all for "", and compares the labels with the right ones.
func Compare(t *Tagger, samples []Sample, lang string) Score {
	var s Score
	words, right := 0, 0
	for i := range samples {
		if lang != "" && samples[i].Lang != lang {
			continue
		}
		s.Texts++
		gold := label(&samples[i])
		want, got := make([]string, len(gold.x.list)), make([]string, len(gold.x.list))
		parts := map[int]Part{}
		for _, p := range t.tag(gold.x, Loosely) {
			parts[p.First] = p
			for j, name := range p.Labels {
				got[p.First+j] = p.Kind + ":" + name
			}
		}
		for k := range gold.parts {
			p := &gold.parts[k]
			s.Parts++
			same := true
			found := parts[p.First]
			for j, l := range gold.slotLabelsOf(p) {
				name := ""
				if l > 0 {
					name = Slots[(l-1)/2]
				}
				want[p.First+j] = p.Kind + ":" + name
				same = same && j < len(found.Labels) && found.Labels[j] == name
			}
			if found.Last != p.Last || group(found.Kind) != group(p.Kind) {
				continue
			}
			s.Found++
			if found.Kind == p.Kind && found.Forbidden == p.Forbidden {
				s.Kinds++
				if same {
					s.Slots++
				}
			}
		}
		for j := range want {
			words++
			if want[j] == got[j] {
				right++
			}
		}
	}
	if words > 0 {
		s.Words = float64(right) / float64(words)
	}
	return s
}
