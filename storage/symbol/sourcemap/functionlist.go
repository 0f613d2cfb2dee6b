package sourcemap

import (
	"sort"
	"unicode/utf8"
)

// place is a line and a column from 0, the column in UTF-16 code units.
type place struct{ line, column uint32 }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.column < q.column
}

// function is a function of a source text: from its parameters to the end of its body.
type function struct {
	from, to place
	parent   int32
	name     string
	// unknown: code that is in no function with a name of its own, as the fields of a class.
	unknown bool
	// token is where the name stands, token.column 1<<32-1 for nowhere.
	token place
}

// functionList is the functions of a source, in the order of their beginnings.
type functionList struct {
	list []function
	ok   bool
}

func (l *functionList) size() int64 {
	n := int64(len(l.list)) * 72
	for i := range l.list {
		n += int64(len(l.list[i].name))
	}
	return n
}

// maxParents bounds the search outwards.
const maxParents = 1 << 12

// find returns the innermost function around a place; nil for none.
func (l *functionList) find(p place) *function {
	i := int32(sort.Search(len(l.list), func(i int) bool { return p.before(l.list[i].from) })) - 1
	for range maxParents {
		if i < 0 {
			return nil
		}
		if f := &l.list[i]; p.before(f.to) {
			return f
		}
		i = l.list[i].parent
	}
	return nil
}

// span is a function by the bytes of its text.
type span struct {
	from, to int
	name     string
	unknown  bool
	token    int // -1 for none
}

// newFunctionList makes the list of functions that are in the order of their beginnings.
func newFunctionList(text []byte, spans []span) *functionList {
	sort.SliceStable(spans, func(i, j int) bool {
		return spans[i].from < spans[j].from || spans[i].from == spans[j].from && spans[i].to > spans[j].to
	})
	offsets := make([]int, 0, 3*len(spans))
	for _, s := range spans {
		offsets = append(offsets, s.from, s.to)
		if s.token >= 0 {
			offsets = append(offsets, s.token)
		}
	}
	at := places(text, offsets)
	l := &functionList{list: make([]function, len(spans)), ok: true}
	var open []int32
	for i, s := range spans {
		for len(open) > 0 && spans[open[len(open)-1]].to <= s.from {
			open = open[:len(open)-1]
		}
		f := function{from: at[s.from], to: at[s.to], parent: -1, name: s.name, unknown: s.unknown, token: place{column: 1<<32 - 1}}
		if s.token >= 0 {
			f.token = at[s.token]
		}
		if len(open) > 0 {
			f.parent = open[len(open)-1]
		}
		l.list[i] = f
		open = append(open, int32(i))
	}
	return l
}

// places returns the lines and columns of bytes of a text.
func places(text []byte, offsets []int) map[int]place {
	sort.Ints(offsets)
	at := make(map[int]place, len(offsets))
	var p place
	pos := 0
	for _, o := range offsets {
		for pos < o && pos < len(text) {
			if _, width := newline(text[pos:]); width > 0 {
				pos += width
				p = place{line: p.line + 1}
				continue
			}
			if text[pos] < utf8.RuneSelf {
				pos++
				p.column++
				continue
			}
			r, size := utf8.DecodeRune(text[pos:])
			pos += size
			p.column++
			if r > 0xffff {
				p.column++
			}
		}
		at[o] = p
	}
	return at
}
