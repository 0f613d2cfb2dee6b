package run_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/environment"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// environment makes one of the organization.
func (w *room) environment(n environment.New) (e *environment.Environment) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		e, err = environment.Create(ctx, tx, w.Org.Owner.Writer, fixture.SealKey, n)
		return err
	})
	return e
}

func staging() environment.New {
	return environment.New{Name: "staging", Change: environment.Change{TestURL: fixture.Ptr("https://staging.example.com"),
		Variables: map[string]*string{"country": fixture.Ptr("de")}, Secrets: map[string]*string{"password": fixture.Ptr("hunter2!")},
		Headers: map[string]*string{"authorization": fixture.Ptr("Bearer abc")},
		Targets: &[]capability.Target{fixture.Browser("firefox")}, Tunnel: fixture.Ptr("office")}}
}

// A run has what its environment had when it began, and what it was given stands above it.
func TestRunInAnEnvironment(t *testing.T) {
	t.Parallel()
	w := open(t)
	env := w.environment(staging())
	c := w.NewCase(w.Org.Member.Writer, "c")
	n := NewRun{Targets: fixture.Targets(1)}
	require.NoError(t, n.Enter(fixture.SealKey, env, map[string]string{"user": "ann"}))
	run, err := w.startWith(w.Org.Member.Writer, c, n)
	require.NoError(t, err)
	require.Equal(t, []string{"user"}, run.VariableNames, "not those of the environment")
	w.Exec(`delete from test_environments`)

	work, _, err := w.Begin(run.Jobs[0].ID)
	require.NoError(t, err)
	require.Equal(t, "staging", work.Run.Environment)
	require.Equal(t, step.StartURL("https://staging.example.com", c.Settings.TestURL), work.Run.TestURL)
	require.Equal(t, c.Settings.TestURL, *work.Run.RecordedURL)
	values, has, err := work.Given(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"user": "ann"}, values)
	require.Equal(t, &environment.Values{Name: "staging", TestURL: "https://staging.example.com",
		Variables: map[string]string{"country": "de"},
		Secrets:   map[string]string{"password": "hunter2!"}, Headers: []environment.Header{{Name: "authorization",
			Value: "Bearer abc", Secret: true}}}, has)
	_, err = w.End(run.Jobs[0].ID, JobEnd{Status: Passed})
	require.NoError(t, err)
	require.Zero(t, w.Count(`select count(*) from test_runs where sealed_variables is not null`), "nothing is kept")
	require.Equal(t, 1, w.Count(`select count(*) from events where body ->> 'environment' = 'staging'`))

	given := NewRun{Targets: fixture.Targets(1), Inputs: Inputs{TestURL: "https://other.example.com"}}
	require.NoError(t, given.Enter(fixture.SealKey, env, nil))
	require.Equal(t, "https://other.example.com", given.TestURL)
}

func TestSuiteRunInAnEnvironment(t *testing.T) {
	t.Parallel()
	w := open(t)
	env := w.environment(staging())
	_, err := w.Tunnel(w.Org.Owner.Writer, "office", "http://proxy.example.com:8080")
	require.NoError(t, err)
	c := w.NewCase(w.Org.Member.Writer, "c")
	suite := w.NewSuite(w.Org.Member.Writer, "s", c.ID)
	n := NewSuiteRun{SuiteID: suite.ID, Vendor: "slipway"}
	require.NoError(t, n.EnterEnvironment(fixture.SealKey, env, nil))
	started, err := w.TrySuiteRun(w.Org.Member.Writer, n)
	require.NoError(t, err)
	require.Equal(t, "staging", started.Environment)
	jobs, _, err := w.NextRuns(started.ID, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	work, _, err := w.Begin(jobs[0])
	require.NoError(t, err)
	require.Equal(t, []string{"staging", "office", "firefox"},
		[]string{work.Run.Environment, work.Run.Tunnel, work.Job.Target.Capabilities["browserName"].(string)})
	_, has, err := work.Given(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, "hunter2!", has.Secrets["password"])

	// Targets that the run is given stand above those of the environment.
	own := NewSuiteRun{SuiteID: suite.ID, Vendor: "slipway", Targets: fixture.Targets(1)}
	require.NoError(t, own.EnterEnvironment(fixture.SealKey, env, nil))
	require.Equal(t, fixture.Targets(1), own.Targets)

	ctx := fixture.Context(t)
	for name, want := range map[string]int{"staging": 1, "production": 0, "": 1} {
		_, total, err := reading.SuiteRuns(ctx, w.DB, reading.Filter{OrganizationID: w.Org.ID, SuiteID: suite.ID, Environment: name,
			Page: storage.Page{Limit: 5}})
		require.NoError(t, err)
		require.Equal(t, want, total, name)
		list, total, err := reading.All(ctx, w.DB, reading.AllFilter{OrganizationID: w.Org.ID, Environment: name, Tags: c.Tags,
			Page: storage.Page{Limit: 5}})
		require.NoError(t, err)
		require.Equal(t, want, total, name)
		require.Len(t, list, want)
	}
	_, total, err := reading.All(ctx, w.DB, reading.AllFilter{OrganizationID: w.Org.ID, Tags: []string{"no such tag"},
		Page: storage.Page{Limit: 5}})
	require.NoError(t, err)
	require.Zero(t, total)
}

// A run that a gate starts is in the suite's default, of which its task takes the values.
func TestOwnEnvironmentOfASuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.environment(staging())
	suite := w.NewSuite(w.Org.Member.Writer, "s", w.NewCase(w.Org.Member.Writer, "c").ID)
	w.Exec(`update test_suites set default_environment = 'staging'`)
	other, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	require.Empty(t, other.Environment)
	started, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, OwnEnvironment: true})
	require.NoError(t, err)
	require.Equal(t, "staging", started.Environment)
	for range 2 {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return EnterNamed(ctx, tx, fixture.SealKey, started.ID, "slipway")
		})
	}
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs where test_url = 'https://staging.example.com' and tunnel = 'office' and sealed_variables is not null`))
	theirs, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, OwnEnvironment: true})
	require.NoError(t, err)
	w.Exec(`update test_environments set team_id = (select max(id) from teams)`)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return EnterNamed(ctx, tx, fixture.SealKey, theirs.ID, "slipway")
	})
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs where id = $1 and state = 'ERROR' and error like '%another team%'`,
		theirs.ID))
}
