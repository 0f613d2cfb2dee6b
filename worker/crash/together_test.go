package crash

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// traffic is everything that writes crashes at once.
type traffic struct {
	*world
	expired atomic.Int64 // reports that went with age, and stay counted
}

// some are reports of eight functions, some with the attribute bug by which they are given
// newer keys, each with a session, a user and a message.
func (w *world) some(r *rand.Rand, n int) []doc {
	docs := make([]doc, n)
	for i := range docs {
		f := r.IntN(8)
		docs[i] = doc{function: fmt.Sprintf("f%d", f), at: time.Now().Add(-time.Duration(r.IntN(72)) * time.Hour),
			attributes: fmt.Sprintf(`"bug":"f%d","device.model":"m%d","user":"u%d","version":"1.%d","hostname":"h%d","guid":"g%d",`+
				`"application.session":"s%d","error.message":"message %d"`,
				f, r.IntN(4), r.IntN(60), r.IntN(6), r.IntN(9), r.IntN(50), r.IntN(300), r.IntN(40))}
	}
	return docs
}

// take claims a task of a kind, or all that are due of a batch kind; nil: there is none.
func (f *traffic) take(ctx context.Context, kind tasks.Kind, id uuid.UUID) (*worker.Claim, error) {
	claimed, err := f.ledger.Claim(ctx, ledger.ClaimRequest{ID: id, Kind: kind.Name, OrganizationID: f.org,
		Worker: uuid.NewString(), Batch: min(kind.Batch, 8), MaxWeight: kind.MaxWeight})
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	return worker.NewClaim(f.db, claimed), nil
}

// receive accepts reports, each commit of which is a batch.
func (f *traffic) receive(ctx context.Context, r *rand.Rand) error {
	var in []received.Incoming
	for _, d := range f.some(r, 5) {
		in = append(in, f.incoming(d))
	}
	_, _, err := f.store.Accept(ctx, in, tasks.NewCrashProcess)
	return err
}

func (f *traffic) work(ctx context.Context, _ *rand.Rand) error {
	claim, err := f.take(ctx, tasks.CrashProcess, uuid.Nil)
	if err != nil || claim == nil {
		return err
	}
	return (&Process{Store: f.store, Log: slog.New(slog.DiscardHandler)}).Handle(ctx, claim)
}

// run does a task that is not processed in batches.
func (f *traffic) run(ctx context.Context, kind tasks.Kind, t *ledger.NewTask, handle func(context.Context, *worker.Claim) error) error {
	claim, err := f.take(ctx, kind, t.ID)
	if err != nil || claim == nil {
		return err
	}
	return handle(ctx, claim)
}

func (f *traffic) purge(ctx context.Context, r *rand.Rand) error {
	t := tasks.NewCrashPurge(f.org, "", tasks.CrashPurgePayload{Key: "user", Value: fmt.Sprintf("u%d", r.IntN(60))})
	if _, err := ledger.Insert(ctx, f.db, t); err != nil {
		return err
	}
	return f.run(ctx, tasks.CrashPurge, t, (&Purge{Store: f.store, Ledger: f.ledger, Objects: f.objects,
		Log: slog.New(slog.DiscardHandler)}).Handle)
}

func (f *traffic) group(ctx context.Context) (id int64, err error) {
	err = f.db.GetContext(ctx, &id, `select id from crash_groups order by random() limit 1`)
	return id, err
}

func (f *traffic) writer() account.Writer {
	return account.Writer{OrganizationID: f.org, Admin: true, Actor: account.CLI()}
}

// decide merges, takes apart and changes groups.
func (f *traffic) decide(ctx context.Context, r *rand.Rand) error {
	a, err := f.group(ctx)
	if err != nil {
		return err
	}
	b, err := f.group(ctx)
	if err != nil {
		return err
	}
	return f.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		resolved := crash.Resolved
		switch r.IntN(3) {
		case 0:
			_, _, err = crash.Merge(ctx, tx, f.writer(), a, b)
		case 1:
			_, err = crash.Unmerge(ctx, tx, f.writer(), a)
		default:
			_, err = crash.ChangeGroup(ctx, tx, f.writer(), a, crash.GroupChange{State: &resolved, InNext: true})
		}
		return err
	})
}

// splitOff splits a group by a model and moves its reports.
func (f *traffic) splitOff(ctx context.Context, r *rand.Rand) error {
	id, err := f.group(ctx)
	if err != nil {
		return err
	}
	plan, err := crash.PlanSplit(ctx, f.db, f.org, id,
		crash.SplitBy{Attribute: &condition.Attribute{Key: "device.model", Value: fmt.Sprintf("m%d", r.IntN(4))}})
	if err != nil {
		return err
	}
	var task *ledger.NewTask
	err = f.db.InTx(ctx, func(tx *storage.Tx) (err error) {
		_, task, err = plan.Split(ctx, tx, f.writer(), func(target int64) *ledger.NewTask { return tasks.NewCrashSplit(f.org, "", target) })
		return err
	})
	if err != nil {
		return err
	}
	return f.run(ctx, tasks.CrashSplit, task, (&Split{Store: f.store}).Handle)
}

