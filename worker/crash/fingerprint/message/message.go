// Package message normalizes the messages of errors: what changes between two occurrences of one
// bug (numbers, ids, paths, hosts, dates, quoted values) becomes a word for its kind.
//
// Codes that tell errors apart stay, such as those of HTTP, of the system and of databases, and so
// do names of the program in quotes. What engines of JavaScript and runtimes word differently gets
// one text. A message is read up to Max bytes, once, from left to right.
package message

import (
	"bytes"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// Max bounds the part of an error message that is read. Longer messages
// contain dumps.
const Max = 2048

// Normalize replaces what varies between two occurrences of one error:
//
//	Order 4711 of bob@example.org not in '/var/db/x.sqlite' after 12 ms
//	Order <num> of <mail> not in <str> after <num>
//
// Words are judged whole where they can be (URL, mail address, UUID, path, host,
// token, date), then by their runs of digits. Error codes stay, and so do quoted
// texts that are names in the program.
func Normalize(s string) string { return NormalizeText(s, "") }

// NormalizeText is Normalize for the message of an error whose class is
// known.
func NormalizeText(s, class string) string {
	s = strings.TrimRight(scan.OneLine(s, Max), ".!")
	web := isWebMessage(s)
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); {
		c := s[i]
		if end := quotedText(s, i); end > 0 {
			out = appendQuoted(out, s, i, end, class)
			i = end
			continue
		}
		if end := termIdentifier(s, i); end > 0 {
			out = append(out, "<num>"...)
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
			for j < len(s) && (!strings.ContainsRune(" '\"`)]}<>,|", rune(s[j])) || s[j] == ']' && s[j-1] == '[') {
				j++ // the empty brackets are a list's: args[]=
			}
		}
		out = appendMessageWord(out, s[i:j], s[max(0, i-64):i], s[j:], web)
		i = j
	}
	return scan.Truncate(joinKinds(string(out)), naming.MaxText)
}

func isMessageSeparator(c byte) bool {
	switch c {
	case ' ', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '=', '|':
		return true
	}
	return false
}

// termIdentifier returns the position after the brackets at i with which Erlang and Elixir write a
// process, a reference or a port (#Reference<0.3283091.1992.5>, <0.123.0>), or 0: numbers and dots,
// never the address of a host.
func termIdentifier(s string, i int) int {
	if s[i] != '<' {
		return 0
	}
	end := i + 1
	dots := 0
	for end < len(s) && (scan.IsDigit(s[end]) || s[end] == '.') {
		if s[end] == '.' {
			dots++
		}
		end++
	}
	if dots == 0 || end == len(s) || s[end] != '>' {
		return 0
	}
	return end + 1
}

// appendQuoted appends the quoted text s[i:end], which is a name or <str>.
func appendQuoted(out []byte, s string, i, end int, class string) []byte {
	inner := strings.Trim(s[i:end], "'\"`“”‘’«» ")
	if isQuotedName(inner, s[max(0, i-64):i], s[end:], class) {
		return append(append(append(out, '\''), inner...), '\'')
	}
	return append(out, "<str>"...)
}

