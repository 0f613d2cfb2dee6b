package reading_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

func TestSuiteRunsOfBuild(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	app := func() *int64 { return &w.Upload(w.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Build.ID }
	build, other := app(), app()
	one := w.NewSuite(by, "b one", w.NewCase(by, "one").ID)
	two := w.NewSuite(by, "a two", w.NewCase(by, "two").ID, w.NewCase(by, "three").ID)
	start := func(suite *authoring.Suite, build *int64) *run.SuiteRun {
		started, err := w.TrySuiteRun(by, run.NewSuiteRun{SuiteID: suite.ID, Inputs: run.Inputs{BuildID: build}})
		require.NoError(t, err)
		return started
	}
	for range 3 {
		start(one, build)
	}
	newest := start(one, build)
	start(one, other)
	start(one, nil)
	mixed := start(two, build)
	jobs, _, err := w.NextRuns(mixed.ID, 10)
	require.NoError(t, err)
	w.MustEnd(jobs[0], run.Passed)
	w.MustEnd(jobs[1], run.Failed)

	list, err := reading.SuiteRunsOfBuild(fixture.Context(t), w.DB, w.Org.ID, *build)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, mixed.ID, list[0].ID)
	require.Equal(t, run.Failed, list[0].Status)
	require.Equal(t, []int{1, 1, 0}, []int{list[0].Counts[run.Passed], list[0].Counts[run.Failed], list[0].Counts[run.Running]})
	require.Equal(t, newest.ID, list[1].ID)
	require.Equal(t, 1, list[1].Counts[run.Queued])
	for _, of := range [][2]int64{{w.Rival.ID, *build}, {w.Org.ID, *other + 1000}} {
		list, err = reading.SuiteRunsOfBuild(fixture.Context(t), w.DB, of[0], of[1])
		require.NoError(t, err)
		require.Empty(t, list)
	}

	// Each suite costs a look at the index, however many runs it has had on this build and on
	// others.
	w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, state, build_id, created_at)
		select gen_random_uuid(), organization_id, team_id, suite_id, suite_name, user_uuid, build_name, 1, 'PASSED',
			case when i % 100 = 0 then build_id end, created_at - i * interval '1 second'
		from suite_runs, generate_series(1, 10000) i where id = $1`, newest.ID)
	w.Exec(`vacuum analyze suite_runs`)
	var lines []string
	require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain (analyze, costs off, timing off, summary off) `+
		reading.HistoryStatements()["of a build"], w.Org.ID, *build, 200))
	plan := strings.Join(lines, "\n")
	require.Equal(t, 2, strings.Count(plan, "Index Scan using suite_runs_build")+strings.Count(plan,
		"Index Only Scan using suite_runs_build"), plan)
	require.NotContains(t, plan, "rows=100", "runs that are not the newest")
	require.NotContains(t, plan, "Seq Scan on suite_runs")
	list, err = reading.SuiteRunsOfBuild(fixture.Context(t), w.DB, w.Org.ID, *build)
	require.NoError(t, err)
	require.Equal(t, newest.ID, list[1].ID)
	w.Exec(`delete from suite_runs where created_at < $1`, newest.CreatedAt.Add(-time.Second/2))

	// Lists filter by the build.
	runs, total, err := reading.SuiteRuns(fixture.Context(t), w.DB, reading.Filter{OrganizationID: w.Org.ID, SuiteID: one.ID,
		BuildID: *build, Page: storage.Page{Limit: 2}})
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, []int{len(runs), total})
	require.Equal(t, newest.ID, runs[0].ID)
	all, total, err := reading.All(fixture.Context(t), w.DB, reading.AllFilter{OrganizationID: w.Org.ID, BuildID: *build,
		Page: storage.Page{Limit: 10}})
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, []int{len(all), total})
	of, total, err := reading.List(fixture.Context(t), w.DB, reading.Filter{OrganizationID: w.Org.ID, CaseID: all[0].CaseID,
		BuildID: *other, Page: storage.Page{Limit: 10}})
	require.NoError(t, err)
	require.Empty(t, of)
	require.Zero(t, total)
}