// maintain gives groups newer keys, lets the oldest batch go with age, and builds facets.
func (f *traffic) maintain(ctx context.Context, _ *rand.Rand) error {
	for _, version := range []int{newerVersion, newerVersion + 1} {
		keys, err := crash.OldKeys(ctx, f.db, version, 0, 3)
		if err != nil {
			return err
		}
		for _, k := range keys {
			newer, err := f.rekeyer().agreed(ctx, k)
			if err != nil {
				return err
			}
			err = f.db.InTx(ctx, func(tx *storage.Tx) error {
				_, err := crash.Rekey(ctx, tx, k, version, newer)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	var recorded uuid.UUID // batches that were not processed would be lost
	err := f.db.GetContext(ctx, &recorded, `select coalesce((select id from tasks
		where kind = 'crash:process' and state <> 'succeeded' order by id limit 1), 'ffffffff-ffff-ffff-ffff-ffffffffffff')`)
	if err != nil {
		return err
	}
	expired := 0
	err = f.db.InTx(ctx, func(tx *storage.Tx) error {
		var oldest []time.Time
		if err := tx.SelectContext(ctx, &oldest, `select received_at from crash_batches where id < $1 order by id offset 1 limit 1`,
			recorded); err != nil || len(oldest) == 0 {
			return err
		}
		gone, err := f.store.Expire(ctx, tx, oldest[0], 1)
		expired = gone.Crashes
		return err
	})
	if err != nil {
		return err
	}
	f.expired.Add(int64(expired))
	groups, err := crash.UnbuiltFacets(ctx, f.db, time.Now(), 4)
	if err != nil {
		return err
	}
	for _, id := range groups {
		if err := f.db.InTx(ctx, func(tx *storage.Tx) error { return crash.BuildFacets(ctx, tx, id) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *traffic) use(ctx context.Context, r *rand.Rand) error {
	var events []usage.Event
	for range 20 {
		events = append(events, usage.Event{Version: fmt.Sprintf("1.%d", r.IntN(6)), At: time.Now(), Launch: true,
			Session: fmt.Sprintf("s%d", r.IntN(300)), User: fmt.Sprintf("g%d", r.IntN(50))})
	}
	return f.store.RecordUsage(ctx, f.project, events)
}

// Workers, purges, merges, splits, newer keys, retention and session metrics at once: none
// waits for another in a circle, and in the end every number is what the others say.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	const rounds = 25
	w := newWorld(t)
	f := &traffic{world: w}
	first := rand.New(rand.NewPCG(1, 1))
	f.accept(w.some(first, 100)...)
	f.accept(w.some(first, 100)...) // so that one is older than another, and goes
	w.process()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	all, ctx := errgroup.WithContext(ctx)
	for n, do := range []func(context.Context, *rand.Rand) error{f.receive, f.receive, f.work, f.work, f.work, f.purge,
		f.decide, f.decide, f.splitOff, f.maintain, f.use} {
		all.Go(func() error {
			r := rand.New(rand.NewPCG(uint64(n), 7))
			for range rounds {
				err := do(ctx, r)
				var refused *storage.InvalidError
				var later *tasks.SnoozeError
				switch {
				case err == nil, errors.As(err, &refused), errors.As(err, &later), errors.Is(err, storage.ErrConflict),
					errors.Is(err, storage.ErrNotFound):
				default:
					return fmt.Errorf("writer %d: %w", n, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
	w.process()
	expected := w.number(`select count(*) from crashes`) + f.expired.Load()
	require.Positive(t, f.expired.Load())
	require.Zero(t, w.number(`select deadlocks from pg_stat_database where datname = current_database()`))
	require.Equal(t, expected, w.number(`select sum(count) from crash_groups where root_id is null`), "groups that are shown")
	require.Equal(t, expected, w.number(`select sum(count) from crash_group_days`), "days")
	require.Equal(t, expected, w.number(`select sum(count) from crash_group_values where kind = 'version'`), "versions of groups")
	require.Equal(t, expected, w.number(`select sum(count) from crash_group_messages`), "messages")
	require.Equal(t, expected, w.number(`select sum(crashes) from crash_versions`), "versions")
	require.Equal(t, expected, w.number(`select sum(crashes) from crash_version_days`), "days of versions")
	require.Zero(t, w.number(`select count(*) from crash_groups g where g.root_id is null and g.count <> coalesce((
		select sum(d.count) from crash_groups p join crash_group_days d on d.group_id = p.id
		where p.id = g.id or p.root_id = g.id), 0)`), "each group that is shown")
	require.Zero(t, w.number(`select count(*) from crashes c join crash_group_keys k on k.id = c.key_id
		where not exists (select from crash_group_days d where d.group_id = k.group_id
			and d.day = (c.occurred_at at time zone 'UTC')::date)`), "the day of each crash")
	w.requireFacets()
}

// requireFacets requires every group to be found by each value of its reports.
func (w *world) requireFacets() {
	w.t.Helper()
	var pairs []struct {
		Group int64  `db:"id"`
		Value string `db:"value"`
	}
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &pairs, `select distinct coalesce(g.root_id, g.id) as id,
		c.attributes->>'device.model' as value from crashes c join crash_group_keys k on k.id = c.key_id
		join crash_groups g on g.id = k.group_id order by 2, 1`))
	require.NotEmpty(w.t, pairs)
	want, have := map[string][]int64{}, map[string][]int64{}
	for _, p := range pairs {
		want[p.Value] = append(want[p.Value], p.Group)
	}
	for value := range want {
		groups, total, err := reading.Groups(w.t.Context(), w.db, reading.GroupFilter{OrganizationID: w.org, Limit: 1000,
			Attributes: []condition.Attribute{{Key: "device.model", Value: value}}})
		require.NoError(w.t, err)
		require.True(w.t, total.Exact)
		for _, g := range groups {
			have[value] = append(have[value], g.ID)
		}
	}
	for value, ids := range want {
		require.ElementsMatch(w.t, ids, have[value], "groups of %s", value)
	}
}
