package cron

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// few is how many elements of a list are named; of more it is only said how many
// they are, or how far apart.
const few = 15

const (
	allMonths   = 1<<13 - 1<<1
	allDays     = 1<<32 - 1<<1
	allWeekdays = 1<<7 - 1
)

// Describe says in English when the expression fires: "At 09:30 on Monday to
// Friday". "Every 5 minutes" stands only for what fires evenly, so not for */7,
// which begins anew in each hour.
func (e *Expression) Describe() string {
	text := e.describeTime()
	if days := e.describeDate(); days != "" {
		if days[0] != 'o' { // "At 09:30, 3 days before"
			text += ","
		}
		text += " " + days
	}
	if e.month != allMonths {
		text += " in " + join(e.ranges(monthField, e.month, func(n int) string { return time.Month(n).String() }))
	}
	return text
}

func (e *Expression) describeTime() string {
	seconds, minutes, hours := bits.OnesCount64(e.second), bits.OnesCount64(e.minute), bits.OnesCount64(e.hour)
	if minutes*hours <= 6 && seconds == 1 {
		var times []string
		for h := range values(e.hour) {
			for m := range values(e.minute) {
				clock := fmt.Sprintf("%02d:%02d", h, m)
				if s := first(e.second); s != 0 {
					clock += fmt.Sprintf(":%02d", s)
				}
				times = append(times, clock)
			}
		}
		return "At " + join(times)
	}
	var text []string
	if e.second != 1 {
		text = append(text, e.unit(secondField, e.second, "minute", true))
	}
	if e.second == 1 || minutes < 60 {
		text = append(text, e.unit(minuteField, e.minute, "hour", seconds == 1))
	}
	if hours < 24 {
		text = append(text, e.unit(hourField, e.hour, "day", seconds == 1 && minutes == 1))
	}
	sentence := strings.Join(text, ", ")
	return strings.ToUpper(sentence[:1]) + sentence[1:]
}

// unit describes the seconds, minutes or hours of the next larger unit. Only what
// fires once within each of them can be said to fire every so many.
func (e *Expression) unit(index int, set uint64, of string, once bool) string {
	name, size := fields[index].name, fields[index].max+1
	if bits.OnesCount64(set) == size {
		return "every " + name
	}
	if text, ok := strings.CutPrefix(e.parts[index], "*/"); ok && once {
		if step, err := strconv.Atoi(text); err == nil && size%step == 0 {
			return fmt.Sprintf("every %d %ss", step, name)
		}
	}
	text := listed(set, e.ranges(index, set, strconv.Itoa), name, size) + " of the " + of
	if bits.OnesCount64(set) > 2 && len(e.ranges(index, set, strconv.Itoa)) == 1 {
		return text // "minutes 10 to 20"
	}
	return "at " + text
}

// listed names the members of a set, of which there are most; list are its ranges: "minute 5", "minutes
// 0, 5 and 10 to 20", "every 3rd minute from 1 to 58", "31 of the 60 minutes".
func listed(set uint64, list []string, name string, most int) string {
	n := bits.OnesCount64(set)
	if n == 1 {
		return name + " " + strconv.Itoa(first(set))
	}
	if len(list) <= few {
		return name + "s " + join(list)
	}
	low, high := first(set), last(set)
	if step := first(set&(set-1)) - low; set == spread(low, high, step) {
		nth := [...]string{2: "2nd", 3: "3rd"}[step] // so many members are no further apart
		return fmt.Sprintf("every %s %s from %d to %d", nth, name, low, high)
	}
	return fmt.Sprintf("%d of the %d %ss", n, most, name)
}

// describeDate describes the days that fire, "" for all of them.
func (e *Expression) describeDate() string {
	r := &e.days
	if !r.anyDay && r.days == allDays || !r.anyWeekday && r.weekdays == allWeekdays {
		return "" // either is enough
	}
	var parts []string
	if !r.anyDay {
		parts = append(parts, r.describeDays()...)
	}
	if !r.anyWeekday {
		parts = append(parts, "on "+join(e.describeWeekdays()))
	}
	return strings.Join(parts, " or ")
}

