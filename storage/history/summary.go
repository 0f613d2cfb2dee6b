package history

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

const (
	// WindowDays is how far a summary goes back unless the filter says otherwise.
	WindowDays = 30
	// WindowRuns is how many runs it looks at, the newest ones.
	WindowRuns = 1000
)

// Window are the runs that a summary is of.
type Window struct {
	From, To time.Time
	Full     bool // there may be more runs since From than were looked at
}

// Flakiness counts the groups of runs that ought to have ended alike, by what made them a group,
// and those that saw both results: one run that passed and one that failed, or one that passed
// after it had failed. Of a case a group has one revision.
type Flakiness struct {
	Builds int // of one uploaded build
	Names  int // of one name of a build that somebody gave
	Days   int // of one day (UTC), without any build
	Both   int
}

// Groups is the number of groups.
func (f Flakiness) Groups() int { return f.Builds + f.Names + f.Days }

// Summary is what the runs of a window say together.
type Summary struct {
	reading.Summary
	Window    Window
	Flaky     int // runs that passed with a test that had failed before
	Flakiness Flakiness
}

// Judged is the number of runs with a result.
func (s *Summary) Judged() int { return s.Passed + s.Failed + s.Errored }

// groupOf returns the expression of what runs ought to have ended alike by; the name of a build
// is that of the case or suite unless somebody gave one.
func groupOf(name, revision string) string {
	return `case when r.build_id is not null then 'build:' || r.build_id when r.build_name <> ` + name + ` then 'name:' || r.build_name
	else 'day:' || to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD') end || ':' || ` + revision
}

type windowRow struct {
	BuildName  string     `db:"build_name"`
	RevisionID string     `db:"revision_id"`
	Status     run.Status `db:"state"`
	CreatedAt  time.Time  `db:"created_at"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
	Healed     *int       `db:"healed"`
	Flaky      int        `db:"flaky"`
	Group      string     `db:"together"`
	Matches    bool       `db:"matches"`
}

// windowOf returns the statement of a window; its arguments are those of looked, and those of the
// filter.
func windowOf(columns, table, of, healed, where string) string {
	return `
select r.build_name, r.revision_id, r.state, r.created_at, r.started_at, r.finished_at, ` + healed +
		` as healed, r.flaky, r.together, coalesce(` + where + `, false) as matches
from (` + looked(columns, table, of) + `) r
order by r.created_at desc, r.id desc`
}

// caseHealed looks at the jobs of a run from before its sums were stored.
const caseHealed = `coalesce(r.healed, (select 1 from test_jobs k where k.run_id = r.id and k.healed > 0 limit 1), 0)`

// OfCaseWindow summarizes the runs of a case in a window: those of the filter, or of the last 30
// days before now.
func OfCaseWindow(ctx context.Context, q storage.Querier, organizationID int64, caseID string, f Filter, now time.Time) (Summary, error) {
	where, args := f.matching(6)
	columns := caseColumns + ", " + groupOf("r.case_name", "r.revision_id") + " as together"
	return summary(ctx, q, windowOf(columns, "test_runs", "case_id", caseHealed, where), organizationID, caseID, f, now, args)
}

// OfSuiteWindow does so for a suite. Runs that ended before their sums were stored count as not
// healed.
func OfSuiteWindow(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID, f Filter, now time.Time) (Summary, error) {
	f.Target = ""
	where, args := f.matching(6)
	columns := suiteColumns + ", " + groupOf("r.suite_name", "''") + " as together"
	return summary(ctx, q, windowOf(columns, "suite_runs", "suite_id", "r.healed", where), organizationID, id, f, now, args)
}

// within returns the filter with the bounds of its window.
func (f Filter) within(now time.Time) Filter {
	if f.To.IsZero() {
		f.To = now
	}
	if f.From.IsZero() {
		f.From = f.To.AddDate(0, 0, -WindowDays)
	}
	return f
}

func summary(ctx context.Context, q storage.Querier, query string, organizationID int64, subject any, f Filter,
	now time.Time, args []any) (Summary, error) {
	bounded := f.within(now)
	of := Window{From: bounded.From, To: bounded.To}
	if f.To.IsZero() { // clocks differ: what was made just now belongs to it
		bounded.To = time.Time{}
	}
	at, id, from := bounded.bounds(nil)
	var rows []windowRow
	all := append([]any{organizationID, subject, at, id, from, WindowRuns}, args...)
	if err := q.SelectContext(ctx, &rows, query, all...); err != nil {
		return Summary{}, wrap(err, subject)
	}
	of.Full = len(rows) == WindowRuns
	s := summarize(rows)
	s.Window = of
	return s, nil
}

func summarize(rows []windowRow) Summary {
	pasts, s := make([]reading.Past, 0, len(rows)), Summary{}
	groups := map[string]*struct{ passed, failed bool }{}
	for i := range rows {
		r := &rows[i]
		if !r.Matches {
			continue
		}
		past := reading.Past{BuildName: r.BuildName, RevisionID: r.RevisionID, Status: r.Status, CreatedAt: r.CreatedAt,
			StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Healed: r.Healed}
		pasts = append(pasts, past)
		if !past.Judged() {
			continue
		}
		g := groups[r.Group]
		if g == nil {
			g = &struct{ passed, failed bool }{}
			groups[r.Group] = g
		}
		passed := r.Status == run.Passed
		if passed && r.Flaky > 0 {
			s.Flaky++
		}
		g.passed, g.failed = g.passed || passed, g.failed || !passed || r.Flaky > 0
	}
	reading.MarkChanges(pasts)
	s.Summary = reading.Summarize(pasts)
	for key, g := range groups {
		s.Flakiness.count(key, g.passed && g.failed)
	}
	return s
}

func (f *Flakiness) count(key string, both bool) {
	switch kind, _, _ := strings.Cut(key, ":"); kind {
	case "build":
		f.Builds++
	case "name":
		f.Names++
	default:
		f.Days++
	}
	if both {
		f.Both++
	}
}
