package install_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

const signIn = "/install/harbour-notes/sign-in"

func TestClosedPageShowsLittle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(closed)
	for _, name := range []string{"harbour-notes", made.Build.Token} {
		rec := w.get("/install/"+name, onPhone)
		require.Equal(t, http.StatusOK, rec.Code)
		page := rec.Body.String()
		require.Contains(t, page, "Harbour Notes")
		require.Contains(t, page, `action="/install/`+name+`/sign-in"`)
		for _, secret := range []string{"1.2.3", "10203", "com.example.harbour", "Offline", "Example Ships", "/download",
			made.Build.File.SHA256, "kB"} {
			require.NotContains(t, page, secret)
		}
	}
	w.exec(`update projects set landing_page_mode = 'open'`)
	require.NotContains(t, w.get("/install/harbour-notes", onPhone).Body.String(), `name="email"`)
	w.exec(`update organizations set require_login = true`)
	require.Contains(t, w.get("/install/harbour-notes", onPhone).Body.String(), `name="email"`)
	require.Equal(t, http.StatusSeeOther, w.get("/install/harbour-notes/download", onPhone).Code)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(func(u *distribution.Upload) { closed(u); u.ProjectGroups = grant.Groups{Given: true, All: true} })
	tess := w.member("Tess@example.com", account.Tester)

	rec := w.do(request{path: signIn, form: url.Values{"email": {" tess@EXAMPLE.com "}}})
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), "a link is on its way")
	mails := w.mails()
	require.Len(t, mails, 1)
	m := mails[0]
	require.Equal(t, "Tess@example.com", m.Recipient, "the address as it is stored")
	require.Equal(t, "sign-in", m.Kind)
	require.Equal(t, "Sign in to Harbour Notes", m.Subject)
	path := w.linkIn(m)
	require.Contains(t, m.TextBody, public+path+"\n")
	require.Contains(t, m.HTMLBody, `href="`+public+path+`"`)
	require.Contains(t, path, "slp_link_", "what the request log hides")
	var tasks int
	require.NoError(t, w.db.GetContext(t.Context(), &tasks,
		`select count(*) from tasks where kind = 'mail:urgent' and payload->>'mail_id' = $1`, m.ID.String()))
	require.Equal(t, 1, tasks)
	var stored [][]byte
	require.NoError(t, w.db.SelectContext(t.Context(), &stored, `select digest from sign_in_links`))
	want := account.DigestOf(strings.TrimPrefix(path, "/session/"))
	require.Equal(t, [][]byte{want[:]}, stored)

	// Looking does not use the link, however often.
	for range 3 {
		rec = w.get(path, onPhone)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), `action="`+path+`"`)
		require.Equal(t, "private, no-store", rec.Header().Get("Cache-Control"))
		require.Empty(t, rec.Result().Cookies())
	}
	rec = w.do(request{path: path, form: url.Values{}})
	require.Equal(t, http.StatusSeeOther, rec.Code)
	require.Equal(t, "/install/harbour-notes", rec.Header().Get("Location"))
	require.Len(t, rec.Result().Cookies(), 1)
	cookie := rec.Result().Cookies()[0]
	require.Equal(t, "__Host-slipway_session", cookie.Name)
	require.True(t, cookie.HttpOnly && cookie.Secure)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.Equal(t, 30*24*60*60, cookie.MaxAge)
	require.Len(t, cookie.Value, 43)
	var digest []byte
	require.NoError(t, w.db.GetContext(t.Context(), &digest, `select digest from page_sessions where user_id = $1`, tess))
	session := account.DigestOf(cookie.Value)
	require.Equal(t, session[:], digest)

	// Once only.
	require.Equal(t, http.StatusGone, w.get(path, onPhone).Code)
	rec = w.do(request{path: path, form: url.Values{}})
	require.Equal(t, http.StatusGone, rec.Code)
	require.Contains(t, rec.Body.String(), "ask for a new one")

	rec = w.do(request{path: "/install/harbour-notes", agent: onPhone, cookie: cookie})
	require.Contains(t, rec.Body.String(), "/download")
	require.Contains(t, rec.Body.String(), "Tess@example.com")

	w.block(tess, true)
	rec = w.do(request{path: "/install/harbour-notes", agent: onPhone, cookie: cookie})
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Contains(t, rec.Body.String(), "is blocked")
	w.exec(`update projects set landing_page_mode = 'open'`)
	require.Contains(t, w.do(request{path: "/install/harbour-notes", cookie: cookie}).Body.String(), "is blocked")
	w.exec(`update projects set landing_page_mode = 'closed'`)
	w.block(tess, false)

	w.later.Store(int64(30*24*time.Hour + time.Second))
	require.Contains(t, w.do(request{path: "/install/harbour-notes", cookie: cookie}).Body.String(), `name="email"`, "the session has ended")
	w.later.Store(0)

	rec = w.do(request{path: "/sign-out", cookie: cookie, form: url.Values{"to": {"/install/harbour-notes"}}})
	require.Equal(t, http.StatusSeeOther, rec.Code)
	require.Equal(t, "/install/harbour-notes", rec.Header().Get("Location"))
	require.Negative(t, rec.Result().Cookies()[0].MaxAge)
	require.Contains(t, w.do(request{path: "/install/harbour-notes", cookie: cookie}).Body.String(), `name="email"`)
}

