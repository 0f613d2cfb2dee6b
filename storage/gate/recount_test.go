package gate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/distribution"

	. "github.com/slipway-qa/slipway/storage/gate"
)

func (w *world) recount() (did bool) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		did, err = Recount(ctx, tx)
		return err
	})
	return did
}

func (w *world) evaluateOnce() (round *Round) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		round, err = Evaluate(ctx, tx, 100)
		return err
	})
	return round
}

// A build that is moved to a channel of the policy is judged by the crashes that it had before.
func TestBuildThatMovesHasItsCrashes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := conditions(Condition{Type: CrashGroups})
	p.Channels = []string{"beta"}
	w.policy(p)
	b := w.build("1.1", func(u *distribution.Upload) { u.Metadata = map[string]string{"channel": "dev"} })
	w.crash(w.report(b, "a"), w.report(b, "a"))
	w.Exec(`update builds set metadata = '{"channel": "beta"}' where id = $1`, b)
	w.want(b, Fail, "2 reports")
}

// Crashes are counted anew in steps, each a transaction; those that come and go meanwhile are
// counted once. The gate is pending, and others are evaluated.
func TestRecountInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.build("1.1")
	w.crash(w.report(b, "a"))
	w.Exec(`insert into crashes select (jsonb_populate_record(c, jsonb_build_object('id', '00000000-0000-7000-8000-' || lpad(i::text, 12, '0'),
		'uuid', gen_random_uuid()))).* from crashes c, generate_series(1, 2500) i where c.build_id = $1`, b)
	most := int64(10_000)
	p := conditions(Condition{Type: CrashGroups, MaxReports: &most})
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return SavePolicy(ctx, tx, w.admin, w.project, &p) })
	w.Exec(`delete from gates where build_id <> $1`, b)
	round := w.evaluateOnce()
	require.Zero(t, round.Evaluated)
	require.True(t, round.Recounts)
	require.True(t, w.recount())
	counted := func() int {
		return w.Count(`select coalesce(sum(reports), 0) from gate_crashes where build_id = $1`, b)
	}
	require.Equal(t, 2000, counted())
	require.True(t, w.gate(b).Due)
	decided, err := Decided(fixture.Context(t), w.DB, []int64{b})
	require.NoError(t, err)
	require.Empty(t, decided)

	w.crash(w.report(b, "a")) // beyond what is counted
	require.Equal(t, 2000, counted())
	w.Exec(`delete from crashes where id = '00000000-0000-7000-8000-000000000001'`)
	w.Exec(`delete from crashes where id = '00000000-0000-7000-8000-000000002400'`)
	require.Equal(t, 1999, counted())
	other := w.build("1.2")
	require.Equal(t, 1, w.evaluateOnce().Evaluated, "the other one's")
	require.NotNil(t, w.gate(other).EvaluatedAt)
	require.Nil(t, w.gate(b).EvaluatedAt)

	w.want(b, Unknown, "the time ends")
	require.Equal(t, 2500, counted(), "2501 and one, less two")
	w.crash(w.report(b, "a"))
	require.Equal(t, 2501, counted())
	require.False(t, w.recount())
}

// Users of crashes that leave a group are not counted in it, and nothing of a person is kept whose
// reports were deleted.
func TestUsersOfCrashesThatGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	most := int64(1)
	w.policy(conditions(Condition{Type: CrashGroups, MaxUsers: &most}))
	b := w.build("1.1")
	by := func(user string) func(*crash.Crash) {
		return func(c *crash.Crash) { c.Attributes = `{"guid": "` + user + `"}` }
	}
	w.crash(w.report(b, "a", by("ann")), w.report(b, "a", by("bob")), w.report(b, "a", by("bob")))
	w.want(b, Fail, "3 reports of 2 users")
	w.Exec(`delete from crashes where attributes ->> 'guid' = 'ann'`)
	w.want(b, Unknown, "the time ends")
	require.Equal(t, 1, w.Count(`select count(*) from gate_crash_users where build_id = $1`, b))
	w.Exec(`update gates set watched_until = now() where build_id = $1`, b)
	w.Exec(`delete from crashes where attributes ->> 'guid' = 'bob'`)
	require.Zero(t, w.Count(`select count(*) from gate_crash_users where build_id = $1`, b))
}

// Retention deletes crashes, and says nothing of the build: its gate stays closed, and testers hear
// nothing of a build that is months old.
func TestRetentionOpensNoGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := conditions(Condition{Type: CrashGroups})
	p.HoldNotifications = true
	w.policy(p)
	b := w.build("1.1")
	w.Exec(`update gates set held_at = now() where build_id = $1`, b)
	w.crash(w.report(b, "a"))
	w.want(b, Fail, "1 report")
	w.Exec(`insert into crash_batches (id, organization_id, received_at, entries, body) select id, organization_id, received_at, '[]', ''
		from crashes`)
	store, err := crash.New(w.DB)
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		gone, err := store.Expire(ctx, tx, time.Now().Add(time.Hour), 100)
		require.Equal(t, 1, gone.Crashes)
		return err
	})
	require.Zero(t, w.Count(`select count(*) from crashes`))
	require.False(t, w.due(b))
	w.Exec(`insert into gate_due (build_id, organization_id, due_at) values ($1, $2, now())`, b, w.Org.ID)
	w.want(b, Fail, "1 report")

	// What lets it pass later holds the notification all the same.
	w.Exec(`update gates set watched_until = now() - interval '1 day' where build_id = $1`, b)
	w.Exec(`update crash_groups set state = 'ignored'`)
	w.age(b, 60*24*time.Hour)
	changes := w.evaluate()
	require.Len(t, changes, 1)
	require.Equal(t, Pass, changes[0].To)
	require.False(t, changes[0].Released)
	require.True(t, w.gate(b).Held)
}

