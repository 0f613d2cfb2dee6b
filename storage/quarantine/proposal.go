package quarantine

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// proposedAfter is how often a case fails and passes with nothing changed before it is
	// proposed: twice may be the machine.
	proposedAfter = 3
	// proposedWithin is the time in which it does so, in days.
	proposedWithin = 7
	// lookedBack bounds the runs of that time that are read, the newest first.
	lookedBack = 500
)

// Proposal says why it may be time to put a case into quarantine.
type Proposal struct {
	Reason string
	Since  time.Time // the first of the runs that tell
}

// contradictions counts runs on the same build, or of the same name of one, with the same
// steps, which ought to end alike. A run that passed with a job that had failed before has
// done both. Each failure that there is a pass for counts once. The range is that of the index
// of a case's runs.
const contradictions = `
with recent as (
	select coalesce(build_id::text, build_name) as build, revision_id, state, flaky, created_at from test_runs
	where organization_id = $1 and case_id between $2 and $2 and created_at > now() - make_interval(days => $3)
	order by case_id, created_at desc, id desc limit $4
), of_build as (
	select count(*) filter (where state = 'PASSED') as passed,
		count(*) filter (where state = 'FAILED' or state = 'PASSED' and flaky > 0) as failed, min(created_at) as since
	from recent group by build, revision_id
)
select coalesce(sum(least(passed, failed)), 0) as times, min(since) as since from of_build where passed > 0 and failed > 0`

// Propose returns why a case may belong into quarantine; nil where nothing says so.
func Propose(ctx context.Context, q storage.Querier, organizationID int64, caseID string) (*Proposal, error) {
	var row struct {
		Times int        `db:"times"`
		Since *time.Time `db:"since"`
	}
	err := q.GetContext(ctx, &row, contradictions, organizationID, caseID, proposedWithin, lookedBack)
	if err != nil {
		return nil, storage.Wrap(err, "runs of test case "+caseID+" that contradict each other")
	}
	if row.Times < proposedAfter || row.Since == nil {
		return nil, nil
	}
	return &Proposal{Reason: fmt.Sprintf("failed and passed on the same build %d times within %d days", row.Times, proposedWithin),
		Since: *row.Since}, nil
}
