package crash_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// world is a database with two organizations of one crash project each.
type world struct {
	t              *testing.T
	db             *storage.DB
	store          *crash.Store
	org, project   int64
	org2, project2 int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	var err error
	w.store, err = crash.New(w.db)
	require.NoError(t, err)
	w.org, w.project = w.organization("one")
	w.org2, w.project2 = w.organization("two")
	return w
}

func (w *world) organization(slug string) (org, project int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &org,
		`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	return org, w.newProject(org, "app")
}

func (w *world) newProject(org int64, name string) (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into crash_projects (organization_id, name) values ($1, $2) returning id`, org, name))
	return id
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

func (w *world) tx(fn func(tx *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), fn))
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// made is a crash of the key "k", that change may alter.
func (w *world) made(change func(c *crash.Crash)) crash.Crash {
	id, err := uuid.NewV7()
	require.NoError(w.t, err)
	c := crash.Crash{ID: id, ProjectID: w.project, UUID: uuid.New(), State: crash.Processed, Format: "json",
		OccurredAt: epoch, ReceivedAt: epoch, Duplicates: 1, Attributes: "{}", Group: grouping("k")}
	if change != nil {
		change(&c)
	}
	return c
}

func grouping(key string) *crash.Grouping {
	return &crash.Grouping{Key: sha256.Sum256([]byte(key)), Algorithm: 1, Title: "title " + key,
		Culprit: "culprit " + key, Classifier: "class " + key}
}

func (w *world) record(crashes ...crash.Crash) {
	w.t.Helper()
	w.tx(func(tx *storage.Tx) error { return crash.Record(w.t.Context(), tx, w.org, crashes) })
}

// group finds the group of a key.
func (w *world) group(key string) *crash.Group {
	w.t.Helper()
	k := sha256.Sum256([]byte(key))
	id := w.number(`select group_id from crash_group_keys where key = $1`, k[:])
	g, err := crash.GroupByID(w.t.Context(), w.store.DB(), w.org, id)
	require.NoError(w.t, err)
	return g
}

func (w *world) incoming(id uuid.UUID, body string) crash.Incoming {
	return crash.Incoming{OrganizationID: w.org, ProjectID: w.project, UUID: id,
		Digest: sha256.Sum256([]byte(body)), Document: []byte(body), Format: "json"}
}

func task(org int64, batch uuid.UUID, _ int) *ledger.NewTask {
	return &ledger.NewTask{ID: batch, Kind: "crash:process", Queue: "crash", OrganizationID: org,
		Payload: map[string]any{"batch_id": batch}, MaxAttempts: 3}
}

func (w *world) accept(in ...crash.Incoming) ([]crash.Receipt, []*ledger.NewTask) {
	w.t.Helper()
	receipts, made, err := w.store.Accept(w.t.Context(), in, task)
	require.NoError(w.t, err)
	return receipts, made
}

// document is a report that the checks let pass.
func document(id uuid.UUID, message string) string {
	return fmt.Sprintf(`{"uuid":%q,"timestamp":1772366400,"lang":"go","langVersion":"1","agent":"a","agentVersion":"1",
		"mainThread":"0","threads":{"0":{"stack":[{"funcName":"main.main"}]}},"classifiers":["E"],
		"attributes":{"error.message":%q,"n":7}}`, id, message)
}

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// writer is an admin of an organization.
func writer(org int64) account.Writer {
	return account.Writer{OrganizationID: org, Admin: true, AllTeams: true, Actor: account.CLI()}
}
