package gate_test

import (
	"testing"

	"github.com/google/uuid"

	. "github.com/slipway-qa/slipway/storage/gate"
)

// Flaky cases count as the policy says; failures in quarantine count nowhere.
func TestFlakyAndQuarantinedCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	b := w.build("1.1")
	run := uuid.New()
	w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fanned_out,
		state, build_id)
		values ($1, $2, $3, $4, 'smoke', gen_random_uuid(), '', 3, true, 'PASSED', $5)`, run, w.Org.ID, w.Org.Team.ID, suite.ID, b)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, suite_run_id, user_uuid, case_name, build_name, state,
		flaky, quarantine)
		select gen_random_uuid(), $1, $2, 'case ' || i, 'r', $3, gen_random_uuid(), 'c', '', s.state, s.flaky, s.quarantine
		from (values (1, 'PASSED', 0, null), (2, 'PASSED', 1, null), (3, 'FAILED', 0, 'late map')) s(i, state, flaky, quarantine)`,
		w.Org.ID, w.Org.Team.ID, run)
	w.policy(conditions(Condition{Type: Suites, SuiteIDs: ids(suite.ID)}))
	w.want(b, Pass, "")
	w.policy(conditions(Condition{Type: Suites, SuiteIDs: ids(suite.ID), Flaky: FlakyFailed}))
	w.want(b, Fail, "1 of 2")
}
