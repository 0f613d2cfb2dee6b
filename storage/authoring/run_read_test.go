package authoring_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/authoring"
)

func TestRunLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "log in")
	var runs []*Run
	for range 3 {
		runs = append(runs, w.newRun(c, 2))
	}
	w.newRun(w.newCase(w.w, "another"), 1)
	w.exec(`update test_runs set created_at = now() - interval '10 days' where id = $1`, runs[0].ID)
	list := func(f RunFilter) ([]Run, int) {
		f.CaseID = c.ID
		if f.OrganizationID == 0 {
			f.OrganizationID = w.org
		}
		got, total, err := Runs(testContext(t), w.db, f)
		require.NoError(t, err)
		return got, total
	}
	got, total := list(RunFilter{Page: storage.Page{Limit: 2}})
	require.Equal(t, 3, total)
	require.Equal(t, []uuid.UUID{runs[2].ID, runs[1].ID}, []uuid.UUID{got[0].ID, got[1].ID})
	require.Len(t, got[0].Jobs, 2)
	require.Equal(t, 1, got[0].Jobs[1].Position)
	for name, tt := range map[string]struct {
		f           RunFilter
		rows, total int
	}{
		"total only":   {RunFilter{}, 0, 3},
		"behind":       {RunFilter{Page: storage.Page{Offset: 5, Limit: 2}}, 0, 3},
		"second page":  {RunFilter{Page: storage.Page{Offset: 2, Limit: 2}}, 1, 3},
		"from":         {RunFilter{From: runs[1].CreatedAt, Page: storage.Page{Limit: 9}}, 2, 2},
		"to":           {RunFilter{To: runs[1].CreatedAt, Page: storage.Page{Limit: 9}}, 1, 1},
		"user":         {RunFilter{User: &w.dev.UUID, Page: storage.Page{Limit: 9}}, 3, 3},
		"other user":   {RunFilter{User: &w.boss.UUID, Page: storage.Page{Limit: 9}}, 0, 0},
		"team":         {RunFilter{Team: &w.team.UUID, Page: storage.Page{Limit: 9}}, 3, 3},
		"other team":   {RunFilter{Team: &w.side.UUID, Page: storage.Page{Limit: 9}}, 0, 0},
		"rival":        {RunFilter{OrganizationID: w.rivalOrg, Page: storage.Page{Limit: 9}}, 0, 0},
		"unknown team": {RunFilter{Team: &noUUID, Page: storage.Page{Limit: 9}}, 0, 0},
	} {
		got, total := list(tt.f)
		require.Len(t, got, tt.rows, name)
		require.Equal(t, tt.total, total, name)
	}
	_, err := RunByID(testContext(t), w.db, w.rivalOrg, c.ID, runs[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = RunByID(testContext(t), w.db, w.org, strings.Repeat("0", 24), runs[0].ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestSuiteRunLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, jobs := w.suiteRun(3, 1)
	w.mustEnd(jobs[0], Passed)
	for _, id := range jobs[1:] {
		_, _, err := w.begin(id)
		require.NoError(t, err)
	}
	second, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: run.SuiteID})
	require.NoError(t, err)
	list, total, err := SuiteRuns(testContext(t), w.db, RunFilter{OrganizationID: w.org, SuiteID: run.SuiteID, Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, second.ID, list[0].ID)
	require.Equal(t, 1, list[1].Counts[Passed])
	require.Equal(t, 2, list[1].Counts[Running])
	list, total, err = SuiteRuns(testContext(t), w.db, RunFilter{OrganizationID: w.org, SuiteID: run.SuiteID, User: &w.boss.UUID})
	require.NoError(t, err)
	require.Zero(t, total)
	require.Empty(t, list)
	_, err = SuiteRunByID(testContext(t), w.db, w.rivalOrg, run.SuiteID, run.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}
