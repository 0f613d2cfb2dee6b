package reading_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// past reads runs, newest first: a letter for the status (P, F, E, C, Q) and one for the
// revision.
func past(text string) (runs []reading.Past) {
	status := map[byte]run.Status{'P': run.Passed, 'F': run.Failed, 'E': run.Errored, 'C': run.Cancelled, 'Q': run.Queued}
	for word := range strings.FieldsSeq(text) {
		runs = append(runs, reading.Past{Status: status[word[0]], RevisionID: word[1:]})
	}
	return runs
}

func TestMarkChanges(t *testing.T) {
	for _, tt := range []struct{ runs, compared, changed string }{
		{"", "", ""},
		{"Pa", "-", "-"},
		{"Pa Pa", "y-", "--"},
		{"Fa Pa Fa", "yy-", "yy-"},
		{"Fa Ea", "y-", "--"}, // neither is good
		{"Fb Pa", "--", "--"}, // other steps
		{"Fa Ca Qa Pa", "y---", "y---"},
		{"Ca Pa Qa Fa", "-y--", "-y--"},
		{"Pb Fa Fb", "---", "---"},
	} {
		runs := past(tt.runs)
		reading.MarkChanges(runs)
		var compared, changed string
		for _, r := range runs {
			compared += map[bool]string{true: "y", false: "-"}[r.Compared]
			changed += map[bool]string{true: "y", false: "-"}[r.Changed]
		}
		require.Equal(t, tt.compared, compared, tt.runs)
		require.Equal(t, tt.changed, changed, tt.runs)
	}
}

func TestSummarize(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	runs := past("Fa Pa Pa Ca Qa Ea")
	for i := range runs {
		ended := began.Add(time.Duration(i+1) * time.Second)
		runs[i].StartedAt = &began
		if runs[i].Status != run.Queued {
			runs[i].FinishedAt = &ended
		}
	}
	none, three := 0, 3
	runs[1].Healed, runs[2].Healed = &three, &none
	reading.MarkChanges(runs)
	s := reading.Summarize(runs)
	require.Equal(t, []int{6, 2, 1, 1, 1, 1, 1, 3, 2}, []int{s.Runs, s.Passed, s.Failed, s.Errored, s.Cancelled, s.Open,
		s.Healed, s.Compared, s.Changed})
	require.Equal(t, 3*time.Second, *s.Mean, "1, 2, 3 and 6 seconds: what was cancelled does not count")
	require.Equal(t, 6*time.Second, *s.P95)
	require.Nil(t, reading.Summarize(past("Ca Qa")).Mean)
}

func TestPairSteps(t *testing.T) {
	records := func(text string) (list []playback.Record) {
		for id := range strings.FieldsSeq(text) {
			list = append(list, playback.Record{StepID: id})
		}
		return list
	}
	for _, tt := range []struct{ then, now, want string }{
		{"a b c", "a b c", "a=a b=b c=c"},
		{"a b c", "a c", "a=a b=- c=c"},
		{"a c", "a b c", "a=a -=b c=c"},
		{"x a", "a", "x=- a=a"},
		{"a b", "b a", "b=b a=a"},
		{"a a", "a", "a=a a=-"},
		{"", "a", "-=a"},
		{"a b", "", "a=- b=-"},
	} {
		var got []string
		for _, p := range reading.PairSteps(records(tt.then), records(tt.now)) {
			name := func(r *playback.Record) string {
				if r == nil {
					return "-"
				}
				return r.StepID
			}
			got = append(got, name(p.Then)+"="+name(p.Now))
		}
		require.Equal(t, tt.want, strings.Join(got, " "), "%s | %s", tt.then, tt.now)
	}
}

func TestDifferences(t *testing.T) {
	of := func(status, message string, ms int64) *playback.Record {
		return &playback.Record{Status: status, Result: step.Outcome{Message: message}, TookMS: ms}
	}
	require.Empty(t, reading.StepPair{of("PASSED", "", 900), of("PASSED", "", 1300)}.Differences(), "less than twice as long")
	require.Empty(t, reading.StepPair{of("PASSED", "", 10), of("PASSED", "", 400)}.Differences(), "less than half a second more")
	require.Equal(t, []string{"status", "message", "duration"},
		reading.StepPair{of("PASSED", "", 100), of("FAILED", "no", 5000)}.Differences())
	require.Equal(t, []string{"presence"}, reading.StepPair{nil, of("PASSED", "", 1)}.Differences())
}

