package word

import "math"

// features are small numbers that a word shares with every word that it may match. Most
// texts of a page share none with a phrase, which one look at a table shows.
type features struct {
	all   []uint32
	table []uint32 // open addressing, 0 is free
}

// The domains keep features of different sorts apart.
const (
	byHash uint64 = iota + 1
	byLemma
	byStem
	byConcept
	byNumber
	byStart
	byEnd
	byHead
	byFirst
)

func feature(domain, value uint64) uint32 {
	x := (value ^ domain*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return uint32(x>>32) | 1
}

// share reports whether two sets may have a feature in common.
func (f *features) share(o *features) bool {
	if len(f.all) > len(o.all) {
		f, o = o, f
	}
	mask := uint32(len(o.table) - 1)
	for _, x := range f.all {
		for i := x >> 1 & mask; o.table[i] != 0; i = (i + 1) & mask {
			if o.table[i] == x {
				return true
			}
		}
	}
	return false
}

// index makes the table.
func (f *features) index() {
	size := 4
	for size < 2*len(f.all) {
		size *= 2
	}
	f.table = make([]uint32, size)
	mask := uint32(size - 1)
	for _, x := range f.all {
		i := x >> 1 & mask
		for f.table[i] != 0 && f.table[i] != x {
			i = (i + 1) & mask
		}
		f.table[i] = x
	}
}

func (f *features) add(domain, value uint64) {
	if value != 0 {
		f.all = append(f.all, feature(domain, value))
	}
}

// describe sets the features of a text: those of its content words.
func (p *Text) describe() {
	f := &p.features
	for i := range p.Words {
		w := &p.Words[i]
		f.add(byHash, w.join)
		p.vague = p.vague || w.initial || w.acronym
		if w.weight < contentWeight {
			continue
		}
		f.word(w)
		for k := range w.parts {
			f.word(&w.parts[k])
		}
		if p.linked && !w.name && len(w.Folded) >= 4 {
			f.add(byFirst, hash(w.Folded[:4]))
			f.add(byHead, hash(w.Folded[len(w.Folded)-4:]))
		}
	}
	for _, s := range p.spans {
		f.meanings(s.concepts)
	}
	f.index()
}

func (f *features) word(w *Word) {
	f.add(byHash, w.hash)
	f.add(byHash, w.spelled)
	for _, n := range w.numbers {
		f.add(byNumber, uint64(math.Float32bits(float32(n)))+1)
	}
	if len(w.Folded) >= 4 && len(w.numbers) == 0 {
		f.add(byStart, uint64(w.edges[0]))
		f.add(byEnd, uint64(w.edges[1])<<8|uint64(w.Folded[0]))
	}
	if w.quoted {
		return
	}
	for i := range w.lemmas {
		f.add(byLemma+uint64(i)<<8, w.lemmas[i])
		f.add(byStem+uint64(i)<<8, w.stems[i])
	}
	f.meanings(w.concepts)
}

func (f *features) meanings(ms []meaning) {
	for _, m := range ms {
		f.add(byConcept, uint64(m.id))
	}
}
