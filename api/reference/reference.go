// Package reference shows the description of the interfaces to people: GET /docs is
// Swagger UI on /openapi.json, with all of its files from the program itself.
//
// The page is as strict as the console: no script, style or request of another host, no
// script or style within the page. It is public, as the description is. Requests that
// somebody tries out there carry what was typed into "Authorize" (a key, or a name and a
// key) and never the cookie of a session of the console: the interfaces take none, so that
// no page of another can act for who is signed in. What was typed is forgotten with the
// page.
//
// The files of Swagger UI are in their module as gzip, and go out as they are to who takes
// that. A name that is none of them is 404.
package reference

import (
	"bytes"
	"compress/gzip"
	"embed"
	"html/template"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/swaggest/swgui/v5/static"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
)

//go:embed asset
var own embed.FS

var page = template.Must(template.ParseFS(own, "asset/page.html"))

// policy lets the page have its own files and the pictures inside its style, and ask the
// interfaces of this host.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const public = "the description of the interfaces is no secret"

// Routes are the page and its files.
func Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/docs", Handler: show, Public: public},
		{Method: http.MethodGet, Path: "/docs/:file", Handler: file, Public: public},
	}
}

// show serves GET /docs. Its links are relative, since a proxy may put the installation
// below a path; the page is served with a slash at its end too.
func show(c *gin.Context) error {
	files, root := "docs/", ""
	if strings.HasSuffix(c.Request.URL.Path, "/") {
		files, root = "", "../"
	}
	// The page has no secret; fetch needs an origin of its own.
	c.Header("Referrer-Policy", "same-origin")
	return respond.Page(c, page, policy, map[string]string{"Files": files, "Root": root})
}

// kinds are the files of the page and their types.
var kinds = map[string]string{
	"swagger-ui-bundle.js": "text/javascript; charset=utf-8", "swagger-ui.css": "text/css; charset=utf-8",
	"start.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8",
}

// file serves GET /docs/{file}.
func file(c *gin.Context) error {
	name := c.Param("file")
	kind, ok := kinds[name]
	if !ok {
		return storage.ErrNotFound
	}
	h := c.Writer.Header()
	h.Set("Cache-Control", "public, max-age=3600")
	if body, err := own.ReadFile("asset/" + name); err == nil {
		c.Data(http.StatusOK, kind, body)
		return nil
	}
	body, err := static.FS.ReadFile(name + ".gz")
	if err != nil {
		return err
	}
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(c.GetHeader("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else if body, err = unzip(body); err != nil {
		return err
	}
	c.Data(http.StatusOK, kind, body)
	return nil
}

func unzip(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
