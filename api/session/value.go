package session

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// word is a text that also comes as a number, true or false: SDKs are written in
// languages that make no difference.
type word string

// UnmarshalJSON takes a string, a number, a bool or null.
func (w *word) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, (*string)(w))
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	switch value.(type) {
	case nil:
		return nil
	case float64, bool:
		*w = word(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(w)) // which says what it should be
}

// first returns the first that is given: members have names in two spellings.
func first(words ...word) string {
	for _, w := range words {
		if w != "" {
			return string(w)
		}
	}
	return ""
}

// maxSeconds tells seconds since 1970 from milliseconds: as seconds it is the year 5138.
const maxSeconds = 1e11

// instant reads a time: RFC 3339, "YYYY-MM-DD HH:MM:SS" in UTC, or seconds or
// milliseconds since 1970. "" is the zero time.
func instant(member, text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return time.Time{}, nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(n) {
		if math.Abs(n) < maxSeconds {
			n *= 1000
		}
		// Beyond these years there is nothing to tell apart: the store clamps.
		return time.UnixMilli(int64(min(max(n, -1e13), 1e14))).UTC(), nil
	}
	for _, form := range []string{time.RFC3339Nano, time.DateTime, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, storage.Invalid(member, "must be a time: RFC 3339, or seconds or milliseconds since 1970")
}

// identifier reads a uuid that the SDK chose.
func identifier(member, text string) (uuid.UUID, error) {
	id, err := uuid.Parse(strings.TrimSpace(text))
	if err != nil || id == uuid.Nil {
		return uuid.Nil, storage.Invalid(member, "must be a uuid that the app chose")
	}
	return id, nil
}

// number reads an id; "" is 0.
func number(member, text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil || id == 0 {
		return 0, storage.Invalid(member, "must be a numeric id")
	}
	return int64(id), nil
}
