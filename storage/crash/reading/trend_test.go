package reading_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestTrendOfAGroup(t *testing.T) {
	t.Parallel()
	r := open(t)
	at := func(hours int, version string, n int) crash.Crash {
		return r.Made(func(c *crash.Crash) {
			c.OccurredAt = crashtest.Epoch.Add(time.Duration(hours) * time.Hour)
			c.ReceivedAt, c.Version, c.Duplicates = c.OccurredAt, version, n
		})
	}
	old := at(-1, "1", 1)
	old.ReceivedAt = crashtest.Epoch.AddDate(0, 1, 0) // waited too long for an hour
	r.Record(at(0, "1", 2), at(0, "2", 1), at(1, "2", 4), at(30, "", 1), old)
	r.Exec(`update crash_version_days set sessions = 40 where version = '2' and day = '2026-03-01'`)
	group := r.Group("k").ID
	trend := func(by reading.TrendBy, w reading.Window) *reading.Trend {
		got, err := reading.TrendOf(t.Context(), r.DB, r.Org.ID, group, by, w, crashtest.Epoch.Add(40*time.Hour))
		require.NoError(t, err)
		return got
	}
	points := func(list []reading.TrendPoint) (text string) {
		for _, p := range list {
			text += fmt.Sprintf("%s:%d ", p.At.UTC().Format("02T15"), p.Count)
		}
		return text
	}
	require.Equal(t, "01T12:3 01T13:4 02T18:1 ", points(trend(reading.ByHour, reading.Window{}).Points))
	require.Equal(t, "01T13:4 ", points(trend(reading.ByHour, reading.Window{From: crashtest.Epoch.Add(time.Hour),
		To: crashtest.Epoch.Add(2 * time.Hour)}).Points))
	require.Equal(t, "01T00:8 02T00:1 ", points(trend(reading.ByDay, reading.Window{}).Points))
	v := trend(reading.ByVersion, reading.Window{})
	require.EqualValues(t, 9, v.Count)
	require.EqualValues(t, 1, v.Others)
	require.Len(t, v.Versions, 2)
	require.Equal(t, "2", v.Versions[0].Version)
	require.Equal(t, "01T00:5 ", points(v.Versions[0].Points))
	require.EqualValues(t, 40, v.Sessions)
	require.InDelta(t, 5.0/40, *v.SessionShare(), 1e-9)
	require.Nil(t, v.Versions[1].SessionShare())

	var invalid *storage.InvalidError
	_, err := reading.TrendOf(t.Context(), r.DB, r.Org.ID, group, reading.ByHour,
		reading.Window{From: crashtest.Epoch.AddDate(0, -1, 0)}, crashtest.Epoch)
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, "from", invalid.Field)
	_, err = reading.TrendOf(t.Context(), r.DB, r.Org.ID, group, "week", reading.Window{}, crashtest.Epoch)
	require.ErrorAs(t, err, &invalid)
	rival, err := reading.TrendOf(t.Context(), r.DB, r.Rival.ID, group, reading.ByDay, reading.Window{}, crashtest.Epoch.Add(time.Hour))
	require.NoError(t, err)
	require.Zero(t, rival.Count)
}

// More versions than a group remembers count as others, and what is removed goes from them.
func TestTrendOfManyVersions(t *testing.T) {
	t.Parallel()
	r := open(t)
	var crashes []crash.Crash
	for i := range 250 {
		crashes = append(crashes, r.Made(func(c *crash.Crash) { c.Version = fmt.Sprint("v", i) }))
	}
	r.Record(crashes...)
	got, err := reading.TrendOf(t.Context(), r.DB, r.Org.ID, r.Group("k").ID, reading.ByVersion, reading.Window{},
		crashtest.Epoch.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, got.Versions, 20)
	require.EqualValues(t, 230, got.Others)
	require.EqualValues(t, 201, r.ID(`select count(*) from crash_group_version_days`))
}
