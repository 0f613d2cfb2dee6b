package ops

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/mail"
)

type mailAnswer struct {
	Mails      []mailView            `json:"mails"`
	Pagination pagination.Pagination `json:"pagination"`
}

// askMail asks the handler, mounted as the router does.
func askMail(t *testing.T, db *storage.DB, query, accept string) (*http.Response, string) {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	h := &Handlers{DB: db, MailFrom: "Slipway <qa@example.com>"}
	g := routetest.Engine(func(route.Route) gin.HandlerFunc { return func(*gin.Context) {} }, h.Routes()...)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, MailPath+query, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	rec := httptest.NewRecorder()
	g.ServeHTTP(rec, r)
	return rec.Result(), rec.Body.String()
}

func insertMail(t *testing.T, db *storage.DB, n mail.New, state mail.State, reason string) uuid.UUID {
	t.Helper()
	id, err := mail.Insert(t.Context(), db, n)
	require.NoError(t, err)
	if state != mail.Queued {
		require.NoError(t, mail.SetState(t.Context(), db, id, state, reason))
	}
	return id
}

func TestMailPage(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	insertMail(t, db, mail.New{Kind: "new-build", Recipient: "ann@example.org", Subject: `<script>alert("s")</script>`,
		TextBody: "</pre><script>alert(1)</script> & more", HTMLBody: "<b>html part</b>"}, mail.Failed, "550 <img src=x onerror=alert(2)>")
	res, body := askMail(t, db, "", "text/html,application/xhtml+xml,application/json;q=0.9")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	policy := res.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "script-src")
	require.NotContains(t, body, "<script")
	require.NotContains(t, body, "<img")
	require.NotContains(t, body, "html part", "only the text is shown")
	require.Contains(t, body, "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more")
	require.Contains(t, body, "550 &lt;img src=x")
	require.Contains(t, body, "ann@example.org")
	require.Contains(t, body, "prefers-color-scheme: dark")
	require.Contains(t, body, "<details>")
	require.NotContains(t, body, "ZgotmplZ")

	_, body = askMail(t, servicetest.DB(t), "", "")
	require.Contains(t, body, "There is none.")
}

func TestOneMail(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	n := mail.New{Kind: "new-build", Recipient: "ann@example.org", Subject: "New", TextBody: "text", QR: "https://qa.example.com/invite/x",
		HTMLBody: `<img src="cid:icon@mail"><img src="cid:qr@mail">`, Icon: "icons/1",
		Unsubscribe: "https://qa.example.com/mail/unsubscribe/slp_secret"}
	id := insertMail(t, db, n, mail.Sent, "")
	for _, query := range []string{"/x", "/" + uuid.NewString()} {
		res, _ := askMail(t, db, query, "")
		require.Equal(t, http.StatusNotFound, res.StatusCode)
	}
	res, body := askMail(t, db, "/"+id.String(), "")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "private, no-store", res.Header.Get("Cache-Control"))
	var got struct{ Mail wholeMailView }
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.NotContains(t, got.Mail.HTML, "cid:", "its pictures are in it")
	require.Contains(t, got.Mail.HTML, "data:image/png;base64,")
	require.NotContains(t, body, "slp_secret")
	names := []string{}
	for _, h := range got.Mail.Headers {
		names = append(names, h.Name)
	}
	require.Subset(t, names, []string{"From", "To", "Subject", "Message-ID", "Date", "Auto-Submitted", "List-Unsubscribe", "Content-Type"})

	n.Kind = "sign-in"
	for state, hidden := range map[mail.State]bool{mail.Sent: true, mail.Kept: false} {
		_, body = askMail(t, db, "/"+insertMail(t, db, n, state, "").String(), "")
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		require.Equal(t, hidden, got.Mail.Hidden)
		require.Equal(t, hidden, got.Mail.HTML == "", "the HTML has the link too")
	}
}