// A gate that another policy decided is pending when somebody asks, and none when no policy covers
// the build.
func TestVerdictOfAFormerPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := fits()
	p.HoldNotifications = true
	w.policy(p)
	b := w.build("1.1")
	w.want(b, Pass, "")
	ask := func() *Gate {
		g, err := Ask(fixture.Context(t), w.DB, w.Org.ID, b)
		require.NoError(t, err)
		return g
	}
	decided := func() []int64 {
		list, err := Decided(fixture.Context(t), w.DB, []int64{b})
		require.NoError(t, err)
		return list
	}
	require.True(t, ask().Decided())
	// As it is for a build that is older than the newest.
	w.Exec(`update gate_policies set version = version + 1, document = jsonb_set(document, '{conditions,0,max_bytes}', '1')`)
	require.Empty(t, decided())
	require.Error(t, CheckNotify(fixture.Context(t), w.DB, w.Org.ID, b))
	state, err := StateOf(fixture.Context(t), w.DB, b)
	require.NoError(t, err)
	require.Equal(t, Unknown, state)
	g := ask()
	require.False(t, g.Decided())
	require.True(t, w.due(b))
	ask()
	require.Equal(t, 1, w.Count(`select count(*) from gate_due where build_id = $1`, b))
	w.want(b, Fail, "too large")
	require.Equal(t, []int64{b}, decided())

	w.Exec(`delete from gate_policies`)
	g = ask()
	require.Equal(t, Unknown, g.State)
	require.Empty(t, g.Conditions)
	require.True(t, g.Decided(), "there is nothing to wait for")
	require.Equal(t, []int64{b}, decided())
}

// A policy that only runs suites decides nothing, and says so.
func TestPolicyWithoutConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(Policy{RunSuites: []SuiteToRun{{SuiteID: w.NewSuite(w.Org.Member.Writer, "smoke").ID}}})
	b := w.build("1.1")
	w.evaluate()
	g := w.gate(b)
	require.Equal(t, ReasonNoConditions, g.Reason)
	require.True(t, g.Decided())
	decided, err := Decided(fixture.Context(t), w.DB, []int64{b})
	require.NoError(t, err)
	require.Equal(t, []int64{b}, decided)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		build, err := distribution.BuildByID(ctx, tx, w.Org.ID, 0, b)
		if err != nil {
			return err
		}
		begun, err := Begin(ctx, tx, w.Org.Member.Writer, build, false, "")
		require.Equal(t, Begun{RunSuites: true}, begun)
		return err
	})
}

// The end of the time for which a group is ignored is a fact.
func TestGroupThatIsIgnoredForATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups}))
	b := w.build("1.1")
	w.crash(w.report(b, "a"))
	w.want(b, Fail, "1 report")
	w.Exec(`update crash_groups set state = 'ignored', ignored_until = now() + interval '1 hour'`)
	w.want(b, Unknown, "the time ends")
	require.Equal(t, 1, w.Count(`select count(*) from gate_due where build_id = $1 and due_at between now() + interval '50 minutes'
		and now() + interval '1 hour'`, b))
	w.Exec(`alter table crash_groups disable trigger crash_groups_gate`)
	w.Exec(`update crash_groups set ignored_until = now() - interval '1 second'`)
	w.Exec(`update gate_due set due_at = now()`)
	w.want(b, Fail, "1 report")
}

// A suite run whose cases retention deleted keeps the verdict that it had.
func TestForgottenCases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	b := w.build("1.1")
	run := uuid.New()
	w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, fanned_out,
		state, build_id)
		values ($1, $2, $3, $4, 'smoke', gen_random_uuid(), '', 2, true, 'PASSED', $5)`, run, w.Org.ID, w.Org.Team.ID, suite.ID, b)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, suite_run_id, user_uuid, case_name, build_name, state)
		select gen_random_uuid(), $1, $2, 'case ' || i, 'r', $3, gen_random_uuid(), 'c', '', 'PASSED'
		from generate_series(1, 2) i`, w.Org.ID, w.Org.Team.ID, run)
	w.policy(conditions(Condition{Type: Suites, SuiteIDs: ids(suite.ID)}))
	w.want(b, Pass, "")
	w.Exec(`delete from test_runs where id = (select id from test_runs where suite_run_id = $1 limit 1)`, run)
	w.fact(b)
	w.want(b, Pass, "")
	w.Exec(`delete from suite_runs where id = $1`, run)
	w.fact(b)
	w.want(b, Pass, "")
}

func (w *world) fact(build int64) {
	w.T.Helper()
	w.Exec(`insert into gate_due (build_id, organization_id, due_at) values ($1, $2, now())`, build, w.Org.ID)
}

// The worst ten are named.
func TestReasonsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups}))
	b := w.build("1.1")
	var list []crash.Crash
	for i := range 12 {
		list = append(list, w.report(b, fmt.Sprintf("%s %d", strings.Repeat("x", 100), i)))
	}
	w.crash(list...)
	g := w.want(b, Fail, "; and 2 more")
	require.Equal(t, 10, strings.Count(g.Conditions[0].Reason, "1 report"))
}
