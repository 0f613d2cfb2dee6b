package gate

import (
	"context"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is an app whose builds have a gate.
type world struct {
	*fixture.Tests
	project int64
	handler *Evaluate
}

func newWorld(t *testing.T, p gate.Policy) *world {
	t.Helper()
	w := &world{Tests: fixture.NewTests(t)}
	w.project = w.App("com.example.shop").Project.ID
	links := link.New("https://qa.example.com")
	w.handler = &Evaluate{DB: w.DB, Follower: &gatechange.Follower{Letters: letter.New(letter.Config{Links: links}), Links: links}}
	w.save(p)
	return w
}

func (w *world) save(p gate.Policy) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return gate.SavePolicy(ctx, tx, w.Org.Owner.Writer, w.project, &p)
	})
}

func (w *world) build(version string, notify bool) (id int64) {
	w.T.Helper()
	made := w.Upload(w.NewUpload(fixture.APK("com.example.shop", version, version)))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := gate.Begin(ctx, tx, w.Org.Member.Writer, made.Build, notify, "request-1")
		return err
	})
	return made.Build.ID
}

// claim inserts a task and claims it.
func (w *world) claim(task *ledger.NewTask) (uuid.UUID, *worker.Claim) {
	w.T.Helper()
	id := w.Insert(task)
	return id, worker.NewClaim(w.DB, w.Claim(task.Kind, id, 1))
}

func size(most int64) gate.Policy {
	return gate.Policy{HoldNotifications: true, Conditions: []gate.Condition{{Name: "size", Type: gate.Size, MaxBytes: &most}}}
}

// A task evaluates what is due, however much, and ends with what it did. Its work is undone when
// another worker has the task: nothing is lost, and nothing done twice.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, size(1<<30))
	ctx := fixture.Context(t)
	for _, version := range []string{"1.1", "1.2", "1.3"} {
		w.build(version, version == "1.2")
	}
	pending, err := w.handler.Pending(ctx)
	require.NoError(t, err)
	require.True(t, pending)

	id, stale := w.claim(tasks.NewPeriodic(tasks.GateEvaluate, 0))
	w.Rescue(id)
	again := worker.NewClaim(w.DB, w.Claim(tasks.GateEvaluate.Name, id, 1))
	require.ErrorIs(t, w.handler.Handle(ctx, stale), storage.ErrStale)
	require.Zero(t, w.Count(`select count(*) from gate_changes`))
	require.Zero(t, w.Count(`select count(*) from tasks where kind = $1`, tasks.BuildNotify.Name))

	require.NoError(t, w.handler.Handle(ctx, again))
	var result Result
	w.Result(id, &result)
	require.Equal(t, Result{Evaluated: 4, Changed: 4}, result)
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = $1`, tasks.BuildNotify.Name), "held until now")
	pending, err = w.handler.Pending(ctx)
	require.NoError(t, err)
	require.False(t, pending)
}

// Who asked for a notification is told once for each time that the gate fails.
func TestEvaluateTells(t *testing.T) {
	t.Parallel()
	w := newWorld(t, size(1))
	ctx := fixture.Context(t)
	w.build("1.1", true)
	run := func() {
		_, claim := w.claim(tasks.NewPeriodic(tasks.GateEvaluate, 0))
		require.NoError(t, w.handler.Handle(ctx, claim))
	}
	run()
	mails := func() int { return w.Count(`select count(*) from mails where kind = 'gate-failed'`) }
	require.Equal(t, 1, mails())
	w.save(size(2))
	run()
	require.Equal(t, 1, mails(), "it fails still")
	w.Exec(`update memberships set blocked_at = now() where user_id = $1`, w.Org.Member.ID)
	w.build("1.2", true)
	run()
	require.Equal(t, 1, mails(), "who is blocked hears nothing")
}
