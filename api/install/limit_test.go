package install_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
)

const secretWord = "open sesame, päge"

func ptr[T any](v T) *T { return &v }

func (w *world) writer() account.Writer {
	return account.Writer{OrganizationID: w.org, AllTeams: true, Teams: []int64{w.team},
		Actor: account.Actor{UserID: w.owner, Name: "owner@example.com"}}
}

// limitApp sets what closes the page of an app; nil leaves it.
func (w *world) limitApp(id int64, expires, most, password *string) {
	w.t.Helper()
	page, err := landing.NewChange(expires, most, password)
	require.NoError(w.t, err)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := distribution.UpdateProject(ctx, tx, w.writer(), id, distribution.ProjectChange{Page: page})
		return err
	})
}

func (w *world) limitBuild(id int64, expires, most, password *string) {
	w.t.Helper()
	page, err := landing.NewChange(expires, most, password)
	require.NoError(w.t, err)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := distribution.UpdateBuild(ctx, tx, w.writer(), 0, id, distribution.BuildChange{Page: page})
		return err
	})
}

// TestPageEnds: after its time the page says so, and nothing behind it is given out, also
// not by a manifest whose link was made before.
func TestPageEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(apple)
	page, own := "/install/harbour-ios", "/install/"+made.Build.Token
	w.limitApp(made.Project.ID, ptr(time.Now().Add(time.Hour).Format(time.RFC3339)), nil, nil)
	manifest := w.manifestLink(page, nil)
	require.Equal(t, http.StatusOK, w.get(manifest, "").Code)
	rec := w.get(own+"/download", onPC)
	require.Equal(t, http.StatusFound, rec.Code)
	link, err := url.Parse(rec.Header().Get("Location"))
	require.NoError(t, err)
	require.NotEmpty(t, link.Query().Get("exp"))
	w.later.Store(int64(59 * time.Minute))
	fresh := w.manifestLink(page, nil)

	w.later.Store(int64(61 * time.Minute))
	for _, path := range []string{page, own} {
		rec := w.get(path, onApple)
		require.Equal(t, http.StatusGone, rec.Code)
		require.Contains(t, rec.Body.String(), "This page was open until")
		require.NotContains(t, rec.Body.String(), "itms-services")
	}
	for _, path := range []string{page + "/download", own + "/download", fresh} {
		require.Equal(t, http.StatusGone, w.get(path, onApple).Code, path)
	}
	require.Equal(t, http.StatusGone, w.do(request{method: http.MethodHead, path: own + "/download"}).Code)
	// Who is signed in finds it closed too, and whoever closed it opens it again.
	cookie := w.signIn(page, "owner@example.com")
	require.Equal(t, http.StatusGone, w.do(request{path: page, cookie: cookie}).Code)
	w.limitApp(made.Project.ID, ptr(""), nil, nil)
	require.Equal(t, http.StatusOK, w.get(page, onApple).Code)
	require.Equal(t, 2, w.downloads(made.Build.ID))
}

// TestBuildPageEnds: the end of a build's page leaves the app's open, without its button.
func TestBuildPageEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(nil)
	w.limitBuild(made.Build.ID, ptr("2020-01-01T00:00:00Z"), nil, nil)
	require.Equal(t, http.StatusGone, w.get("/install/"+made.Build.Token, onPhone).Code)
	require.Equal(t, http.StatusGone, w.get("/install/"+made.Build.Token+"/download", onPhone).Code)
	require.Equal(t, http.StatusGone, w.get("/install/harbour-notes/download", onPhone).Code)
	rec := w.get("/install/harbour-notes", onPhone)
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), "This build is not available any more")
	require.NotContains(t, rec.Body.String(), "/download")
}

