package symbol_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	symbolid "github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is two organizations behind the room's routes.
type world struct {
	t            *testing.T
	db           *storage.DB
	objects      object.Store
	store        *symbol.Store
	ledger       *ledger.Store
	awaited      sync.Map // ids of tasks that requests wait for
	ours, theirs *account.Bootstrap
	url          string
	member       string // a key
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	var err error
	w.objects, err = object.Open(t.Context(), object.Config{URL: t.TempDir(), SigningKey: bytes.Repeat([]byte("k"), 32),
		PublicURL: "https://qa.test/objects"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.objects.Close() })
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	bootstrap := func(slug string) *account.Bootstrap {
		b, err := account.NewBootstrap(keys, "")
		require.NoError(t, err)
		b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
		w.tx(func(ctx context.Context, tx *storage.Tx) error {
			return crashproject.ApplyBootstrap(ctx, tx, b, "local")
		})
		return b
	}
	w.ours, w.theirs = bootstrap("ours"), bootstrap("theirs")
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: "m@example.com", Role: account.Member})
		if err != nil {
			return err
		}
		_, s, err := account.RotateKey(ctx, tx, account.CLI(), keys, account.NewKey{OrganizationID: w.ours.Organization.ID,
			UserID: u.ID, Kind: account.KindAPI})
		w.member = s.Text
		return err
	})
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w.store = symbol.NewStore(w.db, nil, nil)
	w.ledger = ledger.New(w.db)
	watcher := wait.NewWatcher(wait.Config{Interval: 5 * time.Millisecond, Ended: func(ctx context.Context,
		ids []uuid.UUID) ([]uuid.UUID, error) {
		for _, id := range ids {
			w.awaited.Store(id, true)
		}
		return w.ledger.Ended(ctx, ids)
	}})
	go watcher.Run(t.Context())
	h, err := symbol.New(symbol.Config{Store: w.store, Objects: w.objects, Auth: authenticator, Ledger: w.ledger,
		Watcher: watcher, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	engine := gin.New()
	for _, r := range h.Routes() {
		handlers := []gin.HandlerFunc{}
		if r.Action != "" {
			guard, err := authenticator.Require(r.Interface, r.Action)
			require.NoError(t, err)
			handlers = append(handlers, guard)
		}
		handlers = append(handlers, r.Serve)
		engine.Handle(r.Method, r.Path, handlers...)
		if r.Method == http.MethodGet {
			engine.Handle(http.MethodHead, r.Path, handlers...)
		}
	}
	server := httptest.NewServer(engine)
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *world) tx(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// add stores an upload with an object.
func (w *world) add(organization int64, name string, content []byte, change func(*symbolfile.New)) *symbolfile.Stored {
	w.t.Helper()
	key := storedfile.Prefix + storage.NewID().String()
	_, err := object.Put(w.t.Context(), w.objects, key, bytes.NewReader(content), int64(len(content)), object.WriteOptions{})
	require.NoError(w.t, err)
	n := symbolfile.New{OrganizationID: organization, Name: name, Source: symbolfile.SourceAPI, Actor: account.CLI(),
		File: storedfile.NewFile{Key: key, Size: int64(len(content)), SHA256: storage.NewID().String(),
			ContentType: "application/octet-stream"}}
	if change != nil {
		change(&n)
	}
	stored, err := w.store.Add(w.t.Context(), n)
	require.NoError(w.t, err)
	return stored
}

// index records debug files of an upload, as the task does.
func (w *world) index(upload int64, files ...symbolfile.File) {
	w.t.Helper()
	for i := range files {
		if files[i].State == "" {
			files[i].State = symbolfile.Indexed
		}
		if files[i].Features == nil {
			files[i].Features = []string{}
		}
	}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return symbolfile.RecordFiles(ctx, tx, upload, files, "", "")
	})
}

