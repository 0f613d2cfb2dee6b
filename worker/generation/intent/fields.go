package intent

import "slices"

// filled is one of several values with the field that it belongs to.
type filled struct {
	text, value, field span
}

// maxEntries bounds the values of one instruction.
const maxEntries = 40

// entries reads several values, each with its field: "A as the name, B as the street and
// C as the town". Without at least two of them there are none: one value may have any
// word in it. A list within a value ("12 Main Street, Springfield as the address") stays
// together, and "x as password and as repeat password" has one value twice.
func (r *valueReader) entries(s span, codes ...string) []filled {
	items := r.list(s)
	if len(items) < 2 || len(items) > maxEntries {
		return nil
	}
	var out []filled
	var open span // what belongs to the value of the next item
	for _, item := range items {
		at, n := entryJoint(r, item, codes)
		switch {
		case n == 0:
			if len(open) == 0 {
				open = item
			}
			continue
		case at == 0 && len(open) == 0 && len(out) > 0 && partAt(r, item[n:]) == 0:
			out = append(out, filled{item, out[len(out)-1].value, item[n:].trim()})
			continue
		case at == 0 && len(open) == 0:
			i := partAt(r, item[n:])
			if i <= 0 {
				return nil
			}
			out = append(out, filled{item, item[n+i:].trim(), item[n : n+i].trim()})
			continue
		}
		whole, value := item, item[:at]
		if len(open) > 0 {
			if open.hasQuoted() || value.hasQuoted() {
				return nil
			}
			begin := index(s, open)
			whole, value = s[begin:indexEnd(s, item)], s[begin:index(s, item)+at]
			open = nil
		}
		out = append(out, filled{whole, value.trim(), item[at+n:].trim()})
	}
	if len(open) > 0 || len(out) < 2 {
		return nil
	}
	return out
}

// entryJoint finds what stands between a value and its field: behind a quoted value the
// first one, else the last.
func entryJoint(r *valueReader, s span, codes []string) (at, length int) {
	for i := 0; i+1 < len(s); i++ {
		code, n := r.joints.match(s[i:])
		if n == 0 || i+n >= len(s) || s[i].kind != word || !slices.Contains(codes, code) {
			continue
		}
		if length > 0 && (s[:at].hasQuoted() || at == 0 || r.fieldNoun(s[at+length:i])) {
			break
		}
		at, length = i, n
		i += n - 1
	}
	return at, length
}

// partAt returns where the value begins that follows a field: "als Beginn | den 1. März".
func partAt(r *valueReader, s span) int {
	for i := 1; i < len(s); i++ {
		if s[i].kind == quoted || s[i].kind == variable || r.date(s[i:]) != nil {
			return i
		}
		if _, n := r.articles.match(s[i:]); n > 0 && i+n < len(s) && r.date(s[i+n:]) != nil {
			return i
		}
	}
	return 0
}

// filledEntries are the instructions that fill several fields.
func (a *act) filledEntries(kind Kind, s span) []Reading {
	for _, codes := range [][]string{{"into", "in"}, {"as"}, {"into", "in", "as", "for"}} {
		list := a.entries(s, codes...)
		if list == nil {
			continue
		}
		var out []Instruction
		for _, e := range list {
			v, _ := a.valueOf(e.value)
			field := a.fieldPhrase(e.field)
			if field == nil || len(e.value) == 0 {
				return nil
			}
			out = append(out, Instruction{Kind: kind, Text: e.text.text(a.src), Values: []Value{v}, Target: field})
		}
		return []Reading{{out, 0.9}}
	}
	return nil
}
