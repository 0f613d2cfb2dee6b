package upload

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/api/symbol"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	inspection.RunChild()
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// inspector reads the files of all tests: its children are few.
var inspector = sync.OnceValue(func() *inspection.Inspector {
	i, err := inspection.New(inspection.Config{Timeout: 5 * time.Minute, Log: slog.New(slog.DiscardHandler)}) // on a busy machine
	if err != nil {
		panic(err)
	}
	return i
})

// noise is n bytes that differ by seed.
func noise(n int, seed byte) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(out)
	return out
}

// world is a server with one organization.
type world struct {
	t     testing.TB
	db    *storage.DB
	store object.Store
	dir   string // of a folder store
	minio string // URL of the other kind
	boot  *account.Bootstrap
	keys  *account.Issuer
	url   string
	h     *Handlers
}

// unauthenticated counts the uploads without a key that are admitted.
func (h *Handlers) unauthenticated() int64 { return h.held(0) }

// held counts the slots of an organization.
func (h *Handlers) held(organization int64) int64 {
	for _, o := range h.rooms.slots.Stats(100).Organizations {
		if o.Organization == organization {
			return o.Held
		}
	}
	return 0
}

// newWorld serves the handlers on a folder store, or on MinIO.
func newWorld(t testing.TB, minio bool, change func(*Config)) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), dir: t.TempDir()}
	target := w.dir
	if minio {
		w.minio = servicetest.Minio(t)
		target = w.minio
	}
	var err error
	w.store, err = object.Open(t.Context(), object.Config{URL: target, CreateBucket: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.store.Close()) })
	w.keys, err = account.NewIssuer("local", nil)
	require.NoError(t, err)
	w.boot, err = account.NewBootstrap(w.keys, "")
	require.NoError(t, err)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, w.boot, "local")
	})
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local"})
	require.NoError(t, err)
	cfg := Config{Auth: authenticator, DB: w.db, Objects: w.store, Links: link.New("https://qa.test"),
		Inspect: inspector().Package, InspectSymbols: inspector().Symbols, Symbols: symbol.NewStore(w.db, nil, nil), SymbolView: symbol.View,
		BuildView: func(b *distribution.Build) any { return map[string]any{"id": b.ID, "version": b.Version} }}
	if change != nil {
		change(&cfg)
	}
	w.h, err = New(cfg)
	require.NoError(t, err)
	engine := gin.New()
	// Like the router, which responds to a panic with an internal error.
	engine.Use(gin.CustomRecoveryWithWriter(nil, func(c *gin.Context, cause any) {
		respond.Error(c, respond.InterfaceLegacy, fmt.Errorf("panic: %v", cause))
	}), func(c *gin.Context) {
		c.Request = c.Request.WithContext(c.Request.Context()) // net/http looks at the body that it has set
		pace.Start(c, pace.DefaultGrace, time.Now().Add(time.Hour))
	})
	for _, r := range w.h.Routes() {
		engine.POST(r.Path, r.Serve)
		engine.POST(r.Path+"/", r.Serve)
	}
	for _, r := range w.h.Resumable().Routes() {
		guard, err := authenticator.Require(r.Interface, r.Action)
		require.NoError(t, err)
		engine.Handle(r.Method, r.Path, guard, r.Serve)
	}
	url, end := routetest.Listen(engine)
	t.Cleanup(end)
	w.url = url
	return w
}

func (w *world) tx(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// user creates a user of a role with an API key.
func (w *world) user(email string, role account.Role) (id int64, key string) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		team := w.boot.Team.ID
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.boot.Organization.ID,
			Email: email, Role: account.Member, TeamID: team})
		if err != nil {
			return err
		}
		_, s, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.boot.Organization.ID, UserID: u.ID, Kind: account.KindAPI})
		if err != nil {
			return err
		}
		id, key = u.ID, s.Text
		if role == account.Member {
			return nil
		}
		return account.SetRole(ctx, tx, account.CLI(), w.boot.Organization.ID, u.ID, role)
	})
	return id, key
}

// field is a part of a form, a file when file is not nil.
type field struct {
	name, text string
	file       []byte
	fileName   string
}

func textField(name, value string) field { return field{name: name, text: value} }

func file(name, fileName string, content []byte) field {
	return field{name: name, file: content, fileName: fileName}
}