// TestInstallsAreBounded: of a hundred at once, as many come through as may.
func TestInstallsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(nil)
	w.limitApp(made.Project.ID, nil, ptr("10"), nil)
	w.limitBuild(made.Build.ID, nil, ptr("15"), nil)
	path := "/install/" + made.Build.Token + "/download"
	var through, refused atomic.Int64
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			rec := httptest.NewRecorder()
			w.router.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, public+path, http.NoBody))
			switch rec.Code {
			case http.StatusFound:
				through.Add(1)
			case http.StatusGone:
				refused.Add(1)
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 10, through.Load())
	require.EqualValues(t, 90, refused.Load())
	require.Equal(t, 10, w.downloads(made.Build.ID))
	rec := w.get("/install/harbour-notes", onPhone)
	require.Equal(t, http.StatusGone, rec.Code)
	require.Contains(t, rec.Body.String(), "This page was open for a number of installs")

	// More are let through; those of the build's page were counted with the app's.
	w.limitApp(made.Project.ID, nil, ptr("100"), nil)
	for range 5 {
		rec := w.do(request{method: http.MethodHead, path: path})
		require.Equal(t, http.StatusOK, rec.Code, "a link that nobody counts is none")
		require.Empty(t, rec.Header().Get("Location"))
		require.Equal(t, http.StatusFound, w.get(path, onPhone).Code)
	}
	require.Equal(t, http.StatusGone, w.get(path, onPhone).Code)
	// Without a bound nothing is counted, and a new bound begins at nothing.
	w.limitBuild(made.Build.ID, nil, ptr(""), nil)
	require.Equal(t, http.StatusFound, w.get(path, onPhone).Code)
	w.limitBuild(made.Build.ID, nil, ptr("1"), nil)
	require.Equal(t, http.StatusFound, w.get(path, onPhone).Code)
	require.Equal(t, http.StatusGone, w.get(path, onPhone).Code)
}

// unlock sends a password and returns the response with the cookies that it set.
func (w *world) unlock(page, password, address string, cookies ...*http.Cookie) (*httptest.ResponseRecorder, []*http.Cookie) {
	w.t.Helper()
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, public+page+"/password",
		strings.NewReader(url.Values{"password": {password}}.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.RemoteAddr = address + ":1000"
	for _, c := range cookies {
		req.AddCookie(c)
	}
	rec := httptest.NewRecorder()
	w.router.ServeHTTP(rec, req)
	return rec, rec.Result().Cookies()
}

func TestPagePassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(func(u *distribution.Upload) {
		apple(u)
		u.ProjectGroups = grant.Groups{Given: true, All: true}
	})
	page, own := "/install/harbour-ios", "/install/"+made.Build.Token
	before := w.manifestLink(page, nil)
	w.limitApp(made.Project.ID, nil, nil, ptr(secretWord))
	for _, path := range []string{page, own} {
		rec := w.get(path, onApple)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), `type="password"`)
		require.NotContains(t, rec.Body.String(), "Offline")
		require.NotContains(t, rec.Body.String(), "itms-services")
		rec = w.get(path+"/download", onPC)
		require.Equal(t, http.StatusSeeOther, rec.Code)
		require.Equal(t, path, rec.Header().Get("Location"))
	}
	require.Equal(t, http.StatusForbidden, w.get(before, "").Code, "a ticket of before ends with the password")

	rec, cookies := w.unlock(page, "wrong one", "198.51.100.1")
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Contains(t, rec.Body.String(), `role="alert"`)
	require.Empty(t, cookies)
	rec, cookies = w.unlock(page, secretWord, "198.51.100.1")
	require.Equal(t, http.StatusSeeOther, rec.Code, rec.Body)
	require.Equal(t, page, rec.Header().Get("Location"))
	require.Len(t, cookies, 1)
	require.True(t, cookies[0].HttpOnly && cookies[0].Secure)
	require.Equal(t, "/install/", cookies[0].Path)
	for _, path := range []string{page, own} {
		require.Contains(t, w.do(request{path: path, agent: onApple, cookie: cookies[0]}).Body.String(), "Offline")
		require.Equal(t, http.StatusFound, w.do(request{path: path + "/download", cookie: cookies[0]}).Code)
	}
	require.Equal(t, http.StatusOK, w.get(w.manifestLink(page, cookies[0]), "").Code)
	// Another page's cookie, an altered one and an old one are none.
	other := w.upload(nil)
	w.limitApp(other.Project.ID, nil, nil, ptr(secretWord))
	forged := *cookies[0]
	forged.Name = "slipway_page_p" + strconv.FormatInt(other.Project.ID, 10)
	require.Contains(t, w.do(request{path: "/install/harbour-notes", cookie: &forged}).Body.String(), `type="password"`)
	forged = *cookies[0]
	forged.Value = "9" + forged.Value
	require.Contains(t, w.do(request{path: page, cookie: &forged}).Body.String(), `type="password"`)
	w.later.Store(int64(25 * time.Hour))
	require.Contains(t, w.do(request{path: page, cookie: cookies[0]}).Body.String(), `type="password"`)
	w.later.Store(0)

	// The build may have one of its own: then both are asked for, one after the other.
	w.limitBuild(made.Build.ID, nil, nil, ptr("another word"))
	require.Contains(t, w.do(request{path: own, cookie: cookies[0]}).Body.String(), "This build has a password of its own")
	_, more := w.unlock(own, "another word", "198.51.100.1", cookies...)
	require.Len(t, more, 1)
	rec = w.do(request{path: own, agent: onApple, cookie: more[0], header: map[string]string{"Cookie": cookies[0].String()}})
	require.Contains(t, rec.Body.String(), "Offline")

	// Who was given the app signs in instead of knowing the password.
	w.member("tess@example.com", account.Tester)
	session := w.signIn(page, "tess@example.com")
	require.Contains(t, w.do(request{path: own, agent: onApple, cookie: session}).Body.String(), "Offline")
	// A changed password asks everybody again.
	w.limitBuild(made.Build.ID, nil, nil, ptr(""))
	w.limitApp(made.Project.ID, nil, nil, ptr(secretWord+"!"))
	require.Contains(t, w.do(request{path: page, cookie: cookies[0]}).Body.String(), `type="password"`)

	// A form of another site is none, and no text of all this has the password.
	require.Equal(t, http.StatusForbidden, w.do(request{path: page + "/password", form: url.Values{"password": {secretWord + "!"}},
		header: map[string]string{"Sec-Fetch-Site": "cross-site"}}).Code)
	var audited []string
	require.NoError(t, w.db.SelectContext(t.Context(), &audited, `select coalesce(detail::text, '') from audit_events order by id`))
	all := strings.Join(append(audited, w.log.String()), "\n")
	require.Contains(t, all, `"landing_page_password": "changed"`)
	require.NotContains(t, all, "sesame")
	require.NotContains(t, all, "pbkdf2")
}