func (w *world) do(method, path, key string, headers ...string) (int, http.Header, []byte) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	require.NoError(w.t, err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(w.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(w.t, err)
	return resp.StatusCode, resp.Header, body
}

func (w *world) json(method, path, key string) (int, map[string]any) {
	w.t.Helper()
	status, _, body := w.do(method, path, key)
	var doc map[string]any
	if len(body) > 0 {
		require.NoError(w.t, json.Unmarshal(body, &doc), string(body))
	}
	return status, doc
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

const buildID = "c0ffee0123456789c0ffee0123456789c0ffee01"

func elf(path, id string, features ...string) symbolfile.File {
	return symbolfile.File{Path: path, Kind: symbolid.ELF, Arch: "x86_64", Size: 3, SHA256: "s" + path, Features: features,
		IndexKey:    "symbols/1/" + strings.ReplaceAll(path, "/", "-") + "x",
		Identifiers: []symbolid.Identifier{{Type: symbolid.BuildID, Value: id}, {Type: symbolid.CodeID, Value: id}}}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestListAndFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org, project := w.ours.Organization.ID, w.ours.Crash.Project
	one := w.add(org, "libapp.so", []byte("elf"), nil)
	w.index(one.Upload.ID, elf("", buildID, "lines", "text"))
	two := w.add(org, "mapping 100%.txt", []byte("map"), func(n *symbolfile.New) { n.ProjectID, n.GivenID, n.Release = project, "AbC", "2.0" })
	w.index(two.Upload.ID, symbolfile.File{Kind: symbolid.ProGuard, State: symbolfile.Failed, ErrorCode: "malformed",
		Error: "line 3: no arrow", SHA256: "x"})
	w.add(org, "new.sym", []byte("new"), nil)
	w.add(w.theirs.Organization.ID, "theirs.sym", []byte("new"), nil)

	names := func(query string) (list []string) {
		status, doc := w.json("GET", "/api/v3/symbols"+query, w.member)
		require.Equal(t, 200, status, doc)
		for _, s := range doc["symbols"].([]any) {
			list = append(list, s.(map[string]any)["name"].(string))
		}
		return list
	}
	require.Equal(t, []string{"new.sym", "mapping 100%.txt", "libapp.so"}, names(""))
	require.Equal(t, []string{"libapp.so"}, names("?state=indexed"))
	require.Equal(t, []string{"mapping 100%.txt", "libapp.so"}, names("?state[]=indexed&state[]=failed"))
	require.Equal(t, []string{"mapping 100%.txt"}, names("?kind=proguard"))
	require.Equal(t, []string{"libapp.so"}, names("?identifier="+strings.ToUpper(buildID)))
	require.Equal(t, []string{"mapping 100%.txt"}, names("?identifier=abc"))
	require.Equal(t, []string{"mapping 100%.txt"}, names("?crash_project_id="+itoa(project)))
	require.Equal(t, []string{"mapping 100%.txt"}, names("?search=100%25"))
	require.Empty(t, names("?search=_ibapp"))
	require.Equal(t, []string{"mapping 100%.txt"}, names("?per_page=1&page=2"))
	require.Empty(t, names("?build_id=7"))
	for _, query := range []string{"?states=indexed", "?state=done", "?kind=x", "?crash_project_id=a", "?per_page=0",
		"?search=" + strings.Repeat("x", 600)} {
		status, _ := w.json("GET", "/api/v3/symbols"+query, w.member)
		require.Equal(t, 400, status, query)
	}
	status, doc := w.json("GET", "/api/v3/symbols/"+itoa(two.Upload.ID), w.member)
	require.Equal(t, 200, status)
	got := doc["symbol"].(map[string]any)
	require.Equal(t, "failed", got["state"])
	require.Equal(t, []any{"AbC", "2.0", float64(project), two.Upload.TaskID.String()},
		[]any{got["given_id"], got["release"], got["crash_project_id"], got["task_id"]})
	require.Equal(t, map[string]any{"code": "malformed", "reason": "line 3: no arrow"}, got["files"].([]any)[0].(map[string]any)["error"])
	status, doc = w.json("GET", "/api/v3/symbols/"+itoa(one.Upload.ID), w.member)
	require.Equal(t, 200, status)
	file := doc["symbol"].(map[string]any)["files"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"lines", "text"}, file["features"])
	require.Equal(t, map[string]any{"type": "build_id", "value": buildID}, file["identifiers"].([]any)[0])
	for _, path := range []string{"", "/download"} {
		status, _ = w.json("GET", "/api/v3/symbols/"+itoa(one.Upload.ID)+path, w.theirs.Owner.APIKey)
		require.Equal(t, 404, status)
		status, _ = w.json("GET", "/api/v3/symbols/"+itoa(one.Upload.ID)+path, "")
		require.Equal(t, 401, status)
	}
	status, doc = w.json("GET", "/api/v3/symbols/"+itoa(one.Upload.ID)+"/download", w.member)
	require.Equal(t, 200, status)
	require.Contains(t, doc["url"], "https://qa.test/objects/")
}

func TestDeleteAndIndexAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	one := w.add(org, "a", []byte("one"), nil)
	two := w.add(org, "b", []byte("two"), nil)
	shared, own := elf("shared", buildID, "lines"), elf("own", buildID)
	w.index(one.Upload.ID, shared, own)
	w.index(two.Upload.ID, shared)
	for _, key := range []string{shared.IndexKey, own.IndexKey} {
		_, err := object.Put(t.Context(), w.objects, key, strings.NewReader("i"), 1, object.WriteOptions{})
		require.NoError(t, err)
	}
	path := "/api/v3/symbols/" + itoa(one.Upload.ID)
	status, _ := w.json("DELETE", path, w.member)
	require.Equal(t, 403, status, "it takes an admin")
	status, _ = w.json("DELETE", path, w.theirs.Owner.APIKey)
	require.Equal(t, 404, status)
	status, _ = w.json("DELETE", path, w.ours.Owner.APIKey)
	require.Equal(t, 204, status)
	status, _ = w.json("DELETE", path, w.ours.Owner.APIKey)
	require.Equal(t, 404, status)
	there := func(key string) bool {
		_, err := w.objects.Stat(t.Context(), key)
		return err == nil
	}
	require.Equal(t, []bool{false, false, true, true}, []bool{there(one.Upload.ObjectKey), there(own.IndexKey),
		there(shared.IndexKey), there(two.Upload.ObjectKey)})
	require.Equal(t, 1, w.count(`select count(*) from files where organization_id = $1`, org))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = 1541`))
	unnamed, err := symbolfile.UnnamedIndexes(t.Context(), w.db, []string{own.IndexKey, shared.IndexKey})
	require.NoError(t, err)
	require.Equal(t, []string{own.IndexKey}, unnamed)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		require.NoError(t, symbolfile.KeepIndexes(ctx, tx, org, []string{shared.IndexKey}))
		require.ErrorIs(t, symbolfile.KeepIndexes(ctx, tx, org, []string{own.IndexKey}), storage.ErrConflict)
		return nil
	})

	status, doc := w.json("POST", "/api/v3/symbols/"+itoa(two.Upload.ID)+"/index", w.member)
	require.Equal(t, 200, status, doc)
	require.Equal(t, "pending", doc["symbol"].(map[string]any)["state"])
	require.Equal(t, 1, w.count(`select count(*) from tasks where id = $1 and kind = 'symbol:index'`, doc["task_id"]))
	status, again := w.json("POST", "/api/v3/symbols/"+itoa(two.Upload.ID)+"/index", w.member)
	require.Equal(t, 200, status)
	require.Equal(t, doc["task_id"], again["task_id"], "it is pending already")
	status, _ = w.json("POST", "/api/v3/symbols/"+itoa(two.Upload.ID)+"/index", w.theirs.Owner.APIKey)
	require.Equal(t, 404, status)
}

func zipOf(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, _ := z.Create(files[i])
		_, _ = f.Write([]byte(files[i+1]))
	}
	_ = z.Close()
	return b.Bytes()
}

func tarGzOf(files ...string) []byte {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	z := tar.NewWriter(g)
	for i := 0; i < len(files); i += 2 {
		_ = z.WriteHeader(&tar.Header{Name: files[i], Size: int64(len(files[i+1])), Mode: 0o644})
		_, _ = z.Write([]byte(files[i+1]))
	}
	_ = z.Close()
	_ = g.Close()
	return b.Bytes()
}

func TestDebuginfod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	raw := w.add(org, "app.debug", []byte("raw"), nil)
	w.index(raw.Upload.ID, elf("", buildID, "lines", "functions"))
	const second = "aaaaaaaa0123456789c0ffee0123456789c0ffee"
	source := symbolfile.File{Path: "project-1/src/main.c", Kind: symbolid.Source, Size: 6, SHA256: "src"}
	zipped := w.add(org, "all.zip", zipOf("bin/app", "exe", "project-1/src/main.c", "int x;", "other/src/other.c", "o"), nil)
	w.index(zipped.Upload.ID, elf("bin/app", second, "text"), source)
	const third = "bbbbbbbb0123456789c0ffee0123456789c0ffee"
	packed := w.add(org, "all.tar.gz", tarGzOf("./first", "1", "./lib/libx.so", "tar"), nil)
	w.index(packed.Upload.ID, elf("lib/libx.so", third, "lines", "text"))

	get := func(path string, headers ...string) (int, string, http.Header) {
		status, header, body := w.do("GET", path, "", headers...)
		return status, string(body), header
	}
	prefix := "/debuginfod/" + w.member
	status, body, header := get(prefix + "/buildid/" + buildID + "/debuginfo")
	require.Equal(t, []any{200, "raw", "3", "app.debug"}, []any{status, body, header.Get("X-DEBUGINFOD-SIZE"),
		header.Get("X-DEBUGINFOD-FILE")})
	status, body, _ = get(prefix+"/buildid/"+buildID+"/debuginfo", "Range", "bytes=1-")
	require.Equal(t, []any{206, "aw"}, []any{status, body})
	status, body, header = get(prefix + "/buildid/" + second + "/executable")
	require.Equal(t, []any{200, "exe", "all.zip"}, []any{status, body, header.Get("X-DEBUGINFOD-ARCHIVE")})
	status, body, _ = get(prefix + "/buildid/" + third + "/debuginfo")
	require.Equal(t, []any{200, "tar"}, []any{status, body})
	status, body, _ = get(prefix + "/buildid/" + second + "/source/home/ci/build/src/main.c")
	require.Equal(t, []any{200, "int x;"}, []any{status, body})
	status, head, content := w.do("HEAD", prefix+"/buildid/"+third+"/debuginfo", "")
	require.Equal(t, []any{200, "3", 0}, []any{status, head.Get("Content-Length"), len(content)})

	// The other places of a key.
	status, body, _ = get("/debuginfod/buildid/"+buildID+"/debuginfo", "X-API-Key", w.member)
	require.Equal(t, []any{200, "raw"}, []any{status, body})
	status, body, _ = get("/buildid/"+buildID+"/debuginfo", "X-API-Key", w.member)
	require.Equal(t, []any{200, "raw"}, []any{status, body})
	req, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/buildid/"+buildID+"/debuginfo", nil)
	require.NoError(t, err)
	req.SetBasicAuth(w.member, "")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)

	for path, want := range map[string]int{
		prefix + "/buildid/" + second + "/debuginfo":                                  404, // it has none
		prefix + "/buildid/" + buildID + "/executable":                                404,
		prefix + "/buildid/" + buildID + "/section/.text":                             404,
		prefix + "/buildid/zz/debuginfo":                                              404,
		prefix + "/buildid/" + second + "/source/home/ci/other/main.c":                404,
		prefix + "/buildid/" + second + "/source/../../src/main.c":                    404,
		prefix + "/metrics":                                                           404,
		prefix:                                                                        404,
		"/debuginfod/buildid/" + buildID + "/debuginfo":                               401,
		"/debuginfod/slp_local_api_wrong/buildid/" + buildID + "/debuginfo":           401,
		"/debuginfod/" + w.theirs.Owner.APIKey + "/buildid/" + buildID + "/debuginfo": 404,
	} {
		status, body, header := get(path)
		require.Equal(t, want, status, path)
		require.Contains(t, header.Get("Content-Type"), "text/plain", path)
		require.NotEmpty(t, body)
		require.Equal(t, "no-store", header.Get("Cache-Control"), path)
	}
}

func TestSymbolServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	id := func(kind symbolid.IdentifierType, value string) []symbolid.Identifier {
		n, ok := (symbolid.Identifier{Type: kind, Value: value}).Normalize()
		require.True(t, ok, value)
		return []symbolid.Identifier{n}
	}
	const guid = "497B72F6390A44FC878E5A2D63B6CC4B"
	for name, f := range map[string]symbolfile.File{
		"app.pdb":   {Kind: symbolid.PDB, Identifiers: id(symbolid.DebugID, guid+"1")},
		"app.exe":   {Kind: symbolid.PE, Identifiers: id(symbolid.CodeID, "542D574Ec2000")},
		"app.sym":   {Kind: symbolid.Breakpad, Identifiers: id(symbolid.DebugID, guid+"1")},
		"libapp.so": {Kind: symbolid.ELF, Features: []string{"text"}, Identifiers: id(symbolid.CodeID, buildID)},
		"app.debug": {Kind: symbolid.ELF, Features: []string{"lines"}, Identifiers: id(symbolid.CodeID, buildID)},
		"App.dwarf": {Kind: symbolid.MachO, Features: []string{"functions"}, Identifiers: id(symbolid.CodeID, guid)},
	} {
		f.SHA256 = name
		w.index(w.add(org, name, []byte(name), nil).Upload.ID, f)
	}
	for path, want := range map[string]string{
		"app.pdb/" + guid + "1/app.pdb":                               "app.pdb",
		"app.pdb/" + strings.ToLower(guid) + "1/app.sym":              "app.sym",
		"APP.EXE/542d574EC2000/APP.EXE":                               "app.exe",
		"libapp.so/elf-buildid-" + buildID + "/libapp.so":             "libapp.so",
		"_.debug/elf-buildid-sym-" + buildID + "/_.debug":             "app.debug",
		"_.dwarf/mach-uuid-sym-" + strings.ToLower(guid) + "/_.dwarf": "App.dwarf",
		"app.pdb/" + guid + "1/app.pd_":                               "",
		"app.pdb/" + guid + "2/app.pdb":                               "",
		"app/mach-uuid-" + strings.ToLower(guid) + "/app":             "",
		"index2.txt":                     "",
		"app.pdb/" + guid + "1/file.ptr": "",
		"app.pdb/" + guid + "1":          "",
	} {
		status, _, body := w.do("GET", "/symbolserver/"+w.member+"/"+path, "")
		if want == "" {
			require.Equal(t, 404, status, path)
			continue
		}
		require.Equal(t, 200, status, path)
		require.Equal(t, want, string(body), path)
		status, _, body = w.do("GET", "/symbolserver/"+path, w.member)
		require.Equal(t, 200, status, path)
		require.Equal(t, want, string(body), path)
		status, _, _ = w.do("GET", "/symbolserver/"+path, w.theirs.Owner.APIKey)
		require.Equal(t, 404, status, path)
	}
}
