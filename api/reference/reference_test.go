package reference

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

func get(t *testing.T, path, encoding string) (*httptest.ResponseRecorder, []error) {
	t.Helper()
	gin.SetMode(gin.TestMode)
	engine := gin.New()
	var failures []error
	for _, r := range Routes() {
		for _, path := range []string{r.Path, r.Path + "/"} {
			engine.Handle(r.Method, path, func(c *gin.Context) {
				if err := r.Handler(c); err != nil {
					failures = append(failures, err)
				}
			})
		}
	}
	rec := httptest.NewRecorder()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	req.Header.Set("Accept-Encoding", encoding)
	engine.ServeHTTP(rec, req)
	return rec, failures
}

func TestPage(t *testing.T) {
	for path, links := range map[string][]string{
		"/docs":  {`href="openapi.json"`, `src="docs/start.js"`, `href="docs/swagger-ui.css"`, `href="console"`},
		"/docs/": {`href="../openapi.json"`, `src="start.js"`, `href="swagger-ui.css"`, `href="../console"`},
	} {
		rec, failures := get(t, path, "")
		require.Empty(t, failures)
		for _, link := range links {
			require.Contains(t, rec.Body.String(), link, path)
		}
		require.Contains(t, rec.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'")
		require.NotContains(t, rec.Header().Get("Content-Security-Policy"), "unsafe")
		require.NotContains(t, rec.Body.String(), "<script>")
		require.NotContains(t, rec.Body.String(), "style=")
	}
}

func TestFiles(t *testing.T) {
	for name, kind := range kinds {
		plain, failures := get(t, "/docs/"+name, "")
		require.Empty(t, failures)
		require.Equal(t, kind, plain.Header().Get("Content-Type"), name)
		require.Empty(t, plain.Header().Get("Content-Encoding"), name)
		zipped, failures := get(t, "/docs/"+name, "br, gzip")
		require.Empty(t, failures)
		if zipped.Header().Get("Content-Encoding") == "" {
			continue
		}
		r, err := gzip.NewReader(zipped.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, plain.Body.String(), string(text), name)
		require.Greater(t, len(text), 100_000, name)
	}
	for _, name := range []string{"swagger-ui-bundle.js.gz", "page.html", "x", strings.Repeat("a", 5000)} {
		rec, failures := get(t, "/docs/"+name, "")
		require.Len(t, failures, 1, name)
		require.ErrorIs(t, failures[0], storage.ErrNotFound)
		require.Empty(t, rec.Body.String())
	}
}
