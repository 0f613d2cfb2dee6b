package pagination

import (
	"net/url"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// Nothing stored here is older or younger, and the database could not keep all
// that a caller may write. 9999-12-31 is what many write for an open end,
// 0001-01-01 what they write for no beginning: both mean all there is.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// within clamps a time to what is kept.
func within(t time.Time) time.Time {
	switch {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t
}

// The forms of ISO 8601, extended and basic. time.Parse takes a fraction of a
// second, behind a point or a comma, of itself.
var (
	dates = []string{time.DateOnly, "20060102"}
	times = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "20060102T150405", "20060102T1504"}
	zones = []string{"Z07:00", "Z0700", "Z07", ""} // "" is UTC
)

// maxInstant bounds the text, in bytes.
const maxInstant = 64

// instant reads a parameter as Instant does, without bounds. given is false when it
// is absent.
func instant(q url.Values, name string) (t time.Time, bare, given bool, err error) {
	text := strings.TrimSpace(q.Get(name))
	if text == "" {
		return time.Time{}, false, false, nil
	}
	t, bare, err = readInstant(name, text)
	return t, bare, err == nil, err
}

// Instant reads a date or a time of ISO 8601, in UTC unless it says otherwise, and
// in the resolution of the database; bare says that it was a date, of which it is
// the first instant. What is older or younger than anything stored here is the
// earliest or latest time that is kept. The error is a *storage.InvalidError of
// the field.
func Instant(field, text string) (t time.Time, bare bool, err error) {
	if t, bare, err = readInstant(field, strings.TrimSpace(text)); err != nil {
		return time.Time{}, false, err
	}
	return within(t.Truncate(time.Microsecond)), bare, nil
}

func readInstant(name, text string) (t time.Time, bare bool, err error) {
	ok := false
	text = strings.ToUpper(text)
	if at := strings.IndexAny(text, "T "); len(text) > maxInstant {
		// Nothing that is so long is a time.
	} else if at < 0 {
		bare = true
		t, ok = parse(text, dates, []string{""})
	} else {
		// A + that was not escaped arrives as a space.
		t, ok = parse(text[:at]+"T"+strings.Replace(text[at+1:], " ", "+", 1), times, zones)
	}
	if !ok {
		return time.Time{}, false, &storage.InvalidError{Field: name,
			Msg: "must be a date (2006-01-02) or an ISO 8601 time (2006-01-02T15:04:05Z)"}
	}
	return t, bare, nil
}

// parse reads a text that has one of the forms with one of the ends.
func parse(text string, forms, ends []string) (time.Time, bool) {
	for _, form := range forms {
		for _, end := range ends {
			if t, err := time.Parse(form+end, text); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}
