package crash

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

// world is one organization with a crash project, and the handlers.
type world struct {
	t            *testing.T
	db           *storage.DB
	store        *crash.Store
	ledger       *ledger.Store
	objects      object.Store
	org, project int64
	seen         map[string]int // numbers of crashes by state
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), seen: map[string]int{}}
	var err error
	w.store, err = crash.New(w.db)
	require.NoError(t, err)
	w.ledger = ledger.New(w.db)
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	w.org = w.newOrganization("one")
	w.project = w.newProject(w.org)
	return w
}

func (w *world) newOrganization(slug string) (id int64) {
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	return id
}

func (w *world) newProject(org int64) (id int64) {
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into crash_projects (organization_id, name) values ($1, $2) returning id`, org, uuid.NewString()))
	return id
}

func (w *world) CrashesProcessed(state string, n int) { w.seen[state] += n }

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

// doc is a report; its key is that of function, attributes are JSON members.
type doc struct {
	uuid       uuid.UUID
	function   string
	attributes string
	at         time.Time
	more       string
	stack      string // frames, instead of that of function
	raw        string // all of it
}

func (d doc) bytes() []byte {
	if d.raw != "" {
		return []byte(d.raw)
	}
	if d.uuid == uuid.Nil {
		d.uuid = uuid.New()
	}
	if d.at.IsZero() {
		d.at = time.Now()
	}
	if d.stack != "" {
		return fmt.Appendf(nil, `{"uuid":%q,"timestamp":%d,"lang":"java","langVersion":"1","agent":"a","agentVersion":"1",`+
			`"mainThread":"0","symbolication":"proguard","threads":{"0":{"stack":[%s]}},"classifiers":["E"],"attributes":{%s}%s}`,
			d.uuid, d.at.Unix(), d.stack, d.attributes, d.more)
	}
	return fmt.Appendf(nil, `{"uuid":%q,"timestamp":%d,"lang":"go","langVersion":"1","agent":"a","agentVersion":"1",`+
		`"mainThread":"0","threads":{"0":{"stack":[{"funcName":"main.%s"}]}},"classifiers":["E"],"attributes":{%s}%s}`,
		d.uuid, d.at.Unix(), d.function, d.attributes, d.more)
}

func (w *world) incoming(d doc) received.Incoming {
	if d.uuid == uuid.Nil {
		d.uuid = uuid.New()
	}
	body := d.bytes()
	return received.Incoming{OrganizationID: w.org, ProjectID: w.project, UUID: d.uuid,
		Digest: sha256.Sum256(body), Document: body, Format: "json"}
}

// accept stores reports in one commit.
func (w *world) accept(docs ...doc) []uuid.UUID {
	w.t.Helper()
	var in []received.Incoming
	for _, d := range docs {
		in = append(in, w.incoming(d))
	}
	return w.acceptAll(in...)
}

func (w *world) acceptAll(in ...received.Incoming) []uuid.UUID {
	w.t.Helper()
	receipts, _, err := w.store.Accept(w.t.Context(), in, tasks.NewCrashProcess)
	require.NoError(w.t, err)
	var ids []uuid.UUID
	for _, r := range receipts {
		ids = append(ids, r.ID)
	}
	return ids
}

// claim takes the due tasks of a batch kind, or the task with the id.
func (w *world) claim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: id, Kind: kind.Name, OrganizationID: w.org,
		Worker: "test", Batch: kind.Batch, MaxWeight: kind.MaxWeight})
	require.NoError(w.t, err)
	require.NotEmpty(w.t, claimed, "nothing to claim")
	return worker.NewClaim(w.db, claimed)
}

func (w *world) processor() *Process {
	return &Process{Store: w.store, Observer: w, Log: slog.New(slog.DiscardHandler)}
}

// process processes everything that was accepted.
func (w *world) process() {
	w.t.Helper()
	for w.number(`select count(*) from tasks where kind = 'crash:process' and state = 'queued'`) > 0 {
		require.NoError(w.t, w.processor().Handle(w.t.Context(), w.claim(tasks.CrashProcess, uuid.Nil)))
	}
}

func (w *world) insert(t *ledger.NewTask) uuid.UUID {
	w.t.Helper()
	_, err := ledger.Insert(w.t.Context(), w.db, t)
	require.NoError(w.t, err)
	return t.ID
}

func (w *world) result(id uuid.UUID, into any) {
	w.t.Helper()
	task, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, id)
	require.NoError(w.t, err)
	require.Equal(w.t, ledger.Succeeded, task.State)
	require.NotNil(w.t, task.Result)
	require.NoError(w.t, json.Unmarshal(*task.Result, into))
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
