package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
)

// failing makes each change of a table's rows fail, of those that a condition on new
// selects.
func (w *world) failing(change, table, condition, code string) {
	w.t.Helper()
	for _, statement := range []string{`
		create function fail_change() returns trigger language plpgsql as $$
		begin
			if ` + condition + ` then
				raise exception 'no' using errcode = '` + code + `';
			end if;
			return new;
		end $$`,
		`create trigger failing before ` + change + ` on ` + table + ` for each row execute function fail_change()`,
	} {
		_, err := w.db.ExecContext(w.t.Context(), statement)
		require.NoError(w.t, err)
	}
}

// oldest names the schedule that has been due for longest.
func (w *world) oldest(name string) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update test_schedules set name = $1 where next_run_at < now() - interval '20 seconds'`, name)
	require.NoError(w.t, err)
}

// A schedule that the database refuses to fire, whatever the reason, must not keep
// those that are due after it from firing.
func TestScheduleThatCannotBeFiredIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(1, w.suite, -30*time.Second)
	w.schedules(700, w.suite, -time.Second)
	w.oldest("poison")
	w.failing("update", "test_schedules", "new.run_count > 0 and new.name = 'poison'", "check_violation")

	id, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	task, err := w.ledger.Get(t.Context(), ledger.Scope{}, id)
	require.NoError(t, err)
	require.Equal(t, ledger.Succeeded, task.State)
	require.Equal(t, 700, w.number(`select count(*) from test_schedule_firings where outcome = 'STARTED'`))
	require.Equal(t, 700, w.number(`select count(*) from suite_runs`))
	require.Equal(t, 1, w.number(`select count(*) from test_schedules where name = 'poison' and state = 'ERRORED' and next_run_at is null
		and last_error <> ''`))
	require.Equal(t, 1, w.number(`select count(*) from test_schedule_firings where outcome = 'FAILED'`))
	require.Equal(t, 1, w.number(`select count(*) from audit_events where action = 'test_schedule.errored'`))
}

// What has nothing to do with the schedules stops none: they stay due.
func TestFailuresOfTheServerStopNoSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(3, w.suite, -time.Second)
	w.failing("insert", "suite_runs", "true", "disk_full")
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, 3, w.number(`select count(*) from test_schedules where state = 'ENABLED' and next_run_at <= now()`))
	require.Zero(t, w.number(`select count(*) from test_schedule_firings`))
}

// A suite that somebody holds for long keeps only its own schedules from firing, and
// the metric tells of them.
func TestHeldSuiteKeepsOnlyItsSchedules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(3, w.empty, -2*time.Second)
	w.schedules(stepLimit+20, w.suite, -time.Second)
	holder, err := w.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = holder.Rollback() }()
	_, err = holder.ExecContext(t.Context(), `select from test_suites where id = $1 for update`, w.empty)
	require.NoError(t, err)

	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, stepLimit+20, w.number(`select count(*) from test_schedule_firings where outcome = 'STARTED'`))
	require.Equal(t, 3, w.number(`select count(*) from test_schedules where state = 'ENABLED' and next_run_at <= now()`))
	overdue, err := Overdue(w.db)(t.Context())
	require.NoError(t, err)
	require.GreaterOrEqual(t, overdue, 2*time.Second)

	require.NoError(t, holder.Rollback())
	_, claim = w.claimed(1)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, 3, w.number(`select count(*) from test_schedule_firings where outcome = 'FAILED'`))
}

// One schedule that always runs into a passing error, such as a statement that takes
// too long, is skipped and stays due.
func TestPassingErrorOfOneScheduleIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.schedules(1, w.suite, -30*time.Second)
	w.schedules(40, w.suite, -time.Second)
	w.oldest("slow")
	w.failing("update", "test_schedules", "new.name = 'slow'", "query_canceled")
	_, claim := w.claimed(0)
	require.NoError(t, w.tick.Handle(t.Context(), claim))
	require.Equal(t, 40, w.number(`select count(*) from test_schedule_firings where outcome = 'STARTED'`))
	require.Equal(t, 1, w.number(`select count(*) from test_schedules where name = 'slow' and state = 'ENABLED' and next_run_at <= now()`))
}
