package reading

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Past is a run of a case or a suite as its history has it; package history has more of it.
type Past struct {
	ID         uuid.UUID
	BuildName  string
	RevisionID string     // of a case
	SuiteRunID *uuid.UUID // of a case
	Status     run.Status
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time
	Healed     *int                // steps; nil where nobody counted, as of SuitesHistory
	Targets    []capability.Target // of a case in its own history only
	// Compared is true when the run before it tested the same: a case by the same steps, a
	// suite with the same build. Changed is true when one of the two passed and the other
	// did not. Runs without a result are passed over.
	Compared, Changed bool
}

// Judged reports whether the run has a result: it is over, and nobody cancelled it.
func (p *Past) Judged() bool {
	return p.Status == run.Passed || p.Status == run.Failed || p.Status == run.Errored
}

// sameTested reports whether two runs tested the same.
func (p *Past) sameTested(other *Past) bool {
	if p.RevisionID != "" {
		return p.RevisionID == other.RevisionID
	}
	return p.BuildName == other.BuildName
}

// Took is how long the run lasted; false before its end.
func (p *Past) Took() (time.Duration, bool) {
	if p.StartedAt == nil || p.FinishedAt == nil {
		return 0, false
	}
	return p.FinishedAt.Sub(*p.StartedAt), true
}

// History are the newest runs of a case or suite, newest first.
type History struct {
	Runs []Past
	More bool // there are older ones
}

// Summary is what runs say together.
type Summary struct {
	Runs, Passed, Failed, Errored, Cancelled, Open int
	Healed                                         int            // runs with a healed step
	Compared, Changed                              int            // runs, as of Past
	Mean, P95                                      *time.Duration // of the runs that were judged; nil without one
}

// MarkChanges fills in Compared and Changed of runs, newest first.
func MarkChanges(runs []Past) {
	var newer *Past
	for i := range runs {
		if !runs[i].Judged() {
			continue
		}
		if newer != nil && newer.sameTested(&runs[i]) {
			newer.Compared, newer.Changed = true, (newer.Status == run.Passed) != (runs[i].Status == run.Passed)
		}
		newer = &runs[i]
	}
}

// Summarize counts runs whose changes are marked.
func Summarize(runs []Past) Summary {
	s := Summary{Runs: len(runs)}
	var took []time.Duration
	for i := range runs {
		s.count(&runs[i])
		if d, ok := runs[i].Took(); ok && runs[i].Judged() {
			took = append(took, d)
		}
	}
	if len(took) == 0 {
		return s
	}
	slices.Sort(took)
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	mean, p95 := sum/time.Duration(len(took)), took[int(math.Ceil(0.95*float64(len(took))))-1]
	s.Mean, s.P95 = &mean, &p95
	return s
}

func (s *Summary) count(one *Past) {
	switch one.Status {
	case run.Passed:
		s.Passed++
	case run.Failed:
		s.Failed++
	case run.Errored:
		s.Errored++
	case run.Cancelled:
		s.Cancelled++
	default:
		s.Open++
	}
	if one.Healed != nil && *one.Healed > 0 {
		s.Healed++
	}
	if one.Compared {
		s.Compared++
	}
	if one.Changed {
		s.Changed++
	}
}

type pastRow struct {
	Subject    string     `db:"subject"`
	ID         uuid.UUID  `db:"id"`
	BuildName  string     `db:"build_name"`
	RevisionID string     `db:"revision_id"`
	SuiteRunID *uuid.UUID `db:"suite_run_id"`
	Status     run.Status `db:"state"`
	CreatedAt  time.Time  `db:"created_at"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
	Healed     *int       `db:"healed"`
	Targets    []byte     `db:"targets"`
}

func (r *pastRow) past() (Past, error) {
	p := Past{ID: r.ID, BuildName: r.BuildName, RevisionID: r.RevisionID, SuiteRunID: r.SuiteRunID, Status: r.Status, CreatedAt: r.CreatedAt,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, Healed: r.Healed}
	if r.Targets != nil {
		if err := json.Unmarshal(r.Targets, &p.Targets); err != nil {
			return p, fmt.Errorf("targets of test run %s: %w", r.ID, err)
		}
	}
	return p, nil
}

// What a history shows of a run of a case and of one of a suite.
const (
	pastCase  = `r.id, r.build_name, r.revision_id, r.suite_run_id, r.state, r.created_at, r.started_at, r.finished_at`
	pastSuite = `r.id, r.build_name, '' as revision_id, null::uuid as suite_run_id, r.state, r.created_at, r.started_at, r.finished_at`
)

// The case as a range that is sorted by leaves the planner the index of the case's runs alone: in
// the others, those of a case that is no longer run stand behind all others.
const (
	casesHistory = `
select want.id as subject, r.*, j.healed from unnest($2::text[]) with ordinality as want(id, place)
cross join lateral (
	select ` + pastCase + ` from test_runs r where r.organization_id = $1 and r.case_id between want.id and want.id
		and r.created_at < $4
	order by r.case_id, r.created_at desc, r.id desc limit $3
) r cross join lateral (
	select coalesce(sum(healed), 0) as healed from test_jobs where run_id = r.id and organization_id = $1
) j
order by want.place, r.created_at desc, r.id desc`
	// suitesHistory leaves out what was healed: each of these runs may have thousands of
	// tests.
	suitesHistory = `
select want.id::text as subject, r.* from unnest($2::uuid[]) with ordinality as want(id, place)
cross join lateral (
	select ` + pastSuite + ` from suite_runs r where r.organization_id = $1 and r.suite_id = want.id
	order by r.created_at desc, r.id desc limit $3
) r
order by want.place, r.created_at desc, r.id desc`
)

// CasesHistory returns the newest runs of cases by their ids, at most so many of each, that
// were created before an instant; the zero one is no bound. The caller bounds both numbers.
func CasesHistory(ctx context.Context, q storage.Querier, organizationID int64, ids []string, most int,
	before time.Time) (map[string]History, error) {
	var bound any = "infinity"
	if !before.IsZero() {
		bound = before
	}
	return histories(ctx, q, casesHistory, organizationID, pq.Array(ids), most, bound)
}

// SuitesHistory does so for suites.
func SuitesHistory(ctx context.Context, q storage.Querier, organizationID int64, ids []uuid.UUID, most int) (map[string]History, error) {
	return histories(ctx, q, suitesHistory, organizationID, storage.UUIDs(ids), most)
}

func histories(ctx context.Context, q storage.Querier, query string, organizationID int64, ids any, most int,
	further ...any) (map[string]History, error) {
	var rows []pastRow
	if err := q.SelectContext(ctx, &rows, query, append([]any{organizationID, ids, most + 1}, further...)...); err != nil {
		return nil, storage.Wrap(err, "histories of test runs")
	}
	found := map[string]History{}
	for i := range rows {
		one, err := rows[i].past()
		if err != nil {
			return nil, err
		}
		h := found[rows[i].Subject]
		h.Runs = append(h.Runs, one)
		found[rows[i].Subject] = h
	}
	for id, h := range found {
		MarkChanges(h.Runs)
		if h.More = len(h.Runs) > most; h.More {
			h.Runs = h.Runs[:most]
		}
		found[id] = h
	}
	return found, nil
}
