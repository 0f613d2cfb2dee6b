package gate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/webhook"

	. "github.com/slipway-qa/slipway/storage/gate"
)

// tooLarge fails every build, fits passes it.
func tooLarge() Policy { return conditions(Condition{Type: Size, MaxBytes: fixture.Ptr(int64(1))}) }

func fits() Policy { return conditions(Condition{Type: Size, MaxBytes: fixture.Ptr(int64(1 << 30))}) }

func (w *world) override(by account.Writer, build int64, state State, reason string) (c *Change, err error) {
	w.T.Helper()
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		c, err = SetOverride(ctx, tx, by, build, state, reason)
		return err
	})
	return c, err
}

// A person decides, with a reason, until the override is removed; all of it is in the history,
// the audit log and the events of webhooks.
func TestOverride(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec(`insert into webhooks (organization_id, name, url, status, secret, actions)
		values ($1, 'CI', 'https://x', 'active', '', '{gate}')`, w.Org.ID)
	w.policy(tooLarge())
	b := w.build("1.1")
	w.want(b, Fail, "too large")

	for field, c := range map[string]struct {
		state  State
		reason string
	}{"state": {Unknown, "why"}, "reason": {Pass, " "}} {
		_, err := w.override(w.admin, b, c.state, c.reason)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	_, err := w.override(w.Org.Neighbor.Writer, b, Pass, "mine")
	require.ErrorIs(t, err, ErrNoAccess)
	_, err = w.override(w.Rival.Owner.Writer, b, Pass, "mine")
	require.ErrorIs(t, err, storage.ErrNotFound)

	change, err := w.override(w.admin, b, Pass, "the shop needs it")
	require.NoError(t, err)
	require.Equal(t, []State{Fail, Pass}, []State{change.From, change.To})
	g := w.gate(b)
	require.Equal(t, []State{Pass, Fail}, []State{g.State, g.Evaluated})
	require.Equal(t, "the shop needs it", g.Override.Reason)
	require.Empty(t, w.evaluate(), "conditions change nothing meanwhile")
	decided, err := Decided(fixture.Context(t), w.DB, []int64{b, 987654})
	require.NoError(t, err)
	require.ElementsMatch(t, []int64{b, 987654}, decided)

	change, err = w.override(w.admin, b, Pass, "still")
	require.NoError(t, err)
	require.Nil(t, change, "nothing changed")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		change, err = RemoveOverride(ctx, tx, w.admin, b)
		return err
	})
	require.Equal(t, []State{Pass, Fail}, []State{change.From, change.To})
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := RemoveOverride(ctx, tx, w.admin, b)
		return err
	}), storage.ErrNotFound)

	past, total, err := History(fixture.Context(t), w.DB, w.Org.ID, b, storage.FirstPage())
	require.NoError(t, err)
	require.Equal(t, 4, total)
	var causes []Cause
	for _, p := range past {
		causes = append(causes, p.Cause)
	}
	require.Equal(t, []Cause{ByOverrideGone, ByOverride, ByOverride, ByConditions}, causes)
	require.Equal(t, "the shop needs it", past[2].Reason)
	require.Equal(t, w.admin.Actor.Name, past[2].Actor)
	require.Equal(t, Fail, past[3].Conditions[0].State)
	require.Equal(t, 2, w.Audited(account.GateOverridden))
	require.Equal(t, 1, w.Audited(account.GateOverrideRemoved))
	require.Equal(t, 3, w.Count(`select count(*) from events where action = $1 and build_id = $2`, webhook.Gate, b), "fail, pass, fail")
	require.Equal(t, 3, w.Count(`select count(*) from webhook_deliveries d join events e on e.id = d.event_id
		where d.action = $1 and e.build_id = $2`, webhook.Gate, b))

	// A build that came before the policy has a gate as soon as somebody decides.
	_, err = w.override(w.admin, 987654, Pass, "x")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// begin does what an upload does about the gate of its build.
func (w *world) begin(b int64, notify bool) (begun Begun) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		build, err := distribution.BuildByID(ctx, tx, w.Org.ID, 0, b)
		if err != nil {
			return err
		}
		begun, err = Begin(ctx, tx, w.Org.Member.Writer, build, notify, "request-1")
		return err
	})
	return begun
}

