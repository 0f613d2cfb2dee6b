package install_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"howett.net/plist"

	"github.com/slipway-qa/slipway/storage/account"
)

// ways are the rows of who got a build, as text.
func (w *world) ways() (list []string) {
	w.t.Helper()
	require.NoError(w.t, w.db.SelectContext(w.t.Context(), &list,
		`select coalesce(u.email, 'nobody') || ' ' || i.channel || ' ' || i.device || ' ' || i.count
		from build_installs i left join users u on u.id = i.user_id where i.organization_id = $1 order by i.id`, w.org))
	return list
}

// fetch follows a link of the object store.
func (w *world) fetch(link string) *httptest.ResponseRecorder {
	w.t.Helper()
	u, err := url.Parse(link)
	require.NoError(w.t, err)
	require.Equal(w.t, "qa.example.com", u.Host)
	return w.get(u.RequestURI(), "")
}

// requireAge checks that a link lives as long as a slow phone may need.
func (w *world) requireAge(link string) {
	w.t.Helper()
	u, err := url.Parse(link)
	require.NoError(w.t, err)
	end, err := strconv.ParseInt(u.Query().Get("exp"), 10, 64)
	require.NoError(w.t, err)
	require.WithinDuration(w.t, time.Now().Add(2*time.Hour), time.Unix(end, 0), time.Minute)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestDownload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(nil)
	path := "/install/" + made.Build.Token + "/download"
	rec := w.get(path, onPhone)
	require.Equal(t, http.StatusFound, rec.Code)
	file := w.fetch(rec.Header().Get("Location"))
	require.Equal(t, http.StatusOK, file.Code)
	require.Equal(t, made.Build.File.SHA256, digest(file.Body.Bytes()))
	require.Equal(t, "application/vnd.android.package-archive", file.Header().Get("Content-Type"))
	require.Contains(t, file.Header().Get("Content-Disposition"), "harbour-1.2.3.apk")
	require.Equal(t, 1, w.downloads(made.Build.ID))
	w.requireAge(rec.Header().Get("Location"))

	require.Equal(t, http.StatusFound, w.do(request{method: http.MethodHead, path: path}).Code)
	require.Equal(t, 1, w.downloads(made.Build.ID), "HEAD does not count")
	require.Equal(t, http.StatusFound, w.get("/install/harbour-notes/download", onPC).Code)
	require.Equal(t, 2, w.downloads(made.Build.ID))
	require.Equal(t, []string{"nobody page  2"}, w.ways(), "strangers are counted together")
}

func TestClosedDownload(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(closed)
	rec := w.get("/install/harbour-notes/download", onPhone)
	require.Equal(t, http.StatusSeeOther, rec.Code)
	require.Equal(t, "/install/harbour-notes", rec.Header().Get("Location"))
	w.member("tess@example.com", account.Tester)
	rec = w.do(request{path: "/install/harbour-notes/download", cookie: w.signIn("/install/harbour-notes", "tess@example.com")})
	require.Equal(t, http.StatusForbidden, rec.Code)
	require.Contains(t, rec.Body.String(), "This app was not shared with")
	require.Zero(t, w.downloads(made.Build.ID))
	rec = w.do(request{path: "/install/harbour-notes/download", cookie: w.signIn("/install/harbour-notes", "owner@example.com")})
	require.Equal(t, http.StatusFound, rec.Code)
	require.Equal(t, 1, w.downloads(made.Build.ID))
	require.Equal(t, []string{"owner@example.com page  1"}, w.ways())
}

// manifestLink is the path that the page's button makes an iOS device fetch.
func (w *world) manifestLink(page string, cookie *http.Cookie) string {
	w.t.Helper()
	body := w.do(request{path: page, agent: onApple, cookie: cookie}).Body.String()
	_, rest, found := strings.Cut(body, `href="itms-services://?action=download-manifest&amp;url=`)
	require.True(w.t, found, body)
	escaped, _, _ := strings.Cut(rest, `"`)
	link, err := url.QueryUnescape(escaped)
	require.NoError(w.t, err)
	require.True(w.t, strings.HasPrefix(link, public+"/install/"), link)
	return strings.TrimPrefix(link, public)
}

func TestManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(apple)
	path := w.manifestLink("/install/harbour-ios", nil)
	rec := w.get(path, "com.apple.appstored/1.0")
	require.Equal(t, http.StatusOK, rec.Code, rec.Body)
	require.Equal(t, "text/xml; charset=utf-8", rec.Header().Get("Content-Type"))
	var doc struct {
		Items []struct {
			Assets []struct {
				Kind string `plist:"kind"`
				URL  string `plist:"url"`
			} `plist:"assets"`
			Metadata map[string]string `plist:"metadata"`
		} `plist:"items"`
	}
	_, err := plist.Unmarshal(rec.Body.Bytes(), &doc)
	require.NoError(t, err)
	require.Len(t, doc.Items, 1)
	require.Equal(t, map[string]string{"bundle-identifier": "com.example.harbour", "bundle-version": "1.2.3", "kind": "software",
		"title": "Harbour & <Sons>"}, doc.Items[0].Metadata)
	require.Len(t, doc.Items[0].Assets, 2)
	require.Equal(t, "software-package", doc.Items[0].Assets[0].Kind)
	file := w.fetch(doc.Items[0].Assets[0].URL)
	require.Equal(t, http.StatusOK, file.Code)
	require.Equal(t, made.Build.File.SHA256, digest(file.Body.Bytes()))
	require.Equal(t, "application/octet-stream", file.Header().Get("Content-Type"))
	w.requireAge(doc.Items[0].Assets[0].URL)
	require.Equal(t, "display-image", doc.Items[0].Assets[1].Kind)
	require.Equal(t, http.StatusOK, w.fetch(doc.Items[0].Assets[1].URL).Code)
	require.Equal(t, 1, w.downloads(made.Build.ID))
	require.Equal(t, http.StatusOK, w.do(request{method: http.MethodHead, path: path}).Code)
	require.Equal(t, 1, w.downloads(made.Build.ID))

	for name, bad := range map[string]string{"none": strings.Split(path, "?")[0], "altered": path + "x",
		"by slug of another": strings.Replace(path, "ticket=0.", "ticket=1.", 1)} {
		rec := w.get(bad, onApple)
		require.Equal(t, http.StatusForbidden, rec.Code, name)
		require.Equal(t, "text/plain; charset=utf-8", rec.Header().Get("Content-Type"))
	}
	// A ticket for what iOS cannot install.
	w.exec(`update builds set kind = 'apk'`)
	require.Equal(t, http.StatusNotFound, w.get(path, onApple).Code)
	w.exec(`update builds set kind = 'ipa', state = 'disabled'`)
	require.Equal(t, http.StatusConflict, w.get(path, onApple).Code)
	w.exec(`update builds set state = 'enabled'`)
	w.later.Store(int64(time.Hour + time.Second))
	require.Equal(t, http.StatusForbidden, w.get(path, onApple).Code, "expired")
}

// TestManifestOfPeople has tickets that stand for a person.
func TestManifestOfPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(apple)
	anonymous := w.manifestLink("/install/harbour-ios", nil)
	w.exec(`update projects set landing_page_mode = 'closed'`)
	require.Equal(t, http.StatusForbidden, w.get(anonymous, onApple).Code, "closed since")

	w.exec(`update builds set all_testers = true`)
	tess := w.member("tess@example.com", account.Tester)
	path := w.manifestLink("/install/harbour-ios", w.signIn("/install/harbour-ios", "tess@example.com"))
	require.Equal(t, http.StatusOK, w.get(path, onApple).Code, "no cookie needed")
	require.Equal(t, http.StatusOK, w.get(path, "com.apple.appstored/1.0 iOS/18.6 model/iPhone14,5 hwp/t8110 build/22G86 (6; dt:246)").Code)
	require.Equal(t, []string{"tess@example.com manifest iPhone, iOS 18.6 1", "tess@example.com manifest iPhone14,5, iOS 18.6 1"}, w.ways())
	w.block(tess, true)
	require.Equal(t, http.StatusForbidden, w.get(path, onApple).Code, "blocked since")
	w.block(tess, false)
	w.exec(`update builds set all_testers = false`)
	require.Equal(t, http.StatusForbidden, w.get(path, onApple).Code, "not shared any more")
}
