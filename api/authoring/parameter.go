package authoring

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
)

const (
	// defaultLimit and maxLimit are those of all lists.
	defaultLimit = 20
	maxLimit     = 100
	// maxSkip keeps a list from reading far more than it returns. Nobody pages
	// that far: the last of a million is found by a filter.
	maxSkip = 1_000_000
	// maxSearch bounds a search text, in characters: names are not longer.
	maxSearch = authoring.MaxName
	// hexID is the length of the ids of cases and revisions.
	hexID = 24
	// unassigned selects the cases of no suite in testSuiteId.
	unassigned = "null"
)

// caseID reads the id of a case from the path.
func caseID(c *gin.Context) (string, error) { return hexParam(c, "id") }

// hexParam reads an id of 24 hexadecimal digits from the path, in lower case; the
// error is INVALID_PARAMS.
func hexParam(c *gin.Context, name string) (string, error) {
	id, ok := parseHex(c.Param(name))
	if !ok {
		return "", invalidParams(&storage.InvalidError{Field: name, Msg: "must have 24 hexadecimal digits"})
	}
	return id, nil
}

// parseHex reads an id of a case or revision in either case.
func parseHex(text string) (id string, ok bool) {
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

// uuidParam reads a UUID from the path, with or without dashes; the error is
// INVALID_PARAMS.
func uuidParam(c *gin.Context, name string) (uuid.UUID, error) {
	id, err := parseUUID(name, c.Param(name))
	return id, invalidParams(err)
}

// parseUUID reads a UUID with or without dashes, and no other form of one. The
// error is a *storage.InvalidError of the field.
func parseUUID(field, text string) (uuid.UUID, error) {
	const plain, dashed = 32, 36
	if len(text) == plain || len(text) == dashed {
		if id, err := uuid.Parse(text); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, &storage.InvalidError{Field: field, Msg: "must be a UUID"}
}

// optionalUUID reads a UUID of the body; nil when it was not given.
func optionalUUID(field string, text *string) (*uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := parseUUID(field, *text)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// query is the query of a list. The first parameter that is wrong is kept as err,
// INVALID_QUERY, and what is read after that does not matter.
type query struct {
	values url.Values
	err    error
}

func queryOf(c *gin.Context) *query { return &query{values: c.Request.URL.Query()} }

func (q *query) wrong(err error) {
	if err != nil && q.err == nil {
		q.err = invalidQuery(err)
	}
}

// page reads skip and limit. Limit 0 returns the total only; a larger limit than
// 100 is 100.
func (q *query) page() storage.Page {
	p := storage.Page{Offset: q.number("skip", 0), Limit: min(q.number("limit", defaultLimit), maxLimit)}
	if p.Offset > maxSkip {
		q.wrong(&storage.InvalidError{Field: "skip", Msg: fmt.Sprintf("must be at most %d", maxSkip)})
	}
	return p
}

// number reads a number of at least 0. One that is too long for an int is a large
// number all the same, so that it is capped and not refused.
func (q *query) number(name string, absent int) int {
	text := strings.TrimSpace(q.values.Get(name))
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // n is the largest or smallest number
	}
	if err != nil || n < 0 {
		q.wrong(&storage.InvalidError{Field: name, Msg: "must be a whole number of at least 0"})
		return absent
	}
	return int(n)
}

// rowID reads a filter by the number of a row, such as buildId; 0 when absent.
func (q *query) rowID(name string) int64 {
	text := strings.TrimSpace(q.values.Get(name))
	if text == "" {
		return 0
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		q.wrong(&storage.InvalidError{Field: name, Msg: "must be a whole number of at least 1"})
	}
	return id
}

// dates reads startDate and endDate: from inclusive, to exclusive.
func (q *query) dates() (from, to time.Time) {
	from, to, err := pagination.Range(q.values, "startDate", "endDate")
	q.wrong(err)
	return from, to
}

// search reads the text that names are searched for.
func (q *query) search() string {
	text := strings.TrimSpace(q.values.Get("search"))
	if utf8.RuneCountInString(text) > maxSearch || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		q.wrong(&storage.InvalidError{Field: "search", Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", maxSearch)})
	}
	return text
}

// flag reads true or false; nil when absent.
func (q *query) flag(name string) *bool {
	switch text := strings.TrimSpace(q.values.Get(name)); text {
	case "":
		return nil
	case "true", "false":
		on := text == "true"
		return &on
	}
	q.wrong(&storage.InvalidError{Field: name, Msg: "must be true or false"})
	return nil
}

// on reads a switch: 1 or true, 0 or false; absent is off.
func (q *query) on(name string) bool {
	switch strings.TrimSpace(q.values.Get(name)) {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	}
	q.wrong(&storage.InvalidError{Field: name, Msg: "must be 1 or 0"})
	return false
}

// uuid reads a filter by one id, such as userId; nil when absent.
func (q *query) uuid(name string) *uuid.UUID {
	text := strings.TrimSpace(q.values.Get(name))
	if text == "" {
		return nil
	}
	id, err := parseUUID(name, text)
	q.wrong(err)
	return &id
}

// uuids reads an array of ids: repeated names, name[] or commas; nil when absent.
func (q *query) uuids(name string) []uuid.UUID {
	ids, null := q.uuidsOrNull(name)
	if null {
		q.wrong(&storage.InvalidError{Field: name, Msg: "must be UUIDs"})
	}
	return ids
}

// uuidsOrNull does so and reports whether the value null was among them.
func (q *query) uuidsOrNull(name string) (ids []uuid.UUID, null bool) {
	texts, err := pagination.List(q.values, name)
	q.wrong(err)
	for _, text := range texts {
		if text == unassigned {
			null = true
			continue
		}
		id, err := parseUUID(name, text)
		q.wrong(err)
		ids = append(ids, id)
	}
	return ids, null
}
