package intent

import "strings"

// bases returns the forms that an inflected word can come from, the likeliest first,
// without the word itself.
func bases(w, lang string) []string {
	if lang == "de" {
		return germanBases(w)
	}
	var out []string
	add := func(b string) {
		if len(b) > 1 {
			out = append(out, b)
		}
	}
	switch {
	case strings.HasSuffix(w, "ies"), strings.HasSuffix(w, "ied"):
		add(w[:len(w)-3] + "y")
	case strings.HasSuffix(w, "es"):
		add(w[:len(w)-1])
		add(w[:len(w)-2])
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		add(w[:len(w)-1])
	case strings.HasSuffix(w, "ing") && len(w) > 4:
		stem := w[:len(w)-3]
		add(stem)
		add(stem + "e")
		add(undouble(stem))
	case strings.HasSuffix(w, "ed") && len(w) > 3:
		add(w[:len(w)-2])
		add(w[:len(w)-1])
		add(undouble(w[:len(w)-2]))
	}
	return out
}

func undouble(w string) string {
	if n := len(w); n > 2 && w[n-1] == w[n-2] {
		return w[:n-1]
	}
	return ""
}

// germanBases returns the infinitives that a form of a verb can come from: "klicke",
// "klickt" and "geklickt" are from "klicken".
func germanBases(w string) []string {
	out := []string{w + "n", w + "en"}
	if stem, ok := strings.CutSuffix(w, "le"); ok {
		out = append(out, stem+"eln")
	}
	if stem, ok := strings.CutSuffix(w, "re"); ok {
		out = append(out, stem+"rn", stem+"ern")
	}
	for _, suffix := range []string{"et", "est", "st", "t"} {
		if stem, ok := strings.CutSuffix(w, suffix); ok && len(stem) > 2 {
			out = append(out, stem+"en", stem+"n")
		}
	}
	if stem, ok := strings.CutPrefix(w, "ge"); ok && len(stem) > 3 {
		out = append(out, strings.TrimSuffix(stem, "t")+"en", stem)
	}
	if before, after, ok := strings.Cut(w, "zu"); ok && len(before) > 1 && len(after) > 2 {
		out = append(out, before+after)
	}
	return out
}
