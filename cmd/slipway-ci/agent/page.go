package agent

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const (
	defaultItems = 20
	maxItems     = 50
	maxReach     = 10_000 // items that can be paged through
)

// paged are the arguments of a list.
type paged struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"how many items at most, 1 to 50; default 20"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the answer before, to go on"`
}

// place is where in a list an answer begins.
type place struct{ skip, limit int }

// place reads the arguments. A cursor says both: the limit of the answer before holds.
func (p paged) place() (place, error) {
	at := place{limit: p.Limit}
	if p.Limit == 0 {
		at.limit = defaultItems
	}
	if p.Cursor != "" {
		skip, limit, ok := strings.Cut(p.Cursor, ".")
		var err, failed error
		at.skip, err = strconv.Atoi(skip)
		at.limit, failed = strconv.Atoi(limit)
		if !ok || err != nil || failed != nil || at.skip < 0 || at.skip > maxReach {
			return place{}, wrong("cursor", "must be next_cursor of an answer")
		}
	}
	if at.limit < 1 || at.limit > maxItems {
		return place{}, wrong("limit", fmt.Sprintf("must be 1 to %d", maxItems))
	}
	if at.skip%at.limit != 0 {
		return place{}, wrong("cursor", "must be next_cursor of an answer")
	}
	return at, nil
}

// stepsFrom are the arguments of what has steps.
type stepsFrom struct {
	From  int `json:"from_step,omitempty" jsonschema:"number of the first step to answer, from 1; default 1"`
	Limit int `json:"limit,omitempty" jsonschema:"how many steps at most, 1 to 50"`
}

// window is a part of steps.
type window struct{ from, most int } // from 0

// has reports whether a step is in it.
func (w window) has(step int) bool { return step >= w.from && step < w.from+w.most }

// window reads the arguments.
func (f stepsFrom) window(limit int) (window, error) {
	switch {
	case f.From < 0 || f.From > maxReach:
		return window{}, wrong("from_step", fmt.Sprintf("must be 1 to %d", maxReach))
	case f.Limit < 0 || f.Limit > maxItems:
		return window{}, wrong("limit", fmt.Sprintf("must be 1 to %d", maxItems))
	}
	return window{from: max(f.From-1, 0), most: cmp.Or(f.Limit, limit)}, nil
}

// byPage sets the parameters of a list that is read by pages.
func (p place) byPage(q url.Values, size string) {
	q.Set("page", strconv.Itoa(p.skip/p.limit+1))
	q.Set(size, strconv.Itoa(p.limit))
}

// bySkip sets the parameters of a list that is read by skipping.
func (p place) bySkip(q url.Values) {
	q.Set("skip", strconv.Itoa(p.skip))
	q.Set("limit", strconv.Itoa(p.limit))
}

// next is the cursor of the items behind, "" when there are none.
func (p place) next(more bool) string {
	if !more || p.skip+p.limit > maxReach {
		return ""
	}
	return strconv.Itoa(p.skip+p.limit) + "." + strconv.Itoa(p.limit)
}

// set sets the parameters that are given; an array is repeated.
func set(q url.Values, name string, values ...string) {
	for _, value := range values {
		if value != "" {
			q.Add(name, value)
		}
	}
}

// number is an id as a parameter, "" for 0.
func number(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}
