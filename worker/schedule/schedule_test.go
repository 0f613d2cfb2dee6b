package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is an organization with a suite that can run and one without cases.
type world struct {
	t            *testing.T
	db           *storage.DB
	ledger       *ledger.Store
	org, team    int64
	user         uuid.UUID
	suite, empty uuid.UUID
	counted      *firings
	tick         *Tick
}

// firings counts what the observer is called for.
type firings struct {
	mu    sync.Mutex
	count map[string]int
	late  time.Duration // the latest
}

func (f *firings) ScheduleFired(trigger schedule.FiringTrigger, outcome schedule.FiringOutcome, late time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count[fmt.Sprint(trigger, " ", outcome)]++
	f.late = max(f.late, late)
}

func (f *firings) all() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]int{}
	for k, n := range f.count {
		all[k] = n
	}
	return all
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), counted: &firings{count: map[string]int{}}}
	w.ledger = ledger.New(w.db)
	w.tick = &Tick{DB: w.db, Observer: w.counted, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		ctx := t.Context()
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "acme"})
		if err != nil {
			return err
		}
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: o.ID, Name: "main"})
		if err != nil {
			return err
		}
		user, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: "dev@example.com",
			Role: account.Member, TeamID: team.ID})
		if err != nil {
			return err
		}
		w.org, w.team, w.user = o.ID, team.ID, user.UUID
		by := account.Writer{OrganizationID: o.ID, UserUUID: user.UUID, Teams: []int64{team.ID},
			Actor: account.Actor{UserID: user.ID, Name: "dev"}}
		target, text := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}, "x"
		c, err := authoring.CreateCase(ctx, tx, by, authoring.NewCase{Name: "case",
			Settings: capability.RunSettings{TestURL: "https://shop.example.com/", PrimaryTarget: &target,
				RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: []step.Step{{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text,
				Selector: &step.Selector{Type: step.CSS, Value: "#user"}}}}}}})
		if err != nil {
			return err
		}
		full, err := authoring.CreateSuite(ctx, tx, by, authoring.NewSuite{Name: "full", Cases: []string{c.ID}})
		if err != nil {
			return err
		}
		empty, err := authoring.CreateSuite(ctx, tx, by, authoring.NewSuite{Name: "empty"})
		if err != nil {
			return err
		}
		w.suite, w.empty = full.ID, empty.ID
		return nil
	}))
	return w
}

// schedules makes n schedules of a suite that are due at a time from now. Their
// expression has no time near, so that nothing else is due.
func (w *world) schedules(n int, suite uuid.UUID, in time.Duration) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `
		with made as (
			insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at,
				creator_uuid, modifier_uuid)
			select gen_random_uuid(), $1, $2, 's' || n, '0 0 29 2 *', 'UTC', $3, 'ENABLED', clock_timestamp() + make_interval(secs => $4), $3, $3
			from generate_series(1, $5::int) n returning id
		)
		insert into test_schedule_suites (schedule_id, suite_id, position) select id, $6, 0 from made`,
		w.org, w.team, w.user, in.Seconds(), n, suite)
	require.NoError(w.t, err)
}

func (w *world) number(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

// claimed makes a tick and claims it.
func (w *world) claimed(slot int) (uuid.UUID, *worker.Claim) {
	w.t.Helper()
	task := tasks.NewPeriodic(tasks.ScheduleTick, slot)
	made, err := ledger.Insert(w.t.Context(), w.db, task)
	require.NoError(w.t, err)
	require.True(w.t, made)
	rows, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: task.ID, Kind: task.Kind, Worker: "w"})
	require.NoError(w.t, err)
	require.Len(w.t, rows, 1)
	return task.ID, worker.NewClaim(w.db, rows)
}

func (w *world) pending() bool {
	w.t.Helper()
	pending, err := w.tick.Pending(w.t.Context())
	require.NoError(w.t, err)
	return pending
}

// Everything that is due fires in steps, and only what started has tasks.
func TestTickFiresWhatIsDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.False(t, w.pending(), "no schedules")
	const due, empty = stepLimit + 30, 3
	w.schedules(due, w.suite, -time.Second)
	w.schedules(empty, w.empty, -time.Second)
	w.schedules(2, w.suite, time.Hour)
	require.True(t, w.pending())
	overdue, err := Overdue(w.db)(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, overdue, time.Second)

	id, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	task, err := w.ledger.Get(t.Context(), ledger.Scope{}, id)
	require.NoError(t, err)
	require.Equal(t, ledger.Succeeded, task.State)
	require.JSONEq(t, fmt.Sprintf(`{"started":%d,"firings":%d,"skipped":0,"failed":%d,"postponed":0}`, due, due+empty, empty),
		string(*task.Result))
	require.Equal(t, due, w.number(`select count(*) from suite_runs r join tasks t on t.id = r.id
		where t.kind = 'suite:run' and t.state = 'queued' and t.organization_id = $1 and t.payload ->> 'suite_run_id' = r.id::text`, w.org))
	require.Equal(t, due, w.number(`select count(*) from tasks where kind = 'suite:run'`))
	require.Equal(t, due+empty, w.number(`select count(*) from test_schedule_firings`))
	counted := w.counted.all() // CATCH_UP when the machine is that slow
	require.Equal(t, due, counted["CRON STARTED"]+counted["CATCH_UP STARTED"])
	require.Equal(t, empty, counted["CRON FAILED"]+counted["CATCH_UP FAILED"])
	require.Greater(t, w.counted.late, time.Second)
	require.Less(t, w.counted.late, time.Minute)
	require.False(t, w.pending())
	overdue, err = Overdue(w.db)(t.Context())
	require.NoError(t, err)
	require.Zero(t, overdue)
}

