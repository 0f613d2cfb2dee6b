package run

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
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
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is an organization with a team, a handler with a browser that does what
// the test says, and a log.
type world struct {
	redisURL string // of the workers that start; "" until the first
	t        *testing.T
	db       *storage.DB
	ledger   *ledger.Store
	objects  object.Store
	org      int64
	writer   account.Writer
	handler  *JobHandler
	browser  *browsers
	log      *syncBuffer
}

// browsers lends sessions that do nothing, or fails.
type browsers struct {
	mu       sync.Mutex
	requests []browser.Request
	fail     error
	released int
	broken   int
}

func (b *browsers) Acquire(_ context.Context, r browser.Request) (*browser.Lease, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, r)
	if b.fail != nil {
		return nil, b.fail
	}
	return &browser.Lease{Local: true}, nil
}

func (b *browsers) release(_ context.Context, _ *browser.Lease, broken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released++
	if broken {
		b.broken++
	}
}

// syncBuffer is a log to look into.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var sealKey = seal.Ring{bytes.Repeat([]byte("k"), 32)}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), browser: &browsers{}, log: &syncBuffer{}}
	w.ledger = ledger.New(w.db)
	var err error
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir(), PublicURL: "https://slipway.example.com",
		SigningKey: sealKey[0]})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	var team *account.Team
	var user *account.User
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "acme"})
		if err != nil {
			return err
		}
		w.org = o.ID
		if team, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: o.ID, Name: "main"}); err != nil {
			return err
		}
		user, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: "dev@example.com",
			Role: account.Member, TeamID: team.ID})
		return err
	})
	w.writer = account.Writer{OrganizationID: w.org, UserUUID: user.UUID, Teams: []int64{team.ID}, Admin: true,
		Actor: account.Actor{UserID: user.ID, Name: "dev"}}
	w.handler = &JobHandler{DB: w.db, Objects: w.objects, Browsers: w.browser, Keys: sealKey, release: w.browser.release,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), Play: passes}
	return w
}

// passes is a test that passes at once.
func passes(_ context.Context, cfg replay.Config) replay.Result {
	result := replay.Result{Status: playback.Passed}
	for _, s := range cfg.Steps {
		result.Records = append(result.Records, playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed})
	}
	return result
}

func (w *world) must(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err)
}

func (w *world) number(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

// newCase returns a case of one step that types a text.
func (w *world) newCase(name, text string) (c *authoring.Case) {
	w.t.Helper()
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: name,
			Settings: capability.RunSettings{TestURL: "https://shop.example.com/", PrimaryTarget: &target,
				RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: []step.Step{{ID: "s1", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &text,
				Selector: &step.Selector{Type: step.CSS, Value: "#user"}}}}}}})
		return err
	})
	return c
}

// newRun starts a run of a case on targets, with the tasks of its jobs.
func (w *world) newRun(c *authoring.Case, n store.NewRun, capabilities ...capability.Capabilities) (run *store.Run) {
	w.t.Helper()
	for _, some := range capabilities {
		n.Targets = append(n.Targets, capability.Target{Capabilities: some})
	}
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		n.Case = c
		if n.Revision == nil {
			if n.Revision, err = authoring.RevisionByID(ctx, tx, c.ID, ""); err != nil {
				return err
			}
		}
		if run, err = store.Start(ctx, tx, w.writer, n); err != nil {
			return err
		}
		for _, job := range run.Jobs {
			if _, err := ledger.Insert(ctx, tx, tasks.NewTestJob(w.org, "request-9", job.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	return run
}

var chrome = capability.Capabilities{"browserName": "chrome"}

// simpleRun is a run of one job.
func (w *world) simpleRun() (*store.Run, uuid.UUID) {
	w.t.Helper()
	run := w.newRun(w.newCase("log in", "dev"), store.NewRun{}, chrome)
	return run, run.Jobs[0].ID
}

func (w *world) claim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: id, Kind: kind.Name, Worker: "test", KeyLimit: kind.KeyLimit})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	return worker.NewClaim(w.db, claimed)
}

// again lets another worker take a task whose worker is silent.
func (w *world) again(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	w.exec(`update tasks set heartbeat_at = now() - interval '1 hour' where id = $1`, id)
	rescued, err := w.ledger.Rescue(w.t.Context(), time.Minute)
	require.NoError(w.t, err)
	require.Len(w.t, rescued, 1)
	w.exec(`update tasks set run_at = now() where id = $1`, id) // do not wait for the backoff
	return w.claim(kind, id)
}

// failed records a failed attempt as the worker does, and claims the next one.
func (w *world) failed(claim *worker.Claim, err error) *worker.Claim {
	w.t.Helper()
	require.Error(w.t, err)
	task := claim.Tasks[0]
	states, ferr := w.ledger.Fail(w.t.Context(), []ledger.Token{task.Token()}, err.Error(), false, 0)
	require.NoError(w.t, ferr)
	require.Equal(w.t, []ledger.State{ledger.Queued}, states)
	return w.claim(tasks.TestJob, task.ID)
}

// snoozed puts a task off as the worker does, for as long as the handler is to have
// said, and claims it again when the time is over.
func (w *world) snoozed(claim *worker.Claim, err error, want time.Duration) *worker.Claim {
	w.t.Helper()
	var snooze *tasks.SnoozeError
	require.ErrorAs(w.t, err, &snooze)
	require.Equal(w.t, want, snooze.For)
	task := claim.Tasks[0]
	states, rerr := w.ledger.Release(w.t.Context(), []ledger.Token{task.Token()}, 0)
	require.NoError(w.t, rerr)
	require.Equal(w.t, []ledger.State{ledger.Queued}, states)
	return w.claim(tasks.TestJob, task.ID)
}

func (w *world) task(id uuid.UUID) *ledger.Task {
	w.t.Helper()
	task, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, id)
	require.NoError(w.t, err)
	return task
}

func (w *world) read(run *store.Run) *store.Run {
	w.t.Helper()
	got, err := reading.ByID(w.t.Context(), w.db, w.org, run.CaseID, run.ID)
	require.NoError(w.t, err)
	return got
}

// stored are the keys of all stored objects of runs.
func (w *world) stored() (keys []string) {
	w.t.Helper()
	list, err := w.objects.List(w.t.Context(), store.Prefix, "", object.MaxList)
	require.NoError(w.t, err)
	for _, info := range list {
		keys = append(keys, info.Key)
	}
	return keys
}

// cancel cancels a run as the interface does.
func (w *world) cancel(run *store.Run) {
	w.t.Helper()
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		jobs, err := store.Cancel(ctx, tx, w.writer, run.CaseID, run.ID)
		if err != nil {
			return err
		}
		for _, id := range jobs {
			if _, err := ledger.Cancel(ctx, tx, ledger.Scope{}, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func shot(n int) replay.Artifact {
	return replay.Artifact{Kind: store.Screenshot, Step: n, ContentType: "image/png", Data: []byte(fmt.Sprintf("picture %d", n))}
}
