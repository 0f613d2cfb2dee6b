package schedule_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// yearly is a schedule of the year, and its rule in the words of the test: which
// local times of which days, and whether the hour is a wildcard.
type yearly struct {
	cron      string
	wildHour  bool
	localTime func(minute int) bool // of the day
	day       func(local time.Time) bool
}

func at(minutes ...int) func(int) bool {
	return func(minute int) bool {
		for _, m := range minutes {
			if m == minute {
				return true
			}
		}
		return false
	}
}

// expected walks through the minutes of a time and gives for each rule those at
// which it fires, by local time alone: a local time that the clock skips counts at
// the first minute after the gap; one that it shows a second time counts again only
// where the hour is a wildcard. Clocks change by whole minutes.
func expected(rules []yearly, zone *time.Location, from, to time.Time) [][]time.Time {
	// wall is the local time written as if it were UTC.
	wall := func(at time.Time) time.Time {
		_, east := at.In(zone).Zone()
		return at.Add(time.Duration(east) * time.Second)
	}
	fires := make([][]time.Time, len(rules))
	last := wall(from.Add(-time.Minute)) // the latest local time so far
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		now := wall(at)
		var shown []time.Time // local times that come with this minute
		for w := last.Add(time.Minute); !w.After(now); w = w.Add(time.Minute) {
			shown = append(shown, w)
		}
		again := len(shown) == 0
		if again {
			shown = append(shown, now)
		} else {
			last = now
		}
		for i, rule := range rules {
			for _, w := range shown {
				if (rule.wildHour || !again) && rule.localTime(w.Hour()*60+w.Minute()) && rule.day(w) {
					fires[i] = append(fires[i], at)
					break
				}
			}
		}
	}
	return fires
}

// A clock goes through a year with both changes in zones that change by an hour at
// two, at midnight, and by half an hour, going from one due time to the next.
func TestScheduleYear(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(1, 0, 0)
	lastDay := func(local time.Time) bool { return local.AddDate(0, 0, 1).Day() == 1 }
	// The months in which the clocks of these zones change.
	changing := map[time.Month]bool{time.March: true, time.April: true, time.September: true, time.October: true, time.November: true}
	sundays := func(local time.Time) bool { return local.Weekday() == time.Sunday && changing[local.Month()] }
	weekends := func(local time.Time) bool {
		return sundays(local) || local.Weekday() == time.Saturday && changing[local.Month()]
	}
	rules := []yearly{
		{cron: "30 2 * 3,4,9-11 *", localTime: at(150), day: func(l time.Time) bool { return changing[l.Month()] }},
		{cron: "15 0,1,23 * 3,4,9-11 0,6", localTime: at(15, 75, 23*60+15), day: weekends},
		{cron: "0 * * 3,4,SEP-NOV SUN#1,SUN#2,0L", wildHour: true, localTime: func(m int) bool { return m%60 == 0 }, day: func(l time.Time) bool {
			return sundays(l) && (l.Day() <= 14 || l.AddDate(0, 0, 7).Month() != l.Month())
		}},
		{cron: "*/30 1-3 * 3,4,9-11 7", localTime: func(m int) bool { return m >= 60 && m < 240 && m%30 == 0 }, day: sundays},
		{cron: "0 0 L * *", localTime: at(0), day: lastDay},
	}
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone, err := time.LoadLocation(name)
			require.NoError(t, err)
			require.GreaterOrEqual(t, changes(zone, from, to), 2)
			w := open(t)
			suite := w.smoke(1)
			want, ids, due := map[uuid.UUID][]time.Time{}, []uuid.UUID{}, map[time.Time]int{}
			for i, times := range expected(rules, zone, from, to) {
				rule := rules[i]
				require.Greater(t, len(times), 11)
				id := w.plan(planned{cron: rule.cron, zone: name, next: times[0], end: to.Add(-time.Second), suites: []uuid.UUID{suite}})
				want[id], ids = times, append(ids, id)
				for _, at := range times {
					due[at]++
				}
			}
			steps := w.throughTheYear(from, to)
			require.Equal(t, len(due), steps, "nothing was due at another time")
			for i, id := range ids {
				var got []time.Time
				require.NoError(t, w.DB.SelectContext(fixture.Context(t), &got, `select fire_at from test_schedule_firings
					where schedule_id = $1 and trigger = 'CRON' and outcome = 'STARTED' order by fire_at`, id))
				require.Equal(t, written(want[id], zone), written(got, zone), rules[i].cron)
				require.Equal(t, len(want[id]), w.stored(id).Runs)
				require.EqualValues(t, "DISABLED", w.stored(id).State, "the end of the year")
			}
			require.Equal(t, 0, w.Count(`select count(*) from test_schedule_firings where outcome <> 'STARTED'`))
		})
	}
}

// throughTheYear fires at every time that is due, and gives the number of times.
func (w *room) throughTheYear(from, to time.Time) (steps int) {
	w.T.Helper()
	for {
		var next *time.Time
		require.NoError(w.T, w.DB.GetContext(w.T.Context(), &next, `with ended as (
			update suite_runs set state = 'PASSED' where state = 'QUEUED'
		) select min(next_run_at) from test_schedules`))
		if next == nil {
			return steps
		}
		require.True(w.T, !next.Before(from) && next.Before(to), next)
		// As late as the tick may be.
		late := time.Duration(steps%60) * 999 * time.Millisecond
		var done *DueResult
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			done, err = FireDue(ctx, tx, DueStep{At: next.Add(late), Limit: 500})
			return err
		})
		require.Equal(w.T, done.Claimed, len(done.Started))
		steps++
	}
}

func written(times []time.Time, zone *time.Location) []string {
	list := make([]string, len(times))
	for i, at := range times {
		list[i] = fmt.Sprint(at.UTC().Format(time.RFC3339), " ", at.In(zone).Format("15:04 -0700"))
	}
	return list
}

// changes counts how often the clock of a zone changes.
func changes(zone *time.Location, from, to time.Time) (n int) {
	_, offset := from.In(zone).Zone()
	for at := from; at.Before(to); at = at.Add(time.Hour) {
		if _, now := at.In(zone).Zone(); now != offset {
			n, offset = n+1, now
		}
	}
	return n
}
