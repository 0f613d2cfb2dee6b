package request

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

const (
	// defaultLimit and MaxLimit are those of all lists.
	defaultLimit = 20
	MaxLimit     = 100
	// maxSkip keeps a list from reading far more than it returns. Nobody pages
	// that far: the last of a million is found by a filter.
	maxSkip = 1_000_000
	// MaxSearch bounds a search text, in characters: names are not longer.
	MaxSearch = authoring.MaxName
	// hexID is the length of the ids of cases and revisions.
	hexID = 24
	// unassigned selects the cases of no suite in testSuiteId.
	unassigned = "null"
)

// CaseID reads the id of a case from the path.
func CaseID(c *gin.Context) (string, error) { return HexParam(c, "id") }

// HexParam reads an id of 24 hexadecimal digits from the path, in lower case; the
// error is INVALID_PARAMS.
func HexParam(c *gin.Context, name string) (string, error) {
	id, ok := ParseHex(c.Param(name))
	if !ok {
		return "", problem.InvalidParams(&storage.InvalidError{Field: name, Msg: "must have 24 hexadecimal digits"})
	}
	return id, nil
}

// ParseHex reads an id of a case or revision in either case.
func ParseHex(text string) (id string, ok bool) {
	if len(text) != hexID {
		return "", false
	}
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F') {
			return "", false
		}
	}
	return strings.ToLower(text), true
}

// UUIDParam reads a UUID from the path, with or without dashes; the error is
// INVALID_PARAMS.
func UUIDParam(c *gin.Context, name string) (uuid.UUID, error) {
	id, err := ParseUUID(name, c.Param(name))
	return id, problem.InvalidParams(err)
}

// ParseUUID reads a UUID with or without dashes, and no other form of one. The
// error is a *storage.InvalidError of the field.
func ParseUUID(field, text string) (uuid.UUID, error) {
	const plain, dashed = 32, 36
	if len(text) == plain || len(text) == dashed {
		if id, err := uuid.Parse(text); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, &storage.InvalidError{Field: field, Msg: "must be a UUID"}
}

// OptionalUUID reads a UUID of the body; nil when it was not given.
func OptionalUUID(field string, text *string) (*uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := ParseUUID(field, *text)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// Query is the query of a list. The first parameter that is wrong is kept as Err,
// INVALID_QUERY, and what is read after that does not matter.
type Query struct {
	Values url.Values
	Err    error
}

// QueryOf returns the query of a request.
func QueryOf(c *gin.Context) *Query { return &Query{Values: c.Request.URL.Query()} }

// Wrong keeps an error, of which the first is the query's.
func (q *Query) Wrong(err error) {
	if err != nil && q.Err == nil {
		q.Err = problem.InvalidQuery(err)
	}
}

// Page reads skip and limit. Limit 0 returns the total only; a larger limit than
// 100 is 100.
func (q *Query) Page() storage.Page {
	p := storage.Page{Offset: q.Number("skip", 0), Limit: min(q.Number("limit", defaultLimit), MaxLimit)}
	if p.Offset > maxSkip {
		q.Wrong(&storage.InvalidError{Field: "skip", Msg: fmt.Sprintf("must be at most %d", maxSkip)})
	}
	return p
}

// Number reads a number of at least 0. One that is too long for an int is a large
// number all the same, so that it is capped and not refused.
func (q *Query) Number(name string, absent int) int {
	text := strings.TrimSpace(q.Values.Get(name))
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // n is the largest or smallest number
	}
	if err != nil || n < 0 {
		q.Wrong(&storage.InvalidError{Field: name, Msg: "must be a whole number of at least 0"})
		return absent
	}
	return int(n)
}

// RowID reads a filter by the number of a row, such as buildId; 0 when absent.
func (q *Query) RowID(name string) int64 {
	text := strings.TrimSpace(q.Values.Get(name))
	if text == "" {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		q.Wrong(&storage.InvalidError{Field: name, Msg: "must be a whole number of at least 1"})
	}
	return id
}

// Dates reads startDate and endDate: from inclusive, to exclusive.
func (q *Query) Dates() (from, to time.Time) {
	from, to, err := pagination.Range(q.Values, "startDate", "endDate")
	q.Wrong(err)
	return from, to
}

// Search reads the text that names are searched for.
func (q *Query) Search() string {
	text := strings.TrimSpace(q.Values.Get("search"))
	if utf8.RuneCountInString(text) > MaxSearch || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		q.Wrong(&storage.InvalidError{Field: "search", Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", MaxSearch)})
	}
	return text
}

// Flag reads true or false; nil when absent.
func (q *Query) Flag(name string) *bool {
	switch text := strings.TrimSpace(q.Values.Get(name)); text {
	case "":
		return nil
	case "true", "false":
		on := text == "true"
		return &on
	}
	q.Wrong(&storage.InvalidError{Field: name, Msg: "must be true or false"})
	return nil
}

// On reads a switch: 1 or true, 0 or false; absent is off.
func (q *Query) On(name string) bool {
	switch strings.TrimSpace(q.Values.Get(name)) {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	}
	q.Wrong(&storage.InvalidError{Field: name, Msg: "must be 1 or 0"})
	return false
}

// UUID reads a filter by one id, such as userId; nil when absent.
func (q *Query) UUID(name string) *uuid.UUID {
	text := strings.TrimSpace(q.Values.Get(name))
	if text == "" {
		return nil
	}
	id, err := ParseUUID(name, text)
	q.Wrong(err)
	return &id
}

// UUIDs reads an array of ids: repeated names, name[] or commas; nil when absent.
func (q *Query) UUIDs(name string) []uuid.UUID {
	ids, null := q.UUIDsOrNull(name)
	if null {
		q.Wrong(&storage.InvalidError{Field: name, Msg: "must be UUIDs"})
	}
	return ids
}

// UUIDsOrNull does so and reports whether the value null was among them.
func (q *Query) UUIDsOrNull(name string) (ids []uuid.UUID, null bool) {
	texts, err := pagination.List(q.Values, name)
	q.Wrong(err)
	for _, text := range texts {
		if text == unassigned {
			null = true
			continue
		}
		id, err := ParseUUID(name, text)
		q.Wrong(err)
		ids = append(ids, id)
	}
	return ids, null
}

// maxTags bounds the tags of a filter.
const maxTags = 20

// Tags reads the tags of a filter, each a parameter of its own.
func (q *Query) Tags() (list []string) {
	var given []string
	for _, name := range slices.Sorted(maps.Keys(q.Values)) { // a tag may have commas, which part the values of other lists
		if name == "tag" || strings.HasPrefix(name, "tag[") {
			given = append(given, q.Values[name]...)
		}
	}
	for _, text := range given {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 || utf8.RuneCountInString(text) > MaxSearch {
			q.Wrong(&storage.InvalidError{Field: "tag", Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", MaxSearch)})
		}
		list = append(list, text)
	}
	if len(list) > maxTags {
		q.Wrong(&storage.InvalidError{Field: "tag", Msg: fmt.Sprintf("must be given at most %d times", maxTags)})
	}
	return list
}

// OneOf reads one of some states; "" when absent.
func OneOf[S ~string](q *Query, name string, known ...S) S {
	text := S(strings.TrimSpace(q.Values.Get(name)))
	if text == "" {
		return ""
	}
	words := make([]string, len(known))
	for i, one := range known {
		if one == text {
			return text
		}
		words[i] = string(one)
	}
	q.Wrong(&storage.InvalidError{Field: name, Msg: "must be one of " + strings.Join(words, ", ")})
	return ""
}
