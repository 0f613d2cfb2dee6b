package commitstatus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/statuscall"
	"github.com/slipway-qa/slipway/worker"
	workcommitstatus "github.com/slipway-qa/slipway/worker/commitstatus"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

const token = "tok_0123456789-secret"

var commit = strings.Repeat("0a", 20)

// world is an app with a setting at a stand-in of GitHub, and a build with a commit.
type world struct {
	*fixture.Fixture
	up   *distribution.Uploaded
	send *workcommitstatus.Send
	log  bytes.Buffer

	mu     sync.Mutex
	shift  time.Duration
	bodies []map[string]string
	answer func(w http.ResponseWriter) bool // true: it has answered
}

func newWorld(t *testing.T, private bool) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	server := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(server.Close)
	guard, err := outbound.New(outbound.Config{AllowPrivate: private})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	w.send = &workcommitstatus.Send{DB: w.DB, Caller: statuscall.NewSender(guard), Keys: fixture.SealKey,
		Links: link.New("https://qa.example.com"),
		Now:   w.now, Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	u := w.NewUpload(fixture.APK("com.example.shop", "1.0", "1"))
	u.Metadata = map[string]string{"commit": commit}
	w.up = w.Upload(u)
	w.setting(server.URL, fixture.SealKey)
	return w
}

// serve is GitHub as far as statuses go: what is not as its documents say is refused.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	doc, _ := io.ReadAll(r.Body)
	var body map[string]string
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/repos/acme/app/statuses/"+commit:
		rw.WriteHeader(http.StatusNotFound)
		return
	case r.Header.Get("Authorization") != "Bearer "+token:
		rw.WriteHeader(http.StatusUnauthorized)
		return
	case json.Unmarshal(doc, &body) != nil:
		rw.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, body)
	if w.answer == nil || !w.answer(rw) {
		rw.WriteHeader(http.StatusCreated)
		fmt.Fprintf(rw, `{"state":%q}`, body["state"])
	}
}

