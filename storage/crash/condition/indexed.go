package condition

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The longest key and value of an attribute, in bytes, that are indexed as they
// are. Real clients stay far below.
const (
	MaxAttributeKey   = 255
	MaxAttributeValue = 4096
)

// IndexedKey and IndexedValue return the form in which a key and the text of a
// value stand in the searchable attributes of a crash. The worker writes them
// and Attribute searches for them, so a search and a purge select exactly the
// whole value and never one that merely begins like it.
//
// Longer text is cut and followed by "…#" and the SHA-256 of the whole in
// hexadecimal digits. That is longer than any text that is not cut, so the two
// cannot be taken for each other.
func IndexedKey(key string) string { return indexed(key, MaxAttributeKey) }

// IndexedValue is to values what IndexedKey is to keys.
func IndexedValue(text string) string { return indexed(text, MaxAttributeValue) }

// indexed also cleans the text for PostgreSQL: valid UTF-8 without NUL. What
// the receiver let in is.
func indexed(s string, most int) string {
	suffix := ""
	if len(s) > most {
		whole := sha256.Sum256([]byte(s))
		s, suffix = s[:most], "\u2026#"+hex.EncodeToString(whole[:])
	}
	s = strings.ToValidUTF8(s, "")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s + suffix
}
