package intake

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

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
	"github.com/slipway-qa/slipway/storage/object"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	code := servicetest.Main(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// ownedUUID is the crash that takes late files.
const ownedUUID = "1c2d3e4f-5061-4273-9485-a6b7c8d9e0f1"

const testUUID = "0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0"

// minimal holds the eight required members.
const minimal = `{"uuid":"` + testUUID +
	`","timestamp":1700000000,"lang":"c","langVersion":"11","agent":"curl","agentVersion":"1","threads":{"0":{}},"mainThread":"0"}`

// with adds members to the minimal report.
func with(members string) string { return minimal[:len(minimal)-1] + "," + members + "}" }

// fakeStore knows tokens by their text, and owns one crash.
type fakeStore struct {
	mu     sync.Mutex
	tokens map[[32]byte]*crash.Token
	asked  int
	err    error
	owned  uuid.UUID
	late   []received.Attachment

	usage    []usage.Event
	usageErr error

	feedback    []crash.NewFeedback
	feedbackErr error
}

func (s *fakeStore) Token(_ context.Context, digest [32]byte) (*crash.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.err != nil {
		return nil, s.err
	}
	if t := s.tokens[digest]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("token: %w", storage.ErrNotFound)
}

func (s *fakeStore) Owns(_ context.Context, _, _ int64, id uuid.UUID) error {
	if id != s.owned {
		return fmt.Errorf("owns: %w", storage.ErrNotFound)
	}
	return nil
}

func (s *fakeStore) AddAttachments(_ context.Context, _, _ int64, _ uuid.UUID, files []received.Attachment, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.late)+len(files) > most {
		return received.ErrTooManyAttachments
	}
	s.late = append(s.late, files...)
	return nil
}

func (s *fakeStore) RecordUsage(_ context.Context, _ int64, events []usage.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage = append(s.usage, events...)
	return s.usageErr
}

func (s *fakeStore) AddFeedback(_ context.Context, n crash.NewFeedback) (uuid.UUID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := n.Clean(); err != nil {
		return uuid.Nil, err
	}
	s.feedback = append(s.feedback, n)
	return n.CrashID, s.feedbackErr
}

func (s *fakeStore) set(text string, t *crash.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[account.DigestOf(text)] = t
}

// fakeSubmitter keeps what it is given.
type fakeSubmitter struct {
	mu      sync.Mutex
	got     []received.Incoming
	receipt received.Receipt
	err     error
	panics  bool
}

func (s *fakeSubmitter) Submit(_ context.Context, r received.Incoming) (received.Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panics {
		panic("boom")
	}
	r.Document = bytes.Clone(r.Document)
	s.got = append(s.got, r)
	return s.receipt, s.err
}

type counts struct {
	mu                         sync.Mutex
	accepted, resent, conflict int
	cut, usage                 int
	symbols                    int
	symbolBytes                int64
	rejected                   []string
}

func (c *counts) Accepted(int) { c.mu.Lock(); defer c.mu.Unlock(); c.accepted++ }
func (c *counts) Resent()      { c.mu.Lock(); defer c.mu.Unlock(); c.resent++ }
func (c *counts) Conflict()    { c.mu.Lock(); defer c.mu.Unlock(); c.conflict++ }
func (c *counts) AttachmentCut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut++
}
func (c *counts) SymbolFiles(files int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.symbols, c.symbolBytes = c.symbols+files, c.symbolBytes+bytes
}

func (c *counts) Usage(events int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage += events
}
func (c *counts) Rejected(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejected = append(c.rejected, reason)
}

// world is a receiver with everything beside it faked but the object store.
type world struct {
	store   *fakeStore
	submit  *fakeSubmitter
	objects object.Store
	counts  *counts
	symbols *fakeSymbols
	r       *Receiver
	router  *gin.Engine
}

func testLimits() Limits {
	return Limits{Report: 1 << 20, Attachment: 2 << 20, Attachments: 3, Body: 4 << 20, InFlight: 8 << 20,
		Fields: 20, Field: 1 << 10, FieldBytes: 8 << 10}
}

func newWorld(t testing.TB, change func(*Config)) *world {
	t.Helper()
	objects, err := object.Open(context.Background(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	w := &world{
		store:   &fakeStore{tokens: map[[32]byte]*crash.Token{}, owned: uuid.MustParse(ownedUUID)},
		submit:  &fakeSubmitter{receipt: received.Receipt{ID: uuid.MustParse("0190f5b4-0000-7000-8000-000000000001")}},
		objects: objects, counts: &counts{}, symbols: &fakeSymbols{},
	}
	one := 1
	w.store.set("good", &crash.Token{ID: 1, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeErrorPost}})
	w.store.set("other", &crash.Token{ID: 4, ProjectID: 8, OrganizationID: 4, Scopes: []string{crashproject.ScopeErrorPost}})
	w.store.set("symbols", &crash.Token{ID: 2, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeSymbolPost}})
	w.store.set("shop", &crash.Token{ID: 5, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeErrorPost},
		Origins: []string{"https://shop.example"}})
	w.store.set("pages", &crash.Token{ID: 6, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeErrorPost},
		Origins: []string{"*"}})
	w.store.set("quota", &crash.Token{ID: 3, ProjectID: 7, OrganizationID: 3, Scopes: []string{crashproject.ScopeErrorPost},
		QuotaPerMinute: &one})
	cfg := Config{Submitter: w.submit, Store: w.store, Symbols: w.symbols, SymbolView: symbolView, Objects: objects,
		Region: "local", Limits: testLimits(),
		Observer: w.counts, Log: slog.New(slog.DiscardHandler), Wait: 200 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	w.r, err = New(cfg)
	require.NoError(t, err)
	t.Cleanup(w.r.Close)
	w.router = routes(w.r)
	return w
}

func routes(r *Receiver) *gin.Engine { return routetest.Engine(nil, r.Routes()...) }

func (w *world) do(req *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, req)
	return rec
}

// post sends a body; headers are name, value, name, value.
func (w *world) post(target, body string, headers ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("POST", target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return w.do(req)
}

// stored returns the names and contents of the objects that are there.
func (w *world) stored(t *testing.T) []string {
	t.Helper()
	list, err := w.objects.List(t.Context(), "attachments/", "", 100)
	require.NoError(t, err)
	var all []string
	for _, info := range list {
		rc, _, err := w.objects.Open(t.Context(), info.Key, 0, -1)
		require.NoError(t, err)
		content, err := io.ReadAll(rc)
		require.NoError(t, err)
		require.NoError(t, rc.Close())
		all = append(all, string(content))
	}
	return all
}

// requireFailure checks the shape that clients rely on.
func requireFailure(t *testing.T, rec *httptest.ResponseRecorder, status, code int, text string) {
	t.Helper()
	require.Equal(t, status, rec.Code, rec.Body.String())
	require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
	require.Contains(t, rec.Header().Get("Content-Type"), "application/json")
	var body struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &body))
	require.Equal(t, code, body.Error.Code, body.Error.Message)
	require.Contains(t, body.Error.Message, text)
}

// requireOK checks a success and gives its members.
func requireOK(t *testing.T, rec *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
	require.Equal(t, "*", rec.Header().Get("Access-Control-Allow-Origin"))
	require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
	require.Equal(t, fmt.Sprint(rec.Body.Len()), rec.Header().Get("Content-Length"))
	var m map[string]any
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &m))
	require.Equal(t, "ok", m["response"])
	_, err := uuid.Parse(fmt.Sprint(m["_rxid"]))
	require.NoError(t, err)
	return m
}

var errBroken = errors.New("broken")
