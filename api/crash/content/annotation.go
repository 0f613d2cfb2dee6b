package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Annotation is what a client sent beside stacks and attributes, under one name.
type Annotation struct {
	Name string `json:"name"` // "": the annotations have no names
	// Value is JSON as it came; null where it is longer than one may be: the report has it.
	Value     json.RawMessage `json:"value"`
	Truncated bool            `json:"truncated"`
	// At and OffsetMS are those of a value with a time, as breadcrumbs have them.
	At       *time.Time `json:"at"`
	OffsetMS *int64     `json:"offset_ms"`
}

const (
	// maxAnnotations are shown, of up to maxAnnotation bytes each and maxAnnotationBytes
	// together: annotations are state that a client kept, a few hundred lines.
	maxAnnotations     = 200
	maxAnnotation      = 32 << 10
	maxAnnotationBytes = 256 << 10
	maxAnnotationName  = 255
)

// annotationsOf reads the annotations of a report in the order of the document, but for the
// breadcrumbs, which stand in a member of their own, and how many are left out.
func annotationsOf(raw json.RawMessage, c crashClock) (views []Annotation, omitted int) {
	views = []Annotation{}
	left := maxAnnotationBytes
	add := func(name string, value json.RawMessage) {
		if len(views) == maxAnnotations {
			omitted++
			return
		}
		v := Annotation{Name: storage.Cut(name, maxAnnotationName), Value: value}
		var s step
		if len(value) > 0 && value[0] == '{' && json.Unmarshal(value, &s) == nil {
			v.At, v.OffsetMS = c.place(s.at())
		}
		if len(value) > min(maxAnnotation, left) {
			v.Value, v.Truncated = json.RawMessage("null"), true
		}
		left -= len(v.Value)
		views = append(views, v)
	}
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '{':
		eachMember(raw, func(name string, value json.RawMessage) {
			if !slices.Contains(breadcrumbMembers(), name) || stepsOf(value) == nil {
				add(name, value)
			}
		})
	case raw[0] == '[':
		var items []json.RawMessage
		_ = json.Unmarshal(raw, &items) // of a report that was read
		for _, item := range items {
			add("", item)
		}
	default:
		add("", raw)
	}
	return views, omitted
}

// eachMember calls fn with the members of an object in their order, up to the first that
// cannot be read. Of repeated names each is there, as in the document.
func eachMember(object json.RawMessage, fn func(name string, value json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return
	}
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return
		}
		fn(name, value)
	}
}
