package install_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(servicetest.Main(m))
}

const (
	public  = "https://qa.example.com"
	onPhone = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36"
	onApple = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 " +
		"Safari/604.1"
	onPC = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
)

// world is an organization with an owner and its pages, behind a router.
type world struct {
	t       testing.TB
	db      *storage.DB
	objects *object.Folder
	router  *gin.Engine
	log     *logText
	later   atomic.Int64 // what the clock is ahead by, nanoseconds
	org     int64
	team    int64
	owner   int64
}

// logText is a log that tests read.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newWorld(t testing.TB, publicURL string) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t), log: &logText{}}
	store, err := object.Open(t.Context(), object.Config{URL: t.TempDir(), PublicURL: publicURL, SigningKey: bytes.Repeat([]byte("k"), 32)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	w.objects = store.(*object.Folder)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "ships", Name: "Example Ships"})
		if err != nil {
			return err
		}
		w.org = o.ID
		team, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.org, Name: "Harbour"})
		if err != nil {
			return err
		}
		w.team = team.ID
		return nil
	})
	w.owner = w.member("owner@example.com", account.Owner)
	w.serve(publicURL)
	return w
}

// serve makes the pages at a public URL; changes may alter their settings.
func (w *world) serve(publicURL string, changes ...func(*install.Config)) {
	cfg := install.Config{DB: w.db, Objects: w.objects, Links: link.New(publicURL), PublicURL: publicURL,
		Log: slog.New(slog.NewTextHandler(w.log, nil)), SignInTime: time.Millisecond, SignInsPerMinute: 1000,
		Now: func() time.Time { return time.Now().Add(time.Duration(w.later.Load())) }}
	for _, change := range changes {
		change(&cfg)
	}
	h, err := install.New(cfg)
	require.NoError(w.t, err)
	g := routetest.Engine(nil, h.Routes()...)
	g.GET("/objects/*key", gin.WrapH(w.objects.ServeSigned()))
	w.router = g
}

// still stops the clock, but for what later adds: what an address is allowed comes back with time, and
// a machine may be slow.
func (w *world) still(cfg *install.Config) {
	now := time.Now()
	cfg.Now = func() time.Time { return now.Add(time.Duration(w.later.Load())) }
}

func (w *world) tx(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	ctx := w.t.Context()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

func (w *world) member(email string, role account.Role) (id int64) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.org, Email: email, Role: role})
		if err == nil {
			id = u.ID
		}
		return err
	})
	return id
}

func (w *world) block(user int64, blocked bool) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		if blocked {
			return account.BlockUser(ctx, tx, account.CLI(), w.org, user)
		}
		return account.UnblockUser(ctx, tx, account.CLI(), w.org, user)
	})
}

// put stores an object and gives what the row of its file needs.
func (w *world) put(body []byte, contentType string) storedfile.NewFile {
	w.t.Helper()
	key := storedfile.Prefix + uuid.NewString()
	_, err := object.Put(w.t.Context(), w.objects, key, bytes.NewReader(body), int64(len(body)), object.WriteOptions{ContentType: contentType})
	require.NoError(w.t, err)
	sum := sha256.Sum256(body)
	return storedfile.NewFile{Key: key, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:]), ContentType: contentType}
}

// upload stores version 1.2.3 of an Android app; change may alter it.
func (w *world) upload(change func(*distribution.Upload)) *distribution.Uploaded {
	w.t.Helper()
	u := distribution.Upload{Writer: account.Writer{OrganizationID: w.org, Actor: account.Actor{UserID: w.owner,
		Name: "owner@example.com"}, AllTeams: true, Teams: []int64{w.team}},
		Via: "v3", TeamID: w.team, FileName: "harbour-1.2.3.apk", LandingPageMode: landing.Open, Slug: "harbour-notes",
		ReleaseNotes: "- **Offline** notes\n- <script>alert(1)</script>",
		Package: &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "Harbour Notes", PackageName: "com.example.harbour",
			Version: "1.2.3", VersionCode: "10203", MinOSVersion: "26", ABIs: []string{"arm64-v8a"},
			Signer: &artifact.Signer{Scheme: "v2", SHA256: strings.Repeat("ab", 32)}}}
	u.File = w.put(bytes.Repeat([]byte("package "), 4000), "application/octet-stream")
	if change != nil {
		change(&u)
	}
	var made *distribution.Uploaded
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = distribution.CreateBuild(ctx, tx, u)
		return err
	})
	return made
}

