package mail_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	handlers "github.com/slipway-qa/slipway/api/mail"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is two organizations behind the handlers, with authentication.
type world struct {
	t            *testing.T
	db           *storage.DB
	ours, theirs *account.Bootstrap
	engine       *gin.Engine
	ann          int64 // a tester of ours
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, db: servicetest.DB(t)}
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	for slug, to := range map[string]**account.Bootstrap{"ours": &w.ours, "theirs": &w.theirs} {
		b, err := account.NewBootstrap(keys, "")
		require.NoError(t, err)
		b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
		w.tx(func(ctx context.Context, tx *storage.Tx) error {
			return crashproject.ApplyBootstrap(ctx, tx, b, "local")
		})
		*to = b
	}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: "ann@exämple.com", Role: account.Tester})
		if err == nil {
			w.ann = u.ID
		}
		return err
	})
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local"})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.db, Links: link.New("https://qa.example.com"), Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	return w
}

func (w *world) tx(fn func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// do sends a request; who is "ours", "theirs", "operator" or "".
func (w *world) do(who, method, path, body string) *httptest.ResponseRecorder {
	w.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(w.t.Context(), method, path, reader)
	switch {
	case strings.HasPrefix(body, "{"):
		r.Header.Set("Content-Type", "application/json")
	case body != "":
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	switch who {
	case "ours":
		r.Header.Set("X-Api-Key", w.ours.Owner.APIKey)
	case "theirs":
		r.Header.Set("X-Api-Key", w.theirs.Owner.APIKey)
	case "operator":
		r.SetBasicAuth("ours", w.ours.Operator.Password)
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

// ok sends a request that succeeds and returns the member of its answer.
func (w *world) ok(who, method, path, body, member string) map[string]any {
	w.t.Helper()
	rec := w.do(who, method, path, body)
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body)
	var answer map[string]any
	require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer))
	if member == "" {
		return answer
	}
	out, ok := answer[member].(map[string]any)
	require.True(w.t, ok, "%s: %s", member, rec.Body)
	return out
}

func (w *world) refused(who, method, path, body string, status int, text string) {
	w.t.Helper()
	rec := w.do(who, method, path, body)
	require.Equal(w.t, status, rec.Code, "%s %s %s: %s", method, path, body, rec.Body)
	require.Contains(w.t, rec.Body.String(), text)
}

func (w *world) audited(action string) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, `select count(*) from audit_events where action = $1`, action))
	return n
}

const templates = "/api/v3/settings/mail-templates"

func TestTemplates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	list := w.ok("ours", "GET", templates, "", "")
	require.Len(t, list["mail_templates"], len(mailtemplate.Kinds()))
	require.Equal(t, map[string]any{"page": 2.0, "per_page": 3.0, "total": 10.0, "total_pages": 4.0},
		w.ok("ours", "GET", templates+"?per_page=3&page=2", "", "pagination"))
	w.refused("ours", "GET", templates+"?page=0", "", 400, "page")

	built := w.ok("ours", "GET", templates+"/sign-in", "", "mail_template")
	require.Equal(t, false, built["customized"])
	require.Equal(t, true, built["transactional"])
	require.Nil(t, built["updated_at"])
	require.NotEmpty(t, built["placeholders"])

	own := w.ok("ours", "PUT", templates+"/sign-in", `{"subject":"Hi {{app}}","text":"[Go]({{link}})"}`, "mail_template")
	require.Equal(t, []any{true, "Hi {{app}}", "[Go]({{link}})"}, []any{own["customized"], own["subject"], own["text"]})
	require.NotNil(t, own["updated_at"])
	own = w.ok("ours", "PUT", templates+"/sign-in", `subject=Hello`, "mail_template")
	require.Equal(t, []any{"Hello", "[Go]({{link}})"}, []any{own["subject"], own["text"]}, "a form; the text stays")
	require.Equal(t, 2, w.audited("mail_template.changed"))
	require.Equal(t, false, w.ok("theirs", "GET", templates+"/sign-in", "", "mail_template")["customized"], "another organization")

	for body, text := range map[string]string{
		`{}`: "subject", `{"subject":"a\r\nBcc: all@example.com"}`: "subject", `{"subject":""}`: "subject", `{"subject":7}`: "subject",
		`{"text":"no way in"}`: "text: must show {{link}}", `{"text":"{{nobody}}"}`: "text: line 1", `{"text":"{{#app}}{{link}}"}`: "has no end",
		`{"text":"` + strings.Repeat("x", 40000) + `"}`: "text: must have at most", `{"subject":"{{link}}"}`: "subject: {{link}} is a link",
	} {
		w.refused("ours", "PUT", templates+"/sign-in", body, 400, text)
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		w.refused("ours", method, templates+"/nonsense", "", 404, "error")
	}

	// The mail that is written by it.
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		id, err := letter.New(letter.Config{}).Write(ctx, tx, letter.Letter{OrganizationID: w.ours.Organization.ID, Recipient: "a@example.com",
			Content: mailtemplate.SignIn{App: "A", Link: "https://x.example.com/s", Minutes: 5}})
		if err != nil {
			return err
		}
		m, err := mail.ByID(ctx, tx, id)
		if err == nil {
			require.Equal(t, "Hello", m.Subject)
			require.Equal(t, "Go:\nhttps://x.example.com/s\n", m.TextBody)
		}
		return err
	})
	for range 2 {
		require.Equal(t, http.StatusNoContent, w.do("ours", "DELETE", templates+"/sign-in", "").Code)
	}
	require.Equal(t, 3, w.audited("mail_template.changed"), "the second changes nothing")
	require.Equal(t, false, w.ok("ours", "GET", templates+"/sign-in", "", "mail_template")["customized"])
}

func TestPreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, k := range mailtemplate.Kinds() {
		p := w.ok("ours", "POST", templates+"/"+k.Name+"/preview", "", "preview")
		require.NotEmpty(t, p["subject"])
		require.NotContains(t, p["html"], "cid:")
	}
	p := w.ok("ours", "POST", templates+"/new-build/preview",
		`{"subject":"{{app}}!","text":"{{icon}}\n{{notes}}\n[Go]({{link}})\n{{qr}}","data":{"app":"Mine","notes":"*new*"}}`, "preview")
	require.Equal(t, "Mine!", p["subject"])
	require.Contains(t, p["html"], "<em>new</em>")
	require.Contains(t, p["html"], "data:image/png;base64,")
	w.refused("ours", "POST", templates+"/new-build/preview", `{"data":{"nobody":"x"}}`, 400, "data.nobody")
	w.refused("ours", "POST", templates+"/new-build/preview", `{"text":"x"}`, 400, "text")
	w.refused("ours", "POST", templates+"/nonsense/preview", ``, 404, "error")
	var mails int
	require.NoError(t, w.db.GetContext(t.Context(), &mails, `select count(*) from mails`))
	require.Zero(t, mails, "nothing is sent")
	require.Zero(t, w.audited("mail_template.changed"))
}

const settings = "/api/v3/settings/mail"

func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	digest := map[string]any{"enabled": false, "weekday": "monday", "hour": 8.0, "recipients": []any{}}
	require.Equal(t, map[string]any{"sender_name": "", "reply_to": "", "rate_per_minute": 0.0, "digest": digest},
		w.ok("ours", "GET", settings, "", "mail"))
	got := w.ok("ours", "PUT", settings,
		`{"sender_name":" Acme ","reply_to":"qa+x@exämple.com","digest":{"enabled":true,"weekday":"Friday"}}`, "mail")
	digest = map[string]any{"enabled": true, "weekday": "friday", "hour": 8.0, "recipients": []any{}}
	want := map[string]any{"sender_name": "Acme", "reply_to": "qa+x@exämple.com", "rate_per_minute": 0.0, "digest": digest}
	require.Equal(t, want, got)
	got = w.ok("ours", "PUT", settings, `{"rate_per_minute":60,"digest":{"hour":23,"recipients":["a@example.com"]}}`, "mail")
	want["rate_per_minute"], digest["hour"], digest["recipients"] = 60.0, 23.0, []any{"a@example.com"}
	require.Equal(t, want, got)
	require.Equal(t, want, w.ok("ours", "GET", settings, "", "mail"))
	require.Equal(t, "", w.ok("theirs", "GET", settings, "", "mail")["sender_name"])
	require.Equal(t, 2, w.audited("mail_settings.changed"))
	var due time.Time
	require.NoError(t, w.db.GetContext(t.Context(), &due, `select digest_due from mail_settings where organization_id = $1`,
		w.ours.Organization.ID))
	require.Equal(t, []any{time.Friday, 23}, []any{due.UTC().Weekday(), due.UTC().Hour()})
	require.True(t, due.After(time.Now()) && due.Before(time.Now().AddDate(0, 0, 8)))

	for body, text := range map[string]string{
		`{"sender_name":"a\r\nBcc: x"}`: "sender_name", `{"reply_to":"nobody"}`: "reply_to",
		`{"reply_to":"a@example.com\nBcc: b@example.com"}`: "reply_to",
		`{"rate_per_minute":-1}`:                           "rate_per_minute", `{"rate_per_minute":1e15}`: "rate_per_minute",
		`{"digest":{"weekday":"someday"}}`: "digest.weekday",
		`{"digest":{"hour":24}}`:           "digest.hour", `{"digest":{"recipients":["x"]}}`: "digest.recipients", `{"digest":7}`: "digest",
		`{"sender_name":"` + strings.Repeat("x", 101) + `"}`: "sender_name",
	} {
		w.refused("ours", "PUT", settings, body, 400, text)
	}
}

