package crash

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
)

// newerVersion is a version of the algorithm after the one that the tests' reports were
// processed with.
const newerVersion = fingerprint.Version + 1

// newerKey is the key under that version: the attribute bug says what a report is about.
func newerKey(bug string) [32]byte { return sha256.Sum256([]byte("newer " + bug)) }

func (w *world) rekeyer() *Rekey {
	r := NewRekey(w.store)
	r.version = newerVersion
	r.compute = func(p *report.Report) fingerprint.Result {
		bug := p.Attribute("bug")
		if bug == "broken" {
			panic("a rule is broken")
		}
		return fingerprint.Result{Key: newerKey(bug), Given: bug == "given"}
	}
	return r
}

// rekey runs the task until it ends.
func (w *world) rekey() (sum RekeyResult) {
	w.t.Helper()
	task := tasks.NewMaintenance(tasks.CrashRekey)
	w.insert(task)
	claimed := w.claim(tasks.CrashRekey, task.ID)
	require.NoError(w.t, w.rekeyer().Handle(bounded(w.t), claimed))
	w.result(task.ID, &sum)
	return sum
}

// bugs processes one report of a function for each bug, and returns the function's group.
func (w *world) bugs(function string, bugs ...string) int64 {
	w.t.Helper()
	for _, bug := range bugs {
		w.accept(doc{function: function, attributes: fmt.Sprintf(`"bug":%q`, bug)})
	}
	w.process()
	return w.groupOf(function)
}

func (w *world) groupOf(function string) int64 {
	w.t.Helper()
	return w.number(`select min(id) from crash_groups where culprit like '%' || $1 || '%'`, function)
}

// young makes a group that looks as if it was made by the newer version for a bug.
func (w *world) young(function, bug string) int64 {
	w.t.Helper()
	id, key := w.bugs(function, bug), newerKey(bug)
	_, err := w.db.ExecContext(w.t.Context(), `update crash_group_keys set key = $2, algorithm = $3 where group_id = $1`,
		id, key[:], newerVersion)
	require.NoError(w.t, err)
	_, err = w.db.ExecContext(w.t.Context(), `update crash_groups set algorithm = $2 where id = $1`, id, newerVersion)
	require.NoError(w.t, err)
	return id
}

// holder is the group that is shown for the newer key of a bug, 0 for none.
func (w *world) holder(bug string) int64 {
	w.t.Helper()
	key := newerKey(bug)
	return w.number(`select coalesce(min(coalesce(g.root_id, g.id)), 0) from crash_group_keys k join crash_groups g on g.id = k.group_id
		where k.key = $1 and k.algorithm = $2`, key[:], newerVersion)
}

func TestRekeyAddsTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.bugs("one", "a", "a", "a")
	several := w.bugs("several", "b", "c")
	broken := w.bugs("half", "broken", "d", "broken")
	given := w.bugs("given", "given")
	late := w.bugs("late", "a") // the same bug had two groups
	pending, err := w.rekeyer().Pending(t.Context())
	require.NoError(t, err)
	require.True(t, pending)
	require.Equal(t, RekeyResult{Keys: 5, Joined: 2}, w.rekey())
	require.Equal(t, one, w.holder("a"), "the oldest group")
	require.Equal(t, broken, w.holder("d"), "what can be read agrees")
	require.Zero(t, w.holder("b")+w.holder("c")+w.holder("given"))

	// One report of the newer version goes to the old group, and says what it was made by.
	key := newerKey("a")
	id, err := uuid.NewV7()
	require.NoError(t, err)
	c := crash.Crash{ID: id, ProjectID: w.project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: time.Now(), ReceivedAt: time.Now(), Duplicates: 1, Attributes: "{}",
		Group: &crash.Grouping{Key: key, Algorithm: newerVersion, Title: "new"}}
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		return crash.Record(t.Context(), tx, w.org, []crash.Crash{c})
	}))
	require.EqualValues(t, 4, w.number(`select count from crash_groups where id = $1`, one))
	rows, _, err := reading.Crashes(t.Context(), w.db, reading.CrashFilter{OrganizationID: w.org, GroupID: one, Limit: 9})
	require.NoError(t, err)
	var algorithms []int
	for _, row := range rows {
		algorithms = append(algorithms, *row.Algorithm)
	}
	require.ElementsMatch(t, []int{newerVersion, fingerprint.Version, fingerprint.Version, fingerprint.Version}, algorithms)

	// Nothing is left to do, for the groups that got no key as well.
	pending, err = w.rekeyer().Pending(t.Context())
	require.NoError(t, err)
	require.False(t, pending)
	require.Equal(t, RekeyResult{}, w.rekey())
	for _, group := range []int64{one, several, broken, given, late} {
		require.EqualValues(t, 1, w.number(`select count(*) from crash_groups where id = $1 and root_id is null and state = 'open'`, group))
	}
}

func TestRekeyMergesWhatTheUpgradeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.bugs("old", "a", "a")
	touched := w.bugs("mine", "b")
	w.bugs("third", "c")
	young, mine, part := w.young("fresh", "a"), w.young("other", "b"), w.young("inner", "c")
	w.change(mine, `update crash_groups set state = 'ignored', ignored_at = now() where id = $1`)
	merge := w.bugs("outer", "z")
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		_, _, err := crash.Merge(t.Context(), tx, account.Writer{OrganizationID: w.org, Actor: account.CLI()}, part, merge)
		return err
	}))
	sum := w.rekey()
	require.Equal(t, RekeyResult{Keys: 4, Joined: 2, Merged: 1}, sum)
	require.Equal(t, old, w.holder("a"))
	require.EqualValues(t, old, w.number(`select merged_into from crash_groups where id = $1`, young))
	require.EqualValues(t, 3, w.number(`select count from crash_groups where id = $1`, old))
	require.Equal(t, mine, w.holder("b"), "somebody decided about it")
	require.EqualValues(t, 1, w.number(`select count from crash_groups where id = $1`, touched))
	require.Equal(t, merge, w.holder("c"))
	require.EqualValues(t, 1, w.number(`select count(*) from audit_events where actor = 'upgrade' and action = 'crash_group.merged'
		and subject = $1`, fmt.Sprint("crash group ", young)))
}

func (w *world) change(id int64, query string) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, id)
	require.NoError(w.t, err)
}

