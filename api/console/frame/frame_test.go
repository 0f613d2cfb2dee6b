package frame

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 B": Bytes(0), "1023 B": Bytes(1023), "1.0 KiB": Bytes(1024), "1.5 KiB": Bytes(1536), "20 MiB": Bytes(int64(20 << 20)), "–": Bytes(nil),
		"1": Number(1), "999": Number(999), "1\u202f000": Number(1000), "-12\u202f345\u202f678": Number(int64(-12345678)),
		"0 %": percent(0.0), "0.50 %": percent(0.005), "12.3 %": percent(0.1234), "99.95 %": percent(0.9995), "100 %": percent(1.0),
		"999 ms": took(999), "1.0 s": took(1000), "1 min 1 s": took(61_000), "2 h 5 min": took(7_500_000),
		"1 crash": plural(1, "crash", "crashes"), "0 crashes": plural(0, "crash", "crashes"), "not found": words("NOT_FOUND"),
	} {
		require.Equal(t, want, got)
	}
	at := time.Date(2026, 3, 1, 12, 0, 5, 0, time.FixedZone("x", 3600))
	for _, value := range []any{at, &at, "2026-03-01T12:00:05+01:00"} {
		require.Equal(t, template.HTML(`<time datetime="2026-03-01T11:00:05Z" title="2026-03-01 11:00:05 UTC">2026-03-01 11:00</time>`),
			when(value))
	}
	for _, value := range []any{nil, time.Time{}, (*time.Time)(nil), "yesterday", (*string)(nil)} {
		require.NotContains(t, when(value), "<time")
	}
}

// A text of a user is text, whatever it holds and however long it is.
func TestTextsStayTexts(t *testing.T) {
	t.Parallel()
	hostile := `<img src=x onerror=alert(1)>"'&`
	for _, made := range []template.HTML{Short(80, hostile), Short(8, strings.Repeat(hostile, 50)),
		Bars(hostile, []Bar{{Label: hostile, Link: `/x?"><script>`, Parts: []Part{{0, hostile, 1}, {1, "other", 2}}}}),
		Sparkline(hostile, []int64{1, 2})} {
		require.NotContains(t, made, "<img")
		require.NotContains(t, made, "<script>")
		require.NotContains(t, made, `""`)
	}
	require.Equal(t, template.HTML(`<span title="abcdefghij">abcd…ij</span>`), Short(7, "abcdefghij"))
	require.Equal(t, template.HTML("äöüß"), Short(4, "äöüß"))
	require.Empty(t, Sparkline("none", nil))
	many := make([]Bar, 5*maxBars)
	require.Less(t, len(Bars("many", many)), 400_000)
}

// Only addresses of the console are led to.
func TestOwnPath(t *testing.T) {
	t.Parallel()
	for path, own := range map[string]bool{"": true, "/": true, "/crashes?state=open": true, "?page=2": true, "/a/../../x": true,
		"//evil.example": false, "https://evil.example": false, `/\evil.example`: false, "javascript:alert(1)": false, "crashes": false,
		"/a\r\nSet-Cookie: x=1": false} {
		require.Equal(t, own, ownPath(path), "%q", path)
	}
}

func request(method, target string, header http.Header) (*gin.Context, *httptest.ResponseRecorder) {
	rec := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(rec)
	c.Request = httptest.NewRequest(method, target, http.NoBody)
	for name, values := range header {
		c.Request.Header[name] = values
	}
	return c, rec
}

// A notice is said on the next page, once, and holds any text.
func TestNotice(t *testing.T) {
	t.Parallel()
	f := &Frame{}
	c, rec := request("POST", "/console/x", nil)
	f.setNotice(c, Notice{Text: "Größe; \"x\"\n<b>" + strings.Repeat("é", 2000), Bad: true})
	cookie := rec.Result().Cookies()[0]
	require.Less(t, len(cookie.String()), 4096)
	require.True(t, cookie.HttpOnly)
	c, rec = request("GET", "/console", http.Header{"Cookie": {cookie.Name + "=" + cookie.Value}})
	n := f.takeNotice(c)
	require.True(t, n.Bad)
	require.True(t, strings.HasPrefix(n.Text, "Größe; \"x\"\n<b>é"))
	require.Equal(t, -1, rec.Result().Cookies()[0].MaxAge)
	for _, value := range []string{"", "!!", "Kw", strings.Repeat("A", 8000)} {
		c, _ = request("GET", "/console", http.Header{"Cookie": {noticeCookie + "=" + value}})
		require.Nil(t, f.takeNotice(c), value)
	}
}

// The address of another page of a list keeps what the list was narrowed by.
func TestAddresses(t *testing.T) {
	t.Parallel()
	f := &Frame{base: "/qa"}
	c, _ := request("GET", "/console/crashes?state=open&page=2&q=a%26b", nil)
	p := f.Pages(c, 2, 10, 25)
	require.Equal(t, &Pager{Page: 2, Pages: 3, Total: 25, Previous: "/qa/console/crashes?page=1&q=a%26b&state=open",
		Next: "/qa/console/crashes?page=3&q=a%26b&state=open"}, p)
	require.Equal(t, p, f.PagesOf(c, Paging{Page: 2, PerPage: 10, Total: 25}))
	yes, no := true, false
	stopped := f.PagesOf(c, Paging{Page: 2, PerPage: 10, Total: 15, HasNext: &yes})
	require.True(t, stopped.AtLeast)
	require.Equal(t, p.Next, stopped.Next)
	require.Empty(t, f.PagesOf(c, Paging{Page: 2, PerPage: 10, Total: 25, HasNext: &no}).Next)
	require.Nil(t, f.PagesOf(c, Paging{}))
	require.Equal(t, url.Values{"state": {"open"}}, Query(c, "state", "none"))
	spaces, _ := request("GET", "/console/crashes?q=+a+&state=&from=+&page=2", nil)
	require.Equal(t, url.Values{"q": {"a"}}, Filters(spaces, "page"))
	require.Equal(t, url.Values{"q": {" a "}, "from": {" "}, "page": {"2"}}, Valued(spaces.Request.URL.Query()))
	address, err := link("/crashes", "state", "", "sort", "count", "q", "a&b")
	require.NoError(t, err)
	require.Equal(t, "/crashes?q=a%26b&sort=count", address)
	_, err = link("/crashes", "state")
	require.Error(t, err)
}

// The script may have 15 kB, and a browser asks for both assets once.
func TestAssets(t *testing.T) {
	t.Parallel()
	a, err := newAssets()
	require.NoError(t, err)
	require.LessOrEqual(t, len(a.byName[a.script].plain), 15_000)
	for _, name := range []string{a.script, a.style} {
		for _, encoding := range []string{"", "gzip, br"} {
			c, rec := request("GET", "/console/assets/"+name, http.Header{"Accept-Encoding": {encoding}})
			c.Params = gin.Params{{Key: "name", Value: name}}
			require.NoError(t, a.serve(c))
			require.Contains(t, rec.Header().Get("Cache-Control"), "immutable")
			require.Equal(t, encoding != "", rec.Header().Get("Content-Encoding") == "gzip")
		}
	}
	c, _ := request("GET", "/console/assets/other.js", nil)
	require.Error(t, a.serve(c))
	style := string(a.byName[a.style].plain)
	for _, outside := range []string{"http:", "https:", "//fonts", "@import", "url("} {
		require.NotContains(t, style, outside)
	}
}
