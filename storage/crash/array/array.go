// Package array writes values as the texts of which arrays of statements are made.
//
// A statement that writes many rows takes a column of them as one array. Ids, times and bytes
// are texts in it, which PostgreSQL casts (uuid[], timestamptz[], bytea[]). A list of numbers is one text for
// each row, because an array of arrays would need lists of one length.
package array

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

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

// Time is the text of a time.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999Z") }

// Day is the text of the day of a time in UTC.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
