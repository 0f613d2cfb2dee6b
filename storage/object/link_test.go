package object

import (
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type response struct {
	status int
	header http.Header
	body   string
}

func fetch(t *testing.T, method, link string, header ...string) response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, link, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return response{res.StatusCode, res.Header, string(content)}
}

func store(t *testing.T, s Store, key, content, contentType string) Info {
	t.Helper()
	info, err := Put(t.Context(), s, key, strings.NewReader(content), int64(len(content)), WriteOptions{ContentType: contentType})
	require.NoError(t, err)
	return info
}

func sign(t *testing.T, s Store, key string, ttl time.Duration, opts SignOptions) string {
	t.Helper()
	link, err := s.SignGet(t.Context(), key, ttl, opts)
	require.NoError(t, err)
	return link
}

func TestSignedLink(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		info := store(t, h, "builds/one.apk", "0123456789", "application/vnd.android.package-archive")
		link := sign(t, h, "builds/one.apk", time.Minute, SignOptions{FileName: "app.apk"})

		got := fetch(t, http.MethodGet, link)
		require.Equal(t, http.StatusOK, got.status)
		require.Equal(t, "0123456789", got.body)
		require.Equal(t, `attachment; filename="app.apk"`, got.header.Get("Content-Disposition"))
		require.Equal(t, "application/vnd.android.package-archive", got.header.Get("Content-Type"))
		require.Equal(t, `"`+info.ETag+`"`, got.header.Get("ETag"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))

		got = fetch(t, http.MethodGet, link, "Range", "bytes=2-4")
		require.Equal(t, http.StatusPartialContent, got.status)
		require.Equal(t, "234", got.body)
		require.Equal(t, "bytes 2-4/10", got.header.Get("Content-Range"))

		got = fetch(t, http.MethodGet, link, "If-None-Match", `"`+info.ETag+`"`)
		require.Equal(t, http.StatusNotModified, got.status)

		for _, altered := range []string{
			strings.Replace(link, "one.apk", "two.apk", 1),
			strings.Replace(link, "app.apk", "app.exe", 1),
			link + "&inline=1",
			link[:len(link)-3],
			link[:strings.Index(link, "?")],
		} {
			require.NotEqual(t, link, altered)
			require.Equal(t, http.StatusForbidden, fetch(t, http.MethodGet, altered).status, altered)
		}
		missing := sign(t, h, "builds/none", time.Minute, SignOptions{})
		require.Equal(t, http.StatusNotFound, fetch(t, http.MethodGet, missing).status)
	})
}

func TestSignedLinkExpires(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		store(t, h, "k", "x", "")
		link := sign(t, h, "k", time.Second, SignOptions{})
		if h.clock != nil {
			require.Equal(t, http.StatusOK, fetch(t, http.MethodGet, link).status)
			h.clock.offset.Store(int64(3 * time.Second))
			got := fetch(t, http.MethodGet, link)
			require.Equal(t, http.StatusForbidden, got.status)
			require.JSONEq(t, `{"error":"the link has expired"}`, got.body)
			return
		}
		require.Eventually(t, func() bool {
			return fetch(t, http.MethodGet, link).status == http.StatusForbidden
		}, time.Minute, 100*time.Millisecond)
	})
}