func (r *dayRule) describeDays() (parts []string) {
	var on []string
	if r.days != 0 {
		on = append(on, listedDays(r.days))
	}
	before, nearest := setOf(r.last), setOf(r.nearest)
	if before&1 != 0 {
		on = append(on, "the last day")
	}
	switch set := nearest &^ 1; bits.OnesCount64(set) {
	case 0:
	case 1:
		on = append(on, "the weekday nearest to "+listedDays(set))
	default:
		on = append(on, "the weekdays nearest to "+listedDays(set))
	}
	if nearest&1 != 0 {
		on = append(on, "the last weekday (Monday to Friday)")
	}
	if len(on) > 0 {
		parts = append(parts, "on "+join(on)+" of the month")
	}
	switch set := before &^ 1; {
	case set == 0:
	case set == 1<<1:
		parts = append(parts, "1 day before the last day of the month")
	default:
		parts = append(parts, join(ranges(set, strconv.Itoa))+" days before the last day of the month")
	}
	return parts
}

func listedDays(set uint64) string { return listed(set, ranges(set, strconv.Itoa), "day", 31) }

func (e *Expression) describeWeekdays() []string {
	r := &e.days
	weekday := func(n int) string { return time.Weekday(n).String() }
	list := e.ranges(weekdayField, r.weekdays, weekday)
	var nth [7]uint64
	for _, n := range r.nth {
		nth[n[0]] |= 1 << uint(n[1])
	}
	for n, set := range nth {
		if set != 0 {
			which := names(set, func(k int) string { return [...]string{"first", "second", "third", "fourth", "fifth"}[k-1] })
			list = append(list, "the "+join(which)+" "+weekday(n)+" of the month")
		}
	}
	for n := range values(setOf(r.lastOf)) {
		list = append(list, "the last "+weekday(n)+" of the month")
	}
	return list
}

// values goes through the members of a set.
func values(set uint64) func(func(int) bool) {
	return func(yield func(int) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(first(set)) {
				return
			}
		}
	}
}

func setOf(list []int) (set uint64) {
	for _, n := range list {
		set |= 1 << uint(n)
	}
	return set
}

// spread is the set of low, low+step and so on, up to high.
func spread(low, high, step int) (set uint64) {
	for n := low; n <= high; n += step {
		set |= 1 << uint(n)
	}
	return set
}

func names(set uint64, name func(int) string) []string {
	var list []string
	for n := range values(set) {
		list = append(list, name(n))
	}
	return list
}

// ranges names the members of a field's set, as the function ranges does. Where a
// range was written that goes on at the first value, so does the name: "22 to 2".
func (e *Expression) ranges(index int, set uint64, name func(int) string) []string {
	low, high := fields[index].min, top(index)
	all := spread(low, high, 1)
	if !e.wraps[index] || set == all || set&(1<<uint(low)) == 0 || set&(1<<uint(high)) == 0 {
		return ranges(set, name)
	}
	begin := bits.TrailingZeros64(^(set >> uint(low))) // members at the begin
	tail := bits.LeadingZeros64(^(set << uint(63-high)))
	if begin+tail < 3 {
		return ranges(set, name)
	}
	list := ranges(set&^spread(low, low+begin-1, 1)&^spread(high-tail+1, high, 1), name)
	return append(list, name(high-tail+1)+" to "+name(low+begin-1))
}

// ranges names the members of a set; three and more in a row are "10 to 20".
func ranges(set uint64, name func(int) string) []string {
	var list []string
	for set != 0 {
		low := first(set)
		n := bits.TrailingZeros64(^(set >> uint(low))) // in a row
		if n < 3 {
			n = 1
			list = append(list, name(low))
		} else {
			list = append(list, name(low)+" to "+name(low+n-1))
		}
		set &^= 1<<uint(low+n) - 1
	}
	return list
}

// join returns "a, b and c".
func join(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
