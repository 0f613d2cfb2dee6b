package plan

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func TestDatesAreWrittenAsPagesShowThem(t *testing.T) {
	t.Parallel()
	m := moment{year: 2016, month: 5, day: 12, hour: 15, minute: 45, second: -1}
	for format, want := range map[string]string{"mm/dd/yyyy": "05/12/2016", "TT.MM.JJJJ": "12.05.2016", "yyyy-mm-dd": "2016-05-12",
		"d/m/yy": "12/5/16", "hh:mm aa": "03:45 PM", "HH:mm": "15:45", "dd MMM yyyy": "12 May 2016"} {
		f, ok := formatOf(format)
		require.True(t, ok, format)
		got, ok := f.write(m, "en")
		require.True(t, ok, format)
		require.Equal(t, want, got, format)
	}
	for _, wrong := range []string{"", "Your name", "Search", "12/05/2016", "mm"} {
		_, ok := formatOf(wrong)
		require.False(t, ok, wrong)
	}
}

func TestDatesAreReadFromPages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"December 5, 2016", "5. Dezember 2016", "2016-12-05", "12/05/2016", "Monday, December 5th, 2016"} {
		m, ok := readDay(text, false)
		require.True(t, ok, text)
		require.Equal(t, []int{2016, 12, 5}, []int{m.year, m.month, m.day}, text)
	}
	for _, text := range []string{"", "5", "December", "31.02.2016", "12:30 12/05", "version 2016.1.2.3"} {
		_, ok := readDay(text, false)
		require.False(t, ok, text)
	}
}

func TestFewestMovesReachTheOrder(t *testing.T) {
	t.Parallel()
	for want, most := range map[string]int{"0123": 0, "3012": 1, "1230": 1, "3210": 3, "1032": 2} {
		order := make([]int, len(want))
		for i, r := range want {
			order[i] = int(r - '0')
		}
		now := []int{0, 1, 2, 3}
		moves := fewestMoves(order)
		require.Len(t, moves, most, want)
		for _, m := range moves {
			require.Equal(t, m.Item, now[m.From], want)
			now = slices.Insert(slices.Delete(now, m.From, m.From+1), m.To, m.Item)
		}
		require.Equal(t, order, now, want)
	}
}

func TestNumberPatternsCompare(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 5, 9, 10, 42, 99, 100, 205} {
		for _, mode := range []string{step.AtLeast, step.AtMost} {
			pattern, ok := numberPattern(strconv.Itoa(limit), mode, false)
			require.True(t, ok)
			compiled := regexp.MustCompile(pattern)
			for n := range 1200 {
				want := n >= limit
				if mode == step.AtMost {
					want = n <= limit
				}
				require.Equal(t, want, compiled.MatchString("there are "+strconv.Itoa(n)+" left"), "%d %s %d", n, mode, limit)
			}
		}
	}
}

func TestOccurrencesAreWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, value string
		want        bool
	}{{"Total: 12.50 €", "12.50", true}, {"Total: 112.50", "12.50", false}, {"12.505", "12.50", false}, {"There are 12", "2", false},
		{"Saved well", "saved", true}, {"information", "in", false}, {"1.5", "5", false}, {"Item 5.", "5", true}} {
		_, got := occurrence(c.text, c.value)
		require.Equal(t, c.want, got, "%q in %q", c.value, c.text)
	}
}

func TestPatternsOfValuesAreSmallEnough(t *testing.T) {
	t.Parallel()
	pattern, err := step.Pattern(belongs("total", "12.50"))
	require.NoError(t, err)
	for text, want := range map[string]bool{"Total: 12.50 €": true, "Total (net) 12.50": false, "Total 112.50": false, "Total: $12.50.": true, "Subtotal 12.50": false} {
		require.Equal(t, want, pattern.MatchString(text), text)
	}
}

func TestExtremesNeedOneValueEach(t *testing.T) {
	t.Parallel()
	cheapest := &intent.Extreme{Of: "price"}
	at, ok := extremeOf([]string{"Flight 12 $300", "Flight 7 $120", "Flight 9 $240"}, cheapest)
	require.True(t, ok)
	require.Equal(t, 1, at)
	_, ok = extremeOf([]string{"$300", "free", "$240"}, cheapest)
	require.False(t, ok)
	_, ok = extremeOf([]string{"$120", "$120"}, cheapest)
	require.False(t, ok)
	at, ok = extremeOf([]string{"2h 35m", "1h 50m", "12h"}, &intent.Extreme{Of: "duration", Max: true})
	require.True(t, ok)
	require.Equal(t, 2, at)
}

// A calendar is found in whatever elements its days are, with what leads to other months.
func TestCalendarsAreFound(t *testing.T) {
	t.Parallel()
	text := "div\n  button \"Prev\"\n  text \"December 2016\"\n  button \"Next\"\n  div\n    span \"29\"\n    span \"30\"\n"
	for day := 1; day <= 31; day++ {
		text += "    span \"" + strconv.Itoa(day) + "\"\n"
	}
	v := newView(outline(t, text+"    span \"1\"\n    span \"2\"\n"))
	all := v.calendars(false)
	require.Len(t, all, 1)
	c := all[0]
	require.Len(t, c.days, 31)
	require.Equal(t, []int{2016, 12}, []int{c.year, c.month})
	require.Equal(t, "Prev", v.Nodes[c.previous].Name)
	require.Equal(t, "Next", v.Nodes[c.next].Name)
	require.Equal(t, 14, c.monthsTo(2018, 2))
}
