package authoring

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// CleanTags trims tags and drops empty ones and repetitions; never nil. Too many, or
// one that is too long, are an InvalidError.
func CleanTags(list []string) ([]string, error) {
	out, seen := []string{}, map[string]bool{}
	for _, tag := range list {
		tag, err := storage.Line("tags", tag, MaxTag)
		if err != nil {
			return nil, err
		}
		if tag == "" || seen[tag] {
			continue
		}
		if len(out) == MaxTags {
			return nil, storage.Invalid("tags", "must be at most %d", MaxTags)
		}
		seen[tag] = true
		out = append(out, tag)
	}
	return out, nil
}

// Bounds of stored documents, in bytes of JSON. Both are far above what people
// write; a page of a list has the settings of its cases.
const (
	maxSettings = 256 << 10
	maxRevision = 8 << 20
	// maxProse bounds each text of a revision, in bytes: 20,000 characters.
	maxProse = 80_000
)

// document returns a value as a text for jsonb.
func document(field string, v any, most int) (string, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return "", storage.Invalid(field, "cannot be written as JSON")
	}
	if len(doc) > most {
		return "", storage.Invalid(field, "is too large: at most %d KiB", most>>10)
	}
	if storage.HoldsNUL(string(doc)) {
		return "", storage.Invalid(field, "must not hold the character U+0000")
	}
	return string(doc), nil
}

// prose checks a longer text of a revision.
func prose(field, text string) error {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return storage.Invalid(field, "must be UTF-8 text without the character U+0000")
	}
	if len(text) > maxProse {
		return storage.Invalid(field, "must have at most %d bytes", maxProse)
	}
	return nil
}

// newID returns a new id of a case or revision: 24 hexadecimal digits, of which the
// first eight are the time in seconds and the rest is random.
func newID() (string, error) {
	var id [12]byte
	binary.BigEndian.PutUint32(id[:4], uint32(time.Now().Unix()))
	if _, err := rand.Read(id[4:]); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return hex.EncodeToString(id[:]), nil
}

// isID reports whether a text can be the id of a case or revision. What cannot be
// one is not asked for: the database refuses some texts altogether.
func isID(id string) bool {
	if len(id) != 24 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