// A sign-in link is shown only where operators are the way it takes.
func TestMailHidesSignInLinks(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	for i, state := range []mail.State{mail.Queued, mail.Sent, mail.Kept, mail.Failed} {
		insertMail(t, db, mail.New{Kind: "sign-in", Recipient: "ann@example.org", Subject: "Sign in",
			TextBody: fmt.Sprintf("https://qa.example.com/session/link%d", i), HTMLBody: fmt.Sprintf("link%d", i)}, state, "")
		insertMail(t, db, mail.New{Kind: "new-build", Recipient: "ann@example.org", Subject: "New",
			TextBody: fmt.Sprintf("https://qa.example.com/install/page%d", i)}, state, "")
	}
	for _, query := range []string{"", "?format=json"} {
		res, body := askMail(t, db, query, "")
		require.Equal(t, http.StatusOK, res.StatusCode)
		for i := range 4 {
			require.Equal(t, i == 2, strings.Contains(body, fmt.Sprintf("link%d", i)), "%s %d", query, i)
			require.Contains(t, body, fmt.Sprintf("page%d", i))
		}
	}
}

func TestMailAsJSON(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	var org int64
	require.NoError(t, db.GetContext(t.Context(), &org,
		`insert into organizations (uuid, slug, name) values ($1, 'o', 'o') returning id`, uuid.New()))
	var ids []uuid.UUID
	for i := range 5 {
		id := insertMail(t, db, mail.New{OrganizationID: org, Kind: "new-build", Recipient: "ann@example.org",
			Subject: fmt.Sprint("S", i), TextBody: "t&t"},
			mail.Sent, "")
		_, err := db.ExecContext(t.Context(), `update mails set created_at = now() - make_interval(mins => $2) where id = $1`, id, 10-i)
		require.NoError(t, err)
		ids = append(ids, id)
	}
	res, body := askMail(t, db, "?page=2&per_page=2", "application/json")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"))
	var got mailAnswer
	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Equal(t, pagination.Pagination{Page: 2, PerPage: 2, Total: 5, TotalPages: 3}, got.Pagination)
	require.Len(t, got.Mails, 2)
	require.Equal(t, ids[2], got.Mails[0].ID)
	require.Equal(t, ids[1], got.Mails[1].ID)
	require.Equal(t, org, *got.Mails[0].OrganizationID)
	require.Equal(t, "t&t", got.Mails[0].Text)
	require.Equal(t, mail.Sent, got.Mails[0].State)
	require.NotNil(t, got.Mails[0].SentAt)
	require.WithinDuration(t, time.Now(), got.Mails[0].CreatedAt, time.Hour)

	_, body = askMail(t, db, "?page=2&per_page=2", "")
	require.Contains(t, body, `href="?page=1&amp;per_page=2"`)
	require.Contains(t, body, `href="?page=3&amp;per_page=2"`)
	_, body = askMail(t, db, "?page=9", "")
	require.Contains(t, body, "There is none on this page.")
	_, body = askMail(t, db, "?format=html", "application/json")
	require.True(t, strings.HasPrefix(body, "<!DOCTYPE html>"))
	_, body = askMail(t, servicetest.DB(t), "?format=json", "")
	require.Contains(t, body, `"mails":[]`)
}

func TestMailRefuses(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	for query, field := range map[string]string{"?page=0": "page", "?per_page=-1": "per_page", "?page=x": "page", "?format=xml": "format"} {
		res, body := askMail(t, db, query, "")
		require.Equal(t, http.StatusBadRequest, res.StatusCode, query)
		require.Contains(t, body, field)
	}
	require.NoError(t, db.Close())
	res, body := askMail(t, db, "", "")
	require.GreaterOrEqual(t, res.StatusCode, 500)
	require.NotContains(t, body, "sql")
}

func TestWantsJSON(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{"": false, "*/*": false, "application/json": true, "Application/JSON; charset=utf-8": true,
		"text/html, application/json": false, "application/json, text/html": true, "text/plain,application/json": true} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, MailPath, nil)
		r.Header.Set("Accept", accept)
		require.Equal(t, want, wantsJSON(r), accept)
	}
}
