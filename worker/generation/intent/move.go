package intent

import (
	"strconv"
	"strings"
)

// readScroll reads "scroll down", "scroll to the footer", "scroll the list to the bottom".
func readScroll(a *act, s span) []Reading {
	in := Instruction{Kind: Scroll}
	verb := strings.Fields(a.verb)
	said := verb[len(verb)-1]
	if said == "down" || said == "up" {
		in.Direction = said
	}
	for i := range s {
		code, n := a.directions.match(s[i:])
		if n == 0 || s[i].kind != word {
			continue
		}
		rest := s[:i].trim()
		if len(rest) == 0 {
			rest = s[i+n:].trim()
		}
		for len(rest) > 0 && (rest[0].is("of") || rest[0].is("in") || rest[0].is("within") || rest[0].is("von") || rest[0].is("on")) {
			rest = rest[1:]
		}
		for len(rest) > 0 && rest[len(rest)-1].is("to") {
			rest = rest[:len(rest)-1]
		}
		in.Direction = code
		if len(rest) > 0 && !(rest[0].is("until") || rest[0].is("bis")) {
			p := a.phrase(rest)
			if first(p.Roles) != "page" && p.Text != "" {
				in.Target = p
			}
		}
		return single(in)
	}
	if said == "to" && len(s) > 0 {
		p := a.phrase(s)
		return single(Instruction{Kind: Find, Target: p})
	}
	for len(s) > 0 && (s[0].is("to") || s[0].is("zu") || s[0].is("zum") || s[0].is("zur") || s[0].is("until") || s[0].is("till") || s[0].is("bis") || s[0].is("down") || s[0].is("up")) {
		s = s[1:]
		if len(s) > 0 && (s[0].is("you") || s[0].is("i")) {
			s = s[1:]
		}
		if !(len(s) > 0 && (s[0].is("to") || s[0].is("zu"))) {
			break
		}
	}
	if len(s) == 0 {
		if in.Direction == "" {
			in.Direction = "down"
		}
		return single(in)
	}
	if asserted, ok := a.assertion(s); ok && a.statement(s) > 0 && asserted.Property == IsVisible && asserted.Subject != nil {
		return single(Instruction{Kind: Find, Target: asserted.Subject})
	}
	if p := a.phrase(s); first(p.Roles) != "page" {
		return single(Instruction{Kind: Find, Target: p})
	}
	if in.Direction == "" {
		in.Direction = "down"
	}
	return single(in)
}

// readDrag reads "drag A onto B", "move A above B", "move A to the top".
func readDrag(a *act, s span) []Reading {
	in := Instruction{Kind: Drag}
	s = a.result(s)
	for i := 1; i < len(s); i++ {
		if s[i].kind != word {
			continue
		}
		if place, n, rest := a.placeAt(s[i:]); n > 0 {
			in.Place = place
			in.Target = a.phrase(s[:i].trim())
			switch {
			case place == At:
				f := float64(rest)
				in.Values = []Value{{Text: strconv.Itoa(rest), Number: &f}}
				if tail := s[i+n:].trim(); len(tail) > 1 {
					in.To = a.phrase(tail[1:])
				}
			case i+n < len(s):
				if s = s[i+n:]; len(s) > 1 && s[0].is("of") {
					s = s[1:]
				}
				in.To = a.phrase(s)
			}
			return single(in)
		}
	}
	if i, n := a.joint(s, true, "to"); i > 0 && strings.Contains(strings.Join(a.phrase(s[:i]).Roles, " "), "slider") {
		if v := a.value(s[i+n:]); v.Number != nil {
			return single(Instruction{Kind: Adjust, Target: a.phrase(s[:i]), Values: []Value{v}})
		}
	}
	if i, n := a.joint(s, true, "into", "to", "in"); i > 0 {
		for k := i + n; k < len(s); k++ { // "drag the numbers into increasing order"
			if code, _ := a.predicates.match(s[k:]); code == "ascending" || code == "descending" {
				return single(Instruction{Kind: Sort, Target: a.phrase(s[:i].trim()), Order: code})
			}
		}
		in.Target, in.To = a.phrase(s[:i].trim()), a.phrase(s[i+n:])
		return single(in)
	}
	if a.code == "move" || len(s) == 0 {
		return nil
	}
	for i := 1; i < len(s); i++ {
		if code, n := a.directions.match(s[i:]); n > 0 && i+n == len(s) {
			in.Target, in.Direction = a.phrase(s[:i]), code
			return single(in)
		}
	}
	return nil
}

// result turns "drag A so that it is inside B" into "drag A inside B".
func (r *statementReader) result(s span) span {
	for i := 1; i+3 < len(s); i++ {
		if !s[i].is("so") || !s[i+1].is("that") {
			continue
		}
		for j := i + 2; j+1 < len(s); j++ {
			if r.relations.has(s[j:]) || r.directions.has(s[j:]) {
				return append(append(span{}, s[:i]...), s[j:]...)
			}
		}
		return s[:i]
	}
	return s
}
