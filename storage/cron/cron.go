// Package cron computes when a cron expression fires.
//
// An expression has five fields (minute, hour, day of month, month, day of week)
// or six with the second first. A field is a list of values, ranges a-b and steps
// */n, a/n, a-b/n. A range that ends before it begins goes on at the field's first
// value: FRI-MON, and 22-2/2 for 22, 0 and 2. Months and days of the week have their
// English names of three letters. Sunday is 0 and 7. Day of month also takes L (the
// last day), L-n (n days before it), nW (the weekday nearest to day n) and LW; day of
// week n#k (the k-th of the month) and nL (the last of the month); both take ?, which
// is *.
// @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly stand for
// whole expressions. When day of month and day of week are both restricted (not *
// or ?), a day fires that matches either, as in POSIX crontab.
//
// Times are of a zone. Between two changes of its clock local time runs evenly,
// so Next and Previous work on such stretches: a local time that a change skips
// fires at the first instant after the gap; one that occurs twice fires the first
// time only, and both times when the hour is a wildcard.
//
// The package is a leaf: it reads expressions and knows no clock.
package cron

import (
	"fmt"
	"time"
)

// Horizon is how far Next and Previous look: an expression without a time
// within it counts as one that never fires.
const Horizon = 5 * 366 * 24 * time.Hour

// Expression is a parsed expression; it is safe for concurrent use.
type Expression struct {
	text                 string
	second, minute, hour uint64 // bit n: value n fires
	month                uint64
	days                 dayRule
	hourIsWild           bool     // both passes of a repeated hour fire
	parts                []string // the fields as written, six of them
	wraps                [6]bool  // the fields with a range that ends before it begins
}

// dayRule says which days of a month fire.
type dayRule struct {
	days       uint64   // bit n: day n
	last       []int    // n days before the last day; 0 for L
	nearest    []int    // the weekday nearest to day n; 0 for LW
	weekdays   uint64   // bit n: 0 is Sunday
	nth        [][2]int // weekday, 1 to 5
	lastOf     []int    // the last such weekday
	anyDay     bool     // day of month is * or ?
	anyWeekday bool
}

// String returns the expression as it was written.
func (e *Expression) String() string { return e.text }

// Error says what is wrong with an expression, and where.
type Error struct {
	Field    string // second, minute, hour, day of month, month, day of week; "" for the whole
	Position int    // of the first wrong byte, from 1; of what is missing, where it should begin
	Msg      string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("position %d: %s", e.Position, e.Msg)
	}
	return fmt.Sprintf("%s (position %d): %s", e.Field, e.Position, e.Msg)
}

// Next returns the first time after an instant, in the zone; false when there
// is none within the Horizon. Times are whole seconds.
func (e *Expression) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	limit := after.Add(Horizon)
	// The first whole second that may fire.
	at := after.Truncate(time.Second).Add(time.Second).In(zone)
	for !at.After(limit) {
		s := stretchOf(at)
		if at.Equal(s.start) && e.skipped(s) {
			return at, true
		}
		from := s.wall(at)
		if !e.hourIsWild && from.Before(s.repeatedUntil) {
			from = s.repeatedUntil
		}
		to := s.wall(limit).Add(time.Second)
		if s.bounded && s.endWall.Before(to) {
			to = s.endWall
		}
		if wall, ok := e.nextWall(from, to); ok {
			return s.instant(wall, zone), true
		}
		if !s.bounded {
			break
		}
		at = s.end.In(zone)
	}
	return time.Time{}, false
}

// Previous returns the last time before an instant, in the zone; false when
// there is none within the Horizon.
func (e *Expression) Previous(before time.Time, zone *time.Location) (time.Time, bool) {
	limit := before.Add(-Horizon)
	// The last whole second that may have fired.
	at := before.Add(-time.Nanosecond).Truncate(time.Second).In(zone)
	for !at.Before(limit) {
		s := stretchOf(at)
		from := s.wall(limit)
		if s.hasStart && s.startWall.After(from) {
			from = s.startWall
		}
		if !e.hourIsWild && from.Before(s.repeatedUntil) {
			from = s.repeatedUntil
		}
		if wall, ok := e.previousWall(from, s.wall(at)); ok {
			return s.instant(wall, zone), true
		}
		if !s.hasStart {
			break
		}
		if !s.start.Before(limit) && e.skipped(s) {
			return s.start.In(zone), true
		}
		at = s.start.Add(-time.Second).In(zone)
	}
	return time.Time{}, false
}

// skipped reports whether a local time fires that the change at the beginning of
// the stretch has skipped.
func (e *Expression) skipped(s stretch) bool {
	if !s.hasStart || !s.formerEnd.Before(s.startWall) {
		return false
	}
	_, ok := e.nextWall(s.formerEnd, s.startWall)
	return ok
}

// stretch is a time between two changes of a zone's clock. Walls are local times
// written as if they were UTC.
type stretch struct {
	offset             int // seconds east of UTC
	start, end         time.Time
	hasStart, bounded  bool
	startWall, endWall time.Time
	// formerEnd is the local time at which the stretch before ended; before it lie
	// the local times that occur a second time here.
	formerEnd, repeatedUntil time.Time
}

func stretchOf(at time.Time) stretch {
	var s stretch
	_, s.offset = at.Zone()
	s.start, s.end = at.ZoneBounds()
	// Where a rule and no table has the changes, package time ends the last stretch
	// of a year after 365 days: in leap years too, so that the last day lies behind
	// the end of its own stretch.
	for !s.end.IsZero() && !s.end.After(at) {
		s.end = s.end.Add(24 * time.Hour)
	}
	s.hasStart, s.bounded = !s.start.IsZero(), !s.end.IsZero()
	if s.hasStart {
		s.startWall = s.wall(s.start)
		_, former := s.start.Add(-time.Second).Zone()
		s.formerEnd = s.start.UTC().Add(time.Duration(former) * time.Second)
		if s.formerEnd.After(s.startWall) {
			s.repeatedUntil = s.formerEnd
		}
	}
	if s.bounded {
		s.endWall = s.wall(s.end)
	}
	return s
}

func (s stretch) wall(at time.Time) time.Time {
	return at.UTC().Add(time.Duration(s.offset) * time.Second)
}

func (s stretch) instant(wall time.Time, zone *time.Location) time.Time {
	return wall.Add(-time.Duration(s.offset) * time.Second).In(zone)
}
