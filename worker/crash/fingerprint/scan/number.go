package scan

import (
	"strconv"
	"strings"
)

// Address reads a number of at most 64 bits: hexadecimal with 0x, or
// decimal, or, when it contains a letter, hexadecimal.
func Address(s string) (uint64, bool) {
	s = strings.TrimSpace(s)
	if hex, ok := strings.CutPrefix(strings.ToLower(Truncate(s, 32)), "0x"); ok {
		v, err := strconv.ParseUint(hex, 16, 64)
		return v, err == nil
	}
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return v, true
	}
	v, err := strconv.ParseUint(s, 16, 64)
	return v, err == nil
}

// Hex writes a number in hexadecimal, without 0x.
func Hex(v uint64) string { return strconv.FormatUint(v, 16) }
