package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/slipway-qa/slipway/storage/schedule"
)

func TestUpcoming(t *testing.T) {
	next := time.Date(2026, 3, 28, 1, 30, 0, 0, time.UTC)
	end, three := next.Add(30*time.Hour), 3
	for _, tt := range []struct {
		name string
		s    Schedule
		want int
	}{
		{"every day", Schedule{NextRunAt: &next, Settings: &Settings{Cron: "30 2 * * *", Timezone: "Europe/Berlin"}}, 5},
		{"until its end", Schedule{NextRunAt: &next, Settings: &Settings{Cron: "30 2 * * *", Timezone: "Europe/Berlin", EndAt: &end}}, 2},
		{"some runs are left", Schedule{NextRunAt: &next, RunCount: 1, Settings: &Settings{Cron: "30 2 * * *",
			Timezone: "Europe/Berlin", MaxRuns: &three}}, 2},
		{"disabled", Schedule{Settings: &Settings{Cron: "30 2 * * *", Timezone: "Europe/Berlin"}}, 0},
		{"of a zone that is gone", Schedule{NextRunAt: &next, Settings: &Settings{Cron: "30 2 * * *", Timezone: "Europe/Nowhere"}}, 0},
	} {
		got := tt.s.Upcoming(5)
		require.Len(t, got, tt.want, tt.name)
		if tt.want > 0 {
			require.Equal(t, next, got[0], tt.name)
			require.True(t, got[1].After(got[0]), tt.name)
		}
	}
}
