package cron

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Both modules of the differential test are wrong where clocks change. Here the
// rules are applied to every minute of a year, which holds the end of a leap year, in
// the simplest way: a minute is looked at as the clock on the wall shows it.
func TestAsTheClockOnTheWall(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{}
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago",
		"Africa/Casablanca", "Asia/Kathmandu"} {
		zones = append(zones, zone(t, name))
	}
	for _, rule := range []string{"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
		"<-04>4<-03>,M9.1.6/24,M4.1.6/24"} {
		zones = append(zones, ruled(t, rule))
	}
	for i, z := range zones {
		t.Run(z.String(), func(t *testing.T) {
			t.Parallel()
			g := generator{rand.New(rand.NewPCG(5, uint64(i)))}
			wall := wallsOf(time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC), z)
			for range 8 {
				fields := g.plain()
				text := strings.Join(fields, " ")
				e, at := parse(t, text), wall[0].at.Add(-time.Second)
				for _, want := range firesOn(wall, fields) {
					next, ok := e.Next(at, z)
					require.True(t, ok && next.Equal(want), "%s after %s: %s, not %s", text, at.In(z), next, want.In(z))
					if at.Before(wall[0].at) {
						at = next
						continue
					}
					before, ok := e.Previous(next, z)
					require.True(t, ok && before.Equal(at), "%s before %s: %s, not %s", text, next, before, at.In(z))
					at = next
				}
				next, ok := e.Next(at, z)
				require.False(t, ok && next.Before(wall[len(wall)-1].at), "%s after %s: %s", text, at, next)
			}
		})
	}
}

// plain is a random expression of five fields that are each * or a few numbers; the
// hours in which clocks change are frequent.
func (g generator) plain() []string {
	list := func(low, high int, wild int) string {
		if g.IntN(10) < wild {
			return "*"
		}
		var values []string
		for range 1 + g.IntN(3) {
			values = append(values, strconv.Itoa(g.value(low, high)))
		}
		return strings.Join(values, ",")
	}
	return []string{list(0, 59, 1), list(0, 3, 3), list(1, 31, 7), list(1, 12, 8), list(0, 6, 7)}
}

// ruled is a zone of a POSIX rule alone (RFC 8536, section 3.3): the data of a zone
// that has no table of changes.
func ruled(t testing.TB, rule string) *time.Location {
	t.Helper()
	const version2, counts = "TZif2\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x00" + // no UT marks
		"\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + // no standard marks, leap seconds, changes
		"\x00\x00\x00\x01" + "\x00\x00\x00\x04" // one kind of time, four characters
	const kind = "\x00\x00\x00\x00\x00\x00" + "LMT\x00"
	block := version2 + counts + kind
	z, err := time.LoadLocationFromTZData(rule, []byte(block+block+"\n"+rule+"\n"))
	require.NoError(t, err)
	return z
}

type wallMinute struct {
	at       time.Time
	shown    string      // on the wall
	fields   []time.Time // the minutes that this one stands for: itself, after a gap also those left out
	repeated bool
}

// wallsOf goes through the minutes of a year and notes what a clock on the wall
// shows.
func wallsOf(first time.Time, z *time.Location) []wallMinute {
	var list []wallMinute
	seen := map[string]time.Time{}
	// The day before only tells what was seen.
	for at := first.AddDate(0, 0, -1); at.Before(first.AddDate(1, 0, 0)); at = at.Add(time.Minute) {
		local := at.In(z)
		shown := local.Format("2006-01-02 15:04")
		_, repeated := seen[shown]
		seen[shown] = at
		if at.Before(first) {
			continue
		}
		here, _ := time.Parse("2006-01-02 15:04", shown)
		m := wallMinute{at: at, shown: shown, fields: []time.Time{here}, repeated: repeated}
		former, _ := time.Parse("2006-01-02 15:04", at.Add(-time.Minute).In(z).Format("2006-01-02 15:04"))
		for skipped := former.Add(time.Minute); skipped.Before(here); skipped = skipped.Add(time.Minute) {
			m.fields = append(m.fields, skipped)
		}
		list = append(list, m)
	}
	return list
}

// firesOn returns the minutes at which plain fields fire.
func firesOn(walls []wallMinute, fields []string) []time.Time {
	var fires []time.Time
	for _, m := range walls {
		if m.repeated && fields[1] != "*" {
			continue // a fixed hour fires the first time only
		}
		if slices.ContainsFunc(m.fields, func(shown time.Time) bool { return shows(shown, fields) }) {
			fires = append(fires, m.at)
		}
	}
	return fires
}

func shows(at time.Time, fields []string) bool {
	has := func(i, n int) bool {
		return fields[i] == "*" || slices.Contains(strings.Split(fields[i], ","), fmt.Sprint(n))
	}
	if !has(0, at.Minute()) || !has(1, at.Hour()) {
		return false
	}
	day, weekday := has(2, at.Day()), has(4, int(at.Weekday()))
	either := day && weekday
	if fields[2] != "*" && fields[4] != "*" {
		either = day || weekday
	}
	return has(3, int(at.Month())) && either
}
