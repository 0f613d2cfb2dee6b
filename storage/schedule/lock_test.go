package schedule_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	. "github.com/slipway-qa/slipway/storage/schedule"
)

// fireLike takes the locks of firing: schedules that nobody holds, then their
// suites in the order of their ids.
func fireLike(ctx context.Context, tx *storage.Tx) error {
	var schedules, suites []string
	if err := tx.SelectContext(ctx, &schedules, `select id from test_schedules where next_run_at is not null
		order by next_run_at limit 3 for no key update skip locked`); err != nil {
		return err
	}
	return tx.SelectContext(ctx, &suites, `select id from test_suites where id in
		(select suite_id from test_schedule_suites where schedule_id = any($1::uuid[])) order by id for no key update`, pq.Array(schedules))
}

// Changes of schedules with suites in any order, suites that are deleted and
// schedules that fire or go, all at once, never wait for each other in a circle.
func TestConcurrentScheduleChanges(t *testing.T) {
	t.Parallel()
	w := open(t)
	const workers, rounds, suites, schedules = 20, 10, 8, 4
	var mu sync.Mutex
	ids := make([]uuid.UUID, suites) // of suites; those that were deleted are replaced
	for i := range ids {
		ids[i] = w.NewSuite(w.Org.Member.Writer, "s").ID
	}
	fixed := make([]uuid.UUID, schedules)
	for i := range fixed {
		fixed[i] = w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: ids, Settings: w.daily()}).ID
	}
	settings := w.daily() // of all workers
	errs := make(chan error, workers*rounds)
	var all sync.WaitGroup
	for n := range workers {
		random := rand.New(rand.NewPCG(uint64(n), 11))
		some := func() []uuid.UUID {
			mu.Lock()
			list := append([]uuid.UUID{}, ids...)
			mu.Unlock()
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			return list[:1+random.IntN(suites)]
		}
		all.Go(func() {
			for round := range rounds {
				schedule := fixed[random.IntN(schedules)]
				errs <- w.Do(func(ctx context.Context, tx *storage.Tx) (err error) {
					list := some()
					switch (round + n) % 6 {
					case 0:
						_, err = Update(ctx, tx, w.Org.Member.Writer, schedule, Change{Suites: &list, State: fixture.Ptr(Enabled)})
					case 1:
						_, err = run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, list[0], false)
						if err != nil {
							return err
						}
						s, err := authoring.CreateSuite(ctx, tx, w.Org.Member.Writer, authoring.NewSuite{Name: "s"})
						if err != nil {
							return err
						}
						mu.Lock()
						defer mu.Unlock()
						ids[random.IntN(suites)] = s.ID
					case 2:
						err = fireLike(ctx, tx)
					case 3:
						_, err = Update(ctx, tx, w.Org.Member.Writer, schedule, Change{Settings: &SettingsChange{MaxRuns: given(1 + n)}})
					case 4:
						s, err := Create(ctx, tx, w.Org.Member.Writer, NewSchedule{Suites: list, Settings: settings})
						if err != nil {
							return err
						}
						return Delete(ctx, tx, w.Org.Member.Writer, s.ID)
					default:
						_, err = Update(ctx, tx, w.Org.Member.Writer, schedule, Change{Suites: &list})
					}
					return err
				})
			}
		})
	}
	all.Wait()
	close(errs)
	done := 0
	for err := range errs {
		// A suite that another one deletes may be missing.
		var missing *MissingSuitesError
		if errors.As(err, &missing) || errors.Is(err, storage.ErrNotFound) {
			continue
		}
		require.NoError(t, err)
		done++
	}
	require.Greater(t, done, workers*rounds/3)
	for _, id := range fixed {
		s := w.readSchedule(id)
		require.Equal(t, s.State == Enabled, s.NextRunAt != nil)
		require.Equal(t, len(s.SuiteIDs),
			w.Count(`select count(*) from test_schedule_suites join test_suites on suite_id = id where schedule_id = $1`, id))
	}
}

