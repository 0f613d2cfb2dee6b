package history_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/history"
	"github.com/slipway-qa/slipway/storage/run"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is the fixture with a case that has runs.
type world struct {
	*fixture.Tests
	c *authoring.Case
}

func open(t *testing.T) *world {
	w := &world{Tests: fixture.NewTests(t)}
	w.c = w.NewCase(w.Org.Member.Writer, "log in")
	return w
}

// ended makes runs of the case that ended so, the oldest first, and returns their ids.
func (w *world) ended(states ...run.Status) (ids []uuid.UUID) {
	w.T.Helper()
	for _, status := range states {
		r := w.NewRun(w.c, 1)
		w.MustEnd(r.Jobs[0].ID, status)
		ids = append(ids, r.ID)
	}
	return ids
}

// page reads a page of the case's history.
func (w *world) page(f Filter, after *Cursor, limit int) (ids []uuid.UUID, p Page) {
	w.T.Helper()
	p, err := OfCase(fixture.Context(w.T), w.DB, w.Org.ID, w.c.ID, f, after, storage.Page{Limit: limit})
	require.NoError(w.T, err)
	for _, r := range p.Runs {
		ids = append(ids, r.ID)
	}
	return ids, p
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.ended(run.Failed, run.Passed, run.Failed, run.Errored)
	got, first := w.page(Filter{}, nil, 2)
	require.Equal(t, []uuid.UUID{ids[3], ids[2]}, got)
	require.False(t, first.Runs[0].Changed)
	require.True(t, first.Runs[1].Changed, "compared with a run of the next page")
	require.Len(t, first.Runs[0].Targets, 1)
	require.Equal(t, []int{0, 1}, []int{*first.Runs[0].Healed, *first.Runs[0].Attempts})
	newer := w.ended(run.Passed)
	got, second := w.page(Filter{}, first.Next, 2)
	require.Equal(t, []uuid.UUID{ids[1], ids[0]}, got, "a new run moves nothing")
	require.Nil(t, second.Next)
	got, _ = w.page(Filter{}, nil, 1)
	require.Equal(t, newer, got)
	got, none := w.page(Filter{}, nil, 0)
	require.Empty(t, got)
	require.Nil(t, none.Next)

	rival, err := OfCase(fixture.Context(t), w.DB, w.Rival.ID, w.c.ID, Filter{}, nil, storage.Page{Limit: 5})
	require.NoError(t, err)
	require.Empty(t, rival.Runs)
}

// The sums of a run that is open, or ended before they were stored, are those of its jobs.
func TestSums(t *testing.T) {
	t.Parallel()
	w := open(t)
	r := w.NewRun(w.c, 2)
	w.MustEnd(r.Jobs[0].ID, run.Passed)
	w.Exec(`update test_jobs set healed = 2, attempts = 1 where id = $1`, r.Jobs[0].ID)
	_, p := w.page(Filter{}, nil, 1)
	require.Equal(t, []int{2, 3}, []int{*p.Runs[0].Healed, *p.Runs[0].Attempts})
	require.Len(t, p.Runs[0].Targets, 2)
	w.MustEnd(r.Jobs[1].ID, run.Passed)
	require.Equal(t, 1, w.Count(`select count(*) from test_runs where healed = 2 and attempts = 3`))
	w.Exec(`update test_runs set healed = null, attempts = null`)
	_, p = w.page(Filter{}, nil, 1)
	require.Equal(t, []int{2, 3}, []int{*p.Runs[0].Healed, *p.Runs[0].Attempts})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.ended(run.Passed, run.Passed, run.Passed)
	build := w.build("1.2.0", "abc")
	w.Exec(`update test_runs set build_id = $2, environment = 'staging', created_at = created_at - interval '2 days' where id = $1`,
		ids[0], build)
	w.Exec(`update test_jobs set target = '{"capabilities":{"browserName":"Firefox","platformName":"linux"}}' where run_id = $1`, ids[1])
	yesterday := time.Now().AddDate(0, 0, -1)
	for name, tt := range map[string]struct {
		f    Filter
		want []uuid.UUID
	}{
		"build":             {Filter{BuildID: build}, ids[:1]},
		"no such build":     {Filter{BuildID: build + 1}, nil},
		"environment":       {Filter{Environment: "staging"}, ids[:1]},
		"browser":           {Filter{Target: "FIREFOX"}, ids[1:2]},
		"platform":          {Filter{Target: "linux"}, ids[1:2]},
		"from":              {Filter{From: yesterday}, []uuid.UUID{ids[2], ids[1]}},
		"to":                {Filter{To: yesterday}, ids[:1]},
		"build and browser": {Filter{BuildID: build, Target: "firefox"}, nil},
	} {
		got, p := w.page(tt.f, nil, 5)
		require.Equal(t, tt.want, got, name)
		require.Nil(t, p.Next, name)
	}
	_, p := w.page(Filter{BuildID: build}, nil, 1)
	require.Equal(t, Build{ID: build, Version: "1.2.0", Commit: "abc"}, p.Runs[0].Build)
	require.Equal(t, "staging", p.Runs[0].Environment)
	require.Nil(t, p.Next)
	got, p := w.page(Filter{From: yesterday}, nil, 1)
	require.Equal(t, ids[2:], got)
	got, _ = w.page(Filter{From: yesterday}, p.Next, 1)
	require.Equal(t, ids[1:2], got)
}

