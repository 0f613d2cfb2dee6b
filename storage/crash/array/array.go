// Package array writes ids, bytes and lists of numbers as the texts in which the arrays of
// statements carry them, so that one statement takes many rows.
package array

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Bytea is the text form of a bytea, for arrays.
func Bytea(b []byte) string { return `\x` + hex.EncodeToString(b) }

// UUIDs are the text forms of uuids.
func UUIDs(ids []uuid.UUID) []string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return texts
}

// Bigints is the text form of a bigint[], for arrays of such.
func Bigints(numbers []int64) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	b.WriteByte('}')
	return b.String()
}
