package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

// MaxOfRun bounds the pictures of a run that are accepted at once: each is some statements of
// one transaction.
const MaxOfRun = 500

// Seen is a picture that a run saw.
type Seen struct {
	CaseID string    `db:"case_id"`
	ID     uuid.UUID `db:"id"`
}

// seenByRuns lists the pictures that the steps of runs name: what they saw, or the first one
// that they found again. Of two of one step and target the last one counts. Those that nobody
// has accepted come first.
const seenByRuns = `
with looks as (
	select r.case_id, j.position, l.place, coalesce(nullif(l.look ->> 'candidateId', ''),
		case when l.look ->> 'state' = 'UNREVIEWED' then l.look ->> 'baselineId' end) as picture
	from test_runs r join test_jobs j on j.run_id = r.id
	cross join lateral jsonb_path_query(j.records, '$[*].look') with ordinality as l(look, place)
	where r.organization_id = $1 and (r.suite_run_id = $2 or r.id = $3)
), last as (
	select distinct on (b.case_id, b.step_id, b.name, b.target) b.case_id, b.id, b.state
	from looks join test_baselines b on b.case_id = looks.case_id
		and b.id = case when looks.picture ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then looks.picture::uuid end
	order by b.case_id, b.step_id, b.name, b.target, looks.position desc, looks.place desc
)
select case_id, id from last order by state = 'ACCEPTED', case_id, id limit $4`

// OfRun returns the pictures of a run of a case, and OfSuiteRun those of all case runs of a
// suite run, of all their jobs: at most one more than MaxOfRun.
func OfRun(ctx context.Context, q storage.Querier, organizationID int64, runID uuid.UUID) ([]Seen, error) {
	return seen(ctx, q, organizationID, nil, &runID)
}

// OfSuiteRun is OfRun of a suite run.
func OfSuiteRun(ctx context.Context, q storage.Querier, organizationID int64, suiteRunID uuid.UUID) ([]Seen, error) {
	return seen(ctx, q, organizationID, &suiteRunID, nil)
}

func seen(ctx context.Context, q storage.Querier, organizationID int64, suiteRunID, runID *uuid.UUID) ([]Seen, error) {
	list := []Seen{}
	err := q.SelectContext(ctx, &list, seenByRuns, organizationID, suiteRunID, runID, MaxOfRun+1)
	return list, storage.Wrap(err, "pictures of a run")
}

// AcceptSeen accepts pictures that a run saw, of one or several cases. Cases and pictures that
// are gone are left out; a case that the writer may not change is an error, and none is
// accepted.
func AcceptSeen(ctx context.Context, tx *storage.Tx, w account.Writer, list []Seen) ([]Baseline, error) {
	of := map[string][]uuid.UUID{}
	for _, one := range list {
		of[one.CaseID] = append(of[one.CaseID], one.ID)
	}
	cases := make([]string, 0, len(of))
	for id := range of {
		cases = append(cases, id)
	}
	slices.Sort(cases)
	for _, id := range cases { // all of them before the first baseline
		_, err := authoring.LockCase(ctx, tx, w, id, "no key update")
		if errors.Is(err, storage.ErrNotFound) {
			delete(of, id)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	accepted := []Baseline{}
	for _, id := range cases {
		if len(of[id]) == 0 {
			continue
		}
		of, err := AcceptAll(ctx, tx, w, id, of[id])
		if err != nil {
			return nil, err
		}
		accepted = append(accepted, of...)
	}
	return accepted, nil
}

// findingsOfStep reads what a step found. Of two jobs that have a finding, the one that failed by
// it counts.
const findingsOfStep = `
select distinct on (f.finding ->> 'key') f.finding
from test_jobs j
cross join lateral jsonb_path_query(j.records, '$[*] ? (@.id == $step).findings.list[*]',
	jsonb_build_object('step', $2::text)) as f(finding)
where j.run_id = $1 and case when $3::text[] = '{}' then coalesce((f.finding -> 'fails')::boolean, false)
	else f.finding ->> 'key' = any($3) end
order by f.finding ->> 'key', f.finding -> 'fails' desc nulls last limit $4`

const checkedByStep = `
select exists (select from test_jobs j where j.run_id = $1
	and jsonb_path_exists(j.records, '$[*] ? (@.id == $step && exists(@.findings))', jsonb_build_object('step', $2::text)))`

// FindingsOfStep returns what a step of a run found, in all its jobs: the findings of keys, or
// without keys those that failed it; at most as many as a case may have accepted, and one more.
// checked is false where no job has a step of this id that checked accessibility. The caller
// knows that the run is the organization's.
func FindingsOfStep(ctx context.Context, q storage.Querier, runID uuid.UUID, stepID string, keys []string) (list []step.Finding,
	checked bool, err error) {
	if err := q.GetContext(ctx, &checked, checkedByStep, runID, storage.WithoutNUL(stepID)); err != nil || !checked {
		return nil, checked, storage.Wrap(err, "step that checked accessibility")
	}
	named := make([]string, len(keys))
	for i := range keys {
		named[i] = storage.WithoutNUL(keys[i])
	}
	var found []string
	err = q.SelectContext(ctx, &found, findingsOfStep, runID, storage.WithoutNUL(stepID), pq.Array(named), maxFindings+1)
	if err != nil {
		return nil, true, storage.Wrap(err, "findings of a step")
	}
	list = make([]step.Finding, len(found))
	for i := range found {
		if err := json.Unmarshal([]byte(found[i]), &list[i]); err != nil {
			return nil, true, fmt.Errorf("finding of run %s: %w", runID, err)
		}
	}
	return list, true, nil
}
