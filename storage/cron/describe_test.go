package cron

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"30 9 * * 1-5":      "At 09:30 on Monday to Friday",
		"0 8,20 * * *":      "At 08:00 and 20:00",
		"*/5 * * * *":       "Every 5 minutes",
		"* * * * *":         "Every minute",
		"*/10 * * * * *":    "Every 10 seconds",
		"* * * * * *":       "Every second",
		"@hourly":           "At minute 0 of the hour",
		"*/15 9-17 * * MON": "Every 15 minutes, hours 9 to 17 of the day on Monday",
		"0 0 L * *":         "At 00:00 on the last day of the month",
		"0 0 15W,LW * *":    "At 00:00 on the weekday nearest to day 15 and the last weekday (Monday to Friday) of the month",
		"0 0 13 * FRI":      "At 00:00 on day 13 of the month or on Friday",
		"0 6 ? * 5#3":       "At 06:00 on the third Friday of the month",
		"0 6 ? 1,7 SUN,2L":  "At 06:00 on Sunday and the last Tuesday of the month in January and July",
		"30 0 12 * * *":     "At 12:00:30",
		"5,10 30 * * * *":   "At seconds 5 and 10 of the minute, at minute 30 of the hour",
		"@yearly":           "At 00:00 on day 1 of the month in January",
		// A step that begins a list, and steps that begin anew before they are through.
		"*/20,*/30 * * * *": "At minutes 0, 20, 30 and 40 of the hour",
		"*/40 * * * *":      "At minutes 0 and 40 of the hour",
		"*/7 * * * *":       "At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of the hour",
		"*/5,1 * * * *":     "At minutes 0, 1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50 and 55 of the hour",
		"*/2,5 * * * *":     "At 31 of the 60 minutes of the hour",
		"1/2 * * * *":       "At every 2nd minute from 1 to 59 of the hour",
		"0 */2 * * *":       "At minute 0 of the hour, every 2 hours",
		"0 */5 * * *":       "At 00:00, 05:00, 10:00, 15:00 and 20:00",
		"30 */5 * * * *":    "At second 30 of the minute, every 5 minutes",
		// Only what fires once within the unit fires every so many units.
		"*/10 */4 * * *":        "Every 10 minutes, at hours 0, 4, 8, 12, 16 and 20 of the day",
		"*/30 */20 * * * *":     "Every 30 seconds, at minutes 0, 20 and 40 of the hour",
		"*/10 0-59 * * * *":     "Every 10 seconds",
		"0-20,40-59 9-11 * * *": "At minutes 0 to 20 and 40 to 59 of the hour, hours 9 to 11 of the day",
		// All values of a field, however written, restrict nothing.
		"0 0 1-31 * *":    "At 00:00",
		"0 0 ?,5 * *":     "At 00:00",
		"0 0 1-31 * MON":  "At 00:00",
		"0 0 13 * 0-6":    "At 00:00",
		"0 0 13 1-12 *":   "At 00:00 on day 13 of the month",
		"0-59 0-23 * * *": "Every minute",
		// Days.
		"0 0 L-3 * *":           "At 00:00, 3 days before the last day of the month",
		"0 0 L-1 * MON":         "At 00:00, 1 day before the last day of the month or on Monday",
		"0 0 L-5,1,L,L-3 * *":   "At 00:00 on day 1 and the last day of the month or 3 and 5 days before the last day of the month",
		"0 0 1W,L,L,15W * *":    "At 00:00 on the last day and the weekdays nearest to days 1 and 15 of the month",
		"0 0 1-7,10 * *":        "At 00:00 on days 1 to 7 and 10 of the month",
		"0 0 */2 * *":           "At 00:00 on every 2nd day from 1 to 31 of the month",
		"0 0 1-28/3,2-28/3 * *": "At 00:00 on 19 of the 31 days of the month",
		"0 0 * 1,3-5 SUN,2-4":   "At 00:00 on Sunday and Tuesday to Thursday in January and March to May",
		// Ranges that go on at the field's first value.
		"0 0 * * fri-mon":        "At 00:00 on Friday to Monday",
		"0 0 * * sat-sun":        "At 00:00 on Sunday and Saturday",
		"0 0 * * fri-mon,wed":    "At 00:00 on Wednesday and Friday to Monday",
		"0 0 * * 5-1/2":          "At 00:00 on Sunday and Friday",
		"0 0 1 nov-feb *":        "At 00:00 on day 1 of the month in November to February",
		"0 0 30-2 * *":           "At 00:00 on days 1, 2, 30 and 31 of the month",
		"50-10 * * * *":          "Minutes 50 to 10 of the hour",
		"50-10,30 * * * *":       "At minutes 30 and 50 to 10 of the hour",
		"*/15 22-2 * * *":        "Every 15 minutes, hours 22 to 2 of the day",
		"0 22-2/2 * * *":         "At 00:00, 02:00 and 22:00",
		"* 22-2/2 * * *":         "Every minute, at hours 0, 2 and 22 of the day",
		"0 0 * * 2-1":            "At 00:00",
		"0 0 * * 5#1,5#3,5#1,5L": "At 00:00 on the first and third Friday of the month and the last Friday of the month",
	} {
		require.Equal(t, want, parse(t, text).Describe(), text)
	}
}

// written is an expression of lists, with the special forms of days.
func (g generator) written() string {
	all := make([]string, len(fields))
	for i := range all {
		var items []string
		for range 1 + g.IntN(3)/2*g.IntN(4) {
			item := g.field(fields[i].min, fields[i].max)
			switch special := g.IntN(4) == 0; {
			case special && i == dayField:
				item = []string{"L", "LW", "?", "L-1", "L-3", "15W", "31W"}[g.IntN(7)]
			case special && i == weekdayField:
				item = []string{"5#1", "MON#5", "2L", "?", "7"}[g.IntN(5)]
			}
			items = append(items, item)
		}
		all[i] = strings.Join(items, ",")
	}
	if g.IntN(2) == 0 {
		all[secondField] = []string{"0", "30"}[g.IntN(2)]
	}
	return strings.Join(all, " ")
}

var claim = regexp.MustCompile(`(?i)\bevery (\d+) (second|minute|hour)s`)

// A description that says "every 5 minutes" is true: the times are 5 minutes apart,
// or, where more is restricted, so they are but for those between which it ends.
func TestDescriptionsAreTrue(t *testing.T) {
	t.Parallel()
	g := generator{rand.New(rand.NewPCG(7, 8))}
	units := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour}
	claims, whole := 0, 0
	for range 20_000 {
		text := g.written()
		e := parse(t, text)
		says := e.Describe()
		require.NotEmpty(t, says, text)
		require.Less(t, len(says), 500, "%s: %s", text, says)
		require.Equal(t, says, parse(t, text).Describe(), text)
		found := claim.FindStringSubmatch(says)
		if found == nil {
			continue
		}
		var fires [3]time.Time
		at, ok := g.at(), true
		for i := range fires {
			if fires[i], ok = e.Next(at, time.UTC); !ok {
				break
			}
			at = fires[i]
		}
		if !ok {
			continue // no such day
		}
		n, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		every, one, two := time.Duration(n)*units[found[2]], fires[1].Sub(fires[0]), fires[2].Sub(fires[1])
		require.Equal(t, every, min(one, two), "%s: %s", text, says)
		claims++
		if strings.HasSuffix(says, found[0]) {
			require.Equal(t, every, max(one, two), "%s: %s", text, says)
			whole++
		}
	}
	require.Greater(t, claims, 500)
	require.Greater(t, whole, 50)
}