// Each trace of a person keeps a group as it is.
func TestRekeyLeavesWhatPeopleTouched(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]string{
		"resolved":  `update crash_groups set state = 'resolved', resolved_at = now() where id = $1`,
		"regressed": `update crash_groups set regressions = 1, reopened_at = now() where id = $1`,
		"issue":     `update crash_groups set issue_url = 'https://x.example/1' where id = $1`,
		"comment":   `insert into crash_group_comments (group_id, author, text) values ($1, 'ann', 'mine')`,
		"older":     `update crash_groups set created_at = now() - interval '1 year' where id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.bugs("old", "a")
			young := w.young("fresh", "a")
			w.change(young, touch)
			require.Equal(t, RekeyResult{Keys: 1}, w.rekey())
			require.Equal(t, young, w.holder("a"))
		})
	}
}

// What the younger group got would have opened the resolved one.
func TestRekeyFindsTheRegression(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.bugs("old", "a")
	w.change(old, `update crash_groups set state = 'resolved', resolved_at = now() - interval '1 hour' where id = $1`)
	w.young("fresh", "a")
	require.Equal(t, RekeyResult{Keys: 1, Joined: 1, Merged: 1}, w.rekey())
	require.EqualValues(t, 1, w.number(`select regressions from crash_groups where id = $1 and state = 'open'`, old))
}

// A split of the old group holds for what comes under the newer key.
func TestRekeyKeepsSplits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.accept(doc{function: "old", attributes: `"bug":"a","device.model":"X"`},
		doc{function: "old", attributes: `"bug":"a","device.model":"Y"`})
	w.process()
	old := w.groupOf("old")
	to, _ := w.split(old, "device.model", "X")
	young := w.young("fresh", "a")
	require.Equal(t, RekeyResult{Keys: 1, Joined: 1, Merged: 1}, w.rekey())
	id, err := uuid.NewV7()
	require.NoError(t, err)
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		return crash.Record(t.Context(), tx, w.org, []crash.Crash{{ID: id, ProjectID: w.project, UUID: uuid.New(), State: crash.Processed,
			Format: "json", OccurredAt: time.Now(), ReceivedAt: time.Now(), Duplicates: 1, Attributes: `{"device.model":"X"}`,
			Group: &crash.Grouping{Key: newerKey("a"), Algorithm: newerVersion}}})
	}))
	require.EqualValues(t, 2, w.number(`select count from crash_groups where id = $1`, to))
	require.EqualValues(t, old, w.number(`select root_id from crash_groups where id = $1`, young))
}

// Organizations have turns, and a worker that is killed leaves the rest to the next.
func TestRekeyTakesTurnsAndSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var names []string
	for i := range rekeyTurn + 5 {
		names = append(names, fmt.Sprintf("many%02d", i))
		w.accept(doc{function: names[i], attributes: fmt.Sprintf(`"bug":%q`, names[i])})
	}
	w.process()
	first := w.org
	w.org = w.newOrganization("second")
	w.project = w.newProject(w.org)
	w.bugs("single", "single")

	task := tasks.NewMaintenance(tasks.CrashRekey)
	w.insert(task)
	claim := w.claim(tasks.CrashRekey, task.ID)
	handler := w.rekeyer()
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	compute := handler.compute
	handler.compute = func(p *report.Report) fingerprint.Result {
		if read++; strings.HasPrefix(p.Attribute("bug"), "single") {
			cancel()
		}
		return compute(p)
	}
	require.Error(t, handler.Handle(ctx, claim))
	require.Equal(t, rekeyTurn+1, read, "the second organization comes before the rest of the first")
	require.EqualValues(t, rekeyTurn, w.number(`select count(*) from crash_group_keys where algorithm = $1`, newerVersion))

	_, err := w.db.ExecContext(t.Context(),
		`update tasks set state = 'queued', run_at = now(), worker = null, heartbeat_at = null where id = $1`, task.ID)
	require.NoError(t, err)
	again := w.claim(tasks.CrashRekey, task.ID)
	require.NoError(t, w.rekeyer().Handle(t.Context(), again))
	require.ErrorIs(t, w.rekeyer().Handle(t.Context(), claim), storage.ErrStale)
	var sum RekeyResult
	w.result(task.ID, &sum)
	require.Equal(t, RekeyResult{Keys: rekeyTurn + 6, Joined: rekeyTurn + 6}, sum)
	require.EqualValues(t, rekeyTurn+6, w.number(`select count(*) from crash_groups where root_id is null`))
	require.EqualValues(t, rekeyTurn+5, w.number(`select count(distinct group_id) from crash_group_keys k
		join crash_projects p on p.id = k.crash_project_id where p.organization_id = $1`, first))
}

// A task that has used its time leaves the rest to the next.
func TestRekeyEndsInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bugs("one", "a")
	handler := w.rekeyer()
	at := time.Now()
	handler.now = func() time.Time { at = at.Add(2 * rekeyTime); return at }
	task := tasks.NewMaintenance(tasks.CrashRekey)
	w.insert(task)
	require.NoError(t, handler.Handle(t.Context(), w.claim(tasks.CrashRekey, task.ID)))
	require.Zero(t, w.holder("a"))
	pending, err := w.rekeyer().Pending(t.Context())
	require.NoError(t, err)
	require.True(t, pending)
}
