package intent

import "strings"

func (a *act) press(s span) []Reading {
	for i := 1; i+1 < len(s); i++ {
		// "press Escape to close the dialog"
		if _, ok := a.keyList(s[:i]); ok && (s[i].is("to") || s[i].is("um")) {
			s = s[:i]
			break
		}
	}
	rest, target := s, (*Phrase)(nil)
	if i, n := a.joint(s, true, "in", "into"); i > 0 {
		if _, ok := a.keyList(s[:i]); ok {
			rest, target = s[:i], a.phrase(s[i+n:])
		}
	}
	if keys, ok := a.keyList(rest); ok {
		var out []Instruction
		for _, k := range keys {
			out = append(out, Instruction{Kind: Press, Key: k, Target: target})
		}
		readings := []Reading{{out, 0.9}}
		if len(keys) == 1 && target == nil && !strings.Contains(keys[0], "+") && !s[0].is("enter") && !s[0].is("escape") && !s[0].is("esc") {
			// "press Delete" and "press Home" can be buttons.
			readings[0].Prior = 0.5
			readings = append(readings, Reading{[]Instruction{{Kind: Click, Target: a.phrase(rest)}}, 0.45})
		}
		return readings
	}
	return a.click(s)
}

func (r *segmentReader) keyList(s span) ([]string, bool) {
	if len(s) == 0 || s.hasQuoted() && len(s) > 1 && !r.nouns.has(s[len(s)-1:]) {
		return nil, false
	}
	var out []string
	for _, item := range r.list(s) {
		said := false
		if _, n := r.articles.match(item); n > 0 && n < len(item) {
			item = item[n:]
		}
		if last := item[len(item)-1]; len(item) > 1 && (last.is("key") || last.is("keys") || last.is("taste")) {
			item, said = item[:len(item)-1], true
		}
		key, ok := r.key(item, said)
		if !ok {
			return nil, false
		}
		out = append(out, key)
	}
	return out, len(out) > 0
}

func (r *segmentReader) key(s span, said bool) (string, bool) {
	if len(s) == 0 {
		return "", false
	}
	if code, n := r.keys.match(s); n == len(s) {
		return code, true
	}
	text := strings.ToLower(s.value(r.src))
	if len(s) > 3 {
		return "", false
	}
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == '+' || c == '-' || c == ' ' })
	if len(parts) < 2 && !said {
		return "", false
	}
	var out []string
	for i, p := range parts {
		code := r.keys.codes[p]
		if code == "" {
			if i+1 < len(parts) || len([]rune(p)) != 1 {
				return "", false
			}
			code = p
		}
		out = append(out, code)
	}
	if len(out) > 1 {
		switch out[0] {
		case "Control", "Shift", "Alt", "Meta":
		default:
			return "", false
		}
	}
	return strings.Join(out, "+"), len(out) > 0
}
