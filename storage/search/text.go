package search

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// text is what was typed, and what it may be.
type text struct {
	typed  string
	part   string // pattern of LIKE for any part
	begins string // pattern of LIKE for the beginning
	short  bool   // no trigram: only ids and beginnings are looked for
	number int64  // an id by number; 0: none
	// hex are the digits of a uuid, a fingerprint or the id of a test case, or of their
	// beginning, in lower case; "": it is none.
	hex string
}

const (
	// shortText is the number of characters below which a text has no trigram.
	shortText = 3
	// leastDigits are the hexadecimal digits that begin an id: fewer are words like "add",
	// and begin too many.
	leastDigits = 8
	// timeDigits are the digits of the time in a uuid of version 7, in milliseconds: what
	// begins so is of one instant, whosever it is.
	timeDigits = 12
	uuidDigits = 32
	keyDigits  = 64
	caseDigits = 24
	// maxNumber is the most digits of an id by number.
	maxNumber = 18
)

func parse(typed string) text {
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(typed)
	t := text{typed: typed, part: "%" + escaped + "%", begins: escaped + "%"}
	word := strings.ContainsFunc(typed, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	t.short = utf8.RuneCountInString(typed) < shortText || !word
	if n, err := strconv.ParseInt(typed, 10, 64); err == nil && len(typed) <= maxNumber && n > 0 {
		t.number = n
	}
	digits := strings.ToLower(strings.ReplaceAll(typed, "-", ""))
	if len(digits) >= leastDigits && len(digits) <= keyDigits && strings.Trim(digits, "0123456789abcdef") == "" {
		t.hex = digits
	}
	return t
}

// pattern is that of the beginning for a short text, and of any part for another.
func (t text) pattern() string {
	if t.short {
		return t.begins
	}
	return t.part
}

// uuids returns the first and last uuid that the text begins, where it has so many digits.
func (t text) uuids(least int) (first, last uuid.UUID, ok bool) {
	if len(t.hex) < least || len(t.hex) > uuidDigits {
		return first, last, false
	}
	a, b := span(t.hex, uuidDigits)
	copy(first[:], a)
	copy(last[:], b)
	return first, last, true
}

// span returns the first and last bytes of so many digits that begin with these.
func span(digits string, most int) (first, last []byte) {
	first, _ = hex.DecodeString(digits + strings.Repeat("0", most-len(digits))) // digits only
	last, _ = hex.DecodeString(digits + strings.Repeat("f", most-len(digits)))
	return first, last
}
