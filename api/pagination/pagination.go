// Package pagination reads the parameters that routes share: page and per_page of
// lists, arrays, dates, and the numeric ids of paths.
//
// The rules are those of the distribution interfaces: page begins at 1, per_page has
// a default and a maximum that larger values are capped to (one list refuses them
// instead), and 0, a negative number or a text is a *storage.InvalidError that names
// the parameter. Arrays come as repeated
// names, as name[], as name[0] and as comma lists, in any mixture. A date alone means a whole
// day in UTC: as the start of a range its first instant, as the end its last. A time
// as the end covers its millisecond.
//
// Everything is bounded: the page number, so that no offset overflows; the number
// and length of array elements, so that no statement grows without end.
package pagination

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage"
)

// Options are the limits of one list.
type Options struct {
	Default int  // per_page when absent
	Max     int  // largest per_page
	Reject  bool // refuse a larger per_page instead of capping it
}

// Small is the rule of nearly all lists, Large that of the lists of 50.
func Small() Options { return Options{Default: 25, Max: 100} }

// Large is the rule of v2 project testers, group testers and audits.
func Large() Options { return Options{Default: 50, Max: 200} }

// Request is the page that a caller wants.
type Request struct{ Page, PerPage int }

// Limit is the number of rows to read.
func (r Request) Limit() int { return r.PerPage }

// Offset is the number of rows before the page.
func (r Request) Offset() int { return (r.Page - 1) * r.PerPage }

// Rows is the page as the stores take it.
func (r Request) Rows() storage.Page { return storage.Page{Limit: r.Limit(), Offset: r.Offset()} }

// maxNumber keeps offsets far below overflow. Nobody pages that far: the last
// of a million pages is found by a filter.
const maxNumber = 1_000_000

// Parse reads page and per_page.
func Parse(q url.Values, o Options) (Request, error) {
	r := Request{Page: 1, PerPage: o.Default}
	var err error
	if r.Page, err = positive(q, "page", 1); err != nil {
		return Request{}, err
	}
	if r.Page > maxNumber {
		return Request{}, &storage.InvalidError{Field: "page", Msg: fmt.Sprintf("must be at most %d", maxNumber)}
	}
	if r.PerPage, err = positive(q, "per_page", o.Default); err != nil {
		return Request{}, err
	}
	if r.PerPage > o.Max {
		if o.Reject {
			return Request{}, &storage.InvalidError{Field: "per_page", Msg: fmt.Sprintf("must be at most %d", o.Max)}
		}
		r.PerPage = o.Max
	}
	return r, nil
}

// positive reads a number above 0. One that is too long for an int is a large
// number all the same, so that it is capped and not refused.
func positive(q url.Values, name string, absent int) (int, error) {
	text := strings.TrimSpace(q.Get(name))
	if text == "" {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) && n > 0 {
		err = nil
	}
	if err != nil || n < 1 {
		return 0, &storage.InvalidError{Field: name, Msg: "must be a number of at least 1"}
	}
	return int(n), nil
}

// Pagination is the member of that name in an answer.
type Pagination struct {
	Page       int `json:"page"`
	PerPage    int `json:"per_page"`
	Total      int `json:"total"`
	TotalPages int `json:"total_pages"`
	// TotalIsExact is present, and false, where counting stopped: there are at least
	// Total rows. HasNext says then, and only then, whether a page follows this one.
	TotalIsExact *bool `json:"total_is_exact,omitempty"`
	HasNext      *bool `json:"has_next,omitempty"`
}

// Envelope returns where the page stands among total rows.
func (r Request) Envelope(total int) Pagination {
	return Pagination{Page: r.Page, PerPage: r.PerPage, Total: total, TotalPages: (total + r.PerPage - 1) / r.PerPage}
}

// Of returns where the page stands in a list that was counted as far as somebody reads the
// number.
func (r Request) Of(total storage.Total) Pagination {
	if total.Exact {
		return r.Envelope(total.Rows)
	}
	return r.AtLeast(total.Rows, total.Next)
}

// AtLeast is Envelope for a list whose counting stopped at total rows.
func (r Request) AtLeast(total int, hasNext bool) Pagination {
	exact := false
	p := r.Envelope(total)
	p.TotalIsExact, p.HasNext = &exact, &hasNext
	return p
}

const (
	// maxElements and maxElement bound an array; ids and names fit.
	maxElements = 200
	maxElement  = 255
)

// List reads an array: name=a&name=b, name[]=a, name[0]=a, name=a,b. Empty elements and
// repetitions are dropped; nil when nothing is left.
func List(q url.Values, name string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, key := range keys(q, name) {
		for _, value := range q[key] {
			for element := range strings.SplitSeq(value, ",") {
				element = strings.TrimSpace(element)
				if element == "" || seen[element] {
					continue
				}
				if len(element) > maxElement {
					return nil, &storage.InvalidError{Field: name, Msg: fmt.Sprintf("elements have at most %d bytes", maxElement)}
				}
				if len(out) == maxElements {
					return nil, &storage.InvalidError{Field: name, Msg: fmt.Sprintf("has at most %d elements", maxElements)}
				}
				seen[element] = true
				out = append(out, element)
			}
		}
	}
	return out, nil
}

// keys are the names that an array has in a query: name, name[], and those with an
// index, which are sorted by it. An index says nothing but the order.
func keys(q url.Values, name string) []string {
	var indexed []string
	for key := range q {
		index, ok := strings.CutPrefix(key, name+"[")
		if index, closed := strings.CutSuffix(index, "]"); ok && closed && isIndex(index) {
			indexed = append(indexed, key)
		}
	}
	slices.SortFunc(indexed, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return append([]string{name, name + "[]"}, indexed...)
}

func isIndex(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Only reads a filter that selects some rows when it is true; false when it is absent.
func Only(q url.Values, name string) (bool, error) {
	switch values := q[name]; {
	case len(values) == 0 || len(values) == 1 && values[0] == "false":
		return false, nil
	case len(values) == 1 && values[0] == "true":
		return true, nil
	}
	return false, storage.Invalid(name, "must be true or false")
}

// Range reads two parameters that bound a time: from inclusive, to exclusive as
// the stores take it, so that the day that the caller names as the end is still
// inside, and the instant with its whole millisecond: answers show no smaller parts
// of a time, and what they show as one's time must find it. Zero times where a
// parameter is absent.
func Range(q url.Values, fromName, toName string) (from, to time.Time, err error) {
	from, _, begins, err := instant(q, fromName)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	to, bare, ends, err := instant(q, toName)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	if bare {
		to = to.AddDate(0, 0, 1)
	} else {
		to = to.Truncate(time.Millisecond).Add(time.Millisecond)
	}
	if begins && ends && !from.Before(to) {
		return time.Time{}, time.Time{}, &storage.InvalidError{Field: toName, Msg: "must not be before " + fromName}
	}
	from, to = within(from), within(to)
	if !from.Before(to) {
		to = from.Add(time.Microsecond) // both lie beyond what is kept
	}
	if !begins {
		from = time.Time{}
	}
	if !ends {
		to = time.Time{}
	}
	return from, to, nil
}

// ID reads a numeric id of a path; a slug may follow the digits behind a hyphen.
// What is no id names nothing: storage.ErrNotFound.
func ID(text string) (int64, error) {
	digits, slug, _ := strings.Cut(text, "-")
	id, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || id == 0 || len(slug) > maxElement || !utf8.ValidString(slug) || strings.IndexByte(slug, 0) >= 0 {
		return 0, storage.ErrNotFound
	}
	return int64(id), nil
}
