package content

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Breadcrumb is a step before the crash, as the client wrote it into the report.
type Breadcrumb struct {
	At *time.Time `json:"at"` // null: it has none that can be read
	// OffsetMS is the time from the crash in milliseconds, negative before it.
	OffsetMS *int64 `json:"offset_ms"`
	Type     string `json:"type"`
	Level    string `json:"level"`
	Message  string `json:"message"`
	// Data are its further facts, such as the address of a request; null: none, or more than
	// maxBreadcrumbData.
	Data json.RawMessage `json:"data"`
}

const (
	// maxBreadcrumbs are shown, the last ones: clients keep 100.
	maxBreadcrumbs = 100
	// maxBreadcrumbText bounds a message in characters: the report has all of it.
	maxBreadcrumbText = 1000
	maxBreadcrumbWord = 60
	maxBreadcrumbData = 2000 // bytes
)

// breadcrumbMembers are the names under which breadcrumbs stand in annotations.
func breadcrumbMembers() []string { return []string{"breadcrumbs", "Breadcrumbs", "breadcrumb"} }

// crashClock places the times of a report: they are of the clock of the device, which may be
// wrong, and what counts is how long before the crash something was.
type crashClock struct {
	device *time.Time // when it crashed, by the clock of the device; nil: not known
	shown  *time.Time // when it crashed, as it is shown; nil while that is not known
}

// clockOf is that of a report; occurred is when it crashed, as it is stored.
func clockOf(timestamp json.RawMessage, occurred *time.Time) crashClock {
	c := crashClock{shown: occurred, device: occurred}
	var seconds float64
	if json.Unmarshal(timestamp, &seconds) == nil {
		if at := unixTime(seconds); at != nil {
			c.device = at
		}
	}
	return c
}

// place returns a time of the device as it is shown, and how far from the crash it is.
func (c crashClock) place(at *time.Time) (shown *time.Time, offset *int64) {
	if at == nil || c.device == nil {
		return at, nil
	}
	span := at.Sub(*c.device)
	ms := span.Milliseconds()
	if c.shown != nil {
		moved := c.shown.Add(span).UTC()
		at = &moved
	}
	return at, &ms
}

// Beside is what stands in a report beside its stacks and attributes.
type Beside struct {
	Breadcrumbs        []Breadcrumb `json:"breadcrumbs"` // the last steps before the crash, oldest first
	BreadcrumbsOmitted int          `json:"breadcrumbs_omitted"`
	Annotations        []Annotation `json:"annotations"` // in the order of the report
	AnnotationsOmitted int          `json:"annotations_omitted"`
	// Truncated says that the report was cut off: what could be read of it is here.
	Truncated bool `json:"truncated"`
}

// BesideOf reads the steps of a report, oldest first, and its annotations; occurred is when it
// crashed, as it is stored. Steps stand in the report, in its annotations, as an array or as the
// member values, or in files of the crash, which clients keep while the program runs.
func BesideOf(document []byte, occurred *time.Time, files []json.RawMessage) Beside {
	v := Beside{Breadcrumbs: []Breadcrumb{}, Annotations: []Annotation{}}
	var doc struct {
		Timestamp   json.RawMessage `json:"timestamp"`
		Annotations json.RawMessage `json:"annotations"`
		Breadcrumbs json.RawMessage `json:"breadcrumbs"`
		Truncated   json.RawMessage `json:"truncated"`
	}
	if json.Unmarshal(document, &doc) != nil {
		return v
	}
	v.Truncated = string(doc.Truncated) == "true"
	clock := clockOf(doc.Timestamp, occurred)
	v.Annotations, v.AnnotationsOmitted = annotationsOf(doc.Annotations, clock)
	found := append([]json.RawMessage{doc.Breadcrumbs}, files...)
	var members map[string]json.RawMessage
	if len(doc.Annotations) > 0 && json.Unmarshal(doc.Annotations, &members) == nil {
		for _, name := range breadcrumbMembers() {
			found = append(found, members[name])
		}
	}
	for _, raw := range found {
		for _, step := range stepsOf(raw) {
			v.Breadcrumbs = append(v.Breadcrumbs, step.view(clock))
		}
	}
	if !slices.ContainsFunc(v.Breadcrumbs, func(s Breadcrumb) bool { return s.At == nil }) {
		slices.SortStableFunc(v.Breadcrumbs, func(a, b Breadcrumb) int { return a.At.Compare(*b.At) })
	}
	v.BreadcrumbsOmitted = max(0, len(v.Breadcrumbs)-maxBreadcrumbs)
	v.Breadcrumbs = v.Breadcrumbs[v.BreadcrumbsOmitted:]
	return v
}

// step is a breadcrumb as it came.
type step map[string]any

func stepsOf(raw json.RawMessage) []step {
	var values struct {
		Values []step `json:"values"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &values.Values) != nil && json.Unmarshal(raw, &values) != nil {
		return nil
	}
	return values.Values
}

func (s step) view(clock crashClock) Breadcrumb {
	v := Breadcrumb{Type: storage.Cut(s.text("type", "category"), maxBreadcrumbWord),
		Level:   storage.Cut(s.text("level"), maxBreadcrumbWord),
		Message: storage.Cut(s.text("message", "text", "name"), maxBreadcrumbText)}
	v.At, v.OffsetMS = clock.place(s.at())
	for _, name := range []string{"data", "attributes", "metadata"} {
		data, some := s[name].(map[string]any)
		if !some || len(data) == 0 {
			continue
		}
		if text, err := json.Marshal(data); err == nil && len(text) <= maxBreadcrumbData {
			v.Data = text
		}
		break
	}
	return v
}

// text is the first of the members that is a text.
func (s step) text(names ...string) string {
	for _, name := range names {
		if text, ok := s[name].(string); ok {
			return text
		}
	}
	return ""
}

// at reads a time: RFC 3339, or seconds or milliseconds since 1970.
func (s step) at() *time.Time {
	for _, name := range []string{"timestamp", "time"} {
		switch value := s[name].(type) {
		case string:
			if t, err := time.Parse(time.RFC3339, value); err == nil && t.Year() > 0 && t.Year() < 10000 {
				t = t.UTC()
				return &t
			}
		case float64:
			if t := unixTime(value); t != nil {
				return t
			}
		}
	}
	return nil
}

// unixTime is a number of seconds or milliseconds since 1970; nil for what is neither.
func unixTime(number float64) *time.Time {
	const (
		laterThanSeconds = 1e11 // the year 5138 in seconds, 1973 in milliseconds
		latest           = 253402300799999
	)
	if math.Abs(number) < laterThanSeconds {
		number *= 1000
	}
	if number < 0 || number > latest {
		return nil
	}
	t := time.UnixMilli(int64(number)).UTC()
	return &t
}

// BreadcrumbList is the text of a file as an array: it is one, or has an object on each line,
// of which the last may be cut off by the crash.
func BreadcrumbList(text []byte) json.RawMessage {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '[' {
		return text
	}
	list := []byte{'['}
	for line := range bytes.SplitSeq(text, []byte{'\n'}) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' || !json.Valid(line) {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, line...)
	}
	return append(list, ']')
}
