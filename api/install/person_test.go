package install_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	"github.com/slipway-qa/slipway/storage/tester"
)

// join adds a person to a further organization, which it makes.
func (w *world) join(slug, email string, role account.Role) (organization int64) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		o, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: slug, Name: strings.ToUpper(slug)})
		if err != nil {
			return err
		}
		organization = o.ID
		_, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: o.ID, Email: email, Role: role})
		return err
	})
	return organization
}

// forAll opens the app to every tester.
func forAll(u *distribution.Upload) {
	closed(u)
	u.ProjectGroups = grant.Groups{Given: true, All: true}
}

// enter signs in by mail without an app.
func (w *world) enter(email string) *http.Cookie {
	w.t.Helper()
	rec := w.do(request{path: "/sign-in", form: url.Values{"email": {email}, "to": {"/me"}}})
	require.Equal(w.t, http.StatusOK, rec.Code, rec.Body)
	list := w.mails()
	require.NotEmpty(w.t, list)
	rec = w.do(request{path: w.linkIn(list[len(list)-1]), form: url.Values{}})
	require.Equal(w.t, http.StatusSeeOther, rec.Code, rec.Body)
	require.Equal(w.t, "/me", rec.Header().Get("Location"))
	return rec.Result().Cookies()[0]
}

func (w *world) invite(build int64, users ...int64) map[int64]tester.Invite {
	w.t.Helper()
	var made map[int64]tester.Invite
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = tester.EnsureInvites(ctx, tx, w.org, build, users)
		return err
	})
	return made
}

func (w *world) count(query string, args ...any) (n int) {
	w.t.Helper()
	require.NoError(w.t, w.db.GetContext(w.t.Context(), &n, query, args...))
	return n
}

func (w *world) audited(what account.AuditType) int {
	w.t.Helper()
	return w.count(`select count(*) from audit_events where type = $1`, what)
}

// see opens a page with a session.
func (w *world) see(cookie *http.Cookie, path string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.do(request{path: path, agent: onPhone, cookie: cookie})
}

func TestSignInWithoutApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(forAll)
	tess := w.member("Tess@example.com", account.Tester)

	// Who is not signed in is led to the form and back to the page.
	for path, to := range map[string]string{"/me": "/me", "/me/devices": "/me/devices", "/me/leave": "/me/leave", "/me/apps/7": "/me/apps/7",
		"/udid": "/udid", "/udid/register?build=abc": "/udid/register?build=abc", "/me/feedback?build=x&evil=1": "/me/feedback?build=x",
		"/me/feedback?build=//evil": "/me"} {
		rec := w.get(path, onPhone)
		require.Equal(t, http.StatusSeeOther, rec.Code, path)
		require.Equal(t, "/sign-in?to="+url.QueryEscape(to), rec.Header().Get("Location"), path)
	}
	for _, to := range []string{"", "https://evil.example", "//evil.example", "/install/../x", "/me?x", "/ops/mail",
		"/udid?build=a b", "/me/organization"} {
		rec := w.get("/sign-in?to="+url.QueryEscape(to), onPhone)
		require.Contains(t, rec.Body.String(), `name="to" value="/me"`, to)
	}
	rec := w.do(request{path: "/sign-in", form: url.Values{"email": {"tess@EXAMPLE.com"}, "to": {"/me/devices"}}})
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), "a link is on its way")
	m := w.mails()[0]
	require.Equal(t, "Tess@example.com", m.Recipient)
	require.Contains(t, m.Subject, "Example Ships")
	rec = w.do(request{path: w.linkIn(m), form: url.Values{}})
	require.Equal(t, "/me/devices", rec.Header().Get("Location"))
	cookie := rec.Result().Cookies()[0]
	require.Equal(t, 1, w.audited(account.TesterSignedIn))
	require.Equal(t, 1, w.count(`select count(*) from memberships where user_id = $1 and last_login_at is not null`, tess))
	require.Equal(t, http.StatusSeeOther, w.see(cookie, "/sign-in?to=/me").Code, "signed in already")

	rec = w.do(request{path: "/sign-out", cookie: cookie, form: url.Values{"to": {"/me"}}})
	require.Equal(t, "/me", rec.Header().Get("Location"))
	require.Equal(t, http.StatusSeeOther, w.see(cookie, "/me").Code, "the session has ended")

	// The form tells nothing about addresses.
	w.block(w.member("block@example.com", account.Tester), true)
	answers := map[string]bool{}
	for _, email := range []string{"tess@example.com", "block@example.com", "nobod@example.com"} {
		rec := w.do(request{path: "/sign-in", form: url.Values{"email": {email}}})
		require.Equal(t, http.StatusOK, rec.Code)
		answers[strings.ReplaceAll(rec.Body.String(), email, "X")] = true
	}
	require.Len(t, answers, 1)
	require.Len(t, w.mails(), 2)
	for _, email := range []string{"", "nobody", "a@example.com\r\nBcc: b@example.com", strings.Repeat("x", 3000) + "@example.com"} {
		rec := w.do(request{path: "/sign-in", form: url.Values{"email": {email}}})
		require.Equal(t, http.StatusBadRequest, rec.Code, email)
		require.Contains(t, rec.Body.String(), "Please enter a mail address")
	}
	w.serve(public, w.still, func(c *install.Config) { c.SignInsPerMinute = 1 })
	w.do(request{path: "/sign-in", form: url.Values{"email": {"a@example.com"}}})
	require.Equal(t, http.StatusTooManyRequests, w.do(request{path: "/sign-in", form: url.Values{"email": {"a@example.com"}}}).Code)
}

