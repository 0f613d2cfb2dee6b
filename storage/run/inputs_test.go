package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/count"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// build uploads an app for Android.
func (w *room) build() *int64 {
	id := w.Upload(w.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Build.ID
	return &id
}

// given seals the values of variables.
func (w *room) given(values map[string]string) *Variables {
	w.T.Helper()
	v, err := SealVariables(fixture.SealKey, values)
	require.NoError(w.T, err)
	return v
}

// startWith starts a run of a case.
func (w *room) startWith(by account.Writer, c *authoring.Case, n NewRun) (run *Run, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		n.Case = c
		if n.Revision, err = authoring.RevisionByID(ctx, tx, c.ID, ""); err != nil {
			return err
		}
		run, err = Start(ctx, tx, by, n)
		return err
	})
	return run, err
}

func TestSealVariables(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 101 {
		many[fmt.Sprintf("name%d", i)] = "v"
	}
	for name, c := range map[string]struct {
		values map[string]string
		field  string
	}{
		"too many": {many, "variables"}, "no name": {map[string]string{"": "secret"}, "variables"},
		"capitals": {map[string]string{"User": "secret"}, "variables"}, "a scope": {map[string]string{"org:user": "secret"}, "variables"},
		"long name": {map[string]string{strings.Repeat("n", 65): "secret"}, "variables"},
		"too long":  {map[string]string{"ok": "secret", "user": strings.Repeat("s", 4097)}, "variables.user"},
		"NUL":       {map[string]string{"user": "sec\x00ret"}, "variables.user"},
		"no UTF-8":  {map[string]string{"user": "secret\xff"}, "variables.user"},
	} {
		_, err := SealVariables(fixture.SealKey, c.values)
		require.Equal(t, c.field, fixture.InvalidField(t, err), name)
		require.NotContains(t, err.Error(), "secret", name)
	}
	delete(many, "name0")
	many["name1"] = strings.Repeat("s", 4096)
	_, err := SealVariables(fixture.SealKey, many)
	require.NoError(t, err)
	none, err := SealVariables(nil, map[string]string{})
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = SealVariables(nil, map[string]string{"user": "ann"})
	require.ErrorContains(t, err, "SLIPWAY_SIGNING_KEY", "nothing is stored as it is")
}

func TestRunIsGivenInputs(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, build := w.NewCase(w.Org.Member.Writer, "log in"), w.build()
	run, err := w.startWith(w.Org.Member.Writer, c, NewRun{Targets: []capability.Target{fixture.Browser("chrome"),
		{Capabilities: capability.Capabilities{"platformName": "Android"}}}, Inputs: Inputs{TestURL: "https://ann:hush@pr-7.example.com",
		BuildID:   build,
		Variables: w.given(map[string]string{"user": "ann-of-the-preview", "b": "x"})}})
	require.NoError(t, err)
	got := w.ReadRun(run)
	require.Equal(t, "https://ann:hush@pr-7.example.com", got.TestURL)
	require.Equal(t, "https://shop.example.com/", *got.RecordedURL)
	require.Equal(t, build, got.BuildID)
	require.Equal(t, []string{"b", "user"}, got.VariableNames)
	require.Empty(t, capability.App(got.Jobs[0].Target.Capabilities))
	require.Equal(t, fmt.Sprintf("storage:%d", *build), capability.App(got.Jobs[1].Target.Capabilities))
	require.Equal(t, got.Jobs[1].Target, run.Jobs[1].Target)
	require.Zero(t, w.Count(`select count(*) from test_runs where position('ann-of'::bytea in sealed_variables) > 0`))
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text like '%ann-of%' or detail::text like '%hush%'`))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where detail -> 'variables' = '["b", "user"]' and (detail ->> 'build_id')::bigint = $1`, *build))

	work, _, err := w.Begin(run.Jobs[0].ID)
	require.NoError(t, err)
	values, _, err := work.Given(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"user": "ann-of-the-preview", "b": "x"}, values)
	w.MustEnd(run.Jobs[0].ID, Passed)
	require.Equal(t, 1, w.Count(`select count(*) from test_runs where sealed_variables is not null`), "another job needs them")
	w.MustEnd(run.Jobs[1].ID, Failed)
	require.Zero(t, w.Count(`select count(*) from test_runs where sealed_variables is not null`), "nobody does")
	require.Equal(t, []string{"b", "user"}, w.ReadRun(run).VariableNames)
	require.EqualValues(t, *build, w.Event(run.ID)["buildId"])

	// A run without inputs has none.
	plain := w.ReadRun(w.NewRun(c, 1))
	require.Equal(t, "https://shop.example.com/", plain.TestURL)
	require.Nil(t, plain.RecordedURL)
	require.Nil(t, plain.BuildID)
	require.Empty(t, plain.VariableNames)
	work, _, err = w.Begin(plain.Jobs[0].ID)
	require.NoError(t, err)
	values, _, err = work.Given(nil)
	require.NoError(t, err)
	require.Nil(t, values)

	// The build goes, and the run stays.
	w.Exec(`update builds set deleted_at = now() where id = $1`, *build)
	require.Equal(t, build, w.ReadRun(run).BuildID, "until its row goes")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := storedfile.RemoveBuilds(ctx, tx, []int64{*build})
		return err
	})
	require.Nil(t, w.ReadRun(run).BuildID)
}

