package reading_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestGroupList(t *testing.T) {
	t.Parallel()
	r := open(t)
	second := r.Org.CrashProject("second")
	day := 24 * time.Hour
	// a is seen on day 0, b from day 1 to 3, c on day 2 of another project; d
	// and e at one moment.
	r.Record(
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes = crashtest.Grouping("a"), `{"user":"ann","n":1,"ok":true}`
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.OccurredAt = crashtest.Grouping("b"), `{"user":"bob","n":"1"}`, crashtest.Epoch.Add(day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.Attributes, c.OccurredAt = crashtest.Grouping("b"), `{"x":7}`, crashtest.Epoch.Add(3*day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.ProjectID, c.OccurredAt = crashtest.Grouping("c_%"), second, crashtest.Epoch.Add(2*day)
		}),
		r.Made(func(c *crash.Crash) {
			c.Group, c.OccurredAt, c.Duplicates = crashtest.Grouping("d"), crashtest.Epoch.Add(-day), 9
		}),
		r.Made(func(c *crash.Crash) { c.Group, c.OccurredAt = crashtest.Grouping("e"), crashtest.Epoch.Add(-day) }))
	id := r.Group("a").ID
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		_, err := crash.ChangeGroup(t.Context(), tx, crashtest.Writer(r.Org.ID), id, crash.GroupChange{State: fixture.Ptr(crash.Ignored)})
		return err
	})
	attribute := func(pairs ...string) (list []condition.Attribute) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, condition.Attribute{Key: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	hexOf := fmt.Sprintf("%X", r.Group("d").Fingerprint[:4])
	for _, c := range []struct {
		name   string
		filter reading.GroupFilter
		want   string
	}{
		{"default", reading.GroupFilter{}, "b,c_%,a,e,d"},
		{"ascending", reading.GroupFilter{Ascending: true}, "d,e,a,c_%,b"},
		{"first seen", reading.GroupFilter{Sort: reading.SortFirstSeen}, "c_%,b,a,e,d"},
		{"count", reading.GroupFilter{Sort: reading.SortCount}, "d,b,c_%,a,e"},
		{"project", reading.GroupFilter{Projects: []int64{second}}, "c_%"},
		{"state", reading.GroupFilter{States: []crash.GroupState{crash.Ignored}}, "a"},
		{"open", reading.GroupFilter{States: []crash.GroupState{crash.Open}}, "b,c_%,e,d"},
		{"title", reading.GroupFilter{Search: "TITLE A"}, "a"},
		{"culprit", reading.GroupFilter{Search: "rit b"}, "b"},
		{"pattern characters", reading.GroupFilter{Search: "_%"}, "c_%"},
		{"fingerprint", reading.GroupFilter{Search: hexOf}, "d"},
		{"string", reading.GroupFilter{Attributes: attribute("user", "ann")}, "a"},
		{"number or text", reading.GroupFilter{Attributes: attribute("n", "1")}, "b,a"},
		{"number written otherwise", reading.GroupFilter{Attributes: attribute("n", "1.0")}, "a"},
		{"boolean", reading.GroupFilter{Attributes: attribute("ok", "true")}, "a"},
		{"both", reading.GroupFilter{Attributes: attribute("n", "1", "user", "bob")}, "b"},
		{"of one report", reading.GroupFilter{Attributes: attribute("x", "7", "user", "bob")}, ""},
		{"from", reading.GroupFilter{Window: reading.Window{From: crashtest.Epoch.Add(2 * day)}}, "b,c_%"},
		{"to", reading.GroupFilter{Window: reading.Window{To: crashtest.Epoch.Add(day)}}, "a,e,d"},
		{"between", reading.GroupFilter{Window: reading.Window{From: crashtest.Epoch.Add(day), To: crashtest.Epoch.Add(2 * day)}}, "b"},
		{"hostile", reading.GroupFilter{Attributes: attribute(`a":1}' or true--`, `"`)}, ""},
	} {
		got, total := r.Titles(c.filter)
		require.Equal(t, c.want, got, c.name)
		if c.want != "" {
			require.Equal(t, strings.Count(c.want, ",")+1, total, c.name)
		}
	}
	// Pages neither overlap nor leave anything out, ties included.
	var all []string
	for offset := range 5 {
		got, total := r.Titles(reading.GroupFilter{Limit: 1, Offset: offset})
		require.Equal(t, 5, total)
		all = append(all, got)
	}
	require.Equal(t, "b,c_%,a,e,d", strings.Join(all, ","))
	_, total, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Rival.ID, Limit: 10})
	require.NoError(t, err)
	require.Zero(t, total.Rows)
	_, _, err = reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Sort: "id; drop table"})
	var invalid *storage.InvalidError
	require.ErrorAs(t, err, &invalid)
}