func (w *world) answers(answer func(w http.ResponseWriter) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// refuse answers with a status.
func refuse(status int, header ...string) func(w http.ResponseWriter) bool {
	return func(w http.ResponseWriter) bool {
		if len(header) == 2 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"message":"refused for `+token+`"}`)
		return true
	}
}

// states are those that arrived, in their order.
func (w *world) states() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := []string{}
	for _, b := range w.bodies {
		list = append(list, b["state"])
	}
	return list
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.shift)
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shift += d
}

func (w *world) setting(address string, keys seal.Ring) {
	w.T.Helper()
	sealed, err := seal.Seal(keys, seal.CommitStatus, token)
	require.NoError(w.T, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := commitstatus.Save(ctx, tx, w.Org.Owner.Writer, commitstatus.Setting{ProjectID: w.up.Project.ID, Provider: commitstatus.GitHub,
			URL: address, Repository: "acme/app", Context: "gate", Token: sealed})
		return err
	})
}

// set sets a status, and returns the task that sends it.
func (w *world) set(state commitstatus.State, text string) uuid.UUID {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return commitstatus.Set(ctx, tx, commitstatus.Change{OrganizationID: w.Org.ID, ProjectID: w.up.Project.ID,
			BuildID: w.up.Build.ID, State: state, Text: text})
	})
	var id uuid.UUID
	require.NoError(w.T, w.DB.GetContext(w.T.Context(), &id, `select id from tasks where kind = $1 order by id desc limit 1`,
		tasks.CommitStatus.Name))
	return id
}

// work runs a task once.
func (w *world) work(id uuid.UUID) error {
	w.T.Helper()
	return w.send.Handle(fixture.Context(w.T), w.claim(id))
}

func (w *world) claim(id uuid.UUID) *worker.Claim {
	w.T.Helper()
	return worker.NewClaim(w.DB, w.Claim(tasks.CommitStatus.Name, id, tasks.CommitStatus.KeyLimit))
}

// release returns a task that a handler left with an error, as the worker does.
func (w *world) release(id uuid.UUID) {
	w.T.Helper()
	task := w.Task(id)
	_, err := w.Ledger().Release(fixture.Context(w.T), []ledger.Token{task.Token()}, 0)
	require.NoError(w.T, err)
}

func (w *world) read() *commitstatus.Setting {
	w.T.Helper()
	s, err := commitstatus.ForProject(fixture.Context(w.T), w.DB, w.Org.Owner.Writer, w.up.Project.ID)
	require.NoError(w.T, err)
	return s
}

// outcome is the result of a task that succeeded.
func (w *world) outcome(id uuid.UUID) string {
	w.T.Helper()
	var result struct{ Outcome string }
	w.Result(id, &result)
	return result.Outcome
}

// requireNoToken looks for the token where somebody could read it.
func (w *world) requireNoToken(err error) {
	w.T.Helper()
	require.NotContains(w.T, w.log.String(), token)
	require.NotContains(w.T, fmt.Sprint(err), token)
	require.Zero(w.T, w.Count(`select count(*) from commit_status_settings where last_error like $1`, "%"+token+"%"))
}

func TestStatusIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	id := w.set(commitstatus.Fail, "2 of 20 cases failed")
	require.NoError(t, w.work(id))
	require.Equal(t, []map[string]string{{"state": "failure", "context": "gate", "description": "2 of 20 cases failed",
		"target_url": fmt.Sprintf("https://qa.example.com/console/builds/builds/%d", w.up.Build.ID)}}, w.bodies)
	require.Equal(t, "sent", w.outcome(id))
	require.NotNil(t, w.read().LastSentAt)
	require.Empty(t, w.read().LastError)
}

// A newer status is sent in the place of an older one, and no older one behind a newer.
func TestNewestIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	pending := w.set(commitstatus.Pending, "waits")
	failed := w.set(commitstatus.Fail, "failed")
	passed := w.set(commitstatus.Pass, "passed")
	require.NoError(t, w.work(passed))
	require.NoError(t, w.work(pending))
	require.NoError(t, w.work(failed))
	require.Equal(t, []string{"success"}, w.states())
	require.Equal(t, []string{"superseded", "superseded", "sent"}, []string{w.outcome(pending), w.outcome(failed), w.outcome(passed)})

	// A status of a build is not sent any more once a newer build of the app has one.
	waits := w.set(commitstatus.Fail, "older")
	u := w.NewUpload(fixture.APK("com.example.shop", "1.1", "2"))
	u.Metadata = map[string]string{"commit": commit}
	w.up = w.Upload(u)
	newer := w.set(commitstatus.Pending, "newer")
	require.NoError(t, w.work(newer))
	require.NoError(t, w.work(waits))
	require.Equal(t, []string{"success", "pending"}, w.states())
	require.Equal(t, "superseded", w.outcome(waits))
}

// While one status of a build is on its way the next one waits.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	pending := w.set(commitstatus.Pending, "waits")
	claim := w.claim(pending)
	passed := w.set(commitstatus.Pass, "passed")
	claimed, err := w.Ledger().Claim(fixture.Context(t), ledger.ClaimRequest{ID: passed, Kind: tasks.CommitStatus.Name,
		Worker: "other", KeyLimit: tasks.CommitStatus.KeyLimit})
	require.NoError(t, err)
	require.Empty(t, claimed)
	require.NoError(t, w.send.Handle(fixture.Context(t), claim), "it was replaced before it was sent")
	require.NoError(t, w.work(passed))
	require.Equal(t, []string{"success"}, w.states())
}

func TestFailuresForTheMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	w.answers(refuse(http.StatusBadGateway))
	id := w.set(commitstatus.Pass, "ok")
	err := w.work(id)
	var public *tasks.PublicError
	require.ErrorAs(t, err, &public)
	require.Equal(t, "GitHub answered 502: refused for ***", public.Text)
	require.False(t, tasks.IsPermanent(err))
	require.Equal(t, fmt.Sprintf("build %d: GitHub answered 502: refused for ***", w.up.Build.ID), w.read().LastError)
	require.NotNil(t, w.read().LastErrorAt)
	w.requireNoToken(err)

	w.release(id)
	w.answers(nil)
	require.NoError(t, w.work(id))
	require.Equal(t, []string{"success", "success"}, w.states())
	require.Empty(t, w.read().LastError)
}

// A day is long enough: then the task ends with the last reason.
func TestEndOfTheDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	id := w.set(commitstatus.Pass, "ok")
	for _, answer := range []func(http.ResponseWriter) bool{refuse(http.StatusBadGateway), refuse(http.StatusTooManyRequests)} {
		w.answers(answer)
		require.False(t, tasks.IsPermanent(w.work(id)))
		w.release(id)
	}
	w.pass(commitstatus.Lifetime + time.Minute)
	err := w.work(id)
	require.True(t, tasks.IsPermanent(err))
	require.ErrorContains(t, err, "not sent within 24 hours: GitHub answered 429")
	require.Contains(t, w.read().LastError, "not sent within 24 hours")

	// The attempts must last for the day, however the pauses fall.
	kind, shortest := tasks.CommitStatus, time.Duration(0)
	for attempt := 1; attempt < kind.MaxAttempts; attempt++ {
		shortest += time.Duration(0.8 * float64(min(kind.Backoff<<min(attempt-1, 20), kind.MaxBackoff)))
	}
	require.Greater(t, shortest, commitstatus.Lifetime)
}

func TestLimitsAreWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	for wait, c := range map[time.Duration]struct {
		status int
		header []string
	}{
		5 * time.Minute: {http.StatusTooManyRequests, []string{"Retry-After", "300"}},
		2 * time.Minute: {http.StatusServiceUnavailable, []string{"Retry-After", "120"}},
		time.Minute:     {http.StatusServiceUnavailable, []string{"Retry-After", "1"}},
		time.Hour:       {http.StatusForbidden, []string{"Retry-After", "86400"}},
	} {
		w.answers(refuse(c.status, c.header...))
		id := w.set(commitstatus.Pass, wait.String())
		err := w.work(id)
		var snooze *tasks.SnoozeError
		require.ErrorAs(t, err, &snooze)
		require.Equal(t, wait, snooze.For)
		require.Contains(t, w.read().LastError, fmt.Sprintf("GitHub answered %d", c.status))
		w.requireNoToken(err)
		w.release(id)
	}
}

func TestRefusalsEndTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	for _, status := range []int{401, 403, 404, 422, 301} {
		w.answers(refuse(status))
		err := w.work(w.set(commitstatus.Pass, fmt.Sprint(status)))
		require.True(t, tasks.IsPermanent(err), status)
		require.ErrorContains(t, err, fmt.Sprintf("GitHub answered %d", status))
		require.Contains(t, w.read().LastError, fmt.Sprintf("GitHub answered %d", status))
		require.Contains(t, w.read().LastError, fmt.Sprintf("build %d: ", w.up.Build.ID))
		w.requireNoToken(err)
		w.Exec(`update tasks set state = 'dead', finished_at = now(), worker = null, heartbeat_at = null where kind = $1`,
			tasks.CommitStatus.Name)
	}
}

// Nothing is asked where there is nothing to send, or it must not go out.
func TestStatusesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		private bool
		before  func(w *world)
		text    string
	}{
		"a short commit": {true, func(w *world) { w.Exec(`update commit_statuses set commit = 'abc1234'`) },
			`the build's commit "abc1234" is no full hash`},
		"no commit":        {true, func(w *world) { w.Exec(`update commit_statuses set commit = 'main'`) }, "is no full hash"},
		"a private server": {false, func(*world) {}, "address refused: loopback address"},
		"another key": {true, func(w *world) {
			sealed, err := seal.Seal(seal.Ring{bytes.Repeat([]byte("z"), 32)}, seal.CommitStatus, token)
			require.NoError(w.T, err)
			w.Exec(`update commit_status_settings set sealed_token = $1`, sealed)
		}, "store it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.private)
			id := w.set(commitstatus.Pass, "ok")
			c.before(w)
			err := w.work(id)
			require.True(t, tasks.IsPermanent(err))
			require.ErrorContains(t, err, c.text)
			require.Contains(t, w.read().LastError, c.text)
			require.Empty(t, w.states())
			w.requireNoToken(err)
		})
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{"setting": `delete from commit_status_settings`,
		"build": `update builds set deleted_at = now()`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, true)
			id := w.set(commitstatus.Pass, "ok")
			w.Exec(query)
			require.NoError(t, w.work(id))
			require.Equal(t, "gone", w.outcome(id))
			require.Empty(t, w.states())
		})
	}
}

