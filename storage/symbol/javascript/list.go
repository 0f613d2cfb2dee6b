package javascript

import (
	"sort"
	"unicode/utf8"
)

// Place is a line and a column from 0, the column in UTF-16 code units.
type Place struct{ Line, Column uint32 }

// Before reports whether p stands before q.
func (p Place) Before(q Place) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Column < q.Column
}

// Function is a function of a source text: from its parameters to the end of its body.
type Function struct {
	From, To Place
	Parent   int32
	Name     string
	// Unknown: code that is in no function with a name of its own, as the fields of a class.
	Unknown bool
	// Token is where the name stands, its column 1<<32-1 for nowhere.
	Token Place
}

// List is the functions of a source, in the order of their beginnings.
type List struct {
	Functions []Function
	Known     bool
}

// Size is about the memory that the functions take, in bytes.
func (l *List) Size() int64 {
	n := int64(len(l.Functions)) * 72
	for i := range l.Functions {
		n += int64(len(l.Functions[i].Name))
	}
	return n
}

// maxParents bounds the search outwards.
const maxParents = 1 << 12

// Find returns the innermost function around a place; nil for none.
func (l *List) Find(p Place) *Function {
	i := int32(sort.Search(len(l.Functions), func(i int) bool { return p.Before(l.Functions[i].From) })) - 1
	for range maxParents {
		if i < 0 {
			return nil
		}
		if f := &l.Functions[i]; p.Before(f.To) {
			return f
		}
		i = l.Functions[i].Parent
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

// newList makes the list of functions that are in the order of their beginnings.
func newList(text []byte, spans []span) *List {
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
	l := &List{Functions: make([]Function, len(spans)), Known: true}
	var open []int32
	for i, s := range spans {
		for len(open) > 0 && spans[open[len(open)-1]].to <= s.from {
			open = open[:len(open)-1]
		}
		f := Function{From: at[s.from], To: at[s.to], Parent: -1, Name: s.name, Unknown: s.unknown, Token: Place{Column: 1<<32 - 1}}
		if s.token >= 0 {
			f.Token = at[s.token]
		}
		if len(open) > 0 {
			f.Parent = open[len(open)-1]
		}
		l.Functions[i] = f
		open = append(open, int32(i))
	}
	return l
}

// places returns the lines and columns of bytes of a text.
func places(text []byte, offsets []int) map[int]Place {
	sort.Ints(offsets)
	at := make(map[int]Place, len(offsets))
	var p Place
	pos := 0
	for _, o := range offsets {
		for pos < o && pos < len(text) {
			if _, width := Newline(text[pos:]); width > 0 {
				pos += width
				p = Place{Line: p.Line + 1}
				continue
			}
			if text[pos] < utf8.RuneSelf {
				pos++
				p.Column++
				continue
			}
			r, size := utf8.DecodeRune(text[pos:])
			pos += size
			p.Column++
			if r > 0xffff {
				p.Column++
			}
		}
		at[o] = p
	}
	return at
}