func TestListShowsTenValues(t *testing.T) {
	t.Parallel()
	r := open(t)
	for i := range 30 {
		r.Record(r.Made(func(c *crash.Crash) { c.Version, c.Duplicates = fmt.Sprintf("v%02d", i), 1+i%7 }))
	}
	groups, _, err := reading.Groups(t.Context(), r.DB, reading.GroupFilter{OrganizationID: r.Org.ID, Limit: 5})
	require.NoError(t, err)
	require.Equal(t, 30, groups[0].Versions.Total)
	require.Len(t, groups[0].Versions.Values, 10)
	require.Equal(t, "v06", groups[0].Versions.Values[0].Value)
	require.Empty(t, groups[0].Hosts.Values)
}

func TestCrashesOfAGroup(t *testing.T) {
	t.Parallel()
	r := open(t)
	conflict := uuid.New()
	var want []uuid.UUID
	for i := range 7 {
		c := r.Made(func(c *crash.Crash) {
			c.OccurredAt = crashtest.Epoch.Add(time.Duration(i/2) * time.Hour)
			c.Attributes = fmt.Sprintf(`{"i":%d}`, i%3)
			if i == 6 {
				c.ConflictOf = &conflict
			}
		})
		r.Record(c)
		want = append([]uuid.UUID{c.ID}, want...)
	}
	f := reading.CrashFilter{OrganizationID: r.Org.ID, GroupID: r.Group("k").ID, Limit: 3}
	var got []uuid.UUID
	for f.Offset = 0; f.Offset < 7; f.Offset += 3 {
		rows, total, err := reading.Crashes(t.Context(), r.DB, f)
		require.NoError(t, err)
		require.Equal(t, 7, total.Rows)
		for _, r := range rows {
			got = append(got, r.ID)
			require.Equal(t, r.ID == want[0], r.ConflictOf != nil)
		}
	}
	require.Equal(t, want, got)
	f.Offset = 0
	f.Attributes = []condition.Attribute{{Key: "i", Value: "0"}}
	f.Window = reading.Window{From: crashtest.Epoch.Add(time.Hour), To: crashtest.Epoch.Add(4 * time.Hour)}
	rows, total, err := reading.Crashes(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Equal(t, 2, total.Rows)
	require.Len(t, rows, 2)
	f.OrganizationID = r.Rival.ID
	_, total, err = reading.Crashes(t.Context(), r.DB, f)
	require.NoError(t, err)
	require.Zero(t, total.Rows)
}

func TestPendingCrashIsReadable(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := uuid.New()
	got, _ := r.Accept(r.Incoming(id, crashtest.Document(id, "boom")), r.Incoming(uuid.New(), "unreadable"))
	d, err := reading.CrashByID(t.Context(), r.Store, r.Org.ID, got[0].ID)
	require.NoError(t, err)
	require.Equal(t, crash.Pending, d.State)
	require.Equal(t, id, d.UUID)
	require.Equal(t, "boom", d.Message)
	require.Equal(t, "app", d.ProjectName)
	require.JSONEq(t, `{"error.message":"boom","n":7}`, string(d.Attributes))
	require.Nil(t, d.OccurredAt)
	require.Nil(t, d.GroupID)
	d, err = reading.CrashByID(t.Context(), r.Store, r.Org.ID, got[1].ID)
	require.NoError(t, err)
	require.Equal(t, crash.Pending, d.State)
	for _, missing := range []uuid.UUID{uuid.New(), {}} {
		_, err = reading.CrashByID(t.Context(), r.Store, r.Org.ID, missing)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	beyond := got[0].ID
	beyond[15] = 200
	_, err = reading.CrashByID(t.Context(), r.Store, r.Org.ID, beyond)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = reading.CrashByID(t.Context(), r.Store, r.Rival.ID, got[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