// sent stores a mail that was sent to ann.
func (w *world) sent(state mail.State) (id uuid.UUID) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		id, err = mail.Insert(ctx, tx, mail.New{OrganizationID: w.ours.Organization.ID, UserID: w.ann, Kind: "new-build",
			Recipient: "ann@exämple.com",
			Subject:   "S", TextBody: "t"})
		if err != nil {
			return err
		}
		return mail.SetState(ctx, tx, id, state, "")
	})
	return id
}

// notification is a delivery status notification as Postfix writes it.
func notification(id uuid.UUID, recipient, action, status string) string {
	return strings.ReplaceAll(`Received: from localhost
From: MAILER-DAEMON@mx.example.com (Mail Delivery System)
To: slipway@qa.example.com
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="B1/mx"

--B1/mx
Content-Type: text/plain; charset=us-ascii

I'm sorry.

--B1/mx
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com
Arrival-Date: Mon, 23 Nov 2026 05:00:00 +0000 (UTC)

Final-Recipient: rfc822; `+recipient+`
Original-Recipient: rfc822;`+recipient+`
Action: `+action+`
Status: `+status+`
Diagnostic-Code: smtp; 550 `+status+` <`+recipient+`>:
    User unknown

--B1/mx
Content-Type: text/rfc822-headers

From: Slipway <slipway@qa.example.com>
To: <`+recipient+`>
Message-ID: <`+id.String()+`@qa.example.com>
Subject: S

--B1/mx--
`, "\n", "\r\n")
}