func TestHistory(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	result := func() (state string) {
		t.Helper()
		require.NoError(t, w.DB.GetContext(ctx, &state, `select state from test_case_results where case_id = $1`, c.ID))
		return state
	}
	require.Equal(t, "NONE", result())
	var ids []uuid.UUID
	for _, status := range []run.Status{run.Failed, run.Passed, run.Failed, run.Errored} {
		r := w.NewRun(c, 1)
		require.Equal(t, "QUEUED", result())
		w.MustEnd(r.Jobs[0].ID, status)
		require.Equal(t, string(status), result())
		ids = append(ids, r.ID)
	}
	other := w.NewCase(w.Org.Member.Writer, "another")
	found, err := reading.CasesHistory(ctx, w.DB, w.Org.ID, []string{other.ID, c.ID}, 3, time.Time{})
	require.NoError(t, err)
	require.Empty(t, found[other.ID].Runs)
	require.Len(t, found[c.ID].Runs, 3)
	require.True(t, found[c.ID].More)
	newest := found[c.ID].Runs
	found, err = reading.CasesHistory(ctx, w.DB, w.Org.ID, []string{c.ID}, 1, newest[1].CreatedAt)
	require.NoError(t, err)
	require.Equal(t, newest[2].ID, found[c.ID].Runs[0].ID, "the newest before the instant")
	require.Len(t, found[c.ID].Runs, 1)

	// Nothing of it is another organization's.
	found, err = reading.CasesHistory(ctx, w.DB, w.Rival.ID, []string{c.ID}, 3, time.Time{})
	require.NoError(t, err)
	require.Empty(t, found)
	all, total, err := reading.All(ctx, w.DB, reading.AllFilter{OrganizationID: w.Rival.ID, Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Zero(t, total)
	require.Empty(t, all)
	all, total, err = reading.All(ctx, w.DB, reading.AllFilter{OrganizationID: w.Org.ID, Status: run.Failed, Page: storage.Page{Limit: 1}})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.Equal(t, ids[2], all[0].ID)

	// What is left when runs are forgotten counts.
	good := w.NewRun(c, 1)
	w.MustEnd(good.Jobs[0].ID, run.Passed)
	w.Exec(`delete from test_runs where id = any($1::uuid[])`, storage.UUIDs([]uuid.UUID{good.ID, ids[3]}))
	require.Equal(t, "FAILED", result())
	w.Exec(`delete from test_runs where case_id = $1`, c.ID)
	require.Equal(t, "NONE", result())
}

func TestSuitesHistory(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	first, jobs := w.SuiteRun(2, 1)
	w.MustEnd(jobs[0], run.Passed)
	w.MustEnd(jobs[1], run.Failed)
	runs, err := reading.NewestOfSuite(ctx, w.DB, w.Org.ID, first.SuiteID, 5)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Nil(t, runs[0].Healed, "nobody counted")
	var cases []string
	require.NoError(t, w.DB.SelectContext(ctx, &cases, `select case_id from test_runs where suite_run_id = $1`, first.ID))
	for organization, n := range map[int64]int{w.Org.ID: 2, w.Rival.ID: 0} {
		cells, err := reading.Cells(ctx, w.DB, organization, []uuid.UUID{first.ID}, cases)
		require.NoError(t, err)
		require.Len(t, cells, n)
		found, err := reading.SuitesHistory(ctx, w.DB, organization, []uuid.UUID{first.SuiteID}, 5)
		require.NoError(t, err)
		require.Len(t, found, n/2)
	}
}

func TestGoodBefore(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	good, newer := w.NewRun(c, 1), w.NewRun(c, 1)
	w.MustEnd(good.Jobs[0].ID, run.Passed)
	w.MustEnd(newer.Jobs[0].ID, run.Failed)
	bad := w.NewRun(c, 1)
	w.MustEnd(bad.Jobs[0].ID, run.Failed)
	after := w.NewRun(c, 1)
	w.MustEnd(after.Jobs[0].ID, run.Passed)
	read := func(organization int64) map[uuid.UUID]reading.Good {
		t.Helper()
		r, err := reading.ByID(ctx, w.DB, w.Org.ID, c.ID, bad.ID)
		require.NoError(t, err)
		found, err := reading.GoodBefore(ctx, w.DB, organization, r)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, good.ID, read(w.Org.ID)[bad.Jobs[0].ID].RunID, "the last one before, not the one after")
	require.Empty(t, read(w.Rival.ID))
	w.Exec(`update test_jobs set target = jsonb_set(target, '{capabilities,slipway:options}', '{"name": "log in", "build": "1.1"}') where id = $1`, good.Jobs[0].ID)
	require.Equal(t, good.ID, read(w.Org.ID)[bad.Jobs[0].ID].RunID, "another build is no other target")
	w.Exec(`update test_jobs set target = '{"capabilities":{"browserName":"another"}}' where id = $1`, good.Jobs[0].ID)
	require.Empty(t, read(w.Org.ID), "another target")
}

// The history of a case with many runs is read from indexes.
func TestHistoryOfManyRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	r := w.NewRun(c, 1)
	w.MustEnd(r.Jobs[0].ID, run.Passed)
	const n = 10_000
	w.Exec(`alter table test_runs disable trigger test_runs_result_added`)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state, created_at)
		select gen_random_uuid(), organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name,
			case when i = $2::int then 'PASSED' else 'FAILED' end, created_at - i * interval '1 second'
		from test_runs, generate_series(1, $2::int) i where id = $1`, r.ID, n)
	w.Exec(`update test_runs set state = 'FAILED' where id = $1`, r.ID)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state, created_at)
		select gen_random_uuid(), organization_id, team_id, lpad(to_hex(i % 100), 24, '0'), revision_id, user_uuid, case_name, build_name, 'PASSED',
			created_at + i * interval '1 second'
		from test_runs, generate_series(1, $2::int) i where id = $1`, r.ID, n)
	w.Exec(`vacuum analyze test_runs, test_jobs`)
	// How all are counted is left to the planner.
	for name, want := range map[string]struct {
		index string
		args  []any
	}{
		"cases":      {"test_runs_newest", []any{w.Org.ID, `{` + c.ID + `}`, 31, `infinity`}},
		"all":        {"Index Only Scan using test_runs_recent", []any{w.Org.ID, 20, 0}},
		"of a state": {"test_runs_state", []any{w.Org.ID, run.Errored, 20, 0}},
	} {
		var lines []string
		require.NoError(t, w.DB.SelectContext(ctx, &lines, `explain `+reading.HistoryStatements()[name], want.args...))
		plan := strings.Join(lines, "\n")
		require.Contains(t, plan, want.index, name)
		if name != "all" {
			require.NotContains(t, plan, "Seq Scan on test_runs", name)
		}
	}
}