// A notification that is held goes out once, when the gate passes; who asked hears when it fails.
func TestHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := tooLarge()
	p.HoldNotifications = true
	w.policy(p)
	begin := w.begin
	b, quiet := w.build("1.1"), w.build("1.2")
	require.True(t, begin(b, true).Held)
	require.False(t, begin(quiet, false).Held)
	held := func(build int64) error { return CheckNotify(fixture.Context(t), w.DB, w.Org.ID, build) }
	var refused *HeldError
	require.ErrorAs(t, held(b), &refused)
	require.ErrorAs(t, held(quiet), &refused)

	changes := w.evaluate()
	require.Len(t, changes, 2)
	for _, c := range changes {
		require.Equal(t, Fail, c.To)
		require.False(t, c.Released)
		if c.BuildID == b {
			require.Equal(t, &Held{UserID: w.Org.Member.ID, RequestID: "request-1"}, c.Held)
		} else {
			require.Nil(t, c.Held)
		}
	}
	require.True(t, w.gate(b).Held)

	p = fits()
	p.HoldNotifications = true
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return SavePolicy(ctx, tx, w.admin, w.project, &p) })
	changes = w.evaluate()
	released := 0
	for _, c := range changes {
		if c.Released {
			released++
			require.Equal(t, b, c.BuildID)
		}
	}
	require.Equal(t, 1, released)
	require.False(t, w.gate(b).Held)
	require.NoError(t, held(b))

	// An override lets it go as well, and so does a policy that does not hold any more.
	p = tooLarge()
	p.HoldNotifications = true
	w.policy(p)
	third, fourth := w.build("1.3"), w.build("1.4")
	require.True(t, begin(third, true).Held)
	require.True(t, begin(fourth, true).Held)
	w.evaluate()
	change, err := w.override(w.admin, third, Pass, "go")
	require.NoError(t, err)
	require.True(t, change.Released)
	require.NoError(t, held(third))
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return DeletePolicy(ctx, tx, w.admin, w.project) })
	changes = w.evaluate()
	var gone []int64
	for _, c := range changes {
		if c.Released {
			gone = append(gone, c.BuildID)
		}
	}
	require.Equal(t, []int64{fourth}, gone)
}

// Who may not change the app may not set its policy, and a policy names suites that there are.
func TestSavePolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	save := func(by account.Writer, p Policy) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error { return SavePolicy(ctx, tx, by, w.project, &p) })
	}
	require.ErrorIs(t, save(w.Org.Neighbor.Writer, fits()), ErrNoAccess)
	require.ErrorIs(t, save(w.Rival.Owner.Writer, fits()), storage.ErrNotFound)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	strange := w.NewSuite(w.Rival.Member.Writer, "smoke")
	mine := w.NewSuite(w.Org.Neighbor.Writer, "of another team")
	require.NoError(t, save(w.admin, conditions(Condition{Type: Suites, SuiteIDs: ids(suite.ID)})))
	require.Equal(t, "conditions[0].suite_ids[1]",
		fixture.InvalidField(t, save(w.admin, conditions(Condition{Type: Suites, SuiteIDs: ids(suite.ID, strange.ID)}))))
	require.Equal(t, "run_suites[0].suite_id", fixture.InvalidField(t, save(w.admin, Policy{RunSuites: []SuiteToRun{{SuiteID: strange.ID}}})))
	require.Equal(t, "run_suites[0].suite_id", fixture.InvalidField(t, save(w.Org.Member.Writer,
		Policy{RunSuites: []SuiteToRun{{SuiteID: mine.ID}}})))
	require.NoError(t, save(w.Org.Member.Writer, Policy{RunSuites: []SuiteToRun{{SuiteID: suite.ID}}}))
	stored, err := PolicyOf(fixture.Context(t), w.DB, w.Org.ID, w.project)
	require.NoError(t, err)
	require.EqualValues(t, 2, stored.Version)
	require.Equal(t, suite.ID, stored.RunSuites[0].SuiteID)
	require.Equal(t, 2, w.Audited(account.GatePolicyChanged))
	_, err = PolicyOf(fixture.Context(t), w.DB, w.Rival.ID, w.project)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// Two workers evaluate different gates, and crashes that come meanwhile are never lost.
func TestEvaluateAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	most := int64(19)
	w.policy(conditions(Condition{Type: CrashGroups, MaxReports: &most}))
	var builds []int64
	for i := range 6 {
		builds = append(builds, w.build(fmt.Sprintf("3.%d", i)))
	}
	stop := make(chan struct{})
	var workers, senders sync.WaitGroup
	fail := make(chan error, 100)
	for range 2 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := w.DB.InTx(t.Context(), func(tx *storage.Tx) error {
					_, err := Evaluate(t.Context(), tx, 3)
					return err
				})
				if err != nil {
					fail <- err
					return
				}
			}
		}()
	}
	for n := range 20 {
		for i, b := range builds {
			list := []crash.Crash{w.report(b, fmt.Sprintf("key %d", i))}
			senders.Add(1)
			go func() {
				defer senders.Done()
				err := w.DB.InTx(t.Context(), func(tx *storage.Tx) error {
					if err := crash.Lock(t.Context(), tx, list); err != nil {
						return err
					}
					return crash.Record(t.Context(), tx, w.Org.ID, list)
				})
				if err != nil {
					fail <- err
				}
			}()
		}
		if n%5 == 4 {
			senders.Wait()
		}
	}
	senders.Wait()
	close(stop)
	workers.Wait()
	select {
	case err := <-fail:
		t.Fatal(err)
	default:
	}
	for _, b := range builds {
		w.want(b, Fail, "20 reports")
	}
	require.Zero(t, w.Count(`select count(*) from gate_due where due_at <= now()`))
}

// What belongs to a gate goes with its build, and with its app.
func TestDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(conditions(Condition{Type: CrashGroups, MaxUsers: fixture.Ptr(int64(3))}))
	b, other := w.build("1.1"), w.build("1.2")
	for _, build := range []int64{b, other} {
		w.crash(w.report(build, "a", func(c *crash.Crash) { c.Attributes = `{"guid":"ann"}` }))
	}
	w.evaluate()
	require.Equal(t, 2, w.Count(`select count(*) from gate_crashes`))
	w.Exec(`update builds set deleted_at = now() where id = $1`, b)
	w.evaluate()
	_, err := Of(fixture.Context(t), w.DB, w.Org.ID, b)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := SetOverride(ctx, tx, w.admin, b, Pass, "x")
		return err
	}), storage.ErrNotFound)
	w.Exec(`delete from crashes where build_id = $1`, b)
	w.Exec(`delete from builds where id = $1`, b)
	for _, table := range []string{"gates", "gate_crashes", "gate_crash_users", "gate_due", "gate_changes"} {
		require.Zero(t, w.Count(`select count(*) from `+table+` where build_id = $1`, b), table)
	}
	require.Equal(t, 1, w.Count(`select count(*) from gates where build_id = $1`, other))
	// A fact that came while its gate was deleted.
	w.Exec(`insert into gate_due (build_id, organization_id, due_at) values ($1, $2, now())`, b, w.Org.ID)
	w.evaluate()
	require.Zero(t, w.Count(`select count(*) from gate_due where build_id = $1`, b))
}

// Organizations take turns: many gates of one do not keep one of another from its turn.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(fits())
	var builds []int64
	for i := range 5 {
		builds = append(builds, w.build(fmt.Sprintf("4.%d", i)))
	}
	w.evaluate()
	for i, b := range builds {
		w.Exec(`insert into gate_due (build_id, organization_id, due_at) values ($1, $2, now() - $3::bigint * interval '1 minute')`,
			b, w.Org.ID, 10-i)
	}
	// However much of one organization is due, that of the other is looked at.
	w.Exec(`insert into gate_due (build_id, organization_id, due_at) select $1, $2, now() - interval '1 hour' from generate_series(1, 6000)`,
		builds[0], w.Org.ID)
	last := builds[4]
	w.Exec(`update gates set organization_id = $2 where build_id = $1`, last, w.Rival.ID)
	w.Exec(`update gate_due set organization_id = $2, due_at = now() where build_id = $1`, last, w.Rival.ID)
	before := w.gate(builds[0]).EvaluatedAt
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		round, err := Evaluate(ctx, tx, 2)
		require.Equal(t, 2, round.Claimed)
		return err
	})
	require.False(t, w.due(builds[0]), "the one that is due for the longest time")
	require.False(t, w.due(last), "the other organization's")
	require.True(t, w.due(builds[1]))
	require.True(t, w.gate(builds[0]).EvaluatedAt.After(*before))
	require.WithinDuration(t, time.Now(), *w.gate(builds[0]).EvaluatedAt, time.Minute)
}

// Who removes a build has its row first and its gate then: the gate is left out meanwhile.
func TestGateOfABuildThatIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(tooLarge())
	b, other := w.build("1.1"), w.build("1.2")
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `select id from builds where id = $1 for update`, b)
		require.Equal(t, 1, w.evaluateOnce().Evaluated)
		return err
	})
	require.True(t, w.due(b))
	require.False(t, w.due(other))
	w.want(b, Fail, "too large")
}