// TestSignInTellsNothing asks for people of all kinds: the answers differ in the
// address alone.
func TestSignInTellsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	w.member("known@example.com", account.Tester)
	w.block(w.member("block@example.com", account.Tester), true)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "other"})
		if err != nil {
			return err
		}
		_, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: "other@example.com",
			Role: account.Admin})
		return err
	})
	answers := map[string]bool{}
	for _, email := range []string{"known@example.com", "block@example.com", "other@example.com", "nobod@example.com"} {
		rec := w.do(request{path: signIn, form: url.Values{"email": {email}}})
		require.Equal(t, http.StatusOK, rec.Code)
		answers[strings.ReplaceAll(rec.Body.String(), email, "X")] = true
	}
	require.Len(t, answers, 1)
	require.Len(t, w.mails(), 1)
	require.Equal(t, "known@example.com", w.mails()[0].Recipient)
}

func TestSignInBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	for range 7 {
		rec := w.do(request{path: signIn, form: url.Values{"email": {"owner@example.com"}}})
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), "a link is on its way")
	}
	require.Len(t, w.mails(), 5, "links for one person in an hour")
	require.NotContains(t, w.log.String(), "owner@")

	// The same time for everybody.
	const floor = 200 * time.Millisecond
	w.exec(`delete from sign_in_links`)
	w.serve(public, func(c *install.Config) { c.SignInTime = floor })
	for _, email := range []string{"owner@example.com", "nobody@example.com"} {
		start := time.Now()
		require.Equal(t, http.StatusOK, w.do(request{path: signIn, form: url.Values{"email": {email}}}).Code)
		require.GreaterOrEqual(t, time.Since(start), floor)
	}

	w.serve(public, w.still, func(c *install.Config) { c.SignInsPerMinute = 2 })
	for range 2 {
		require.Equal(t, http.StatusOK, w.do(request{path: signIn, form: url.Values{"email": {"a@example.com"}}}).Code)
	}
	rec := w.do(request{path: signIn, form: url.Values{"email": {"a@example.com"}}})
	require.Equal(t, http.StatusTooManyRequests, rec.Code)
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
}

func TestSignInRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	for _, email := range []string{"", "nobody", "a b@example.com", "a@example.com\r\nBcc: b@example.com", "A <a@example.com>",
		"a@example.com, b@example.com",
		strings.Repeat("x", 300) + "@example.com", `"><script>alert(1)</script>`} {
		rec := w.do(request{path: signIn, form: url.Values{"email": {email}}})
		require.Equal(t, http.StatusBadRequest, rec.Code, email)
		require.Contains(t, rec.Body.String(), "Please enter a mail address")
		require.NotContains(t, rec.Body.String(), "<script")
	}
	for name, header := range map[string]map[string]string{
		"another site":          {"Sec-Fetch-Site": "cross-site"},
		"a sibling":             {"Sec-Fetch-Site": "same-site"},
		"an old browser":        {"Sec-Fetch-Site": "", "Origin": "https://evil.example"},
		"a page without origin": {"Sec-Fetch-Site": "", "Origin": "null"},
	} {
		for _, path := range []string{signIn, "/session/slp_link_x", "/sign-out"} {
			rec := w.do(request{path: path, header: header, form: url.Values{"email": {"owner@example.com"}}})
			require.Equal(t, http.StatusForbidden, rec.Code, name+path)
			require.Contains(t, rec.Body.String(), "another site")
		}
	}
	rec := w.do(request{path: signIn, header: map[string]string{"Sec-Fetch-Site": "", "Origin": public},
		form: url.Values{"email": {"owner@example.com"}}})
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, http.StatusNotFound, w.do(request{path: "/install/unknown-app/sign-in",
		form: url.Values{"email": {"a@example.com"}}}).Code)
	require.Len(t, w.mails(), 1)
}

func TestSessionLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	for _, path := range []string{"/session/slp_link_unknown", "/session/unknown", "/session/slp_link_" + strings.Repeat("x", 4000)} {
		require.Equal(t, http.StatusGone, w.get(path, onPhone).Code)
		require.Equal(t, http.StatusGone, w.do(request{path: path, form: url.Values{}}).Code)
	}
	w.do(request{path: signIn, form: url.Values{"email": {"owner@example.com"}}})
	path := w.linkIn(w.mails()[0])
	w.later.Store(int64(time.Hour + time.Second))
	require.Equal(t, http.StatusGone, w.get(path, onPhone).Code, "too old")
	require.Equal(t, http.StatusGone, w.do(request{path: path, form: url.Values{}}).Code)
	w.later.Store(0)
	// A path that leads elsewhere, however it came there, is not followed.
	w.exec(`update sign_in_links set path = '/install/../../evil'`)
	rec := w.do(request{path: path, form: url.Values{}})
	require.Equal(t, http.StatusOK, rec.Code)
	require.Empty(t, rec.Header().Get("Location"))
	for _, to := range []string{"", "https://evil.example/install/x", "//evil.example", "/install/", "/install/a/b",
		"/install/..", `/install/\evil`, "/session/x"} {
		rec := w.do(request{path: "/sign-out", form: url.Values{"to": {to}}})
		require.Equal(t, http.StatusOK, rec.Code, to)
		require.Empty(t, rec.Header().Get("Location"))
	}
}

func TestNotShared(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(closed)
	tess := w.member("tess@example.com", account.Tester)
	cookie := w.signIn("/install/harbour-notes", "tess@example.com")
	rec := w.do(request{path: "/install/harbour-notes", cookie: cookie})
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Contains(t, rec.Body.String(), "This app was not shared with")
	require.NotContains(t, rec.Body.String(), "1.2.3")

	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		g, err := testergroup.Create(ctx, tx, account.CLI(), w.org, "Crew", false)
		if err != nil {
			return err
		}
		if err := testergroup.AddUser(ctx, tx, account.CLI(), w.org, g.ID, tess); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `insert into build_groups (build_id, tester_group_id) values ($1, $2)`, made.Build.ID, g.ID)
		return err
	})
	require.Equal(t, http.StatusOK, w.do(request{path: "/install/harbour-notes", cookie: cookie}).Code)
	// A cookie that stands for nobody is no cookie.
	for _, value := range []string{"x", strings.Repeat("x", 4000)} {
		rec = w.do(request{path: "/install/harbour-notes", cookie: &http.Cookie{Name: cookie.Name, Value: value}})
		require.Contains(t, rec.Body.String(), `name="email"`)
	}
}

// TestHostileNames has an app whose name would break a mail or a page.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	w.exec(`update projects set name = $1`, "<b>Evil</b>\u202E & \"friends\" "+strings.Repeat("long ", 40))
	w.do(request{path: signIn, form: url.Values{"email": {"owner@example.com"}}})
	m := w.mails()[0]
	require.NotContains(t, m.HTMLBody, "<b>")
	require.NotContains(t, m.Subject, "\u202E")
	require.LessOrEqual(t, len([]rune(m.Subject)), 120)
	require.NotContains(t, w.get("/install/harbour-notes", onPhone).Body.String(), "<b>")
}
