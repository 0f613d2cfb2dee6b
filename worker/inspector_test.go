package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// inspected is an installation whose asynq is looked at beside its ledger.
type inspected struct {
	db        *storage.DB
	store     *ledger.Store
	redis     *dispatch.Redis
	inspector *asynq.Inspector
	orgs      []int64
}

func inspect(t *testing.T, organizations int) *inspected {
	t.Helper()
	x := &inspected{db: servicetest.DB(t)}
	x.store = ledger.New(x.db)
	var err error
	x.redis, err = dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.redis.Close() })
	x.inspector = asynq.NewInspector(x.redis.Options())
	t.Cleanup(func() { _ = x.inspector.Close() })
	for range organizations {
		var id int64
		require.NoError(t, x.db.Get(&id, `insert into organizations (uuid, slug, name) values ($1, $2, 'o') returning id`,
			uuid.New(), uuid.NewString()))
		x.orgs = append(x.orgs, id)
	}
	return x
}

// some returns n tasks of four kinds of one queue, and of two more of others, in turn for all
// organizations; their objects are numbered from first on.
func (x *inspected) some(first, n int) (list []*ledger.NewTask) {
	for i := first; i < first+n; i++ {
		org, id := x.orgs[i%len(x.orgs)], int64(i+1)
		list = append(list, [...]*ledger.NewTask{
			tasks.NewBuildNotify(org, "", id), tasks.NewTesterWelcome(org, "", id), tasks.NewBuildInvite(org, "", id),
			tasks.NewBuildDelete(org, "", id), tasks.NewSymbolIndex(org, "", id, "s"), tasks.NewCrashProcess(org, uuid.New(), 1000),
		}[i/len(x.orgs)%6])
	}
	return list
}

// queued counts the due tasks of the ledger by kind.
func (x *inspected) queued(t *testing.T) map[string]int {
	t.Helper()
	var rows []struct {
		Kind string
		N    int
	}
	require.NoError(t, x.db.Select(&rows, `select kind, count(*) as n from tasks where state = 'queued' group by kind`))
	of := map[string]int{}
	for _, r := range rows {
		of[r.Kind] = r.N
	}
	return of
}

// Without a worker asynq shows the ledger: each due task once, under its kind, with its
// organization, whoever delivered it.
func TestInspectorShowsTheLedger(t *testing.T) {
	t.Parallel()
	x := inspect(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	enqueuer := dispatch.NewEnqueuer(x.redis, log)
	var running sync.WaitGroup
	running.Go(func() { enqueuer.Run(ctx) })
	defer running.Wait()
	defer cancel()
	// What finds room is delivered at once, the rest is left to the relay: fewer than it
	// keeps in Redis for a queue.
	for _, task := range x.some(0, 54) {
		require.NoError(t, x.db.InTx(ctx, func(tx *storage.Tx) error { return enqueuer.Insert(ctx, tx, task) }))
	}
	_, err := ledger.InsertAll(ctx, x.db, x.some(54, 36))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return enqueuer.Waiting() == 0 }, time.Minute, time.Millisecond)
	relay := dispatch.NewRelay(x.redis, x.store, log)
	running.Go(func() { relay.Run(ctx, func() {}) })

	want := x.queued(t)
	require.Len(t, want, 6)
	require.Eventually(t, func() bool { return sum(x.pending(t)) == sum(want) }, time.Minute, 10*time.Millisecond)
	require.Equal(t, want, x.pending(t))
	rows := map[uuid.UUID]int64{}
	var all []ledger.Task
	require.NoError(t, x.db.Select(&all, `select id, organization_id from tasks`))
	for _, row := range all {
		rows[row.ID] = *row.OrganizationID
	}
	for _, queue := range tasks.Queues() {
		for _, info := range x.list(t, queue, x.inspector.ListPendingTasks) {
			m, err := dispatch.ParseMessage(info.Payload)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(info.ID, m.TaskID.String()+":"), info.ID)
			require.Equal(t, rows[m.TaskID], m.OrganizationID)
			delete(rows, m.TaskID)
		}
	}
	require.Empty(t, rows, "each task has one delivery")
}

// list lists the deliveries of a queue in a state; none where asynq does not know the queue yet.
func (x *inspected) list(t *testing.T, queue string, of func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error)) []*asynq.TaskInfo {
	t.Helper()
	infos, err := of(queue, asynq.PageSize(1000))
	if err != nil {
		require.ErrorContains(t, err, "queue not found")
	}
	return infos
}

// pending counts the deliveries that wait, by type.
func (x *inspected) pending(t *testing.T) map[string]int {
	t.Helper()
	of := map[string]int{}
	for _, queue := range tasks.Queues() {
		for _, info := range x.list(t, queue, x.inspector.ListPendingTasks) {
			of[info.Type]++
		}
	}
	return of
}