// build inserts an uploaded build.
func (w *world) build(version, commit string) (id int64) {
	w.T.Helper()
	id = w.Upload(w.NewUpload(fixture.APK("com.example.shop", version, version))).Build.ID
	w.Exec(`update builds set metadata = jsonb_build_object('commit', $2::text) where id = $1`, id, commit)
	return id
}

func TestStanding(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	read := func(organization int64) Standing {
		t.Helper()
		s, err := CaseStanding(ctx, w.DB, organization, w.c.ID)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, Standing{}, read(w.Org.ID))
	ids := w.ended(run.Failed, run.Passed, run.Failed, run.Errored)
	build := w.build("2.0", "def")
	w.Exec(`update test_runs set build_id = $2 where id = $1`, ids[2], build)
	s := read(w.Org.ID)
	require.Equal(t, ids[1], s.LastGood.ID)
	require.Equal(t, ids[2], s.FirstBad.ID, "the first after the last good one")
	require.Equal(t, "def", s.FirstBad.Build.Commit)
	require.Equal(t, Standing{}, read(w.Rival.ID))
	good := w.ended(run.Passed)
	s = read(w.Org.ID)
	require.Equal(t, good[0], s.LastGood.ID)
	require.Nil(t, s.FirstBad)
}

func TestSummary(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	read := func(f Filter) Summary {
		t.Helper()
		s, err := OfCaseWindow(fixture.Context(t), w.DB, w.Org.ID, w.c.ID, f, now)
		require.NoError(t, err)
		return s
	}
	require.Equal(t, Summary{Window: Window{From: now.AddDate(0, 0, -30), To: now}}, read(Filter{}))
	ids := w.ended(run.Passed, run.Failed, run.Passed, run.Passed, run.Failed, run.Passed, run.Cancelled)
	one, two := w.build("1", ""), w.build("2", "")
	w.Exec(`update test_runs set build_id = $2 where id = any($1::uuid[])`, storage.UUIDs(ids[:2]), one)
	w.Exec(`update test_runs set build_id = $2 where id = $1`, ids[2], two)
	// Of names of builds: one with a run that passed after it had failed.
	w.Exec(`update test_runs set build_name = case_name where id = any($1::uuid[])`, storage.UUIDs(ids[4:]))
	w.Exec(`update test_runs set flaky = 1 where id = $1`, ids[3])
	w.Exec(`update test_runs set started_at = finished_at - interval '3 seconds'`)
	w.Exec(`update test_runs set created_at = created_at - interval '60 days' where id = $1`, ids[4])
	s := read(Filter{})
	require.Equal(t, []int{6, 4, 1, 1, 1}, []int{s.Runs, s.Passed, s.Failed, s.Cancelled, s.Flaky})
	require.Equal(t, Flakiness{Builds: 2, Names: 1, Days: 1, Both: 2}, s.Flakiness)
	require.Equal(t, []time.Duration{3 * time.Second, 3 * time.Second}, []time.Duration{*s.Mean, *s.P95})
	require.Equal(t, 5, s.Judged())
	s = read(Filter{From: now.AddDate(0, 0, -90)})
	require.Equal(t, Flakiness{Builds: 2, Names: 1, Days: 2, Both: 2}, s.Flakiness)
	s = read(Filter{BuildID: one})
	require.Equal(t, []int{2, 1}, []int{s.Runs, s.Flakiness.Both})
}

func TestSuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	first, jobs := w.SuiteRun(2, 1)
	w.MustEnd(jobs[0], run.Passed)
	w.MustEnd(jobs[1], run.Failed)
	w.Exec(`update test_runs set started_at = finished_at - interval '5 seconds'
		where id = (select run_id from test_jobs where id = $1)`, jobs[1])
	p, err := OfSuite(ctx, w.DB, w.Org.ID, first.SuiteID, Filter{Target: "nothing"}, nil, storage.Page{Limit: 5})
	require.NoError(t, err)
	require.Len(t, p.Runs, 1)
	require.Equal(t, run.Failed, p.Runs[0].Status)
	require.Equal(t, &Counts{Passed: 1, Failed: 1}, p.Runs[0].Cases)
	require.Equal(t, []int{0, 2}, []int{*p.Runs[0].Healed, *p.Runs[0].Attempts})
	s, err := SuiteStanding(ctx, w.DB, w.Org.ID, first.SuiteID)
	require.NoError(t, err)
	require.Nil(t, s.LastGood)
	require.Equal(t, first.ID, s.FirstBad.ID)
	window, err := OfSuiteWindow(ctx, w.DB, w.Org.ID, first.SuiteID, Filter{}, time.Now())
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{window.Runs, window.Flakiness.Names})
	top, err := TopCases(ctx, w.DB, w.Org.ID, first.SuiteID, Filter{}, time.Now())
	require.NoError(t, err)
	require.Equal(t, 1, top.Runs)
	require.Len(t, top.Slowest, 2)
	require.Equal(t, 5000, top.Slowest[0].MeanMS)
	require.Equal(t, 5000, top.Slowest[0].P95MS)
	require.Equal(t, 1, top.Slowest[0].Failed)
	require.Empty(t, top.Flakiest)
	w.Exec(`update test_runs set flaky = 1 where id = (select run_id from test_jobs where id = $1)`, jobs[0])
	top, err = TopCases(ctx, w.DB, w.Org.ID, first.SuiteID, Filter{}, time.Now())
	require.NoError(t, err)
	require.Len(t, top.Flakiest, 1)
	require.Equal(t, []int{1, 1, 1, 1, 0}, []int{top.Flakiest[0].Runs, top.Flakiest[0].Groups, top.Flakiest[0].Both,
		top.Flakiest[0].Flaky, top.Flakiest[0].Failed})
	for _, organization := range []int64{w.Rival.ID} {
		top, err = TopCases(ctx, w.DB, organization, first.SuiteID, Filter{}, time.Now())
		require.NoError(t, err)
		require.Zero(t, top.Runs)
	}
}

