package crash

import (
	"log/slog"
	"testing"

	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/tasks"
)

// name makes the crash project name its libraries.
func (w *world) name(libraries ...string) {
	w.t.Helper()
	list := pq.Array(append([]string{}, libraries...))
	_, err := w.db.ExecContext(w.t.Context(), `update crash_projects set libraries = $2 where id = $1`, w.project, list)
	require.NoError(w.t, err)
}

// below processes a report of a library's function that a function of the application called.
func (w *world) below(library, function string) int64 {
	w.t.Helper()
	ids := w.accept(doc{stack: `{"funcName":"com.acme.` + library + `"},{"funcName":"com.shop.` + function + `"}`})
	w.process()
	return w.groupOfCrash(ids[0].String())
}

func (w *world) groupOfCrash(id string) int64 {
	w.t.Helper()
	return w.number(`select coalesce(g.root_id, g.id) from crashes c join crash_group_keys k on k.id = c.key_id
		join crash_groups g on g.id = k.group_id where c.id = $1`, id)
}

// regroup runs the task, as far as the claim goes.
func (w *world) regroup(dry bool) (sum RegroupResult) {
	w.t.Helper()
	task := tasks.NewCrashRegroup(w.org, "", w.project, dry)
	w.insert(task)
	handler := &Regroup{Store: w.store, Log: slog.New(slog.DiscardHandler)}
	require.NoError(w.t, handler.Handle(bounded(w.t), w.claim(tasks.CrashRegroup, task.ID)))
	w.result(task.ID, &sum)
	return sum
}

// A project that was deleted meanwhile does not come back: the task is not tried again.
func TestRegroupOfADeletedProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := tasks.NewCrashRegroup(w.org, "", w.project+1000, false)
	w.insert(task)
	handler := &Regroup{Store: w.store, Log: slog.New(slog.DiscardHandler)}
	require.True(t, tasks.IsPermanent(handler.Handle(bounded(t), w.claim(tasks.CrashRegroup, task.ID))))
}

func (w *world) resolve(group int64) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `update crash_groups set state = 'resolved', resolved_at = now() where id = $1`, group)
	require.NoError(w.t, err)
}

// Two groups of one caller are one when the functions between are a library's. Nothing changes by
// the preview, and what was decided is kept.
func TestRegroupMerges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	grow, shrink := w.below("Buffer.grow", "Cart.pay"), w.below("Buffer.shrink", "Cart.pay")
	other := w.below("Buffer.grow", "Order.ship")
	require.Equal(t, grow, other, "the library's function is the culprit")
	require.NotEqual(t, grow, shrink)
	w.resolve(shrink)

	w.name("com.acme")
	found := w.regroup(true)
	require.True(t, found.DryRun)
	require.True(t, found.Complete)
	require.Equal(t, 3, found.Crashes)
	require.Equal(t, 1, found.MergeCount)
	require.Equal(t, []int64{grow, shrink}, found.Merges[0].Groups)
	require.Contains(t, found.Merges[0].Culprit, "Cart.pay")
	require.Equal(t, 1, found.SplitCount)
	require.Equal(t, grow, found.Splits[0].Group)
	require.Len(t, found.Splits[0].Into, 2)
	require.Zero(t, w.number(`select count(*) from crash_groups where culprit like '%Cart.pay%'`), "a preview changes nothing")

	done := w.regroup(false)
	require.Equal(t, 3, done.Crashes)
	require.Equal(t, 3, done.Changed)
	require.Nil(t, done.RegroupPreview)
	require.EqualValues(t, 2, w.number(`select count(*) from crash_groups where root_id is null`))
	require.EqualValues(t, 3, w.number(`select sum(count) from crash_groups where root_id is null`), "every report is counted once")
	pay := w.number(`select id from crash_groups where culprit like '%Cart.pay%' and root_id is null`)
	require.Equal(t, pay, w.below("Buffer.other", "Cart.pay"), "later reports go there")
	require.Positive(t, w.number(`select count(*) from crash_groups where state = 'resolved' or resolved_at is not null`),
		"a decision is kept")

	again := w.regroup(false)
	require.Zero(t, again.Changed)
	require.Zero(t, w.regroup(true).Changed)
}

// A group that held several bugs is several.
func TestRegroupSplits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.name("com.acme")
	group := w.below("Buffer.grow", "Cart.pay")
	require.Equal(t, group, w.below("Buffer.shrink", "Cart.pay"))
	w.name()
	found := w.regroup(true)
	require.Equal(t, 1, found.SplitCount)
	require.Equal(t, 1, found.Split)
	require.Zero(t, found.MergeCount)
	done := w.regroup(false)
	require.Equal(t, 1, done.Split)
	require.EqualValues(t, 2, w.number(`select count(*) from crash_groups where root_id is null and count = 1`))
	require.Zero(t, w.regroup(true).SplitCount)
}

// What a client or a split chose stays.
func TestRegroupLeavesChosenKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{stack: `{"funcName":"com.acme.A.b"},{"funcName":"com.shop.C.d"}`, attributes: `"_mod_fingerprint":"login"`})
	w.process()
	w.name("com.acme")
	require.Zero(t, w.regroup(false).Crashes)
}

// Steps end where the claim does, and the next attempt goes on.
func TestRegroupReadsInSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.below("Buffer.grow", "Cart.pay")
		w.below("Buffer.shrink", "Cart.pay")
	}
	until, err := crash.LastRegroupKey(t.Context(), w.db, w.project)
	require.NoError(t, err)
	seen := map[string]bool{}
	var at crash.RegroupCursor
	for {
		rows, err := crash.RegroupCrashes(t.Context(), w.db, w.project, at, until, 2, 2)
		require.NoError(t, err)
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			require.False(t, seen[r.ID.String()])
			seen[r.ID.String()] = true
		}
		at = rows[len(rows)-1].Cursor()
	}
	require.Len(t, seen, 6)
}