func encodeForm(fields []field) (body []byte, contentType string) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for _, f := range fields {
		var part io.Writer
		if f.file == nil {
			part, _ = m.CreateFormField(f.name)
			_, _ = part.Write([]byte(f.text))
			continue
		}
		part, _ = m.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename="%s"`, f.name, f.fileName)},
			"Content-Type":        {"application/octet-stream"}})
		_, _ = part.Write(f.file)
	}
	_ = m.Close()
	return b.Bytes(), m.FormDataContentType()
}

// post sends a form and returns status and body.
func (w *world) post(path string, headers map[string]string, fields ...field) (int, map[string]any) {
	w.t.Helper()
	body, kind := encodeForm(fields)
	return w.send(path, headers, kind, body)
}

func (w *world) send(path string, headers map[string]string, kind string, body []byte) (int, map[string]any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, bytes.NewReader(body))
	require.NoError(w.t, err)
	r.Header.Set("Content-Type", kind)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	var out map[string]any
	require.NoError(w.t, json.Unmarshal(raw, &out), string(raw))
	return res.StatusCode, out
}

// upload posts to the upload interface and expects success.
func (w *world) upload(fields ...field) map[string]any {
	w.t.Helper()
	status, out := w.post("/api/upload/", nil, fields...)
	require.Equal(w.t, 200, status, out)
	require.Equal(w.t, "ok", out["status"])
	return out
}

// notes are the warnings of an answer but for what devices will refuse of the tests'
// packages, which nobody signed.
func notes(answer map[string]any) []any {
	list := []any{}
	for _, one := range answer["warnings"].([]any) {
		unsigned := strings.HasPrefix(one.(string), "No provisioning profile") || strings.HasPrefix(one.(string), "No signature was found")
		if !unsigned && !strings.HasPrefix(one.(string), "The version is not above") {
			list = append(list, one)
		}
	}
	return list
}

func (w *world) key() field { return textField("api_key", w.boot.Owner.APIKey) }

// objects are the keys in the store.
func (w *world) objects() []string {
	w.t.Helper()
	all, err := w.store.List(w.t.Context(), "", "", 1000)
	require.NoError(w.t, err)
	keys := []string{}
	for _, info := range all {
		keys = append(keys, info.Key)
	}
	return keys
}

// unfinished counts the writes that were not ended; of MinIO's, it ends them.
func (w *world) unfinished() int {
	w.t.Helper()
	if _, ok := w.store.(*object.S3); ok {
		n, err := w.store.Sweep(w.t.Context(), -time.Hour)
		require.NoError(w.t, err)
		return n
	}
	entries, err := os.ReadDir(w.dir + "/tmp")
	require.NoError(w.t, err)
	return len(entries)
}

func (w *world) count(query string, args ...any) int {
	w.t.Helper()
	var n int
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

// nothingKept waits for a request's end: neither build nor object is left.
func (w *world) nothingKept() {
	w.t.Helper()
	require.Eventually(w.t, w.h.idle, waitFor, tick, "an upload is still received")
	require.Zero(w.t, w.unfinished(), "an unfinished write is left")
	require.Eventually(w.t, func() bool { return len(w.objects()) == 0 }, waitFor, tick, "objects are left")
	require.Zero(w.t, w.count(`select count(*) from builds`))
	require.Zero(w.t, w.count(`select count(*) from files`))
	require.Zero(w.t, w.count(`select count(*) from projects`))
}

// idle reports whether no upload is being received.
func (h *Handlers) idle() bool {
	return h.rooms.slots.Stats(0).Held == 0 && h.rooms.bytes.Stats(0).Held == 0
}

func zipped(names map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range names {
		f, _ := z.Create(name)
		_, _ = f.Write([]byte(content))
	}
	_ = z.Close()
	return b.Bytes()
}

// ipa returns an app of the bundle id and version; extra bytes make it large.
func ipa(bundle, version string, extra ...[]byte) []byte {
	files := map[string]string{"Payload/Demo.app/Info.plist": infoPlist(bundle, version), "Payload/Demo.app/Demo": string(machO())}
	for i, content := range extra {
		files[fmt.Sprintf("Payload/Demo.app/data%d", i)] = string(content)
	}
	return zipped(files)
}

func infoPlist(bundle, version string) string {
	return `<?xml version="1.0"?><plist version="1.0"><dict>
<key>CFBundleIdentifier</key><string>` + bundle + `</string><key>CFBundleName</key><string>Demo</string>
<key>CFBundleExecutable</key><string>Demo</string><key>CFBundleVersion</key><string>45</string>
<key>CFBundleShortVersionString</key><string>` + version + `</string><key>MinimumOSVersion</key><string>15.0</string>
</dict></plist>`
}

// machO is a file of arm64 whose UUID is sixteen times the byte 0xab.
func machO() []byte {
	var raw []byte
	for _, v := range []uint32{0xfeedfacf, 0x0100000c, 0, 2, 1, 24, 0, 0, 0x1b, 24} {
		raw = binary.LittleEndian.AppendUint32(raw, v)
	}
	return append(raw, bytes.Repeat([]byte{0xab}, 16)...)
}

func dSYM() []byte {
	return zipped(map[string]string{"Demo.app.dSYM/Contents/Resources/DWARF/Demo": string(machO()),
		"Demo.app.dSYM/Contents/Info.plist": "<plist/>"})
}

// A request is over for its sender a moment before it is for the server.
const (
	waitFor = time.Minute
	tick    = 10 * time.Millisecond
)

const mappingText = "# compiler: R8\n# compiler_version: 8.1.56\n# pg_map_id: 1a2b3c4\ncom.example.A -> a:\n    void b() -> c\n"

func code(out map[string]any) int {
	n, _ := out["code"].(float64)
	return int(n)
}

// newUpload is one without a connection.
func (w *world) newUpload() *upload {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, "/", nil)
	return w.h.begin(c, respond.InterfaceLegacy)
}
