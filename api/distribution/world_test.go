package distribution_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	api "github.com/slipway-qa/slipway/api/distribution"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

const base = "https://qa.example.com"

// world is an organization with two teams and one of strangers.
type world struct {
	t       testing.TB
	db      *storage.DB
	objects *object.Folder
	engine  *gin.Engine
	ours    int64
	one     int64 // teams of ours
	two     int64

	owner    *auth.Caller // of the organization
	lead     *auth.Caller // admin of team one
	member   *auth.Caller // of team one
	neighbor *auth.Caller // of team two
	stranger *auth.Caller // admin of another organization
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	store, err := object.Open(t.Context(), object.Config{URL: t.TempDir(), PublicURL: base, SigningKey: make([]byte, 32)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	w.objects = store.(*object.Folder)
	var theirs int64
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		for slug, id := range map[string]*int64{"ours": &w.ours, "theirs": &theirs} {
			org, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: slug})
			require.NoError(t, err)
			*id = org.ID
		}
		for name, id := range map[string]*int64{"one": &w.one, "two": &w.two} {
			team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.ours, Name: name})
			require.NoError(t, err)
			*id = team.ID
		}
		return nil
	})
	w.owner = w.person(w.ours, "owner", account.Owner)
	w.lead = w.person(w.ours, "lead", account.Member, account.TeamPlace{ID: w.one, Admin: true}, account.TeamPlace{ID: w.two})
	w.member = w.person(w.ours, "member", account.Member, account.TeamPlace{ID: w.one})
	w.neighbor = w.person(w.ours, "neighbor", account.Member, account.TeamPlace{ID: w.two, Admin: true})
	w.stranger = w.person(theirs, "stranger", account.Owner)
	w.engine = w.router(api.Config{DB: w.db, Objects: store, Links: link.New(base), Vendor: "acme"})
	return w
}

func (w *world) tx(do func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error { return do(w.t.Context(), tx) }))
}

func (w *world) person(organization int64, name string, role account.Role, teams ...account.TeamPlace) *auth.Caller {
	var user *account.User
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		user, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: organization,
			Email: name + "@example.com", Role: role})
		return err
	})
	return &auth.Caller{OrganizationID: organization, UserID: user.ID, Email: name + "@example.com", Role: role, Teams: teams}
}

// router serves the room's routes to callers of the context.
func (w *world) router(cfg api.Config) *gin.Engine {
	return routetest.Engine(routetest.ByContext, api.New(cfg).Routes()...)
}

// writer is a caller who uploads.
func (w *world) writer(caller *auth.Caller) account.Writer {
	return auth.CallerOf(auth.WithCaller(w.t.Context(), caller, auth.UploadBuilds)).Writer(account.Actor{UserID: caller.UserID,
		Name: caller.Label()})
}

// build is a build of team one as an upload makes it; the options change it.
func (w *world) build(options ...func(*distribution.Upload)) *distribution.Uploaded {
	w.t.Helper()
	return w.buildOf([]byte("package "+uuid.NewString()), options...)
}

func (w *world) buildOf(data []byte, options ...func(*distribution.Upload)) *distribution.Uploaded {
	w.t.Helper()
	u := distribution.Upload{Writer: w.writer(w.member), Via: "upload", TeamID: w.one, File: w.file(data), FileName: "GroupShot.apk",
		Package: &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "GroupShot", PackageName: "com.groupshot",
			Version: "1.2", VersionCode: "20", MinOSVersion: "24"}}
	for _, option := range options {
		option(&u)
	}
	var up *distribution.Uploaded
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		up, err = distribution.CreateBuild(ctx, tx, u)
		return err
	})
	return up
}

func (w *world) file(data []byte) storedfile.NewFile {
	w.t.Helper()
	sum := sha256.Sum256(data)
	f := storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
		ContentType: "application/octet-stream"}
	_, err := object.Put(w.t.Context(), w.objects, f.Key, bytes.NewReader(data), f.Size, object.WriteOptions{})
	require.NoError(w.t, err)
	return f
}

func of(packageName string) func(*distribution.Upload) {
	return func(u *distribution.Upload) { u.Package.PackageName, u.Package.Name = packageName, packageName }
}

func version(name, code string) func(*distribution.Upload) {
	return func(u *distribution.Upload) { u.Package.Version, u.Package.VersionCode = name, code }
}

// inTwo uploads into team two.
func (w *world) inTwo(u *distribution.Upload) {
	u.Writer, u.TeamID = w.writer(w.neighbor), w.two
}

func (w *world) group(name string) int64 {
	var g *testergroup.Group
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		g, err = testergroup.Create(ctx, tx, account.CLI(), w.ours, name, false)
		return err
	})
	return g.ID
}

// requireLogin sets the switch of the organization.
func (w *world) requireLogin() {
	on := true
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := setting.Update(ctx, tx, account.CLI(), w.ours, setting.Change{RequireLogin: &on})
		return err
	})
}

func (w *world) state(build int64, state distribution.State, reason string) {
	_, err := w.db.ExecContext(w.t.Context(), `update builds set state = $2, state_reason = $3 where id = $1`, build, string(state), reason)
	require.NoError(w.t, err)
}

// call sends a request; a text that begins with { is JSON, another one a form.
func (w *world) call(as *auth.Caller, method, path, text string, headers ...string) *httptest.ResponseRecorder {
	return w.callOn(w.engine, as, method, path, text, headers...)
}

func (w *world) callOn(g http.Handler, as *auth.Caller, method, path, text string, headers ...string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithCaller(w.t.Context(), as, ""), method, path, strings.NewReader(text))
	switch {
	case strings.HasPrefix(text, "{"):
		r.Header.Set("Content-Type", body.TypeJSON)
	case text != "":
		r.Header.Set("Content-Type", body.TypeForm)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	g.ServeHTTP(rec, r)
	return rec
}

// ok sends a request that must be answered with the status.
func (w *world) ok(as *auth.Caller, status int, method, path, text string) map[string]any {
	w.t.Helper()
	return w.tree(w.call(as, method, path, text), status)
}

func (w *world) tree(rec *httptest.ResponseRecorder, status int) map[string]any {
	w.t.Helper()
	require.Equal(w.t, status, rec.Code, rec.Body.String())
	var tree map[string]any
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &tree), rec.Body.String())
	return tree
}

// refused sends a request that must be refused in the shape of version 3.
func (w *world) refused(as *auth.Caller, status int, method, path, text string, says ...string) {
	w.t.Helper()
	tree := w.ok(as, status, method, path, text)
	require.Len(w.t, tree, 1)
	for _, part := range says {
		require.Contains(w.t, tree["error"], part)
	}
}

// refused1 does so in the shape of versions 1 and 2.
func (w *world) refused1(as *auth.Caller, status, code int, method, path, text string, says ...string) {
	w.t.Helper()
	tree := w.ok(as, status, method, path, text)
	require.Equal(w.t, "fail", tree["status"])
	require.EqualValues(w.t, code, tree["code"], tree)
	for _, part := range says {
		require.Contains(w.t, tree["message"], part)
	}
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

func p(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func names(list any, member string) []any {
	var out []any
	for _, item := range list.([]any) {
		out = append(out, item.(map[string]any)[member])
	}
	return out
}

// requireTime checks a time of versions 1 and 2.
func requireTime(t *testing.T, value any) {
	t.Helper()
	at, err := time.Parse(time.DateTime, value.(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().UTC(), at, time.Minute)
}
