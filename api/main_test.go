package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/account"
	"github.com/slipway-qa/slipway/api/audit"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/crash"
	"github.com/slipway-qa/slipway/api/device"
	"github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/api/group"
	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/mail"
	"github.com/slipway-qa/slipway/api/oidc"
	"github.com/slipway-qa/slipway/api/ops"
	"github.com/slipway-qa/slipway/api/overview"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/search"
	"github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/api/task"
	"github.com/slipway-qa/slipway/api/tester"
	"github.com/slipway-qa/slipway/api/upload"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/api/webhook"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	storeaccount "github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
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
	keys   *storeaccount.Issuer
	ours   *storeaccount.Bootstrap
	theirs *storeaccount.Bootstrap
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
	w.keys, err = storeaccount.NewIssuer("local", nil)
	require.NoError(t, err)
	w.ours, w.theirs = w.bootstrap(t, "ours"), w.bootstrap(t, "theirs")
	log := slog.New(logfield.Handler(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local", BaseDomain: baseDomain, Log: log, FailuresPerMinute: 100_000})
	require.NoError(t, err)
	watcher := wait.NewWatcher(wait.Config{Ended: w.store.Ended, Log: log, Interval: 20 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); watcher.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	w.cfg = api.Config{Log: log, Auth: authenticator, Observer: w.seen, Routes: routes(task.New(w.store, watcher), w.stub)}
	if change != nil {
		change(&w.cfg)
	}
	w.api, err = api.New(w.cfg)
	require.NoError(t, err)
	return w
}

// emptyRooms are rooms whose handlers cannot be called.
func emptyRooms() *api.Rooms {
	return &api.Rooms{
		Tasks:    new(task.Handlers),
		Crashes:  new(crash.Handlers),
		Symbols:  new(symbol.Handlers),
		Intake:   new(intake.Receiver),
		Accounts: new(account.Handlers),
		Builds:   new(distribution.Handlers),
		Groups:   new(group.Handlers),
		Uploads:  new(upload.Handlers),
		Testers:  new(tester.Handlers),
		OIDC:     new(oidc.Handlers),
		Audits:   new(audit.Handlers),
		Mail:     new(mail.Handlers),
		Tests:    new(authoring.Handlers),
		Pages:    new(install.Handlers),
		Devices:  new(device.Handlers),
		Search:   new(search.Handlers),
		Overview: new(overview.Handlers),
		Sessions: new(session.Handlers),
		Webhooks: new(webhook.Handlers),
		Ops:      new(ops.Handlers),
	}
}

// routes is the whole list, with the stub in place of the handlers of all rooms but
// the tasks' (nil: of all).
func routes(tasks *task.Handlers, stub route.Handler) []route.Route {
	rooms := emptyRooms()
	if tasks != nil {
		rooms.Tasks = tasks
	}
	list := rooms.Routes()
	for i := range list {
		ours := tasks != nil && strings.HasPrefix(list[i].Path, "/api/v3/tasks") || list[i].Path == "/openapi.json"
		if !ours {
			list[i].Handler, list[i].Fail = stub, nil
		}
	}
	return list
}

// replace puts a handler in the place of one of the list.
func replace(list []route.Route, method, path string, h route.Handler) {
	for i := range list {
		if list[i].Method == method && list[i].Path == path {
			list[i].Handler = h
			return
		}
	}
	panic("no route " + method + " " + path)
}

func (w *world) stub(c *gin.Context) error {
	w.mu.Lock()
	w.reached++
	w.mu.Unlock()
	c.String(http.StatusOK, "stub "+c.Param("universe")+" "+c.Param("token")+" "+c.Param("format"))
	return nil
}

func (w *world) hits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

func (w *world) bootstrap(t *testing.T, slug string) *storeaccount.Bootstrap {
	t.Helper()
	b, err := storeaccount.NewBootstrap(w.keys, "")
	require.NoError(t, err)
	b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, b, "local")
	})
	return b
}

func (w *world) tx(t *testing.T, fn func(context.Context, *storage.Tx) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// member creates a member of our organization with an API key.
func (w *world) member(t *testing.T, email string, role storeaccount.Role) (id int64, key string) {
	t.Helper()
	id, key, _ = w.memberWithKeys(t, email, role)
	return id, key
}

// memberWithKeys returns the access key as well.
func (w *world) memberWithKeys(t *testing.T, email string, role storeaccount.Role) (id int64, key, access string) {
	t.Helper()
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		u, err := storeaccount.CreateUser(ctx, tx, storeaccount.CLI(), storeaccount.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: email, Role: storeaccount.Member})
		if err != nil {
			return err
		}
		_, a, err := storeaccount.RotateKey(ctx, tx, storeaccount.CLI(), w.keys, storeaccount.NewKey{
			OrganizationID: w.ours.Organization.ID, UserID: u.ID, Kind: storeaccount.KindAccess})
		if err != nil {
			return err
		}
		access = a.Text
		_, s, err := storeaccount.RotateKey(ctx, tx, storeaccount.CLI(), w.keys, storeaccount.NewKey{
			OrganizationID: w.ours.Organization.ID, UserID: u.ID, Kind: storeaccount.KindAPI})
		if err != nil || role == storeaccount.Member {
			id, key = u.ID, s.Text
			return err
		}
		id, key = u.ID, s.Text
		return storeaccount.SetRole(ctx, tx, storeaccount.CLI(), w.ours.Organization.ID, u.ID, role)
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

func operator(b *storeaccount.Bootstrap) option {
	return basic(b.Operator.Username, b.Operator.Password)
}

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
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
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
