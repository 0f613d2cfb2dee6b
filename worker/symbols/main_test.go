package symbols

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/child"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

func TestMain(m *testing.M) {
	parse.RunChild()
	os.Exit(servicetest.Main(m))
}

// world is an organization with an object store and children.
type world struct {
	t       *testing.T
	db      *storage.DB
	ledger  *ledger.Store
	objects object.Store
	handler *Index
	org     int64
	project int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	var err error
	w.ledger = ledger.New(w.db)
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	pool, err := child.NewPool(child.Config{Children: 2, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	w.org = w.organization("one")
	require.NoError(t, w.db.GetContext(t.Context(), &w.project,
		`insert into crash_projects (organization_id, name) values ($1, 'p') returning id`, w.org))
	w.handler = &Index{DB: w.db, Objects: w.objects, Children: pool, Folder: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	return w
}

func (w *world) organization(slug string) (id int64) {
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &id,
		`insert into organizations (uuid, slug, name) values ($1, $2, $2) returning id`, uuid.New(), slug))
	return id
}

// upload stores an upload and its task.
func (w *world) upload(data string, change func(*symbolfile.New)) *symbolfile.Upload {
	w.t.Helper()
	sum := sha256.Sum256([]byte(data))
	key := storedfile.Prefix + uuid.NewString()
	_, err := object.Put(w.t.Context(), w.objects, key, bytes.NewReader([]byte(data)), int64(len(data)), object.WriteOptions{})
	require.NoError(w.t, err)
	n := symbolfile.New{OrganizationID: w.org, Name: "upload", Source: symbolfile.SourceAPI, TaskID: uuid.Must(uuid.NewV7()),
		File: storedfile.NewFile{Key: key, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])}}
	if change != nil {
		change(&n)
	}
	var stored *symbolfile.Stored
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		if stored, err = symbolfile.Insert(w.t.Context(), tx, n); err != nil || !stored.Pending {
			return err
		}
		task := tasks.NewSymbolIndex(n.OrganizationID, "request", stored.Upload.ID, n.File.SHA256)
		task.ID = n.TaskID
		_, err = ledger.Insert(w.t.Context(), tx, task)
		return err
	}))
	return &stored.Upload
}

func (w *world) claim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	w.t.Helper()
	claimed, err := w.ledger.Claim(w.t.Context(), ledger.ClaimRequest{ID: id, Kind: kind.Name, Worker: "w", KeyLimit: kind.KeyLimit})
	require.NoError(w.t, err)
	if len(claimed) == 0 {
		return nil
	}
	return worker.NewClaim(w.db, claimed)
}

// index runs the task of an upload and returns the upload as it is then.
func (w *world) index(u *symbolfile.Upload) *symbolfile.Upload {
	w.t.Helper()
	claim := w.claim(tasks.SymbolIndex, *u.TaskID)
	require.NotNil(w.t, claim)
	require.NoError(w.t, w.handler.Handle(w.t.Context(), claim))
	return w.reread(u)
}

func (w *world) reread(u *symbolfile.Upload) *symbolfile.Upload {
	w.t.Helper()
	u, err := symbolfile.UploadForTask(w.t.Context(), w.db, u.ID)
	require.NoError(w.t, err)
	return u
}

func (w *world) files(u *symbolfile.Upload) []symbolfile.File {
	w.t.Helper()
	files, err := symbolfile.FilesOf(w.t.Context(), w.db, u.ID)
	require.NoError(w.t, err)
	return files
}

// identifiers lists those of an upload as path type=value@release.
func (w *world) identifiers(u *symbolfile.Upload) (all []string) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &all, `
		select sf.path || ' ' || i.type || '=' || i.value || case when i.release = '' then '' else '@' || i.release end
		from symbol_identifiers i join symbol_files sf on sf.id = i.symbol_file_id where sf.symbol_id = $1 order by 1`, u.ID))
	return all
}

func (w *world) result(u *symbolfile.Upload) (r IndexResult) {
	w.t.Helper()
	row, err := w.ledger.Get(w.t.Context(), ledger.Scope{}, *u.TaskID)
	require.NoError(w.t, err)
	require.Equal(w.t, ledger.Succeeded, row.State)
	if row.Result != nil {
		require.NoError(w.t, json.Unmarshal(*row.Result, &r))
	}
	return r
}

// indexes lists the keys of stored indexes.
func (w *world) indexes() (keys []string) {
	w.t.Helper()
	list, err := w.objects.List(w.t.Context(), symbolfile.IndexPrefix, "", object.MaxList)
	require.NoError(w.t, err)
	for _, info := range list {
		keys = append(keys, info.Key)
	}
	return keys
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err)
}

// tampered is Children that does something else than the child.
type tampered struct {
	Children
	do func(operation string, args any) error // nil: what the child does
}

func (c *tampered) Do(ctx context.Context, operation string, args, result any) error {
	if err := c.do(operation, args); err != nil {
		return err
	}
	return c.Children.Do(ctx, operation, args, result)
}

const aMapping = `# compiler: R8
# pg_map_id: 7a3f5c1
# pg_map_hash: SHA-256 7a3f5c1d2e
org.example.Main -> a.a:
    1:3:void run(int):10:12 -> a
`

func invalid(code, reason string) error { return &symbol.InvalidError{Code: code, Reason: reason} }
