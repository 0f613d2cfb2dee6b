package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/task"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

const baseDomain = "slipway.test"

// world is two organizations behind the real router. The handlers of other
// rooms are stubs that note that they were reached.
type world struct {
	db     *storage.DB
	store  *ledger.Store
	keys   *account.Issuer
	ours   *account.Bootstrap
	theirs *account.Bootstrap
	cfg    api.Config
	api    http.Handler
	log    *syncBuffer
	seen   *observed

	mu      sync.Mutex
	reached int
}

func newWorld(t *testing.T, change func(*api.Config)) *world {
	t.Helper()
	w := &world{db: servicetest.DB(t), log: &syncBuffer{}, seen: &observed{}}
	w.store = ledger.New(w.db)
	var err error
	w.keys, err = account.NewIssuer("local", nil)
	require.NoError(t, err)
	w.ours, w.theirs = w.bootstrap(t, "ours"), w.bootstrap(t, "theirs")
	log := slog.New(logfield.Handler(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local", BaseDomain: baseDomain, Log: log, FailuresPerMinute: 100_000})
	require.NoError(t, err)
	watcher := task.NewWatcher(task.WatcherConfig{Ended: task.TasksEnded(w.store), Log: log, Interval: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); watcher.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	h := task.New(w.store, watcher)
	w.cfg = api.Config{Log: log, Auth: authenticator, Observer: w.seen,
		Tasks: api.Tasks{List: h.List, Get: h.Get, Retry: h.Retry, Cancel: h.Cancel}}
	fill(reflect.ValueOf(&w.cfg).Elem(), gin.HandlerFunc(w.stub))
	if change != nil {
		change(&w.cfg)
	}
	w.api, err = api.New(w.cfg)
	require.NoError(t, err)
	return w
}

// fill puts the stub wherever a handler is missing.
func fill(v reflect.Value, stub gin.HandlerFunc) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			fill(f, stub)
		case f.Type() == reflect.TypeFor[gin.HandlerFunc]() && f.IsNil():
			f.Set(reflect.ValueOf(stub))
		}
	}
}

func (w *world) stub(c *gin.Context) {
	w.mu.Lock()
	w.reached++
	w.mu.Unlock()
	c.String(http.StatusOK, "stub "+c.Param("universe")+" "+c.Param("token")+" "+c.Param("format"))
}

func (w *world) hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

func (w *world) bootstrap(t *testing.T, slug string) *account.Bootstrap {
	t.Helper()
	b, err := account.NewBootstrap(w.keys, "")
	require.NoError(t, err)
	b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error { return b.Apply(ctx, tx, "local") })
	return b
}

func (w *world) tx(t *testing.T, fn func(context.Context, *storage.Tx) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// member makes a member of our organization with an API key.
func (w *world) member(t *testing.T, email string, role account.Role) (id int64, key string) {
	t.Helper()
	id, key, _ = w.memberWithKeys(t, email, role)
	return id, key
}

// memberWithKeys gives the access key as well.
func (w *world) memberWithKeys(t *testing.T, email string, role account.Role) (id int64, key, access string) {
	t.Helper()
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID, Email: email, Role: account.Member})
		if err != nil {
			return err
		}
		_, a, err := account.RotateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.ours.Organization.ID, UserID: u.ID, Kind: account.KindAccess})
		if err != nil {
			return err
		}
		access = a.Text
		_, s, err := account.RotateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.ours.Organization.ID, UserID: u.ID, Kind: account.KindAPI})
		if err != nil || role == account.Member {
			id, key = u.ID, s.Text
			return err
		}
		id, key = u.ID, s.Text
		return account.SetRole(ctx, tx, account.CLI(), w.ours.Organization.ID, u.ID, role)
	})
	return id, key, access
}

// newTask puts a task of an organization (0: none) into the ledger.
func (w *world) newTask(t *testing.T, organization int64) uuid.UUID {
	t.Helper()
	n := &ledger.NewTask{Kind: tasks.CrashProcess.Name, Queue: tasks.CrashProcess.Queue, OrganizationID: organization,
		Payload: map[string]any{}, MaxAttempts: 3, RequestID: "request-of-task"}
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		_, err := ledger.Insert(ctx, tx, n)
		return err
	})
	return n.ID
}

type option func(*http.Request)

func key(k string) option { return func(r *http.Request) { r.Header.Set("X-API-Key", k) } }

func basic(user, password string) option {
	return func(r *http.Request) { r.SetBasicAuth(user, password) }
}

func operator(b *account.Bootstrap) option { return basic(b.Operator.Username, b.Operator.Password) }

func host(h string) option { return func(r *http.Request) { r.Host = h } }

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func body(text string) option {
	return func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
	}
}

func (w *world) do(t *testing.T, method, path string, options ...option) *httptest.ResponseRecorder {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, method, path, nil)
	r.Host = "127.0.0.1:8080"
	for _, o := range options {
		o(r)
	}
	w.api.ServeHTTP(rec, r)
	return rec
}

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

type observed struct {
	mu    sync.Mutex
	lines []string
}

func (o *observed) RequestServed(method, route string, status int, _ time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, method+" "+route+" "+http.StatusText(status))
}

func (o *observed) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines[len(o.lines)-1]
}