// What is read of one case among many runs is in proportion to the page, wherever it is, and to
// the window.
func TestStatementsOfManyRuns(t *testing.T) {
	t.Parallel()
	w := open(t)
	ctx := fixture.Context(t)
	r := w.NewRun(w.c, 1)
	w.MustEnd(r.Jobs[0].ID, run.Passed)
	const n = manyRuns
	w.Exec(`alter table test_runs disable trigger test_runs_result_added`)
	const part = 50_000                                                        // in one statement
	for _, of := range []string{`case_id`, `lpad(to_hex(i % 100), 24, '0')`} { // the case's own are older than all others
		for from := 1; from <= n; from += part {
			w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state, healed,
				attempts, created_at)
				select gen_random_uuid(), organization_id, team_id, `+of+`, revision_id, user_uuid, case_name, build_name,
					case when i = $2::int then 'PASSED' else 'FAILED' end, 0, 1,
					created_at + i * interval '1 second' * case when $3 then -1 else 1 end
				from test_runs, generate_series($4::int, $4::int + $5::int - 1) i where id = $1`, r.ID, n, of == `case_id`, from, part)
		}
	}
	w.Exec(`update test_runs set state = 'FAILED' where id = $1`, r.ID)
	w.Exec(`vacuum analyze test_runs, test_jobs`)
	s, err := CaseStanding(ctx, w.DB, w.Org.ID, w.c.ID)
	require.NoError(t, err)
	require.Equal(t, n, int(r.CreatedAt.Sub(s.LastGood.CreatedAt)/time.Second))
	require.Equal(t, n-1, int(r.CreatedAt.Sub(s.FirstBad.CreatedAt)/time.Second))

	last := "ffffffff-ffff-ffff-ffff-ffffffffffff"
	far := r.CreatedAt.Add(-(n - 100) * time.Second)
	for name, tt := range map[string]struct {
		of    string
		index string
		most  int // rows that any node reads
		args  []any
	}{
		"first page":  {"page", "test_runs_newest", 31, []any{w.Org.ID, w.c.ID, "infinity", last, "-infinity", 31, 31, 0}},
		"last page":   {"page", "test_runs_newest", 31, []any{w.Org.ID, w.c.ID, far, last, "-infinity", 31, 31, 0}},
		"since a day": {"page", "test_runs_newest", 31, []any{w.Org.ID, w.c.ID, "infinity", last, r.CreatedAt.AddDate(0, 0, -1), 31, 31, 0}},
		"filtered": {"filtered", "test_runs_newest", 2000, []any{w.Org.ID, w.c.ID, "infinity", last, "-infinity",
			2000, 31, 0, 1, "staging", "chrome"}},
		"place":    {"place", "test_runs_newest", 2000, []any{w.Org.ID, w.c.ID, "infinity", last, "-infinity", 1, 1999}},
		"window":   {"window", "test_runs_newest", 1000, []any{w.Org.ID, w.c.ID, "infinity", last, "-infinity", 1000, 1, "staging", "chrome"}},
		"standing": {"standing", "test_runs_passed", 3, []any{w.Org.ID, w.c.ID}},
		"walk":     {"walk", "test_runs_alone", 200, []any{"", 200, 90}},
		"beyond":   {"beyond", "Index", 101, []any{`{` + w.c.ID + `}`, `{90}`, `{null}`, time.Now().AddDate(1, 0, 0), 100}},
	} {
		plan, rows := w.explain(Statements()[tt.of], tt.args...)
		assert.Contains(t, plan, tt.index, name)
		assert.NotContains(t, plan, "Seq Scan on test_runs", name)
		assert.LessOrEqual(t, rows, tt.most, "%s: %s", name, plan)
	}
}

// explain returns the plan of a statement that was executed, and the most rows that a scan of
// runs read.
func (w *world) explain(query string, args ...any) (plan string, rows int) {
	w.T.Helper()
	var lines []string
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &lines, `explain (analyze, timing off, costs off) `+query, args...))
	for i, line := range lines {
		if !strings.Contains(line, " on test_runs") && !strings.Contains(line, " on suite_runs") {
			continue
		}
		read := actual(line)
		for _, below := range lines[i+1:] {
			if strings.Contains(below, "->") {
				break
			}
			if _, n, ok := strings.Cut(below, "Rows Removed by Filter: "); ok {
				read += number(n)
			}
		}
		rows = max(rows, read)
	}
	return strings.Join(lines, "\n"), rows
}

// actual is what a node of a plan returned, in all its loops.
func actual(line string) int {
	_, text, ok := strings.Cut(line, "actual rows=")
	if !ok {
		return 0
	}
	words := strings.Fields(strings.NewReplacer("loops=", "", ")", "").Replace(text))
	return number(words[0]) * number(words[1])
}

func number(text string) (n int) {
	for _, r := range strings.TrimSpace(text) {
		if r < '0' || r > '9' {
			break
		}
		n = n*10 + int(r-'0')
	}
	return n
}