// appendMessageWord appends a word, or the kind of thing that it is, and the
// punctuation after it. before and after are what surrounds it.
func appendMessageWord(out []byte, w, before, after string, web bool) []byte {
	core := strings.TrimRight(w, ".,:!?")
	tail := w[len(core):]
	kind := wordKind(core, before, after)
	switch {
	case kind != "":
	case strings.ContainsAny(core, "0123456789") && isCode(core, before, tail+after, web):
		if kind = core; scan.HasPrefixAny(core, "0x", "0X") {
			kind = strings.ToLower(core)
		}
	case isUnit(core) && endsInNumber(out):
		return append(bytes.TrimRight(out, " "), tail...)
	case len(core) > 3 && isPlural(core) && endsInNumber(out):
		return append(append(out, core[:len(core)-1]...), tail...)
	}
	if kind != "" {
		return append(append(out, kind...), tail...)
	}
	for i := 0; i < len(w); {
		j := i
		for j < len(w) && (scan.IsLetter(w[j]) || scan.IsDigit(w[j])) {
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

// wordKind returns what kind of thing a word is, "" for a word.
func wordKind(w, before, after string) string {
	switch {
	case isURL(w):
		return "<url>"
	case isMail(w):
		return "<mail>"
	case isUUID(w):
		return "<uuid>"
	case isDate(w):
		return "<date>"
	case isHost(w):
		return "<host>"
	case isVersion(w):
		return "<num>"
	case isPath(w):
		return "<path>"
	case isToken(w):
		return "<token>"
	case w != "" && w[0] >= 'A' && w[0] <= 'Z' && (isWeekday(w) || isMonth(w) && w != "May" && w != "March" && w != "Mar"):
		return "<date>"
	case isMonth(w) && (endsInNumber([]byte(before)) || scan.CountDigits(strings.TrimLeft(after, " ")) > 0):
		return "<date>"
	}
	if scan.IsOneOf(previousWord(before), "host", "hostname", "enotfound", "eai_again", "econnrefused") && len(w) > 2 &&
		!scan.IsOneOf(w, "not", "unreachable", "name", "could", "cannot", "was", "has", "did", "key", "for", "and", "found",
			"lookup", "verification", "unknown", "resolution") {
		return "<host>"
	}
	return ""
}

// isPlural reports whether a word can be the plural of what a number counts.
func isPlural(w string) bool {
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return w[len(w)-1] == 's' && w[len(w)-2] != 's'
}

// endsInNumber reports whether a text ends in a number, as submitted or replaced,
// with or without a blank after it.
func endsInNumber(out []byte) bool {
	s := strings.TrimSuffix(string(out[max(0, len(out)-8):]), " ")
	return strings.HasSuffix(s, "<num>") || s != "" && scan.IsDigit(s[len(s)-1])
}

// appendAlphanumeric appends letters as they are and digits as <num>, with the
// unit that may follow; a whole word of hexadecimal digits, or an
// id in which letters and digits alternate, is <hex>.
func appendAlphanumeric(out []byte, w string) []byte {
	if hex, ok := strings.CutPrefix(w, "0x"); ok && scan.AllHex(hex) || len(w) >= 7 && scan.AllHex(w) &&
		strings.ContainsAny(w, "0123456789") && !scan.AllDigits(w) {
		return append(out, "<hex>"...)
	}
	if isDuration(w) {
		return append(out, "<num>"...)
	}
	if isIdentifier(w) {
		return append(out, "<hex>"...)
	}
	for i := 0; i < len(w); {
		if n := scan.CountDigits(w[i:]); n > 0 {
			out = append(out, "<num>"...)
			i += n
			continue
		}
		out = append(out, w[i])
		i++
	}
	return out
}

// isDuration reports whether w is numbers with units: 12ms, 1h30m, 64KB.
func isDuration(w string) bool {
	for w != "" {
		n := scan.CountDigits(w)
		if n == 0 {
			return false
		}
		w = w[n:]
		k := 0
		for k < len(w) && !scan.IsDigit(w[k]) {
			k++
		}
		if k == 0 || !isUnit(w[:k]) {
			return false
		}
		w = w[k:]
	}
	return true
}

// joinKinds joins the parts of a number that was written with a sign, a point or a
// version's dots, of a list of numbers, and of a date that was written in words.
func joinKinds(s string) string {
	for range 8 {
		before := s
		for _, r := range [...][2]string{
			{"[<host>]:<num>", "<host>"}, {"[<host>]", "<host>"}, {"<num>.<num>", "<num>"}, {"<num>,<num>", "<num>"},
			{"<num>, <num>", "<num>"}, {"<num> <num>", "<num>"}, {"<num>%", "<num>"}, {"<num>x<num>", "<num>"}, {"<str>, <str>", "<str>"},
			{"<date> <date>", "<date>"}, {"<date>, <date>", "<date>"}, {"<date> <num>:<num>", "<date>"}, {"<date> <num>", "<date>"},
			{"<date>, <num>", "<date>"}, {"<num> <date>", "<date>"}, {"<num>. <date>", "<date>"}, {"<date> at <date>", "<date>"},
			{"<date> AM", "<date>"}, {"<date> PM", "<date>"}, {"<date> UTC", "<date>"}, {"<date> GMT", "<date>"},
			{"<date> CET", "<date>"}, {"<date> +<num>", "<date>"}, {"<date>+<num>", "<date>"},
		} {
			s = strings.ReplaceAll(s, r[0], r[1])
		}
		if s == before {
			break
		}
	}
	for _, p := range [...]string{" ", "(", "=", "["} {
		s = strings.ReplaceAll(s, p+"-<num>", p+"<num>")
	}
	if rest, ok := strings.CutPrefix(s, "-<num>"); ok {
		s = "<num>" + rest
	}
	return s
}

// FirstLine returns the first line of s that is not blank, trimmed. It looks
// no further than Max bytes.
func FirstLine(s string) string {
	s = scan.Truncate(s, Max)
	for s != "" {
		line := s
		if i := strings.IndexAny(s, "\r\n"); i >= 0 {
			line, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
