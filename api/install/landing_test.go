package install_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"image/png"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/install"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

func TestOpenPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	old := w.upload(func(u *distribution.Upload) { u.Package.Version = "1.2.2"; u.ReleaseNotes = "older" })
	made := w.upload(nil)
	w.exec(`update projects set description = 'Notes for *sailors*' where id = $1`, made.Project.ID)

	rec := w.get("/install/harbour-notes", onPhone)
	require.Equal(t, http.StatusOK, rec.Code, rec.Body)
	page := rec.Body.String()
	for _, text := range []string{"<h1 dir=\"auto\">Harbour Notes</h1>", "Example Ships", "Version 1.2.3 (10203)",
		">Android<", "32 kB", "Android 8.0 or newer",
		time.Now().UTC().Format("2 January 2006"), "<strong>Offline</strong> notes", "Notes for <em>sailors</em>",
		`href="/install/` + made.Build.Token + `/download">Install`, `src="/install/harbour-notes/icon"`, "<svg xmlns",
		`href="/install/` + old.Build.Token + `"`, "1.2.2 (10203)", "com.example.harbour", made.Build.File.SHA256} {
		require.Contains(t, page, text)
	}
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "alert(1)")
	require.NotContains(t, page, "ZgotmplZ")
	header := rec.Header()
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.Regexp(t,
		`^default-src 'none'; style-src 'sha256-[^ ']+'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$`,
		header.Get("Content-Security-Policy"))
	require.Equal(t, "same-origin", header.Get("Referrer-Policy"))
	require.Equal(t, "private, no-store", header.Get("Cache-Control"))
	require.Equal(t, "noindex, nofollow", header.Get("X-Robots-Tag"))

	// In any case, by token, and the build's own page.
	for _, name := range []string{"Harbour-Notes", made.Project.Token} {
		require.Contains(t, w.get("/install/"+name, onPC).Body.String(), "<h1 dir=\"auto\">Harbour Notes</h1>")
	}
	page = w.get("/install/"+old.Build.Token, onPC).Body.String()
	require.Contains(t, page, "Version 1.2.2")
	require.Contains(t, page, `<a href="/install/harbour-notes">Latest build of this app</a>`)
	require.NotContains(t, page, "Other builds")
	require.Contains(t, page, "Scan the code with your Android phone or tablet")
	require.Contains(t, w.get("/install/"+old.Build.Token, onApple).Body.String(), "This app is for Android")

	// Below a path of the host.
	w.serve(public + "/slipway/")
	page = w.get("/install/harbour-notes", onPhone).Body.String()
	require.Contains(t, page, `href="/slipway/install/`+made.Build.Token+`/download"`)
	require.Contains(t, page, `src="/slipway/install/harbour-notes/icon"`)
}

func TestPageStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	made := w.upload(nil)
	for state, text := range map[string]string{"disabled": "This build is not available", "invalid": "This build cannot be installed",
		"certificate_expired": "The provisioning profile has expired"} {
		w.exec(`update builds set state = $1, state_reason = 'told <why>' where id = $2`, state, made.Build.ID)
		rec := w.get("/install/harbour-notes", onPhone)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Contains(t, rec.Body.String(), text)
		require.Contains(t, rec.Body.String(), "Told &lt;why&gt;.")
		require.NotContains(t, rec.Body.String(), "/download")

		rec = w.get("/install/harbour-notes/download", onPhone)
		require.Equal(t, http.StatusConflict, rec.Code)
		require.Contains(t, rec.Body.String(), text)
	}
	require.Zero(t, w.downloads(made.Build.ID))
}

func TestApplePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(apple)
	page := w.get("/install/harbour-ios", onApple).Body.String()
	require.Contains(t, page, `href="itms-services://?action=download-manifest&amp;url=https%3A%2F%2Fqa.example.com%2Finstall%2F`)
	require.Contains(t, page, `http-equiv="refresh" content="3240"`)
	require.Contains(t, page, "Only the one device")
	require.Contains(t, page, "Harbour &amp; &lt;Sons&gt;")

	page = w.get("/install/harbour-ios?udid=00008030-FFFFFFFFFFFFFFFF", onApple).Body.String()
	require.Contains(t, page, "This device is not in the provisioning profile")
	require.NotContains(t, page, "itms-services")
	require.Contains(t, w.get("/install/harbour-ios?udid=00008030-001a2b3c4d5e6f70", onApple).Body.String(), "itms-services")
	require.NotContains(t, w.get("/install/harbour-ios?udid=%3Cscript%3E", onApple).Body.String(), "<script")

	w.later.Store(int64(101 * 24 * time.Hour))
	page = w.get("/install/harbour-ios", onApple).Body.String()
	require.Contains(t, page, "The provisioning profile has expired")
	require.NotContains(t, page, "itms-services")
	w.later.Store(0)

	w.serve("http://qa.example.com")
	page = w.get("/install/harbour-ios", onApple).Body.String()
	require.Contains(t, page, "needs https")
	require.NotContains(t, page, "itms-services")
}

func TestUnknownPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	for _, name := range []string{"nothing-here", "a%00b", "%ff", strings.Repeat("x", 500), "..%2f..", "%3Cscript%3E", "%F0%9F%98%80"} {
		for _, rest := range []string{"", "/icon", "/qr", "/download"} {
			rec := w.get("/install/"+name+rest, onPhone)
			require.Equal(t, http.StatusNotFound, rec.Code, name+rest)
			if strings.Contains(rec.Header().Get("Content-Type"), "html") {
				require.Contains(t, rec.Body.String(), "This page does not exist")
			}
		}
	}
	rec := w.get("/install/nothing-here/manifest.plist?ticket=1.2.3", onApple)
	require.Equal(t, http.StatusNotFound, rec.Code)
	require.Equal(t, "not found\n", rec.Body.String())
	require.Empty(t, w.log.String())
}

func TestEmptyApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := distribution.CreateProject(ctx, tx, account.Writer{OrganizationID: w.org,
			Actor: account.Actor{UserID: w.owner, Name: "owner@example.com"}, AllTeams: true},
			distribution.NewProject{TeamID: w.team, Name: "Empty", PackageName: "com.example.empty", Platform: artifact.Android, Slug: "empty-app"})
		return err
	})
	rec := w.get("/install/empty-app", onPhone)
	require.Equal(t, http.StatusOK, rec.Code)
	require.Contains(t, rec.Body.String(), "There is no build of this app yet")
	require.Equal(t, http.StatusNotFound, w.get("/install/empty-app/download", onPhone).Code)
	require.Equal(t, http.StatusOK, w.get("/install/empty-app/icon", onPhone).Code)

	w.exec(`update projects set landing_page_mode = 'closed'`)
	require.Contains(t, w.get("/install/empty-app", onPhone).Body.String(), `name="email"`)
	cookie := w.signIn("/install/empty-app", "owner@example.com")
	require.Contains(t, w.do(request{path: "/install/empty-app", cookie: cookie}).Body.String(), "no build of this app yet")
}

func TestIcon(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	picture := squares(t)
	made := w.upload(func(u *distribution.Upload) {
		closed(u)
		file := w.put(picture, "image/png")
		u.Icon = &file
	})
	for _, name := range []string{"harbour-notes", made.Build.Token} {
		rec := w.get("/install/"+name+"/icon", onPhone)
		require.Equal(t, http.StatusOK, rec.Code)
		require.Equal(t, "image/png", rec.Header().Get("Content-Type"))
		require.Contains(t, rec.Header().Get("Cache-Control"), "public")
		require.Equal(t, picture, rec.Body.Bytes())
		again := w.do(request{path: "/install/" + name + "/icon", header: map[string]string{"If-None-Match": `"other", W/` +
			rec.Header().Get("ETag")}})
		require.Equal(t, http.StatusNotModified, again.Code)
		require.Empty(t, again.Body)
	}
	// The object is gone, or there never was one: the letter.
	require.NoError(t, w.objects.Delete(t.Context(), made.Build.IconKey))
	rec := w.get("/install/harbour-notes/icon", onPhone)
	require.Equal(t, http.StatusOK, rec.Code)
	_, err := png.Decode(bytes.NewReader(rec.Body.Bytes()))
	require.NoError(t, err)
	again := w.do(request{path: "/install/harbour-notes/icon", header: map[string]string{"If-None-Match": rec.Header().Get("ETag")}})
	require.Equal(t, http.StatusNotModified, again.Code)
}

func TestQR(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(closed)
	rec := w.get("/install/Harbour-Notes/qr", onPC)
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, "image/svg+xml", rec.Header().Get("Content-Type"))
	require.NoError(t, xml.Unmarshal(rec.Body.Bytes(), new(struct{})))
	rec = w.get("/install/harbour-notes/qr?format=png", onPC)
	require.Equal(t, "image/png", rec.Header().Get("Content-Type"))
	_, err := png.Decode(bytes.NewReader(rec.Body.Bytes()))
	require.NoError(t, err)
}

// TestFailurePage has the database go away.
func TestFailurePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, public)
	w.upload(nil)
	require.NoError(t, w.db.Close())
	rec := w.get("/install/harbour-notes", onPhone)
	require.GreaterOrEqual(t, rec.Code, 500)
	require.Contains(t, rec.Header().Get("Content-Type"), "text/html")
	require.NotContains(t, rec.Body.String(), "sql")
	require.Contains(t, w.log.String(), "route=/install/:name")
}

func TestNewRefusesMisuse(t *testing.T) {
	t.Parallel()
	db, objects := &storage.DB{}, &object.Folder{}
	for _, cfg := range []install.Config{{}, {DB: db, Objects: objects, PublicURL: public},
		{DB: db, Objects: objects, Log: slog.Default(), PublicURL: "qa.example.com"},
		{DB: db, Objects: objects, Log: slog.Default(), PublicURL: "ftp://qa.example.com"}} {
		_, err := install.New(cfg)
		require.Error(t, err)
	}
}

// BenchmarkLanding is the time of a project's page with ten builds, its three
// queries included.
func BenchmarkLanding(b *testing.B) {
	w := newWorld(b, public)
	for range 12 {
		w.upload(nil)
	}
	for b.Loop() {
		require.Equal(b, http.StatusOK, w.get("/install/harbour-notes", onPhone).Code)
	}
}