// TestPasswordsAreBounded: an address that guesses has to wait, at that page alone, and
// nobody else has.
func TestPasswordsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.serve(public, w.still)
	made := w.upload(nil)
	ios := w.upload(apple)
	w.limitApp(made.Project.ID, nil, nil, ptr(secretWord))
	w.limitApp(ios.Project.ID, nil, nil, ptr(secretWord))
	var codes []int
	for range 12 {
		rec, _ := w.unlock("/install/harbour-notes", "a wrong word", "198.51.100.1")
		codes = append(codes, rec.Code)
	}
	require.Equal(t, append(slices.Repeat([]int{http.StatusForbidden}, 10), http.StatusTooManyRequests, http.StatusTooManyRequests), codes)
	rec, _ := w.unlock("/install/harbour-notes", secretWord, "198.51.100.1")
	require.Equal(t, http.StatusTooManyRequests, rec.Code)
	require.NotEmpty(t, rec.Header().Get("Retry-After"))
	rec, _ = w.unlock("/install/harbour-notes", secretWord, "198.51.100.2")
	require.Equal(t, http.StatusSeeOther, rec.Code)
	rec, _ = w.unlock("/install/harbour-ios", secretWord, "198.51.100.1")
	require.Equal(t, http.StatusSeeOther, rec.Code)
	w.later.Store(int64(time.Minute))
	rec, _ = w.unlock("/install/harbour-notes", secretWord, "198.51.100.1")
	require.Equal(t, http.StatusSeeOther, rec.Code)
	rec, _ = w.unlock("/install/harbour-notes", strings.Repeat("x", 5000), "198.51.100.3")
	require.Equal(t, http.StatusForbidden, rec.Code)
}

// TestOlderNotes: the page of an app has what was new before, folded and bounded.
func TestOlderNotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(func(u *distribution.Upload) {
		u.ReleaseNotes = "The first\n" + strings.Repeat("and more\n", 4000) + "its end"
	})
	hidden := w.upload(func(u *distribution.Upload) { u.ReleaseNotes = "Not for all" })
	w.limitBuild(hidden.Build.ID, nil, nil, ptr(secretWord))
	w.upload(func(u *distribution.Upload) { u.ReleaseNotes = "" })
	w.upload(func(u *distribution.Upload) { u.ReleaseNotes = "שלום\n\n| a | b |\n|---|---|\n| 1 | 2 |" })
	rec := w.get("/install/harbour-notes", onPhone)
	body := rec.Body.String()
	require.Equal(t, 1, strings.Count(body, "<summary>What was new</summary>"))
	require.Contains(t, body, "The first")
	require.NotContains(t, body, "its end")
	require.NotContains(t, body, "Not for all")
	require.Contains(t, body, `<div class="note" dir="auto">`)
	require.Contains(t, body, "<th>a</th>")
	require.Less(t, rec.Body.Len(), 60_000)
}
