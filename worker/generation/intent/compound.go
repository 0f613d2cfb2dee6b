package intent

import "strings"

// compounds splits the words that have a name and a kind of element in them: the
// "Delete-button", „Löschen"-Knopf, "Namensfeld".
func (l *lexicon) compounds(s span) span {
	var out span
	for i, t := range s {
		if t.kind != word || len(t.text) > 60 || l.nouns.codes[t.low] != "" || l.verbs.codes[t.low] != "" {
			out = append(out, t)
			continue
		}
		at := strings.LastIndexByte(t.text, '-')
		if at < 0 {
			at = l.suffix(t) - 1
			if at < 0 {
				out = append(out, t)
				continue
			}
			name := t.cut(0, at+1)
			if stem := name.low; strings.HasSuffix(stem, "ns") || strings.HasSuffix(stem, "gs") || strings.HasSuffix(stem, "ts") {
				name = t.cut(0, at) // the sound between the two words
			}
			out = append(out, name, t.cut(at+1, len(t.text)))
			continue
		}
		if l.nouns.codes[strings.ToLower(t.text[at+1:])] == "" || at == 0 && (i == 0 || !t.glued) {
			out = append(out, t)
			continue
		}
		if at > 0 {
			out = append(out, t.cut(0, at))
		}
		out = append(out, t.cut(at+1, len(t.text)))
	}
	return out
}

// cut returns a part of a word.
func (t token) cut(from, to int) token {
	part := t
	part.text, part.start, part.end = t.text[from:to], t.start+from, t.start+to
	part.low = strings.ToLower(part.text)
	if from > 0 {
		part.line, part.blank, part.begins, part.glued = false, false, false, false
	}
	return part
}

// suffix returns where a kind of element begins in a compound without a hyphen, and 0
// where there is none. Only languages that write compounds as one word have endings.
func (l *lexicon) suffix(t token) int {
	if !t.capital() {
		return 0
	}
	for _, e := range l.endings {
		if stem, ok := strings.CutSuffix(t.low, e); ok && len(stem) > 2 && len(t.low) == len(t.text) {
			return len(stem)
		}
	}
	return 0
}
