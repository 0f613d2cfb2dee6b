package session_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/intake"
	"github.com/slipway-qa/slipway/api/route/routetest"
	api "github.com/slipway-qa/slipway/api/session"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is an app with a build and a token, and the room.
type world struct {
	*fixture.Fixture
	engine *gin.Engine
	build  *distribution.Build
	token  string

	owner, member, tester, stranger *auth.Caller
}

func newWorld(t testing.TB) *world {
	t.Helper()
	f := fixture.New(t)
	store, err := session.New(f.DB, session.Bounds{Events: 2000})
	require.NoError(t, err)
	h, err := api.New(api.Config{Store: store, Objects: f.Objects(), Links: link.New(fixture.PublicURL), Keys: f.Keys, Region: fixture.Region,
		Leaks: intake.NewLeaks(f.DB, letter.New(letter.Config{Links: link.New(fixture.PublicURL)}), slog.New(slog.DiscardHandler))})
	require.NoError(t, err)
	t.Cleanup(h.Close)
	w := &world{Fixture: f, engine: routetest.Engine(routetest.ByContext, h.Routes()...),
		build: f.Upload(f.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Build}
	w.owner = &auth.Caller{OrganizationID: f.Org.ID, UserID: f.Org.Owner.ID, Email: "owner@example.com", Role: account.Owner}
	w.member = &auth.Caller{OrganizationID: f.Org.ID, UserID: f.Org.Member.ID, Email: "member@example.com", Role: account.Member,
		Teams: []account.TeamPlace{{ID: f.Org.Team.ID}}}
	w.tester = &auth.Caller{OrganizationID: f.Org.ID, UserID: f.Org.Member.ID, Email: "tester@example.com", Role: account.Tester}
	w.stranger = &auth.Caller{OrganizationID: f.Rival.ID, UserID: f.Rival.Owner.ID, Email: "owner@rival.example.com", Role: account.Owner}
	w.token = w.newToken(w.build.ProjectID)
	return w
}

// newToken makes a token of an app of the organization.
func (w *world) newToken(project int64, scopes ...string) (text string) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, secret, err := session.CreateToken(ctx, tx, w.Org.Owner.Writer, w.Keys, session.NewToken{ProjectID: project, Scopes: scopes}, nil)
		text = secret.Text
		return err
	})
	return text
}

// do sends a request; headers are name and value in turn.
func (w *world) do(as *auth.Caller, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	w.T.Helper()
	ctx := w.T.Context()
	if as != nil {
		ctx = auth.WithCaller(ctx, as, "")
	}
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	r.RemoteAddr = "192.0.2.9:1"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

// sdk sends a request with the token and returns the members of its answer.
func (w *world) sdk(method, path, body string, headers ...string) (int, map[string]any) {
	w.T.Helper()
	rec := w.do(nil, method, path, body, append([]string{api.TokenHeader, w.token}, headers...)...)
	return rec.Code, object(w.T, rec)
}

func object(t testing.TB, rec *httptest.ResponseRecorder) map[string]any {
	t.Helper()
	var answer map[string]any
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body.String())
	return answer
}

// refused requires a failure of versions 1 and 2.
func refused(t testing.TB, rec *httptest.ResponseRecorder, status, code int, text string) {
	t.Helper()
	require.Equal(t, status, rec.Code, rec.Body.String())
	answer := object(t, rec)
	require.Equal(t, "fail", answer["status"])
	require.EqualValues(t, code, answer["code"])
	require.Contains(t, answer["message"], text)
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

// lines is the body of a batch with that many log lines.
func lines(seq, n int) string {
	events := make([]string, n)
	for i := range events {
		events[i] = fmt.Sprintf(`{"type":"log","time":1795000000,"text":"line %d"}`, i)
	}
	return fmt.Sprintf(`{"seq":%d,"events":[%s]}`, seq, strings.Join(events, ","))
}

func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// form is a multipart body: fields as name and value in turn, and a file unless it is nil.
func form(t testing.TB, file []byte, fields ...string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, w.WriteField(fields[i], fields[i+1]))
	}
	if file != nil {
		part, err := w.CreateFormFile("screenshot", "screen.png")
		require.NoError(t, err)
		_, err = part.Write(file)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String(), w.FormDataContentType()
}

func serve(h http.Handler, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	return rec
}
