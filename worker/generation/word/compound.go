package word

import "strings"

// part compares two words where one may be a part of the other: its head, or what stands
// before the head. A part has four letters and more, and the rest is a word too.
func part(a, b *Word) Kind {
	whole, piece := a, b
	if len(whole.Folded) < len(piece.Folded) {
		whole, piece = piece, whole
	}
	switch {
	case len(piece.Folded) < 4 || len(whole.parts) != 2 || piece.name:
		return None
	case strings.HasSuffix(whole.Folded, piece.Folded) && whole.parts[1].hash == piece.hash:
		return Head
	case strings.HasPrefix(whole.Folded, piece.Folded) && related(&whole.parts[0], piece):
		return partKind(whole.parts)
	}
	return None
}

// compounds finds the parts of a compound of one side among the words of the other: both, or
// its head by a concept or another form.
func compounds(p, t *Text, pairs []Pair) []Pair {
	for i := range p.Words {
		if len(p.Words[i].parts) == 2 {
			pairs = partsIn(p.Words[i].parts, t, func(at, n int, k Kind) Pair { return Pair{i, 1, at, n, k} }, pairs)
		}
	}
	for i := range t.Words {
		if len(t.Words[i].parts) == 2 {
			pairs = partsIn(t.Words[i].parts, p, func(at, n int, k Kind) Pair { return Pair{at, n, i, 1, k} }, pairs)
		}
	}
	return pairs
}

// partsIn looks for the two parts of a compound in a text.
func partsIn(parts []Word, t *Text, pair func(at, n int, k Kind) Pair, pairs []Pair) []Pair {
	for k := range t.Words {
		w := &t.Words[k]
		if w.name {
			continue
		}
		if len(w.parts) == 2 && related(&parts[0], &w.parts[0]) && related(&parts[1], &w.parts[1]) {
			pairs = append(pairs, pair(k, 1, Concept))
			continue
		}
		if !related(&parts[1], w) {
			if related(&parts[0], w) {
				pairs = append(pairs, pair(k, 1, partKind(parts)))
			}
			continue
		}
		switch {
		case k > 0 && related(&parts[0], &t.Words[k-1]):
			pairs = append(pairs, pair(k-1, 2, Concept))
		case k+1 < len(t.Words) && related(&parts[0], &t.Words[k+1]):
			pairs = append(pairs, pair(k, 2, Concept))
		case k+2 < len(t.Words) && t.Words[k+1].weight < contentWeight && related(&parts[0], &t.Words[k+2]):
			pairs = append(pairs, pair(k, 3, Concept))
		default:
			pairs = append(pairs, pair(k, 1, Head))
		}
	}
	return pairs
}

// partKind is how well the first part of a compound stands for it: well where its head is
// only the name of a control.
func partKind(parts []Word) Kind {
	if parts[1].generic {
		return Concept
	}
	return Part
}

// related reports whether two words are one in form or meaning.
func related(a, b *Word) bool {
	return a.hash == b.hash || inflected(a, b) || meanings(a.concepts, b.concepts) != None
}

// acronyms finds "VPN" where the other side writes the words out.
func acronyms(p, t *Text, pairs []Pair) []Pair {
	for i := range p.Words {
		if w := &p.Words[i]; w.acronym {
			if at := strings.Index(t.initials, w.Folded); at >= 0 && len(t.initials) == len(t.Words) {
				pairs = append(pairs, Pair{i, 1, at, len(w.Folded), Acronym})
			}
		}
	}
	for i := range t.Words {
		if w := &t.Words[i]; w.acronym {
			if at := strings.Index(p.initials, w.Folded); at >= 0 && len(p.initials) == len(p.Words) {
				pairs = append(pairs, Pair{at, len(w.Folded), i, 1, Acronym})
			}
		}
	}
	return pairs
}
