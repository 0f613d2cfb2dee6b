package install_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// send posts a feedback form; picture nil: none was chosen.
func (w *world) send(cookie *http.Cookie, members map[string]string, picture []byte) *httptest.ResponseRecorder {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range members {
		require.NoError(w.t, form.WriteField(name, value))
	}
	part, err := form.CreateFormFile("picture", "picture.png")
	require.NoError(w.t, err)
	_, err = part.Write(picture)
	require.NoError(w.t, err)
	require.NoError(w.t, form.Close())
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, public+"/me/feedback", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if cookie != nil {
		r.AddCookie(cookie)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, r)
	return rec
}

func TestFeedback(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(forAll).Build
	hidden := w.upload(func(u *distribution.Upload) { closed(u); apple(u) }).Build
	w.member("tess@example.com", account.Tester)
	w.hook()
	cookie := w.enter("tess@example.com")
	require.Contains(t, w.see(cookie, "/install/"+made.Token).Body.String(), `href="/me/feedback?build=`+made.Token+`"`)
	page := w.see(cookie, "/me/feedback?build="+made.Token).Body.String()
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(page)[1]

	members := map[string]string{"build": made.Token, "once": once, "text": "It <b>crashes</b>\r\nat the start"}
	for range 2 { // the second time by a reload
		rec := w.send(cookie, members, squares(t))
		require.Equal(t, http.StatusOK, rec.Code, rec.Body)
		require.Contains(t, rec.Body.String(), "Thank you")
	}
	var row struct {
		Text   string `db:"text"`
		Email  string `db:"email"`
		Source string `db:"source"`
		Key    string `db:"screenshot_key"`
	}
	require.NoError(t, w.db.GetContext(t.Context(), &row, `select text, email, source, screenshot_key from feedbacks`))
	require.Equal(t, "It <b>crashes</b>\nat the start", row.Text)
	require.Equal(t, []string{"tess@example.com", "page"}, []string{row.Email, row.Source})
	file, info, err := w.objects.Open(t.Context(), row.Key, 0, -1)
	require.NoError(t, err)
	defer file.Close()
	kept, err := io.ReadAll(file)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(kept, []byte("\x89PNG")))
	require.EqualValues(t, len(kept), info.Size)
	require.Equal(t, 1, w.count(`select feedbacks from builds where id = $1`, made.ID))
	require.Equal(t, 1, w.audited(account.FeedbackReceived))
	require.Equal(t, 1, w.count(`select count(*) from webhook_deliveries`))

	// A text alone, a picture alone, and nothing.
	require.Equal(t, http.StatusOK, w.send(cookie, map[string]string{"build": made.Token, "text": "again"}, nil).Code)
	require.Equal(t, http.StatusOK, w.send(cookie, map[string]string{"build": made.Token}, squares(t)).Code)
	require.Equal(t, 3, w.count(`select feedbacks from builds where id = $1`, made.ID))
	for why, c := range map[string]struct {
		text    string
		picture []byte
	}{
		"nothing":       {" ", nil},
		"a long text":   {strings.Repeat("x", 10_001), nil},
		"not a picture": {"kept <b>text</b>", []byte("<svg onload=alert(1)>")},
	} {
		rec := w.send(cookie, map[string]string{"build": made.Token, "text": c.text}, c.picture)
		require.Equal(t, http.StatusBadRequest, rec.Code, why)
		require.Contains(t, rec.Body.String(), `role="alert"`, why)
		require.NotContains(t, rec.Body.String(), "<b>", why)
		if why == "not a picture" {
			require.Contains(t, rec.Body.String(), "kept &lt;b&gt;text", "what was written is not lost")
		}
	}
	for _, build := range []string{hidden.Token, "unknown", "harbour-notes", "", "../x"} {
		require.Equal(t, http.StatusNotFound, w.send(cookie, map[string]string{"build": build, "text": "x"}, nil).Code, build)
		require.Equal(t, http.StatusNotFound, w.see(cookie, "/me/feedback?build="+build).Code, build)
	}
	require.Equal(t, http.StatusSeeOther, w.send(nil, members, nil).Code, "nobody is signed in")
	rec := w.do(request{path: "/me/feedback", cookie: cookie, form: map[string][]string{"build": {made.Token}}})
	require.Equal(t, http.StatusBadRequest, rec.Code, "no multipart form")
	require.Equal(t, 3, w.count(`select count(*) from feedbacks`))

	w.serve(public, w.still)
	code := 0
	for n := 0; n < 40 && code != http.StatusTooManyRequests; n++ {
		code = w.send(cookie, map[string]string{"build": "unknown", "text": "x"}, nil).Code
	}
	require.Equal(t, http.StatusTooManyRequests, code, "one address does not fill the store")
}