func TestInputsAreRefused(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, build := w.NewCase(w.Org.Member.Writer, "log in"), w.build()
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", c.ID)
	foreign := w.NewCase(w.Rival.Member.Writer, "log in")
	gone := *build + 1000
	both := func(in Inputs) (errs [2]error) {
		_, errs[0] = w.startWith(w.Org.Member.Writer, c, NewRun{Targets: fixture.Targets(1), Inputs: in})
		_, errs[1] = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Inputs: in})
		return errs
	}
	for _, err := range both(Inputs{BuildID: &gone}) {
		require.ErrorIs(t, err, ErrNoBuild)
	}
	for _, err := range both(Inputs{TestURL: "pr-7.example.com"}) {
		var wrong *step.InvalidError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "testUrl", wrong.Path)
	}
	_, err := w.startWith(w.Rival.Member.Writer, foreign, NewRun{Targets: fixture.Targets(1), Inputs: Inputs{BuildID: build}})
	require.ErrorIs(t, err, ErrNoBuild, "another organization's")
	w.Exec(`update builds set deleted_at = now() where id = $1`, *build)
	for _, err := range both(Inputs{BuildID: build}) {
		require.ErrorIs(t, err, ErrNoBuild, "a deleted one")
	}
	tunneled := func(name string) capability.Target {
		return capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome",
			"slipway:options": map[string]any{"tunnelName": name}}}
	}
	for _, targets := range [][]capability.Target{fixture.Targets(authoring.MaxTargets + 1), {tunneled("a"), tunneled("b")}} {
		_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Targets: targets, Vendor: "slipway"})
		require.Equal(t, "targets", fixture.InvalidField(t, err))
	}
	require.Zero(t, w.Count(`select (select count(*) from test_runs) + (select count(*) from suite_runs)`))
}