// waitForLock waits until a transaction waits for another.
func (w *room) waitForLock() {
	w.T.Helper()
	require.Eventually(w.T, func() bool {
		return w.Count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
	}, time.Minute, 5*time.Millisecond)
}

// A suite that goes away while a schedule takes it is missing, and one that a
// schedule takes first leaves it when it goes.
func TestScheduleForASuiteThatGoes(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "s").ID
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{})
	refused, deleted := make(chan error, 1), make(chan error, 1)
	take := func() Change { return Change{Suites: &[]uuid.UUID{suite}} }
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := run.DeleteSuiteWithRuns(ctx, tx, w.Org.Member.Writer, suite, false); err != nil {
			return err
		}
		go func() {
			_, err := w.changeSchedule(w.Org.Member.Writer, s.ID, take())
			refused <- err
		}()
		w.waitForLock()
		return nil
	})
	var missing *MissingSuitesError
	require.ErrorAs(t, <-refused, &missing)

	suite = w.NewSuite(w.Org.Member.Writer, "s").ID
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := Update(ctx, tx, w.Org.Member.Writer, s.ID, take()); err != nil {
			return err
		}
		go func() { deleted <- w.DeleteSuite(w.Org.Member.Writer, suite, false) }()
		w.waitForLock()
		return nil
	})
	require.NoError(t, <-deleted)
	require.Empty(t, w.readSchedule(s.ID).SuiteIDs)
}

// A change that waits while the schedule fires counts from when it has the lock,
// and leaves what the fire wrote.
func TestChangeWhileItFires(t *testing.T) {
	t.Parallel()
	w := open(t)
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "s").ID},
		Settings: w.daily(func(c *SettingsChange) { c.Cron = given("* * * * * *") })})
	next := w.now().Add(time.Hour).Truncate(time.Second)
	changed := make(chan *Schedule, 2)
	change := func(c Change) {
		got, err := w.changeSchedule(w.Org.Member.Writer, s.ID, c)
		if err != nil {
			got = nil
		}
		changed <- got
	}
	var released time.Time
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx,
			`update test_schedules set next_run_at = $2, run_count = 1, last_run_at = now() where id = $1`, s.ID, next); err != nil {
			return err
		}
		go change(Change{Name: fixture.Ptr("x")})
		w.waitForLock()
		return nil
	})
	got := <-changed
	require.NotNil(t, got)
	require.Equal(t, []any{"x", 1, next}, []any{got.Name, got.RunCount, got.NextRunAt.UTC()})
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `update test_schedules set run_count = 2 where id = $1`, s.ID); err != nil {
			return err
		}
		go change(Change{Settings: &SettingsChange{Cron: given("*/1 * * * * *")}})
		w.waitForLock()
		released = w.now()
		return nil
	})
	got = <-changed
	require.NotNil(t, got)
	require.Equal(t, 2, got.RunCount)
	require.True(t, got.NextRunAt.After(released) && got.NextRunAt.Before(next), "%s", got.NextRunAt)
}

// A change that waits for a schedule that fires holds none of its suites: who
// deletes one goes ahead, and so does the firing after it.
func TestWaitingChangeHoldsNoSuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	suites := []uuid.UUID{w.NewSuite(w.Org.Member.Writer, "stays").ID, w.NewSuite(w.Org.Member.Writer, "goes").ID}
	s := w.newSchedule(w.Org.Member.Writer, NewSchedule{Suites: suites, Settings: w.daily()})
	changed := make(chan error, 1)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `select from test_schedules where id = $1 for no key update`, s.ID); err != nil {
			return err
		}
		go func() {
			_, err := w.changeSchedule(w.Org.Member.Writer, s.ID, Change{Suites: &[]uuid.UUID{suites[1], suites[0]}})
			changed <- err
		}()
		w.waitForLock()
		require.NoError(t, w.DeleteSuite(w.Org.Member.Writer, suites[1], false))
		_, err := tx.ExecContext(ctx, `select from test_suites order by id for no key update`)
		return err
	})
	var missing *MissingSuitesError
	require.ErrorAs(t, <-changed, &missing)
	require.Equal(t, suites[:1], w.readSchedule(s.ID).SuiteIDs)
}
