package crash

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

const (
	attributePrefix = "attribute."
	// maxAttributes bounds the conditions of one list.
	maxAttributes = 10
	// maxSearch bounds a search text in bytes: titles are not longer.
	maxSearch = 500
)

// attributes reads the filters attribute.KEY=VALUE; all of them must hold. The
// key may contain dots.
func attributes(q url.Values) ([]condition.Attribute, error) {
	var filters []condition.Attribute
	for name, values := range q {
		key, ok := strings.CutPrefix(name, attributePrefix)
		if !ok {
			continue
		}
		for _, value := range values {
			f := condition.Attribute{Key: key, Value: value}
			if err := f.Validate(); err != nil {
				return nil, err
			}
			if filters = append(filters, f); len(filters) > maxAttributes {
				return nil, &storage.InvalidError{Field: "attribute", Msg: "at most 10 attributes"}
			}
		}
	}
	return filters, nil
}

// projectFilter reads the optional parameter project, a numeric id.
func projectFilter(q url.Values) (int64, error) {
	text := strings.TrimSpace(q.Get("project"))
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, &storage.InvalidError{Field: "project", Msg: "must be the number of a crash project"}
	}
	return id, nil
}

// texts reads an array of texts: name=a&name=b, name[]=a, name=a,b.
func texts[T ~string](q url.Values, name string) ([]T, error) {
	list, err := pagination.List(q, name)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(list))
	for _, text := range list {
		if !condition.PlainText(text) {
			return nil, &storage.InvalidError{Field: name, Msg: "must be valid UTF-8 without NUL"}
		}
		out = append(out, T(text))
	}
	return out, nil
}

// numbers reads an array of numeric ids.
func numbers(q url.Values, name string) ([]int64, error) {
	list, err := pagination.List(q, name)
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(list))
	for _, text := range list {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 {
			return nil, &storage.InvalidError{Field: name, Msg: "must be numeric ids"}
		}
		out = append(out, id)
	}
	return out, nil
}

// window reads from and to.
func window(q url.Values) (w reading.Window, err error) {
	w.From, w.To, err = pagination.Range(q, "from", "to")
	return w, err
}
