// Package span has the first and the last time at which something was seen.
//
// Groups of crashes, their values, versions and needs each keep both. A transaction sums what it
// adds to them before it writes, and times come in any order: clients send what they could not
// send before, and clocks differ. So a time widens a span and never moves one end past the other.
package span

import "time"

// Span is a first and a last time, which may be one.
type Span struct{ First, Last time.Time }

// At returns the span of one time.
func At(t time.Time) Span { return Span{t, t} }

// With returns the span that has a time, too.
func (s Span) With(t time.Time) Span { return s.Join(At(t)) }

// Join returns the span that has all of both.
func (s Span) Join(other Span) Span {
	if other.First.Before(s.First) {
		s.First = other.First
	}
	if other.Last.After(s.Last) {
		s.Last = other.Last
	}
	return s
}
