package crash

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// breadcrumbView is a step before the crash, as the client wrote it into the report.
type breadcrumbView struct {
	At *time.Time `json:"at"` // null: it has none that can be read
	// OffsetMS is the time from the crash in milliseconds, negative before it.
	OffsetMS *int64 `json:"offset_ms"`
	Type     string `json:"type"`
	Level    string `json:"level"`
	Message  string `json:"message"`
}

const (
	// maxBreadcrumbs are shown, the last ones: clients keep 100.
	maxBreadcrumbs = 100
	// maxBreadcrumbText bounds a message in characters: the report has all of it.
	maxBreadcrumbText = 1000
	maxBreadcrumbWord = 60
)

// breadcrumbsOf reads the steps of a report, oldest first, and how many are left out. They
// stand in the report or in its annotations, as an array or as the member values.
func breadcrumbsOf(document []byte, crashed *time.Time) (steps []breadcrumbView, omitted int) {
	steps = []breadcrumbView{}
	var doc struct {
		Annotations json.RawMessage `json:"annotations"`
		Breadcrumbs json.RawMessage `json:"breadcrumbs"`
	}
	if json.Unmarshal(document, &doc) != nil {
		return steps, 0
	}
	found := []json.RawMessage{doc.Breadcrumbs}
	var members map[string]json.RawMessage
	if len(doc.Annotations) > 0 && json.Unmarshal(doc.Annotations, &members) == nil {
		for _, name := range []string{"breadcrumbs", "Breadcrumbs", "breadcrumb"} {
			found = append(found, members[name])
		}
	}
	for _, raw := range found {
		for _, step := range stepsOf(raw) {
			steps = append(steps, step.view(crashed))
		}
	}
	if !slices.ContainsFunc(steps, func(s breadcrumbView) bool { return s.At == nil }) {
		slices.SortStableFunc(steps, func(a, b breadcrumbView) int { return a.At.Compare(*b.At) })
	}
	omitted = max(0, len(steps)-maxBreadcrumbs)
	return steps[omitted:], omitted
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

func (s step) view(crashed *time.Time) breadcrumbView {
	v := breadcrumbView{At: s.at(), Type: storage.Cut(s.text("type", "category"), maxBreadcrumbWord), Level: storage.Cut(s.text("level"), maxBreadcrumbWord),
		Message: storage.Cut(s.text("message", "text", "name"), maxBreadcrumbText)}
	if v.At != nil && crashed != nil {
		ms := v.At.Sub(*crashed).Milliseconds()
		v.OffsetMS = &ms
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
	const (
		laterThanSeconds = 1e11 // the year 5138 in seconds, 1973 in milliseconds
		latest           = 253402300799999
	)
	for _, name := range []string{"timestamp", "time"} {
		switch value := s[name].(type) {
		case string:
			if t, err := time.Parse(time.RFC3339, value); err == nil && t.Year() > 0 && t.Year() < 10000 {
				t = t.UTC()
				return &t
			}
		case float64:
			ms := value
			if math.Abs(ms) < laterThanSeconds {
				ms *= 1000
			}
			if ms >= 0 && ms <= latest {
				t := time.UnixMilli(int64(ms)).UTC()
				return &t
			}
		}
	}
	return nil
}
