package crash

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
)

// split splits the group of a function by an attribute, and returns the new group and
// the task.
func (w *world) split(group int64, key, value string) (id int64, task uuid.UUID) {
	w.t.Helper()
	plan, err := crash.PlanSplit(w.t.Context(), w.db, w.org, group,
		crash.SplitBy{Attribute: &condition.Attribute{Key: key, Value: value}})
	require.NoError(w.t, err)
	var made *ledger.NewTask
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) (err error) {
		id, made, err = plan.Split(w.t.Context(), tx, account.Writer{OrganizationID: w.org, Admin: true, Actor: account.CLI()},
			func(target int64) *ledger.NewTask { return tasks.NewCrashSplit(w.org, "", target) })
		return err
	}))
	return id, made.ID
}

// reports accepts and processes reports of one function, of which every third is of the
// model X.
func (w *world) reports(n int) {
	w.t.Helper()
	var docs []doc
	for i := range n {
		docs = append(docs, doc{function: "f", at: time.Now().Add(-time.Duration(i) * time.Hour),
			attributes: fmt.Sprintf(`"device.model":%q,"version":"%d"`, []string{"X", "Y", "Z"}[i%3], i%2)})
		if len(docs) == 200 || i == n-1 {
			w.accept(docs...)
			docs = nil
		}
	}
	w.process()
}

func (w *world) onlyGroup() int64 { return w.number(`select min(id) from crash_groups`) }

// A worker that is killed between two steps, or in one, leaves the rest to the next, and
// reports that come meanwhile are counted once.
func TestSplitSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reports(1500)
	from := w.onlyGroup()
	to, id := w.split(from, "device.model", "X")
	require.EqualValues(t, 200, w.number(`select count from crash_groups where id = $1`, to))
	handler := &Split{Store: w.store}

	first := w.claim(tasks.CrashSplit, id)
	ctx, cancel := context.WithCancel(t.Context())
	// Its first step, and then its database goes.
	ids, next, more, err := crash.SplitMatches(ctx, w.db, w.org, w.target(to), crash.SplitCursor{})
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, ids, crash.SplitStep)
	require.NoError(t, first.Checkpoint(ctx, func(tx *storage.Tx) error {
		moved, err := crash.MoveSplit(ctx, tx, w.org, w.target(to), ids)
		require.Equal(t, len(ids), moved)
		if err != nil {
			return err
		}
		return first.SaveProgress(ctx, tx, SplitResult{Moved: moved, Cursor: next})
	}))
	cancel()
	require.Error(t, handler.Handle(ctx, first))

	w.reports(30)
	_, err = w.db.ExecContext(t.Context(),
		`update tasks set state = 'queued', run_at = now(), worker = null, heartbeat_at = null where id = $1`, id)
	require.NoError(t, err)
	second := w.claim(tasks.CrashSplit, id)
	require.NoError(t, handler.Handle(t.Context(), second))
	require.ErrorIs(t, handler.Handle(t.Context(), first), storage.ErrStale)
	var result SplitResult
	w.result(id, &result)
	require.Equal(t, 300, result.Moved)
	require.EqualValues(t, 510, w.number(`select count from crash_groups where id = $1`, to))
	require.EqualValues(t, 1020, w.number(`select count from crash_groups where id = $1`, from))
	require.EqualValues(t, 510, w.number(`select sum(count) from crash_group_days where group_id = $1`, to))
	require.EqualValues(t, 510, w.number(`select sum(count) from crash_group_values where group_id = $1 and kind = 'version'`, to))
	require.EqualValues(t, 1530, w.number(`select sum(crashes) from crash_versions`), "a version has what it had")
}

func (w *world) target(group int64) int64 {
	return w.number(`select id from crash_group_keys where group_id = $1`, group)
}

// A task whose group is gone has nothing to do.
func TestSplitOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.insert(tasks.NewCrashSplit(w.org, "", 12345))
	require.NoError(t, (&Split{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashSplit, id)))
	var result SplitResult
	w.result(id, &result)
	require.Zero(t, result.Moved)
	id = w.insert(tasks.NewCrashSplit(w.org, "", 0))
	require.True(t, tasks.IsPermanent((&Split{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashSplit, id))))
}

// A purge takes a person's reports out of both groups, and the rule that names the person.
func TestPurgeOfSplitReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.reports(30)
	from := w.onlyGroup()
	to, id := w.split(from, "device.model", "X")
	require.NoError(t, (&Split{Store: w.store}).Handle(t.Context(), w.claim(tasks.CrashSplit, id)))
	other, _ := w.split(from, "device.model", "Y")
	require.Equal(t, 15, w.purge(tasks.CrashPurgePayload{Key: "version", Value: "1"}))
	require.EqualValues(t, 5, w.number(`select count from crash_groups where id = $1`, to))
	require.EqualValues(t, 5, w.number(`select count from crash_groups where id = $1`, from))
	require.Equal(t, 5, w.purge(tasks.CrashPurgePayload{Key: "device.model", Value: "X"}))
	require.Zero(t, w.number(`select count(*) from crash_groups where id = $1`, to))
	require.Zero(t, w.number(`select count(*) from crash_group_splits where value = 'X'`))
	require.EqualValues(t, 1, w.number(`select count(*) from crash_group_splits`))
	require.EqualValues(t, 5, w.number(`select count from crash_groups where id = $1`, other))
}

// Reports of one bug with two callers are one group, whose stacks tell the callers apart.
func TestStacksOfProcessedReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 3 {
		body := fmt.Appendf(nil, `{"uuid":%q,"timestamp":%d,"lang":"python","langVersion":"3","agent":"a","agentVersion":"1","mainThread":"0",`+
			`"threads":{"0":{"fault":true,"stack":[{"funcName":"compute_total","library":"/app/shop/cart.py"},`+
			`{"funcName":"handle_%s","library":"/app/shop/views.py"}]}},"classifiers":["ZeroDivisionError"],"attributes":{}}`,
			uuid.New(), time.Now().Unix(), []string{"order", "order", "refund"}[i])
		p, err := report.Parse(body)
		require.NoError(t, err)
		w.acceptAll(received.Incoming{OrganizationID: w.org, ProjectID: w.project, UUID: uuid.UUID(p.UUID), Document: body, Format: "json"})
	}
	w.process()
	require.EqualValues(t, 1, w.number(`select count(*) from crash_groups`))
	from := w.onlyGroup()
	s, err := w.store.GroupStacks(t.Context(), w.org, from)
	require.NoError(t, err)
	require.Len(t, s.Stacks, 2)
	require.EqualValues(t, 2, s.Stacks[0].Count)
	require.Contains(t, string(s.Stacks[0].Explanation), "handle_order")
	require.Contains(t, string(s.Stacks[1].Explanation), fmt.Sprintf(`"version":%d`, fingerprint.Version))
	plan, err := crash.PlanSplit(t.Context(), w.db, w.org, from, crash.SplitBy{Stacks: [][]byte{s.Stacks[1].Key}})
	require.NoError(t, err)
	require.NotNil(t, plan)
}
