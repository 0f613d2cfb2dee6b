// Package need decides whether a job of a suite run may begin whose test needs others to have
// passed before.
//
// A job waits while a run of a needed case is open. When all of them have ended, it begins if each
// has passed on the job's own target, in all its data rows; otherwise it is skipped, and what needs
// it is skipped in turn, each with a reason that names what it needed itself. A test that passed
// when it was played again has passed. A failure in quarantine does not let a job begin: that the
// failure fails nothing does not make the test pass.
//
// Where a needed case has no job on the same target, its whole run must have passed. A case that
// is not in the suite run holds nobody back: it was deleted, cannot be run, or was left out by who
// runs the rest again.
package need

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// ErrHeld means that a job cannot begin yet.
var ErrHeld = errors.New("a test that is needed has not ended")

// SkipError means that a job is not to begin at all.
type SkipError struct {
	Reason string // for people
	// Quarantine and Until are those of the run that failed; "" without.
	Quarantine string
	Until      time.Time
}

func (e *SkipError) Error() string { return e.Reason }

// Of is a job that needs other tests.
type Of struct {
	SuiteRunID *uuid.UUID // nil: in none, where nothing is needed
	Cases      []string
	Target     capability.Target
}

// neededRuns reads the runs that others need. Of a run of data rows each target is one in
// every target_count jobs.
const neededRuns = `
select n.case_name, n.state, coalesce(n.quarantine, '') as quarantine, coalesce(n.quarantine_until, 'epoch') as quarantine_until, t.parts
from unnest($2::text[]) with ordinality as want(case_id, place)
join test_runs n on n.suite_run_id = $1 and n.case_id = want.case_id and n.login_key is null
left join lateral (
	select jsonb_agg(jsonb_build_object('target', x.target, 'states', x.states)) as parts from (
		select (array_agg(j.target order by j.position))[1] as target, array_agg(distinct j.state) as states
		from test_jobs j where j.run_id = n.id
		group by case when n.target_count > 0 then j.position % n.target_count else j.position end
	) x
) t on n.state not in ('QUEUED', 'RUNNING', 'PASSED')
order by want.place`

// run is that of a needed case.
type run struct {
	Name       string    `db:"case_name"`
	State      string    `db:"state"`
	Quarantine string    `db:"quarantine"`
	Until      time.Time `db:"quarantine_until"`
	Parts      []byte    `db:"parts"` // null while open, and where all have passed
}

// part is a run on one target.
type part struct {
	Target capability.Target `json:"target"`
	States []string          `json:"states"`
}

// Check returns nil for a job that may begin, ErrHeld for one that waits, and a *SkipError for one
// that never will.
func Check(ctx context.Context, q storage.Querier, of Of) error {
	if of.SuiteRunID == nil {
		return nil
	}
	var runs []run
	if err := q.SelectContext(ctx, &runs, neededRuns, *of.SuiteRunID, pq.Array(of.Cases)); err != nil {
		return storage.Wrap(err, "runs of needed test cases")
	}
	for i := range runs {
		if runs[i].open() {
			return ErrHeld
		}
	}
	for i := range runs {
		if err := runs[i].verdict(of.Target); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) open() bool { return r.State == "QUEUED" || r.State == "RUNNING" }

// verdict says whether a test that needs this one may begin on a target.
func (r *run) verdict(on capability.Target) error {
	if r.State == "PASSED" {
		return nil
	}
	var parts []part
	if r.Parts != nil {
		if err := json.Unmarshal(r.Parts, &parts); err != nil {
			return fmt.Errorf("targets of %q: %w", r.Name, err)
		}
	}
	worst := r.State
	var here []string
	for _, p := range parts {
		if capability.SameBrowser(p.Target, on) {
			here = append(here, p.States...)
		}
	}
	if here != nil {
		worst = worstOf(here)
	}
	if worst == "PASSED" {
		return nil
	}
	return &SkipError{Reason: fmt.Sprintf("skipped: it needs %q, which %s", r.Name, became[worst]), Quarantine: r.Quarantine, Until: r.Until}
}

// became are the ends of runs in words.
var became = map[string]string{"FAILED": "failed", "ERROR": "ended with an error", "CANCELLED": "did not run to its end"}

// worstOf is what the jobs on a target are together.
func worstOf(states []string) string {
	for _, bad := range []string{"FAILED", "ERROR", "CANCELLED"} {
		if slices.Contains(states, bad) {
			return bad
		}
	}
	return "PASSED"
}
