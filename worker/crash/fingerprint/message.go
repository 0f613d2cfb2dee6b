package fingerprint

import "strings"

// maxMessage bounds the part of an error message that is read. Longer messages
// contain dumps.
const maxMessage = 2048

// normalizeMessage replaces what varies between two occurrences of one error:
//
//	Order 4711 of bob@example.org not in '/var/db/x.sqlite'
//	Order <num> of <mail> not in <str>
//
// Words are judged whole where they can be (URL, mail address, UUID, path,
// date), then by their runs of digits.
func normalizeMessage(s string) string {
	s = oneLine(s, maxMessage)
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		c := s[i]
		if end := quotedText(s, i); end > 0 {
			out = append(out, "<str>"...)
			i = end
			continue
		}
		if isMessageSeparator(c) {
			out = append(out, c)
			i++
			continue
		}
		j := i
		for j < len(s) && !isMessageSeparator(s[j]) && (j == i || quotedText(s, j) == 0) {
			j++
		}
		if isURL(s[i:j]) {
			// A query contains characters that separate other words.
			for j < len(s) && !strings.ContainsRune(" '\"`)]}<>,|", rune(s[j])) {
				j++
			}
		}
		out = appendMessageWord(out, s[i:j])
		i = j
	}
	return truncate(collapseNumbers(string(out)), maxText)
}

func isMessageSeparator(c byte) bool {
	switch c {
	case ' ', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '=', '|':
		return true
	}
	return false
}

// quotedText returns the position after a quoted text that begins at i, or 0.
// A quote after a letter is an apostrophe, and so is one before it.
func quotedText(s string, i int) int {
	const longest = 256 // a quote that stays open must not swallow the message
	end := ""
	switch s[i] {
	case '\'', '"', '`':
		end = s[i : i+1]
	case 0xE2:
		if strings.HasPrefix(s[i:], "“") {
			end = "”"
		} else if strings.HasPrefix(s[i:], "‘") {
			end = "’"
		}
	case 0xC2:
		if strings.HasPrefix(s[i:], "«") {
			end = "»"
		}
	}
	if end == "" || i > 0 && isIdent(s[i-1]) && s[i-1] < 0x80 {
		return 0
	}
	from := i + 1
	for from < len(s) && s[from]&0xC0 == 0x80 {
		from++
	}
	window := s[from:min(len(s), from+longest)]
	for k := 0; k < len(window); {
		p := strings.Index(window[k:], end)
		if p < 0 && end == "`" {
			// `name' is the quotation of older compilers and shells.
			p = strings.Index(window[k:], "'")
		}
		if p < 0 {
			return 0
		}
		after := from + k + p + len(end)
		if len(end) > 1 || after >= len(s) || !isIdent(s[after]) {
			return after
		}
		k += p + 1
	}
	return 0
}

// appendMessageWord appends a word, or the kind of thing that it is, and the
// punctuation after it.
func appendMessageWord(out []byte, w string) []byte {
	core := strings.TrimRight(w, ".,:!?")
	tail := w[len(core):]
	kind := ""
	switch {
	case isURL(core):
		kind = "<url>"
	case isMail(core):
		kind = "<mail>"
	case isUUID(core):
		kind = "<uuid>"
	case isDate(core):
		kind = "<date>"
	case isPath(core):
		kind = "<path>"
	}
	if kind != "" {
		return append(append(out, kind...), tail...)
	}
	for i := 0; i < len(w); {
		j := i
		for j < len(w) && (isLetter(w[j]) || isDigit(w[j])) {
			j++
		}
		if j == i {
			out = append(out, w[i])
			i++
			continue
		}
		out = appendAlphanumeric(out, w[i:j])
		i = j
	}
	return out
}

// appendAlphanumeric appends letters as they are and digits as <num>; a whole
// word of hexadecimal digits is <hex>.
func appendAlphanumeric(out []byte, w string) []byte {
	if hex, ok := strings.CutPrefix(w, "0x"); ok && allHex(hex) || len(w) >= 7 && allHex(w) && strings.ContainsAny(w, "0123456789") && !allDigits(w) {
		return append(out, "<hex>"...)
	}
	for i := 0; i < len(w); {
		if n := countDigits(w[i:]); n > 0 {
			out = append(out, "<num>"...)
			i += n
			continue
		}
		out = append(out, w[i])
		i++
	}
	return out
}

// collapseNumbers joins the parts of a number that was written with a sign, a
// point or a version's dots.
func collapseNumbers(s string) string {
	for range 4 {
		before := s
		s = strings.ReplaceAll(s, "<num>.<num>", "<num>")
		if s == before {
			break
		}
	}
	s = strings.ReplaceAll(s, " -<num>", " <num>")
	return s
}

func isURL(w string) bool {
	i := strings.Index(w, "://")
	return i >= 2 && isPlainWord(strings.NewReplacer("+", "", "-", "").Replace(w[:i]))
}

func isMail(w string) bool {
	i := strings.IndexByte(w, '@')
	return i > 0 && i < len(w)-3 && strings.IndexByte(w[i:], '.') > 1 && !strings.ContainsAny(w, `/\:`)
}

func isUUID(w string) bool {
	if len(w) != 36 {
		return false
	}
	for i := 0; i < len(w); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if w[i] != '-' {
				return false
			}
		} else if !isHex(w[i]) {
			return false
		}
	}
	return true
}

// isDate reports whether w is a date or a time of day: digits with at least two of
// the same separator (2026-11-20, 20.11.2026, 10:20:03.5Z), or a date, T and a
// time.
func isDate(w string) bool {
	if date, clock, ok := strings.Cut(w, "T"); ok {
		return isDate(date) && strings.Count(clock, ":") >= 1
	}
	n := countDigits(w)
	if n == 0 || n > 4 || n >= len(w) {
		return false
	}
	sep := w[n]
	if sep != '-' && sep != '/' && sep != ':' {
		return false
	}
	parts := 0
	for {
		k := countDigits(w)
		if k == 0 || k > 4 {
			return false
		}
		parts++
		w = w[k:]
		if w == "" || w[0] != sep {
			break
		}
		w = w[1:]
	}
	return parts == 3 && (w == "" || w == "Z" || w[0] == '.' || w[0] == ',' || w[0] == '+')
}

// isPath reports whether w is a path: absolute, relative with a dot, of a home
// folder, or of Windows. A word with a slash in it ("read/write") is not.
func isPath(w string) bool {
	if hasPrefixAny(w, "./", "../", "~/", `\\`, "file:/") {
		return true
	}
	if len(w) > 2 && isLetter(w[0]) && w[1] == ':' && (w[2] == '\\' || w[2] == '/') {
		return true
	}
	return len(w) > 1 && w[0] == '/' && w[1] != '/' || strings.Count(w, "/") >= 3 || strings.Count(w, `\`) >= 2
}