// What was due while the process started is made up for.
func TestTickAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(1, w.suite, -5*time.Second)
	w.tick.Started = time.Now()
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, map[string]int{"CATCH_UP STARTED": 1}, w.counted.all())
}

// Ticks beside each other share what is due.
func TestTicksShareTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const due = 4*stepLimit + 7
	w.schedules(due, w.suite, -time.Second)
	var ticks sync.WaitGroup
	for slot := range tasks.ScheduleTick.Open {
		_, claim := w.claimed(slot)
		ticks.Go(func() {
			if err := w.tick.Handle(t.Context(), claim); err != nil {
				t.Error(err)
			}
		})
	}
	ticks.Wait()
	// A tick may have skipped rows that another one held just then.
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, due, w.number(`select count(*) from suite_runs`))
	require.Equal(t, due, w.number(`select count(*) from test_schedule_firings where outcome = 'STARTED'`))
	require.Equal(t, due, w.number(`select count(*) from tasks where kind = 'suite:run'`))
	counted := w.counted.all() // CATCH_UP when the machine is slow
	require.Equal(t, due, counted["CRON STARTED"]+counted["CATCH_UP STARTED"])
}

// A tick that has lost its task fires nothing.
func TestTickOfALostClaimFiresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(3, w.suite, -time.Second)
	id, claim := w.claimed(0)
	_, err := w.db.ExecContext(t.Context(), `update tasks set attempt = attempt + 1 where id = $1`, id)
	require.NoError(t, err)
	require.ErrorIs(t, w.tick.Handle(t.Context(), claim), storage.ErrStale)
	require.Zero(t, w.number(`select count(*) from test_schedule_firings`))
	require.Empty(t, w.counted.all())
	require.True(t, w.pending())
}

func TestPendingWaitsForTheMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(1, w.suite, time.Hour)
	require.False(t, w.pending())

	w.schedules(1, w.suite, pendingGrace-20*time.Millisecond)
	require.True(t, w.pending())
	require.Equal(t, 1, w.number(`select count(*) from test_schedules where next_run_at <= now()`), "it is due when the answer comes")
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, map[string]int{"CRON STARTED": 1}, w.counted.all())

	// Who waits is interrupted. On a slow machine the schedule is due before anybody
	// looks; then with another one.
	interrupted := false
	for try := 0; try < 20 && !interrupted; try++ {
		_, err := w.db.ExecContext(t.Context(), `update test_schedules set next_run_at = now() + interval '1 hour'`)
		require.NoError(t, err)
		w.schedules(1, w.suite, pendingGrace-20*time.Millisecond)
		stopped, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		pending, err := w.tick.Pending(stopped)
		interrupted = !pending && errors.Is(err, context.Canceled)
	}
	require.True(t, interrupted)
}

// The whole way of a trigger, through Redis and the worker.
func TestTriggerFiresSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = redis.Close() })
	work, err := worker.New(worker.Config{Redis: redis, Ledger: w.ledger, Log: w.tick.Log,
		Handlers: map[string]worker.Handler{tasks.ScheduleTick.Name: w.tick},
		Pools:    []worker.Pool{{Slots: 2, Queues: map[string]int{tasks.Schedule: 1}}}})
	require.NoError(t, err)
	require.NoError(t, work.Start())
	t.Cleanup(work.Stop)
	trigger := func() {
		t.Helper()
		require.NoError(t, redis.Trigger(t.Context(), tasks.ScheduleTick))
	}
	trigger()
	w.schedules(20, w.suite, 0)
	require.Eventually(t, func() bool {
		trigger()
		return w.number(`select count(*) from suite_runs`) == 20
	}, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		return w.number(`select coalesce(sum((result ->> 'started')::int), 0) from tasks
			where kind = 'schedule:tick' and state = 'succeeded'`) == 20
	}, time.Minute, 50*time.Millisecond)
	counted := w.counted.all() // CATCH_UP when the machine is that slow
	require.Equal(t, 20, counted["CRON STARTED"]+counted["CATCH_UP STARTED"])
}

// What the log says of schedules that end.
func TestSchedulesThatEndAreLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	w.tick.Log = slog.New(slog.NewTextHandler(&text, nil))
	w.schedules(2, w.empty, -time.Second)
	_, err := w.db.ExecContext(t.Context(), `update test_schedules set failures = $1`, schedule.MaxFailures-1)
	require.NoError(t, err)
	w.schedules(1, w.suite, -time.Second)
	_, err = w.db.ExecContext(t.Context(), `update test_schedules set max_runs = 1 where failures = 0`)
	require.NoError(t, err)
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Contains(t, text.String(), `level=WARN msg="schedules stopped: they started nothing again and again" schedules=2`)
	require.Contains(t, text.String(), `level=INFO msg="schedules ended" schedules=1`)
}
