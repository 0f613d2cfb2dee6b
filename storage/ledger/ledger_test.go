package ledger_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// fixture is a store with two organizations.
type fixture struct {
	*ledger.Store
	db       *storage.DB
	one, two int64
}

func open(t *testing.T) fixture {
	t.Helper()
	db := servicetest.DB(t)
	f := fixture{Store: ledger.New(db), db: db}
	for i, id := range []*int64{&f.one, &f.two} {
		slug := fmt.Sprintf("org%d", i)
		require.NoError(t, db.Get(id, `insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	}
	return f
}

func (f fixture) insert(t *testing.T, task ledger.NewTask) uuid.UUID {
	t.Helper()
	if task.Kind == "" {
		task.Kind = "k"
	}
	if task.Queue == "" {
		task.Queue = "q"
	}
	if task.MaxAttempts == 0 {
		task.MaxAttempts = 3
	}
	task.Payload = map[string]int{"n": 1}
	made, err := ledger.Insert(context.Background(), f.db, &task)
	require.NoError(t, err)
	require.True(t, made)
	return task.ID
}

func (f fixture) get(t *testing.T, id uuid.UUID) *ledger.Task {
	t.Helper()
	task, err := f.Get(context.Background(), ledger.Scope{}, id)
	require.NoError(t, err)
	return task
}

// requirePutOff calls act, which must put a task off by so much, give or take a second: from some time
// between its begin and its end on.
func (f fixture) requirePutOff(t *testing.T, id uuid.UUID, want time.Duration, act func()) {
	t.Helper()
	now := func() (at time.Time) {
		require.NoError(t, f.db.Get(&at, `select clock_timestamp()`))
		return at
	}
	begun := now()
	act()
	ended := now()
	require.WithinRange(t, f.get(t, id).RunAt, begun.Add(want-time.Second), ended.Add(want+time.Second))
}

func (f fixture) claim(t *testing.T, id uuid.UUID) *ledger.Task {
	t.Helper()
	rows, err := f.Claim(context.Background(), ledger.ClaimRequest{ID: id, Kind: "k", Worker: "w"})
	require.NoError(t, err)
	if len(rows) == 0 {
		return nil
	}
	return &rows[0]
}

func TestClaimSucceedsOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one})
	var wg sync.WaitGroup
	won := make(chan *ledger.Task, 16)
	for range 16 {
		wg.Go(func() {
			rows, err := f.Claim(context.Background(), ledger.ClaimRequest{ID: id, Kind: "k", Worker: "w"})
			if err == nil && len(rows) == 1 {
				won <- &rows[0]
			}
		})
	}
	wg.Wait()
	close(won)
	require.Len(t, won, 1)
	task := <-won
	require.Equal(t, ledger.Running, task.State)
	require.Equal(t, 1, task.Attempt)
}

func TestFinishIsFenced(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one})
	first := f.claim(t, id)

	// The first worker falls silent, the task is rescued and claimed again.
	_, err := f.db.Exec(`update tasks set heartbeat_at = now() - interval '1 minute' where id = $1`, id)
	require.NoError(t, err)
	rescued, err := f.Rescue(ctx, 6*time.Second)
	require.NoError(t, err)
	require.Len(t, rescued, 1)
	require.Contains(t, *rescued[0].Error, "worker lost")
	second := f.claim(t, id)
	require.Equal(t, 2, second.Attempt)

	finish := func(token ledger.Token, effect string) error {
		return f.db.InTx(ctx, func(tx *storage.Tx) error {
			if _, err := tx.Exec(`insert into organizations (uuid, slug, name) values ($1, $2, $2)`, uuid.New(), effect); err != nil {
				return err
			}
			return ledger.Finish(ctx, tx, []ledger.Token{token}, map[string]string{"by": effect})
		})
	}
	require.ErrorIs(t, finish(first.Token(), "ghost"), storage.ErrStale)
	require.NoError(t, finish(second.Token(), "real"))
	require.ErrorIs(t, finish(second.Token(), "again"), storage.ErrStale)

	var effects int
	require.NoError(t, f.db.Get(&effects, `select count(*) from organizations where slug in ('ghost', 'real', 'again')`))
	require.Equal(t, 1, effects)
	task := f.get(t, id)
	require.Equal(t, ledger.Succeeded, task.State)
	require.JSONEq(t, `{"by":"real"}`, string(*task.Result))
}

func TestBatchClaimMergesOneOrganizationUpToTheWeight(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	var mine []uuid.UUID
	for range 5 {
		mine = append(mine, f.insert(t, ledger.NewTask{OrganizationID: f.one, Weight: 10}))
	}
	f.insert(t, ledger.NewTask{OrganizationID: f.two, Weight: 1})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Kind: "other"})
	f.insert(t, ledger.NewTask{OrganizationID: f.one, Delay: time.Hour})

	claim := func(weight int) []ledger.Task {
		rows, err := f.Claim(ctx, ledger.ClaimRequest{ID: mine[4], Kind: "k", OrganizationID: f.one, Worker: "w", Batch: 64, MaxWeight: weight})
		require.NoError(t, err)
		return rows
	}
	ids := func(rows []ledger.Task) (out []uuid.UUID) {
		for _, r := range rows {
			out = append(out, r.ID)
		}
		return out
	}
	require.ElementsMatch(t, mine[:1], ids(claim(5)), "one row is taken however heavy")
	require.ElementsMatch(t, mine[1:3], ids(claim(29)))
	require.ElementsMatch(t, mine[3:], ids(claim(1000)))
	require.Empty(t, claim(1000))
}

func TestBatchClaimWaitsForItsOwnRowWhenOthersLockIt(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	heavy := []uuid.UUID{
		f.insert(t, ledger.NewTask{OrganizationID: f.one, Weight: 900}),
		f.insert(t, ledger.NewTask{OrganizationID: f.one, Weight: 900}),
	}
	for range 20 {
		got := make(chan int, 2)
		for _, id := range heavy {
			go func() {
				rows, err := f.Claim(ctx, ledger.ClaimRequest{ID: id, Kind: "k", OrganizationID: f.one, Worker: "w", Batch: 64, MaxWeight: 1000})
				if err != nil {
					t.Error(err)
				}
				got <- len(rows)
			}()
		}
		require.Equal(t, 2, <-got+<-got, "no row is left behind by a claim that only locked it")
		_, err := f.db.Exec(`update tasks set state = 'queued', attempt = 0`)
		require.NoError(t, err)
	}
}

func TestBatchClaimLeavesSuspectsAlone(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	var ids []uuid.UUID
	for range 4 {
		ids = append(ids, f.insert(t, ledger.NewTask{OrganizationID: f.one}))
	}
	_, err := f.db.Exec(`update tasks set attempt = 2, failures = '[{}, {}]' where id in ($1, $2)`, ids[0], ids[2])
	require.NoError(t, err)
	// Those that were returned, at stops of workers or in an outage, are no suspects.
	_, err = f.db.Exec(`update tasks set attempt = 7, failures = '[{}]' where id in ($1, $2)`, ids[1], ids[3])
	require.NoError(t, err)
	claim := func() (got []uuid.UUID) {
		rows, err := f.Claim(ctx, ledger.ClaimRequest{ID: ids[3], Kind: "k", OrganizationID: f.one, Worker: "w", Batch: 64, MaxWeight: 1000})
		require.NoError(t, err)
		for _, r := range rows {
			got = append(got, r.ID)
		}
		return got
	}
	require.Equal(t, ids[:1], claim())
	require.ElementsMatch(t, []uuid.UUID{ids[1], ids[3]}, claim())
	require.Equal(t, ids[2:3], claim())
}

func TestRescueBacksOffFromTheSecondOn(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 9})
	for attempt, wait := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second} {
		_, err := f.db.Exec(`update tasks set run_at = now() where id = $1`, id)
		require.NoError(t, err)
		require.NotNil(t, f.claim(t, id), "attempt %d", attempt+1)
		_, err = f.db.Exec(`update tasks set heartbeat_at = now() - interval '7 seconds' where id = $1`, id)
		require.NoError(t, err)
		f.requirePutOff(t, id, wait, func() {
			_, err := f.Rescue(ctx, 6*time.Second)
			require.NoError(t, err)
		})
	}
}

func TestMadeWithin(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	f.insert(t, ledger.NewTask{})
	for kind, want := range map[string]bool{"k": true, "other": false} {
		made, err := f.MadeWithin(ctx, kind, time.Minute)
		require.NoError(t, err)
		require.Equal(t, want, made, kind)
	}
	_, err := f.db.Exec(`update tasks set created_at = now() - interval '2 minutes'`)
	require.NoError(t, err)
	made, err := f.MadeWithin(ctx, "k", time.Minute)
	require.NoError(t, err)
	require.False(t, made)
}

func TestFailBacksOffThenDies(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 2})

	states, err := f.Fail(ctx, []ledger.Token{f.claim(t, id).Token()}, "first\x00 \xff", false, time.Hour)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Queued}, states)
	task := f.get(t, id)
	require.Greater(t, time.Until(task.RunAt), 50*time.Minute)
	require.Nil(t, f.claim(t, id), "not due yet")

	_, err = f.db.Exec(`update tasks set run_at = now() where id = $1`, id)
	require.NoError(t, err)
	states, err = f.Fail(ctx, []ledger.Token{f.claim(t, id).Token()}, "second", false, time.Hour)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Dead}, states)
	require.Equal(t, "second", *f.get(t, id).Error)

	// By hand it gets its attempts again.
	retried, err := ledger.Retry(ctx, f.db, ledger.Scope{OrganizationID: f.one}, id, 2)
	require.NoError(t, err)
	require.Equal(t, ledger.Queued, retried.State)
	require.Equal(t, 4, retried.MaxAttempts)
	require.Nil(t, retried.FinishedAt)
	_, err = ledger.Retry(ctx, f.db, ledger.Scope{OrganizationID: f.one}, id, 2)
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = ledger.Retry(ctx, f.db, ledger.Scope{OrganizationID: f.two}, id, 2)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestPermanentFailureIsDeadAtOnce(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 9})
	states, err := f.Fail(context.Background(), []ledger.Token{f.claim(t, id).Token()}, "no", true, 0)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Dead}, states)
}

func TestReleaseDoesNotUseAnAttemptUp(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 1})
	first := f.claim(t, id)
	released, err := f.Release(ctx, []ledger.Token{first.Token()}, 0)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Queued}, released)
	second := f.claim(t, id)
	require.NotEqual(t, first.Attempt, second.Attempt, "the token must not be used twice")
	states, err := f.Fail(ctx, []ledger.Token{second.Token()}, "x", false, 0)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Dead}, states)
}

// lose lets the worker of a running task be lost.
func (f fixture) lose(t *testing.T, id uuid.UUID) {
	t.Helper()
	_, err := f.db.Exec(`update tasks set heartbeat_at = now() - interval '7 seconds' where id = $1`, id)
	require.NoError(t, err)
	rescued, err := f.Rescue(t.Context(), 6*time.Second)
	require.NoError(t, err)
	require.Len(t, rescued, 1)
	_, err = f.db.Exec(`update tasks set run_at = now() where id = $1`, id)
	require.NoError(t, err)
}

// Losses do not use attempts up, and have a limit and a reason of their own.
func TestRescueGivesUpATaskThatKillsItsWorkers(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 2})
	for n := range ledger.MaxLosses {
		require.NotNil(t, f.claim(t, id), "loss %d", n)
		f.lose(t, id)
	}
	task := f.get(t, id)
	require.Equal(t, ledger.Dead, task.State)
	require.Equal(t, ledger.MaxLosses, task.Losses)
	require.Equal(t, "lost with its worker 20 times; the last was w", *task.Error)

	retried, err := ledger.Retry(t.Context(), f.db, ledger.Scope{}, id, 2)
	require.NoError(t, err)
	require.Zero(t, retried.Losses)
}

func TestLossesDoNotUseAttemptsUp(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 2})
	for range 5 {
		require.NotNil(t, f.claim(t, id))
		f.lose(t, id)
	}
	fail := func() ledger.State {
		states, err := f.Fail(t.Context(), []ledger.Token{f.claim(t, id).Token()}, "internal: boom", false, 0)
		require.NoError(t, err)
		return states[0]
	}
	require.Equal(t, ledger.Queued, fail(), "the first attempt that failed")
	require.Equal(t, ledger.Dead, fail())
	task := f.get(t, id)
	require.Equal(t, 5, task.Losses)
	failed, err := task.FailedAttempts()
	require.NoError(t, err)
	require.Len(t, failed, 7)
	require.True(t, failed[4].Lost)
	require.Contains(t, failed[4].Error, "no heartbeat from w")
	require.Equal(t, "w", *failed[5].Worker)
	require.Equal(t, 6, failed[5].Attempt)
	require.False(t, failed[5].EndedAt.Before(*failed[5].StartedAt))
	require.Equal(t, "internal: boom", failed[5].Error)
	require.Equal(t, ledger.HiddenError, failed[5].PublicError())
}

// The first attempts and the last ones are kept.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	f := open(t)
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one, MaxAttempts: 30})
	for range 25 {
		_, err := f.Fail(t.Context(), []ledger.Token{f.claim(t, id).Token()}, strings.Repeat("x", 5000), false, 0)
		require.NoError(t, err)
	}
	failed, err := f.get(t, id).FailedAttempts()
	require.NoError(t, err)
	require.Len(t, failed, 20)
	require.Equal(t, 1, failed[0].Attempt)
	require.Equal(t, 7, failed[1].Attempt)
	require.Equal(t, 25, failed[19].Attempt)
	require.Len(t, failed[0].Error, 500)
}

func TestHeartbeatReportsCancelledAndLost(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	var tokens []ledger.Token
	for range 3 {
		tokens = append(tokens, f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one})).Token())
	}
	_, err := ledger.Cancel(ctx, f.db, ledger.Scope{OrganizationID: f.one}, tokens[1].ID)
	require.NoError(t, err)
	tokens[2].Attempt++
	cancelled, lost, err := f.Heartbeat(ctx, tokens)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{tokens[1].ID}, cancelled)
	require.Equal(t, []uuid.UUID{tokens[2].ID}, lost)

	states, err := f.Release(ctx, tokens[:2], 0)
	require.NoError(t, err)
	require.ElementsMatch(t, []ledger.State{ledger.Queued, ledger.Cancelled}, states)
	require.Equal(t, ledger.Cancelled, f.get(t, tokens[1].ID).State)
	require.Equal(t, 4, f.get(t, tokens[0].ID).MaxAttempts, "a neighbour in the claim loses no attempt")
}

func TestHeartbeatDoesNotWaitForATaskThatIsFinishing(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	finishing := f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one})).Token()
	other := f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one})).Token()
	require.NoError(t, f.db.InTx(ctx, func(tx *storage.Tx) error {
		require.NoError(t, ledger.Finish(ctx, tx, []ledger.Token{finishing}, nil))
		bounded, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		before := f.get(t, other.ID).HeartbeatAt
		_, lost, err := f.Heartbeat(bounded, []ledger.Token{finishing, other})
		require.NoError(t, err)
		require.Empty(t, lost)
		require.True(t, f.get(t, other.ID).HeartbeatAt.After(*before))
		return nil
	}))
}

func TestCancelQueuedEndsAtOnce(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	id := f.insert(t, ledger.NewTask{OrganizationID: f.one})
	task, err := ledger.Cancel(ctx, f.db, ledger.Scope{}, id)
	require.NoError(t, err)
	require.Equal(t, ledger.Cancelled, task.State)
	require.Nil(t, f.claim(t, id))
	_, err = ledger.Cancel(ctx, f.db, ledger.Scope{}, id)
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = ledger.Cancel(ctx, f.db, ledger.Scope{OrganizationID: f.two}, id)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestDedupeKeyHoldsWhileOpen(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	task := ledger.NewTask{Kind: "k", Queue: "q", DedupeKey: "d", MaxAttempts: 1, Payload: 1}
	first := task
	made, err := ledger.Insert(ctx, f.db, &first)
	require.NoError(t, err)
	require.True(t, made)
	second := task
	made, err = ledger.Insert(ctx, f.db, &second)
	require.NoError(t, err)
	require.False(t, made)
	_, err = ledger.Cancel(ctx, f.db, ledger.Scope{}, first.ID)
	require.NoError(t, err)
	third := task
	made, err = ledger.Insert(ctx, f.db, &third)
	require.NoError(t, err)
	require.True(t, made)
	_, err = ledger.Retry(ctx, f.db, ledger.Scope{}, first.ID, 1)
	require.ErrorIs(t, err, storage.ErrConflict)
}

func TestConcurrencyKeyBoundsRunningTasks(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	var ids []uuid.UUID
	for range 8 {
		ids = append(ids, f.insert(t, ledger.NewTask{OrganizationID: f.one, ConcurrencyKey: "key"}))
	}
	free := f.insert(t, ledger.NewTask{OrganizationID: f.one})
	var mu sync.Mutex
	var running []ledger.Task
	var wg sync.WaitGroup
	for _, id := range append(ids, free) {
		wg.Go(func() {
			rows, err := f.Claim(ctx, ledger.ClaimRequest{ID: id, Kind: "k", Worker: "w", KeyLimit: 2})
			if err == nil {
				mu.Lock()
				running = append(running, rows...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, running, 3, "two of the key and the one without")
	for _, id := range ids {
		if task := f.get(t, id); task.State == ledger.Queued {
			require.Greater(t, task.RunAt, task.CreatedAt, "put off, not lost")
		}
	}
}

func TestStatsAndPrune(t *testing.T) {
	t.Parallel()
	f, ctx := open(t), context.Background()
	done := f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one}))
	require.NoError(t, ledger.Finish(ctx, f.db, []ledger.Token{done.Token()}, nil))
	dead := f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one}))
	_, err := f.Fail(ctx, []ledger.Token{dead.Token()}, "x", true, 0)
	require.NoError(t, err)
	f.insert(t, ledger.NewTask{OrganizationID: f.one})
	f.claim(t, f.insert(t, ledger.NewTask{OrganizationID: f.one}))
	_, err = f.db.Exec(`update tasks set run_at = now() - interval '90 seconds' where state = 'queued'`)
	require.NoError(t, err)

	stats, err := f.Open(ctx)
	require.NoError(t, err)
	counts := map[ledger.State]int64{}
	for _, s := range stats {
		counts[s.State] = s.Count
		if s.State == ledger.Queued {
			require.InDelta(t, 90, s.OldestSeconds, 20)
		}
	}
	require.Equal(t, map[ledger.State]int64{ledger.Queued: 1, ledger.Running: 1, ledger.Dead: 1}, counts)
	lag, err := f.Lag(ctx)
	require.NoError(t, err)
	require.InDelta(t, 90, lag["q"].Seconds(), 20)

	_, err = f.db.Exec(`update tasks set finished_at = finished_at - interval '2 days' where finished_at is not null`)
	require.NoError(t, err)
	states, err := f.StatesOf(ctx, []uuid.UUID{done.ID, dead.ID, uuid.New()})
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]ledger.State{done.ID: ledger.Succeeded, dead.ID: ledger.Dead}, states)
}