func TestApps(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	shared := w.upload(forAll).Build
	newer := w.upload(func(u *distribution.Upload) {
		forAll(u)
		u.Package.Version = "1.3.0"
		u.ReleaseNotes = "**Newer** notes"
	}).Build
	other := w.upload(func(u *distribution.Upload) { closed(u); apple(u) }).Build
	tess := w.member("tess@example.com", account.Tester)
	cookie := w.enter("tess@example.com")

	page := w.see(cookie, "/me").Body.String()
	require.Contains(t, page, "Harbour Notes")
	require.Contains(t, page, "1.3.0 (10203)")
	require.Contains(t, page, `href="/install/harbour-notes"`)
	require.NotContains(t, page, "Sons", "not shared")
	require.Contains(t, w.see(w.enter("owner@example.com"), "/me").Body.String(), "Sons", "members have all apps")

	history := w.see(cookie, "/me/apps/"+fmt.Sprint(shared.ProjectID)).Body.String()
	for _, want := range []string{"1.3.0", "1.2.3", "<strong>Newer</strong> notes", "<strong>Offline</strong>",
		"/install/" + shared.Token, "/install/" + newer.Token} {
		require.Contains(t, history, want)
	}
	require.NotContains(t, history, "<script")
	require.Equal(t, http.StatusOK, w.see(cookie, fmt.Sprintf("/me/apps/%d-harbour", shared.ProjectID)).Code, "with a slug behind the number")
	for _, id := range []string{fmt.Sprint(other.ProjectID), "999999", "x", "0", "-1", "99999999999999999999"} {
		require.Equal(t, http.StatusNotFound, w.see(cookie, "/me/apps/"+id).Code, id)
	}
	for _, page := range []string{"0", "-1", "x"} {
		require.Equal(t, http.StatusBadRequest, w.see(cookie, "/me?page="+page).Code, page)
	}

	// A single build by a group, directly, and not when disabled.
	group := int64(0)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return tx.GetContext(ctx, &group,
			`insert into tester_groups (organization_id, team_id, name) values ($1, $2, 'Crew') returning id`, w.org, w.team)
	})
	w.exec(`insert into tester_group_members (tester_group_id, user_id) values ($1, $2)`, group, tess)
	w.exec(`insert into build_groups (build_id, tester_group_id) values ($1, $2)`, other.ID, group)
	require.Contains(t, w.see(cookie, "/me").Body.String(), "Sons")
	w.exec(`delete from build_groups`)
	require.NotContains(t, w.see(cookie, "/me").Body.String(), "Sons")
	w.exec(`insert into project_testers (project_id, user_id) values ($1, $2)`, other.ProjectID, tess)
	require.Contains(t, w.see(cookie, "/me").Body.String(), "Sons")
	w.exec(`update builds set state = 'disabled' where id = $1`, other.ID)
	require.NotContains(t, w.see(cookie, "/me").Body.String(), "Sons")

	// Pages of many apps.
	w.exec(`insert into projects (organization_id, team_id, name, token, landing_page_mode, all_testers)
		select $1, $2, 'App ' || n, 'token' || n, 'closed', true from generate_series(1, 30) n`, w.org, w.team)
	w.exec(`insert into builds (organization_id, project_id, token, app_name, version, platform, kind, file_id, file_name)
		select organization_id, id, 'b' || token, name, '1', 'Android', 'apk', (select file_id from builds where id = $1), 'a.apk' from projects
		where token like 'token%'`, shared.ID)
	first := w.see(cookie, "/me").Body.String()
	require.Equal(t, 25, strings.Count(first, `class="tile"`))
	require.Contains(t, first, `href="/me?page=2"`)
	second := w.see(cookie, "/me?page=2").Body.String()
	require.Equal(t, 6, strings.Count(second, `class="tile"`))
	require.Contains(t, second, `href="/me?page=1"`)
	require.NotContains(t, second, "page=3")

	w.block(tess, true)
	for _, path := range []string{"/me", "/me/devices", "/me/leave", "/udid", "/me/apps/" + fmt.Sprint(shared.ProjectID),
		"/me/feedback?build=" + shared.Token} {
		rec := w.see(cookie, path)
		require.Equal(t, http.StatusForbidden, rec.Code, path)
		require.Contains(t, rec.Body.String(), "is blocked")
		require.NotContains(t, rec.Body.String(), "Harbour Notes")
	}
}