// worked returns the tasks that asynq shows as worked on, with their kinds: that of the
// delivery, or the one that its result names.
func (x *inspected) worked(t *testing.T, queues ...string) map[uuid.UUID]string {
	t.Helper()
	of := map[uuid.UUID]string{}
	for _, queue := range queues {
		for _, info := range x.list(t, queue, x.inspector.ListActiveTasks) {
			m, err := dispatch.ParseMessage(info.Payload)
			require.NoError(t, err)
			id, kind := m.TaskID, info.Type
			if len(info.Result) > 0 {
				var other Worked
				require.NoError(t, json.Unmarshal(info.Result, &other))
				require.Positive(t, other.Tasks)
				id, kind = other.TaskID, other.Kind
			}
			of[id] = kind
		}
	}
	return of
}

// Under load organizations take turns, so a delivery may be worked off with another task:
// asynq's active deliveries, with what their results name, are the running rows of the
// ledger. In the end each kind was handled as often as the ledger has it.
func TestInspectorUnderLoad(t *testing.T) {
	t.Parallel()
	x := inspect(t, 3)
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.DiscardHandler)
	gate := make(chan struct{})
	var (
		mu      sync.Mutex
		handled = map[string]int{}
	)
	handlers := map[string]Handler{}
	for _, k := range []tasks.Kind{tasks.BuildNotify, tasks.TesterWelcome, tasks.BuildInvite, tasks.SymbolIndex,
		tasks.BuildDelete, tasks.CrashProcess} {
		handlers[k.Name] = handlerFunc(func(ctx context.Context, claim *Claim) error {
			select {
			case <-gate:
			case <-ctx.Done():
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			for _, task := range claim.Tasks {
				handled[task.Kind]++
			}
			return nil
		})
	}
	queues := map[string]int{tasks.Default: 1, tasks.Bulk: 1, tasks.Crash: 1}
	const slots = 9
	w, err := New(Config{Redis: x.redis, Ledger: x.store, Log: log, Drain: time.Second, Handlers: handlers,
		Pools: []Pool{{Slots: slots, Queues: queues}}})
	require.NoError(t, err)
	// One organization has queued most before the others come.
	list := x.some(0, 600)
	slices.SortStableFunc(list, func(a, b *ledger.NewTask) int { return int(a.OrganizationID - b.OrganizationID) })
	for i, task := range list {
		task.Delay = -time.Duration(len(list)-i) * time.Second
	}
	_, err = ledger.InsertAll(ctx, x.db, list)
	require.NoError(t, err)
	want := x.queued(t)
	var running sync.WaitGroup
	running.Go(func() { dispatch.NewRelay(x.redis, x.store, log).Run(ctx, func() {}) })
	defer running.Wait()
	defer cancel()
	require.NoError(t, w.Start())
	defer w.Stop()

	all := []string{tasks.Default, tasks.Bulk, tasks.Crash}
	// A claim of several tasks is one delivery: one row of each claim stands for it.
	var claims []struct {
		IDs  string `db:"ids"`
		Kind string `db:"kind"`
	}
	require.Eventually(t, func() bool {
		claims = nil
		require.NoError(t, x.db.Select(&claims, `select string_agg(id::text, ' ') as ids, min(kind) as kind from tasks
			where state = 'running' group by started_at, case when kind = 'crash:process' then '' else id::text end`))
		return len(claims) >= slots && len(x.worked(t, all...)) == slots && len(claims) == slots
	}, time.Minute, 20*time.Millisecond)
	shown := x.worked(t, all...)
	other := 0
	for _, claim := range claims {
		found := ""
		for _, id := range strings.Fields(claim.IDs) {
			if kind, ok := shown[uuid.MustParse(id)]; ok {
				found = kind
			}
		}
		require.Equal(t, claim.Kind, found, "the running task is shown: %s", claim.IDs)
	}
	for _, queue := range all {
		for _, info := range x.list(t, queue, x.inspector.ListActiveTasks) {
			if len(info.Result) > 0 {
				other++
			}
		}
	}
	require.Positive(t, other, "the others' turns came before the backlog of the first")

	close(gate)
	require.Eventually(t, func() bool { return len(x.queued(t)) == 0 }, time.Minute, 20*time.Millisecond)
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return sum(handled) == len(list) }, time.Minute, 10*time.Millisecond)
	require.Equal(t, want, handled)
	require.Eventually(t, func() bool { return len(x.worked(t, all...)) == 0 }, time.Minute, 20*time.Millisecond)
}

func sum(of map[string]int) (n int) {
	for _, m := range of {
		n += m
	}
	return n
}