func TestBounces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outcome := func(body string) string {
		t.Helper()
		answer := w.ok("operator", "POST", "/ops/mail/bounces", body, "")
		require.Equal(t, "ok", answer["status"])
		return answer["recipients"].([]any)[0].(map[string]any)["outcome"].(string)
	}
	const ann = "ANN@xn--exmple-cua.com" // as mail servers write it
	id := w.sent(mail.Sent)
	require.Equal(t, "ignored", outcome(notification(id, ann, "delayed", "4.4.1")))
	require.Equal(t, "ignored", outcome(notification(id, ann, "failed", "4.4.7")))
	require.Equal(t, "ignored", outcome(notification(id, "bob@example.com", "failed", "5.1.1")), "not its recipient")
	require.Equal(t, "ignored", outcome(notification(uuid.New(), ann, "failed", "5.1.1")), "not our mail")
	require.Equal(t, "ignored", outcome(notification(w.sent(mail.Kept), ann, "failed", "5.1.1")), "never sent")
	require.Equal(t, "recorded", outcome(notification(id, ann, "failed", "5.2.2")), "a full mailbox")
	require.Equal(t, "marked", outcome(notification(id, ann, "failed", "5.1.1")))
	require.Equal(t, "marked", outcome(notification(id, ann, "failed", "5.1.1")), "once more")
	require.Equal(t, 1, w.audited("mail_suppression.added"))
	m, err := mail.ByID(t.Context(), w.db, id)
	require.NoError(t, err)
	require.Equal(t, mail.Bounced, m.State)

	for _, body := range []string{"", "hello", "From: x\r\n\r\nhello", "Content-Type: multipart/report; boundary=x\r\n\r\n--x--\r\n",
		strings.Replace(notification(id, ann, "failed", "5.1.1"), "multipart/report", "multipart/mixed", 1)} {
		w.refused("operator", "POST", "/ops/mail/bounces", body, 400, "delivery status notification")
	}
	w.refused("ours", "POST", "/ops/mail/bounces", "x", 403, "operator")
	w.refused("", "POST", "/ops/mail/bounces", "x", 401, "error")

	const list = settings + "/suppressions"
	answer := w.ok("ours", "GET", list+"?search=ANN%40", "", "")
	require.Len(t, answer["suppressions"], 1)
	row := answer["suppressions"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"ann@exämple.com", "notification", "5.1.1", id.String()}, []any{row["email"], row["source"],
		row["status"], row["mail_id"]})
	require.Contains(t, row["detail"], "User unknown")
	require.Empty(t, w.ok("ours", "GET", list+"?search=bob", "", "")["suppressions"])
	require.Empty(t, w.ok("theirs", "GET", list, "", "")["suppressions"])
	w.refused("ours", "GET", list+"?per_page=x", "", 400, "per_page")
	w.refused("ours", "GET", list+"?search=%00", "", 400, "search")
	path := list + "/" + strconv.Itoa(int(row["id"].(float64)))
	w.refused("theirs", "DELETE", path, "", 404, "error")

	// No mail goes there until the mark is lifted.
	write := func() (id uuid.UUID) {
		w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
			id, err = letter.New(letter.Config{}).Write(ctx, tx, letter.Letter{OrganizationID: w.ours.Organization.ID, UserID: w.ann,
				Recipient: "ann@exämple.com", Content: mailtemplate.SignIn{Link: "https://x.example.com", Minutes: 1}})
			return err
		})
		return id
	}
	require.Equal(t, uuid.Nil, write())
	require.Equal(t, http.StatusNoContent, w.do("ours", "DELETE", path, "").Code)
	w.refused("ours", "DELETE", path, "", 404, "error")
	w.refused("ours", "DELETE", list+"/x", "", 404, "error")
	require.NotEqual(t, uuid.Nil, write())
	require.Equal(t, 1, w.audited("mail_suppression.removed"))
}

func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret, err := account.InstallationSecret(t.Context(), w.db)
	require.NoError(t, err)
	page := func(org, user int64) string { return "/mail/unsubscribe/" + letter.UnsubscribeToken(secret, org, user) }
	path := page(w.ours.Organization.ID, w.ann)
	require.Contains(t, w.do("", "GET", path, "").Body.String(), "gets mail about apps")
	require.Zero(t, w.audited("tester.unsubscribed"), "opening the page changes nothing")

	for range 2 {
		rec := w.do("", "POST", path, "List-Unsubscribe=One-Click")
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), "You are unsubscribed")
		require.Contains(t, rec.Header().Get("Content-Security-Policy"), "default-src 'none'")
	}
	require.Equal(t, 1, w.audited("tester.unsubscribed"))
	require.Contains(t, w.do("", "GET", path, "").Body.String(), "Subscribe again")
	outcome := func(content mailtemplate.Content) (out letter.Outcome) {
		w.tx(func(ctx context.Context, tx *storage.Tx) error {
			all, err := letter.New(letter.Config{}).WriteAll(ctx, tx, []letter.Letter{{OrganizationID: w.ours.Organization.ID, UserID: w.ann,
				Recipient: "ann@exämple.com", Content: content}})
			if err == nil {
				out = all[0]
			}
			return err
		})
		return out
	}
	require.Equal(t, letter.Unsubscribed, outcome(mailtemplate.NewBuild{App: "A", Link: "https://x.example.com"}).Reason)
	require.Empty(t, outcome(mailtemplate.SignIn{Link: "https://x.example.com"}).Reason, "what concerns their own access")
	require.Contains(t, w.do("", "POST", path, "action=subscribe").Body.String(), "subscribed again")
	require.Equal(t, 1, w.audited("tester.subscribed"))
	require.Empty(t, outcome(mailtemplate.NewBuild{App: "A", Link: "https://x.example.com"}).Reason)

	for _, bad := range []string{"/mail/unsubscribe/x", path + "x", page(w.theirs.Organization.ID, w.ann), page(w.ours.Organization.ID, 1<<40),
		"/mail/unsubscribe/" + strings.Repeat("A", 5000)} {
		for _, method := range []string{"GET", "POST"} {
			rec := w.do("", method, bad, "")
			require.Equal(t, http.StatusNotFound, rec.Code, bad)
			require.Contains(t, rec.Body.String(), "This page does not exist")
		}
	}
}