// apple makes the upload one of an iOS app.
func apple(u *distribution.Upload) {
	u.FileName, u.Slug = "Harbour & Sons.ipa", "harbour-ios"
	u.Package.Kind, u.Package.Platform, u.Package.MinOSVersion = artifact.IPA, artifact.IOS, "16.0"
	u.Package.Name = "Harbour & <Sons>"
	u.Package.Signer, u.Package.ABIs = nil, nil
	u.Package.Provisioning = &artifact.Provisioning{Name: "Ad Hoc", Type: "ad-hoc", TeamName: "Ships",
		Expires: time.Now().Add(100 * 24 * time.Hour), Devices: []string{"00008030-001A2B3C4D5E6F70"}}
}

func closed(u *distribution.Upload) { u.LandingPageMode = landing.Closed }

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err)
}

func (w *world) downloads(build int64) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, `select downloads from builds where id = $1`, build))
	return n
}

// squares is a PNG.
func squares(t *testing.T) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range 64 * 64 {
		m.Set(i%64, i/64, color.NRGBA{R: uint8(i), G: 90, B: 200, A: 255})
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// request asks as a browser on its own page does.
type request struct {
	method, path, agent string
	form                url.Values
	header              map[string]string
	cookie              *http.Cookie
}

func (w *world) do(r request) *httptest.ResponseRecorder {
	w.t.Helper()
	body := strings.NewReader(r.form.Encode())
	method := r.method
	if method == "" {
		method = http.MethodGet
		if r.form != nil {
			method = http.MethodPost
		}
	}
	req := httptest.NewRequestWithContext(w.t.Context(), method, public+r.path, body)
	req.Header.Set("User-Agent", r.agent)
	if r.form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if r.cookie != nil {
		req.AddCookie(r.cookie)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, req)
	return rec
}

func (w *world) get(path, agent string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.do(request{path: path, agent: agent})
}

// mails are the mails written so far, oldest first.
func (w *world) mails() []mail.Mail {
	w.t.Helper()
	list, _, err := mail.List(w.t.Context(), w.db, 100, 0)
	require.NoError(w.t, err)
	slices.Reverse(list)
	for i := range list {
		whole, err := mail.ByID(w.t.Context(), w.db, list[i].ID) // a list has no HTML
		require.NoError(w.t, err)
		list[i] = *whole
	}
	return list
}

// linkIn is the path of the sign-in link in a mail.
func (w *world) linkIn(m mail.Mail) string {
	w.t.Helper()
	_, rest, found := strings.Cut(m.TextBody, "/session/")
	require.True(w.t, found, m.TextBody)
	return "/session/" + strings.Fields(rest)[0]
}

// signIn goes the whole way for a member and gives the session's cookie.
func (w *world) signIn(page, email string) *http.Cookie {
	w.t.Helper()
	require.Equal(w.t, http.StatusOK, w.do(request{path: page + "/sign-in", form: url.Values{"email": {email}}}).Code)
	list := w.mails()
	rec := w.do(request{path: w.linkIn(list[len(list)-1]), form: url.Values{}})
	require.Equal(w.t, http.StatusSeeOther, rec.Code, rec.Body)
	require.Equal(w.t, page, rec.Header().Get("Location"))
	cookies := rec.Result().Cookies()
	require.Len(w.t, cookies, 1)
	return cookies[0]
}
