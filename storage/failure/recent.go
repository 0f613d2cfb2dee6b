package failure

import (
	"encoding/json"
	"fmt"
)

// Ended is how a job ended that played the same revision of a case as another one, on the same
// target, in the same environment, with the same data row.
type Ended struct {
	// Build is what the run named: an uploaded build or a name; "": none.
	Build string `json:"build"`
	// Passed and Failed are both true where it passed after it had failed.
	Passed bool `json:"passed"`
	Failed bool `json:"failed"`
}

// recentEnds is a part of goodBefore: the ends of the job's test in the newest 30 runs of its case
// before it. What the environment failed, or could not begin, says nothing of the test and is left
// out. The jobs are found by their positions, so that runs of many data rows cost no more than
// others; one that stands elsewhere in its run is not looked for.
var recentEnds = `
	select jsonb_agg(jsonb_build_object('build', p.build, 'passed', k.state <> 'FAILED', 'failed', k.state <> 'PASSED')
	order by p.created_at desc, p.id desc)
	from (
		select q.id, q.created_at, q.environment, q.revision_id, case when q.build_id is not null then 'build:' || q.build_id
			when q.build_name in (q.case_name, coalesce(qs.suite_name, '')) then '' else 'name:' || q.build_name end as build
		from (
			select id, created_at, environment, revision_id, build_id, build_name, case_name, suite_run_id from test_runs
			where organization_id = r.organization_id and case_id between r.case_id and r.case_id
				and (created_at, id) < (r.created_at, r.id)
			order by case_id, created_at desc, id desc limit 30
		) q left join suite_runs qs on qs.id = q.suite_run_id
	) p join test_jobs k on k.run_id = p.id and k.position = j.position and k.row_place is not distinct from j.row_place
		and ` + SameTarget("k.target") + ` = ` + SameTarget("j.target") + `
	where p.environment = r.environment and p.revision_id = r.revision_id
		and k.state in ('PASSED', 'FLAKY', 'FAILED') and k.diagnosis ->> 'reason' is distinct from 'environment'`

func readRecent(doc []byte) (list []Ended, err error) {
	if doc == nil {
		return nil, nil
	}
	if err := json.Unmarshal(doc, &list); err != nil {
		return nil, fmt.Errorf("recent ends of a test job: %w", err)
	}
	return list, nil
}
