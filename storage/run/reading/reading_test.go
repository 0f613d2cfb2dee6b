package reading_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

func TestRunLists(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	var runs []*run.Run
	for range 3 {
		runs = append(runs, w.NewRun(c, 2))
	}
	w.NewRun(w.NewCase(w.Org.Member.Writer, "another"), 1)
	w.Exec(`update test_runs set created_at = now() - interval '10 days' where id = $1`, runs[0].ID)
	list := func(f reading.Filter) ([]run.Run, int) {
		f.CaseID = c.ID
		if f.OrganizationID == 0 {
			f.OrganizationID = w.Org.ID
		}
		got, total, err := reading.List(fixture.Context(t), w.DB, f)
		require.NoError(t, err)
		return got, total
	}
	got, total := list(reading.Filter{Page: storage.Page{Limit: 2}})
	require.Equal(t, 3, total)
	require.Equal(t, []uuid.UUID{runs[2].ID, runs[1].ID}, []uuid.UUID{got[0].ID, got[1].ID})
	require.Len(t, got[0].Jobs, 2)
	require.Equal(t, 1, got[0].Jobs[1].Position)
	for name, tt := range map[string]struct {
		f           reading.Filter
		rows, total int
	}{
		"total only":   {reading.Filter{}, 0, 3},
		"behind":       {reading.Filter{Page: storage.Page{Offset: 5, Limit: 2}}, 0, 3},
		"second page":  {reading.Filter{Page: storage.Page{Offset: 2, Limit: 2}}, 1, 3},
		"from":         {reading.Filter{From: runs[1].CreatedAt, Page: storage.Page{Limit: 9}}, 2, 2},
		"to":           {reading.Filter{To: runs[1].CreatedAt, Page: storage.Page{Limit: 9}}, 1, 1},
		"user":         {reading.Filter{User: &w.Org.Member.UUID, Page: storage.Page{Limit: 9}}, 3, 3},
		"other user":   {reading.Filter{User: &w.Org.Owner.UUID, Page: storage.Page{Limit: 9}}, 0, 0},
		"team":         {reading.Filter{Team: &w.Org.Team.UUID, Page: storage.Page{Limit: 9}}, 3, 3},
		"other team":   {reading.Filter{Team: &w.Org.Side.UUID, Page: storage.Page{Limit: 9}}, 0, 0},
		"rival":        {reading.Filter{OrganizationID: w.Rival.ID, Page: storage.Page{Limit: 9}}, 0, 0},
		"unknown team": {reading.Filter{Team: &fixture.NoUUID, Page: storage.Page{Limit: 9}}, 0, 0},
	} {
		got, total := list(tt.f)
		require.Len(t, got, tt.rows, name)
		require.Equal(t, tt.total, total, name)
	}
	_, err := reading.ByID(fixture.Context(t), w.DB, w.Rival.ID, c.ID, runs[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = reading.ByID(fixture.Context(t), w.DB, w.Org.ID, strings.Repeat("0", 24), runs[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestSuiteRunLists(t *testing.T) {
	t.Parallel()
	w := open(t)
	first, jobs := w.SuiteRun(3, 1)
	w.MustEnd(jobs[0], run.Passed)
	for _, id := range jobs[1:] {
		_, _, err := w.Begin(id)
		require.NoError(t, err)
	}
	second, err := w.TrySuiteRun(w.Org.Member.Writer, run.NewSuiteRun{SuiteID: first.SuiteID})
	require.NoError(t, err)
	list, total, err := reading.SuiteRuns(fixture.Context(t), w.DB, reading.Filter{OrganizationID: w.Org.ID, SuiteID: first.SuiteID,
		Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, second.ID, list[0].ID)
	require.Equal(t, 1, list[1].Counts[run.Passed])
	require.Equal(t, 2, list[1].Counts[run.Running])
	list, total, err = reading.SuiteRuns(fixture.Context(t), w.DB, reading.Filter{OrganizationID: w.Org.ID, SuiteID: first.SuiteID,
		User: &w.Org.Owner.UUID})
	require.NoError(t, err)
	require.Zero(t, total)
	require.Empty(t, list)
	_, err = reading.SuiteRunByID(fixture.Context(t), w.DB, w.Rival.ID, first.SuiteID, first.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