// TestSwitchOrganization has a person of two organizations.
func TestSwitchOrganization(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(forAll).Build
	tess := w.member("tess@example.com", account.Tester)
	other := w.join("other", "tess@example.com", account.Tester)
	third := w.join("third", "somebody@example.com", account.Tester)
	w.exec(`update memberships set last_login_at = now() where organization_id = $1`, w.org)
	cookie := w.enter("tess@example.com")
	page := w.see(cookie, "/me").Body.String()
	require.Contains(t, page, "Harbour Notes")
	require.Contains(t, page, fmt.Sprintf(`name="organization" value="%d"`, other))
	to := func(cookie *http.Cookie, organization int64) int {
		return w.do(request{path: "/me/organization", cookie: cookie, form: url.Values{"organization": {fmt.Sprint(organization)}}}).Code
	}
	require.Equal(t, http.StatusNotFound, to(cookie, third))
	require.Equal(t, http.StatusNotFound, to(cookie, 0))
	require.Equal(t, http.StatusSeeOther, to(cookie, other))
	page = w.see(cookie, "/me").Body.String()
	require.Contains(t, page, "OTHER")
	require.NotContains(t, page, "Harbour Notes")
	require.Equal(t, http.StatusNotFound, w.see(cookie, fmt.Sprintf("/me/apps/%d", made.ProjectID)).Code)
	require.Equal(t, http.StatusNotFound, w.see(cookie, "/me/feedback?build="+made.Token).Code)

	// The host selects an organization.
	w.serve(public, func(c *install.Config) {
		c.Organization = func(host string) string {
			slug, found := strings.CutSuffix(host, ".qa.example.com")
			if !found {
				return ""
			}
			return slug
		}
	})
	at := func(host, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+host+path, http.NoBody)
		if form != nil {
			r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+path, strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		r.AddCookie(cookie)
		rec := httptest.NewRecorder()
		w.router.ServeHTTP(rec, r)
		return rec
	}
	require.Equal(t, http.StatusOK, at("other.qa.example.com", "/me", nil).Code)
	require.Equal(t, http.StatusSeeOther, at("ships.qa.example.com", "/me", nil).Code, "another organization's session")
	before := len(w.mails())
	require.Equal(t, http.StatusOK, at("third.qa.example.com", "/sign-in", url.Values{"email": {"tess@example.com"}}).Code)
	require.Len(t, w.mails(), before, "no member there")
	require.Equal(t, http.StatusOK, at("ships.qa.example.com", "/sign-in", url.Values{"email": {"tess@example.com"}}).Code)
	require.Len(t, w.mails(), before+1)
	require.Equal(t, 1, w.count(`select count(*) from sign_in_links
		where used_at is null and organization_id = $1 and user_id = $2`, w.org, tess))
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(forAll).Build
	tess := w.member("tess@example.com", account.Tester)
	other := w.join("other", "tess@example.com", account.Tester)
	i := w.invite(made.ID, tess)[tess]
	path := "/invite/" + i.Secret
	status := func() (s string) {
		require.NoError(t, w.db.GetContext(t.Context(), &s, `select status from build_invites where id = $1`, i.ID))
		return s
	}

	// Looking begins nothing.
	for range 3 {
		rec := w.get(path, onPhone)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), "tess@example.com")
		require.Contains(t, rec.Body.String(), `action="`+path+`"`)
		require.Empty(t, rec.Result().Cookies())
	}
	require.Equal(t, "created", status())
	require.Equal(t, http.StatusForbidden,
		w.do(request{path: path, form: url.Values{}, header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).Code)

	rec := w.do(request{path: path, form: url.Values{}})
	require.Equal(t, http.StatusSeeOther, rec.Code, rec.Body)
	require.Equal(t, "/install/"+made.Token, rec.Header().Get("Location"))
	cookie := rec.Result().Cookies()[0]
	require.Equal(t, "opened", status())
	page := w.see(cookie, "/install/"+made.Token).Body.String()
	require.Contains(t, page, "/download")
	require.Contains(t, page, "tess@example.com")
	require.Equal(t, 1, w.audited(account.TesterSignedIn))

	// It works again, and with the session there is no second one.
	rec = w.do(request{path: path, form: url.Values{}, cookie: cookie})
	require.Equal(t, http.StatusSeeOther, rec.Code)
	require.Empty(t, rec.Result().Cookies())
	require.Equal(t, 1, w.count(`select count(*) from page_sessions`))

	// A whole office opens its mail at once.
	for range 20 {
		require.Equal(t, http.StatusSeeOther, w.do(request{path: path, form: url.Values{}, cookie: cookie}).Code)
	}

	// The organization knows the link: its session opens no other one.
	require.Equal(t, http.StatusNotFound, w.do(request{path: "/me/organization", cookie: cookie,
		form: url.Values{"organization": {fmt.Sprint(other)}}}).Code)
	require.NotContains(t, w.see(cookie, "/me").Body.String(), "OTHER")
	w.exec(`update projects set organization_id = $1`, other)
	w.exec(`update builds set organization_id = $1`, other)
	require.Contains(t, w.see(cookie, "/install/"+made.Token).Body.String(), `name="email"`, "another organization's app asks for a sign-in")
	w.exec(`update projects set organization_id = $1`, w.org)
	w.exec(`update builds set organization_id = $1`, w.org)

	gone := func(why string) {
		t.Helper()
		for _, form := range []url.Values{nil, {}} {
			rec := w.do(request{path: path, form: form})
			require.Equal(t, http.StatusGone, rec.Code, why)
			require.NotContains(t, rec.Body.String(), "Harbour Notes", why)
			require.NotContains(t, rec.Body.String(), "tess@", why)
			require.Empty(t, rec.Result().Cookies(), why)
		}
	}
	w.exec(`update memberships set blocked_at = now() where user_id = $1`, tess)
	gone("blocked")
	w.exec(`update memberships set blocked_at = null where user_id = $1`, tess)
	require.Equal(t, http.StatusOK, w.get(path, onPhone).Code)
	w.exec(`update projects set all_testers = false`)
	gone("the grant was taken back")
	w.exec(`update projects set all_testers = true`)
	w.exec(`update builds set deleted_at = now() where id = $1`, made.ID)
	gone("deleted build")
	w.exec(`update builds set deleted_at = null where id = $1`, made.ID)
	mailed := w.enter("tess@example.com")
	require.Equal(t, http.StatusOK, w.see(cookie, "/me").Code)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tester.RevokeInvites(ctx, tx, w.org, tess, made.ID)
		return err
	})
	gone("revoked")
	require.Equal(t, http.StatusSeeOther, w.see(cookie, "/me").Code, "the session that the link began")
	require.Equal(t, http.StatusOK, w.see(mailed, "/me").Code, "one that a mailed link began")
	require.ErrorIs(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error { return tester.HoldInvite(t.Context(), tx, i.ID) }),
		storage.ErrNotFound)
	again := w.invite(made.ID, tess)[tess]
	require.NotEqual(t, i.Secret, again.Secret)
	gone("an older one")
	require.Equal(t, http.StatusOK, w.get("/invite/"+again.Secret, onPhone).Code)
	path = "/invite/" + again.Secret
	w.exec(`delete from memberships where user_id = $1 and organization_id = $2`, tess, w.org)
	gone("removed")
	require.Equal(t, http.StatusSeeOther, w.see(cookie, "/me").Code, "sessions go with the membership")
	for _, secret := range []string{"x", again.Secret + "x", strings.Repeat("x", 4000), "%00"} {
		require.Equal(t, http.StatusGone, w.get("/invite/"+secret, onPhone).Code, secret)
	}
}

func TestSwitchMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	tess := w.member("tess@example.com", account.Tester)
	cookie := w.enter("tess@example.com")
	turn := func(to string) int {
		return w.do(request{path: "/me/mail", cookie: cookie, form: url.Values{"mail": {to}}}).Code
	}
	require.Contains(t, w.see(cookie, "/me").Body.String(), "Send no mail")
	for range 2 {
		require.Equal(t, http.StatusSeeOther, turn("off"))
		require.Equal(t, 1, w.count(`select count(*) from mail_unsubscribes where organization_id = $1 and user_id = $2`, w.org, tess))
	}
	require.Contains(t, w.see(cookie, "/me").Body.String(), "Send me mail again")
	require.Equal(t, http.StatusSeeOther, turn("on"))
	require.Zero(t, w.count(`select count(*) from mail_unsubscribes`))
	require.Equal(t, http.StatusBadRequest, turn("maybe"))
	require.NotZero(t, w.audited(account.TesterUnsubscribed))
	require.NotZero(t, w.audited(account.TesterSubscribed))
}

func TestLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(forAll)
	tess := w.member("tess@example.com", account.Tester)
	cookie := w.enter("tess@example.com")
	require.Contains(t, w.see(cookie, "/me/leave").Body.String(), "Leave Example Ships?")
	require.Equal(t, 1, w.count(`select count(*) from memberships where user_id = $1`, tess), "a look leaves nothing")
	require.Equal(t, http.StatusForbidden, w.do(request{path: "/me/leave", cookie: cookie, form: url.Values{},
		header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).Code)
	rec := w.do(request{path: "/me/leave", cookie: cookie, form: url.Values{}})
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), "You left")
	require.Zero(t, w.count(`select count(*) from memberships where user_id = $1`, tess))
	require.Equal(t, 1, w.audited(account.TesterLeft))
	require.Equal(t, http.StatusSeeOther, w.see(cookie, "/me").Code)
	require.Contains(t, w.see(cookie, "/install/harbour-notes").Body.String(), `name="email"`)

	owner := w.enter("owner@example.com")
	require.Contains(t, w.see(owner, "/me/leave").Body.String(), "an administrator can remove you")
	require.Equal(t, http.StatusConflict, w.do(request{path: "/me/leave", cookie: owner, form: url.Values{}}).Code)
	require.Equal(t, 1, w.count(`select count(*) from memberships`))

	w.later.Store(int64(31 * 24 * time.Hour))
	require.Equal(t, http.StatusSeeOther, w.see(owner, "/me").Code, "the session has ended")
}
