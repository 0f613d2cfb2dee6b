package run_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

func TestFanOut(t *testing.T) {
	t.Parallel()
	w := open(t)
	var ids []string
	tunnel := "office"
	for i := range 5 {
		n := fixture.LoginCase(fmt.Sprintf("case %d", i), 2)
		if i == 0 {
			n.Settings.RunTargets = nil // the primary target alone
			n.Settings.SCTunnelName = &tunnel
		}
		c, err := w.TryCase(w.Org.Member.Writer, n)
		require.NoError(t, err)
		ids = append(ids, c.ID)
	}
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", ids...)
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, BuildName: "nightly"})
	require.NoError(t, err)

	seen := map[uuid.UUID]bool{}
	for steps := 0; ; steps++ {
		require.Less(t, steps, 4)
		jobs, more, err := w.NextRuns(run.ID, 2)
		require.NoError(t, err)
		for _, job := range jobs {
			require.False(t, seen[job])
			seen[job] = true
		}
		if !more {
			break
		}
	}
	require.Len(t, seen, 9)
	jobs, more, err := w.NextRuns(run.ID, 2)
	require.NoError(t, err, "a step that is repeated")
	require.Empty(t, jobs)
	require.False(t, more)

	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	require.Len(t, runs, 5)
	for i, r := range runs {
		require.Equal(t, fmt.Sprintf("case %d", i), r.CaseName)
		require.Equal(t, "nightly", r.BuildName)
		require.Equal(t, ids[i], r.CaseID)
		options, _ := r.Jobs[0].Target.Capabilities["slipway:options"].(map[string]any)
		require.Equal(t, r.CaseName, options["name"])
		require.Equal(t, "nightly", options["build"])
	}
	require.Len(t, runs[0].Jobs, 1)
	require.Equal(t, "office", runs[0].Tunnel)
	require.Empty(t, runs[1].Tunnel)
	require.Len(t, runs[1].Jobs, 2)
	got := w.ReadSuiteRun(run)
	require.Equal(t, map[Status]int{Queued: 5, Running: 0, Passed: 0, Failed: 0, Errored: 0, Cancelled: 0}, got.Counts)
}

// Cases that vanish before they are reached are not run, and the count is right in
// the end.
func TestFanOutOfCasesThatVanish(t *testing.T) {
	t.Parallel()
	w := open(t)
	var ids []string
	for i := range 4 {
		ids = append(ids, w.NewCase(w.Org.Member.Writer, fmt.Sprintf("case %d", i)).ID)
	}
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", ids...)
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	all, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	jobs, more, err := w.NextRuns(run.ID, 1)
	require.NoError(t, err)
	require.True(t, more)
	w.Exec(`update test_cases set suite_id = null`)
	_, more, err = w.NextRuns(run.ID, 1)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, 1, w.ReadSuiteRun(run).RunCount)
	w.MustEnd(jobs[0], Passed)
	require.Equal(t, Passed, w.ReadSuiteRun(run).Status)

	_, more, err = w.NextRuns(all.ID, 1)
	require.NoError(t, err)
	require.False(t, more)
	got := w.ReadSuiteRun(all)
	require.Equal(t, Errored, got.Status)
	require.Contains(t, got.Error, "no case left")
	require.EqualValues(t, "ERROR", w.Event(all.ID)["status"])
	_, _, err = w.NextRuns(all.ID, 1)
	require.ErrorIs(t, err, storage.ErrConflict)
	_, _, err = w.NextRuns(fixture.NoUUID, 1)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// A case of one team in the suite of another uses its own team's variables: who may
