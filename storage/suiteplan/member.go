package suiteplan

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// MembersOf is a query of the ids of the cases that a suite runs. s is the alias of the row of
// test_suites in the statement around it. For a suite without a filter the last part costs
// nothing; else it is read from test_cases_tags.
func MembersOf(s string) string {
	return `select k.id from test_cases k where k.suite_id = ` + s + `.id
	union select m.case_id from test_suite_cases m where m.suite_id = ` + s + `.id
	union select k.id from test_cases k
	where ` + s + `.filter_tags is not null and k.organization_id = ` + s + `.organization_id and k.tags @> ` + s + `.filter_tags
		and not k.tags && ` + s + `.filter_not_tags and (` + s + `.filter_all_teams or k.team_id = ` + s + `.team_id)`
}

// Special is the condition that the runs of a suite need a plan; s as of MembersOf.
func Special(s string) string {
	return `(` + s + `.filter_tags is not null or ` + s + `.run_order is not null or ` + s + `.depends_on is not null
	or exists (select from test_suite_cases m where m.suite_id = ` + s + `.id))`
}

// members reads one more than a run may have, which shows that there are too many. A case that
// can be run has steps, and a target or one that the run has. That of the login is played
// before them (package login).
var members = `
select c.id, (c.runnable or $4 and coalesce((
	select v.steps <> '[]' from test_revisions v where v.case_id = c.id order by v.number desc limit 1), false)) as runnable
from test_suites s cross join lateral (` + MembersOf("s") + `) x join test_cases c on c.id = x.id
where s.id = $1 and s.organization_id = $2 and x.id is distinct from s.login ->> 'testCaseId' order by x.id limit $3`

// member is a case that a suite runs.
type member struct {
	ID       string `db:"id"`
	Runnable bool   `db:"runnable"`
}

// membersOf returns the cases that a suite runs now. An *InvalidError says that they are too many.
func membersOf(ctx context.Context, q storage.Querier, organizationID int64, suiteID uuid.UUID, targets bool) (list []member, err error) {
	err = q.SelectContext(ctx, &list, members, suiteID, organizationID, MaxCases+1, targets)
	if err != nil {
		return nil, storage.Wrap(err, "cases of test suite "+suiteID.String())
	}
	if len(list) > MaxCases {
		return nil, storage.Invalid("testSuiteId", "names a suite of more than %d test cases, which is the most that a run has", MaxCases)
	}
	return list, nil
}
