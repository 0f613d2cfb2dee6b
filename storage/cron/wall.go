package cron

import (
	"math/bits"
	"time"
)

// nextWall returns the first local time of the expression in [from, to). Both are
// whole seconds.
func (e *Expression) nextWall(from, to time.Time) (time.Time, bool) {
	year, month, day := from.Date()
	h, m, s := from.Clock()
	for {
		midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if !midnight.Before(to) {
			return time.Time{}, false
		}
		year, month, day = midnight.Date() // normalized
		if e.month&(1<<uint(month)) == 0 {
			month, day, h, m, s = month+1, 1, 0, 0, 0
			continue
		}
		if e.days.match(year, month, day) {
			if h, m, s, ok := e.nextClock(h, m, s); ok {
				at := midnight.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second)
				return at, at.Before(to)
			}
		}
		day, h, m, s = day+1, 0, 0, 0
	}
}

// previousWall returns the last local time of the expression in [from, until], the
// end included.
func (e *Expression) previousWall(from, until time.Time) (time.Time, bool) {
	year, month, day := until.Date()
	h, m, s := until.Clock()
	for {
		midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		if midnight.AddDate(0, 0, 1).Compare(from) <= 0 {
			return time.Time{}, false
		}
		year, month, day = midnight.Date()
		if e.month&(1<<uint(month)) == 0 {
			day, h, m, s = 0, 23, 59, 59 // the last day of the month before
			continue
		}
		if e.days.match(year, month, day) {
			if h, m, s, ok := e.previousClock(h, m, s); ok {
				at := midnight.Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second)
				return at, !at.Before(from)
			}
		}
		day, h, m, s = day-1, 23, 59, 59
	}
}

// nextClock returns the first time of day that fires, not before h:m:s.
func (e *Expression) nextClock(h, m, s int) (int, int, int, bool) {
	hour, ok := atLeast(e.hour, h)
	if !ok {
		return 0, 0, 0, false
	}
	if hour > h {
		return hour, first(e.minute), first(e.second), true
	}
	minute, ok := atLeast(e.minute, m)
	if ok && minute == m {
		if second, ok := atLeast(e.second, s); ok {
			return hour, minute, second, true
		}
		minute, ok = atLeast(e.minute, m+1)
	}
	if ok {
		return hour, minute, first(e.second), true
	}
	if hour, ok = atLeast(e.hour, h+1); !ok {
		return 0, 0, 0, false
	}
	return hour, first(e.minute), first(e.second), true
}

// previousClock returns the last time of day that fires, not after h:m:s.
func (e *Expression) previousClock(h, m, s int) (int, int, int, bool) {
	hour, ok := atMost(e.hour, h)
	if !ok {
		return 0, 0, 0, false
	}
	if hour < h {
		return hour, last(e.minute), last(e.second), true
	}
	minute, ok := atMost(e.minute, m)
	if ok && minute == m {
		if second, ok := atMost(e.second, s); ok {
			return hour, minute, second, true
		}
		minute, ok = atMost(e.minute, m-1)
	}
	if ok {
		return hour, minute, last(e.second), true
	}
	if hour, ok = atMost(e.hour, h-1); !ok {
		return 0, 0, 0, false
	}
	return hour, last(e.minute), last(e.second), true
}

func first(set uint64) int { return bits.TrailingZeros64(set) }

func last(set uint64) int { return 63 - bits.LeadingZeros64(set) }

func atLeast(set uint64, n int) (int, bool) {
	set = set >> uint(n) << uint(n)
	return first(set), set != 0
}

func atMost(set uint64, n int) (int, bool) {
	if n < 0 {
		return 0, false
	}
	set &= 1<<uint(n+1) - 1
	return last(set), set != 0
}

// match reports whether a day fires.
func (r *dayRule) match(year int, month time.Month, day int) bool {
	switch {
	case r.anyDay && r.anyWeekday:
		return true
	case r.anyDay:
		return r.matchWeekday(year, month, day)
	case r.anyWeekday:
		return r.matchDay(year, month, day)
	}
	return r.matchDay(year, month, day) || r.matchWeekday(year, month, day)
}

func (r *dayRule) matchDay(year int, month time.Month, day int) bool {
	if r.days&(1<<uint(day)) != 0 {
		return true
	}
	length := lengthOf(year, month)
	for _, before := range r.last {
		if day == length-before {
			return true
		}
	}
	for _, n := range r.nearest {
		if n == 0 {
			n = length
		}
		if n <= length && day == nearestWeekday(year, month, n, length) {
			return true
		}
	}
	return false
}

func (r *dayRule) matchWeekday(year int, month time.Month, day int) bool {
	weekday := int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday())
	if r.weekdays&(1<<uint(weekday)) != 0 {
		return true
	}
	for _, n := range r.nth {
		if n[0] == weekday && (day+6)/7 == n[1] {
			return true
		}
	}
	for _, w := range r.lastOf {
		if w == weekday && day+7 > lengthOf(year, month) {
			return true
		}
	}
	return false
}

// nearestWeekday is the day from Monday to Friday that is nearest to a day of the
// month, within the month.
func nearestWeekday(year int, month time.Month, day, length int) int {
	switch time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}

func lengthOf(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