func TestSignedLinkNamesAndTypes(t *testing.T) {
	eachStore(t, func(t *testing.T, h *harness) {
		store(t, h, "html", "<script>alert(1)</script>", "text/html")
		store(t, h, "png", "\x89PNG", "image/png")
		for _, c := range []struct {
			key             string
			opts            SignOptions
			kind, typ, name string
		}{
			{"html", SignOptions{Inline: true, ContentType: "text/html"}, "attachment", defaultType, ""},
			{"html", SignOptions{Inline: true, ContentType: "image/svg+xml"}, "attachment", defaultType, ""},
			{"html", SignOptions{Inline: true, ContentType: "text/plain; charset=utf-7"}, "inline", "text/plain; charset=utf-8", ""},
			{"png", SignOptions{Inline: true, ContentType: "image/png", FileName: "shot.png"}, "inline", "image/png", "shot.png"},
			{"png", SignOptions{Inline: true}, "attachment", "image/png", ""},
			{"png", SignOptions{FileName: "we\"ird\r\nX-Evil: 1\x00;.png"}, "attachment", "image/png", "we\"irdX-Evil_ 1;.png"},
			{"png", SignOptions{FileName: "Prüfung 日本 100%.apk"}, "attachment", "image/png", "Prüfung 日本 100%.apk"},
			{"png", SignOptions{FileName: "../../etc/passwd"}, "attachment", "image/png", "_.._etc_passwd"},
			{"png", SignOptions{FileName: "gepj.\u202eexe.apk"}, "attachment", "image/png", "gepj.exe.apk"},
		} {
			got := fetch(t, http.MethodGet, sign(t, h, c.key, time.Minute, c.opts))
			require.Equal(t, http.StatusOK, got.status, "%+v: %s", c, got.body)
			require.Empty(t, got.header.Get("X-Evil"))
			kind, params, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
			require.NoError(t, err, got.header.Get("Content-Disposition"))
			require.Equal(t, c.kind, kind)
			require.Equal(t, c.name, params["filename"])
			require.Equal(t, c.typ, got.header.Get("Content-Type"))
		}
	})
}

func TestFolderLinkDetails(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	store(t, h, "html", "<script>", "text/html")
	link := sign(t, h, "html", time.Minute, SignOptions{})

	head := fetch(t, http.MethodHead, link)
	require.Equal(t, http.StatusOK, head.status)
	require.Equal(t, "8", head.header.Get("Content-Length"))
	require.Equal(t, defaultType, head.header.Get("Content-Type"), "stored HTML is not delivered as such")
	require.Equal(t, "attachment", head.header.Get("Content-Disposition"))
	require.Contains(t, head.header.Get("Content-Security-Policy"), "sandbox")

	require.Equal(t, http.StatusMethodNotAllowed, fetch(t, http.MethodPost, link).status)
	require.Equal(t, http.StatusRequestedRangeNotSatisfiable, fetch(t, http.MethodGet, link, "Range", "bytes=100-").status)

	u, err := url.Parse(link)
	require.NoError(t, err)
	for _, change := range []func(q url.Values){
		func(q url.Values) { q.Set("exp", "99999999999") },
		func(q url.Values) { q.Add("exp", "99999999999") },
		func(q url.Values) { q.Set("type", "text/plain") },
		func(q url.Values) { q.Set("sig", strings.ToUpper(q.Get("sig"))) },
		func(q url.Values) { q.Add("sig", q.Get("sig")) },
		func(q url.Values) { q.Set("x", "1") },
		func(q url.Values) { q.Del("exp") },
	} {
		altered, query := *u, u.Query()
		change(query)
		altered.RawQuery = query.Encode()
		got := fetch(t, http.MethodGet, altered.String())
		require.Equal(t, http.StatusForbidden, got.status, altered.RawQuery)
		require.JSONEq(t, `{"error":"the link is not valid"}`, got.body)
		require.Equal(t, "application/json", got.header.Get("Content-Type"))
	}
	for _, path := range []string{"/objects/../tmp/x", "/objects/%2e%2e/tmp", "/objects/", "/other/html", "/objects/html/"} {
		altered := *u
		altered.Path, altered.RawPath = path, ""
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.URL = &altered
		h.Store.(*Folder).ServeSigned().ServeHTTP(recorder, request)
		require.Equal(t, http.StatusForbidden, recorder.Code, path)
	}
}

func TestLinkOfAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := newFolder(t)
	store(t, h, "k", "x", "")
	other, err := Open(t.Context(), Config{URL: t.TempDir(), PublicURL: "http://other", SigningKey: []byte(strings.Repeat("z", 32))})
	require.NoError(t, err)
	defer other.Close()
	link := sign(t, other, "k", time.Minute, SignOptions{})
	u, err := url.Parse(link)
	require.NoError(t, err)
	recorder := httptest.NewRecorder()
	h.Store.(*Folder).ServeSigned().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, u.RequestURI(), nil))
	require.Equal(t, http.StatusForbidden, recorder.Code)
}

// TestLinkOfOldKey: links that an older key signed are valid while it is in the ring.
func TestLinkOfOldKey(t *testing.T) {
	t.Parallel()
	dir, current, old := t.TempDir(), []byte(strings.Repeat("n", 32)), []byte(strings.Repeat("o", 32))
	open := func(key []byte, older ...string) *Folder {
		s, err := Open(t.Context(), Config{URL: dir, PublicURL: "http://h", SigningKey: key, OldSigningKeys: older})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s.(*Folder)
	}
	before := open(old)
	_, err := Put(t.Context(), before, "k", strings.NewReader("x"), 1, WriteOptions{})
	require.NoError(t, err)
	link, err := before.SignGet(t.Context(), "k", time.Minute, SignOptions{})
	require.NoError(t, err)
	u, err := url.Parse(link)
	require.NoError(t, err)
	status := func(f *Folder) int {
		recorder := httptest.NewRecorder()
		f.ServeSigned().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, u.RequestURI(), nil))
		return recorder.Code
	}
	require.Equal(t, http.StatusOK, status(open(current, string(old))))
	require.Equal(t, http.StatusForbidden, status(open(current)))
	anew, err := open(current, string(old)).SignGet(t.Context(), "k", time.Minute, SignOptions{})
	require.NoError(t, err)
	u, err = url.Parse(anew)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, status(before), "the current key signs")
	require.Equal(t, http.StatusOK, status(open(current)))
}

func TestPublicAddressOfS3(t *testing.T) {
	t.Parallel()
	h := newS3(t, Config{PublicURL: "https://files.example.com"})
	link := sign(t, h, "k", time.Minute, SignOptions{})
	require.True(t, strings.HasPrefix(link, "https://files.example.com/"+h.target+"/k?"), link)
	password, _ := minioServer(t).User.Password()
	require.NotContains(t, link, password)
}

// TestProxiedPublicAddress follows a link through another host, as a browser
// behind a reverse proxy does.
func TestProxiedPublicAddress(t *testing.T) {
	t.Parallel()
	address := newProxy(t, &proxy{spoil: func(*http.Request) spoiling { return forward }})
	h := newS3(t, Config{PublicURL: "http://" + address})
	store(t, h, "k", "through", "")
	link := sign(t, h, "k", time.Minute, SignOptions{})
	require.Contains(t, link, address)
	require.Equal(t, "through", fetch(t, http.MethodGet, link).body)
}

func FuzzDisposition(f *testing.F) {
	for _, name := range []string{"", "a.apk", "we\"ird\r\n", "日本.ipa", strings.Repeat("ü", 300) + ".apk", "\xff\xfe",
		"a\\b/c", "...", "a%20b", "'", "=?utf-8?q?x?="} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		header := dispositionHeader("attachment", name)
		for i := range len(header) {
			if header[i] < 0x20 || header[i] > 0x7e {
				t.Fatalf("%q: byte %#x in %q", name, header[i], header)
			}
		}
		kind, params, err := mime.ParseMediaType(header)
		if err != nil || kind != "attachment" {
			t.Fatalf("%q: %q: %v", name, header, err)
		}
		if got, want := params["filename"], cleanFileName(name); got != want {
			t.Fatalf("%q: %q is read as %q, want %q", name, header, got, want)
		}
		if len(cleanFileName(name)) > maxFileName {
			t.Fatalf("%q: too long", name)
		}
	})
}
