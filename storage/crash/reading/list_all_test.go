package reading_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

func TestListOfAllCrashes(t *testing.T) {
	t.Parallel()
	r := open(t)
	second := r.Org.CrashProject("second")
	reason := "it broke a rule"
	names := map[uuid.UUID]string{}
	at := func(name string, hours int, change func(c *crash.Crash)) crash.Crash {
		c := r.Made(func(c *crash.Crash) {
			c.ReceivedAt = crashtest.Epoch.Add(time.Duration(hours) * time.Hour)
			if change != nil {
				change(c)
			}
		})
		names[c.ID] = name
		return c
	}
	r.Record(
		at("grouped", 0, func(c *crash.Crash) { c.Attributes = `{"user":"ann"}` }),
		at("dump", 1, func(c *crash.Crash) { c.Group, c.State, c.Format = nil, crash.Stored, "minidump" }),
		at("broken", 2, func(c *crash.Crash) { c.Group, c.State, c.Error = nil, crash.Failed, reason }),
		at("elsewhere", 3, func(c *crash.Crash) { c.ProjectID, c.Attributes = second, `{"user":"ann","n":1}` }),
		// The occurrence does not count: this one came last.
		at("late", 4, func(c *crash.Crash) { c.OccurredAt = crashtest.Epoch.Add(-time.Hour) }))
	// Of another organization.
	r.Must(func(_ context.Context, tx *storage.Tx) error {
		return crash.Record(t.Context(), tx, r.Rival.ID, []crash.Crash{r.Made(func(c *crash.Crash) { c.ProjectID = r.RivalProject })})
	})
	hour := func(n int) time.Time { return crashtest.Epoch.Add(time.Duration(n) * time.Hour) }
	ann := []condition.Attribute{{Key: "user", Value: "ann"}}
	for name, c := range map[string]struct {
		filter reading.ListFilter
		want   string
	}{
		"all":           {reading.ListFilter{}, "late elsewhere broken dump grouped"},
		"project":       {reading.ListFilter{Projects: []int64{second}}, "elsewhere"},
		"processed":     {reading.ListFilter{States: []crash.State{crash.Processed}}, "late elsewhere grouped"},
		"stored":        {reading.ListFilter{States: []crash.State{crash.Stored}}, "dump"},
		"failed":        {reading.ListFilter{States: []crash.State{crash.Failed}}, "broken"},
		"attribute":     {reading.ListFilter{Attributes: ann}, "elsewhere grouped"},
		"both":          {reading.ListFilter{Attributes: ann, Projects: []int64{r.Project}}, "grouped"},
		"from":          {reading.ListFilter{From: hour(3)}, "late elsewhere"},
		"to":            {reading.ListFilter{To: hour(1)}, "grouped"},
		"between":       {reading.ListFilter{From: hour(1), To: hour(3)}, "broken dump"},
		"unknown uuid":  {reading.ListFilter{UUID: uuid.New()}, ""},
		"other project": {reading.ListFilter{Projects: []int64{r.RivalProject}}, ""},
	} {
		f := c.filter
		f.OrganizationID = r.Org.ID
		// Page by page, so that pages neither overlap nor leave anything out.
		got, total := "", 0
		for f.Limit = 2; ; f.Offset += 2 {
			rows, n, err := reading.List(t.Context(), r.DB, f)
			require.NoError(t, err, name)
			total = n.Rows
			for _, r := range rows {
				if got != "" {
					got += " "
				}
				got += names[r.ID]
				require.Equal(t, r.State == crash.Processed, r.GroupID != nil, name)
				require.NotEmpty(t, r.ProjectName, name)
				require.Nil(t, r.Attributes, name)
				if r.State == crash.Failed {
					require.Equal(t, reason, *r.Error)
				}
			}
			if len(rows) == 0 {
				break
			}
		}
		require.Equal(t, c.want, got, name)
		want := 0
		if c.want != "" {
			want = 1
			for _, letter := range c.want {
				if letter == ' ' {
					want++
				}
			}
		}
		require.Equal(t, want, total, name)
	}
	for _, state := range []crash.State{crash.Pending, "x"} {
		_, _, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: r.Org.ID, States: []crash.State{state}})
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid)
	}
	rows, total, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: r.Org.ID, Limit: 100, Offset: reading.ListReach})
	require.NoError(t, err)
	require.Equal(t, 5, total.Rows)
	require.Empty(t, rows)
}

// A uuid names the report that came first and those that came with another
// content after it.
func TestListByUUID(t *testing.T) {
	t.Parallel()
	r := open(t)
	id := uuid.New()
	var want []uuid.UUID
	for i := range 2 {
		receipts, _ := r.Accept(r.Incoming(id, crashtest.Document(id, fmt.Sprint("message ", i))))
		c := r.Made(func(c *crash.Crash) {
			c.ID, c.UUID, c.ReceivedAt = receipts[0].ID, id, crashtest.Epoch.Add(time.Duration(i)*time.Hour)
		})
		r.Record(c)
		want = append([]uuid.UUID{c.ID}, want...)
	}
	r.Record(r.Made(nil))
	list := func(organization int64) (got []uuid.UUID) {
		rows, _, err := reading.List(t.Context(), r.DB, reading.ListFilter{OrganizationID: organization, UUID: id, Limit: 10})
		require.NoError(t, err)
		for _, r := range rows {
			got = append(got, r.ID)
		}
		return got
	}
	require.Equal(t, want, list(r.Org.ID))
	require.Empty(t, list(r.Rival.ID))
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	r := open(t)
	with, without := r.Made(nil), r.Made(func(c *crash.Crash) { c.Group, c.State = nil, crash.Stored })
	r.Record(with, without)
	g, err := reading.GroupOf(t.Context(), r.DB, r.Org.ID, with.ID)
	require.NoError(t, err)
	require.Equal(t, reading.GroupHead{ID: r.Group("k").ID, Title: "title k", Culprit: "culprit k", State: crash.Open}, *g)
	_, err = reading.GroupOf(t.Context(), r.DB, r.Org.ID, without.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = reading.GroupOf(t.Context(), r.DB, r.Rival.ID, with.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
