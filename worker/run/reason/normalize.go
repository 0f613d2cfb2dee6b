package reason

import (
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// maxNormalized bounds what is looked at of a text, in characters.
const maxNormalized = 2000

// Normalize returns a message without what differs between failures of one cause: numbers and ids
// become #, and quoted texts "…". Its time is linear.
func Normalize(text string) string {
	var out strings.Builder
	rest := strings.Join(strings.Fields(storage.Cut(strings.ToValidUTF8(text, ""), maxNormalized)), " ")
	for {
		at := strings.IndexByte(rest, '"')
		if at < 0 {
			break
		}
		end := strings.IndexByte(rest[at+1:], '"')
		if end < 0 {
			break
		}
		out.WriteString(numbersOut(rest[:at]))
		out.WriteString(`"…"`)
		rest = rest[at+end+2:]
	}
	out.WriteString(numbersOut(rest))
	return out.String()
}

// ConsoleForm is how an error of the console is compared with those of another run.
func ConsoleForm(line string) string { return storage.Cut(Normalize(line), 200) }

// PathPattern returns the path of an address whose ids are {id}: parts with a digit that are
// numbers, UUIDs, hashes or mixtures of both. A version (v1) and a name with a number at its end (step2) stay.
func PathPattern(path string) string {
	parts := strings.Split(storage.Cut(strings.ToValidUTF8(path, ""), 500), "/")
	for i, part := range parts {
		if isID(part) {
			parts[i] = "{id}"
		}
	}
	pattern := strings.Join(parts, "/")
	if !strings.HasPrefix(pattern, "/") {
		pattern = "/" + pattern
	}
	return storage.Cut(pattern, 200)
}

func isID(part string) bool {
	digits, letters, hex, turns := 0, 0, true, 0
	last := byte(0)
	for i := range len(part) {
		c := part[i]
		kind := byte('x')
		switch {
		case c >= '0' && c <= '9':
			digits++
			kind = '0'
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
			kind = 'a'
			hex = hex && (c <= 'F' || c >= 'a' && c <= 'f')
		case c == '-' || c == '_':
		default:
			hex = false
		}
		if kind != last && last != 0 {
			turns++
		}
		last = kind
	}
	switch {
	case digits == 0:
		return false
	case letters == 0:
		return true
	case hex && len(part) >= 8:
		return true
	}
	return len(part) >= 12 && digits >= 3 && turns >= 4
}

// numbersOut replaces words that have a digit in them by #.
func numbersOut(text string) string {
	var out strings.Builder
	begin := 0 // of the word
	digit := false
	flush := func(end int) {
		if digit {
			out.WriteByte('#')
		} else {
			out.WriteString(text[begin:end])
		}
		digit = false
	}
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digit = true
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r > 127:
		default:
			flush(i)
			out.WriteRune(r)
			begin = i + len(string(r))
		}
	}
	flush(len(text))
	return out.String()
}