func TestSuiteRunIsGivenInputs(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	office := "office"
	tunneled := fixture.LoginCase("with a tunnel", 1)
	tunneled.Settings.SCTunnelName = &office
	tunneled.Settings.TestURL = "https://shop.example.com/cart"
	cases := []authoring.NewCase{fixture.LoginCase("without a target", 0), fixture.LoginCase("with two", 2), tunneled}
	var ids []string
	for _, n := range cases {
		c, err := w.TryCase(by, n)
		require.NoError(t, err)
		ids = append(ids, c.ID)
	}
	empty, err := w.TryCase(by, fixture.LoginCase("without steps", 0))
	require.NoError(t, err)
	w.Exec(`update test_revisions set steps = '[]' where case_id = $1`, empty.ID)
	suite := w.NewSuite(by, "smoke", append(ids, empty.ID)...)
	build := w.build()
	run, err := w.TrySuiteRun(by, NewSuiteRun{SuiteID: suite.ID, Vendor: "slipway", Targets: []capability.Target{fixture.Browser("firefox"),
		{Capabilities: capability.Capabilities{"platformName": "Android", "slipway:options": map[string]any{"tunnelName": "lab"}},
			IsRDC: true}},
		Inputs: Inputs{TestURL: "https://pr-7.example.com", BuildID: build, Variables: w.given(map[string]string{"user": "ann"})}})
	require.NoError(t, err)
	require.Equal(t, 3, run.RunCount)
	jobs, more, err := w.NextRuns(run.ID, 10)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, jobs, 6)
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	require.Len(t, runs, 3)
	for i, want := range []struct{ name, url, tunnel string }{{"with a tunnel", "https://pr-7.example.com/cart", "office"},
		{"with two", "https://pr-7.example.com", "lab"}, {"without a target", "https://pr-7.example.com", "lab"}} {
		r := runs[i]
		require.Equal(t, want.name, r.CaseName)
		require.Equal(t, want.url, r.TestURL)
		require.Equal(t, want.tunnel, r.Tunnel)
		require.NotNil(t, r.RecordedURL)
		require.Equal(t, build, r.BuildID)
		require.Len(t, r.Jobs, 2)
		require.Equal(t, "firefox", r.Jobs[0].Target.Capabilities["browserName"])
		require.Empty(t, capability.App(r.Jobs[0].Target.Capabilities))
		require.Equal(t, fmt.Sprintf("storage:%d", *build), r.Jobs[1].Target.Capabilities["appium:app"])
		require.True(t, r.Jobs[1].Target.IsRDC)
	}
	got := w.ReadSuiteRun(run)
	require.Equal(t, "https://pr-7.example.com", got.TestURL)
	require.Equal(t, build, got.BuildID)
	require.Equal(t, []string{"user"}, got.VariableNames)
	for i, job := range jobs {
		work, _, err := w.Begin(job)
		require.NoError(t, err)
		values, _, err := work.Given(fixture.SealKey)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "ann"}, values, "job %d", i)
		w.MustEnd(job, Passed)
	}
	require.Zero(t, w.Count(`select count(*) from suite_runs where sealed_variables is not null`))
	require.EqualValues(t, *build, w.Event(run.ID)["buildId"])

	// Without targets each case has its own, and the one without has none.
	own, err := w.TrySuiteRun(by, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	require.Equal(t, 2, own.RunCount)
	jobs, _, err = w.NextRuns(own.ID, 10)
	require.NoError(t, err)
	require.Len(t, jobs, 3)
	runs, err = reading.OfSuiteRun(fixture.Context(t), w.DB, own.ID)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(runs, func(r Run) bool {
		return r.TestURL == "https://shop.example.com/cart" &&
			r.RecordedURL == nil
	}))
}

// The values of variables go with the end of a run, whichever end it has.
func TestVariablesEndWithTheRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", c.ID)
	in := Inputs{Variables: w.given(map[string]string{"user": "ann"})}
	left := func() int {
		return w.Count(`select (select count(*) from test_runs where sealed_variables is not null) +
			(select count(*) from suite_runs where sealed_variables is not null)`)
	}
	run, err := w.startWith(w.Org.Member.Writer, c, NewRun{Targets: fixture.Targets(1), Inputs: in})
	require.NoError(t, err)
	cancelled, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Inputs: in})
	require.NoError(t, err)
	broken, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Inputs: in})
	require.NoError(t, err)
	going, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Inputs: in})
	require.NoError(t, err)
	require.Equal(t, 4, left())
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := Cancel(ctx, tx, w.Org.Member.Writer, c.ID, run.ID)
		return err
	})
	require.Equal(t, 3, left())
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := CancelSuite(ctx, tx, w.Org.Member.Writer, suite.ID, cancelled.ID)
		return err
	})
	require.Equal(t, 2, left())
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return FailSuiteRun(ctx, tx, broken.ID, "broken") })
	require.Equal(t, 1, left())

	// Case runs that go on after the suite run has failed still have them.
	jobs, _, err := w.NextRuns(going.ID, 10)
	require.NoError(t, err)
	w.Exec(`update suite_runs set fanned_out = false where id = $1`, going.ID)
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return FailSuiteRun(ctx, tx, going.ID, "broken") })
	work, _, err := w.Begin(jobs[0])
	require.NoError(t, err)
	values, _, err := work.Given(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, "ann", values["user"])
	require.Equal(t, 1, left())
	for i, job := range jobs {
		require.Equal(t, 1, left(), "case run %d goes on", i)
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := EndJob(ctx, tx, job, JobEnd{Status: Passed})
			return err
		})
	}
	require.Zero(t, left(), "the last case run has ended")
}

