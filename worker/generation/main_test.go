package generation

import (
	"bytes"
	"context"
	"encoding/json"
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
	store "github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// writes is an author that does what the test says.
type writes func(ctx context.Context, j Job) (Result, error)

func (w writes) Write(ctx context.Context, j Job) (Result, error) { return w(ctx, j) }

// browsers lends sessions that do nothing, or fails.
type browsers struct {
	mu       sync.Mutex
	requests []browser.Request
	fail     error
	released int
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

func (b *browsers) release(context.Context, *browser.Lease, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released++
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

// world is two organizations with a team each, a handler with an author that does what
// the test says, and a log.
type world struct {
	t       *testing.T
	db      *storage.DB
	ledger  *ledger.Store
	objects object.Store
	writer  account.Writer
	other   account.Writer // of another organization
	handler *Handler
	browser *browsers
	log     *syncBuffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), browser: &browsers{}, log: &syncBuffer{}}
	w.ledger = ledger.New(w.db)
	var err error
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir(), PublicURL: "https://slipway.example.com",
		SigningKey: sealKey[0]})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	w.writer, w.other = w.newWriter("acme"), w.newWriter("other")
	w.handler = &Handler{DB: w.db, Objects: w.objects, Browsers: w.browser, Keys: sealKey, release: w.browser.release,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), Author: writes(clicks)}
	return w
}

func (w *world) newWriter(slug string) (writer account.Writer) {
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: slug})
		if err != nil {
			return err
		}
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: o.ID, Name: "main"})
		if err != nil {
			return err
		}
		user, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: slug + "@example.com",
			Role: account.Member, TeamID: team.ID})
		writer = account.Writer{OrganizationID: o.ID, UserUUID: user.UUID, Teams: []int64{team.ID}, Admin: true,
			Actor: account.Actor{UserID: user.ID, Name: slug}}
		return err
	})
	return writer
}

// clicks is an author that clicks once.
func clicks(ctx context.Context, j Job) (Result, error) {
	lease, err := j.Acquire(ctx)
	if err != nil {
		return Result{}, err
	}
	defer j.Release(ctx, lease, false)
	steps := []step.Step{clickOn("go")}
	steps[0].ScreenshotID = j.Capture(ctx, shot())
	reasons := []authoring.Reason{{Title: "Click", Description: j.Intent}}
	j.Progress(steps, reasons)
	return Result{Steps: steps, Reasoning: reasons, Description: "Clicks.", DiscoveredIntent: j.Intent}, nil
}

func clickOn(id string) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#" + id}}}}
}

func shot() replay.Artifact {
	return replay.Artifact{Kind: run.Screenshot, ContentType: "image/png", Data: []byte("picture")}
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

var chrome = capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}

// newGeneration starts a generation of a sentence as the interface does.
func (w *world) newGeneration(intent string, changes ...func(*store.New)) uuid.UUID {
	w.t.Helper()
	return w.newGenerationOf(w.writer, intent, changes...)
}

func (w *world) newGenerationOf(writer account.Writer, intent string, changes ...func(*store.New)) (id uuid.UUID) {
	w.t.Helper()
	n := store.New{Name: "log in", Intent: intent, MaxSteps: 50, Timeout: time.Hour, Target: chrome,
		Settings: capability.RunSettings{TestURL: "https://shop.example.com/", PrimaryTarget: &chrome,
			RunTargets: []capability.Target{chrome}}}
	for _, change := range changes {
		change(&n)
	}
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		if id, err = store.Start(ctx, tx, writer, n); err != nil {
			return err
		}
		_, err = ledger.Insert(ctx, tx, tasks.NewTestGenerate(writer.OrganizationID, "request-9", id))
		return err
	})
	return id
}

func (w *world) claim(id uuid.UUID) *worker.Claim {
	w.t.Helper()
	kind := tasks.TestGenerate
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: id, Kind: kind.Name, Worker: "test", KeyLimit: kind.KeyLimit})
	require.NoError(w.t, err)
	require.Len(w.t, claimed, 1)
	return worker.NewClaim(w.db, claimed)
}

// again lets another worker take a task whose worker is silent.
func (w *world) again(id uuid.UUID) *worker.Claim {
	w.t.Helper()
	w.exec(`update tasks set heartbeat_at = now() - interval '1 hour' where id = $1`, id)
	rescued, err := w.ledger.Rescue(w.t.Context(), time.Minute)
	require.NoError(w.t, err)
	require.Len(w.t, rescued, 1)
	w.exec(`update tasks set run_at = now() where id = $1`, id) // do not wait for the backoff
	return w.claim(id)
}

// failed records a failed attempt as the worker does, and claims the next one.
func (w *world) failed(claim *worker.Claim, err error) *worker.Claim {
	w.t.Helper()
	require.Error(w.t, err)
	task := claim.Tasks[0]
	states, ferr := w.ledger.Fail(w.t.Context(), []ledger.Token{task.Token()}, err.Error(), false, 0)
	require.NoError(w.t, ferr)
	require.Equal(w.t, []ledger.State{ledger.Queued}, states)
	return w.claim(task.ID)
}

// snoozed puts a task off as the worker does, and claims it again.
func (w *world) snoozed(claim *worker.Claim, err error) (*worker.Claim, time.Duration) {
	w.t.Helper()
	var snooze *tasks.SnoozeError
	require.ErrorAs(w.t, err, &snooze)
	task := claim.Tasks[0]
	states, rerr := w.ledger.Release(w.t.Context(), []ledger.Token{task.Token()}, 0)
	require.NoError(w.t, rerr)
	require.Equal(w.t, []ledger.State{ledger.Queued}, states)
	return w.claim(task.ID), snooze.For
}

func (w *world) task(id uuid.UUID) *ledger.Task {
	w.t.Helper()
	task, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, id)
	require.NoError(w.t, err)
	return task
}

func (w *world) read(id uuid.UUID) (*store.Generation, *store.Captured) {
	w.t.Helper()
	g, err := store.ByID(w.t.Context(), w.db, w.writer.OrganizationID, id)
	require.NoError(w.t, err)
	c, err := store.CapturedOf(w.t.Context(), w.db, id)
	require.NoError(w.t, err)
	return g, c
}

// code returns the code with which a generation has failed.
func (w *world) code(id uuid.UUID) string {
	w.t.Helper()
	g, _ := w.read(id)
	require.Equal(w.t, store.Failed, g.State, g.ErrorCode)
	return g.ErrorCode
}

// stored are the keys of all stored objects of generations.
func (w *world) stored() (keys []string) {
	w.t.Helper()
	list, err := w.objects.List(w.t.Context(), store.Prefix, "", object.MaxList)
	require.NoError(w.t, err)
	for _, info := range list {
		keys = append(keys, info.Key)
	}
	return keys
}

// everywhere returns all texts that generations leave behind: rows and the log.
func (w *world) everywhere() string {
	w.t.Helper()
	var text string
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &text, `select
		(select coalesce(string_agg(g::text, ' '), '') from test_generations g)
		|| (select coalesce(string_agg(t::text, ' '), '') from tasks t)
		|| (select coalesce(string_agg(r::text, ' '), '') from test_revisions r)
		|| (select coalesce(string_agg(e::text, ' '), '') from audit_events e)`))
	return text + w.log.String()
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
