package baseline_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
)

// record writes what a job of a run saw: the state and picture of a step's look.
func (s *shelf) record(jobID uuid.UUID, looks ...string) {
	s.Exec(`update test_jobs set records = (select coalesce(jsonb_agg(jsonb_build_object('id', 's', 'look', l::jsonb)), '[]')
		from unnest($2::text[]) l)
		|| '[{"id": "without"}]' where id = $1`, jobID, pq.Array(looks))
}

func looked(id uuid.UUID) string { return fmt.Sprintf(`{"state": "DIFFERENT", "candidateId": %q}`, id) }

func again(id uuid.UUID) string { return fmt.Sprintf(`{"state": "UNREVIEWED", "baselineId": %q}`, id) }

func (s *shelf) acceptSeen(list []baseline.Seen) (accepted []baseline.Baseline) {
	s.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		accepted, err = baseline.AcceptSeen(ctx, tx, s.by, list)
		return err
	})
	return accepted
}

// Those of the jobs behind the first page count as the others do.
func TestPicturesOfARun(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.NewCase(s.by, "of many jobs")
	s.caseID = c.ID
	run := s.NewRun(c, 2)
	s.Exec(`update test_jobs set position = 300 where id = $1`, run.Jobs[1].ID)
	first, _, _ := s.see(t, "s1", "aa")
	last, _, _ := s.see(t, "s1", "bb")
	known, _, _ := s.see(t, "s2", "aa")
	s.record(run.Jobs[0].ID, looked(first), `{"state": "MATCHED", "baselineId": "`+uuid.NewString()+`"}`,
		`{"state": "DIFFERENT", "candidateId": "nonsense"}`)
	s.record(run.Jobs[1].ID, looked(last), again(known))

	list, err := baseline.OfRun(t.Context(), s.DB, s.by.OrganizationID, run.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []baseline.Seen{{CaseID: c.ID, ID: last}, {CaseID: c.ID, ID: known}}, list,
		"of two of one step and target the last one")
	for range 2 {
		require.Len(t, s.acceptSeen(list), 2)
		require.Equal(t, map[uuid.UUID]baseline.State{first: baseline.Former, last: baseline.Accepted, known: baseline.Accepted}, s.states(t))
	}
	require.Equal(t, 2, s.Audited(account.TestBaselineAccepted), "once is enough")
	other, err := baseline.OfRun(t.Context(), s.DB, s.by.OrganizationID+1, run.ID)
	require.NoError(t, err)
	require.Empty(t, other, "of another organization")
}

func TestPicturesOfASuiteRun(t *testing.T) {
	t.Parallel()
	s := open(t)
	var seen []baseline.Seen
	suite, runs := uuid.New(), 0
	s.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, build_name, user_uuid, run_count)
		values ($1, $2, 1, $1, 'all', 'b', $3, 2)`, suite, s.by.OrganizationID, s.by.UserUUID)
	for i := range 3 {
		c := s.NewCase(s.by, fmt.Sprint("case ", i))
		s.caseID = c.ID
		run := s.NewRun(c, 1)
		id, _, _ := s.see(t, "s1", "aa")
		s.record(run.Jobs[0].ID, looked(id))
		if i < 2 {
			s.Exec(`update test_runs set suite_run_id = $1 where id = $2`, suite, run.ID)
			seen = append(seen, baseline.Seen{CaseID: c.ID, ID: id})
			runs++
		}
	}
	list, err := baseline.OfSuiteRun(t.Context(), s.DB, s.by.OrganizationID, suite)
	require.NoError(t, err)
	require.ElementsMatch(t, seen, list)
	s.Exec(`delete from test_cases where id = $1`, seen[0].CaseID)
	accepted := s.acceptSeen(list)
	require.Len(t, accepted, runs-1, "a case that is gone is left out")
	require.Equal(t, seen[1].ID, accepted[0].ID)
}

// What failed a step is found in all jobs, behind the first page too, and once.
func TestFindingsOfAStep(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := s.NewCase(s.by, "of many jobs")
	run := s.NewRun(c, 2)
	s.Exec(`update test_jobs set position = 300 where id = $1`, run.Jobs[1].ID)
	found := func(job int, list string) {
		s.Exec(`update test_jobs
			set records = jsonb_build_array(jsonb_build_object('id', 's1', 'findings', jsonb_build_object('list', $2::jsonb)),
			'{"id": "s2", "look": {}}'::jsonb) where id = $1`, run.Jobs[job].ID, list)
	}
	found(0, `[{"key": "a", "rule": "label", "fails": true}, {"key": "b", "fails": true}, {"key": "low"}]`)
	found(1, `[{"key": "low", "fails": true, "impact": "minor"}, {"key": "a", "rule": "label", "fails": true}, {"key": "c", "fails": true}, `+
		`{"key": "old", "accepted": true}]`)
	for _, at := range []struct {
		step    string
		keys    []string
		want    []string
		checked bool
	}{
		{"s1", nil, []string{"a", "b", "c", "low"}, true}, {"s1", []string{"old", "none"}, []string{"old"}, true},
		{"s2", nil, nil, false}, {"s9", nil, nil, false}, {"s1\x00", nil, nil, false},
	} {
		list, checked, err := baseline.FindingsOfStep(t.Context(), s.DB, run.ID, at.step, at.keys)
		require.NoError(t, err)
		require.Equal(t, at.checked, checked, at.step)
		var keys []string
		for _, f := range list {
			keys = append(keys, f.Key)
		}
		require.Equal(t, at.want, keys, "%s %q", at.step, at.keys)
	}
	list, _, err := baseline.FindingsOfStep(t.Context(), s.DB, run.ID, "s1", []string{"low"})
	require.NoError(t, err)
	require.Equal(t, "minor", list[0].Impact, "the one that failed")
}