// A build that is removed has its row locked before those of suite runs; so has one of which
// case runs are made.
func TestFanOutLocksTheBuildFirst(t *testing.T) {
	t.Parallel()
	w := open(t)
	build := w.build()
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", w.NewCase(w.Org.Member.Writer, "log in").ID)
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Inputs: Inputs{BuildID: build}})
	require.NoError(t, err)
	ended := make(chan error, 1)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		var pid int
		var locked []string
		require.NoError(t, tx.GetContext(ctx, &pid, `select pg_backend_pid()`))
		require.NoError(t, tx.SelectContext(ctx, &locked, `select id::text from builds where id = $1 for update`, *build))
		go func() {
			_, _, err := w.NextRuns(run.ID, 10)
			ended <- err
		}()
		require.Eventually(t, func() bool {
			return w.Count(`select count(*) from pg_stat_activity where $1 = any(pg_blocking_pids(pid))`, pid) > 0
		}, time.Minute, 10*time.Millisecond)
		return tx.SelectContext(ctx, &locked, `select id::text from suite_runs where build_id = $1 for no key update nowait`, *build)
	})
	require.NoError(t, <-ended)
}

// A step that makes the runs of many cases asks no more than one that makes a few, whatever
// the run was given.
func TestFanOutAsksNoMoreForMoreCases(t *testing.T) {
	t.Parallel()
	var counter count.Counter
	db, err := storage.Open(storage.Config{URL: servicetest.DatabaseURL(t), WrapConnector: counter.Connector})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	keys, err := account.NewIssuer(fixture.Region, nil)
	require.NoError(t, err)
	w := &room{&fixture.Tests{Fixture: &fixture.Fixture{T: t, DB: db, Keys: keys}}}
	w.Org = w.NewOrganization("acme")
	by, build := w.Org.Member.Writer, w.build()
	asked := func(cases int) int {
		var ids []string
		for i := range cases {
			ids = append(ids, w.NewCase(by, fmt.Sprintf("case %d", i)).ID)
		}
		suite := w.NewSuite(by, fmt.Sprintf("of %d", cases), ids...)
		var run *SuiteRun
		n := counter.During(func() {
			require.NoError(t, db.InTx(fixture.Context(t), func(tx *storage.Tx) (err error) {
				run, err = StartSuite(fixture.Context(t), tx, by, NewSuiteRun{SuiteID: suite.ID, Vendor: "slipway", Targets: fixture.Targets(2),
					Inputs: Inputs{TestURL: "https://pr-7.example.com", BuildID: build, Variables: w.given(map[string]string{"user": "ann"})}})
				return err
			}))
			require.NoError(t, db.InTx(fixture.Context(t), func(tx *storage.Tx) error {
				made, err := FanOut(fixture.Context(t), tx, run.ID, "slipway", 100)
				require.Len(t, made.Jobs, 2*cases)
				return err
			}))
		})
		require.LessOrEqual(t, len(n.SQL), 18, n)
		return len(n.SQL)
	}
	require.Equal(t, asked(2), asked(25))
}
