package gate

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// An upload starts the suites of the policy once, on the build and its address; what cannot
// start is said by the gate, which follows the runs to their end.
func TestStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, size(1<<30))
	ctx := fixture.Context(t)
	by := w.Org.Member.Writer
	smoke := w.NewSuite(by, "smoke", w.NewCase(by, "login").ID, w.NewCase(by, "logout").ID)
	empty, hostless := w.NewSuite(by, "empty"), w.NewSuite(by, "hostless", w.NewCase(by, "pay").ID)
	w.save(gate.Policy{
		Conditions: []gate.Condition{{Name: "suites", Type: gate.Suites, SuiteIDs: []uuid.UUID{smoke.ID, empty.ID, hostless.ID}}},
		RunSuites: []gate.SuiteToRun{{SuiteID: smoke.ID, URL: "https://{{metadata.host}}/shop"}, {SuiteID: empty.ID},
			{SuiteID: hostless.ID, URL: "https://{{metadata.nothing}}/"}},
		Channels: []string{"beta"}, AllowedHosts: []string{"*.example.com"},
	})
	up := w.NewUpload(fixture.APK("com.example.shop", "2.0", "20"))
	up.Metadata = map[string]string{"host": "pr-7.example.com", "channel": "beta"}
	var build int64
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		made, err := distribution.CreateBuild(ctx, tx, up)
		if err != nil {
			return err
		}
		build = made.Build.ID
		begun, err := gate.Begin(ctx, tx, by, made.Build, true, "request-1")
		require.Equal(t, gate.Begun{Gated: true, RunSuites: true}, begun)
		return err
	})
	task := tasks.NewGateStart(w.Org.ID, "request-1", build)
	id, stale := w.claim(task)
	w.Rescue(id)
	claim := worker.NewClaim(w.DB, w.Claim(tasks.GateStart.Name, id, 1))
	handler := &Start{Vendor: "slipway"}
	require.ErrorIs(t, handler.Handle(ctx, stale), storage.ErrStale)
	require.NoError(t, handler.Handle(ctx, claim))
	var result StartResult
	w.Result(id, &result)
	require.Equal(t, StartResult{Started: 1}, result)
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs
		where build_id = $1 and suite_id = $2 and test_url = 'https://pr-7.example.com/shop'
		and user_uuid = $3`, build, smoke.ID, by.UserUUID))
	require.Equal(t, 1, w.Count(`select count(*) from suite_runs`))
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = $1`, tasks.SuiteRun.Name))
	require.Equal(t, 1, w.Audited(account.TestSuiteRunStarted))

	evaluate := func() *gate.Gate {
		t.Helper()
		_, claim := w.claim(tasks.NewPeriodic(tasks.GateEvaluate, 0))
		require.NoError(t, w.handler.Handle(ctx, claim))
		g, err := gate.Of(ctx, w.DB, w.Org.ID, build)
		require.NoError(t, err)
		return g
	}
	reason := evaluate().Conditions[0].Reason
	for _, part := range []string{`the suite "smoke" runs`, "no case that can run", "{{metadata.nothing}}"} {
		require.Contains(t, reason, part)
	}

	// One case fails, so the suite does, and with it the gate.
	suiteRun := uuid.MustParse(w.text(`select id::text from suite_runs`))
	jobs, more, err := w.NextRuns(suiteRun, 10)
	require.NoError(t, err)
	require.False(t, more)
	for i, job := range jobs {
		_, _, err := w.Begin(job)
		require.NoError(t, err)
		w.MustEnd(job, map[bool]run.Status{true: run.Failed, false: run.Passed}[i == 0])
	}
	g := evaluate()
	require.Equal(t, gate.Fail, g.State)
	require.Contains(t, g.Conditions[0].Reason, `1 of 2 cases of the suite "smoke" did not pass`)
	require.Equal(t, suiteRun.String(), g.Conditions[0].Evidence[0].ID)

	// A build of another channel starts nothing, nor one that is gone.
	for _, task := range []int64{w.build("2.1", false), build + 987} {
		id, claim := w.claim(tasks.NewGateStart(w.Org.ID, "", task))
		require.NoError(t, handler.Handle(ctx, claim))
		w.Result(id, &result)
		require.Zero(t, result.Started, strconv.FormatInt(task, 10))
	}
}

// When suites were not started for good, the gate says so, and who waits for it is told.
func TestStartFails(t *testing.T) {
	t.Parallel()
	p := size(1 << 30)
	w := newWorld(t, p)
	ctx := fixture.Context(t)
	by := w.Org.Member.Writer
	smoke := w.NewSuite(by, "smoke", w.NewCase(by, "login").ID)
	p.Conditions = append(p.Conditions, gate.Condition{Name: "suites", Type: gate.Suites, SuiteIDs: []uuid.UUID{smoke.ID}})
	p.RunSuites = []gate.SuiteToRun{{SuiteID: smoke.ID}}
	w.save(p)
	build := w.build("1.1", true)
	_, claim := w.claim(tasks.NewGateStart(w.Org.ID, "request-1", build))
	// The database refuses a run, as it does for a moment.
	w.Exec(`create function refuse_runs() returns trigger language plpgsql as $$ begin raise exception 'no' using errcode = '53100'; end $$`)
	w.Exec(`create trigger refuse_runs before insert on suite_runs for each row execute function refuse_runs()`)
	handler := &Start{Vendor: "slipway"}
	evaluate := func() string {
		t.Helper()
		_, claim := w.claim(tasks.NewPeriodic(tasks.GateEvaluate, 0))
		require.NoError(t, w.handler.Handle(ctx, claim))
		g, err := gate.Of(ctx, w.DB, w.Org.ID, build)
		require.NoError(t, err)
		require.Equal(t, gate.Unknown, g.State)
		return g.Conditions[1].Reason
	}
	mails := func() int {
		return w.Count(`select count(*) from mails where kind = 'gate-failed' and user_id = $1 and text_body like '%did not start%'`,
			w.Org.Member.ID)
	}
	require.Error(t, handler.Handle(ctx, claim))
	require.Contains(t, evaluate(), "was not run on this build", "it is tried again")
	require.Zero(t, mails())
	claim.Tasks[0].Attempt = claim.Tasks[0].MaxAttempts
	require.Error(t, handler.Handle(ctx, claim))
	require.Contains(t, evaluate(), "did not start: the task gate:start of the build failed")
	require.Equal(t, 1, mails())

	// Retried by hand, it starts them after all.
	w.Exec(`drop trigger refuse_runs on suite_runs`)
	require.NoError(t, handler.Handle(ctx, claim))
	require.Contains(t, evaluate(), `the suite "smoke" runs`)
	require.Equal(t, 1, mails())
}

func (w *world) text(query string) (value string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.GetContext(fixture.Context(w.T), &value, query))
	return strings.TrimSpace(value)
}