// killed is a caller whose worker is gone before the outcome is recorded.
type killed struct {
	workcommitstatus.Caller
	after func()
}

func (k killed) Send(ctx context.Context, to statuscall.Repository, s statuscall.Status) statuscall.Result {
	r := k.Caller.Send(ctx, to, s)
	k.after()
	return r
}

// A worker is killed between the request and its record: another one sends the same status
// once more, and the first one writes nothing.
func TestKilledBeforeTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	id := w.set(commitstatus.Pass, "ok")
	lost := *w.send
	lost.Caller = killed{w.send.Caller, func() { w.Rescue(id) }}
	require.ErrorIs(t, lost.Handle(fixture.Context(t), w.claim(id)), storage.ErrStale)
	require.Nil(t, w.read().LastSentAt)
	require.NoError(t, w.work(id))
	require.Equal(t, []string{"success", "success"}, w.states())
	require.Equal(t, w.bodies[0], w.bodies[1])
	require.Equal(t, "sent", w.outcome(id))

	// The same with a failure: it is not written over what came afterwards.
	id = w.set(commitstatus.Fail, "no")
	w.answers(refuse(http.StatusBadGateway))
	lost.Caller = killed{w.send.Caller, func() { w.Rescue(id) }}
	require.ErrorIs(t, lost.Handle(fixture.Context(t), w.claim(id)), storage.ErrStale)
	require.Empty(t, w.read().LastError)
}

// A worker that stops in the middle of a request leaves the task to another one, and blames
// nobody.
func TestStopDuringARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	id := w.set(commitstatus.Pass, "ok")
	ctx, stop := context.WithCancelCause(fixture.Context(t))
	stopping := errors.New("the worker stops")
	interrupted := *w.send
	interrupted.Caller = callerFunc(func(ctx context.Context) statuscall.Result {
		stop(stopping)
		return statuscall.Result{Error: "no answer"}
	})
	require.ErrorIs(t, interrupted.Handle(ctx, w.claim(id)), stopping)
	require.Empty(t, w.read().LastError)
	w.release(id)
	require.NoError(t, w.work(id))
	require.Equal(t, []string{"success"}, w.states())
}

type callerFunc func(ctx context.Context) statuscall.Result

// Send calls the function.
func (f callerFunc) Send(ctx context.Context, _ statuscall.Repository, _ statuscall.Status) statuscall.Result {
	return f(ctx)
}