// write the case must not come by what the suite's team keeps secret.
func TestFanOutOfAnotherTeamsCase(t *testing.T) {
	t.Parallel()
	w := open(t)
	ours, theirs := w.NewCase(w.Org.Member.Writer, "ours"), w.NewCase(w.Org.Neighbor.Writer, "theirs")
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	_, err := w.UpdateSuite(w.Org.Owner.Writer, suite.ID, authoring.SuiteChange{Add: []string{ours.ID, theirs.ID}})
	require.NoError(t, err)
	for _, n := range []authoring.NewVariable{
		{Scope: "team", Team: &w.Org.Team.UUID, Name: "x", Value: "ours"}, {Scope: "team", Team: &w.Org.Side.UUID, Name: "x", Value: "theirs"},
		{Scope: "testCase", Case: &ours.ID, Name: "y", Value: "ours"}, {Scope: "testCase", Case: &theirs.ID, Name: "y", Value: "theirs"},
		{Scope: "team", Team: &w.Org.Team.UUID, Name: "only_ours", Value: "ours"},
		{Scope: "testSuite", Suite: &suite.ID, Name: "of_suite", Value: "ours"},
	} {
		n.IsSecret = true
		w.Variable(w.Org.Owner.Writer, n)
	}
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	jobs, _, err := w.NextRuns(run.ID, 9)
	require.NoError(t, err)
	require.Len(t, jobs, 2)
	references := []step.Reference{{Scope: "team", Name: "x"}, {Name: "y"}, {Scope: "testCase", ID: ours.ID, Name: "y"},
		{Scope: "testCase", ID: theirs.ID, Name: "y"}, {Name: "only_ours"}, {Name: "of_suite"}}
	seen := func(job uuid.UUID) (caseID string, texts []string) {
		work, _, err := w.Begin(job)
		require.NoError(t, err)
		values, err := authoring.Values(fixture.Context(t), w.DB, fixture.SealKey, work.VariablesOf(), references)
		require.NoError(t, err)
		for _, r := range references {
			texts = append(texts, values[r].Text)
		}
		return work.Run.CaseID, texts
	}
	want := map[string][]string{
		ours.ID:   {"ours", "ours", "ours", "", "ours", "ours"},
		theirs.ID: {"theirs", "theirs", "", "theirs", "", ""},
	}
	team := map[string]uuid.UUID{ours.ID: w.Org.Team.UUID, theirs.ID: w.Org.Side.UUID}
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	require.Len(t, runs, 2)
	for _, r := range runs {
		id, texts := seen(r.Jobs[0].ID)
		require.Equal(t, r.CaseID, id)
		require.Equal(t, want[id], texts, r.CaseName)
		require.Equal(t, team[id], r.TeamUUID, r.CaseName)
		if id == ours.ID { // it goes to the other team while it waits
			w.Exec(`update test_cases set team_id = $2 where id = $1`, id, w.Org.Side.ID)
			_, texts = seen(r.Jobs[0].ID)
			require.Equal(t, []string{"theirs", "ours", "ours", "theirs", "", ""}, texts)
			w.Exec(`update test_cases set team_id = $2 where id = $1`, id, w.Org.Team.ID)
		}
	}
}

// A case's own tunnel goes before the one that its targets name.
func TestFanOutTakesTheTunnelOfTheTargets(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := []string{}
	for name, stored := range map[string]*string{"of its targets": nil, "of its own": fixture.Ptr("own")} {
		n := fixture.LoginCase(name, 2)
		n.Settings.SCTunnelName = stored
		n.Settings.RunTargets[1].Capabilities["slipway:options"] = map[string]any{"tunnelName": "office"}
		c, err := w.TryCase(w.Org.Member.Writer, n)
		require.NoError(t, err)
		ids = append(ids, c.ID)
	}
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: w.NewSuite(w.Org.Member.Writer, "smoke", ids...).ID})
	require.NoError(t, err)
	_, _, err = w.NextRuns(run.ID, 9)
	require.NoError(t, err)
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	tunnels := map[string]string{}
	for _, r := range runs {
		tunnels[r.CaseName] = r.Tunnel
		require.Equal(t, r.Tunnel, capability.Tunnel(r.Jobs[0].Target.Capabilities, "slipway"), "the first target names none")
	}
	require.Equal(t, map[string]string{"of its targets": "office", "of its own": "own"}, tunnels)
}
